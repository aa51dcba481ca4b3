# SPDX-License-Identifier: Apache-2.0
# Tables that could be read in two ways, of which one is a wrong graph: an error that names the option which decides, or a
# line of the report.
. "${srcdir:-.}/tests/cli/tap.sh"
mkdir "$work/made"
hints() { ! grep -q '^hint' "$work/out"; }

# Users and films, each counted from 1, as MovieLens publishes them: source, target, rating, time.
awk 'BEGIN { for (i = 0; i < 60; i++) for (k = 0; k < 5; k++)
    printf "%d\t%d\t%d\t%d\n", i + 1, (i * 5 + k) % 97 + 1, k + 1, 880000000 + i }' >"$work/u.data"
troupe import edges "$work/u.data" --out "$work/made/raw" --quiet
expect "two kinds of things that are numbered alike are refused" fails_with \
    'u.data: columns 1 and 2 seem to number two kinds of things, .* from 1 on, the first to 60 and the second to 97: .* by .troupe import table --source-prefix u., or say that they are one kind by --source 1 and --target 2$'
troupe import edges "$work/u.data" --undirected --duplicates merge --out "$work/made/raw" --quiet
expect "with their reverses too" fails_with 'the first to 60 and the second to 97:'
troupe partition "$work/u.data" --parts 2 --out "$work/made/parts" --quiet
expect "and where they are partitioned as they are" fails_with \
    'import it first: troupe import table --edges FILE --source-prefix u, or, where they are one kind, troupe import edges FILE'
troupe import table --edges "$work/u.data" --out "$work/made/raw" --quiet
expect "and as a table" fails_with 'u.data: columns 1 and 2 seem to number two kinds of things, .* by --source-prefix u, or say'
expect "nothing is left" empty_folder "$work/made"
troupe import edges "$work/u.data" --source 1 --target 2 --out "$work/one" --quiet
expect "what is said to be one kind is imported" says '^edges  *300$'
troupe import table --edges "$work/u.data" --source-prefix u --out "$work/two" --quiet
expect "and with a prefix each is a node" sh -c "grep -q '^nodes  *157$' '$work/out' && ! grep -q '^hint' '$work/out'"
"$TROUPE" partition "$work/two" --parts 1 --name g --out "$work/two-parts" --quiet >"$work/out" 2>"$work/err" || exit 99
troupe inspect "$work/two-parts/g.json"
expect "whose name has it" says 'u1, 1'
troupe import table --edges "$work/u.data" --target-prefix film --out "$work/films" --json --quiet
expect "so with the targets" says '"nodes":157,"edges":300'
troupe import table --edges "$work/u.data" --out "$work/made/raw" --quiet \
    --source-prefix 01234567890123456789012345678901234567890123456789012345678901234
expect "a prefix is short" fails_with '--source-prefix: it has more than 64 bytes'
printf 'src,dst\n1,a\nNULL,b\n2,NULL\nNULL,c\n' >"$work/none.csv"
for options in "--source-prefix u" "--target-prefix v" "--source-prefix u --target-prefix v"; do
    # shellcheck disable=SC2086 # several words
    troupe import table --edges "$work/none.csv" $options --no-value null,x --out "$work/made/raw" --quiet
    expect "a word for no value is one behind a prefix too: $options" \
        fails_with "none.csv: line 3: the source 'NULL' stands for no value (--no-value); leave the row out"
    # shellcheck disable=SC2086
    troupe import table --edges "$work/none.csv" $options --out "$work/none" --replace --quiet
    expect "and is hinted at: $options" says "^hint  *'NULL' is taken for a node, with 3 edges: "
done
troupe import table --edges "$work/none.csv" --source-prefix NU --no-value NU1 --out "$work/none" --replace --quiet
expect "what a prefix makes such a word is none" exited 0
# A name of 4095 bytes, the last two of which are one letter: by a prefix it is too long, and the letter is cut.
{
    printf 'src,dst\n'
    head -c 4093 /dev/zero | tr '\0' n
    printf '\303\251,b\n'
} >"$work/wide.csv"
troupe import table --edges "$work/wide.csv" --out "$work/wide" --quiet
expect "a long name is one" exited 0
troupe import table --edges "$work/wide.csv" --source-prefix uvw --out "$work/made/raw" --quiet
expect "and with a prefix too long, whatever is cut" \
    fails_with "line 2: the source 'uvwnnn.* cannot be kept as a name: names are UTF-8 of at most 4096 bytes"
expect "nothing is left of these" empty_folder "$work/made"
printf 'id,size\nu1,1\nu2,2\na,3\nb,4\n' >"$work/sizes.csv"
printf 'src,dst\n1,a\n2,b\n' >"$work/sized.csv"
troupe import table --edges "$work/sized.csv" --nodes "$work/sizes.csv" --source-prefix u --out "$work/sized" --quiet
expect "a nodes table holds the IDs with their prefix" says '^nodes  *4$'
printf 'id,size\n1,1\n2,2\na,3\nb,4\n' >"$work/sizes.csv"
troupe import table --edges "$work/sized.csv" --nodes "$work/sizes.csv" --source-prefix u --out "$work/made/raw" --quiet
expect "and gets none" fails_with "line 2: 'u1' is in no row of "
cut -f 1,2 "$work/u.data" >"$work/pairs"
for kind in "table --edges" edges; do
    # shellcheck disable=SC2086 # two words
    troupe import $kind "$work/pairs" --out "$work/pairs-raw" --replace --quiet
    expect "two columns alone may be such: a hint says it: $kind" says '^hint  *the numbers of columns 1 and 2 look like those of two kinds'
done
awk 'BEGIN { for (i = 0; i < 300; i++) printf "%d %d %d\n", i % 97, (i * 31 + 7) % 90, i % 5 }' >"$work/weighted"
troupe import edges "$work/weighted" --out "$work/weighted-raw" --quiet
expect "numbers that end nearly alike are one kind" exited 0
awk 'BEGIN { for (i = 1; i < 300; i++) printf "%d %d %d\n", i, int(i / 2), 1 }' >"$work/tree"
troupe import edges "$work/tree" --out "$work/tree-raw" --quiet
expect "so are those of which one is always the larger one" hints

# Head, relation and tail.
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%d %d %d\n", i, i % 11, i * 37 % 398 }' >"$work/facts"
for kind in "table --edges" edges; do
    # shellcheck disable=SC2086 # two words
    troupe import $kind "$work/facts" --out "$work/made/raw" --quiet
    expect "a relation between two nodes is no target: $kind" fails_with \
        'facts: column 2 has numbers up to 10 only, columns 1 and 3 up to 399 and 397: column 2 seems to be a relation between two nodes; .* by --source 1 and --target 3, or 2$'
    # shellcheck disable=SC2086 # two words
    troupe import $kind "$work/facts" --source 1 --target 3 --out "$work/facts-raw" --replace --quiet
    expect "which is said by the columns: $kind" says '^column of destinations  *3$\|^edges  *3  *destinations'
done
troupe import table --edges "$work/facts" --source 1 --target 2 --out "$work/facts-raw" --replace --quiet
expect "or meant all the same" exited 0

# Several graphs in one table, each of which numbers its nodes anew.
printf 'graph_id,src_id,dst_id\n0,0,1\n0,1,2\n1,0,1\n1,1,0\n1,1,0\n' >"$work/edges.csv"
printf 'graph_id,node_id,feat,label\n0,0,1.5,1\n0,1,2,0\n0,2,1,1\n1,0,3,1\n1,1,4,0\n' >"$work/nodes.csv"
troupe import table --edges "$work/edges.csv" --out "$work/made/raw" --quiet
expect "nodes of two graphs are not made one" fails_with \
    "edges.csv: line 4: node '0' has edges in another graph too, by column 1 (graph_id); .* import one of them by --graph, or write which graph into the IDs"
troupe import table --edges "$work/edges.csv" --nodes "$work/nodes.csv" --out "$work/made/raw" --quiet
expect "nor are their rows" fails_with "nodes.csv: line 5: the ID '0' is that of an earlier row; .* import one of the graphs by --graph"
troupe import table --edges "$work/edges.csv" --nodes "$work/nodes.csv" --graph 1 --out "$work/graph" --quiet
expect "one of them is read" sh -c "grep -q '^nodes  *2$' '$work/out' && grep -q '^edges  *3$' '$work/out'"
expect "and the column is no feature" says "^numbers in a node's features  *1$"
expect "as the report says" says '^nodes  *1  graph_id  *the graph of a row  '
troupe import table --edges "$work/edges.csv" --nodes "$work/nodes.csv" --graph 7 --out "$work/made/raw" --quiet
expect "one that is not there is an error" fails_with "no node is of graph '7'"
troupe import table --edges "$work/edges.csv" --graph 7 --out "$work/made/raw" --quiet
expect "of edges too" fails_with "no edge is of graph '7'"
troupe import table --edges "$work/facts" --source 1 --target 3 --graph 7 --out "$work/made/raw" --quiet
expect "so is a table without the column" fails_with 'no column called graph_id'
printf 'graph_id,src_id,dst_id\n0,a,b\n1,c,d\n1,d,c\n' >"$work/apart.csv"
troupe import table --edges "$work/apart.csv" --out "$work/apart" --quiet
expect "graphs whose IDs are all different lie beside each other" says '^nodes  *4$'

# Lists of neighbours, and IDs that are spelt in two ways.
printf 'node,neighbors\n1,2 3\n2,1\n3,1\n' >"$work/lists.csv"
troupe import table --edges "$work/lists.csv" --out "$work/made/raw" --quiet
expect "a list of neighbours is no node" fails_with 'lists.csv: line 2: column 2, neighbors, holds several IDs; write a row for each edge'
printf 'src,dst\n12 34,56 78\n56 78,12 34\n' >"$work/blanks.csv"
troupe import table --edges "$work/blanks.csv" --out "$work/blanks" --quiet
expect "what both columns have is a name" says '^nodes  *2$'
printf 'src,dst\n001,2\n1,2.0\nx1,007\n' >"$work/spelt.csv"
troupe import table --edges "$work/spelt.csv" --out "$work/spelt" --quiet
expect "numbers in two spellings are hinted at" says '^hint  *001 and 1 are two nodes, and 2 IDs are such a second spelling'
printf 'src,dst\n001,002\n002,003\n' >"$work/padded.csv"
troupe import table --edges "$work/padded.csv" --out "$work/padded" --quiet
expect "and one spelling is not" hints

printf 'user_id,friend_id\n1,2\n2,3\n' >"$work/friends.csv"
for kind in "table --edges" edges; do
    # shellcheck disable=SC2086 # two words
    troupe import $kind "$work/friends.csv" --out "$work/friends" --replace --quiet
    expect "friends are of one kind: $kind" sh -c "! grep -q 'two kinds' '$work/out'"
done
printf 'Id;Label\n1;Ann\n2;Bob\n3;Zoe\n' >"$work/called.csv"
printf 'Source;Target\n1;2\n2;3\n' >"$work/gephi.csv"
troupe import table --edges "$work/gephi.csv" --nodes "$work/called.csv" --out "$work/called" --quiet
expect "labels that no two nodes share may be their names" says '^hint  *3 different labels for 3 nodes: are they classes?'

# Texts that are several in one, and columns that are read where that is asked for.
printf 'id,genres,town,label\na,Action|Comedy,"Paris, France",Movie;Sci\nb,Comedy,"Lyon, France",Sci\nc,Drama,"Rome, Italy",Movie\n' >"$work/films.csv"
printf 'src,dst,Weight,when,timestamp\na,b,1,2,3\nb,c,1,2,3\n' >"$work/links.csv"
troupe import table --edges "$work/links.csv" --nodes "$work/films.csv" --out "$work/films" --replace --quiet
expect "several classes in one text are hinted at" \
    says "^hint  *column 4 of the nodes, label, has texts that seem to be several with ';' between them (Movie;Sci), and each is one class: .* --label-separator ';'$"
expect "so are several values" \
    says "^hint  *column 2 of the nodes, genres, has texts that seem to be several with '|' between them (Action|Comedy), and each is one value: "
expect "a town and its country are one" sh -c "! grep -q '^hint .*town' '$work/out'"
expect "weights that are not read are said" says '^hint  *column 3 of the edges, Weight, is not read: --weight Weight takes it for the weights of the edges$'
expect "and times" says '^hint  *column 5 of the edges, timestamp, is not read: --time timestamp takes it for the times'
troupe import table --edges "$work/links.csv" --nodes "$work/films.csv" --weight Weight --time timestamp --label-separator ';' --labels label \
    --features= --out "$work/films" --replace --quiet
expect "and nothing of what was done" hints
finish
