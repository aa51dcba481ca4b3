#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The examples train: losses fall, and a file that is not there is named; two trainers in a process
# and in two give the same.
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
echo 1..9
n=0
check() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

{
    "$TROUPE" generate sbm --nodes 2000 --edges 20000 --features 16 --classes 4 --seed 1 \
        --out "$dir/raw" &&
    "$TROUPE" partition "$dir/raw" --parts 4 --method metis --out "$dir/parts" --name g
} >"$dir/log" 2>&1
check $? "a graph is made"
[ "$n" -eq 1 ] && sed 's/^/# /' "$dir/log"

examples/train_loop "$dir/parts/g.json" >"$dir/out" && awk '
    /^epoch/ { if (first == "") first = $4; last = $4; epochs++ }
    END { exit !(epochs == 10 && last < 0.9 * first) }' "$dir/out"
check $? "the loss falls"
sed 's/^/# /' "$dir/out"

examples/train_loop "$dir/none.json" 2>"$dir/err"
[ $? -eq 1 ] && grep -q "none.json" "$dir/err"
check $? "a missing file is named"

# Two trainers: in one process, in two, and again from the last checkpoint.
book=$dir/parts/g.json
examples/group "$book" "$dir/kept-1" >"$dir/one" 2>"$dir/err" && awk '
    /^epoch/ { if (first == "") first = $4; last = $4; epochs++ }
    END { exit !(epochs == 6 && last < 0.9 * first) }' "$dir/one"
check $? "the loss of two trainers falls"
sed 's/^/# /' "$dir/one" "$dir/err"

mkdir -m 700 "$dir/a" "$dir/b"
cat >"$dir/c.json" <<END
{"name": "job", "graph": "parts/g.json", "hosts": [
  {"name": "a", "unix": "a", "servers": 2, "samplers": 1, "trainers": 1},
  {"name": "b", "unix": "b", "servers": 2, "samplers": 1, "trainers": 1}]}
END
timeout 100 examples/group "$book" "$dir/kept-2" "$dir/c.json" 1 >"$dir/out" 2>"$dir/err-1" &
timeout 100 examples/group "$book" "$dir/kept-2" "$dir/c.json" 0 >"$dir/two" 2>"$dir/err"
check $? "the first of two processes ends well"
wait $!
check $? "and so does the second"
cmp -s "$dir/one" "$dir/two"
check $? "both give what one process gives"
sed 's/^/# /' "$dir/err" "$dir/err-1"

rm -rf "$dir/kept-1/checkpoint-6"
examples/group "$book" "$dir/kept-1" >"$dir/again"
check $? "a job that was cut short goes on"
grep -v 'epoch [0-4]' "$dir/one" | cmp -s - "$dir/again"
check $? "to the same end"
