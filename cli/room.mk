bin_PROGRAMS += troupe
dist_completion_DATA += cli/completions/troupe
# Everything but main() is a library, so that tests can link it.
noinst_LTLIBRARIES += libtr_cli.la
libtr_cli_la_SOURCES = \
    cli/bench.c \
    cli/checkpoints.c cli/checkpoints.h \
    cli/child.c cli/child.h \
    cli/cluster.c cli/cluster.h cli/cluster_check.c cli/cluster_keys.c \
    cli/command.h \
    cli/commands.c \
    cli/completion.c \
    cli/fail.c cli/fail.h \
    cli/generate.c \
    cli/guest.c cli/guest.h \
    cli/help.c cli/help.h \
    cli/hold.c \
    cli/job_key.c cli/job_key.h \
    cli/import.c cli/import.h cli/import_debian.c cli/import_edges.c \
    cli/infer.c \
    cli/inspect.c cli/inspect_checkpoint.c \
    cli/launch.c cli/launch.h cli/launch_copy.c cli/launch_host.c cli/launch_plan.c \
    cli/launch_run.c cli/launch_shared.c cli/launch_show.c cli/launch_show.h \
    cli/lines.c cli/lines.h \
    cli/loader_source.c cli/loader_source.h \
    cli/made.c cli/made.h \
    cli/option_value.c cli/option_value.h \
    cli/options.c cli/options.h \
    cli/partition.c \
    cli/place.c cli/place.h \
    cli/process.c cli/process.h \
    cli/progress.c cli/progress.h \
    cli/quantity.c cli/quantity.h \
    cli/report.c cli/report.h \
    cli/run_config.c cli/run_config.h \
    cli/run_folder.c cli/run_folder.h \
    cli/run_job.c cli/run_job.h \
    cli/serve.c \
    cli/signals.c cli/signals.h \
    cli/train.c cli/train.h cli/train_options.c cli/train_ranks.c cli/train_ranks.h \
    cli/train_run.c \
    cli/simulate.c \
    cli/status.c cli/status_view.c cli/status_view.h \
    cli/ticks.h \
    cli/verify.c \
    cli/wakeups.c cli/wakeups.h \
    cli/warm_up.c cli/warm_up.h \
    cli/watchdog.c cli/watchdog.h \
    cli/words.c cli/words.h \
    cli/work.c cli/work.h
troupe_SOURCES = cli/main.c cli/blas_threads.c
nodist_EXTRA_troupe_SOURCES = cli/force_cxx_link.cxx
troupe_LDADD = libtr_cli.la $(cli_libs)
