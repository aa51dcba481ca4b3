# SPDX-License-Identifier: Apache-2.0
# Drivers that look for failures that nobody has seen, for TROUPE_SOAK_SECONDS each: ./check soak runs
# them, make check does not.
soak_shell_tests = tests/soak/failpoints.sh tests/soak/kill_end.sh tests/soak/kill_random.sh tests/soak/kill_ranks.sh tests/soak/python_loaders.sh tests/soak/fresh_seeds.sh
SOAK_TESTS += $(soak_shell_tests)
EXTRA_DIST += $(soak_shell_tests) tests/soak/jobs.sh
# Not a test: what runs a job and strikes its processes.
check_PROGRAMS += tests/soak/strike_job
tests_soak_strike_job_SOURCES = tests/soak/strike_job.c
tests_soak_strike_job_LDADD =
