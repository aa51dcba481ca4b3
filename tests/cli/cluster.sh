# SPDX-License-Identifier: Apache-2.0
# Cluster files: the plan is shown, what is wrong is named, and the examples of the manual are right.
. "${srcdir:-.}/tests/cli/tap.sh"
page=${srcdir:-.}/man/troupe-cluster.5

# The n-th JSON document of the page, as a person would copy it.
example() {
    awk -v n="$1" '/^\{$/ { i++ } /^\{$/, /^\}$/ { if (i == n) print }' "$page"
}
for n in 1 2 3; do
    example "$n" >"$work/$n.json"
    troupe cluster check "$work/$n.json" --parts 4
    expect "example $n of the manual is a cluster file" exited 0
done
troupe cluster check "$work/1.json" --parts 4
expect "a process of each role is shown" says '3  here .*trainer '
expect "with the partitions it serves" says '^  *1 .*2-3'
troupe cluster check "$work/2.json" --parts 2 --json
expect "replicas are counted" says '"replicas_least":2,"replicas_most":2'
expect "IPv6 is written in brackets" says '"endpoint":"tcp:\[fd00::3\]:7000"'
troupe cluster check "$work/3.json"
expect "a graph that is not there is named" fails_with "/scratch/parts/graph.json"

sed 's/"servers"/"server"/' "$work/1.json" >"$work/typo.json"
troupe cluster check "$work/typo.json" --parts 4
expect "a field that was mistyped is named by its path" fails_with 'hosts\[0\].server:.*"servers" is one'
echo '{' >"$work/broken.json"
troupe cluster check "$work/broken.json" --parts 4
expect "a broken document is named" fails_with "$work/broken.json"

printf '10.0.0.1 7000 2\nb\n' >"$work/ip_config.txt"
troupe cluster check "$work/ip_config.txt" --parts 4 --insecure-network
expect "ip_config.txt is a cluster file" says 'host1.*tcp:b:30050'
troupe cluster check "$work/ip_config.txt"
expect "which has no graph" fails_with "give --parts, the number"

troupe generate sbm --nodes 60 --edges 300 --features 4 --classes 3 --out "$work/raw" --quiet
troupe partition "$work/raw" --parts 3 --method random --trainers 2 --name graph --out "$work/parts" --quiet
expect "a graph is dealt to two trainers" exited 0
troupe verify "$work/parts/graph.json" "$work/raw" --quiet
expect "and verified" exited 0
troupe inspect "$work/parts/graph.json" --json
expect "and its deal is shown" says '"trainers":2'
troupe partition "$work/raw" --parts 3 --method metis --trainers 4 --train-mask val_mask --name graph \
    --out "$work/other" --quiet
expect "the nodes of another mask are dealt" exited 0
troupe verify "$work/other/graph.json" "$work/raw" --quiet
expect "and verified too" exited 0
troupe partition "$work/raw" --parts 3 --trainers 4 --train-mask nothing --out "$work/none" --quiet
expect "a mask that is not there is named" fails_with "nothing"
troupe cluster check "$work/1.json"
expect "partitions are those of the graph" exited 0

printf '{"name": "t", "graph": "parts/graph.json", "hosts": [{"name": "a", "address": "127.0.0.1", "port": 7510},
    {"name": "b", "address": "127.0.0.1", "port": 7530}]}\n' >"$work/keyless.json"
run env -u TROUPE_SHARED_KEY "$TROUPE" serve --cluster "$work/keyless.json" --process 0
expect "hosts that nothing lets in are told what lets them in" refuses_with \
    'keyless.json: the job uses TCP but no key is configured; set TROUPE_SHARED_KEY, add "tls" (.troupe cluster keys. makes the keys), or start it with .troupe launch.'
troupe serve --help
expect "help says what the number of a process is" says '--process N  *number of this process in the cluster file, from 0$'

sed 's/"name": "here"/"name": "not-this-host"/' "$work/1.json" >"$work/away.json"
for command in serve sample; do
    run env -u TROUPE_PROCESS -u TROUPE_HOST -u SLURM_PROCID -u RANK -u OMPI_COMM_WORLD_RANK -u PMI_RANK \
        "$TROUPE" $command --cluster "$work/away.json"
    expect "$command: a process that nobody names is wrong usage" refuses_with "cannot tell which"
    troupe $command --cluster "$work/1.json" --host nowhere
    expect "$command: so is a host that is not in the file" refuses_with '"nowhere"'
done
finish
