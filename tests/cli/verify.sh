# SPDX-License-Identifier: Apache-2.0
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
    # shellcheck disable=SC2059 # a byte by its octal escape
    printf "\\$(printf '%o' $(((last + 1) % 256)))" | dd of="$array" bs=1 seek=$((size - 1)) conv=notrunc 2>/dev/null
    troupe verify "$work/metis-2/toy.json" "$work/raw" --quiet
    expect "a changed byte in $name is found" fails_with "part0"
    cp "$work/kept" "$array"
done <"$work/arrays"
troupe verify "$work/metis-2/toy.json" "$work/raw" --quiet
expect "put back, it is equal again" exited 0

# Without the raw graph the files are compared with their checksums, by whatever reads them.
"$TROUPE" generate sbm --nodes 6000 --edges 30000 --features 8 --classes 3 --out "$work/larger" --quiet >/dev/null || exit 99
"$TROUPE" partition "$work/larger" --parts 2 --trainers 2 --method random --name toy --out "$work/sums" --quiet \
    >/dev/null || exit 99
once() {
    rm -rf "$work/once"
    troupe train "$work/sums/toy.json" --run "$work/once" --epochs 1 --hidden 4 --fanout 3 --batch-size 64 --layers 1 \
        --quiet "$@"
}
troupe verify "$work/sums/toy.json" --quiet --json
expect "files are those that were written" says '^{"whole":true,"files":[1-9]'
features="$work/sums/part1/node~_N~feature~feat.npy"
cp "$features" "$work/kept"
printf 'x' | dd of="$features" bs=1 seek=20001 conv=notrunc 2>/dev/null
troupe verify "$work/sums/toy.json" --quiet
expect "a changed byte is found by its checksum" fails_with "$features"
once
expect "training does not begin with it" fails_with "$features: its checksum is"
once --map
expect "unless the file is mapped" exited 0
once --map --verify
expect "and not to be verified" fails_with "$features: its checksum is"
cp "$work/kept" "$features"
once --map --verify
expect "whole files are mapped" exited 0
deal="$work/sums/deal~_N.npy"
cp "$deal" "$work/kept"
once --trainers 2
cp "$work/once/model.safetensors" "$work/dealt.safetensors"
printf '\001\000\000\000\000\000\000\000' | dd of="$deal" bs=1 seek=256 conv=notrunc 2>/dev/null
troupe verify "$work/sums/toy.json" --quiet
expect "a changed deal is found" fails_with "$deal"
once --trainers 2 --deal "$deal"
expect "by trainers too, where the deal is named" fails_with "$deal: its checksum is"
once --trainers 2
expect "others do not read it" exited 0
expect "and train the same model" cmp -s "$work/once/model.safetensors" "$work/dealt.safetensors"
cp "$work/kept" "$deal"
# Where it is not, trainers read which seeds are theirs from the table that the partitions share.
dealt="$work/sums/part1/node~_N~dealt_ranks.npy"
cp "$dealt" "$work/kept"
printf '\001\000\000\000\000\000\000\000' | dd of="$dealt" bs=1 seek=256 conv=notrunc 2>/dev/null
once --trainers 2
expect "a changed table of dealt seeds is found by trainers" fails_with "$dealt: its checksum is"
cp "$work/kept" "$dealt"
sed -i '/"ranks": \[/,/^ *\],/d; /"edge_runs": /d; /"checksum": /d; /"part_checksums": {/,/}/d; /"graph_checksums": {/,/}/d; s/"edge_data": {},/"edge_data": {}/' \
    "$work/sums/toy.json"
once
expect "a folder of an older version is trained on" exited 0
expect "with a notice" grep -q 'toy.json: an older version wrote it without checksums' "$work/err"
troupe verify "$work/sums/toy.json" --quiet
expect "but has nothing to verify alone" fails_with "toy.json: it has no checksums"
troupe inspect "$work/sums/toy.json" --json
expect "which a look says" says '"checksums":false'

"$TROUPE" train "$work/metis-2/toy.json" --run "$work/run" --epochs 4 --hidden 4 --fanout 3,3 --batch-size 4 --trainers 2 \
    --checkpoint-every 2 --quiet >"$work/out" 2>"$work/err" || exit 99
kept="$work/run/checkpoints"
last="$kept/checkpoint-$(ls "$kept" | sed -n 's/^checkpoint-//p' | sort -n | tail -n 1)"
mkdir "$kept/5-1.tmp" "$kept/checkpoint-99999"
troupe verify "$kept" --quiet --json
expect "checkpoints are whole" says '^{"whole":true,"checkpoints":2,"unfinished":1,"parts":4,"elsewhere":0,'
troupe verify "$last/" --quiet --json
expect "one of them alone, too" says '^{"whole":true,"checkpoints":1,"unfinished":0,"parts":2,'
size=$(wc -c <"$last/part1")
for at in 0 $((size / 2)) $((size - 1)); do
    cp "$last/part1" "$work/kept"
    byte=$(od -An -tu1 -j $at -N 1 "$last/part1" | tr -d ' ')
    # shellcheck disable=SC2059 # a byte by its octal escape
    printf "\\$(printf '%o' $(((byte + 1) % 256)))" | dd of="$last/part1" bs=1 seek=$at conv=notrunc 2>/dev/null
    for folder in "$last" "$kept"; do
        troupe verify "$folder" --quiet
        expect "byte $at of a part that changed is found" fails_with "$last/part1"
    done
    cp "$work/kept" "$last/part1"
done
truncate -s -1 "$last/part1"
troupe verify "$last" --quiet
expect "a part that is cut is found" fails_with "$last/part1"
rm "$last/part1"
troupe verify "$last" --quiet
expect "a part that is gone is found" fails_with "$last/part1"
troupe verify "$last" --some --quiet --json
expect "unless it is on another host" says '"parts":1,"elsewhere":1,'
troupe verify "$kept/nowhere" --quiet
expect "no folder is an error" fails_with "nowhere"
mkdir "$work/bare"
troupe verify "$work/bare" --quiet
expect "nor are there checkpoints elsewhere" fails_with "bare: no checkpoint-STEP in it"
troupe verify "$work/metis-2/toy.json" --undirected --quiet
expect "a graph alone has no edge list" refuses_with "toy.json"
troupe verify "$kept" "$work/raw" --quiet
expect "so are checkpoints and a raw graph" refuses_with "$kept"

rm -r "$work/metis-2/part1"
troupe verify "$work/metis-2/toy.json" "$work/raw" --quiet
expect "a partition that is gone is named" fails_with "part1"
finish
