# SPDX-License-Identifier: Apache-2.0
# One result wherever the processes are: in one process, in four over unix sockets, on four hosts
# with TLS, and on four hosts with eight server processes. Hosts are network namespaces of our own.
. "${srcdir:-.}/tests/cli/tap.sh"

hosts="a b c d"
net=troupe$$ # what our namespaces' names begin with
started=

# All of a namespace's links go with it.
clean_up() {
    for child in $started; do
        kill -KILL "$child" 2>/dev/null
    done
    for host in $hosts switch; do
        ip netns del "$net-$host" 2>/dev/null
    done
    rm -rf "$work"
}
trap clean_up EXIT

# A bridge in a namespace of its own joins the hosts, 10.77.0.1 to .4: nothing outside can be reached.
make_network() {
    ip netns add "$net-switch" || return 1
    ip -n "$net-switch" link add hub type bridge && ip -n "$net-switch" link set hub up || return 1
    number=0
    for host in $hosts; do
        number=$((number + 1))
        ip netns add "$net-$host" &&
            ip -n "$net-$host" link set lo up &&
            ip link add wire netns "$net-$host" type veth peer name "port-$host" netns "$net-switch" &&
            ip -n "$net-switch" link set "port-$host" master hub up &&
            ip -n "$net-$host" addr add "10.77.0.$number/24" dev wire &&
            ip -n "$net-$host" link set wire up || return 1
    done
}

# cluster_file NAME SERVERS EXTRA: four hosts, each with so many server actors in processes of EXTRA's kind
cluster_file() {
    number=0
    printf '{"name": "%s", "graph": "%s/parts/toy.json", "seed": 3,\n "hosts": [' "$1" "$work"
    for host in $hosts; do
        number=$((number + 1))
        [ $number = 1 ] || printf ','
        printf '\n  {"name": "%s", "address": "10.77.0.%d", "port": 7000, "loops": 1,' "$host" $number
        printf ' "servers": %d, %s}' "$2" "$3"
    done
    printf '],\n "tls": {"ca": "keys/ca.pem", "certificate": "keys/%%h.pem", "key": "keys/%%h.key"}}\n'
}

learning="--seed 3 --epochs 2 --batch-size 64 --fanout 4,6 --hidden 16 --deal affinity --quiet"

# The losses of a run, without the times that differ from run to run.
losses() { sed 's/,"seconds".*//' "$1/metrics.jsonl"; }
same_result() {
    cmp -s "$work/one/model.safetensors" "$1/model.safetensors" &&
        [ "$(losses "$work/one")" = "$(losses "$1")" ]
}

# command_of FILE PROCESS: train, sample or serve
command_of() {
    roles=$("$TROUPE" cluster check "$1" --json | tr '{' '\n' | grep "^\"process\":$2," |
        sed 's/.*"roles":"\([^"]*\)".*/\1/')
    case $roles in
    *trainer*) echo train ;;
    *server*) echo serve ;;
    *sampler*) echo sample ;;
    esac
}

# on_hosts FILE RUN PROCESSES_A_HOST: starts every process in its host's namespace and waits for all.
on_hosts() {
    file=$1
    folder=$2
    process=0
    started=
    for host in $hosts; do
        i=0
        while [ $i -lt "$3" ]; do
            word=$(command_of "$file" $process)
            options=
            # shellcheck disable=SC2086 # words are meant to be split
            [ "$word" != train ] || options="--run $folder $learning"
            # shellcheck disable=SC2086
            ip netns exec "$net-$host" "$TROUPE" $word --cluster "$file" --process $process $options \
                >"$work/out.$process" 2>"$work/err.$process" </dev/null &
            started="$started $!"
            process=$((process + 1))
            i=$((i + 1))
        done
    done
    code=0
    for child in $started; do
        wait "$child" || code=$?
    done
    started=
    cat "$work"/out.* >"$work/out"
    cat "$work"/err.* >"$work/err"
    rm -f "$work"/out.* "$work"/err.*
}

"$TROUPE" generate sbm --nodes 4k --edges 40k --features 16 --classes 4 --seed 5 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 4 --method metis --trainers 4 --name toy --out "$work/parts" --quiet \
    >"$work/out" 2>"$work/err" || exit 99

# shellcheck disable=SC2086
troupe train "$work/parts/toy.json" --run "$work/one" --trainers 4 $learning
expect "four trainers in one process" exited 0

mkdir -m 700 "$work/sockets"
cat >"$work/unix.json" <<EOF
{"name": "near", "graph": "$work/parts/toy.json", "seed": 3,
 "hosts": [$(for host in $hosts; do
    printf '%s{"name": "%s", "unix": "sockets", "loops": 1}' "$([ "$host" = a ] || printf ,)" "$host"
done)]}
EOF
# shellcheck disable=SC2086
troupe launch "$work/unix.json" --run "$work/near" -- $learning
expect "four processes over unix sockets" exited 0
expect "give the same losses and model" same_result "$work/near"

if [ "$(id -u)" != 0 ] || ! make_network >"$work/out" 2>"$work/err"; then
    skip "four hosts" "no network namespaces can be made here: $(head -n 1 "$work/err" 2>/dev/null)"
    finish
    exit
fi
cluster_file far 1 '"processes": "one"' >"$work/far.json"
troupe cluster keys --cluster "$work/far.json" --out "$work/keys"
expect "the hosts have certificates" exited 0
on_hosts "$work/far.json" "$work/far" 1
expect "four hosts with TLS" exited 0
expect "give the same losses and model" same_result "$work/far"

cluster_file many 2 '"processes": "role"' >"$work/many.json"
on_hosts "$work/many.json" "$work/many" 4
expect "four hosts with eight server processes" exited 0
expect "give the same losses and model" same_result "$work/many"
finish
