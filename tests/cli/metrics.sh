# SPDX-License-Identifier: Apache-2.0
# What is seen of a launched job: its metrics, at a port of each process; its status, by a key that
# nobody has to pass on; and nothing, once its launcher has gone, however it went.
epochs=1000000
. "${srcdir:-.}/tests/cli/job.sh"
unset TROUPE_SHARED_KEY
base=$((20000 + $$ % 20000))
mkdir "$work/tmp" "$work/runtime"
export TMPDIR="$work/tmp" XDG_RUNTIME_DIR="$work/runtime"

cluster '{"name": "a", "address": "127.0.0.1", "port": '$((base + 10))', "servers": 1, "samplers": 1, "trainers": 2,
    "processes": "role"}'
begin --metrics $base
expect "a job over TCP begins" within has_lines 2
expect "trainers serve their metrics at ports of their own" \
    within grep -q "\[a/trainer 3\] troupe: metrics tcp:127.0.0.1:$((base + 3))\$" "$work/out"
expect "which begin with process 0's" grep -q "\[a/trainer 2\] troupe: metrics tcp:127.0.0.1:$((base + 2))\$" "$work/out"
sees_all() {
    troupe status "$work/cluster.json" --json
    exited 0
}
expect "status finds the key of a job of this user by itself" within sees_all
echo q | timeout 60 "$TROUPE" top "$work/cluster.json" >"$work/top" 2>&1
expect "so does top" [ $? = 0 ]
mkfifo "$work/keys" || exit 99
"$TROUPE" top "$work/cluster.json" <"$work/keys" >"$work/out.top" 2>&1 &
top=$!
exec 9>"$work/keys"
sees_steps() { tail -n +$((${1:-0} + 1)) "$work/out.top" | grep -q 'epoch [1-9][0-9]* of'; }
expect "and one that goes on" within sees_steps
cp "$work/cluster.json" "$work/other.json"
troupe status "$work/other.json"
expect "another cluster file's job has none here" refuses_with 'no `troupe launch` of this user runs the job on this host'
kill -KILL $launcher
wait $launcher 2>/dev/null
expect "a launcher that is killed leaves no process" within all_gone
troupe status "$work/cluster.json"
expect "and no key" refuses_with 'no `troupe launch` of this user runs the job on this host'
begin
expect "the job is launched again" within has_lines 2
expect "which top sees, by the key that it has now" within sees_steps "$(wc -l <"$work/out.top")"
echo q >&9
exec 9>&-
wait "$top"
expect "until it is asked to end" [ $? = 0 ]
kill -TERM $launcher
wait $launcher 2>/dev/null
expect "the job ends" within all_gone

# The cluster file gives a port to each process; one that is taken ends nothing. The first job, of
# unix sockets, holds the ports of the second.
mkdir -m 700 "$work/apart"
cluster "$role_hosts" ", \"metrics\": {\"port\": $base}"
begin
expect "a job whose file has metrics begins" within has_lines 2
first=$launcher
mkdir "$work/second"
sed -e "s|\"unix\": \"sockets\"|\"unix\": \"$work/apart\"|; s|g/toy.json|$work/g/toy.json|; s|\"checkpoints\",|\"$work/second/checkpoints\",|" \
    "$work/cluster.json" >"$work/second/cluster.json"
"$TROUPE" launch "$work/second/cluster.json" --run "$work/second/run" -- --epochs 3 --hidden 16 --fanout 4,6 --quiet \
    >"$work/second/out" 2>"$work/second/err" </dev/null
expect "another job whose ports are taken trains to its end" [ $? = 0 ]
warned=$(cat "$work/second/err" "$work/second/out" |
    grep -c 'goes on without metrics: tcp:127.0.0.1:.* another process listens there')
expect "and each of its processes warns" [ "$warned" = 4 ]
kill -TERM "$first"
wait "$first" 2>/dev/null
expect "the first job ends" within all_gone

# Whoever reads what a launcher prints may end before it does. Where SIGPIPE is ignored a job goes on.
env --default-signal=PIPE "$TROUPE" launch "$work/cluster.json" --run "$work/run3" -- --epochs 1000000 --hidden 16 --fanout 4,6 2>&1 </dev/null |
    head -n 2 >"$work/two"
left() { grep -l "$work/cluste[r].json" /proc/[0-9]*/cmdline 2>/dev/null | grep -q .; }
none_left() { ! left; }
expect "a reader that ends ends the job" within none_left
expect "and no folder is left" empty_folder "$work/tmp"
expect "nowhere" empty_folder "$work/runtime"
finish
