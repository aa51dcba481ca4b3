# SPDX-License-Identifier: Apache-2.0
# The files of a room call each other one way, but for small knots, and larger ones are noticed
# (scripts/knots).
. "${srcdir:-.}/tests/cli/tap.sh"

source=${srcdir:-.}
MOST=6 # files that a person can hold in mind together

for room in runtime schemas graph partition actors api launch model; do
    run sh "$source/scripts/knots" $MOST .libs/libtr_$room.a
    expect "no more than $MOST files of $room/ call each other in a circle" exited 0
done
# The simulated trainer and the oracles that look at it are one more.
run sh "$source/scripts/knots" $((MOST + 1)) .libs/libtr_sim.a
expect "no more than $((MOST + 1)) files of sim/ call each other in a circle" exited 0

says_only_three() {
    [ "$(wc -l <"$work/out")" = 1 ] && says '^3 one.o three.o two.o$'
}

# Three files in a circle, and one that only calls one of them.
mkdir "$work/three"
for pair in "one two" "two three" "three one" "apart one"; do
    # shellcheck disable=SC2086 # a pair is two words
    set -- $pair
    echo "extern int $2(void); int $1(void); int $1(void) { return $2(); }" |
        ${CC:-cc} -x c -c -o "$work/three/$1.o" - || exit 99
done
run sh "$source/scripts/knots" 3 "$work"/three/*.o
expect "a knot as large as may be passes" exited 0
expect "it is named whole, and nothing else with it" says_only_three
run sh "$source/scripts/knots" 2 "$work"/three/*.o
expect "one that is larger does not pass" exited 1
run sh "$source/scripts/knots" 2 "$work/three/four.o"
expect "where nothing was built nothing passes" exited 2
finish
