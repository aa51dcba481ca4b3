# SPDX-License-Identifier: Apache-2.0
# Tests of model/.
made_batch = tests/model/made_batch.c tests/model/made_batch.h tests/model/model_slopes.h
made_graph = tests/model/made_graph.c tests/model/made_graph.h
# Not $(model_libs): the room computes on batches in memory and needs no actors.
model_test_libs = libtr_model.la $(graph_libs) $(JANSSON_LIBS) $(BLAS_LIBS) $(test_libs)

check_PROGRAMS += tests/model/test_aggregation
TESTS += tests/model/test_aggregation
tests_model_test_aggregation_SOURCES = tests/model/test_aggregation.c
tests_model_test_aggregation_LDADD = $(model_libs) $(test_libs)

check_PROGRAMS += tests/model/test_exact
TESTS += tests/model/test_exact
tests_model_test_exact_SOURCES = tests/model/test_exact.c $(made_batch) $(made_graph)
tests_model_test_exact_LDADD = $(model_test_libs)

check_PROGRAMS += tests/model/test_predictions
TESTS += tests/model/test_predictions
tests_model_test_predictions_SOURCES = tests/model/test_predictions.c
tests_model_test_predictions_LDADD = $(model_libs) $(test_libs)

check_PROGRAMS += tests/model/test_relations
TESTS += tests/model/test_relations
tests_model_test_relations_SOURCES = tests/model/test_relations.c $(made_batch) \
    tests/model/typed_batch.c tests/model/typed_batch.h
tests_model_test_relations_LDADD = $(model_test_libs)

check_PROGRAMS += tests/model/test_scores
TESTS += tests/model/test_scores
tests_model_test_scores_SOURCES = tests/model/test_scores.c
tests_model_test_scores_LDADD = $(model_test_libs)

check_PROGRAMS += tests/model/test_config
TESTS += tests/model/test_config
tests_model_test_config_SOURCES = tests/model/test_config.c
tests_model_test_config_LDADD = $(model_test_libs)

check_PROGRAMS += tests/model/test_loss_trend
TESTS += tests/model/test_loss_trend
tests_model_test_loss_trend_SOURCES = tests/model/test_loss_trend.c
tests_model_test_loss_trend_LDADD = $(model_test_libs)

check_PROGRAMS += tests/model/test_optimiser
TESTS += tests/model/test_optimiser
tests_model_test_optimiser_SOURCES = tests/model/test_optimiser.c
tests_model_test_optimiser_LDADD = $(model_test_libs)

check_PROGRAMS += tests/model/test_pieces
TESTS += tests/model/test_pieces
tests_model_test_pieces_SOURCES = tests/model/test_pieces.c
tests_model_test_pieces_LDADD = $(model_test_libs)

check_PROGRAMS += tests/model/test_safetensors
TESTS += tests/model/test_safetensors
tests_model_test_safetensors_SOURCES = tests/model/test_safetensors.c
tests_model_test_safetensors_LDADD = $(model_test_libs)

check_PROGRAMS += tests/model/test_step
TESTS += tests/model/test_step
tests_model_test_step_SOURCES = tests/model/test_step.c $(made_batch) $(made_graph)
tests_model_test_step_LDADD = $(model_test_libs)

check_PROGRAMS += tests/model/test_training_loop
TESTS += tests/model/test_training_loop
tests_model_test_training_loop_SOURCES = tests/model/test_training_loop.c
tests_model_test_training_loop_LDADD = $(model_test_libs)

check_PROGRAMS += tests/model/test_trainer
TESTS += tests/model/test_trainer
tests_model_test_trainer_SOURCES = tests/model/test_trainer.c $(made_batch) $(made_graph)
tests_model_test_trainer_LDADD = $(model_test_libs)
tests_model_test_trainer_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc,--wrap=malloc

check_PROGRAMS += tests/model/test_infer_task
TESTS += tests/model/test_infer_task
tests_model_test_infer_task_SOURCES = tests/model/test_infer_task.c tests/short_memory.h
tests_model_test_infer_task_LDADD = $(model_libs) $(test_libs)
tests_model_test_infer_task_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
    -Wl,--wrap=realloc -Wl,--wrap=strdup -Wl,--wrap=strndup -Wl,--wrap=tr_task_start

check_PROGRAMS += tests/model/test_train_ranks
TESTS += tests/model/test_train_ranks
tests_model_test_train_ranks_SOURCES = tests/model/test_train_ranks.c
tests_model_test_train_ranks_LDADD = $(model_libs) $(test_libs)
tests_model_test_train_ranks_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=trainer_run \
    -Wl,--wrap=run_job_split_train -Wl,--wrap=run_job_split_close -Wl,--wrap=run_job_replica \
    -Wl,--wrap=tr_group_open -Wl,--wrap=tr_group_close -Wl,--wrap=tr_group_shut \
    -Wl,--wrap=tr_group_reduce -Wl,--wrap=tr_group_barrier -Wl,--wrap=tr_group_save \
    -Wl,--wrap=tr_group_skip_save -Wl,--wrap=tr_group_restore -Wl,--wrap=tr_group_done \
    -Wl,--wrap=tr_group_complete -Wl,--wrap=tr_graph_wait_end -Wl,--wrap=tr_nodes_deal_hash \
    -Wl,--wrap=model_kernels_text -Wl,--wrap=run_folder_sync -Wl,--wrap=run_folder_mark \
    -Wl,--wrap=nanosleep

check_PROGRAMS += tests/model/test_training_options
TESTS += tests/model/test_training_options
tests_model_test_training_options_SOURCES = tests/model/test_training_options.c \
    $(api_world)
tests_model_test_training_options_LDADD = $(model_libs) $(test_libs)

check_PROGRAMS += tests/model/test_training
TESTS += tests/model/test_training
tests_model_test_training_SOURCES = tests/model/test_training.c $(api_outcome)
tests_model_test_training_LDADD = $(model_libs) $(test_libs)
tests_model_test_training_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc

check_PROGRAMS += tests/model/model_api
TESTS += tests/model/test_model_api.sh
EXTRA_DIST += tests/model/test_model_api.sh
tests_model_model_api_SOURCES = tests/model/model_api.c
tests_model_model_api_LDADD = libtroupe-model.la $(examples_libs) -lm

check_PROGRAMS += tests/model/test_drawn_edges
TESTS += tests/model/test_drawn_edges
tests_model_test_drawn_edges_SOURCES = tests/model/test_drawn_edges.c $(made_batch)
tests_model_test_drawn_edges_LDADD = $(model_test_libs)
check_PROGRAMS += tests/model/test_edge_weights
TESTS += tests/model/test_edge_weights
tests_model_test_edge_weights_SOURCES = tests/model/test_edge_weights.c $(made_batch) $(made_graph)
tests_model_test_edge_weights_LDADD = $(model_test_libs)
check_PROGRAMS += tests/model/test_html
TESTS += tests/model/test_html
tests_model_test_html_SOURCES = tests/model/test_html.c tests/short_memory.h
tests_model_test_html_LDADD = $(model_libs) $(test_libs)
tests_model_test_html_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
    -Wl,--wrap=realloc -Wl,--wrap=strdup -Wl,--wrap=strndup
check_PROGRAMS += tests/model/test_report_task
TESTS += tests/model/test_report_task
tests_model_test_report_task_SOURCES = tests/model/test_report_task.c tests/scratch.h
tests_model_test_report_task_LDADD = $(model_libs) $(test_libs)

check_PROGRAMS += tests/model/test_run_same
TESTS += tests/model/test_run_same
tests_model_test_run_same_SOURCES = tests/model/test_run_same.c
tests_model_test_run_same_LDADD = $(model_libs) $(test_libs)

check_PROGRAMS += tests/model/test_tensorboard
TESTS += tests/model/test_tensorboard
tests_model_test_tensorboard_SOURCES = tests/model/test_tensorboard.c tests/scratch.h \
    tests/tensorboard_reader.h
tests_model_test_tensorboard_LDADD = $(model_libs) $(test_libs)

check_PROGRAMS += tests/model/test_links
TESTS += tests/model/test_links
tests_model_test_links_SOURCES = tests/model/test_links.c $(made_batch) $(made_graph) \
    tests/model/typed_batch.c tests/model/typed_batch.h
tests_model_test_links_LDADD = $(model_test_libs)

check_PROGRAMS += tests/model/test_run_history
TESTS += tests/model/test_run_history
tests_model_test_run_history_SOURCES = tests/model/test_run_history.c
tests_model_test_run_history_LDADD = $(model_libs) $(test_libs)
