# SPDX-License-Identifier: Apache-2.0
# Masks of a raw graph: of the sizes that were asked for, the same each time, never half of them.
. "${srcdir:-.}/tests/cli/tap.sh"

raw=$work/raw
troupe generate sbm --nodes 1000 --edges 5000 --features 4 --classes 4 --seed 3 --out "$raw" --quiet
cp "$raw/metadata.json" "$work/before"
troupe split "$raw"
expect "masks that are there are not replaced" fails_with "'train_mask' already; give --replace to make it again"
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

printf '0,1\n2,2\n1,2\n3,4\n0,4\n0,4\n' >"$work/edges.csv"
troupe import edges "$work/edges.csv" --undirected --loops keep --out "$work/both" --quiet
expect "a graph has edges both ways" exited 0
troupe split "$work/both" --edges 50/0/50 --pairs adjacent --json
expect "edges are split in pairs" says '"edge_type":"_N:_E:_N","edges":11,"single":0,"train":[0-9]*,"validation":0,"test"'
expect "all of them have their reverse" says '"edges":11,"single":0,"train"'
expect "and there is nothing to hint at" sh -c "! grep -q hint '$work/out'"
# Edges both ways in halves, where two lines are one edge.
printf '0,1\n1,0\n2,3\n1,0\n0,1\n3,2\n' >"$work/halves.csv"
troupe import edges "$work/halves.csv" --undirected --duplicates merge --out "$work/merged" --quiet
troupe split "$work/merged" --edges 50/0/50 --pairs adjacent --json
expect "edges that are merged stay behind each other" says '"edges":4,"single":0,'
troupe import edges "$work/halves.csv" --duplicates merge --out "$work/merged" --replace --quiet
troupe split "$work/merged" --edges 50/0/50 --pairs halves --json
expect "but not in halves, which is said" says '"edges":4,"single":4,.*"hint":"where an edge and its reverse are in two sets'
troupe import edges "$work/halves.csv" --out "$work/merged" --replace --quiet
troupe split "$work/merged" --edges 50/0/50 --pairs halves --json
expect "halves that are whole are found so" says '"edges":6,"single":0,'
troupe split "$work/both" --edges 80/10/10
expect "masks of edges are not replaced either" fails_with "edge type '_N:_E:_N' has 'train_mask' already; give --replace"
troupe split "$work/both" --edges 80/10/10 --replace --pairs halves
expect "an odd number has no halves" fails_with 'pairs: 11 edges have no halves'
troupe split "$work/both" --edges 80/10/10 --replace --json
expect "single edges have exactly the ratio" says '"edges":11,"train":9,"validation":1,"test":1'
troupe partition "$work/both" --parts 2 --method random --name g --out "$work/both-parts" --quiet
troupe verify "$work/both-parts/g.json" "$work/both" --quiet
expect "the graph is partitioned with masks of edges" exited 0
troupe split "$work/both" --edges 80/10/10 --edge-type likes
expect "an unknown edge type is refused" fails_with "edge-type 'likes': there is no one such edge type; it has '_N:_E:_N'"
troupe split "$work/both" --edges 80/10/10 --type _N
expect "options of nodes are refused with edges" refuses_with 'name a type of edges by --edge-type'
troupe split "$work/both" --pairs halves
expect "and those of edges without" refuses_with 'pairs is of edges; give --edges too'
troupe split "$work/both" --edges 0/50/50
expect "some edge is trained on" refuses_with 'edges 0/50/50: no edge would be trained on'

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
