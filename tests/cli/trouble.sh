# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # options and lists are split into their words
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
    expect "a second one ends the job" fails_with "stopped before the job was done\|stopped by signal; continue with --resume"
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

# Disks that take nothing for a while, real ones: training goes on without the checkpoints that they did not
# take, waits where it cannot go on, and ends like a run that was not disturbed.
page=$(getconf PAGESIZE)
# small_disk FOLDER PAGES
small_disk() { mkdir -p "$1" && mount -t tmpfs -o size=$(($2 * page)) none "$1" 2>/dev/null; }
fill() { cat /dev/zero >"$1/ballast" 2>/dev/null; }
empty() { rm -f "$1/ballast"; }
# The system refuses it while a file is open to be written.
lock() { within mount -o remount,ro "$1" 2>/dev/null; }
unlock() { mount -o remount,rw "$1"; }
is_warned() { grep -q "$1" "$work/err"; }
warnings() { [ "$(grep -c 'goes on without\|is tried again' "$work/err")" -le "$1" ]; }
all_whole() {
    "$TROUPE" verify "$work/kept" --quiet >"$work/out.verify" 2>"$work/err.verify" &&
        grep -q '^checkpoints  *[1-9]' "$work/out.verify"
}
if small_disk "$work/kept" 24; then
    cluster "$role_hosts"
    sed -i 's/"folder": "checkpoints", "every": 10/"folder": "kept", "every": 2/' "$work/cluster.json"
    epochs=250
    learning="--epochs $epochs --hidden 16 --fanout 4,6 --batch-size 32 --quiet"
    undisturbed many
    is_left_out="troupe train: $work/kept/.*training goes on without this checkpoint"
    is_noticed() { is_warned "$is_left_out" || is_gone "$launcher"; }
    # disturbed WHAT SECONDS TAKE GIVE: the disk takes nothing for that long, and until it is noticed. Where this script
    # was so late that the job was over, another job is tried.
    disturbed() {
        for attempt in 1 2 3 4 5; do
            begin
            within has_lines 5
            $3 "$work/kept"
            sleep "$2"
            within is_noticed # a slow job may not have come to a checkpoint yet
            $4 "$work/kept"
            finish_job
            ! is_warned "$is_left_out" || break
            echo "# attempt $attempt: the disk was full too late"
            rm -rf "$work"/kept/*
        done
        expect "$1 for $2 s does not end a job" exited 0
        expect "which nobody would notice" same_run many
        expect "but for a warning, at most once a minute" warnings 1
        expect "that names the file" is_warned "$is_left_out"
        expect "no process was started again" sh -c "! grep -q 'started again' '$work/err'"
        expect "what is there is whole" all_whole
        rm -rf "$work"/kept/*
    }
    disturbed "a full disk of checkpoints" 2 fill empty
    disturbed "one that is read-only" 2 lock unlock
    disturbed "a full disk of checkpoints" 20 fill empty
    # The coordinator's host has no room while a trainer dies: it comes back when there is some.
    begin
    within has_lines 5
    fill "$work/kept"
    within pid_of 3 && kill -KILL "$pid"
    sleep 3
    empty "$work/kept"
    finish_job
    expect "a trainer that dies while the disk is full comes back" exited 0
    expect "to the end of an undisturbed run" same_run many
    rm -rf "$work"/kept/*
    umount "$work/kept"

    # The folder of the run: the best model, the lines of metrics, the final model.
    small_disk "$work/runs" 400 || exit 99
    # start_run SECONDS OPTION...
    start_run() {
        rm -rf "$work/runs/run" "$work/err"
        "$TROUPE" train "$work/g/toy.json" --run "$work/runs/run" --seed 3 --disk-wait "$1" $learning \
            >"$work/out" 2>"$work/err" </dev/null &
        child=$!
    }
    is_begun() { [ "$(cat "$work/runs/run/metrics.jsonl" 2>/dev/null | wc -l)" -ge 2 ]; }
    # What the disk is to do to a run that has begun is done while the run stands still.
    meanwhile() {
        until is_begun || ! kill -0 "$child" 2>/dev/null; do :; done
        kill -STOP "$child"
        "$@"
        kill -CONT "$child"
    }
    end_run() {
        wait "$child"
        code=$?
    }
    like_many() {
        losses "$work/many" >"$work/expected"
        losses "$work/runs/run" >"$work/seen"
        cmp -s "$work/expected" "$work/seen" &&
            cmp -s "$work/many/model.safetensors" "$work/runs/run/model.safetensors"
    }
    # waited WHAT SECONDS TAKE GIVE: from the middle of the run to some time after its end
    waited() {
        start_run 600
        meanwhile $3 "$work/runs"
        within is_warned "it is tried again for 600 s"
        sleep "$2"
        expect "$1 is waited for at the end" kill -0 $child
        $4 "$work/runs"
        end_run
        expect "and after $2 s there is the whole run" exited 0
        expect "with all its lines and its model" like_many
        expect "and few warnings" warnings 2
    }
    waited "a full disk of the run" 2 fill empty
    waited "a full disk of the run" 20 fill empty
    start_run 3
    meanwhile fill "$work/runs"
    end_run
    expect "a disk that stays full ends the run after --disk-wait" fails_with \
        "$work/runs/run/.*No space left.*tried again for 3 s (--disk-wait): .* lost"
    expect "the best model so far is there" test -s "$work/runs/run/model.safetensors"
    empty "$work/runs"

    # The same in a job of several processes: it ends, and is not started again to wait again.
    cluster "$role_hosts" ', "limits": {"disk_wait": 3}'
    rm -rf "$work/run" && ln -s "$work/runs/run" "$work/run"
    rm -rf "$work/runs/run" "$work/checkpoints" "$work/err"
    "$TROUPE" launch "$work/cluster.json" --run "$work/runs/run" -- $learning >"$work/out" \
        2>"$work/err" </dev/null &
    launcher=$!
    within is_begun
    fill "$work/runs"
    finish_job
    expect "nor does a job wait for ever" fails_with "tried again for 3 s (--disk-wait): .* lost"
    expect "its trainer is not started again" sh -c "! grep -q 'started again' '$work/err'"
    expect "nothing of it is left" all_gone
    empty "$work/runs"
    rm "$work/run"
    umount "$work/runs"
else
    skip "disks that take nothing for a while" "this user may not mount small ones"
fi
finish
