# SPDX-License-Identifier: Apache-2.0
# What TensorBoard is given of a run is what metrics.jsonl has, however often the run is begun, gone on
# with and replaced, and whatever its disk takes.
. "${srcdir:-.}/tests/cli/tap.sh"
. "${srcdir:-.}/tests/cli/board_points.sh"

"$TROUPE" generate sbm --nodes 400 --edges 3000 --features 8 --classes 2 --signal 0.5 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --name toy --out "$work/parts" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
train() {
    run=$1
    shift
    troupe train "$work/parts/toy.json" --run "$work/$run" --hidden 8 --batch-size 64 --threads 1 --loops 1 --quiet "$@"
}

files() { [ "$(find "$work/$1" -name '*tfevents*' | wc -l)" = "$2" ]; }
has() { grep -q "^$1 " "$work/points"; }

train run --epochs 3 --checkpoint-every 2 --tensorboard "$work/board/run"
expect "a run is trained" exited 0
expect "its folder is what metrics.jsonl says" points "$work/board/run" "$work/run"
for tag in loss/train loss/validation accuracy/validation macro_f1/validation roc_auc/validation accuracy/test \
    epoch/learning_rate epoch/seeds_per_second; do
    expect "with $tag of the last epoch" has "3 $tag"
done
expect "in one file" files board/run 1
train plain --epochs 3 --checkpoint-every 2
expect "the model is that of a run without" cmp "$work/run/model.safetensors" "$work/plain/model.safetensors"

train run --epochs 3 --checkpoint-every 2 --tensorboard "$work/board/run" --resume
expect "a run that is complete adds no file" files board/run 1
train run --epochs 5 --checkpoint-every 2 --tensorboard "$work/board/run" --resume
expect "a run that goes on begins a file" files board/run 2
expect "whose steps go on" eval 'tests/cli/tensorboard_lines "$work/board/run" | grep -q "^5 loss/train "'
# The score of the test after epoch 3 stays: the run had ended there.
later() {
    tests/cli/tensorboard_lines "$work/board/run" | sed '/^3 [a-z0-9_]*\/test /d' >"$work/lines"
    [ "$(grep -c ' loss/train ' "$work/lines")" = 5 ] && grep -q '^5 accuracy/test ' "$work/lines"
}
expect "each epoch once" later
train run --epochs 2 --checkpoint-every 2 --tensorboard "$work/board/run" --replace
expect "a run in its place has no points of what it left" points "$work/board/run" "$work/run"
expect "which is removed" files board/run 1

train links --epochs 2 --task link --tensorboard "$work/board/links"
expect "links have their scores" points "$work/board/links" "$work/links"
expect "with MRR" has "2 mrr/validation"
train constant --epochs 2 --schedule cosine --eval none --tensorboard "$work/constant"
expect "without scores there are losses and rates, in the run's own folder" points "$work/constant" "$work/constant"

train many --epochs 2 --seeds 3-4 --sweep lr=0.01,0.1 --tensorboard "$work/board/many"
expect "several runs are trained" exited 0
for one in lr=0.01/seed-3 lr=0.01/seed-4 lr=0.1/seed-3 lr=0.1/seed-4; do
    expect "$one has a folder of its own" points "$work/board/many/$one" "$work/many/$one"
done

: >"$work/file"
train refused --epochs 2 --tensorboard "$work/file/board"
expect "a folder that cannot be is refused" \
    fails_with "$work/file/board.*no files for TensorBoard.*another folder as --tensorboard"
expect "before there is a run" absent "$work/refused"
cp -r "$work/plain" "$work/kept"
train plain --replace --tensorboard "$work/file/board"
expect "or another is replaced" diff -r "$work/plain" "$work/kept"
train plain --epochs 2 --tensorboard "$work/board/refused"
expect "a run that is refused leaves no folder" absent "$work/board/refused"

page=$(getconf PAGESIZE)
if mkdir "$work/small" && mount -t tmpfs -o size="$page" none "$work/small" 2>/dev/null; then
    trap 'umount "$work/small"; rm -rf "$work"' EXIT
    train full --epochs 60 --tensorboard "$work/small"
    expect "a full disk does not end the run" exited 0
    expect "which warns" complains "$work/small/.*No space left on device; training goes on"
    expect "once" [ "$(grep -c 'No space left' "$work/err")" = 1 ]
    expect "and is what it is without" [ "$(wc -l <"$work/full/metrics.jsonl")" = 61 ]
else
    skip "a full disk" "this user may not mount a small one"
fi
finish
