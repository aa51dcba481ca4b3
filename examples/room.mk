# The examples of libtroupe(3), built on the public headers and the library alone.
check_PROGRAMS += examples/batches examples/train_loop examples/group
examples_batches_SOURCES = examples/batches.c
examples_batches_LDADD = libtroupe.la
examples_train_loop_SOURCES = examples/train_loop.c
examples_train_loop_LDADD = libtroupe.la -lm
examples_group_SOURCES = examples/group.c
examples_group_LDADD = libtroupe.la -lm $(PTHREAD_LIBS)
# How processes of a job are started by systemd, Kubernetes, Slurm and torchrun.
EXTRA_DIST += \
    examples/deploy/README.md \
    examples/deploy/kubernetes.yaml \
    examples/deploy/slurm.sbatch \
    examples/deploy/torchrun.sh \
    examples/deploy/troupe-sampler@.service \
    examples/deploy/troupe-server@.service \
    examples/deploy/troupe-trainer@.service
