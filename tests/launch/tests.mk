# SPDX-License-Identifier: Apache-2.0
# Tests of launch/.
check_PROGRAMS += tests/launch/test_process_identity
TESTS += tests/launch/test_process_identity
tests_launch_test_process_identity_SOURCES = tests/launch/test_process_identity.c
tests_launch_test_process_identity_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/launch/test_own_process
TESTS += tests/launch/test_own_process
tests_launch_test_own_process_SOURCES = tests/launch/test_own_process.c $(api_world)
tests_launch_test_own_process_LDADD = $(api_libs) $(test_libs)
tests_launch_test_own_process_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=vasprintf

check_PROGRAMS += tests/launch/test_input_watch
TESTS += tests/launch/test_input_watch
tests_launch_test_input_watch_SOURCES = tests/launch/test_input_watch.c
tests_launch_test_input_watch_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/launch/test_launch_parts
TESTS += tests/launch/test_launch_parts
tests_launch_test_launch_parts_SOURCES = tests/launch/test_launch_parts.c tests/schemas/random.h
tests_launch_test_launch_parts_LDADD = libtr_cli_public.la $(api_libs) $(test_libs)
tests_launch_test_launch_parts_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=vasprintf

check_PROGRAMS += tests/launch/test_launch_task
TESTS += tests/launch/test_launch_task
tests_launch_test_launch_task_SOURCES = tests/launch/test_launch_task.c $(api_world)
tests_launch_test_launch_task_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/launch/test_launch_memory
TESTS += tests/launch/test_launch_memory
tests_launch_test_launch_memory_SOURCES = tests/launch/test_launch_memory.c $(api_world) \
    tests/short_memory.h
tests_launch_test_launch_memory_LDADD = $(api_libs) $(test_libs)
tests_launch_test_launch_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
    -Wl,--wrap=realloc -Wl,--wrap=strdup -Wl,--wrap=strndup -Wl,--wrap=tr_task_report

TESTS += tests/launch/launch_example.sh
EXTRA_DIST += tests/launch/launch_example.sh

check_PROGRAMS += tests/launch/test_launch_plan
TESTS += tests/launch/test_launch_plan
tests_launch_test_launch_plan_SOURCES = tests/launch/test_launch_plan.c
tests_launch_test_launch_plan_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/launch/test_launch_events
TESTS += tests/launch/test_launch_events
tests_launch_test_launch_events_SOURCES = tests/launch/test_launch_events.c
tests_launch_test_launch_events_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/launch/test_part_list
TESTS += tests/launch/test_part_list
tests_launch_test_part_list_SOURCES = tests/launch/test_part_list.c
tests_launch_test_part_list_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/launch/test_status_view
TESTS += tests/launch/test_status_view
tests_launch_test_status_view_SOURCES = tests/launch/test_status_view.c
tests_launch_test_status_view_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/launch/test_live_history
TESTS += tests/launch/test_live_history
tests_launch_test_live_history_SOURCES = tests/launch/test_live_history.c
tests_launch_test_live_history_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/launch/test_live_page
TESTS += tests/launch/test_live_page
tests_launch_test_live_page_SOURCES = tests/launch/test_live_page.c $(api_world)
tests_launch_test_live_page_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/launch/test_live_events
TESTS += tests/launch/test_live_events
tests_launch_test_live_events_SOURCES = tests/launch/test_live_events.c
tests_launch_test_live_events_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/launch/test_live_lines
TESTS += tests/launch/test_live_lines
tests_launch_test_live_lines_SOURCES = tests/launch/test_live_lines.c
tests_launch_test_live_lines_LDADD = $(api_libs) $(test_libs)
