# SPDX-License-Identifier: Apache-2.0
bin_PROGRAMS += troupe
dist_completion_DATA += cli/completions/troupe
# What stands on the public API alone, include/troupe/: tests/cli/public.sh compares the names that
# it needs, and what it includes, with that.
noinst_LTLIBRARIES += libtr_cli_public.la
libtr_cli_public_la_CPPFLAGS = $(AM_CPPFLAGS) -DTROUPE_LIBEXECDIR='"$(pkglibexecdir)"'
libtr_cli_public_la_SOURCES = \
    cli/bench_values.h \
    cli/cmd_bench.c \
    cli/cmd_cluster.c \
    cli/cmd_cluster.h \
    cli/cmd_cluster_check.c \
    cli/cmd_cluster_keys.c \
    cli/cmd_completion.c \
    cli/cmd_feature.c \
    cli/cmd_generate.c \
    cli/cmd_import.c \
    cli/cmd_import.h \
    cli/cmd_import_debian.c \
    cli/cmd_import_edges.c \
    cli/cmd_import_npz.c \
    cli/cmd_import_ogb.c \
    cli/cmd_import_table.c \
    cli/import_directions.c cli/import_features.c \
    cli/cmd_infer.c \
    cli/infer_files.c \
    cli/infer_files.h \
    cli/cmd_inspect.c \
    cli/inspect_checkpoints.c \
    cli/inspect_checkpoints.h \
    cli/inspect_graph.c \
    cli/inspect_graph.h \
    cli/inspect_history.c \
    cli/inspect_history.h \
    cli/inspect_ids.c \
    cli/inspect_ids.h \
    cli/inspect_run.c \
    cli/inspect_run.h \
    cli/inspect_runs.c \
    cli/inspect_runs.h \
    cli/own_ids.c \
    cli/own_ids.h \
    cli/cmd_attach.c \
    cli/cmd_launch.c \
    cli/cmd_partition.c \
    cli/cmd_report.c \
    cli/cmd_simulate.c \
    cli/cmd_serve.c \
    cli/cmd_split.c \
    cli/cmd_status.c \
    cli/cmd_train.c \
    cli/cmd_verify.c \
    cli/launch/detached.c \
    cli/launch/detached.h \
    cli/launch/exec_wrapper.c \
    cli/launch/job_mark.c \
    cli/launch/job_mark.h \
    cli/launch/job_process.c \
    cli/launch/job_process.h \
    cli/launch/launch_page.c \
    cli/launch/launch_page.h \
    cli/launch/launch_show.c \
    cli/launch/launch_show.h \
    cli/lib/canceller.c \
    cli/lib/canceller.h \
    cli/lib/command.h \
    cli/lib/command_log.c \
    cli/lib/command_log.h \
    cli/lib/early_signals.c \
    cli/lib/early_signals.h \
    cli/lib/fail.c \
    cli/lib/fail.h \
    cli/lib/follow.c \
    cli/lib/follow.h \
    cli/lib/graph_path.c \
    cli/lib/graph_path.h \
    cli/lib/help.c \
    cli/lib/help.h \
    cli/lib/interrupter.c \
    cli/lib/interrupter.h \
    cli/lib/log_printer.c \
    cli/lib/log_printer.h \
    cli/lib/next_step.c \
    cli/lib/next_step.h \
    cli/lib/option_value.c \
    cli/lib/option_value.h \
    cli/lib/options.c \
    cli/lib/options.h \
    cli/lib/progress.c \
    cli/lib/progress.h \
    cli/lib/class_names.c \
    cli/lib/class_names.h \
    cli/lib/json_shown.c \
    cli/lib/json_shown.h \
    cli/lib/raw_report.c \
    cli/lib/raw_report.h \
    cli/lib/report.c \
    cli/lib/run_score.c \
    cli/lib/run_score.h \
    cli/lib/report.h \
    cli/lib/run_command.c \
    cli/lib/run_command.h \
    cli/lib/self_pipe.c \
    cli/lib/self_pipe.h \
    cli/lib/signals.c \
    cli/lib/signals.h \
    cli/lib/sparkline.c \
    cli/lib/sparkline.h \
    cli/lib/tame.c \
    cli/lib/tame.h \
    cli/lib/tools_program.c \
    cli/lib/tools_program.h \
    cli/simulate_values.h \
    cli/train/run_grid.c \
    cli/train/run_grid.h \
    cli/train/stall.c \
    cli/train/stall.h \
    cli/train/train.h \
    cli/train/train_many.c \
    cli/train/train_many.h \
    cli/train/train_options.c \
    cli/train/train_run.c
# Everything but main() and the list of commands is a library, so that tests can link it.
troupe_SOURCES = cli/main.c cli/commands.c cli/lib/blas_threads.c
nodist_EXTRA_troupe_SOURCES = cli/force_cxx_link.cxx
troupe_LDADD = libtr_cli_public.la libtroupe-model.la libtroupe.la $(JANSSON_LIBS) $(PTHREAD_LIBS) -lm
# The libraries are found beside the program (a build, which launches its program on other hosts without
# libtool's script) or as they are installed, on the way from bindir to libdir, wherever both were moved to.
troupe_LDFLAGS = $(AM_LDFLAGS)
if RUN_PATH
troupe_LDFLAGS += -Wl,-rpath,'$$ORIGIN' \
    -Wl,-rpath,'$$ORIGIN/'"`realpath -m -s --relative-to='$(bindir)' '$(libdir)'`"
endif

# bench and simulate, which look behind the API, are a program apart, so that troupe need not.
pkglibexec_PROGRAMS += troupe-tools
noinst_LTLIBRARIES += libtr_cli_tools.la
libtr_cli_tools_la_SOURCES = \
    cli/tools/inside.c \
    cli/tools/inside.h \
    cli/tools/run_bench.c \
    cli/tools/run_simulate.c \
    cli/tools/tools.h
troupe_tools_SOURCES = cli/tools/tools_main.c cli/lib/blas_threads.c
nodist_EXTRA_troupe_tools_SOURCES = cli/force_cxx_link.cxx
troupe_tools_LDADD = libtr_cli_tools.la libtr_cli_public.la $(cli_libs)
