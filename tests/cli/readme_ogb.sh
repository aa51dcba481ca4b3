# SPDX-License-Identifier: Apache-2.0
# The commands in README.md that lead from a folder of the Open Graph Benchmark to predictions, as
# they stand there, on a small folder with the files that it lists.
. "${srcdir:-.}/tests/cli/tap.sh"

# section WORD: the indented lines with WORD of the section on such folders.
section() {
    awk '/^## / { on = 0 } /^## A folder of the Open Graph Benchmark$/ { on = 1 } on' "${srcdir:-.}/README.md" |
        sed -n "s|^    \($1.*\)|\1|p"
}
section troupe >"$work/commands"
section dataset/ >"$work/files"
expect "README.md has five commands or fewer" awk 'END { exit !(NR >= 3 && NR <= 5) }' "$work/commands"
expect "and nine files" [ "$(wc -l <"$work/files")" -eq 9 ]

# Papers of four fields, told apart by their features and by which they cite: each an edge, once.
contents() {
    case $1 in
    */edge.csv.gz) seq 0 1199 | awk '{ print $1 % 400 "," ($1 * 5 + 4 * int($1 / 400)) % 400 }' ;;
    */node-feat.csv.gz) seq 0 399 | awk '{ f = $1 % 4; print (f == 0) + $1 / 1000 "," (f == 1) "," f / 4 ",-0.5" }' ;;
    */node-label.csv.gz) seq 0 399 | awk '{ print $1 % 4 }' ;;
    */node_year.csv.gz) seq 0 399 | awk '{ print 1990 + int($1 / 20) }' ;;
    */num-edge-list.csv.gz) echo 1200 ;;
    */num-node-list.csv.gz) echo 400 ;;
    */train.csv.gz) seq 0 239 ;;
    */valid.csv.gz) seq 240 319 ;;
    */test.csv.gz) seq 320 399 ;;
    esac
}
while read -r file; do
    mkdir -p "$work/$(dirname "$file")"
    contents "$file" | gzip >"$work/$file"
done <"$work/files"
mkdir "$work/path"
# The command as it is installed, and nothing else of the build.
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(cd "$(dirname "$TROUPE")" && pwd)/$(basename "$TROUPE")" >"$work/path/troupe"
chmod +x "$work/path/troupe"
run sh -ec 'cd "$1" && PATH=$1/path:$PATH && . ./commands' sh "$work"
expect "they run as they stand" exited 0
expect "with the masks of the split" says '^masks of the split  *time$'
expect "and end with a line for each node and a header" [ "$(wc -l <"$work/predictions-ogb.csv")" -eq 401 ]
sed 1d "$work/predictions-ogb.csv" | awk -F, '$2 == $1 % 4 { right++ } END { exit !(right >= 380) }'
expect "and the classes are right" [ $? -eq 0 ]
finish
