# A person in a hurry, and disks that are full: what is asked is done at once, the file is named, what
# was committed stays whole, and no process is left.
epochs=3
. "${srcdir:-.}/tests/cli/job.sh"

# A second Ctrl-C does not wait for a process that stands still. Background commands of a shell ignore
# SIGINT, unless it is given back to them.
if env --default-signal=INT true 2>/dev/null; then
    cluster "$role_hosts"
    rm -rf "$work/run" "$work/checkpoints"
    env --default-signal=INT "$TROUPE" launch "$work/cluster.json" --run "$work/run" -- \
        --epochs 1000000 --hidden 16 --fanout 4,6 --batch-size 32 --quiet >"$work/out" 2>"$work/err" \
        </dev/null &
    launcher=$!
    within has_lines 2 && within pid_of 0
    kill -STOP "$pid"
    kill -INT $launcher
    expect "a Ctrl-C asks all to stop" within grep -q 'asked to stop' "$work/err"
    kill -INT $launcher
    finish_job
    expect "a second one ends the job" fails_with "stopped before the job was done"
    expect "and kills whoever does not end by itself" complains '^\[a/server 0\] killed$'
    expect "nothing is left" within all_gone
else
    skip "a second Ctrl-C" "env(1) cannot give SIGINT back"
fi

# A part that may not be written: files may grow to 4 KiB (dash) or 8 KiB (bash), parts are larger.
undisturbed one
expect "an undisturbed run" exited 0
wide="--epochs $epochs --hidden 700 --fanout 4,6 --batch-size 32 --eval none --quiet"
# shellcheck disable=SC2016 # expanded by the inner shell
limited() { run sh -c 'trap "" XFSZ; ulimit -f 8; exec "$TROUPE" "$@"' - "$@"; }
rm -rf "$work/run" "$work/checkpoints"
# shellcheck disable=SC2086
limited train "$work/g/toy.json" --run "$work/run" --seed 3 --checkpoint-every 2 $wide
expect "a part that cannot be written is named" fails_with 'checkpoints/2-1.tmp/part0.new: .*File too large'
expect "no checkpoint was made" sh -c "! ls '$work/run/checkpoints' | grep -q checkpoint-"
cluster "$role_hosts"
sed -i 's/"times": 20/"times": 1/' "$work/cluster.json"
rm -rf "$work/run"
# shellcheck disable=SC2086
limited launch "$work/cluster.json" --run "$work/run" -- $wide
expect "nor by a job: it ends when restarts do not help" \
    fails_with 'process 3 (trainer) ended with exit code 1; .* started again 1 times'
expect "and names the file" complains 'troupe train: .*/checkpoints/10-2.tmp/part0.new: .*File too large'
expect "nothing of it is left" all_gone

# A disk that is full for a while: the job ends, what was committed is whole, and a new start goes on.
# Two checkpoints of two pages each fit, and not a third.
page=$(getconf PAGESIZE)
if mkdir "$work/kept" && mount -t tmpfs -o size=$((24 * page)) none "$work/kept" 2>/dev/null; then
    sed -i 's/"folder": "checkpoints", "every": 10/"folder": "kept", "every": 2/' "$work/cluster.json"
    rm -rf "$work/run"
    head -c $((20 * page)) /dev/zero >"$work/kept/ballast"
    # shellcheck disable=SC2086
    troupe launch "$work/cluster.json" --run "$work/run" -- $learning
    expect "a full disk ends a job" fails_with "process 3 (trainer) ended with exit code 1"
    expect "with the file that did not fit" complains "$work/kept/.*No space left"
    troupe verify "$work/kept" --quiet
    expect "what was committed before is whole" says '^checkpoints  *[1-9]'
    rm "$work/kept/ballast"
    # shellcheck disable=SC2086
    troupe launch "$work/cluster.json" --run "$work/run" -- $learning --resume
    expect "with room it goes on" exited 0
    expect "to the end of an undisturbed run" same_run one
    umount "$work/kept"
else
    skip "a full disk" "this user may not mount a small one"
fi
finish
