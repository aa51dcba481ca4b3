# Drivers that look for failures that nobody has seen, for TROUPE_SOAK_SECONDS each: ./check soak runs
# them, make check does not.
soak_shell_tests = tests/soak/simulate.sh
SOAK_TESTS += $(soak_shell_tests)
EXTRA_DIST += $(soak_shell_tests)
