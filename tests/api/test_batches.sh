# SPDX-License-Identifier: Apache-2.0
# The example of libtroupe(3): the page holds the file word for word, and the program built from
# it reads the same batches from every placement.
. "${srcdir:-.}/tests/cli/tap.sh"

# The literal text of the page's examples, its escapes undone.
awk '/^\.Sh/ { here = $2 == "EXAMPLES" } /^\.Ed/ { on = 0 } on; here && /^\.Bd/ { on = 1 }' \
    "${srcdir:-.}/man/libtroupe.3" | sed 's/\\&//g; s/\\-/-/g; s/\\e/\\/g' >"$work/shown"
run diff "$work/shown" "${srcdir:-.}/examples/batches.c"
expect "libtroupe(3) shows examples/batches.c" exited 0

"$TROUPE" generate sbm --nodes 2000 --edges 20000 --features 16 --classes 4 --seed 1 \
    --out "$work/raw" --quiet >"$work/out" 2>"$work/err" || exit 99
for parts in 1 4; do
    "$TROUPE" partition "$work/raw" --parts $parts --method metis --out "$work/parts-$parts" --name g \
        --quiet >"$work/out" 2>"$work/err" || exit 99
    run examples/batches "$work/parts-$parts/g.json"
    expect "it reads $parts partitions" exited 0
    cp "$work/out" "$work/batches-$parts"
done
expect "a line a batch, with its blocks and rows" \
    says '^batch 0: [0-9]* edges into [0-9]* nodes, [0-9]* edges into 256 nodes, [0-9]* rows of features, 256 labels'
expect "the same from 1 partition and from 4" cmp -s "$work/batches-1" "$work/batches-4"

run examples/batches "$work/none.json"
expect "a graph that is not there is named" fails_with none.json
run examples/batches
expect "no graph is wrong usage" refuses_with '^usage: '
finish
