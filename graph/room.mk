# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libtr_graph.la
libtr_graph_la_SOURCES = \
    graph/batch.h \
    graph/batch_builder.c \
    graph/batch_builder.h \
    graph/batch_builder_answer.c \
    graph/batch_builder_draw.c graph/batch_builder_edges.c \
    graph/batch_builder_fields.c \
    graph/batch_builder_rows.c \
    graph/batch_space.c \
    graph/batch_space.h \
    graph/bijection.c \
    graph/bijection.h \
    graph/csr.c \
    graph/csr.h \
    graph/digest.c \
    graph/digest.h \
    graph/edge_ends.c \
    graph/edge_ends.h \
    graph/edge_runs.c \
    graph/edge_runs.h \
    graph/extent.c \
    graph/extent.h \
    graph/gather.c \
    graph/gather.h \
    graph/graph_meta.c \
    graph/graph_meta.h \
    graph/key.c \
    graph/key.h \
    graph/local_rows.c \
    graph/local_rows.h \
    graph/local_sample.c \
    graph/local_sample.h \
    graph/part.h \
    graph/permute.c \
    graph/permute.h \
    graph/ranks.h \
    graph/relabel.c \
    graph/relabel.h \
    graph/sample.c \
    graph/sample.h \
    graph/samplers.c \
    graph/samplers.h \
    graph/samplers_check.c \
    graph/subset.c \
    graph/subset.h \
    graph/types.c \
    graph/types.h \
    graph/vec.c \
    graph/vec.h
