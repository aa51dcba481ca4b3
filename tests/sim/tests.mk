# SPDX-License-Identifier: Apache-2.0
# Tests of sim/.
check_PROGRAMS += tests/sim/test_failpoints
TESTS += tests/sim/test_failpoints
tests_sim_test_failpoints_SOURCES = tests/sim/test_failpoints.c tests/seeds.h
tests_sim_test_failpoints_LDADD = $(sim_libs) $(test_libs)

EXTRA_DIST += tests/sim/seeds.txt

check_PROGRAMS += tests/sim/test_sim
TESTS += tests/sim/test_sim
tests_sim_test_sim_SOURCES = tests/sim/test_sim.c tests/seeds.h
tests_sim_test_sim_LDADD = $(sim_libs) $(test_libs)
SEED_TESTS += tests/sim/test_sim

check_PROGRAMS += tests/sim/test_reference
TESTS += tests/sim/test_reference
tests_sim_test_reference_SOURCES = tests/sim/test_reference.c
tests_sim_test_reference_LDADD = $(sim_libs) $(test_libs)

check_PROGRAMS += tests/sim/test_liveness
TESTS += tests/sim/test_liveness
tests_sim_test_liveness_SOURCES = tests/sim/test_liveness.c
tests_sim_test_liveness_LDADD = $(sim_libs) $(test_libs)

check_PROGRAMS += tests/sim/test_fleet_faults
TESTS += tests/sim/test_fleet_faults
tests_sim_test_fleet_faults_SOURCES = tests/sim/test_fleet_faults.c
tests_sim_test_fleet_faults_LDADD = $(sim_libs) $(test_libs)
tests_sim_test_fleet_faults_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fleet_kill,--wrap=node_spawn

check_PROGRAMS += tests/sim/test_oracles
TESTS += tests/sim/test_oracles
tests_sim_test_oracles_SOURCES = tests/sim/test_oracles.c
tests_sim_test_oracles_LDADD = $(sim_libs) $(test_libs)
tests_sim_test_oracles_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=links_status,--wrap=node_message_account,--wrap=node_failure

check_PROGRAMS += tests/sim/test_seed_workers
TESTS += tests/sim/test_seed_workers
tests_sim_test_seed_workers_SOURCES = tests/sim/test_seed_workers.c
tests_sim_test_seed_workers_LDADD = $(sim_libs) $(test_libs)
tests_sim_test_seed_workers_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sim_run

check_PROGRAMS += tests/sim/test_fleet_launch
TESTS += tests/sim/test_fleet_launch
tests_sim_test_fleet_launch_SOURCES = tests/sim/test_fleet_launch.c
tests_sim_test_fleet_launch_LDADD = $(sim_libs) $(test_libs)
tests_sim_test_fleet_launch_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fleet_boot \
    -Wl,--wrap=fleet_ask_to_leave -Wl,--wrap=fleet_kill

check_PROGRAMS += tests/sim/test_sim_checks
TESTS += tests/sim/test_sim_checks
tests_sim_test_sim_checks_SOURCES = tests/sim/test_sim_checks.c
tests_sim_test_sim_checks_LDADD = $(sim_libs) $(test_libs)
tests_sim_test_sim_checks_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=actor_call

check_PROGRAMS += tests/sim/test_plans
TESTS += tests/sim/test_plans
tests_sim_test_plans_SOURCES = tests/sim/test_plans.c
tests_sim_test_plans_LDADD = $(sim_libs) $(test_libs)

check_PROGRAMS += tests/sim/test_fleet_checkpoints
TESTS += tests/sim/test_fleet_checkpoints
tests_sim_test_fleet_checkpoints_SOURCES = tests/sim/test_fleet_checkpoints.c
tests_sim_test_fleet_checkpoints_LDADD = $(sim_libs) $(test_libs)
