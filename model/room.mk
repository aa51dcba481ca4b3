# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libtr_model.la
libtr_model_la_SOURCES = \
    model/activation.c \
    model/aggregation.c \
    model/batch_norm.c \
    model/batch_norm.h \
    model/batch_view.c \
    model/batch_view.h \
    model/edge_weights.c \
    model/edge_weights.h \
    model/exact.c \
    model/exact.h \
    model/exact_features.c \
    model/exact_features.h \
    model/exact_layer.c \
    model/exact_layer.h \
    model/exact_memory.h \
    model/exact_rows.h \
    model/exact_scores.c \
    model/features.c \
    model/features.h \
    model/gcn.c \
    model/gcn.h \
    model/infer_task.c \
    model/kernels.c \
    model/kernels.h \
    model/labels.c \
    model/labels.h \
    model/layer.c \
    model/layer.h \
    model/layer_norm.c \
    model/layer_norm.h \
    model/live_session.h \
    model/loader_source.c \
    model/loader_source.h \
    model/loss.c \
    model/loss.h \
    model/matmul.c \
    model/matmul.h \
    model/model.c \
    model/model.h \
    model/model_config.c \
    model/model_config.h \
    model/model_file.c \
    model/model_file.h \
    model/node_map.c \
    model/node_map.h \
    model/name_reader.c \
    model/name_reader.h \
    model/optimiser.c \
    model/optimiser.h \
    model/params.c \
    model/params.h \
    model/part_view.c \
    model/part_view.h \
    model/predictions.c \
    model/predictions.h \
    model/propagate.c \
    model/propagate.h \
    model/public_scores.c \
    model/public_scores.h \
    model/ranking.c \
    model/ranking.h \
    model/row_loop.c \
    model/row_loop.h \
    model/run_choice.c \
    model/run_columns.c \
    model/run_classes.c \
    model/run_config.c \
    model/run_config.h \
    model/run_folder.c \
    model/run_folder.h \
    model/run_infer.c \
    model/run_job.c \
    model/run_job.h \
    model/run_job_inside.h \
    model/run_split.c \
    model/run_survey.c \
    model/run_survey.h \
    model/safetensors.c \
    model/safetensors.h \
    model/safetensors_dtype.h \
    model/safetensors_read.c \
    model/safetensors_write.c \
    model/sage.c \
    model/sage.h \
    model/saved_model.c \
    model/scores.c \
    model/scores.h \
    model/state.c \
    model/state.h \
    model/task_events.c \
    model/task_events.h \
    model/tensor.c \
    model/tensor.h \
    model/ticks.h \
    model/train_task.c \
    model/train_ranks.c \
    model/train_ranks.h \
    model/trainer.c \
    model/trainer.h \
    model/trainer_state.c \
    model/training.h \
    model/training_folder.c \
    model/training_keeper.c \
    model/training_loop.c \
    model/training_loop.h \
    model/training_options.c \
    model/training_results.c \
    model/warm_up.c \
    model/warm_up.h \
    model/watchdog.c \
    model/watchdog.h

# The library of the models. What it takes of the files, errors and threads of runtime/ and of the
# keys of graph/ has no state, so it has copies of its own, which it does not show: of libtroupe it
# uses what the public headers declare, and the linker refuses the rest.
lib_LTLIBRARIES += libtroupe-model.la
pkgconfig_DATA += troupe-model.pc
libtroupe_model_la_SOURCES = \
    graph/key.c \
    graph/types.c \
    partition/store/npy_write.c \
    runtime/base/atomic_dir.c \
    runtime/base/crc32c.c \
    runtime/base/deadline.c \
    runtime/base/dtype.c \
    runtime/base/error.c \
    runtime/base/failpoint.c \
    runtime/base/files.c \
    runtime/base/files_posix.c \
    runtime/base/files_tree.c \
    runtime/base/hotmem.c \
    runtime/base/json_field.c \
    runtime/base/json_text.c \
    runtime/base/json_take.c \
    runtime/base/nearest.c \
    runtime/base/parallel.c \
    runtime/base/printable.c \
    api/event_queue.c \
    api/sized.c \
    runtime/base/thread.c \
    runtime/core/crew_parallel.c
libtroupe_model_la_LIBADD = libtr_model.la libtroupe.la $(BLAS_LIBS) $(JANSSON_LIBS) $(PTHREAD_LIBS) -lm
libtroupe_model_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined -version-info 0:0:0 \
    -export-symbols-regex '^tr_(infer|model|train|trainer)_'
