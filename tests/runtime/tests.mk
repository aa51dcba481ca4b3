# Tests of runtime/.
runtime_support = tests/runtime/support.c tests/runtime/support.h
check_PROGRAMS += tests/runtime/test_message
TESTS += tests/runtime/test_message
tests_runtime_test_message_SOURCES = tests/runtime/test_message.c tests/seeds.h $(runtime_support)
tests_runtime_test_message_LDADD = $(runtime_libs) $(test_libs)
SEED_TESTS += tests/runtime/test_message
