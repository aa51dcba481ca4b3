# SPDX-License-Identifier: Apache-2.0
# The page about training runs: complete in itself, and whatever names the folders hold stay text.
. "${srcdir:-.}/tests/cli/tap.sh"

"$TROUPE" generate sbm --nodes 300 --edges 3000 --features 4 --classes 3 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
# Names that would be markup: of the graph's folder, of runs, of a feature that options name.
bad='<script>alert(1)|"&'\''><b'
parts="$work/p$bad"
"$TROUPE" partition "$work/raw" --parts 3 --method random --name 'g<i>&"' --out "$parts" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
learn() { "$TROUPE" train "$parts" --run "$@" --hidden 8 --quiet >"$work/out" 2>"$work/err" || exit 99; }
learn "$work/one" --epochs 3 --seed 5
control=$(printf 'r\033[31m\001%s' "$bad")
learn "$work/$control" --epochs 12 --batch-size 64 --lr 0.003
"$TROUPE" infer "$parts" --run "$work/one" --by-class --json --quiet >"$work/one/by-class.json" || exit 99
sed 's/"run":"[^"]*"/"run":"<img src=x onerror=alert(2)>\\u0001\\u202e<\/style>"/; s/"sampled"/"<u>"/' "$work/one/by-class.json" \
    >"$work/classes.json"

page=$work/page.html
troupe report "$work/one" "$work/$control" --classes "$work/classes.json" --out "$page" --json
expect "a report is written" exited 0
expect "which says what it is made of" says '"runs":2,"classes":2,"graphs":\[{"graph":.*"read":true}\]'
expect "nothing in it runs or is loaded" eval '! grep -qiE "<(script|img|link|iframe|object|b|i|u)[ >]|<[^>]* (src|on[a-z]*)=|@import|url\(" "$page"'
expect "no link leads away" eval '! grep -qE "https?:|href" "$page"'
expect "names are escaped" grep -q '&lt;script&gt;alert(1)|&quot;&amp;&#39;&gt;&lt;b' "$page"
expect "so are those of files of classes" grep -q '&lt;img src=x onerror=alert(2)&gt;&#xFFFD;&#xFFFD;' "$page"
expect "and the name of the graph" grep -q 'g&lt;i&gt;&amp;&quot;' "$page"
expect "there is no control character" \
    [ "$(LC_ALL=C tr -d '\n' <"$page" | LC_ALL=C tr -cd '\000-\037\177' | wc -c)" = 0 ]
expect "one style, which a name does not end" [ "$(grep -o '</style>' "$page" | wc -l)" = 1 ]

# Every element that is opened is closed, in order; void ones aside.
grep -oE '</?[a-z][a-z0-9]*[^>]*>' "$page" | awk '
    /^<meta/ || /\/>$/ { next }
    /^<\// { gsub(/[<>\/]/, ""); if (stack[n] != $1) { print "closed " $1 " in " stack[n]; exit 1 } n--; next }
    { sub(/^</, ""); sub(/[ >].*/, ""); stack[++n] = $1 }
    END { if (n) { print "left open: " stack[n]; exit 1 } }' >"$work/out"
expect "elements are closed in order" [ ! -s "$work/out" ]
expect "the language is named" grep -q '<html lang="en">' "$page"
expect "there is a title" grep -q '<title>Report of ' "$page"
expect "one heading of the page" [ "$(grep -o '<h1>' "$page" | wc -l)" = 1 ]
grep -oE '<h[1-6]' "$page" | tr -d '<h' | awk '$1 > last + 1 { exit 1 } { last = $1 }'
expect "headings skip no level" [ $? = 0 ]
expect "pictures have a role and a title" \
    [ "$(grep -o '<svg viewBox="0 0 420' "$page" | wc -l)" = "$(grep -c 'role="img" aria-labelledby=.*<title id=' "$page")" ]
expect "headers of tables have a scope" eval '! grep -qE "<th( class=[^ ]*)?>" "$page"'
grep -oE ' id="[^"]*"' "$page" | sort >"$work/ids"
expect "no identifier occurs twice" [ "$(wc -l <"$work/ids")" = "$(sort -u "$work/ids" | wc -l)" ]

expect "losses and scores are drawn over steps and seconds" \
    [ "$(grep -cE '<figcaption>(Training loss|Validation (loss|accuracy|macro-F1)) over (steps|seconds)<' "$page")" = 8 ]
expect "a line for each run" [ "$(grep -c 'class="line c1 d1" d="M[0-9.]* [0-9.]*[L\"]' "$page")" = 8 ]
expect "options that differ are marked" grep -q '<tr class="diff"><th scope="row">batch_size ' "$page"
expect "the others are not" grep -q '<tr><th scope="row">hidden</th>' "$page"
expect "the cut is counted" grep -q 'Edges cut</th><td class="n">[1-9]' "$page"
"$TROUPE" partition "$work/raw" --parts 3 --method random --out "$work/again" --json --quiet >"$work/out" 2>"$work/err"
cut=$(sed -n 's/.*"cut_edges":\([0-9]*\).*/\1/p' "$work/out" | sed ':a;s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta')
expect "as partitioning did" grep -q "Edges cut</th><td class=\"n\">$cut<" "$page"
expect "there is a matrix" grep -q 'Confusion: ' "$page"

# The command that repeats the first run, as a shell takes it from the page.
sed -n 's/^<pre><code>\(.*--seed 5.*\)<\/code><\/pre>/\1/p' "$page" |
    sed "s/&lt;/</g; s/&gt;/>/g; s/&quot;/\"/g; s/&#39;/'/g; s/&amp;/\&/g" >"$work/command"
sed -n '$s/"seconds.*//p; 1,3s/"seconds.*//p' "$work/one/metrics.jsonl" >"$work/before"
sed -i "s|^troupe train|\"\$TROUPE\" train|; s|\$| --replace --quiet|" "$work/command"
run sh "$work/command"
expect "the command of a run runs" exited 0
sed -n '$s/"seconds.*//p; 1,3s/"seconds.*//p' "$work/one/metrics.jsonl" >"$work/after"
expect "and repeats it" cmp -s "$work/before" "$work/after"

rm "$parts"/g*.json
troupe report "$work/one" --out "$page" --json
expect "a graph that is gone takes nothing from the rest" says '"read":false'
expect "but is named" grep -q 'It could not be read here: ' "$page"
mkdir "$work/early"
cp "$work/one/config.json" "$work/early"
: >"$work/early/metrics.jsonl"
troupe report "$work/early" --out "$page"
expect "a run that has only begun has a page" exited 0
expect "without scores by class it says how to get them" grep -q 'There are no scores by class here' "$page"

cp "$page" "$work/kept"
troupe report "$work/nowhere" --out "$page"
expect "a run that is not there is named" fails_with "$work/nowhere/config.json is missing"
troupe report "$work" --out "$page"
expect "of a folder that holds runs one is named" \
    fails_with "$work holds runs, and is none itself; name one of them, such as $work/[a-z]"
echo '{"classes":[]}' >"$work/none.json"
troupe report "$work/one" --classes "$work/none.json" --out "$page"
expect "so is a file without classes" fails_with "none.json has no classes: troupe infer --by-class --json"
echo '{"classes":[{"class":0,"taken_for":[[1,2],[3]]}]}' >"$work/none.json"
troupe report "$work/one" --classes "$work/none.json" --out "$page"
expect "or with cells that are none" fails_with 'none.json: "taken_for" has no pairs'
echo 'x' >"$work/none.json"
troupe report "$work/one" --classes "$work/none.json" --out "$page"
expect "or that is none" fails_with 'none.json: not what troupe infer'
expect "a failure leaves the page that was there" cmp -s "$page" "$work/kept"
troupe report "$work/one" --out "$work/nowhere/page.html"
expect "a folder that is not there is named" fails_with "$work/nowhere/.*page.html"
cp "$work/one/metrics.jsonl" "$work/kept"
troupe report "$work/one" --out "$work/one/metrics.jsonl"
expect "no other file is written over" fails_with "$work/one/metrics.jsonl: there is another file of that name"
expect "which stays as it was" cmp -s "$work/one/metrics.jsonl" "$work/kept"
mkfifo "$work/pipe"
troupe report "$work/one" --out "$work/pipe"
expect "nor a pipe" fails_with "$work/pipe: not a regular file"
cp -r "$work/one" "$work/piped"
rm "$work/piped/metrics.jsonl"
mkfifo "$work/piped/metrics.jsonl"
troupe report "$work/piped" --out "$page"
expect "nothing is read from a pipe" fails_with "metrics.jsonl: not a regular file"
troupe inspect "$work/piped"
expect "nor shown" fails_with "metrics.jsonl: not a regular file"
sed "s/^\\( *\"graph\": \"\\).*\"/\\1x\\\\u001b[31m\\\\u0007\\\\u0085y\"/" "$work/one/config.json" >"$work/early/config.json"
troupe inspect "$work/early"
expect "no control character reaches the terminal" \
    [ "$(LC_ALL=C tr -d '\n' <"$work/out" | LC_ALL=C tr -cd '\000-\037\177\200-\377' | wc -c)" = 0 ]
expect "a question mark stands for it" says 'x?\[31m??*y'
set -- --out "$page"
while [ $# -lt 35 ]; do set -- "$work/one" "$@"; done
troupe report "$@"
expect "the most runs of a page are said" refuses_with "troupe report takes 32 at most"
troupe report "$work/one"
expect "the page has to be named" refuses_with "out"
finish
