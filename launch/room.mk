# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libtr_launch.la
libtr_launch_la_SOURCES = \
    launch/job_key.c \
    launch/job_key.h \
    launch/own_process.c \
    launch/process_identity.c \
    launch/process_identity.h
