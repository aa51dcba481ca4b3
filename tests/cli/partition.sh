# SPDX-License-Identifier: Apache-2.0
# Partitioning from the command line: every method and count; and whatever goes wrong ends with a
# sentence, exit code 1 and nothing half-written.
. "${srcdir:-.}/tests/cli/tap.sh"

generate() { "$TROUPE" generate "$@" --quiet >"$work/out" 2>"$work/err" </dev/null; }
generate sbm --nodes 60 --edges 300 --features 4 --classes 3 --out "$work/raw" || exit 99
mkdir "$work/made"

for method in metis random; do
    for parts in 1 2 5; do
        out=$work/$method-$parts
        troupe partition "$work/raw" --parts $parts --method $method --name toy --out "$out" --json --quiet
        expect "$method makes $parts, with a report of one JSON line" says '^{.*"nodes":60,"edges":300,.*}$'
        troupe inspect "$out/toy.json"
        expect "$method with $parts can be looked at" says "^partitions  *$parts\$"
    done
done
echo '{"nodes": [1, 2]}' >"$work/any.json"
troupe partition "$work/any.json" --parts 2 --out "$work/made/any" --quiet
expect "JSON that is no graph is refused with what is one" \
    fails_with 'any.json: line 1: looks like JSON, not like edges; name the folder of a raw graph or a file with two IDs a line'
troupe inspect "$work/any.json"
expect "it is no partitioned graph either" fails_with 'any.json: is not the NAME.json of a partitioned graph, .*that .troupe partition. made$'
troupe train "$work/raw/metadata.json" --run "$work/made/run" --quiet
expect "nor are the data of a raw graph" fails_with 'metadata.json: is not the NAME.json of .* of this raw graph$'
expect "and nothing is made of them" empty_folder "$work/made"
troupe partition "$work/raw" --parts 2 --out "$work/metis-2" --quiet
expect "a directory that is there is not overwritten" fails_with "$work/metis-2"
troupe partition "$work/raw" --parts 3 --out "$work/metis-2" --name toy --replace --quiet
troupe inspect "$work/metis-2/toy.json"
expect "unless that is asked for" says '^partitions  *3$'
mkdir "$work/mine" "$work/hollow"
echo precious >"$work/mine/notes"
troupe partition "$work/raw" --parts 2 --out "$work/mine" --replace --quiet
expect "a folder of something else is not replaced" fails_with "$work/mine: is not a partition directory"
expect "and keeps what it holds" test -f "$work/mine/notes"
troupe partition "$work/raw" --parts 2 --out "$work/hollow" --replace --quiet
expect "an empty folder is" exited 0
troupe partition "$work/raw" --parts 2 --balance-ntypes train_mask --balance-edges --out "$work/even" \
    --json --quiet
expect "classes are balanced and reported" says '"train_balance":.*"classes":\[{'

# The report says what the files list for the hops that were asked for.
listed() { sed 's/.*"listed_halo_nodes":\([0-9]*\),.*/\1/' "$work/out"; }
before=-1
for hops in 0 1 2; do
    troupe partition "$work/raw" --parts 3 --method random --halo-hops "$hops" --name toy --replace \
        --out "$work/hops" --json --quiet
    expect "$hops hops are reported" says "\"halo_hops\":$hops,"
    expect "with more halo nodes in the files than fewer hops have" [ "$(listed)" -gt "$before" ]
    before=$(listed)
    sum=$(sed 's/.*"partitions":\[//' "$work/out" | tr '{' '\n' |
        sed -n 's/.*"halo_nodes":\([0-9]*\),.*/\1/p' | awk '{ s += $1 } END { print s }')
    expect "which are those of the partitions" [ "$sum" = "$before" ]
done

# The report ends with the command that comes next, which works as it stands.
mkdir "$work/it's here"
troupe partition "$work/raw" --parts 2 --out "$work/it's here/parts/" --quiet
expect "the path that training needs is named" says "^graph  *$work/it's here/parts/.*json\$"
sed -n "s/^next  *troupe/\"\$TROUPE\"/p" "$work/out" >"$work/next"
run sh -c "$(cat "$work/next") --epochs 1 --quiet"
expect "the next command can be run as it stands" exited 0
expect "and trains" [ -f "$work/it's here/parts-run/model.safetensors" ]
troupe partition "${srcdir:-.}/tests/cli/data/edges.csv" --parts 2 --out "$work/bare" --quiet
expect "of a graph that cannot be trained on it says why" says "^hint  *to train, nodes need 'feat'"
sed -n "s/^next  *troupe/\"\$TROUPE\"/p" "$work/out" >"$work/next"
run sh "$work/next"
expect "and how to look at it" exited 0

i=0
while [ $i -lt 60 ]; do
    echo $((i % 3))
    i=$((i + 1))
done >"$work/assignment.txt"
troupe partition "$work/raw" --parts 3 --method "$work/assignment.txt" --out "$work/given" --name toy --quiet
troupe inspect "$work/given/toy.json"
expect "an assignment is read from a file" says '^  *2  *20  '

refused() {
    what=$1
    sentence=$2
    shift 2
    troupe partition "$@" --out "$work/made/parts" --quiet
    expect "$what is refused" fails_with "$sentence"
}
refused "a graph that is not there" "$work/nowhere" "$work/nowhere" --parts 2
refused "a feature that is not there" "no_such" "$work/raw" --parts 2 --balance-ntypes no_such
refused "an assignment that is not there" "nowhere.txt" "$work/raw" --parts 2 --method "$work/nowhere.txt"
refused "a method that is misspelt" "^troupe partition: --method 'meits' is neither metis nor random, and there is no" \
    "$work/raw" --parts 2 --method meits
printf '0\n1\n1\n' >"$work/short.txt"
refused "an assignment of too few nodes" "short.txt" "$work/raw" --parts 2 --method "$work/short.txt"
refused "an assignment beyond the count" "assignment.txt.*2" "$work/raw" --parts 2 \
    --method "$work/assignment.txt"
cp -r "$work/raw" "$work/broken"
echo '[1, 2' >"$work/broken/metadata.json"
refused "broken JSON" "broken/metadata.json" "$work/broken" --parts 2
find "$work/raw" -name '*.npy' >"$work/arrays"
while read -r array; do
    name=${array#"$work/raw/"}
    rm -rf "$work/short"
    cp -r "$work/raw" "$work/short"
    dd if="$array" of="$work/short/$name" bs=1 count=$(($(wc -c <"$array") - 3)) 2>/dev/null
    refused "a truncated $name" "$(basename "$name")" "$work/short" --parts 2
done <"$work/arrays"
expect "what was refused left nothing" empty_folder "$work/made"

# Files may grow to 4 KiB (dash) or 8 KiB (bash); partitions of this graph are larger.
generate sbm --nodes 4k --edges 20k --features 16 --classes 4 --out "$work/larger" || exit 99
# shellcheck disable=SC2016 # expanded by the inner shell
run sh -c 'trap "" XFSZ; ulimit -f 8; "$TROUPE" partition "$1" --parts 2 --method random --out "$2" --quiet' - \
    "$work/larger" "$work/made/parts"
expect "a file that may not grow is an error that names it" fails_with "$work/made/.*npy"
expect "and leaves nothing behind" empty_folder "$work/made"

if mkdir "$work/tiny" && mount -t tmpfs -o size=64k none "$work/tiny" 2>/dev/null; then
    troupe partition "$work/larger" --parts 2 --method random --out "$work/tiny/parts" --quiet
    expect "a full disk is an error that says so" fails_with "$work/tiny/.*No space left"
    expect "and leaves nothing behind" empty_folder "$work/tiny"
    umount "$work/tiny"
else
    skip "a full disk" "this user may not mount a small one"
fi

chmod 755 "$work"
mkdir -m 555 "$work/locked"
as_nobody=
[ "$(id -u)" != 0 ] || as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
# shellcheck disable=SC2086 # words are meant to be split
if $as_nobody "$TROUPE" --version >/dev/null 2>&1; then
    run $as_nobody "$TROUPE" partition "$work/raw" --parts 2 --out "$work/locked/parts" --quiet
    expect "a folder that may not be written is named" fails_with "$work/locked.*ermission denied"
else
    skip "a folder that may not be written" "no user here could be refused"
fi

# Interrupted at any moment, a partitioning leaves the whole directory or nothing.
generate skew --nodes 100k --edges 1M --features 16 --classes 4 --out "$work/big" || exit 99
for delay in 0.01 0.05 0.2 0.5; do
    rm -rf "$work/made/parts"
    "$TROUPE" partition "$work/big" --parts 4 --name big --out "$work/made/parts" --quiet \
        >"$work/out" 2>"$work/err" </dev/null &
    child=$!
    sleep $delay
    kill -TERM $child 2>/dev/null
    wait $child
    code=$?
    if [ $code = 0 ]; then
        expect "an end after $delay s came too late: the directory is whole" \
            "$TROUPE" inspect "$work/made/parts/big.json"
    elif [ $code = 143 ]; then
        expect "an end after $delay s came before the start" empty_folder "$work/made"
    else
        expect "an end after $delay s is said" fails_with 'troupe partition: .*\(cancel\|interrupt\)'
        expect "and leaves nothing behind" empty_folder "$work/made"
    fi
done

# What METIS has no part in is said, and why.
printf '0 1\n1 2\n2 0\n' >"$work/tiny.txt"
troupe partition "$work/tiny.txt" --parts 3 --out "$work/few" --name tiny --quiet
expect "more partitions than METIS could be asked for are made" exited 0
expect "and that it was not asked is said" says '^METIS was not run  *there are no more nodes than partitions'
troupe partition "$work/tiny.txt" --parts 2 --out "$work/few-2" --name tiny --json --quiet
expect "nothing is said where it was" sh -c "! grep -q metis_unasked '$work/out'"
troupe partition "$work/tiny.txt" --parts 3 --method random --out "$work/few-3" --name tiny --json --quiet
expect "nor where nobody wanted it" sh -c "! grep -q metis_unasked '$work/out'"
finish
