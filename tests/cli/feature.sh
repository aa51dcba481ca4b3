# SPDX-License-Identifier: Apache-2.0
# Features of a graph that has none: a model is trained on each kind, and what cannot be is refused.
. "${srcdir:-.}/tests/cli/tap.sh"

raw=$work/raw
troupe generate sbm --nodes 300 --edges 3000 --features 0 --classes 3 --seed 3 --out "$raw" --quiet
troupe feature "$raw" --degree --json
expect "degrees are two columns" says '"type":"_N","feature":"feat","nodes":300,"width":2'
troupe feature "$raw" --degree
expect "a feature that is there is not replaced" fails_with "'feat' already; give --replace to make it again, or give the new one another --name$"
troupe feature "$raw" --one-hot --name own --json
expect "one-hot features have a column a node" says '"nodes":300,"width":300'
troupe feature "$raw" --random 16 --seed 5 --name noise --json
expect "random features have the width that was asked for" says '"width":16'
troupe feature "$raw" --pagerank --name rank --json
expect "PageRank is one column, after some rounds" says '"width":1,"rounds":[0-9]'
cp -R "$raw" "$work/one"
troupe feature "$raw" --random 16 --seed 5 --name noise --replace --quiet
troupe feature "$raw" --random 16 --seed 5 --name noise --replace --quiet
run diff -r "$raw" "$work/one"
expect "the same options give the same bytes" exited 0
troupe feature "$raw" --random 16 --seed 6 --name noise --replace --quiet
run diff -r "$raw" "$work/one"
expect "another seed gives others" exited 1

troupe partition "$raw" --parts 2 --method random --name g --out "$work/parts" --quiet
troupe verify "$work/parts/g.json" "$raw" --quiet
expect "the graph is partitioned with them" exited 0
for name in feat own noise rank; do
    troupe train "$work/parts/g.json" --features $name --epochs 1 --hidden 4 --run "$work/$name" --quiet
    expect "a model is trained on $name" exited 0
done

cp "$raw/metadata.json" "$work/before"
troupe feature "$raw"
expect "no kind is refused" refuses_with 'give one of --degree, --one-hot, --random K and --pagerank'
troupe feature "$raw" --degree --pagerank --replace
expect "two kinds are refused" refuses_with 'give one of --degree'
troupe feature "$raw" --random 0 --replace
expect "no columns are refused" refuses_with 'random 0: must be between 1 and'
troupe feature "$raw" --degree --type user --replace
expect "an unknown node type is refused" fails_with "--type 'user': there is no such node type; it has '_N'"
troupe feature "$raw" --degree --name a/b
expect "a name that names no file is refused" fails_with "name 'a/b' can't name a file"
troupe generate skew --nodes 16385 --edges 10 --features 0 --classes 0 --out "$work/many" --quiet
troupe feature "$work/many" --one-hot
expect "one column a node is refused for too many" fails_with 'has 16385 nodes; one column a node is made for 16384 at most'
expect "what was refused changed nothing" cmp -s "$raw/metadata.json" "$work/before"
expect "nothing is left of it" [ -z "$(find "$raw" "$work/many" -name '.*.adding')" ]
troupe feature "$raw" --degree --replace
expect "the next command is named" says "^next  *troupe partition $raw --parts 2 --out $raw-parts"
finish
