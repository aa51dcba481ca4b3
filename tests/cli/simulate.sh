# SPDX-License-Identifier: Apache-2.0
# `troupe simulate --minutes` runs seeds that never ran, ends in time, and writes what fails, with the
# command that replays it, as soon as it does.
here=$(cd "${srcdir:-.}" && pwd)
. "$here/tests/cli/tap.sh"
cd "$work" || exit 99

first_seed() { sed -n 's/.*"first_seed": *\([0-9]*\).*/\1/p' "$work/out"; }
seeds_run() { sed -n 's/.*"seeds": *\([0-9]*\).*/\1/p' "$work/out"; }

troupe simulate
expect "seeds or minutes are needed" refuses_with '\-\-seeds'
troupe simulate --seeds 1 --minutes 1
expect "and not both" refuses_with '\-\-minutes'
troupe simulate --minutes 0
expect "no time is refused" refuses_with '\-\-minutes'

# Seeds are one, or the first and the last.
troupe simulate --seeds 3-6 --json
expect "seeds are counted from the first to the last" [ "$(first_seed) $(seeds_run)" = "3 4" ]
for seeds in 6-3 3- 3-6x -6 x; do
    troupe simulate --seeds "$seeds"
    expect "--seeds $seeds is refused" refuses_with 'the first and the last'
done

# Each fail-point of a list is looked at, and no more than two fit in one run.
points=$("$TROUPE" simulate --failpoints | grep -v ' ' | head -n 3)
first=$(echo "$points" | sed -n 1p) second=$(echo "$points" | sed -n 2p)
troupe simulate --seeds 1 --die-at "nothing,$first"
expect "a fail-point that there is not is refused" refuses_with '\-\-die-at nothing'
troupe simulate --seeds 1 --die-at "$first,nothing"
expect "as the second one too" refuses_with '\-\-die-at'
troupe simulate --seeds 1 --die-at "$first,$second,$first"
expect "three are refused" refuses_with 'one or two fail-points'
troupe simulate --seeds 2 --die-at "$first,$second"
expect "two are run" exited 0

# A deadline bounds the beginnings of seeds, not their ends.
troupe simulate --minutes 0.05 --jobs 2 --json
# Whether fresh seeds hold is what "./check soak" asks; here they are told of alike, whatever they do.
failures=$(grep -c '^troupe simulate' "$work/simulate-failures.txt" 2>"$work/err")
expect "some ran" [ "$(seeds_run)" -gt 0 ]
expect "as many failed as the file has commands" [ "$(sed -n 's/.*"failed":\([0-9]*\).*/\1/p' "$work/out")" = "${failures:-0}" ]
expect "and the run fails with them" [ $((code != 0)) = $((${failures:-0} > 0)) ]
once=$(first_seed)
largest=$(sed -n 's/^\([0-9][0-9]*\).*/\1/p' "$here/tests/sim/seeds.txt" | sort -n | tail -n 1)
expect "they are none of the remembered ones" [ "$once" -gt "$largest" ]
troupe simulate --minutes 0.01 --json
expect "another run has others" [ "$(first_seed)" -gt $((once + 100)) ]

# What fails: a worker that is killed fails the seed that it ran, and the rest goes on.
# A program that is not installed yet may be a script that has other children before it becomes the program.
worker_of() {
    worker=$(cut -d ' ' -f 1 "/proc/$1/task/$1/children" 2>/dev/null)
    grep -q 'troupe-tools$' "/proc/$1/comm" 2>/dev/null && [ -n "$worker" ]
}
# On a busy machine the time may be over before its worker is seen: then another one is begun, with more.
for minutes in 0.1 0.2 0.4 0.8; do
    "$TROUPE" simulate --minutes $minutes --jobs 1 --failures "$work/failed.txt" >"$work/out" 2>"$work/err" &
    simulating=$!
    until worker_of $simulating || ! kill -0 $simulating 2>/dev/null; do
        sleep 0.02
    done
    kill -KILL "$worker" 2>/dev/null && killed=yes || killed=
    wait $simulating
    code=$?
    [ -n "$killed" ] && [ $code != 0 ] && break
done
expect "a worker runs" [ -n "$killed" ]
expect "a seed that dies fails the run" exited 1
expect "others ran after it" [ "$(sed -n 's/^seeds  *\([0-9,]*\)$/\1/p' "$work/out" | tr -d ,)" -gt 1 ]
expect "the file has the command" grep -q '^troupe simulate --seeds [0-9]* --verbose$' "$work/failed.txt"
expect "and what was wrong" grep -q '^    the run died' "$work/failed.txt"
# shellcheck disable=SC2046 # the options are words
"$TROUPE" simulate $(sed -n '1s/^troupe simulate \(.*\) --verbose$/\1/p' "$work/failed.txt") >"$work/out" 2>"$work/err"
code=$?
expect "the command runs that seed" exited 0
finish
