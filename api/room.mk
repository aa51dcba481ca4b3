# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libtr_api.la
libtr_api_la_SOURCES = \
    api/apt_reader.c \
    api/apt_reader.h \
    api/batch.c \
    api/checkpoint_folder.c \
    api/checkpoints.c \
    api/deal.c \
    api/event_queue.c \
    api/event_queue.h \
    api/fetch.c \
    api/graph.c \
    api/graph_call.c \
    api/graph_cluster.c \
    api/graph_info.c \
    api/graph_load.c \
    api/graph_metrics.c \
    api/group.c \
    api/internal.h \
    api/loader.c \
    api/loader_handle.h \
    api/loader_open.c \
    api/loader_request.c \
    api/loader_request.h \
    api/log_queue.c \
    api/log_queue.h \
    api/make_raw.c \
    api/nodes.c \
    api/pairs.c \
    api/open_book.c \
    api/open_cluster.c \
    api/open_raw.c \
    api/open_raw.h \
    api/partition_task.c \
    api/parts.c \
    api/public_error.c \
    api/public_error.h \
    api/sample_once.c \
    api/sample_spec_of.h \
    api/schema.c \
    api/schema.h \
    api/session.c \
    api/sized.c \
    api/sized.h \
    api/task.c \
    api/task_run.h \
    api/verify_task.c
