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
    launch/launch_history.c \
    launch/launch_history.h \
    launch/launch_host.c \
    launch/launch_plan.c \
    launch/launch_plan.h \
    launch/launch_run.c \
    launch/launch_shared.c \
    launch/launch_task.c \
    launch/line_reader.c \
    launch/line_reader.h \
    launch/observer.c \
    launch/observer.h \
    launch/observer_actor.c \
    launch/observer_status.c \
    launch/notice_print.c \
    launch/notice_print.h \
    launch/own_process.c \
    launch/part_list.c \
    launch/part_list.h \
    launch/process_identity.c \
    launch/process_identity.h \
    launch/status_snapshot.c \
    launch/status_view.c \
    launch/status_view.h \
    launch/web/live_events.c \
    launch/web/live_events.h \
    launch/web/live_files.c \
    launch/web/live_files.h \
    launch/web/live_guard.c \
    launch/web/live_guard.h \
    launch/web/live_history.c \
    launch/web/live_history.h \
    launch/web/live_lines.c \
    launch/web/live_lines.h \
    launch/web/live_page.c \
    launch/web/live_tail.c \
    launch/web/live_tail.h
nodist_libtr_launch_la_SOURCES = launch/web/live_files_generated.h

# What a browser gets lies in the library.
live_files = \
    $(srcdir)/launch/web/live_page.html \
    $(srcdir)/launch/web/live_page.css \
    $(srcdir)/launch/web/live_draw.js \
    $(srcdir)/launch/web/live_page.js
EXTRA_DIST += scripts/embed \
    launch/web/live_page.html \
    launch/web/live_page.css \
    launch/web/live_draw.js \
    launch/web/live_page.js
BUILT_SOURCES += launch/web/live_files_generated.h
CLEANFILES += launch/web/live_files_generated.h

launch/web/live_files_generated.h: $(live_files) $(srcdir)/scripts/embed
	$(AM_V_GEN)$(MKDIR_P) launch/web && $(SHELL) $(srcdir)/scripts/embed $(live_files) >$@.tmp && mv $@.tmp $@

# BUILT_SOURCES come first only for the big targets; `make libtr_launch.la` needs this too.
launch/web/live_files.lo: launch/web/live_files_generated.h
