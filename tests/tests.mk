# SPDX-License-Identifier: Apache-2.0
# The harness itself. Every test runs under tests/limit, which ends it.
check_PROGRAMS += tests/limit
tests_limit_SOURCES = tests/limit.c tests/limit_show.c tests/limit_show.h
tests_limit_CFLAGS = -std=gnu11 -O2 $(WARN_CFLAGS)
tests_limit_LDFLAGS =
TESTS += tests/limit.sh
EXTRA_DIST += tests/limit.sh
# Where tests keep their files.
EXTRA_DIST += tests/begun_folder.h tests/scratch.h
# The sources against docs/architecture.md.
TESTS += tests/rooms.sh tests/knots.sh tests/named.sh
EXTRA_DIST += tests/rooms.sh tests/knots.sh tests/named.sh
# Not a test: what tests/cli/disturb.sh puts between the processes of a job.
check_PROGRAMS += tests/tools/disturb
tests_tools_disturb_SOURCES = tests/tools/disturb.c
tests_tools_disturb_LDADD =
# The strangers of tests/outside/slow_loris.sh.
check_PROGRAMS += tests/tools/loris
tests_tools_loris_SOURCES = tests/tools/loris.c
tests_tools_loris_LDADD =
