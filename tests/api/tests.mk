# SPDX-License-Identifier: Apache-2.0
# Tests of api/.

# What calls came to; the small graph that most tests share; the random ones that some cut in many ways;
# what batches of their edges hold; the processes of a cluster file.
api_outcome = tests/api/outcome.c tests/api/outcome.h
api_world = tests/api/api_world.c tests/api/api_world.h $(api_outcome)
sample_placements = tests/api/sample_placements.c tests/api/sample_placements.h $(api_outcome) \
    tests/partition/graph_util.h tests/partition/raw_util.h
link_checks = tests/api/link_checks.c tests/api/link_checks.h $(sample_placements)

cluster_job = tests/api/cluster_job.c tests/api/cluster_job.h

TESTS += tests/api/test_batches.sh tests/api/headers.sh tests/api/prototypes.sh tests/api/readme_example.sh tests/api/struct_page.sh
EXTRA_DIST += tests/api/test_batches.sh tests/api/headers.sh tests/api/prototypes.sh tests/api/readme_example.sh tests/api/struct_page.sh

check_PROGRAMS += tests/api/test_session
TESTS += tests/api/test_session
tests_api_test_session_SOURCES = tests/api/test_session.c $(api_world)
tests_api_test_session_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_loader
TESTS += tests/api/test_loader
tests_api_test_loader_SOURCES = tests/api/test_loader.c $(api_world)
tests_api_test_loader_LDADD = $(api_libs) $(test_libs)
tests_api_test_loader_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=port_call,--wrap=port_find,--wrap=port_send

check_PROGRAMS += tests/api/test_close_races
TESTS += tests/api/test_close_races
tests_api_test_close_races_SOURCES = tests/api/test_close_races.c $(api_world)
tests_api_test_close_races_LDADD = $(api_libs) $(test_libs)
tests_api_test_close_races_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=port_open

check_PROGRAMS += tests/api/test_alloc_failures
TESTS += tests/api/test_alloc_failures
tests_api_test_alloc_failures_SOURCES = tests/api/test_alloc_failures.c $(api_world)
tests_api_test_alloc_failures_LDADD = $(api_libs) $(test_libs)
tests_api_test_alloc_failures_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc \
    -Wl,--wrap=aligned_alloc,--wrap=mmap,--wrap=pthread_create

check_PROGRAMS += tests/api/test_samplers
TESTS += tests/api/test_samplers
tests_api_test_samplers_SOURCES = tests/api/test_samplers.c $(sample_placements)
tests_api_test_samplers_LDADD = $(api_libs) $(test_libs)
check_PROGRAMS += tests/api/test_typed
TESTS += tests/api/test_typed
tests_api_test_typed_SOURCES = tests/api/test_typed.c $(sample_placements)
tests_api_test_typed_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_query
TESTS += tests/api/test_query
tests_api_test_query_SOURCES = tests/api/test_query.c tests/schemas/random.h $(sample_placements) \
    $(cluster_job)
tests_api_test_query_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_join
TESTS += tests/api/test_join
tests_api_test_join_SOURCES = tests/api/test_join.c $(sample_placements)
tests_api_test_join_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_edge_types
TESTS += tests/api/test_edge_types
tests_api_test_edge_types_SOURCES = tests/api/test_edge_types.c $(link_checks)
tests_api_test_edge_types_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_link_prediction
TESTS += tests/api/test_link_prediction
tests_api_test_link_prediction_SOURCES = tests/api/test_link_prediction.c $(link_checks)
tests_api_test_link_prediction_LDADD = $(api_libs) $(test_libs)
check_PROGRAMS += tests/api/test_negative_edges
TESTS += tests/api/test_negative_edges
tests_api_test_negative_edges_SOURCES = tests/api/test_negative_edges.c tests/graph/statistics.h $(sample_placements)
tests_api_test_negative_edges_LDADD = $(api_libs) $(test_libs) -lm
check_PROGRAMS += tests/api/test_reverse_exclusion
TESTS += tests/api/test_reverse_exclusion
tests_api_test_reverse_exclusion_SOURCES = tests/api/test_reverse_exclusion.c $(link_checks)
tests_api_test_reverse_exclusion_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_pairs
TESTS += tests/api/test_pairs
tests_api_test_pairs_SOURCES = tests/api/test_pairs.c $(sample_placements)
tests_api_test_pairs_LDADD = $(api_libs) $(test_libs)

TESTS += tests/api/test_example.sh
EXTRA_DIST += tests/api/test_example.sh

check_PROGRAMS += tests/api/test_file_write
TESTS += tests/api/test_file_write
tests_api_test_file_write_SOURCES = tests/api/test_file_write.c tests/partition/raw_util.h
tests_api_test_file_write_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_deal
TESTS += tests/api/test_deal
tests_api_test_deal_SOURCES = tests/api/test_deal.c $(api_world)
tests_api_test_deal_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_affinity
TESTS += tests/api/test_affinity
tests_api_test_affinity_SOURCES = tests/api/test_affinity.c $(api_outcome)
tests_api_test_affinity_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_group
TESTS += tests/api/test_group
tests_api_test_group_SOURCES = tests/api/test_group.c $(api_world)
tests_api_test_group_LDADD = $(api_libs) $(test_libs)
tests_api_test_group_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=port_wait_or_keep

check_PROGRAMS += tests/api/test_cluster_session
TESTS += tests/api/test_cluster_session
tests_api_test_cluster_session_SOURCES = tests/api/test_cluster_session.c $(api_world)
tests_api_test_cluster_session_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_goldens
TESTS += tests/api/test_goldens
tests_api_test_goldens_SOURCES = tests/api/test_goldens.c $(api_world)
tests_api_test_goldens_LDADD = $(api_libs) $(test_libs)
check_PROGRAMS += tests/api/test_task
TESTS += tests/api/test_task
tests_api_test_task_SOURCES = tests/api/test_task.c
tests_api_test_task_LDADD = $(api_libs) $(test_libs)
tests_api_test_task_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=deadline_wait


check_PROGRAMS += tests/api/test_event_queue
TESTS += tests/api/test_event_queue
tests_api_test_event_queue_SOURCES = tests/api/test_event_queue.c
tests_api_test_event_queue_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_log
TESTS += tests/api/test_log
tests_api_test_log_SOURCES = tests/api/test_log.c $(api_world)
tests_api_test_log_LDADD = $(api_libs) $(test_libs)
check_PROGRAMS += tests/api/test_log_file
TESTS += tests/api/test_log_file
tests_api_test_log_file_SOURCES = tests/api/test_log_file.c $(api_world)
tests_api_test_log_file_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_book
TESTS += tests/api/test_book
tests_api_test_book_SOURCES = tests/api/test_book.c tests/partition/graph_util.h \
    tests/partition/raw_util.h
tests_api_test_book_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_checkpoints
TESTS += tests/api/test_checkpoints
tests_api_test_checkpoints_SOURCES = tests/api/test_checkpoints.c tests/partition/raw_util.h
tests_api_test_checkpoints_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_interrupt
TESTS += tests/api/test_interrupt
tests_api_test_interrupt_SOURCES = tests/api/test_interrupt.c $(api_world)
tests_api_test_interrupt_LDADD = $(api_libs) $(test_libs)
tests_api_test_interrupt_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=crc32c,--wrap=graph_load,--wrap=graph_link

check_PROGRAMS += tests/api/test_timeouts
TESTS += tests/api/test_timeouts
tests_api_test_timeouts_SOURCES = tests/api/test_timeouts.c tests/partition/graph_util.h \
    tests/partition/raw_util.h $(api_outcome)
tests_api_test_timeouts_LDADD = $(api_libs) $(test_libs)
tests_api_test_timeouts_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=graph_await,--wrap=port_wait_or_keep \
    -Wl,--wrap=tr_graph_wait_end

check_PROGRAMS += tests/api/test_prepare
TESTS += tests/api/test_prepare
tests_api_test_prepare_SOURCES = tests/api/test_prepare.c tests/partition/raw_util.h
tests_api_test_prepare_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_sample_once
TESTS += tests/api/test_sample_once
tests_api_test_sample_once_SOURCES = tests/api/test_sample_once.c tests/partition/graph_util.h \
    tests/partition/raw_util.h
tests_api_test_sample_once_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_cluster_file
TESTS += tests/api/test_cluster_file
tests_api_test_cluster_file_SOURCES = tests/api/test_cluster_file.c tests/partition/raw_util.h
tests_api_test_cluster_file_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_graph_info
TESTS += tests/api/test_graph_info
tests_api_test_graph_info_SOURCES = tests/api/test_graph_info.c $(api_world)
tests_api_test_graph_info_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_batch_read
TESTS += tests/api/test_batch_read
tests_api_test_batch_read_SOURCES = tests/api/test_batch_read.c
tests_api_test_batch_read_LDADD = $(api_libs) $(test_libs)

check_PROGRAMS += tests/api/test_fork
TESTS += tests/api/test_fork
tests_api_test_fork_SOURCES = tests/api/test_fork.c $(api_world)
tests_api_test_fork_LDADD = $(api_libs) $(test_libs)

# A later version of both libraries, whose structs have a field more; a program of today on them; and a
# program of that version on the libraries of today.
check_LTLIBRARIES += libtr_api_grown.la libtr_model_grown.la
libtr_api_grown_la_SOURCES = $(libtr_api_la_SOURCES) $(libtr_launch_la_SOURCES)
libtr_api_grown_la_CPPFLAGS = -I$(top_builddir)/tests/api/grown $(AM_CPPFLAGS)
libtr_api_grown_la_CFLAGS = $(AM_CFLAGS) -Wno-missing-field-initializers
libtr_model_grown_la_SOURCES = $(libtr_model_la_SOURCES)
libtr_model_grown_la_CPPFLAGS = $(libtr_api_grown_la_CPPFLAGS)
libtr_model_grown_la_CFLAGS = $(libtr_api_grown_la_CFLAGS)
tests/api/grown/stamp: $(troupeinclude_HEADERS) tests/api/grow_headers.awk tests/api/list_structs.awk
	$(AM_V_GEN)rm -rf tests/api/grown && $(MKDIR_P) tests/api/grown/troupe tests/api/grown/list && \
	for header in $(troupeinclude_HEADERS); do \
	    $(AWK) -f $(srcdir)/tests/api/grow_headers.awk $(srcdir)/$$header \
	        >tests/api/grown/troupe/$${header##*/} || exit 1; \
	done && \
	for header in $(troupeinclude_HEADERS); do cat $(srcdir)/$$header || exit 1; done | \
	    $(AWK) -f $(srcdir)/tests/api/list_structs.awk >tests/api/grown/list/structs.h && : >$@
$(libtr_api_grown_la_OBJECTS) $(libtr_model_grown_la_OBJECTS): tests/api/grown/stamp
$(tests_api_test_abi_OBJECTS) $(tests_api_test_abi_later_OBJECTS): tests/api/grown/stamp
EXTRA_DIST += tests/api/grow_headers.awk tests/api/list_structs.awk
clean-local: clean-grown
clean-grown:
	rm -rf tests/api/grown

check_PROGRAMS += tests/api/test_abi tests/api/test_abi_later
TESTS += tests/api/test_abi tests/api/test_abi_later
tests_api_test_abi_SOURCES = tests/api/test_abi.c tests/api/abi.h tests/api/abi_files.c \
    tests/api/abi_model.c $(api_world)
tests_api_test_abi_LDADD = libtr_model_grown.la libtr_api_grown.la $(actors_libs) $(BLAS_LIBS) $(test_libs)
tests_api_test_abi_later_SOURCES = $(tests_api_test_abi_SOURCES)
tests_api_test_abi_later_CPPFLAGS = -DOF_A_LATER_VERSION $(libtr_api_grown_la_CPPFLAGS)
tests_api_test_abi_later_CFLAGS = $(libtr_api_grown_la_CFLAGS)
tests_api_test_abi_later_LDADD = $(model_libs) $(test_libs)

# Where structs end in the headers as they are, and as those of a later version are.
check_PROGRAMS += tests/api/test_struct_ends
TESTS += tests/api/test_struct_ends
check_LTLIBRARIES += libtr_ends_now.la libtr_ends_later.la
libtr_ends_now_la_SOURCES = tests/api/struct_ends.c tests/api/struct_ends.h
libtr_ends_now_la_CPPFLAGS = $(AM_CPPFLAGS) -DSTRUCT_ENDS=struct_ends_now
libtr_ends_later_la_SOURCES = $(libtr_ends_now_la_SOURCES)
libtr_ends_later_la_CPPFLAGS = -DOF_A_LATER_VERSION -DSTRUCT_ENDS=struct_ends_later \
    $(libtr_api_grown_la_CPPFLAGS)
$(libtr_ends_now_la_OBJECTS) $(libtr_ends_later_la_OBJECTS): tests/api/grown/stamp
tests_api_test_struct_ends_SOURCES = tests/api/test_struct_ends.c
tests_api_test_struct_ends_LDADD = libtr_ends_now.la libtr_ends_later.la $(test_libs)

check_PROGRAMS += tests/api/test_dist_tensor
TESTS += tests/api/test_dist_tensor
tests_api_test_dist_tensor_SOURCES = tests/api/test_dist_tensor.c tests/schemas/random.h $(api_world) $(cluster_job)
tests_api_test_dist_tensor_LDADD = $(api_libs) $(test_libs)
