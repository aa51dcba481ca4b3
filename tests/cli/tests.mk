# SPDX-License-Identifier: Apache-2.0
# Tests of the command line.
check_PROGRAMS += tests/cli/test_options tests/cli/test_report tests/cli/test_signals
TESTS += tests/cli/test_options tests/cli/test_report tests/cli/test_signals \
    $(cli_shell_tests)
cli_shell_tests = \
    tests/cli/accuracy.sh \
    tests/cli/attach.sh \
    tests/cli/log.sh \
    tests/cli/bench.sh \
    tests/cli/checkpoint.sh \
    tests/cli/checkpoint_hosts.sh \
    tests/cli/cluster.sh \
    tests/cli/cluster_keys.sh \
    tests/cli/cluster_train.sh \
    tests/cli/columns.sh \
    tests/cli/debian.sh \
    tests/cli/detach.sh \
    tests/cli/disturb.sh \
    tests/cli/draws.sh \
    tests/cli/edge_weight.sh \
    tests/cli/edges.sh \
    tests/cli/feature.sh \
    tests/cli/few_labels.sh \
    tests/cli/generate.sh \
    tests/cli/goldens.sh \
    tests/cli/guesses.sh \
    tests/cli/hang.sh \
    tests/cli/hosts.sh \
    tests/cli/inspect.sh \
    tests/cli/early_signals.sh \
    tests/cli/interrupt.sh \
    tests/cli/json.sh \
    tests/cli/kills.sh \
    tests/cli/history.sh \
    tests/cli/launch.sh \
    tests/cli/launch_page.sh \
    tests/cli/launcher.sh \
    tests/cli/launch_command.sh \
    tests/cli/leave.sh \
    tests/cli/man.sh \
    tests/cli/memory.sh \
    tests/cli/metrics.sh \
    tests/cli/mismatch.sh \
    tests/cli/next_steps.sh \
    tests/cli/npz.sh \
    tests/cli/ogb.sh \
    tests/cli/one_training.sh \
    tests/cli/partition.sh \
    tests/cli/placement.sh \
    tests/cli/sparse.sh \
    tests/cli/progress.sh \
    tests/cli/public.sh \
    tests/cli/relations.sh \
    tests/cli/report.sh \
    tests/cli/seeds.sh \
    tests/cli/simulate.sh \
    tests/cli/split.sh \
    tests/cli/readme_ogb.sh \
    tests/cli/raw_format.sh \
    tests/cli/readme_tables.sh \
    tests/cli/table.sh \
    tests/cli/tensorboard.sh \
    tests/cli/tensorboard_job.sh \
    tests/cli/stalls.sh \
    tests/cli/train.sh \
    tests/cli/links.sh \
    tests/cli/typed_links.sh \
    tests/cli/trainers.sh \
    tests/cli/trial.sh \
    tests/cli/trial_cluster.sh \
    tests/cli/trouble.sh \
    tests/cli/usage.sh \
    tests/cli/verify.sh
EXTRA_DIST += $(cli_shell_tests) tests/cli/board_points.sh tests/cli/job.sh tests/cli/tap.sh tests/cli/data/edges.csv \
    tests/cli/data/goldens.txt
# Not a test: what json.sh reads --json with.
check_PROGRAMS += tests/cli/tensorboard_lines
tests_cli_tensorboard_lines_SOURCES = tests/cli/tensorboard_lines.c tests/tensorboard_reader.h
check_PROGRAMS += tests/cli/json_lines
tests_cli_json_lines_SOURCES = tests/cli/json_lines.c
tests_cli_json_lines_LDADD = $(JANSSON_LIBS)
# Not a test: what npz.sh reads is made by it.
check_PROGRAMS += tests/cli/make_npz
tests_cli_make_npz_SOURCES = tests/cli/make_npz.c tests/npz_files.h
tests_cli_make_npz_LDADD = $(ARCHIVE_LIBS)
tests_cli_test_options_SOURCES = tests/cli/test_options.c
tests_cli_test_options_LDADD = libtr_cli_public.la $(api_libs) $(test_libs)
tests_cli_test_report_SOURCES = tests/cli/test_report.c tests/cli/capture.c tests/cli/capture.h \
    tests/short_memory.h
tests_cli_test_report_LDADD = libtr_cli_public.la $(api_libs) $(test_libs)
tests_cli_test_report_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
    -Wl,--wrap=realloc -Wl,--wrap=strdup -Wl,--wrap=strndup
tests_cli_test_signals_SOURCES = tests/cli/test_signals.c
tests_cli_test_signals_LDADD = libtr_cli_public.la $(api_libs) $(test_libs)
tests_cli_test_signals_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=clock_gettime

check_PROGRAMS += tests/cli/test_watchdog
TESTS += tests/cli/test_watchdog
tests_cli_test_watchdog_SOURCES = tests/cli/test_watchdog.c
tests_cli_test_watchdog_LDADD = libtr_cli_public.la $(model_libs) $(test_libs)
check_PROGRAMS += tests/cli/test_launch_show
TESTS += tests/cli/test_launch_show
tests_cli_test_launch_show_SOURCES = tests/cli/test_launch_show.c tests/cli/capture.c tests/cli/capture.h
tests_cli_test_launch_show_LDADD = libtr_cli_public.la $(api_libs) $(test_libs)
check_PROGRAMS += tests/cli/test_job_mark
TESTS += tests/cli/test_job_mark
tests_cli_test_job_mark_SOURCES = tests/cli/test_job_mark.c
tests_cli_test_job_mark_LDADD = libtr_cli_public.la $(api_libs) $(test_libs)
check_PROGRAMS += tests/cli/test_run_command
TESTS += tests/cli/test_run_command
tests_cli_test_run_command_SOURCES = tests/cli/test_run_command.c tests/cli/capture.c tests/cli/capture.h
tests_cli_test_run_command_LDADD = libtr_cli_public.la $(api_libs) $(test_libs)
check_PROGRAMS += tests/cli/test_train_options
TESTS += tests/cli/test_train_options
tests_cli_test_train_options_SOURCES = tests/cli/test_train_options.c
tests_cli_test_train_options_LDADD = libtr_cli_public.la $(model_libs) $(test_libs)
check_PROGRAMS += tests/cli/test_run_folder
TESTS += tests/cli/test_run_folder
tests_cli_test_run_folder_SOURCES = tests/cli/test_run_folder.c
tests_cli_test_run_folder_LDADD = libtr_cli_public.la $(model_libs) $(test_libs)
check_PROGRAMS += tests/cli/test_sparkline
TESTS += tests/cli/test_sparkline
tests_cli_test_sparkline_SOURCES = tests/cli/test_sparkline.c
tests_cli_test_sparkline_LDADD = libtr_cli_public.la $(api_libs) $(test_libs)
