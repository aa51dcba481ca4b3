# SPDX-License-Identifier: Apache-2.0
# Progress goes to the standard error: a bar on a terminal, plain lines elsewhere, nothing with --quiet.
. "${srcdir:-.}/tests/cli/tap.sh"

escape=$(printf '\033')
return=$(printf '\r')
plain() { ! grep -q "[$escape$return]" "$work/err"; }
silent() { [ ! -s "$work/err" ]; }

"$TROUPE" generate sbm --nodes 20k --edges 400k --features 64 --classes 4 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --name toy --out "$work/parts" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
train="train $work/parts/toy.json --run $work/run --replace --hidden 128"

# A line of blocks for loss and score closes a training on a terminal, or where it is asked for.
# shellcheck disable=SC2086
{
    troupe $train --batch-size 2000 --epochs 3 --quiet
    expect "without a terminal there is no line of blocks" eval '! says "^loss "'
    LC_ALL=C troupe $train --batch-size 2000 --epochs 3 --quiet --sparkline
    expect "asked for there is one, of the loss" says '^loss  *[0-9.]* [-_.,=+*#]\{3\} [0-9.]*$'
    expect "and of the score" says '^score  *[0-9.]* [-_.,=+*#]\{3\} [0-9.]*$'
    LC_ALL=C.UTF-8 troupe $train --batch-size 2000 --epochs 2 --quiet --sparkline
    expect "in blocks where UTF-8 is shown" says '^loss .*\(▁\|█\)'
    troupe $train --batch-size 2000 --epochs 2 --quiet --sparkline --json
    expect "but never in JSON" eval '! says "_line"'
}

# shellcheck disable=SC2086 # words are meant to be split
{
    troupe $train --batch-size 512 --epochs 2 --json
    expect "plain: an epoch is a line with loss and validation" \
        complains '^epoch 2: loss [0-9.]*, validation accuracy [0-9.]*'
    expect "plain: nothing redraws a line" plain
    expect "plain: the report alone is on the standard output" [ "$(wc -l <"$work/out")" = 1 ]
    troupe $train --batch-size 512 --epochs 2 --quiet
    expect "quiet: nothing is said" silent
}

if script -qec true /dev/null >"$work/out" 2>"$work/err" </dev/null; then
    # So many batches that an epoch takes ten times as long as a bar waits before it is drawn.
    run script -qec "$TROUPE $train --batch-size 4 --epochs 2" /dev/null
    expect "terminal: training succeeds" exited 0
    expect "terminal: a bar an epoch, redrawn in place, with a rate" \
        says "${return}${escape}\[Kepoch 2 \[#*\.*\] *[0-9]*% .*batches/s"
    expect "terminal: the bar says how long is left" says 'epoch 1 \[.*, .* left'
    expect "terminal: and the epoch's line follows" says '^epoch 2: loss '
    expect "terminal: a line of blocks closes the training" says '^loss  *[0-9.]* [^ ]* [0-9.]*.$'
else
    skip "bars on a terminal" "script(1) is not here or gets no pseudo-terminal"
fi

# A dump while training: what each actor and mailbox holds.
rm -rf "$work/run"
# shellcheck disable=SC2086
"$TROUPE" $train --batch-size 512 --epochs 1000000 --quiet >"$work/out" 2>"$work/err" </dev/null &
child=$!
wait_for() {
    tries=0
    while ! "$@" && [ $tries -lt 600 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
}
begun() { [ -s "$work/run/metrics.jsonl" ]; }
dumped() { complains "dump: .*actor sampler" && complains "dump: .*actor server"; }
wait_for begun
kill -USR1 $child
wait_for dumped
expect "SIGUSR1 writes the samplers and servers to the standard error" dumped
expect "and training goes on" kill -0 $child
kill -TERM $child
wait $child
code=$?
expect "until it is told to end" exited 1
finish
