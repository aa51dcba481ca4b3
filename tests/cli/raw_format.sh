# SPDX-License-Identifier: Apache-2.0
# troupe-raw(5) names the fields of metadata.json that the reader takes, no more, no less; and its example
# runs as it stands.
. "${srcdir:-.}/tests/cli/tap.sh"
source=${srcdir:-.}
page=$source/man/troupe-raw.5

tr '\n' ' ' <"$source/partition/raw/raw_chunked.c" |
    grep -oE '(json_get|json_get_optional|json_take_text|read_counts)\([^;]*;' |
    grep -oE '"[a-z_]+"' | tr -d '"' | sort -u >"$work/read"
sed -n '/^\.Ss metadata.json/,/^\.Ss Arrays/p; /^\.Ss Lists of names/,/^\.Ss Folders/p' "$page" |
    sed -n 's/^\.It Li \([a-z_]*\) No.*/\1/p' | sort -u >"$work/described"
expect "the reader takes fields" [ "$(wc -l <"$work/read")" -ge 15 ]
run diff "$work/read" "$work/described"
expect "and the page describes those" exited 0

awk '/^\.Sh EXAMPLES/ { on = 1 } on && /^\.Ed/ { exit } shown { print } on && /^\.Bd -literal/ { shown = 1 }' "$page" \
    >"$work/commands"
mkdir "$work/path"
# The command as it is installed, and nothing else of the build.
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(cd "$(dirname "$TROUPE")" && pwd)/$(basename "$TROUPE")" >"$work/path/troupe"
chmod +x "$work/path/troupe"
expect "the page's example has no escapes" eval '! grep -q "\\\\" "$work/commands"'
run sh -ec 'cd "$1" && PATH=$1/path:$PATH && . ./commands' sh "$work"
expect "which runs as it stands" exited 0
expect "the graph is inspected" says '^graph  *shop$'
expect "and partitioned" says '^nodes  *8$'
run "$TROUPE" inspect "$work/shop" --json
expect "its features are those of the text files" says '"feat".*float32.*\[2\]'
expect "and so are its classes" says '"label".*int64'
run "$TROUPE" verify "$work/shop-parts/shop.json" "$work/shop" --quiet
expect "the partitions hold them" exited 0
run "$TROUPE" train "$work/shop-parts" --run "$work/run" --epochs 1 --quiet
expect "and can be trained on" exited 0
finish
