# SPDX-License-Identifier: Apache-2.0
# Sourced by the shell tests: TAP, a scratch folder, and ways to run $TROUPE.
#
#   expect WHAT COMMAND...        ok when the command succeeds
#   run COMMAND...                keeps the exit code in $code, the outputs in $work/out, $work/err
#                                 Processes that run at once: out.NAME, err.NAME (or log, or a
#                                 digit), so that a test that fails or hangs shows what they said
#   skip WHAT WHY
#   finish                        prints the plan; the last line of a test

: "${TROUPE:?is not set: run this through make check}"
work=$(mktemp -d "${TMPDIR:-/tmp}/troupe-test.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
tests=0

# What processes said, the beginning and the end of each of the test's files of that.
show_said() {
    for file in "$work"/out* "$work"/err* "$work"/log* "$work"/[0-9]; do
        [ -f "$file" ] || continue
        awk -v name="${file##*/}" 'NR <= 10 { print "# " name ": " $0; next } { last[NR % 20] = $0 }
            END { if (NR > 30) print "# " name ": ..."
                for (n = NR > 30 ? NR - 19 : 11; n <= NR; n++) print "# " name ": " last[n % 20] }' "$file"
    done
}

expect() {
    what=$1
    shift
    tests=$((tests + 1))
    if "$@"; then
        echo "ok $tests - $what"
    else
        echo "not ok $tests - $what"
        show_said
    fi
}

skip() {
    tests=$((tests + 1))
    echo "ok $tests # SKIP $1: $2"
}

run() {
    "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}

troupe() { run "$TROUPE" "$@"; }

exited() { [ "$code" = "$1" ]; }
says() { grep -qe "$1" "$work/out"; }
complains() { grep -qe "$1" "$work/err"; }
fails_with() { exited 1 && complains "$1"; }
refuses_with() { exited 2 && complains "$1"; }
absent() { [ ! -e "$1" ]; }

# Nothing is left in a folder, hidden or not.
empty_folder() { [ -z "$(ls -A "$1")" ]; }

finish() { echo "1..$tests"; }

# The commands with options of their own, "import edges" for kinds.
leaf_commands() {
    "$TROUPE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | while read -r command; do
        kinds=$("$TROUPE" "$command" --help | sed -n '/^Kinds:/,/^$/s/^  \([a-z]*\) .*/\1/p')
        [ -n "$kinds" ] || echo "$command"
        for kind in $kinds; do
            echo "$command $kind"
        done
    done
}

# The names of a command's own options; all have --help.
options_of() {
    "$TROUPE" "$@" --help | sed -n '/^Options:/,/^$/s/^  --\([a-z0-9-]*\).*/\1/p' | grep -vx help
}
