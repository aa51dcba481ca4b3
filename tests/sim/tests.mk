# Tests of sim/.
EXTRA_DIST += tests/sim/seeds.txt

check_PROGRAMS += tests/sim/test_sim
TESTS += tests/sim/test_sim
tests_sim_test_sim_SOURCES = tests/sim/test_sim.c tests/seeds.h
tests_sim_test_sim_LDADD = $(sim_libs) $(test_libs)
SEED_TESTS += tests/sim/test_sim
