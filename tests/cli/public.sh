# SPDX-License-Identifier: Apache-2.0
# The commands of libtr_cli_public stand on the public API alone: they include nothing else of the
# library, and need no name of it that is not public. What bench needs shows that the test would
# notice.
. "${srcdir:-.}/tests/cli/tap.sh"

source=${srcdir:-.}
build=$(dirname "$TROUPE")
: "${NM:=nm}"
if ! command -v "$NM" >"$work/nm"; then
    skip "names that commands need" "there is no nm here"
    finish
    exit
fi

for room in runtime schemas graph partition actors model api launch; do
    "$NM" --defined-only "$build/.libs/libtr_$room.a" 2>/dev/null
done | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' | sort -u >"$work/defined"
expect "the rooms define names" grep -qx error_set "$work/defined"

# What an object or archive needs of the rooms that is not public.
needs() {
    "$NM" --undefined-only "$1" 2>/dev/null | awk 'NF == 2 { print $2 }' | sort -u |
        comm -12 - "$work/defined" | grep -v '^tr_'
}
needs "$build/.libs/libtr_cli_public.a" >"$work/out"
expect "public commands need public names alone" [ ! -s "$work/out" ]
needs "$build/.libs/libtr_cli_tools.a" >"$work/out"
expect "bench and simulate need others" [ -s "$work/out" ]

sed -n '/^libtr_cli_public_la_SOURCES/,/[^\\]$/s/^ *\(cli[^ ]*\).*/\1/p' "$source/cli/room.mk" >"$work/sources"
expect "there are public commands" grep -qx cli/cmd_inspect.c "$work/sources"
# includes FILE: what it includes of this house but public headers and others of the list.
includes() {
    sed -n 's/^ *# *include "\([^"]*\)".*/\1/p' "$source/$1" | while read -r header; do
        [ "$header" = config.h ] || grep -qx "$header" "$work/sources" || echo "$1: $header"
    done
}
while read -r file; do
    includes "$file"
done <"$work/sources" >"$work/out"
expect "they include public headers and each other alone" [ ! -s "$work/out" ]
includes cli/tools/run_bench.c >"$work/out"
expect "which bench does not" [ -s "$work/out" ]
finish
