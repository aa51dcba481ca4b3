# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # options and lists are split into their words
# The launcher: what it starts, shows, starts again, stops and leaves behind. The processes are
# shell scripts and so are ssh and rsync, so that nothing but the launcher can fail here.
. "${srcdir:-.}/tests/cli/tap.sh"

# Every wait is bounded, by far more than it takes.
within() {
    tries=0
    while ! "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || return 1
        sleep 0.1
    done
}

"$TROUPE" generate sbm --nodes 200 --edges 1500 --features 4 --classes 3 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --trainers 2 --name toy --out "$work/g" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
mkdir -m 700 "$work/sockets" "$work/sockets-b" "$work/bin" "$work/pids" || exit 99
FAKE=$work
PROCESSES=4
export FAKE PROCESSES TROUPE

cat >"$work/bin/ssh" <<'EOF'
#!/bin/sh
for last; do :; done
echo "ssh $*" >>"$FAKE/log"
[ -z "$BLIND" ] || case $last in "exec test "*) exit 1 ;; esac
[ -z "$DEAF" ] || case $last in "exec test "*) echo $PPID >"$FAKE/asking"; exec sleep 1000 ;; esac
[ -z "$HOSTILE" ] || hostile "$last"
exec sh -c "$last"
EOF
# Runs the words after its options, here.
cat >"$work/bin/srun" <<'EOF'
#!/bin/sh
echo "srun $*" >>"$FAKE/log"
while :; do
    case $1 in
    --*) shift ;;
    *) exec "$@" ;;
    esac
done
EOF
# Another user of the host sees what is to run there, and is faster: every path in a folder that all may
# write is theirs, a folder that they can enter, or a pipe that they read.
cat >"$work/bin/hostile" <<'EOF'
#!/bin/sh
for path in $(echo "$1" | tr " '\"" '\n\n\n' | grep "^$HOSTILE/"); do
    folder=${path%/*}
    if [ "$folder" = "$HOSTILE" ]; then
        mkdir -p -m 777 "$path"
    elif mkdir -p -m 777 "$folder" && rm -f "$path" && mkfifo -m 666 "$path"; then
        timeout 5 cat "$path" >>"$FAKE/stolen" &
    fi
done >/dev/null 2>&1
EOF
cat >"$work/bin/rsync" <<'EOF'
#!/bin/sh
echo "rsync $*" >>"$FAKE/log"
[ -z "$NO_RSYNC" ]
EOF
# Says who it is, and waits for the end of its input; trainers do what the test asks, once all of
# the PROCESSES said who they are where they end well.
cat >"$work/bin/play" <<'EOF'
#!/bin/sh
[ "$1" = hold ] && exec "$TROUPE" "$@"
# At most a minute, also where one of them never is.
all_ready() {
    tries=$((tries + 1))
    [ "$(ls "$FAKE/pids" | wc -l)" -ge "$PROCESSES" ] || [ "$tries" -gt 600 ]
}
echo "$TROUPE_PROCESS $1 rank=$RANK/$WORLD_SIZE local=$LOCAL_RANK threads=$OMP_NUM_THREADS" \
    "incarnation=$TROUPE_INCARNATION $*" >>"$FAKE/log"
if [ "$TROUPE_SHARED_KEY" = - ]; then
    read -r key
    echo "key of ${#key} digits" >>"$FAKE/log"
    # Where others could find it: in files, on command lines and in environments.
    ! grep -rqF "$key" "$FAKE" || echo "key in a file" >>"$FAKE/log"
    for number in $$ $PPID; do
        ! tr '\0' '\n' <"/proc/$number/cmdline" | grep -qF "$key" || echo "key on a command line" >>"$FAKE/log"
        ! tr '\0' '\n' <"/proc/$number/environ" | grep -qF "$key" || echo "key in an environment" >>"$FAKE/log"
    done
elif [ -n "$TROUPE_SHARED_KEY" ]; then
    echo "key in a file" >>"$FAKE/log"
fi
echo $$ >"$FAKE/pids/$TROUPE_PROCESS"
[ "$1/$TRAINER" != train/usage ] || exit 2
echo "troupe: ready process $TROUPE_PROCESS"
case $1/$TRAINER in
train/well) until all_ready; do sleep 0.1; done; exit 0 ;;
train/fail) echo "it went wrong" >&2; exit 1 ;;
train/once) [ -e "$FAKE/failed" ] && exit 0; touch "$FAKE/failed"; kill -9 $$ ;;
train/lasting) exit 2 ;;
train/kernels) echo "troupe: kernels blas $TROUPE_PROCESS, loops one"; sleep 0.5; exit 0 ;;
train/alike) echo "troupe: kernels blas core, loops one"; sleep 0.5; exit 0 ;;
*) cat >/dev/null ;;
esac
EOF
chmod +x "$work"/bin/* || exit 99
PATH=$work/bin:$PATH

# cluster HOST FIELDS [MORE]: writes the cluster file
cluster() {
    printf '{"name": "job", "graph": "g/toy.json", "hosts": [%s], "restart": {"times": 2, "seconds": 600},
        "launcher": {"kind": "ssh", "program": "%s"}%s}' "$1" "$work/bin/play" "$2" >"$work/c.json"
}
one='{"name": "a", "unix": "sockets", "servers": 2, "samplers": 1, "trainers": 1, "processes": "role", "threads": 3}'
launch() {
    : >"$work/log"
    rm -f "$work/failed" "$work"/pids/*
    troupe launch "$work/c.json" "$@"
}
logged() { grep -qe "$1" "$work/log"; }
# shellcheck disable=SC2013 # a word is a line
gone() { for pid in $(cat "$work"/pids/*); do ! kill -0 "$pid" 2>/dev/null || return 1; done; }
all_started() { [ "$(cat "$work"/pids/* 2>/dev/null | wc -l)" -ge 4 ]; }

cluster "$one"
TRAINER=well launch -- --epochs 3 "it's"
expect "a job whose trainer ends well succeeds" exited 0
expect "processes are shown with who they are" says '^\[a/server 0\] troupe: ready process 0$'
expect "servers serve" logged "^1 serve .*--process=1"
expect "samplers sample" logged "^2 sample .*--process=2"
expect "trainers get the options and what torch.distributed expects" \
    logged "^3 train rank=0/1 local=0 threads=3 .*--process=3 --epochs 3 it's\$"
expect "the partitions are copied" logged "rsync .*$work/g/part0 $work/g/part1 a:/"
expect "with the deal" logged "rsync .* $work/g/deal~_N.npy "
expect "nothing is left" gone

TRAINER=well launch --json --no-copy
expect "--json gives one object a line" \
    says '^{"event":"line","process":3,"host":"a","role":"trainer","stream":"stdout","text":"troupe: ready process 3"}$'
expect "no line is anything else" sh -c "! grep -v '^{.*}\$' '$work/out'"
expect "--no-copy copies nothing" sh -c "! grep -q rsync '$work/log'"

TRAINER=fail launch
expect "a trainer that always fails ends the job" fails_with \
    "process 3 (trainer) ended with exit code 1; processes of this role were started again 2 times"
expect "after its budget" [ "$(grep -c '^3 train' "$work/log")" = 3 ]
expect "what it said is shown" complains '^\[a/trainer 3\] it went wrong$'
expect "nothing is left after a final failure" gone
incarnations=$(sed -n 's/^3 train.*incarnation=\([0-9]*\).*/\1/p' "$work/log")
expect "incarnations grow" [ "$(echo "$incarnations" | sort -nu)" = "$incarnations" ]

TRAINER=once launch
expect "a trainer that was killed is started again" exited 0
expect "and its end is told" complains 'ended by signal 9\|exit code 137'
TRAINER=usage launch
expect "wrong usage is not tried again" refuses_with "restarting cannot help"
TRAINER=lasting launch
expect "nor what ends for good after it was ready, which is no wrong usage" fails_with \
    "process 3 (trainer) ended with exit code 2 after it was ready: restarting cannot help, job stopped"
expect "it was started once" [ "$(grep -c '^3 train' "$work/log")" = 1 ]

# A Ctrl-C, a SIGTERM, and a launcher that is killed.
begin() {
    : >"$work/log"
    rm -f "$work"/pids/*
    TRAINER="wait" "$TROUPE" launch "$work/c.json" "$@" >"$work/out" 2>"$work/err" </dev/null &
    launcher=$!
    within all_started
}
begin
kill -TERM $launcher
wait $launcher
code=$?
expect "a signal stops the job" fails_with "stopped before the job was done"
expect "in order" sh -c "sed -n 's/\(asked to stop\)/\1/p' '$work/err' | head -n 1 | grep -q trainer"
expect "and leaves nothing" gone
begin
kill -KILL $launcher
wait $launcher 2>/dev/null
expect "of a launcher that was killed nothing is left" within gone

# A program that knows nothing of Troupe and what it started end with the launcher, too.
cat >"$work/bin/own" <<'EOF'
#!/bin/sh
sleep 1000 &
echo $! >"$FAKE/pids/own"
[ -z "$1" ] || echo "own $RANK $*" >>"$FAKE/log"
echo $$ >"$FAKE/pids/3"
wait
EOF
chmod +x "$work/bin/own"
own_started() { [ "$(cat "$work"/pids/* 2>/dev/null | wc -l)" = 5 ]; }
dead() { [ ! -e "/proc/$1/stat" ] || grep -q ') Z ' "/proc/$1/stat"; }
# shellcheck disable=SC2013 # a word is a line
own_gone() { for pid in $(cat "$work"/pids/*); do dead "$pid" || return 1; done; }
begin --exec own -- "two words"
expect "--exec starts a program of one's own" within own_started
expect "with its words" logged "^own 0 two words$"
kill -KILL $launcher
wait $launcher 2>/dev/null
expect "which is ended with what it started" within own_gone

# Words that begin without a dash are such a program too, quoted as they stand.
ln -s own "$work/bin/it's own"
launch --dry-run -- "it's own" --lr 1
expect "a program behind -- is started in the place of troupe train" \
    says "hold -- sh -c .*it.*s own.* sh --lr 1'\$"
expect "what Python prints is shown at once" says "PYTHONUNBUFFERED=1"
begin -- "it's own" "two words"
expect "and runs" within own_started
expect "with its words" logged "^own 0 two words$"
kill -TERM $launcher
wait $launcher
expect "until it is stopped" own_gone

# One that fails takes the others along, and all begin again together.
cat >"$work/bin/pair" <<'EOF'
#!/bin/sh
echo $$ >"$FAKE/pids/$TROUPE_PROCESS"
echo "pair $RANK restarted=$TROUPE_RESTARTED" >>"$FAKE/log"
[ "$TROUPE_RESTARTED" = 0 ] || exit 0
[ "$RANK" = 0 ] || until grep -q '^pair 0 restarted=0' "$FAKE/log"; do sleep 0.1; done
[ "$RANK" = 0 ] || exit 1
exec sleep 1000
EOF
chmod +x "$work/bin/pair"
cluster '{"name": "a", "unix": "sockets", "servers": 2, "samplers": 1, "trainers": 2, "processes": "role"}'
launch -- pair
expect "a trainer that waits for one that failed begins again with it" exited 0
expect "once" [ "$(grep -c '^pair . restarted=1' "$work/log")" = 2 ]

# What has to be there before anything starts.
NO_RSYNC=1 launch
expect "a failed copy is refused with the remedy" fails_with "host a: rsync .*--no-copy"
export NO_RSYNC=
two="$one, {\"name\": \"b\", \"unix\": \"sockets-b\"}"
cluster "$two" ', "checkpoints": {"folder": "checkpoints"}'
BLIND=1 TRAINER=well launch
expect "a host that does not see the checkpoints gets copies" complains \
    "host a does not see the checkpoints in .*copied to a second host"
expect "and the job succeeds" exited 0
TRAINER=well launch
expect "where all see them there is nothing to say" sh -c "! grep -q 'does not see' '$work/err'"
expect "and the job succeeds there" exited 0
expect "no token is left" empty_folder "$work/checkpoints"

cluster '{"name": "a", "address": "127.0.0.1", "port": 7000, "servers": 2, "samplers": 1, "trainers": 1, "processes": "role"}'
mkdir -m 1777 "$work/public"
HOSTILE=$work/public TMPDIR=$work/public TRAINER=well launch
expect "without keys a key is made for the job" exited 0
expect "that each process reads" [ "$(grep -c '^key of 64 digits$' "$work/log")" = 4 ]
expect "that others find nowhere" sh -c "! grep -E '^key (in|on) a' '$work/log'"
expect "nor get on its way" absent "$work/stolen"
expect "and of which nothing is left" empty_folder "$work/public"
cat >"$work/bin/keyed" <<'EOF'
#!/bin/sh
stat -L -c 'own key %a' "$TROUPE_SHARED_KEY" >>"$FAKE/log"
head -c 64 "$TROUPE_SHARED_KEY" >"$FAKE/own-key"
EOF
chmod +x "$work/bin/keyed"
TRAINER=well launch --exec keyed
expect "a program of one's own has a path of it" [ "$(wc -c <"$work/own-key")" = 64 ]
expect "that its user alone may open" logged "^own key 600$"
rm "$work/own-key"

# A key that the file names is copied where nobody else could exchange it, or a folder on its way.
mkdir -m 755 "$work/way" && mkdir -m 700 "$work/way/keys" "$work/linked" || exit 99
(umask 077 && printf '%064d\n' 7 >"$work/way/keys/job.key") || exit 99
keyed() {
    cluster '{"name": "a", "address": "127.0.0.1", "port": 7000, "servers": 2, "samplers": 1, "trainers": 1, "processes": "role"}' \
        ", \"tls\": {\"shared_key\": \"$1/job.key\"}"
    TRAINER=well launch
}
keyed way/keys
expect "a key is copied into a folder of one's own" exited 0
expect "with the rest" logged "rsync .*$work/way/keys/job.key"
for mode in 775 757; do
    chmod $mode "$work/way"
    keyed way/keys
    expect "not where others may exchange that folder: $mode" fails_with "host a: no key is copied to .*/way/keys, because"
    expect "then nothing is copied" sh -c "! grep -q '^rsync' '$work/log'"
    ln -sfn ../way/keys "$work/linked/keys"
    keyed linked/keys
    expect "nor by way of a link: $mode" fails_with "host a: no key is copied to .*/linked/keys, because"
done
chmod 1777 "$work/way"
keyed way/keys
expect "in a sticky folder others may not" exited 0
chmod 755 "$work/way"
chmod 770 "$work/way/keys"
keyed way/keys
expect "not where others may write" fails_with "host a: no key is copied to .*/way/keys, because"
rm -r "$work/way" "$work/linked"
cluster '{"name": "a", "address": "127.0.0.1", "port": 7000, "servers": 2, "samplers": 1, "trainers": 1, "processes": "role"}'

TRAINER=well launch --launcher srun
expect "Slurm's srun carries the key too" [ "$(grep -c '^key of 64 digits$' "$work/log")" = 4 ]
expect "to the hosts" logged "^srun .*--nodelist=a .*TROUPE_SHARED_KEY=- "
expect "and the job succeeds" exited 0

# What a process that is to read its key may get instead.
keyless() { run env TROUPE_SHARED_KEY=- sh -c "$1 | \"$TROUPE\" serve --cluster '$work/c.json' --process 0"; }
keyless :
expect "a key that does not come is an error" fails_with "input ended before the line of the job's key"
keyless "printf '%064d' 7"
expect "so is one without its end" fails_with "input ended before the line of the job's key"
keyless "printf '%03000d\\n' 7"
expect "and one that is too long" fails_with "longer than a key"
keyless "echo short"
expect "and a line that is no key" fails_with "is not a key in hexadecimal"

# A launcher that is killed while it asks a host leaves the file that it asked for; the next one removes
# those of the dead, and no others.
cluster "$two" ', "checkpoints": {"folder": "checkpoints"}'
tokens() { ls -A "$work/checkpoints" | grep -c '^.launch-'; }
ask() {
    DEAF=1 TRAINER=well "$TROUPE" launch "$work/c.json" >"$work/out.$1" 2>"$work/err.$1" </dev/null &
    asker=$!
    within grep -qsx $asker "$work/asking"
}
expect "a launcher asks" ask living
living=$asker
expect "and another one" ask dead
expect "each has its file" [ "$(tokens)" = 2 ]
kill -KILL $asker
wait $asker 2>/dev/null
touch "$work/checkpoints/.launch-notes"
echo "no token" >"$work/checkpoints/.launch-0123456789abcdef"
ln -s "$work/log" "$work/checkpoints/.launch-00000000000000aa"
TRAINER=well launch
expect "the next one succeeds" exited 0
expect "and removes that of the dead alone" [ "$(tokens)" = 4 ]
expect "not what somebody wrote" [ -s "$work/checkpoints/.launch-0123456789abcdef" ]
kill -TERM $living
wait $living 2>/dev/null
rm -rf "$work/checkpoints"
cluster '{"name": "a", "address": "127.0.0.1", "port": 7000, "servers": 2, "samplers": 1, "trainers": 1, "processes": "role"}'

troupe launch "$work/c.json" --dry-run -- --epochs 2
expect "--dry-run prints the commands" says '^\[a/trainer 3\] ssh .*--epochs 2'
# Each host counts its own trainers, as programs take processors and cards by LOCAL_RANK.
cluster '{"name": "a", "unix": "sockets", "trainers": 2, "processes": "role"},
    {"name": "b", "unix": "sockets-b", "trainers": 2, "processes": "role"}'
troupe launch "$work/c.json" --dry-run
expect "trainers are counted on each host and in all" [ "$(sed -n \
    's/^\[\(.\)\/trainer.* RANK=\([0-9]*\) WORLD_SIZE=4 LOCAL_RANK=\([0-9]*\) .*/\1\2\3/p' "$work/out" | tr '\n' ' ')" \
    = "a00 a11 b20 b31 " ]
cluster '{"name": "a", "unix": "sockets"}, {"name": "b", "unix": "sockets-b"}'
TRAINER=kernels launch
expect "hosts with other kernels: the job goes on" exited 0
expect "and it is said who has which" \
    complains "^\[./trainer .\] computes with the kernels 'blas [01], loops one', \[./trainer .\] with 'blas [01], loops one'"
expect "once" [ "$(grep -c 'computes with the kernels' "$work/err")" = 1 ]
TRAINER=alike launch
expect "hosts with equal kernels: nothing is said" sh -c "! grep -q 'computes with' '$work/err'"
cluster '{"name": "a", "unix": "sockets", "trainers": 2}'
launch --exec own
expect "--exec wants a process a trainer" refuses_with "process for each role"
rm "$work/c.json"
launch
expect "a cluster file that is not there is named" fails_with "c.json"
finish
