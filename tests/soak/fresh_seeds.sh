# SPDX-License-Identifier: Apache-2.0
# Fresh seeds of the simulator, for TROUPE_SOAK_SECONDS.
. "${srcdir:-.}/tests/cli/tap.sh"
seconds=${TROUPE_SOAK_SECONDS:-60}
failures=${TROUPE_SOAK_FAILURES:-$work/failures.txt}
troupe simulate --minutes "$(awk -v s="$seconds" 'BEGIN { print s / 60 }')" --failures "$failures"
sed 's/^/# /' "$work/out"
expect "fresh seeds hold" exited 0
finish
