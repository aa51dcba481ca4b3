# SPDX-License-Identifier: Apache-2.0
# Each benchmark runs, at the smallest scale, and reports figures of the promised shape. How good the
# figures are is not asked here: a busy machine must not fail a test.
. "${srcdir:-.}/tests/cli/tap.sh"

number='[0-9.]*[1-9][0-9.e+-]*'
shape="^{\"figure\":\"[a-z_]*\",\"value\":$number,\"unit\":\"[^\"]*\",\"reference\":\"[^\"]*\",\
\"reference_value\":$number,\"ratio\":$number,\"goal\":$number,\"reached\":\(true\|false\)}\$"

# The figure, or one that begins with the name, is there, and every line has the shape.
reports() {
    exited 0 && says "^{\"figure\":\"$1[_\"]" && ! grep -v "$shape" "$work/out"
}

troupe bench --list
expect "benchmarks are listed" says '^gather '
"$TROUPE" bench --list | tail -n +2 | cut -d ' ' -f 1 >"$work/names"
while read -r name; do
    troupe bench "$name" --json --scale 0.002 --rounds 1 --folder "$work/graphs"
    expect "$name reports its figures" reports "$name"
done <"$work/names"
troupe bench gather --scale 0.002 --rounds 1
expect "people read a line" says '^gather .* bytes/s, .* times .*; goal: at least 0.9'
if [ -c /dev/full ]; then
    "$TROUPE" bench --list >/dev/full 2>"$work/err"
    code=$?
    expect "a full output fails the command" exited 1
    expect "and is named" complains 'standard output'
fi
troupe bench nothing
expect "another name is refused" refuses_with 'nothing: no such benchmark'
troupe bench
expect "no name is refused" refuses_with 'name a benchmark'
troupe bench gather --scale 2
expect "more than the whole graph is refused" refuses_with '--scale 2: '
finish
