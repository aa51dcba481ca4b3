# SPDX-License-Identifier: Apache-2.0
# A job whose processes are started by MPI's launchers, Open MPI's and MPICH's: each finds its place by its
# rank, the model is that of one process, and a rank that is killed ends the others, which go on from a
# checkpoint. Then `troupe launch`, which reaches its hosts by mpirun. All have a network and processes of
# their own, which end with the test.
if [ -z "${MPI_TEST_INSIDE-}" ]; then
    MPI_TEST_INSIDE=yes
    export MPI_TEST_INSIDE
    exec unshare --net --pid --fork --mount-proc --kill-child /bin/sh "$0" "$@"
fi
. "${srcdir:-.}/tests/cli/tap.sh"
ip link set lo up || exit 99
# Open MPI asks twice of root.
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
# What is found below is what the launchers say, and nothing else.
unset TROUPE_PROCESS TROUPE_HOST RANK WORLD_SIZE PMI_RANK PMI_SIZE MPI_LOCALRANKID OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE
cd "$work" || exit 99

# cluster FILE LAUNCHER: four hosts, which are this machine
cluster() {
    cat >"$1" <<END
{"name": "toy", "graph": "parts/toy.json", "seed": 7,
 "hosts": [{"name": "a", "address": "127.0.0.1", "port": 7510}, {"name": "b", "address": "127.0.0.1", "port": 7520},
           {"name": "c", "address": "127.0.0.1", "port": 7530}, {"name": "d", "address": "127.0.0.1", "port": 7540}],
 $2"tls": {"ca": "keys/ca.pem", "certificate": "keys/%h.pem", "key": "keys/%h.key"},
 "checkpoints": {"folder": "checkpoints", "every": 40}}
END
}
# Long enough that a rank is killed between the first checkpoint and the end.
learning="--epochs 600 --hidden 32 --batch-size 64 --eval none"
cluster cluster.json
troupe generate sbm --nodes 2000 --edges 20000 --features 16 --classes 4 --signal 0.5 --out raw
troupe partition raw --parts 4 --trainers 4 --name toy --out parts
troupe cluster keys --cluster cluster.json --out keys
expect "there are a graph and keys" exited 0
# shellcheck disable=SC2086
troupe train parts/toy.json --trainers 4 --seed 7 $learning --run one
expect "one process trains" exited 0
same_model() { cmp one/model.safetensors "$1/model.safetensors"; }

cluster impatient.json '"limits": {"start": 20}, '
# Each rank says which process it is before it is one, so that a test can end it by its number. Rank
# $refusing is given an option that there is none of.
cat >rank <<'END'
#!/bin/sh
echo $$ >"$ranks/${OMPI_COMM_WORLD_RANK-$PMI_RANK}"
[ "${OMPI_COMM_WORLD_RANK-$PMI_RANK}" != "${refusing-}" ] || set -- "$@" --no-such-option
exec "$TROUPE" train --cluster "${cluster-cluster.json}" "$@"
END
chmod 755 rank
# start NUMBER RUN [OPTION...]: so many ranks, in the background; their launcher is $launcher
start() {
    ranks=$work/ranks.$2
    export ranks
    mkdir -p "$ranks"
    number=$1
    name=$2
    shift 2
    # shellcheck disable=SC2086
    $mpi -n "$number" ./rank --run "$name" $learning "$@" >"$work/out" 2>"$work/err" </dev/null &
    launcher=$!
}
ended() {
    wait "$launcher"
    code=$?
}
# within COMMAND...
within() {
    for tenth in $(seq 600); do
        "$@" && return 0
        sleep 0.1
    done
    echo "# not within a minute: $* ($tenth tries)"
    return 1
}
saved() { ls checkpoints 2>/dev/null | grep -q '^checkpoint-[0-9]*$'; }
began_later() { complains "^epoch 600:" && ! complains "^epoch 1:"; }
gone() { ! kill -0 "$1" 2>/dev/null; }
has_ranks() { [ "$(ls "$ranks" | wc -l)" = "$1" ]; }
all_gone() { for rank in "$ranks"/*; do gone "$(cat "$rank")" || return 1; done; }

# try NAME LAUNCHER... : what its launcher says of a killed rank is in $death, and its exit code in $deadly
try() {
    who=$1
    mpi=$2
    rm -rf checkpoints
    start 4 "$who"
    ended
    expect "$who: four ranks train" exited 0
    expect "$who: as four programs" has_ranks 4
    expect "$who: each is a process of its own" [ "$(cat "$work/out" "$work/err" | grep -o 'ready process [0-3]' | sort -u | wc -l)" = 4 ]
    expect "$who: the model is that of one process" same_model "$who"
    expect "$who: nothing is left" within all_gone

    start 3 "$who-three"
    ended
    expect "$who: a number of ranks that is not that of the trainers is refused" [ "$code" != 0 ]
    expect "$who: as both numbers say" complains "_SIZE=3 in the environment does not fit cluster.json, which has 4 trainers"
    expect "$who: and nothing is left" within all_gone

    rm -rf checkpoints
    refusing=2
    cluster=impatient.json
    export refusing cluster
    start 4 "$who-refused"
    unset refusing cluster
    ended
    expect "$who: where a rank refuses its options the job ends" [ "$code" != 0 ]
    expect "$who: and nothing is left" within all_gone
    waited=$(cat "$work/out" "$work/err" | grep -c 'process 2 (c, tcp:127.0.0.1:7530) never answered in 20 seconds')
    expect "$who: which the rank has said" complains "no-such-option"

    rm -rf checkpoints
    start 4 "$who-killed"
    expect "$who: there is a checkpoint" within saved
    kill -KILL "$(cat "$ranks/2")"
    ended
    expect "$who: a rank that is killed ends the others" within all_gone
    expect "$who: the launcher ends as it does for a killed program" exited "$deadly"
    expect "$who: and says so" sh -c "cat '$work/out' '$work/err' | grep -q '$death'"
    start 4 "$who-killed" --resume
    ended
    expect "$who: the ranks go on" exited 0
    expect "$who: not from the beginning" began_later
    expect "$who: to the model of one process" same_model "$who-killed"
}

if command -v mpirun.openmpi >/dev/null; then
    death='process rank 2 .* exited on signal 9'
    deadly=137
    try openmpi "mpirun.openmpi --oversubscribe"
else
    skip openmpi "mpirun.openmpi is not here"
fi
if command -v mpiexec.mpich >/dev/null; then
    death='KILLED BY SIGNAL: 9\|Killed (signal 9)\|EXIT CODE: 9'
    deadly=9
    try mpich "mpiexec.mpich"
    # Open MPI's ends the others at once; here they wait. Their lines may come in pieces.
    expect "mpich: the others have said whom they waited for" [ "$waited" -ge 1 ]
    # In a batch script of Slurm's, whose numbers are those of the script, not of the ranks.
    SLURM_PROCID=0
    SLURM_STEP_NUM_TASKS=4
    export SLURM_PROCID SLURM_STEP_NUM_TASKS
    rm -rf checkpoints
    start 4 mpich-slurm
    ended
    expect "mpich: ranks in a job of Slurm train" exited 0
    expect "mpich: to the same model" same_model mpich-slurm
    unset SLURM_PROCID SLURM_STEP_NUM_TASKS
else
    skip mpich "mpiexec.mpich is not here"
fi

if command -v mpirun.openmpi >/dev/null; then
    cluster launched.json '"launcher": {"command": ["mpirun.openmpi", "-n", "1", "--host", "{address}"], "program": "'"$TROUPE"'"},
 '
    rm -rf checkpoints
    # shellcheck disable=SC2086
    troupe launch launched.json --run launched -- $learning
    expect "launch reaches its hosts by mpirun" exited 0
    expect "each process is ready" [ "$(grep -c 'ready process' "$work/out")" = 4 ]
    expect "with the model of one process" same_model launched
fi
finish
