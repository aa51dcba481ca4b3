noinst_LTLIBRARIES += libtr_bench.la
libtr_bench_la_SOURCES = \
    bench/apart.c bench/apart.h \
    bench/bare.c bench/bare.h \
    bench/bare_job.c bench/bare_job.h \
    bench/bare_net.c bench/bare_net.h \
    bench/bench_bulk.c \
    bench/bench_calls.c \
    bench/bench_cluster.c \
    bench/bench_fanin.c \
    bench/bench_gather.c \
    bench/bench_kernels.c \
    bench/bench_link_cost.c \
    bench/bench_loader.c \
    bench/bench_partition.c \
    bench/bench_remote_gather.c \
    bench/bench_roundtrip.c \
    bench/bench_sampling.c \
    bench/bench_step.c \
    bench/bench_load.c bench/bench_topology.c \
    bench/benches.h \
    bench/biggraph.c bench/biggraph.h \
    bench/child.c bench/child.h \
    bench/clock.h \
    bench/cores.c bench/cores.h \
    bench/disk.c bench/disk.h \
    bench/figure.c bench/figure.h \
    bench/job.c bench/job.h \
    bench/list.c \
    bench/loading.c bench/loading.h \
    bench/messages.c bench/messages.h \
    bench/step.c bench/step.h \
    bench/take.c bench/take.h \
    bench/talk.c bench/talk.h \
    bench/walk.c bench/walk.h
