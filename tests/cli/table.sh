# SPDX-License-Identifier: Apache-2.0
# Tables with names for nodes become raw graphs, and the report says what became of each column.
. "${srcdir:-.}/tests/cli/tap.sh"
mkdir "$work/made"

cat >"$work/links.csv" <<'END'
src,dst,weight,when
alice,bob,1.5,10
bob,"carol, jr",2,11
"carol, jr",alice,3,12
dave,alice,4,13
END
cat >"$work/people.csv" <<'END'
id,age,city,label,split
alice,31,Paris,cat,train
bob,45,"New ""York""",dog,val
"carol, jr",27,Paris,cat,test
dave,60,,dog,
END

troupe import table --edges "$work/links.csv" --nodes "$work/people.csv" --out "$work/made/raw" --quiet
expect "a value that is missing is refused by line, with the option that says what stands for it" \
    fails_with 'people.csv: line 5: column 3, city, has no value, as in 1 row; say .* --missing: mean or zero'
expect "and nothing is left" empty_folder "$work/made"
troupe import table --edges "$work/links.csv" --nodes "$work/people.csv" --out "$work/raw" \
    --missing mean --weight weight --undirected --quiet
expect "tables of edges and nodes are imported" exited 0
expect "their nodes are counted" says '^nodes  *4$'
expect "and their edges, with their reverses" says '^edges  *8$'
expect "the header that was skipped is said" says '^line of the nodes skipped as a header  *1$'
expect "so is the use of the IDs" says '^nodes  *1  id  *IDs '
expect "of large numbers" says '^nodes  *2  age  *feature, to mean 0 and deviation 1 '
expect "of texts" says '^nodes  *3  city  *a feature for each value  *2  *1$'
expect "of labels" says '^nodes  *4  label  *labels  *2  *0$'
expect "and of columns that are not read" says '^edges  *4  when  *not read '
expect "the next command is there" says '^next  *troupe partition '
troupe import table --edges "$work/links.csv" --out "$work/alone" --json --quiet
expect "edges are enough" says '"nodes":4,"edges":4'
troupe import table --edges "$work/links.csv" --id 1 --out "$work/made/raw" --quiet
expect "columns of nodes need a table of nodes" fails_with 'are columns of a table of nodes: give --nodes too'

printf 'eve,alice\nalice,bob\n' >"$work/more.csv"
troupe import table --edges "$work/more.csv" --out "$work/made/raw" --quiet
expect "a first line that may be a header or a row is refused" \
    fails_with "more.csv: line 1: begins with 'eve', .* say --header yes, or --header no where it is a row"
troupe import table --edges "$work/more.csv" --header no --out "$work/names" --json --quiet
expect "--header says which" says '"nodes":3,"edges":2'
printf 'src,dst\neve,alice\n' >"$work/more.csv"
troupe import table --edges "$work/more.csv" --nodes "$work/people.csv" --missing zero \
    --out "$work/made/raw" --quiet
expect "an ID that the nodes table lacks is refused" \
    fails_with "more.csv: line 2: 'eve' is in no row of .*people.csv.* (--unknown)"
troupe import table --edges "$work/more.csv" --nodes "$work/people.csv" --missing zero \
    --unknown add --out "$work/added" --json --quiet
expect "or added" says '"nodes":5,"edges":1,.*"added_nodes":1'
printf '1:2\n2:3\n' >"$work/colons"
troupe import table --edges "$work/colons" --delimiter : --out "$work/colons-raw" --json --quiet
expect "--delimiter takes a character" says '"nodes":3,"edges":2'
printf '1|2\n2|3\n' >"$work/bars"
troupe import edges "$work/bars" --delimiter '|' --out "$work/bars-raw" --json --quiet
expect "which import edges takes too" says '"nodes":4,"edges":2'
troupe import table --edges "$work/bars" --delimiter bar --out "$work/bars-raw" --replace --json --quiet
expect "and a word for the bar" says '"nodes":3,"edges":2'
troupe import table --edges "$work/bars" --delimiter '::' --out "$work/made/raw" --quiet
expect "two characters are refused" refuses_with "--delimiter ::: not a delimiter; give a word (any, comma, .* or one of "
troupe import table --edges "$work/bars" --delimiter e --out "$work/made/raw" --quiet
expect "so is a letter" refuses_with "--delimiter e: not a delimiter"
troupe import table --edges "$work/links.csv" --nodes "$work/people.csv" --features= --out "$work/bare" --json --quiet
expect "--features= with nothing behind it takes no column for a feature" says '"feature_width":0'
troupe import table --edges "$work/links.csv" --nodes "$work/people.csv" --labels= --out "$work/made/raw" --quiet
expect "which other options do not take" refuses_with '--labels: must not be empty'
printf 'a\tlikes\tb\nb\tknows\tc\n' >"$work/triples.tsv"
troupe import table --edges "$work/triples.tsv" --header no --out "$work/triples" --quiet
expect "words in a third column are hinted at" \
    says '^hint  *column 3 of the edges has words too .* import with --source 1 --target 3$'
printf '%% bip weighted\n1 1 5\n2 1 3\n' >"$work/out.bip"
troupe import table --edges "$work/out.bip" --out "$work/bip" --quiet
expect "a file that says that it is bipartite has two kinds of numbers" \
    says "^hint  *1 number is in both columns 1 and 2, .*--source-prefix u"
troupe import edges "$work/out.bip" --out "$work/bip" --replace --quiet
expect "of which import edges says so too" \
    says "^hint  *columns 1 and 2 number two kinds of things, .* with .troupe import table --edges FILE --source-prefix u."
printf 'userId,movieId\n1,1\n2,1\n' >"$work/pairs.csv"
troupe import edges "$work/pairs.csv" --out "$work/bip" --replace --quiet
expect "and of columns by their names" says "^hint  *columns 1 and 2 number two kinds .* --source-prefix u."
printf 'userId,movieId\n1,11\n2,12\n' >"$work/pairs.csv"
troupe import edges "$work/pairs.csv" --out "$work/bip" --replace --quiet
expect "and not where no number is in both" sh -c "! grep -q 'two kinds' '$work/out'"
printf 'userId,movieId,rating\n1,1,4\n1,2,3\n2,1,4\n' >"$work/ratings.csv"
troupe import table --edges "$work/ratings.csv" --source userId --target movieId --out "$work/ratings" --quiet
expect "numbers that are IDs of two kinds are hinted at" \
    says "^hint  *2 numbers are in both 'userId' and 'movieId', and each is one node: .* import again with --source-prefix u"
troupe import table --edges "$work/ratings.csv" --source userId --target movieId --source-prefix u --out "$work/letters" --quiet
expect "and are not, with the prefix that it names" sh -c "grep -q 'nodes  *4$' '$work/out' && ! grep -q ^hint '$work/out'"
for name in web.graph web.metis web.npy; do
    printf '3 2\n2\n1 3\n2\n' >"$work/$name"
    troupe import table --edges "$work/$name" --out "$work/made/raw" --quiet
    expect "$name is refused by its name" fails_with "$name: by its name it is .*, no table; .troupe import edges. reads it"
done
printf 'PAR1\0\0' >"$work/table"
troupe import table --edges "$work/table" --out "$work/made/raw" --quiet
expect "a Parquet file is refused with the Python that converts it" \
    fails_with 'table: looks like a Parquet file, not like text; .*pandas'
cat >"$work/salaries.csv" <<'END'
id,salary,price,share,born,street,size
alice,"1,234.50",$3,3 %,01.02.1990,17b,1
bob,"12,000",4.5,"4,5 %",03.02.1991,18,2
"carol, jr",999,€ 5,5%,04.02.1992,19-20,L
dave,1000,6,6%,05.02.1993,2,4
END
troupe import table --edges "$work/links.csv" --nodes "$work/salaries.csv" --out "$work/salaries" --quiet
expect "numbers as spreadsheets write them are hinted at" \
    says '^hint  *column 2 of the nodes, salary, looks like numbers, and is read as texts because of line 2: write numbers as 1234.5'
expect "so are amounts of money" says '^hint  *column 3 of the nodes, price, .* line 2:'
expect "and shares" says '^hint  *column 4 of the nodes, share, .* line 2:'
expect "dates and other texts are no numbers" sh -c "! grep -qE '^hint .*(born|street|size)' '$work/out'"
{ echo id,age; seq 1 20 | awk '{ print "n" $1 "," ($1 == 13 ? "unknown" : $1) }'; } >"$work/ages.csv"
printf 'src,dst\nn1,n2\n' >"$work/one.csv"
troupe import table --edges "$work/one.csv" --nodes "$work/ages.csv" --out "$work/ages" --quiet
expect "so is a column with one text among its numbers" says '^hint  *column 2 of the nodes, age, .* because of line 14:'
expect "and the word is named as what may stand for no value" \
    says "^hint  *column 2 of the nodes, age, has 'unknown' in 1 row from line 14 on, .* import with --no-value 'unknown'$"
troupe import table --edges "$work/one.csv" --nodes "$work/ages.csv" --no-value unknown --missing mean \
    --out "$work/ages" --replace --quiet
expect "which --no-value takes" says '^nodes  *2  age  *feature, to mean 0 and deviation 1  *-  *1$'
expect "and is not hinted at" sh -c "! grep -qE '^hint .*(unknown|numbers)' '$work/out'"
printf 'id,class\na,1\nb,unknown\nc,2\n' >"$work/classes.csv"
printf 'src,dst\na,b\nb,c\n' >"$work/two.csv"
troupe import table --edges "$work/two.csv" --nodes "$work/classes.csv" --out "$work/classes" --quiet
expect "of classes too" says "has 'unknown' in 1 row from line 3 on, which counts as a class: .* --no-value 'unknown'$"
printf 'src_id,dst_id,weight\n0,1,0.5\n1,2,2\n' >"$work/edges_0.csv"
printf 'node_id,label,train_mask,feat\n0,1,1,"0.07, 0.05, 0.3"\n1,0,0,"0.8, 0.2, 0.1"\n2,1,1,"0.5, 0.5, 0.5"\n' >"$work/nodes_0.csv"
troupe import table --edges "$work/edges_0.csv" --nodes "$work/nodes_0.csv" --weight weight --out "$work/lists" --quiet
expect "lists of numbers, as DGL's CSVDataset has them, are features" says '^nodes  *4  feat  *a feature for each place  *3  *0$'
expect "so many a node" says "^numbers in a node's features  *3$"
sed -i 's/0.8, 0.2, 0.1/0.8, 0.2/' "$work/nodes_0.csv"
troupe import table --edges "$work/edges_0.csv" --nodes "$work/nodes_0.csv" --out "$work/made/raw" --quiet
expect "one of another length is named by its row" \
    fails_with 'nodes_0.csv: line 3: column 4, feat, has a list of 2 numbers, and one of 3 before; .* leave the column out by --features'
{ echo id,label; seq 18 76 | awk '{ print "n" $1 - 17 "," $1; print "m" $1 "," $1 }'; } >"$work/years.csv"
troupe import table --edges "$work/one.csv" --nodes "$work/years.csv" --out "$work/years" --quiet
expect "ages in place of classes are hinted at" says '^hint  *the labels are 59 different whole numbers that do not count from 0'
awk 'BEGIN { print "id,tier,stars"; for (i = 0; i < 60; i++) print "n" i "," i % 3 + 1 "," i % 30 }' >"$work/tiers.csv"
troupe import table --edges "$work/one.csv" --nodes "$work/tiers.csv" --out "$work/tiers" --quiet
expect "a few whole numbers may stand for kinds" \
    says '^hint  *column 2 of the nodes, tier, has 3 different whole numbers, which are read as amounts: .* --categories tier$'
expect "many are amounts" sh -c "! grep -q 'hint.*stars' '$work/out'"
troupe import table --edges "$work/one.csv" --nodes "$work/tiers.csv" --categories tier --out "$work/tiers" --replace --quiet
expect "--categories takes them for these" says '^nodes  *2  tier  *a feature for each value  *3  *0$'
expect "and is not hinted at" sh -c "! grep -q 'hint.*tier' '$work/out'"
expect "other columns are what they were" says '^nodes  *3  stars  *feature.*  -  *0$'
printf 'id,topic,x\nn1,db,1\nn2,,2\n' >"$work/subjects.csv"
troupe import table --edges "$work/one.csv" --nodes "$work/subjects.csv" --out "$work/made/raw" --quiet
expect "a column without a value may have the labels: the error names their option" \
    fails_with 'line 3: column 2, topic, has no value, .* where the column has the labels, name it by --labels$'
troupe import table --edges "$work/one.csv" --nodes "$work/subjects.csv" --labels topic --out "$work/subjects" --quiet
expect "which takes it" says '^nodes  *2  topic  *labels  *1  *1$'
sed 's/,x$/,label/' "$work/subjects.csv" >"$work/labelled.csv"
troupe import table --edges "$work/one.csv" --nodes "$work/labelled.csv" --out "$work/made/raw" --quiet
expect "and does not where others are labels" fails_with '--missing: mean or zero$'
awk 'BEGIN { print "id,country,title,story"; for (i = 0; i < 900; i++) {
    printf "n%d,%s,title %d,", i, "c" i % 300, i; for (k = 0; k < (i == 0 ? 1000 : 1); k++) printf "word "; print i } }' >"$work/texts.csv"
troupe import table --edges "$work/one.csv" --nodes "$work/texts.csv" --out "$work/texts" --quiet
expect "what was not counted of sources is no 0" says '^edges  *1  src  *sources  *-  *0$'
expect "a column with too many values is no feature, and a hint says what to do" \
    says "^hint  *column 2 of the nodes, country, has 300 different values, .* no feature: .* write the rarer ones alike, as 'other', until at most 64 are left"
expect "texts of each node's own have another" \
    says "^hint  *column 3 of the nodes, title, has 900 different values, .* give in its place a list of numbers a node, as '.0.1 0.2.'"
expect "so have those that are not read" \
    says "^hint  *column 4 of the nodes, story, has texts that are too long, .* is not read: to learn from it give in its place a list of numbers"
troupe import table --edges "$work/one.csv" --nodes "$work/texts.csv" --features country --out "$work/texts" --replace --json --quiet
expect "but not where the options leave them out" sh -c "! grep -qE 'title, has|story, has' '$work/out'"
expect "what was not counted is null" says '"name":"story","use":"not read","values":null,"missing":null'
# What the hints say to do gives features.
awk -F, -v OFS=, 'NR > 1 { $2 = substr($2, 2) % 300 < 63 ? $2 : "other"; $3 = "[0.1 " NR "]"; $4 = NR % 2 } 1' "$work/texts.csv" >"$work/mended.csv"
troupe import table --edges "$work/one.csv" --nodes "$work/mended.csv" --out "$work/texts" --replace --quiet
expect "which makes features of all of them" says "^numbers in a node's features  *67$"
expect "and leaves nothing to hint at" sh -c "! grep -qE '^hint .*(country|title|story)' '$work/out'"
troupe import table --edges "$work/one.csv" --nodes "$work/tiers.csv" --categories tier --features tier,stars --out "$work/made/raw" --quiet
expect "a column is one or the other" fails_with 'column 2, tier, is asked for twice'
troupe import table --edges "$work/one.csv" --categories tier --out "$work/made/raw" --quiet
expect "categories are of nodes" fails_with 'are columns of a table of nodes: give --nodes too'
printf 'src,dst\ra,b\rb,c\r' >"$work/mac.csv"
for kind in "table --edges" edges; do
    # shellcheck disable=SC2086 # two words
    troupe import $kind "$work/mac.csv" --out "$work/made/raw" --quiet
    expect "lines that end in CR alone are refused: $kind" fails_with "mac.csv: its lines end in CR alone, .* tr '.r' '.n' <OLD >NEW"
done
printf 'src,dst\r\na,b\r\n' >"$work/dos.csv"
troupe import table --edges "$work/dos.csv" --out "$work/dos" --quiet
expect "those of Windows are read" exited 0
printf '[{"source":"a","target":"b"},\n{"source":"b","target":"c"}]\n' >"$work/array.json"
printf '{"directed":false,"nodes":[{"id":"a"}],"links":[{"source":"a","target":"b"},{"source":"b","target":"c"}]}\n' \
    >"$work/graph.json"
printf '{"0":[1,5],"1":[2]}\n' >"$work/features.json"
for file in array.json graph.json; do
    troupe import table --edges "$work/$file" --out "$work/made/raw" --quiet
    expect "$file is refused with the Python that converts it" fails_with "$file: line 1: is .*python3 -c .*json.load"
    convert=$(sed -n 's/.*instead: \(python3.*\) <\(ARRAY\|GRAPH\) >LINES.*/\1/p' "$work/err")
    run sh -c "$convert <'$work/$file' >'$work/lines.json' && '$TROUPE' import table --edges '$work/lines.json' --out '$work/$file-raw' --quiet"
    expect "which does so" says '^edges  *2$'
done
printf '{"source":"a","source":"b"}\n' >"$work/twice.json"
troupe import table --edges "$work/twice.json" --out "$work/made/raw" --quiet
expect "a key that is there twice is named as it is called" fails_with "twice.json: line 1: .*: the key 'source' is there twice; correct it"
printf '{"source" "target"}\n' >"$work/twice.json"
troupe import table --edges "$work/twice.json" --out "$work/made/raw" --quiet
expect "what the file says is quoted, and no option is made of it" fails_with "is not a JSON object: ':' expected near '\"target\"'"
troupe import table --edges "$work/one.csv" --out - --quiet
expect "no folder is called as the standard output is" refuses_with '--out -: nothing but the report goes to the standard output; give a name, or ./- for'
troupe import table --edges "$work/one.csv" --nodes "$work/features.json" --out "$work/made/raw" --quiet
expect "features of each node in one object too" fails_with 'features.json: line 1: is one JSON object; .* >features.svm, for --node-features with --feature-base 0'
troupe import table --edges "$work/one.csv" --nodes "$work/ages.csv" --nodes "$work/years.csv" --out "$work/made/raw" --quiet
expect "two tables of nodes are refused with how they are joined" \
    refuses_with '--nodes: given twice; join the tables first. .*p.concat.*p.merge'
printf 'source,target\n1.0,2.0\n2.0,3.0\n' >"$work/whole.csv"
troupe import edges "$work/whole.csv" --out "$work/made/raw" --quiet
expect "IDs with a fraction of 0 are refused with what writes them so" \
    fails_with "'1.0' is not a whole number; write IDs without a fraction, as pandas does after astype"
expect "and without import table, which refuses them too" sh -c "! grep -q 'import table.. reads' '$work/err'"
troupe import table --edges "$work/whole.csv" --out "$work/made/raw" --quiet
expect "there with the same remedy" fails_with "or write IDs as whole numbers, as pandas does after astype"
printf '0,1,1\n1,0,0\n1,0,0\n' >"$work/matrix.csv"
printf '# Undirected graph: web.txt\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n' >"$work/snap.txt"
printf '%% sym unweighted\n0 1\n1 2\n' >"$work/out.konect"
for kind in "table --edges" edges; do
    # shellcheck disable=SC2086 # two words
    troupe import $kind "$work/matrix.csv" --out "$work/matrix" --replace --quiet
    expect "as many rows as columns may be a matrix: $kind" says '^hint  *3 rows of 3 columns may be an adjacency matrix'
    for file in snap.txt out.konect; do
        # shellcheck disable=SC2086 # two words
        troupe import $kind "$work/$file" --out "$work/matrix" --replace --quiet
        expect "$file says that it is undirected: $kind" says '^hint  *the file says that its edges are undirected: .* --undirected$'
        # shellcheck disable=SC2086 # two words
        troupe import $kind "$work/$file" --undirected --out "$work/matrix" --replace --quiet
        expect "which is told once" sh -c "! grep -q 'says that' '$work/out'"
    done
done
printf 'Source,Target,Type,Id\n1,2,Undirected,0\n2,3,Undirected,1\n' >"$work/gephi.csv"
troupe import table --edges "$work/gephi.csv" --out "$work/matrix" --replace --quiet
expect "as Gephi's column does" says '^hint  *the file says that its edges are undirected'
printf '%s\n' id,city,tags "n1,Paris,['x']" "n2,PARIS,\"['y', 'z']\"" >"$work/tags.csv"
troupe import table --edges "$work/one.csv" --nodes "$work/tags.csv" --out "$work/tags" --quiet
expect "lists of texts are one text each, and hinted at" says '^hint  *column 3 of the nodes, tags, has lists of texts'
expect "so are values that differ in their letters' case" \
    says '^hint  *column 2 of the nodes, city, has values that differ in small and capital letters alone (PARIS, Paris)'
printf 'child,parent\na,NULL\nb,a\nc,NULL\n' >"$work/tree.csv"
troupe import table --edges "$work/tree.csv" --out "$work/tree" --quiet
expect "a node that is called as no node is hinted at" \
    says "^hint  *'NULL' is taken for a node, with 2 edges: where it stands for no node, leave these rows out"
troupe import table --edges "$work/tree.csv" --no-value NULL --out "$work/made/raw" --quiet
expect "and refused where that is said" fails_with "tree.csv: line 2: the source 'NULL' stands for no value (--no-value)"
printf '%%%%MatrixMarket matrix coordinate real general\n%% sizes\n3 3 2\n1 2 0.5\n2 3 1.5\n' >"$work/mesh.mtx"
troupe import table --edges "$work/mesh.mtx" --header no --out "$work/made/raw" --quiet
expect "a Matrix Market file is no table, whose sizes would be an edge" \
    fails_with 'mesh.mtx: line 1: is that of a Matrix Market file; .troupe import edges. reads it'
printf '{"from":"a","to":"b"}\n{"from":"b","to":3}\n' | gzip >"$work/lines.gz"
troupe import table --edges "$work/lines.gz" --out "$work/lines" --json --quiet
expect "JSON lines are tables, packed or not" says '"nodes":3,"edges":2'

# Several labels a node, in one column or in several, and predictions that name them.
awk 'BEGIN { print "id,x,topics,red,blue,split"
    for (i = 0; i < 40; i++)
        printf "n%d,%d,%s,%d,%s,%s\n", i, i % 2, i % 2 ? "red" : "\"blue,;red\"", i % 2, i % 3 ? 1 : "",
            i < 20 ? "train" : i < 30 ? "val" : "test" }' >"$work/topics.csv"
awk 'BEGIN { print "src,dst"; for (i = 0; i < 40; i++) printf "n%d,n%d\n", i, (i + 2) % 40 }' >"$work/ring.csv"
for columns in red,blue topics; do
    separator=
    [ $columns = topics ] && separator='--label-separator=;'
    # shellcheck disable=SC2086 # no separator is no word
    troupe import table --edges "$work/ring.csv" --nodes "$work/topics.csv" --labels $columns --features x $separator \
        --out "$work/$columns" --quiet
    expect "several labels a node are imported: $columns" says '^classes  *2$'
    "$TROUPE" partition "$work/$columns" --parts 1 --method random --name g --out "$work/$columns-parts" --quiet \
        >"$work/out" 2>"$work/err"
    "$TROUPE" train "$work/$columns-parts" --loss sigmoid --epochs 2 --run "$work/$columns-run" --quiet \
        >"$work/out" 2>"$work/err"
    troupe infer "$work/$columns-parts" --run "$work/$columns-run" --out "$work/$columns-out.csv" --quiet
    expect "and learned" exited 0
done
expect "predictions name the columns" [ "$(head -n 1 "$work/red,blue-out.csv")" = node,probability_red,probability_blue ]
expect "and the values" [ "$(head -n 1 "$work/topics-out.csv")" = \
    'node,"probability_blue,",probability_red' ]
expect "and the nodes" grep -q '^n39,0\.[0-9]*,0\.[0-9]*$' "$work/red,blue-out.csv"
troupe import table --edges "$work/ring.csv" --nodes "$work/topics.csv" --labels topics --label-separator '<>' \
    --out "$work/made/raw" --quiet
expect "a separator is one character" fails_with '--label-separator: it is one of'
awk 'BEGIN { print "id,label"; for (i = 0; i < 100; i++) printf "n%d,%d\n", i, 7 * i }' >"$work/amounts.csv"
troupe import table --edges "$work/ring.csv" --nodes "$work/amounts.csv" --out "$work/amounts" --quiet
expect "many whole numbers are asked about" says '^hint  *100 different labels for 100 nodes: are they classes?'

# Classes that have names are shown by them.
awk 'BEGIN { print "id,x,label,split"
    for (i = 0; i < 40; i++)
        printf "n%d,%d,%s,%s\n", i, i % 2, i % 2 ? "<cat>" : "dog\342\200\256", i < 20 ? "train" : i < 30 ? "val" : "test" }' \
    >"$work/animals.csv"
"$TROUPE" import table --edges "$work/ring.csv" --nodes "$work/animals.csv" --out "$work/animals" --quiet >"$work/out" 2>"$work/err"
"$TROUPE" partition "$work/animals" --parts 1 --method random --name g --out "$work/animals-parts" --quiet \
    >"$work/out" 2>"$work/err"
"$TROUPE" train "$work/animals-parts" --epochs 2 --run "$work/animals-run" --quiet >"$work/out" 2>"$work/err"
troupe infer "$work/animals-parts" --run "$work/animals-run" --by-class --quiet
expect "scores by class name the classes" says '^ *0  *<cat>  '
expect "and steer no terminal" says '^ *1  *dog???  '
"$TROUPE" infer "$work/animals-parts" --run "$work/animals-run" --by-class --json --quiet >"$work/animals-run/by-class.json"
troupe report "$work/animals-run" --out "$work/animals.html"
expect "so does the page of a report, each name by itself" grep -q '<th scope="row"><bdi>&lt;cat&gt;</bdi></th>' "$work/animals.html"
expect "in its matrix too" grep -q '<th scope="col"><bdi>dog&#xFFFD;</bdi></th>' "$work/animals.html"

printf 'src,dst\nab\342\200\256dc,e\302\233f\n' >"$work/odd.csv"
troupe import table --edges "$work/odd.csv" --out "$work/odd" --quiet
"$TROUPE" partition "$work/odd" --parts 1 --method random --name g --out "$work/odd-parts" --quiet >"$work/out" 2>"$work/err"
troupe inspect "$work/odd-parts/g.json"
expect "names that steer a terminal are not shown as they are" says 'ab???dc, e??f'

# What is read lies where something is made anew: it would be removed with what was there.
cp "$work/links.csv" "$work/alone/mine.csv"
troupe import table --edges "$work/alone/mine.csv" --out "$work/alone" --replace --quiet
expect "a folder is not replaced that holds a table that is read" \
    fails_with 'alone/mine.csv: lies in .*/alone, and would be removed when that is replaced'
expect "the table is there still" cmp -s "$work/links.csv" "$work/alone/mine.csv"
ln -s "$work/alone" "$work/link"
run sh -c "cd '$work/alone/edges' && '$TROUPE' import edges ../mine.csv --out '$work/link/../alone' --replace --quiet"
expect "however the two are spelled" fails_with '^troupe import edges: ../mine.csv: lies in '
cp "$work/links.csv" "$work/beside.csv"
troupe import table --edges "$work/beside.csv" --out "$work/alone" --replace --quiet
expect "a table beside it is in nobody's way" exited 0
troupe partition "$work/alone" --parts 1 --name g --out "$work/both" --quiet
cp -r "$work/alone" "$work/both/raw"
troupe partition "$work/both/raw" --parts 1 --name g --out "$work/both" --replace --quiet
expect "partitions do not replace the raw graph among them" fails_with 'both/raw: lies in .*/both'
expect "which is there still" test -e "$work/both/raw/metadata.json"


awk 'BEGIN { printf "id"; for (i = 0; i < 65536; i++) printf ",c%d", i; print "" }' >"$work/wide.csv"
troupe import table --edges "$work/links.csv" --nodes "$work/wide.csv" --out "$work/made/wide" --quiet
expect "too many columns are refused with how many may be, and what to do" \
    fails_with 'wide.csv: line 1: has more than 65536 columns; give features as a SciPy .npz .*, by --node-features'

finish
