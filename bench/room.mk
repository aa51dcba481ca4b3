# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libtr_bench.la
libtr_bench_la_SOURCES = \
    bench/batch_drain.c \
    bench/batch_drain.h \
    bench/bench_bulk.c \
    bench/bench_calls.c \
    bench/bench_child.c \
    bench/bench_child.h \
    bench/bench_cluster.c \
    bench/bench_fanin.c \
    bench/bench_gather.c \
    bench/bench_import.c \
    bench/bench_job.c \
    bench/bench_job.h \
    bench/bench_kernels.c \
    bench/bench_link_cost.c \
    bench/bench_load.c \
    bench/bench_loader.c \
    bench/bench_messages.c \
    bench/bench_messages.h \
    bench/bench_partition.c \
    bench/bench_remote_gather.c \
    bench/bench_roundtrip.c \
    bench/bench_samplers.c \
    bench/bench_sampling.c \
    bench/bench_step.c \
    bench/bench_topology.c \
    bench/benches.h \
    bench/biggraph.c \
    bench/biggraph.h \
    bench/clock.h \
    bench/cores.c \
    bench/cores.h \
    bench/disk.c \
    bench/disk.h \
    bench/figure.c \
    bench/figure.h \
    bench/forked_peer.c \
    bench/forked_peer.h \
    bench/import_texts.c \
    bench/import_texts.h \
    bench/list.c \
    bench/loading.c \
    bench/loading.h \
    bench/reference_job.c \
    bench/reference_job.h \
    bench/reference_loops.c \
    bench/reference_loops.h \
    bench/reference_net.c \
    bench/reference_net.h \
    bench/remote_echo.c \
    bench/remote_echo.h \
    bench/step.c \
    bench/step.h \
    bench/walk.c \
    bench/walk.h
# Others' programs beside Troupe (python3 bench/peers): shipped, and run by tests/outside/python_peers.sh.
EXTRA_DIST += \
    bench/peers/__main__.py \
    bench/peers/big_graph.py \
    bench/peers/compare_guide.py \
    bench/peers/compare_loaders.py \
    bench/peers/compare_partitioning.py \
    bench/peers/environment.py \
    bench/peers/machine.py \
    bench/peers/processes.py \
    bench/peers/requirements.txt \
    bench/peers/rows.py \
    bench/peers/work/dgl_loader.py \
    bench/peers/work/dgl_partition.py \
    bench/peers/work/distributed_loader.py \
    bench/peers/work/graphbolt_loader.py \
    bench/peers/work/run_on_dgl.py \
    bench/peers/work/troupe_loader.py \
    bench/peers/work/turns.py \
    bench/peers/work/whole_graph.py \
    bench/peers/workplace.py
