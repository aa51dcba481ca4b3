#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Looks for new inputs with the targets of a folder configured with --enable-fuzz:
#
#   tests/fuzz/run.sh BUILD FOUND RUNS [TARGET...]
#
# What reaches new code goes to FOUND/TARGET, what crashes, leaks, hangs or takes much memory to
# FOUND/failed, output to FOUND/TARGET.log. Ends with 1 where a target failed.
set -u
[ $# -ge 3 ] || { sed -n '3,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
build=$1 found=$2 runs=$3
shift 3
corpus=$(cd "$(dirname "$0")" && pwd)/corpus
# shellcheck disable=SC2046 # names of folders of ours
[ $# -gt 0 ] || set -- $(ls "$corpus")
mkdir -p "$found/failed"
result=0
for target; do
    mkdir -p "$found/$target"
    # Inputs longer than this find nothing more, and are slow.
    case $target in
    partition | chunked) length=10000 ;;
    csv | edges | metis | mtx) length=512 ;;
    *) length=2048 ;;
    esac
    if "$build/tests/fuzz/fuzz_$target" -runs="$runs" -max_len=$length -timeout=20 \
        -rss_limit_mb=2048 -malloc_limit_mb=512 -print_final_stats=1 \
        -artifact_prefix="$found/failed/$target-" "$found/$target" "$corpus/$target" \
        >"$found/$target.log" 2>&1; then
        verdict=passed
    else
        verdict=FAILED result=1
    fi
    echo "$target $verdict $(awk '/number_of_executed_units/ { print $2, "executions" }' "$found/$target.log")"
done
exit $result
