# Tests of model/.
made_batch = tests/model/made_batch.c tests/model/made_batch.h
# Not $(model_libs): the room computes on batches in memory and needs no actors.
model_test_libs = libtr_model.la $(graph_libs) $(JANSSON_LIBS) $(BLAS_LIBS) $(test_libs)

check_PROGRAMS += tests/model/test_step
TESTS += tests/model/test_step
tests_model_test_step_SOURCES = tests/model/test_step.c $(made_batch)
tests_model_test_step_LDADD = $(model_test_libs)
