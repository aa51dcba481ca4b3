# SPDX-License-Identifier: Apache-2.0
# Tests of graph/.

# Draws of every sampler from edges in memory, and what their frequencies are measured by.
edge_draws = tests/graph/edge_draws.c tests/graph/edge_draws.h tests/graph/statistics.h

graph_tests = \
    tests/graph/test_bijection \
    tests/graph/test_csr \
    tests/graph/test_digest \
    tests/graph/test_edge_scan \
    tests/graph/test_batch_builder \
    tests/graph/test_excluded \
    tests/graph/test_gather \
    tests/graph/test_independence \
    tests/graph/test_key \
    tests/graph/test_labor \
    tests/graph/test_local \
    tests/graph/test_masked \
    tests/graph/test_negatives \
    tests/graph/test_out_draws \
    tests/graph/test_relabel \
    tests/graph/test_sample \
    tests/graph/test_total \
    tests/graph/test_types \
    tests/graph/test_weighted
check_PROGRAMS += $(graph_tests)
TESTS += $(graph_tests)
tests_graph_test_bijection_SOURCES = tests/graph/test_bijection.c tests/graph/statistics.h
tests_graph_test_bijection_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_csr_SOURCES = tests/graph/test_csr.c
tests_graph_test_csr_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_digest_SOURCES = tests/graph/test_digest.c
tests_graph_test_digest_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_edge_scan_SOURCES = tests/graph/test_edge_scan.c
tests_graph_test_edge_scan_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_local_SOURCES = tests/graph/test_local.c
tests_graph_test_local_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_types_SOURCES = tests/graph/test_types.c
tests_graph_test_types_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_negatives_SOURCES = tests/graph/test_negatives.c tests/graph/statistics.h
tests_graph_test_negatives_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_out_draws_SOURCES = tests/graph/test_out_draws.c tests/graph/statistics.h
tests_graph_test_out_draws_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_total_SOURCES = tests/graph/test_total.c tests/graph/statistics.h
tests_graph_test_total_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_key_SOURCES = tests/graph/test_key.c tests/graph/statistics.h
tests_graph_test_key_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_relabel_SOURCES = tests/graph/test_relabel.c
tests_graph_test_relabel_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_sample_SOURCES = tests/graph/test_sample.c tests/graph/statistics.h
tests_graph_test_sample_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_masked_SOURCES = tests/graph/test_masked.c $(edge_draws)
tests_graph_test_masked_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_weighted_SOURCES = tests/graph/test_weighted.c $(edge_draws)
tests_graph_test_weighted_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_excluded_SOURCES = tests/graph/test_excluded.c $(edge_draws)
tests_graph_test_excluded_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_independence_SOURCES = tests/graph/test_independence.c $(edge_draws)
tests_graph_test_independence_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_labor_SOURCES = tests/graph/test_labor.c $(edge_draws)
tests_graph_test_labor_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_gather_SOURCES = tests/graph/test_gather.c
tests_graph_test_gather_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_batch_builder_SOURCES = tests/graph/test_batch_builder.c tests/graph/fixture.c tests/graph/fixture.h
tests_graph_test_batch_builder_LDADD = $(graph_libs) $(test_libs)
# The n-th allocation fails: every place that takes memory is visited. In a static link the
# linker puts the test's functions between the library and the allocator.
tests_graph_test_batch_builder_LDFLAGS = $(AM_LDFLAGS) -static -Wl,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=mmap
