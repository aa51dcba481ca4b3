# SPDX-License-Identifier: Apache-2.0
# The examples of libtroupe(3), built on the public headers and the library alone.
# libtool leaves the C++ run-time library out of what a static libtroupe asks for, since its C++
# linker adds it; programs in C name it themselves, as those that use troupe.pc --static do.
examples_libs = libtroupe.la
if !SHARED
examples_libs += -lstdc++
endif
check_PROGRAMS += examples/batches examples/train_loop examples/group
examples_batches_SOURCES = examples/batches.c
examples_batches_LDADD = $(examples_libs)
examples_train_loop_SOURCES = examples/train_loop.c
examples_train_loop_LDADD = $(examples_libs) -lm
examples_group_SOURCES = examples/group_example.c
examples_group_LDADD = $(examples_libs) -lm $(PTHREAD_LIBS)
check_PROGRAMS += examples/train_model
examples_train_model_SOURCES = examples/train_model.c
examples_train_model_LDADD = libtroupe-model.la $(examples_libs)
check_PROGRAMS += examples/launch_job
examples_launch_job_SOURCES = examples/launch_job.c
examples_launch_job_LDADD = $(examples_libs)
# How processes of a job are started by systemd, Kubernetes, Slurm and torchrun.
EXTRA_DIST += \
    examples/deploy/README.md \
    examples/deploy/grafana-troupe.json \
    examples/deploy/kubernetes.yaml \
    examples/deploy/logrotate.conf \
    examples/deploy/prometheus.yml \
    examples/deploy/slurm.sbatch \
    examples/deploy/torchrun.sh \
    examples/deploy/troupe-rules.yml \
    examples/deploy/troupe-sampler@.service \
    examples/deploy/troupe-server@.service \
    examples/deploy/troupe-trainer@.service \
    examples/python/graphsage.py \
    examples/python/graphsage_pyg.py
