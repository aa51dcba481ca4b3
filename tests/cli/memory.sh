# SPDX-License-Identifier: Apache-2.0
# Little room for addresses: a command trains, or says what it lacks and ends. None goes on for ever, and
# all hear a signal.
. "${srcdir:-.}/tests/cli/tap.sh"

"$TROUPE" generate sbm --nodes 300 --edges 3000 --features 4 --classes 3 --signal 0.5 --out "$work/raw" \
    --quiet >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --name toy --out "$work/g" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
options="--epochs 3 --hidden 700 --fanout 4,6 --batch-size 32 --threads 2 --seed 3 --quiet"
if ! sh -c 'ulimit -v 1000000; exec "$TROUPE" --version' >"$work/out" 2>"$work/err"; then
    skip "little room for addresses" "this build needs more than 1 GB of them to begin with"
    finish
    exit
fi

# shellcheck disable=SC2086,SC2016 # words are meant to be split; expanded by the inner shell
within_limit() {
    run timeout -s KILL 60 sh -c 'ulimit -v '"$1"'; exec "$TROUPE" train "$@"' - \
        "$work/g/toy.json" --run "$work/run" --replace $options
}
# shellcheck disable=SC2086
troupe train "$work/g/toy.json" --run "$work/one" $options
expect "a run with all the room it wants" exited 0
trained() { exited 0 && cmp -s "$work/one/model.safetensors" "$work/run/model.safetensors"; }
refused() { exited 1 && complains '^troupe: \|^troupe train: '; }
either() { trained || refused; }
one_of_each=
for kilobytes in 150000 200000 250000 300000 400000 600000 800000 1000000; do
    within_limit $kilobytes
    expect "with $kilobytes kB it trains like that, or says what it lacks, in a minute" either
    one_of_each="$one_of_each $code"
done
expect "the largest was enough, the smallest was not" sh -c "case '$one_of_each' in ' 1 '*' 0') ;; *) exit 1;; esac"
within_limit 150000
expect "the limit and the remedy are named" complains 'BLAS found no memory.* 146 MiB of addresses.*ulimit -v'

# While it looks for memory in vain: a thread that does is there. A launched process, too, may be started
# again after that, so its exit code is not the one that says that a restart does not mend it.
looks() { grep -qsx tr-warm-up "/proc/$child/task/"*/comm || ! kill -0 "$child" 2>/dev/null; }
interrupt() {
    # shellcheck disable=SC2086,SC2016
    TROUPE_LAUNCHED=$1 sh -c 'ulimit -v 150000; exec "$TROUPE" train "$@"' - "$work/g/toy.json" \
        --run "$work/run" --replace $options >"$work/out" 2>"$work/err" </dev/null &
    child=$!
    until looks; do sleep 0.05; done
    before=$(date +%s)
    kill -TERM $child
    wait $child
    code=$?
}
for launched in 0 1; do
    # It would look for 10 s; a machine that stands still for some of them does not each time.
    for attempt in 1 2 3; do
        interrupt $launched
        took=$(($(date +%s) - before))
        [ "$took" -ge 6 ] || break
        echo "# attempt $attempt: it took $took s"
    done
    expect "SIGTERM ends it, launched: $launched" exited 1
    expect "at once" [ "$took" -lt 6 ]
    expect "since it was asked to" complains 'stopped by a signal\|stopped before training began'
done

# What does not compute needs no room for it.
run timeout -s KILL 60 sh -c 'ulimit -v 60000; exec "$TROUPE" verify "$0" --quiet' "$work/g/toy.json"
expect "a command that does not compute is not held up by the BLAS" [ "$code" != 137 ]
finish
