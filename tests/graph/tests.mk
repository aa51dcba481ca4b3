# Tests of graph/.
graph_tests = \
    tests/graph/test_key \
    tests/graph/test_relabel \
    tests/graph/test_sample
check_PROGRAMS += $(graph_tests)
TESTS += $(graph_tests)
tests_graph_test_key_SOURCES = tests/graph/test_key.c tests/graph/statistics.h
tests_graph_test_key_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_relabel_SOURCES = tests/graph/test_relabel.c
tests_graph_test_relabel_LDADD = $(graph_libs) $(test_libs)
tests_graph_test_sample_SOURCES = tests/graph/test_sample.c tests/graph/statistics.h
tests_graph_test_sample_LDADD = $(graph_libs) $(test_libs)
