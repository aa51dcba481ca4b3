# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libtr_launch.la
libtr_launch_la_SOURCES = \
    launch/argv_builder.c \
    launch/argv_builder.h \
    launch/child.c \
    launch/child.h \
    launch/held_program.c \
    launch/input_watch.c \
    launch/input_watch.h \
    launch/job_key.c \
    launch/job_key.h \
    launch/launch_copy.c \
    launch/launch_events.c \
    launch/launch_events.h \
    launch/launch_host.c \
    launch/launch_plan.c \
    launch/launch_plan.h \
    launch/launch_run.c \
    launch/launch_shared.c \
    launch/launch_task.c \
    launch/line_reader.c \
    launch/line_reader.h \
    launch/observer.c \
    launch/notice_print.c \
    launch/notice_print.h \
    launch/own_process.c \
    launch/process_identity.c \
    launch/process_identity.h \
    launch/status_snapshot.c \
    launch/status_view.c \
    launch/status_view.h
