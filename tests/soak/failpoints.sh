# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # options and lists are split into their words
# Processes of real jobs die at each fail-point, and at pairs of them, and stand still at each for 20 s: the
# jobs end with the same losses and model. The program has to be built with --enable-failpoints.
. "${srcdir:-.}/tests/soak/jobs.sh"

points=$("$TROUPE" simulate --failpoints | cut -d ' ' -f 1)
if [ -z "$points" ]; then
    expect "the program names its fail-points" false
    finish
    exit
fi
num_points=$(printf '%s\n' "$points" | wc -l)
point_of() { printf '%s\n' "$points" | sed -n "$(($1 % num_points + 1))p"; }
if ! TROUPE_FAILPOINT=nothing "$TROUPE" train "$work/g/toy.json" --run "$work/probe" $learning 2>&1 |
    grep -q 'TROUPE_FAILPOINT: nothing'; then
    skip "processes die at fail-points" "built without --enable-failpoints"
    finish
    exit
fi

# A kill at a drawn moment comes first in every second job: the way back is what many points are of.
arm() {
    rm -rf points
    mkdir points
    TROUPE_FAILPOINT=$1
    TROUPE_FAILPOINT_FOLDER=$PWD/points
    export TROUPE_FAILPOINT TROUPE_FAILPOINT_FOLDER
}
after_job() {
    ls points >>hits
    case $TROUPE_FAILPOINT in
    *=stop) ls points >>stops ;;
    *,*) echo "$TROUPE_FAILPOINT" >>pairs ;;
    esac
    [ -z "$1" ] || echo "--- TROUPE_FAILPOINT=$TROUPE_FAILPOINT" >>job.log
    unset TROUPE_FAILPOINT
}

# Lanes that kill: the points one after the other, in each shape, without and with a kill before; then
# pairs. Lanes that stop: the points one after the other.
killing=$((2 * $(nproc)))
stopping=8
prepare() {
    item=$(($2 * killing + $1))
    more="-m none"
    if [ "$1" -ge $killing ]; then
        item=$(($2 * stopping + $1 - killing))
        [ $item -lt $((2 * num_points)) ] || return 1
        any_shape $((7 * ($3 / 11 + item / num_points)))
        arm "$(point_of $item)=stop"
        more="$more -w 20 -f points"
    elif [ $item -lt $((8 * num_points)) ]; then
        any_shape $((7 * (item / num_points)))
        arm "$(point_of $item)=kill"
    else
        any_shape "$3"
        arm "$(point_of $(($3 / 3))):$((1 + $3 / 5 % 2))=kill,$(point_of $(($3 / 101)))=kill"
    fi
    [ $((item / num_points % 2)) = 0 ] || [ "$1" -ge $killing ] || more="-m kill -t 200"
}
lanes $killing
[ "$seconds" -lt 60 ] || lanes $stopping
expect "a job whose processes die or stop at fail-points ends, with the same result" settle
sort -u "$work"/lane*/hits >"$work/passed"
printf '%s\n' "$points" | sort | comm -23 - "$work/passed" | sed 's/^/# never passed: /'
lines_of() { cat "$work"/lane*/"$1" 2>/dev/null; }
num_pairs=$(lines_of pairs | sort -u | wc -l)
num_stops=$(lines_of stops | sort -u | wc -l)
echo "# $(lines_of hits | wc -l) deaths and stops at $(wc -l <"$work/passed") of $num_points points; \
$num_pairs pairs; stops of 20 s at $num_stops points"
# A run is rewound only where a drawn kill came behind a line of it: one of a few hundred jobs has that.
[ "$seconds" -lt 300 ] || expect "every point was passed" [ "$(wc -l <"$work/passed")" = "$num_points" ]
# Two cores run two jobs a second, and stop at a point in 3 s.
[ "$seconds" -lt 600 ] || expect "a process stood still at every point" [ "$num_stops" = "$num_points" ]
[ "$seconds" -lt 1200 ] || expect "200 pairs were tried" [ "$num_pairs" -ge 200 ]
finish
