# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2086 # options and lists are split into their words
# Processes of one job that were not given the same: who differs is refused with a sentence that
# says in what, and nobody waits for ever.
. "${srcdir:-.}/tests/cli/tap.sh"

# Two, where neither the kernel nor another test looks for one.
port=$((30000 + $$ % 1200 * 2))

generate() {
    "$TROUPE" generate sbm --nodes 300 --edges 3000 --features 4 --classes 3 --signal 0.5 --seed "$2" \
        --out "$work/raw-$1" --quiet >"$work/out" 2>"$work/err" || exit 99
    "$TROUPE" partition "$work/raw-$1" --parts 2 --method random --seed "$2" --name toy \
        --out "$work/$1" --quiet >"$work/out" 2>"$work/err" || exit 99
}
generate g 1
generate other 2
mkdir -m 700 "$work/s" || exit 99
# cluster FILE SERVERS
cluster() {
    cat >"$work/$1" <<E2
{"name": "job", "graph": "g/toy.json", "checkpoints": {"folder": "checkpoints", "every": 2},
 "hosts": [{"name": "a", "unix": "s", "servers": $2, "samplers": 1, "trainers": 2,
            "processes": "role"}]}
E2
}
cluster c.json 1
cluster two.json 2

# begin PROCESS COMMAND OPTIONS...: in the background, its output in $work/PROCESS
begin() {
    process=$1
    shift
    timeout 100 "$TROUPE" "$@" --process "$process" >"$work/$process" 2>&1 </dev/null &
    eval "pid_$process=\$!"
}
# ended PROCESS: waits for it, and keeps its exit code and what it said
ended() {
    eval "wait \$pid_$1"
    code=$?
    cp "$work/$1" "$work/err"
}
stop() { eval "kill \$pid_$1 2>/dev/null; wait \$pid_$1"; }
train="train --cluster $work/c.json --epochs 2 --hidden 8 --quiet"

# Trainers that take steps of another size.
begin 0 serve --cluster "$work/c.json"
begin 1 sample --cluster "$work/c.json"
begin 2 $train --batch-size 32 --run "$work/run"
begin 3 $train --batch-size 48 --run "$work/unused"
ended 3
expect "a trainer with another batch size is refused" refuses_with "trainer 1 has other options"
ended 2
expect "the other one says the same" refuses_with "trainer 1 has other options"
stop 1
stop 0

# A server of another graph, and one of another cluster file.
begin 0 serve --cluster "$work/c.json"
begin 1 sample "$work/other/toy.json" --cluster "$work/c.json"
ended 1
expect "a sampler of another graph is refused" refuses_with "process 1 has another graph"
begin 2 sample --cluster "$work/two.json"
ended 2
expect "a process of another cluster file is refused" refuses_with "process 2 has another plan"
stop 0

# A run that is there: another start would not make it go away, and must not go on with it.
run timeout 100 "$TROUPE" launch "$work/c.json" --run "$work/taken" -- --epochs 2 --hidden 8 --quiet
expect "a job trains" exited 0
cp "$work/taken/metrics.jsonl" "$work/before"
run timeout 100 "$TROUPE" launch "$work/c.json" --run "$work/taken" -- --epochs 3 --hidden 8 --quiet
expect "its run is not overwritten" refuses_with "taken holds a run already; give --replace\|has checkpoints already"
expect "and nobody is started again" [ "$(grep -c 'started, process number' "$work/err")" = 4 ]
expect "it is as it was" cmp -s "$work/before" "$work/taken/metrics.jsonl"
touch "$work/checkpoints/mine"
run timeout 100 "$TROUPE" launch "$work/c.json" --run "$work/taken" -- --epochs 3 --hidden 8 --quiet --replace
expect "--replace trains anew" exited 0
expect "and removes nothing but checkpoints" [ -e "$work/checkpoints/mine" ]

# What a process is started with cannot be had: the job ends at once, and no process is started again.
# hopeless NAME FIELDS ADDRESS TEXT
hopeless() {
    cat >"$work/$1.json" <<E2
{"name": "$1", "graph": "g/toy.json", $2,
 "hosts": [{"name": "a", "address": "127.0.0.1", "port": $port, "trainers": 0},
           {"name": "b", "address": "$3", "port": $((port + 1)), "trainers": 1}]}
E2
    run timeout 100 "$TROUPE" launch "$work/$1.json" --launcher local --run "$work/$1" -- --epochs 2 --hidden 8 --quiet
    expect "a job with $1 fails as wrong usage does" refuses_with "$4"
    expect "saying that restarts cannot help" complains "exit code 2: bad option or cluster file"
    expect "by the process that says so" [ "$(grep -c "ended with exit code 2: bad option" "$work/err")" = 1 ]
    expect "and starts each process once" [ "$(grep -c 'started, process number' "$work/err")" -le 2 ]
}
hopeless address '"insecure_network": true' 192.0.2.1 "192.0.2.1:.*this machine does not have that address"
hopeless key '"tls": {"shared_key": "no-key"}' 127.0.0.1 "no-key: .*\"tls\" of .* \`troupe cluster keys\` makes"
hopeless name '"insecure_network": true' no-such-host.invalid "no-such-host.invalid has no address"

# A port at which the first process of another job listens: its past life could hold it for 30 s.
cat >"$work/holder.json" <<E2
{"name": "holder", "graph": "g/toy.json", "insecure_network": true,
 "hosts": [{"name": "a", "address": "127.0.0.1", "port": $((port + 1)), "trainers": 0},
           {"name": "b", "address": "127.0.0.1", "port": $((port + 2400)), "trainers": 0}]}
E2
begin 0 sample --cluster "$work/holder.json"
tries=0
until [ -n "$(ss -ltnH "sport = :$((port + 1))" 2>/dev/null)" ] || grep -q waiting "$work/0" || [ $tries -ge 400 ]; do
    tries=$((tries + 1))
    sleep 0.05
done
hopeless port '"insecure_network": true' 127.0.0.1 "127.0.0.1:$((port + 1)): another process listens there"
stop 0

# A port that a program holds which is none of ours: it is no past life, and is not waited for.
cat >"$work/listener.c" <<'E2'
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(argv[argc - 1])),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 1) != 0)
        return 1;
    execlp("sleep", "sleep", "600", (char *)NULL);
    return 1;
}
E2
${CC:-cc} -o "$work/listener" "$work/listener.c" || exit 99
"$work/listener" $((port + 1)) &
stranger=$!
until grep -q sleep "/proc/$stranger/comm" 2>/dev/null || ! kill -0 "$stranger" 2>/dev/null; do
    sleep 0.05
done
hopeless stranger '"insecure_network": true' 127.0.0.1 \
    "127.0.0.1:$((port + 1)): another process listens there; stop it or choose another port; it is process $stranger (sleep)"
expect "and without a wait for it" sh -c "! grep -q 'tried again for' '$work/err'"
kill "$stranger"
wait "$stranger" 2>/dev/null

# Two ends with different keys: each says so.
cat >"$work/tcp.json" <<E2
{"name": "tcp", "graph": "g/toy.json", "tls": {"shared_key": "key"},
 "hosts": [{"name": "a", "address": "127.0.0.1", "port": $port, "trainers": 0},
           {"name": "b", "address": "127.0.0.1", "port": $((port + 1)), "trainers": 0}]}
E2
sed 's/"key"/"other-key"/' "$work/tcp.json" >"$work/other.json"
umask 077
echo 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f >"$work/key"
echo 101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f >"$work/other-key"
begin 0 sample --cluster "$work/tcp.json"
begin 1 sample --cluster "$work/other.json"
began=$(date +%s)
tries=0
until grep -q "refused a connection" "$work/0" && grep -q "TLS handshake failed" "$work/1"; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || break
    sleep 0.05
done
expect "who listens says that it refused a wrong key" \
    grep -q "refused a connection from an unknown peer: TLS handshake failed: " "$work/0"
expect "who connects says that its key was refused" \
    grep -q "process 0\( (a, .*)\)\{0,1\}: no connection.*: TLS handshake failed: the peer's shared key" "$work/1"
# Each second another attempt is refused; the lines are one, and then one a minute.
sleep 4
lines=$(grep -c "refused a connection" "$work/0")
minutes=$((($(date +%s) - began) / 60))
expect "not each time that it is tried" [ "$lines" -le $((1 + minutes)) ]
run "$TROUPE" status "$work/other.json"
expect "status says why it has no answer" \
    fails_with "1 of 2 processes do not answer; process 0 (a): .*TLS handshake failed"
stop 0
stop 1

# Certificates of two authorities.
for keys in keys other-keys; do
    "$TROUPE" cluster keys --out "$work/$keys" --cluster "$work/tcp.json" \
        >"$work/out" 2>"$work/err" </dev/null || cat "$work/err"
done
sed 's|"shared_key": "key"|"ca": "keys/ca.pem", "certificate": "keys/%h.pem", "key": "keys/%h.key"|' \
    "$work/tcp.json" >"$work/ca.json"
sed 's|"keys/|"other-keys/|g' "$work/ca.json" >"$work/other-ca.json"
begin 0 sample --cluster "$work/ca.json"
begin 1 sample --cluster "$work/other-ca.json"
began=$(date +%s)
tries=0
until grep -q "refused a connection" "$work/0" && grep -q "TLS handshake failed" "$work/1"; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || break
    sleep 0.05
done
expect "certificates of another authority are refused" grep -q "refused a connection from .*TLS handshake failed" "$work/0"
expect "with who issued them" grep -q "TLS handshake failed: .*is issued by another CA than ours" "$work/1"
sleep 4
lines=$(grep -c "refused a connection" "$work/0")
minutes=$((($(date +%s) - began) / 60))
expect "in one line, and then one a minute" [ "$lines" -le $((1 + minutes)) ]
run "$TROUPE" status "$work/other-ca.json"
expect "status says why it has no answer of them" \
    fails_with "1 of 2 processes do not answer; process 0 (a): .*TLS handshake failed"
stop 0
stop 1
finish
