#!/bin/sh
# The example trains: its loss falls, and it names a file that is not there.
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
echo 1..3
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
