# What partition made is proved equal to its input; another graph, and any changed byte, is found.
. "${srcdir:-.}/tests/cli/tap.sh"
edges=${srcdir:-.}/tests/cli/data/edges.csv

"$TROUPE" generate sbm --nodes 60 --edges 300 --features 4 --classes 3 --out "$work/raw" --quiet >/dev/null || exit 99
for method in metis random; do
    for parts in 1 2 5; do
        "$TROUPE" partition "$work/raw" --parts $parts --method $method --name toy --out "$work/$method-$parts" \
            --quiet >/dev/null || exit 99
        troupe verify "$work/$method-$parts/toy.json" "$work/raw" --quiet --json
        expect "$method with $parts partitions equals its input" says '^{"equal":true,"nodes":60,"edges":300,'
    done
done
"$TROUPE" partition "$edges" --undirected --parts 3 --name toy --out "$work/text" --quiet >/dev/null || exit 99
troupe verify "$work/text/toy.json" "$edges" --undirected --quiet
expect "an undirected edge list is equal to its partitions" exited 0
troupe verify "$work/text/toy.json" "$edges" --quiet
expect "but not as a directed one" fails_with '^troupe verify: '
troupe verify "$work/text/toy.json" "$work/raw" --quiet
expect "and not to another graph" fails_with '^troupe verify: '

# The last byte of each file belongs to its data: another value there is another graph.
find "$work/metis-2/part0" -name '*.npy' >"$work/arrays"
expect "there are arrays" [ -s "$work/arrays" ]
while read -r array; do
    name=$(basename "$array")
    size=$(wc -c <"$array")
    last=$(tail -c 1 "$array" | od -An -tu1 | tr -d ' ')
    # An empty array is a header that ends in a newline.
    [ "$last" = 10 ] && [ $((size % 64)) = 0 ] && [ "$size" -le 128 ] && continue
    cp "$array" "$work/kept"
    printf "\\$(printf '%o' $(((last + 1) % 256)))" | dd of="$array" bs=1 seek=$((size - 1)) conv=notrunc 2>/dev/null
    troupe verify "$work/metis-2/toy.json" "$work/raw" --quiet
    expect "a changed byte in $name is found" fails_with "part0"
    cp "$work/kept" "$array"
done <"$work/arrays"
troupe verify "$work/metis-2/toy.json" "$work/raw" --quiet
expect "put back, it is equal again" exited 0
rm -r "$work/metis-2/part1"
troupe verify "$work/metis-2/toy.json" "$work/raw" --quiet
expect "a partition that is gone is named" fails_with "part1"
finish
