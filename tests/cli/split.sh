# SPDX-License-Identifier: Apache-2.0
# Masks of a raw graph: of the sizes that were asked for, the same each time, never half of them.
. "${srcdir:-.}/tests/cli/tap.sh"

raw=$work/raw
troupe generate sbm --nodes 1000 --edges 5000 --features 4 --classes 4 --seed 3 --out "$raw" --quiet
cp "$raw/metadata.json" "$work/before"
troupe split "$raw"
expect "masks that are there are not replaced" fails_with "'train_mask' already; set --replace to make it again"
expect "and the graph is as it was" cmp -s "$raw/metadata.json" "$work/before"
troupe split "$raw" --replace --json
expect "the default ratio is 60/20/20" says '"nodes":1000,"train":600,"validation":200,"test":200'
cp -R "$raw" "$work/one"
troupe split "$raw" --replace --quiet
troupe split "$raw" --replace --quiet
run diff -r "$raw" "$work/one"
expect "the same options give the same bytes" exited 0
troupe split "$raw" --replace --seed 1 --quiet
run cmp "$raw/node_data/_N/train_mask.npy" "$work/one/node_data/_N/train_mask-2.npy"
expect "another seed gives others" exited 1
troupe split "$raw" --replace --ratio 12.5/0.125/87.375 --json
expect "shares may have decimals" says '"train":125,"validation":1,"test":874'
troupe split "$raw" --replace --ratio 10/10/80 --by-class --json
expect "by class the report has the classes" \
    says '"train":100,"validation":100,"test":800,"classes":4,"unlabelled":0,"classes_without_training":0'
troupe inspect "$raw"
expect "each mask is in the graph" says train_mask
troupe partition "$raw" --parts 2 --method random --name g --out "$work/parts" --quiet
troupe verify "$work/parts/g.json" "$raw" --quiet
expect "the graph is partitioned with them" exited 0

cp "$raw/metadata.json" "$work/before"
for ratio in 60/20 60/20/20/ 60/20/20/0 a/b/c 60//40 /50/50 60/20/2a -60/140/20 60/20.00001/19.99999 99999999999999999999/0/0; do
    troupe split "$raw" --replace --ratio=$ratio
    expect "--ratio $ratio is refused" refuses_with "ratio $ratio: not three parts of 100"
done
troupe split "$raw" --replace --ratio 60/20/10
expect "a ratio that does not add up is refused" refuses_with 'ratio 60/20/10: the parts add up to 90, not to 100'
troupe split "$raw" --replace --ratio 0/50/50
expect "and one without training nodes" refuses_with 'no node would be trained on'
troupe split "$raw" --replace --type user
expect "an unknown node type is refused" fails_with "--type 'user': there is no such node type; it has '_N'"
troupe split "$raw" --replace --by-class --labels colour
expect "labels that are not there are refused" fails_with "no table 'colour' .* name one by --labels, or split without --by-class"
troupe split "${srcdir:-.}/tests/cli/data/edges.csv"
expect "an edge list is refused with the way out" fails_with 'troupe import edges .* --out RAW'
troupe split "$work/nowhere"
expect "and so is a folder that is not there" fails_with "$work/nowhere: no such folder"
expect "what was refused changed nothing" cmp -s "$raw/metadata.json" "$work/before"
expect "nothing hidden is left" [ -z "$(find "$raw" -name '.*')" ]
troupe split "$raw" --replace
expect "the next command is named" says "^next  *troupe partition $raw --parts 2 --out $raw-parts"
finish
