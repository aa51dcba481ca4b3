# SPDX-License-Identifier: Apache-2.0
# The commands in README.md that lead from two CSV files to predictions, as they stand there.
. "${srcdir:-.}/tests/cli/tap.sh"
readme=${srcdir:-.}/README.md

awk '/^Five commands lead/ { on = 1 } on && /^    troupe / { print } on && /^Numbers and texts/ { exit }' "$readme" \
    >"$work/commands"
expect "README.md has five commands" [ "$(wc -l <"$work/commands")" -eq 5 ]
# The two tables that it shows, side by side.
awk '/^    from,to  / { on = 1 } on && !/^    / { exit } on { print substr($0, 5, 24) }' "$readme" |
    sed -e 's/ *$//' -e '/^$/d' >"$work/shown_links.csv"
awk '/^    from,to  / { on = 1 } on && !/^    / { exit } on { print substr($0, 29) }' "$readme" >"$work/shown_people.csv"
run "$TROUPE" import table --edges "$work/shown_links.csv" --nodes "$work/shown_people.csv" --out "$work/shown" --json --quiet
expect "its tables are tables" exited 0
expect "with an edge a line, and all people" says '"nodes":3,"edges":2,'
# People of two classes, told apart by their city and by whom they are linked with.
awk 'BEGIN {
    print "id,age,city,label"
    for (i = 0; i < 400; i++) {
        name = i % 5 == 0 ? "\"person " i ", jr\"" : "person" i
        print name "," 20 + i % 40 "," (i % 2 ? "Rome" : i % 3 ? "Paris" : "Bern") "," (i % 2 ? "writer" : "reader")
    }
}' >"$work/people.csv"
awk 'function name(i) { return i % 5 == 0 ? "\"person " i ", jr\"" : "person" i }
    BEGIN { print "from,to"; for (i = 0; i < 1200; i++) print name(i % 400) "," name((i * 7 + 2 * int(i / 400)) % 400) }' \
    >"$work/links.csv"
mkdir "$work/path"
# The command as it is installed, and nothing else of the build.
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(cd "$(dirname "$TROUPE")" && pwd)/$(basename "$TROUPE")" >"$work/path/troupe"
chmod +x "$work/path/troupe"
run sh -ec 'cd "$1" && PATH=$1/path:$PATH && . ./commands' sh "$work"
expect "they run as they stand" exited 0
expect "a line for each node, and a header" [ "$(wc -l <"$work/predictions.csv")" -eq 401 ]
sed -n 's/^`\(troupe report [^`]*\)`.*/\1/p' "$readme" >"$work/report"
expect "a page of the run is told of beside them" [ "$(wc -l <"$work/report")" -eq 1 ]
run sh -ec 'cd "$1" && PATH=$1/path:$PATH && . ./report' sh "$work"
expect "whose command runs as it stands" exited 0
expect "and leaves a page" grep -q '</html>' "$work/report.html"
cut_ids() { sed 's/,[0-9]*,[A-Z][a-z]*,[a-z]*$//' "$1"; }
cut_ids "$work/people.csv" | sed 1d >"$work/ids"
sed -e 1d -e 's/,[a-z]*,[0-9.]*$//' "$work/predictions.csv" >"$work/predicted"
run diff "$work/ids" "$work/predicted"
expect "the IDs are those of the table, in its order and its quotation marks" exited 0
sed -n '2,$s/.*,\([a-z]*\),[0-9.]*$/\1/p' "$work/predictions.csv" | sort -u | tr '\n' ' ' >"$work/classes"
expect "and so are the classes" [ "$(cat "$work/classes")" = "reader writer " ]
run "$TROUPE" infer "$work/parts/people.json" --run "$work/run" --out "$work/predictions.jsonl" --quiet
expect "JSON lines have them as texts" \
    grep -q '^{"node":"person 0, jr","class":"[a-z]*","probability":' "$work/predictions.jsonl"
run "$TROUPE" inspect "$work/parts/people.json"
expect "inspect shows the names" says '^values  *_N  *label  *2  reader, writer$'
run "$TROUPE" inspect "$work/raw"
expect "also those of the raw graph" says '^values  *_N  *label  *2  reader, writer$'
expect "and the IDs" says '^nodes  *_N  *400  "*person 0, jr"*, person1, person2$'
run "$TROUPE" verify "$work/parts/people.json" --quiet
expect "verify compares them with their checksums" exited 0
run "$TROUPE" verify "$work/parts/people.json" "$work/raw" --quiet
expect "and with those of the raw graph" exited 0
sed -e 's/reader$/listener/' "$work/people.csv" >"$work/other.csv"
run "$TROUPE" import table --edges "$work/links.csv" --nodes "$work/other.csv" --undirected --out "$work/raw2" --quiet
run "$TROUPE" split "$work/raw2" --ratio 60/20/20
run "$TROUPE" verify "$work/parts/people.json" "$work/raw2" --quiet
expect "which tells another graph's apart" fails_with 'dict~_N~values~label.text.npy: name 0 is not as in the input'
printf x | dd of="$work/parts/dict~_N~nodes.text.npy" bs=1 seek=300 conv=notrunc 2>"$work/err"
run "$TROUPE" verify "$work/parts/people.json" --quiet
expect "and finds a wrong one" fails_with 'dict~_N~nodes.text.npy'
finish
