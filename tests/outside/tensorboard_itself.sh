# SPDX-License-Identifier: Apache-2.0
# TensorBoard itself reads what trainings write for it: the values of metrics.jsonl, also of a run that is
# read while it is trained, goes on and is replaced; and its server shows each run of a sweep. It is
# installed into an environment of its own (PIP_FIND_LINKS and the like of the caller say where from).
. "${srcdir:-.}/tests/cli/tap.sh"

run /usr/bin/python3 -m venv "$work/env"
expect "there is an environment" exited 0
# It asks setuptools for pkg_resources, which later ones have no more.
run "$work/env/bin/pip" install --quiet tensorboard 'setuptools<81'
expect "which has tensorboard" exited 0

"$TROUPE" generate sbm --nodes 600 --edges 6000 --features 8 --classes 2 --signal 0.5 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --out "$work/parts" --name g --quiet \
    >"$work/out" 2>"$work/err" || exit 99
train() {
    name=$1
    shift
    troupe train "$work/parts/g.json" --run "$work/$name" --tensorboard "$work/boards/$name" --hidden 8 \
        --batch-size 64 --threads 1 --loops 1 --quiet "$@"
}
reads() { run "$work/env/bin/python" "${srcdir:-.}/tests/outside/read_tensorboard.py" "$@"; }

train run --epochs 3 --checkpoint-every 2
expect "a run is trained" exited 0
reads "$work/boards/run" "$work/run"
expect "TensorBoard reads the values of its metrics" exited 0
train run --epochs 6 --checkpoint-every 2 --resume
reads "$work/boards/run" "$work/run" --ended-at 3
expect "and of a run that goes on" exited 0
train run --epochs 2 --replace
reads "$work/boards/run" "$work/run"
expect "and of the one that takes its place" exited 0
train links --epochs 2 --task link
reads "$work/boards/links" "$work/links"
expect "and of links" exited 0

# A process that is killed leaves a file without an end, and goes on in another.
trained() { if [ -f "$work/killed/metrics.jsonl" ]; then wc -l <"$work/killed/metrics.jsonl"; else echo 0; fi; }
# begin EPOCHS [OPTION...]: trains until there are as many.
begin() {
    until=$1
    shift
    "$TROUPE" train "$work/parts/g.json" --run "$work/killed" --tensorboard "$work/boards/killed" --hidden 8 --threads 1 \
        --loops 1 --quiet --epochs 1000000 --checkpoint-every 7 "$@" >"$work/out.killed" 2>"$work/err.killed" &
    child=$!
    while kill -0 $child 2>/dev/null && [ "$(trained)" -lt "$until" ]; do
        sleep 0.1
    done
}
begin 20
reads "$work/boards/killed" "$work/killed" --while-trained
expect "it reads a run that is trained" exited 0
kill -KILL $child
wait $child 2>/dev/null
for file in "$work/boards/killed"/*; do
    printf '\100\0\0\0\0' >>"$file"
done
begin $(($(trained) + 20)) --resume
kill -TERM $child
wait $child
reads "$work/boards/killed" "$work/killed"
expect "a run that was killed goes on, with each epoch once" exited 0
expect "in two files" [ "$(find "$work/boards/killed" -type f | wc -l)" = 2 ]

train many --epochs 2 --seeds 3-4 --sweep lr=0.01,0.1
reads "$work/boards" --serve many/lr=0.01/seed-3 many/lr=0.01/seed-4 many/lr=0.1/seed-3 many/lr=0.1/seed-4 run links
expect "its server has a run of each folder, and draws its losses" exited 0
finish
