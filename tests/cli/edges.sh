# SPDX-License-Identifier: Apache-2.0
# Edge files become raw graphs and partitions; lines that cannot be read are refused by number.
. "${srcdir:-.}/tests/cli/tap.sh"
edges=${srcdir:-.}/tests/cli/data/edges.csv
mkdir "$work/made"

troupe import edges "$edges" --out "$work/raw" --quiet
expect "an edge list is imported" exited 0
expect "its report counts nodes" says '^nodes  *12$'
expect "and edges, a self-loop and a parallel edge among them" says '^edges  *20$'
expect "the folder is in the chunked format" [ -f "$work/raw/metadata.json" ]
troupe import edges "$edges" --out "$work/raw" --quiet
expect "a folder that is there is not overwritten" fails_with "$work/raw"
troupe import edges "$edges" --out "$work/raw" --quiet --replace
expect "unless that is asked for" exited 0
troupe import edges "$edges" --out "$work/both" --undirected --num-nodes 20 --json --quiet
expect "--undirected adds reverses (not of self-loops), --num-nodes adds nodes" \
    says '"nodes":20,"edges":39'
tr , ';' <"$edges" >"$work/edges.txt"
troupe import edges "$work/edges.txt" --delimiter semicolon --out "$work/semicolon" --quiet
run diff -r "$work/raw/edges" "$work/semicolon/edges"
expect "another delimiter gives the same edges" exited 0
printf '1,2\n3,4\n' >"$work/commas.csv"
troupe import edges "$work/commas.csv" --delimiter space --out "$work/made/raw" --quiet
expect "commas are no blanks where blanks are asked for" \
    fails_with "commas.csv: line 1: ',' follows a column where a delimiter is needed"
gzip -c "$edges" >"$work/edges.csv.gz"
troupe import edges "$work/edges.csv.gz" --out "$work/gz" --quiet
run diff -r "$work/raw/edges" "$work/gz/edges"
expect "and so does gzip" exited 0
troupe partition "$edges" --parts 2 --out "$work/direct" --name toy --quiet
troupe inspect "$work/direct/toy.json" --json
expect "an edge list is partitioned as it is" says '"parts":2,.*"edges":20'
troupe train "$work/raw" --run "$work/run" --quiet
expect "a raw graph in place of a partitioned one says what is needed" \
    refuses_with 'raw holds no graph: there is no NAME.json in it; troupe partition makes one'

# A header is what begins as a name does; other first lines are edges, or refused.
printf 'source,target\n0,1\n1,2\n' >"$work/header.csv"
troupe import edges "$work/header.csv" --out "$work/header" --json --quiet
expect "a first line of words is a header" says '"nodes":3,"edges":2,.*"header_line":1'
troupe import edges "$edges" --out "$work/plain" --json --quiet
expect "none is named where there is none" sh -c "! grep -q header_line '$work/out'"
printf '# a comment\nsource target\n0 1\n1 2\n' >"$work/header.txt"
troupe partition "$work/header.txt" --parts 1 --method random --name toy --out "$work/headed" --quiet
expect "partitioning a text says so too" says '^line skipped as a header  *2$'

# The columns are found by their names or asked for, and what was chosen is said.
printf 'weight,src,dst\n7,0,1\n8,1,2\n' >"$work/columns.csv"
troupe import edges "$work/columns.csv" --out "$work/columns" --quiet
expect "columns are found by the header" says '^column of sources  *2$'
expect "their names are shown" says '^its name  *dst$'
expect "what is left out is said" says '^columns not read  *1$'
troupe inspect "$work/columns" --json
expect "and the edges are those of the columns" says '"nodes":3.*"edges":2'
printf 'a\033[2J,b\n0,1\n' >"$work/steers.csv"
troupe import edges "$work/steers.csv" --out "$work/steers" --quiet
expect "a name that steers a terminal is shown without that" says '^its name  *a?\[2J$'
printf 'time,a,b\n1600000000,1,2\n1600000001,2,3\n' >"$work/times.csv"
troupe import edges "$work/times.csv" --out "$work/times" --quiet
expect "columns that may be anything are asked for by the options' names" \
    fails_with 'name them by --source and --target'
troupe partition "$work/times.csv" --parts 1 --out "$work/made/parts" --quiet
expect "a command without such options names the one that has them" \
    fails_with 'import it first: troupe import edges FILE --source NAME --target NAME$'
troupe import edges "$work/times.csv" --source 2 --target b --out "$work/times" --json --quiet
expect "and found by name or number" says '"source_column":2,"source_name":"a","target_column":3'
expect "IDs that begin at 1 are hinted at" says 'largest ID is 3: where IDs begin at 1, .*--first-id 1'
troupe import edges "$work/times.csv" --source a --target b --first-id 1 --out "$work/times" \
    --replace --json --quiet
expect "--first-id makes them begin at 0" says '"nodes":3,"edges":2'
expect "and nothing is hinted at" sh -c "! grep -q hint '$work/out'"
printf '0 1\n0 1\n2 2\n' >"$work/twice.txt"
troupe import edges "$work/twice.txt" --loops drop --duplicates merge --out "$work/once" --json --quiet
expect "self-loops and duplicates follow the options" \
    says '"nodes":3,"edges":1,.*"self_loops":1,"duplicates":1'
troupe import edges "$work/twice.txt" --duplicates error --out "$work/made/raw" --quiet
expect "or are refused by the option's name" fails_with 'from 0 to 1 .* --duplicates refuses that'

# The report ends with the command that comes next, which works as it stands.
mkdir "$work/it's here"
troupe import edges "$edges" --out "$work/it's here/raw" --quiet
sed -n "s/^next  *troupe/\"\$TROUPE\"/p" "$work/out" >"$work/next"
run sh "$work/next"
expect "the next command of a report can be run as it stands" exited 0
expect "and makes what it says" [ -d "$work/it's here/raw-parts" ]

empty() {
    # shellcheck disable=SC2059 # the format is the content
    printf "$2" >"$work/empty.csv"
    troupe import edges "$work/empty.csv" --out "$work/made/raw" --quiet
    expect "$1 is no graph" fails_with "empty.csv: holds no edge"
}
empty "an empty file" ''
empty "a header alone" 'src,dst\n'
empty "a text of comments" '# 0 1\n'
printf 'PAR1\0\0' >"$work/table"
troupe import edges "$work/table" --out "$work/made/raw" --quiet
expect "a binary file is named" fails_with 'table: looks like a Parquet file, not like text'

refused() {
    # shellcheck disable=SC2059 # the format is the content
    printf "$2" >"$work/bad.csv"
    troupe import edges "$work/bad.csv" --out "$work/made/raw" --quiet
    expect "$1 is refused by file and line" fails_with "bad.csv.*line 2"
    expect "$1 leaves nothing behind" empty_folder "$work/made"
}
refused "a word" '0,1\n1,x\n'
refused "a line of one number" '0,1\n1\n'
refused "a negative ID" '0,1\n-1,2\n'
refused "an ID beyond 64 bits" '0,1\n1,99999999999999999999999\n'
refused "a fraction" '0,1\n1,2.5\n'
refused "a line of more columns" '0,1\n1,2,3\n'

troupe import edges "$edges" --out "$work/made/raw" --num-nodes 5 --quiet
expect "an ID beyond --num-nodes is refused by file and value" fails_with 'edges.csv.*5'
# Formats that state the number of nodes would pass the option over.
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n' >"$work/three.mtx"
printf '3 2\n2\n1 3\n2\n' >"$work/three.graph"
for file in three.mtx three.graph; do
    troupe import edges "$work/$file" --out "$work/made/raw" --num-nodes 10 --quiet
    expect "$file has its own number of nodes" fails_with "$file: it states its own number of nodes; leave --num-nodes out"
    troupe import edges "$work/$file" --out "$work/own" --replace --quiet
    expect "which is taken" says '^nodes  *3$'
done
troupe partition "$work/own" --parts 2 --num-nodes 10 --out "$work/made/parts" --quiet
expect "so has a raw graph" fails_with "own: it states its own number of nodes; leave --num-nodes out"
troupe import edges "$work/nowhere.csv" --out "$work/made/raw" --quiet
expect "a file that is not there is named" fails_with "nowhere.csv"
head -c 40 "$work/edges.csv.gz" >"$work/cut.csv.gz"
troupe import edges "$work/cut.csv.gz" --out "$work/made/raw" --quiet
expect "a truncated gzip is named" fails_with "cut.csv.gz"
troupe import edges "$edges" --out "$work/edges.txt/raw" --quiet
expect "a folder that cannot be made is named" fails_with "$work/edges.txt"
expect "what was refused left nothing" empty_folder "$work/made"

# An option of edge lists is not passed over where a file says by itself which edges there are.
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n' >"$work/m.mtx"
troupe partition "$work/m.mtx" --parts 1 --out "$work/m" --undirected --quiet
expect "--undirected of a matrix is refused" fails_with 'm.mtx: --undirected is for edge lists'

# Edges that had their reverse are there twice behind --undirected, wherever they stand.
awk 'BEGIN { print "7,7"; for (i = 0; i < 50000; i++) print i "," (i + 1) % 50000 }' >"$work/ring.csv"
awk 'BEGIN { print "5,4"; for (i = 0; i < 600; i++) print i * 50 + 1 "," i * 50 }' | cat "$work/ring.csv" - >"$work/some.csv"
printf '1,0\n5,4\n5,4\n' | cat "$work/ring.csv" - >"$work/few.csv"
troupe import edges "$work/ring.csv" --undirected --out "$work/ring" --quiet
expect "edges that stand once are not hinted at" sh -c "! grep -q hint '$work/out'"
troupe import edges "$work/some.csv" --undirected --out "$work/some" --quiet
expect "those that stand both ways are" \
    says '^hint  *601 of 50000 pairs of nodes had edges both ways before --undirected'
expect "with what takes them out" says 'import with --duplicates merge$'
troupe import edges "$work/few.csv" --undirected --out "$work/few" --quiet
expect "a handful of them is not" sh -c "! grep -q hint '$work/out'"
troupe import edges "$work/some.csv" --undirected --duplicates merge --out "$work/merged" --quiet
expect "which needs no hint" sh -c "! grep -q hint '$work/out'"
troupe import edges "$work/some.csv" --out "$work/directed" --quiet
expect "nor does a directed graph" sh -c "! grep -q hint '$work/out'"
printf 'src,dst\na,b\nb,a\nc,c\n' >"$work/named.csv"
troupe import table --edges "$work/named.csv" --undirected --out "$work/named" --quiet
expect "a table's edges are looked at too" \
    says '^hint  *1 of 1 pairs of nodes had edges both ways .* import without --undirected, or with'

# Nodes that a text counts from 1 are those again in predictions, through split, feature and partition.
awk -v dir="$work" 'BEGIN { for (i = 1; i <= 40; i++) { print i "," i % 40 + 1 >(dir "/ones.csv")
    print i % 2, "1:" i % 2, "2:1" >(dir "/ones.svm") } }'
troupe import edges "$work/ones.csv" --first-id 1 --node-features "$work/ones.svm" --out "$work/ones" --quiet
troupe split "$work/ones" --ratio 60/20/20 --quiet
troupe feature "$work/ones" --degree --name degree --quiet
troupe inspect "$work/ones" --json
expect "a raw graph keeps the first ID" says '"nodes":40,"first_id":1}'
troupe import edges "$work/ones" --out "$work/ones-copy" --quiet
troupe inspect "$work/ones-copy" --json
expect "so does its copy" says '"nodes":40,"first_id":1}'
troupe partition "$work/ones" --parts 2 --method random --name ones --out "$work/ones-parts" --quiet
troupe verify "$work/ones-parts" "$work/ones" --quiet
expect "and the partitions" exited 0
troupe train "$work/ones-parts" --run "$work/ones-run" --epochs 1 --hidden 2 --batch-size 8 --quiet
for form in csv jsonl; do
    troupe infer "$work/ones-parts" --run "$work/ones-run" --out "$work/predicted.$form" --quiet
done
expect "predictions have the IDs of the text" \
    [ "$(sed -n '2s/,.*//p;$s/,.*//p' "$work/predicted.csv" | tr '\n' ' ')" = "1 40 " ]
expect "as JSON lines too" [ "$(sed -n '1s/,.*//p;$s/,.*//p' "$work/predicted.jsonl" | tr '\n' ' ')" = '{"node":1 {"node":40 ' ]
global=$("$TROUPE" inspect "$work/ones-parts" --own-ids 7 --json 2>"$work/err" | sed 's/.*{"nodes":\[{"node":\([0-9]*\),"original_id":6,"own_id":7,.*/\1/')
troupe inspect "$work/ones-parts" --nodes "${global:-none}" --json
expect "a node is found by the ID of the text, and shows it" says '"original_id":6,"own_id":7,'
troupe inspect "$work/ones-parts" --edges 0 --json
expect "an edge's ends have it" says '"original_source":\([0-9]*\),.*"own_source":[0-9]*,"own_destination":'
troupe inspect "$work/ones-parts" --own-ids 0
expect "what is below the first ID is no node" fails_with "no node has the ID '0'"
# Files whose format counts from 1.
printf '%%%%MatrixMarket matrix coordinate pattern general\n5 5 3\n1 2\n2 3\n5 1\n' >"$work/five.mtx"
printf '5 3\n2 5\n1 3\n2\n\n1\n' >"$work/five.graph"
for file in five.mtx five.graph; do
    troupe partition "$work/$file" --parts 2 --method random --name five --out "$work/$file-direct" --quiet
    troupe import edges "$work/$file" --out "$work/$file-raw" --quiet
    troupe inspect "$work/$file-raw" --json
    expect "$file counts from 1" says '"nodes":5,"first_id":1}'
    troupe partition "$work/$file-raw" --parts 2 --method random --name five --out "$work/$file-parts" --quiet
    expect "and so do its partitions, imported or not" cmp -s "$work/$file-direct/five.json" "$work/$file-parts/five.json"
    troupe verify "$work/$file-direct" "$work/$file" --quiet
    expect "which are those of the file" exited 0
    troupe inspect "$work/$file-parts" --own-ids 5 --json
    expect "whose last node is 5" says '"original_id":4,"own_id":5,'
done
troupe partition "$work/named" --parts 2 --method random --name named --out "$work/named-parts" --quiet
troupe inspect "$work/named-parts" --own-ids c,a --json
expect "names find nodes too, in the order asked" says '^{"nodes":\[{"node":[0-9]*,"original_id":2,"own_id":"c",.*"original_id":0,"own_id":"a",'
troupe inspect "$work/named-parts" --own-ids zoe
expect "and one that nobody has is named" fails_with "no node has the ID 'zoe'"
sed 's/"first_id": 1/"first_id": -1/' "$work/ones/metadata.json" >"$work/negative"
cp "$work/negative" "$work/ones/metadata.json"
troupe inspect "$work/ones"
expect "a first ID that is no ID is named" fails_with 'first_id: must be from 0 to'
finish
