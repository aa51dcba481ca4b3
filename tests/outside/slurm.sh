# SPDX-License-Identifier: Apache-2.0
# The example for Slurm under a real one, of one node: the job is preempted by one of higher priority,
# goes back into the queue, and ends with the model of a job that nothing disturbed. Slurm has a
# network, a name and processes of its own, which end with the test.
if [ -z "${SLURM_TEST_INSIDE-}" ]; then
    SLURM_TEST_INSIDE=yes
    export SLURM_TEST_INSIDE
    exec unshare --net --uts --mount --pid --fork --mount-proc --kill-child /bin/sh "$0" "$@"
fi
. "${srcdir:-.}/tests/cli/tap.sh"

source=$(cd "${srcdir:-.}" && pwd)
node=node1
# An address beside the loopback's, without which Slurm takes no family of addresses for configured.
hostname $node && ip link set lo up && ip link add cable type veth peer name end &&
    ip addr add 10.78.1.1/24 dev cable && ip link set cable up && ip link set end up || exit 99
echo "127.0.0.1 localhost $node" >"$work/hosts"
mount --bind "$work/hosts" /etc/hosts || exit 99
# The program, with its libraries beside it where it has shared ones.
mkdir -m 755 "$work/bin" "$work/state" "$work/spool"
built=$(dirname "$TROUPE")/.libs
if [ -x "$built/troupe" ]; then
    cp "$built/troupe" "$work/bin" && cp -L "$built"/libtroupe.so.[0-9] "$built"/libtroupe-model.so.[0-9] "$work/bin"
else
    cp "$TROUPE" "$work/bin"
fi
cp "$TROUPE_METIS" "$work/bin"
PATH=$work/bin:/usr/sbin:$PATH
SLURM_CONF=$work/slurm.conf
# The same kernels of the BLAS in every process.
unset OPENBLAS_CORETYPE
export PATH SLURM_CONF

cat >"$SLURM_CONF" <<END
ClusterName=troupe
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=2
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmctldParameters=preempt_send_user_signal
JobRequeue=1
KillWait=30
NodeName=$node NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=low Nodes=$node Default=YES PriorityTier=1 PreemptMode=REQUEUE GraceTime=60 State=UP
PartitionName=high Nodes=$node PriorityTier=10 PreemptMode=OFF State=UP
END
dd if=/dev/urandom of="$work/munge.key" bs=128 count=1 2>/dev/null
chmod 400 "$work/munge.key"
chmod 755 "$work"
munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" \
    --log-file="$work/log.munged" --seed-file="$work/munge.seed" --num-threads=2 2>"$work/err.munged" &
# until SECONDS COMMAND...
until_true() {
    tries=$(($1 * 5))
    shift
    while [ "$tries" -gt 0 ]; do
        "$@" && return 0
        tries=$((tries - 1))
        sleep 0.2
    done
    return 1
}
until_true 30 test -S "$work/munge.socket"
slurmctld -D -L "$work/log.slurmctld" 2>"$work/err.slurmctld" &
slurmd -D -N $node -L "$work/log.slurmd" 2>"$work/err.slurmd" &
idle() { [ "$(sinfo --noheader --format=%T --partition=low 2>/dev/null)" = idle ]; }
expect "Slurm has a node" until_true 90 idle

cd "$work" || exit 99
troupe generate sbm --nodes 20k --edges 200k --features 32 --classes 4 --seed 1 --out raw
troupe partition raw --parts 1 --name g --out parts
expect "there is a graph" exited 0

# Enough epochs that a job is under way still when another comes, on an idle machine too.
# submit NAME [OPTION...]: the example, for one node; its number is in $job.
submit() {
    mkdir -p "$work/$1"
    job=$(cd "$work/$1" && shift && sbatch --parsable --nodes=1 --cpus-per-task=4 --output=out.job --open-mode=append "$@" \
        "$source/examples/deploy/slurm.sbatch" "$work/parts/g.json" --model sage --fanout 5,5 --hidden 16 --epochs 400 \
        --batch-size 256 --seed 5 --eval none)
}
state() { scontrol show job "$1" | sed -n 's/^ *JobState=\([A-Z_]*\).*/\1/p'; }
is() { [ "$(state "$1")" = "$2" ]; }
# A job that is stopped may be over for a moment, before it is in the queue again.
is_well() { until_true 300 is "$1" COMPLETED; }
over() { case $(state "$1") in COMPLETED | FAILED | CANCELLED | TIMEOUT | NODE_FAIL) ;; *) return 1 ;; esac; }
lines_with() { grep -sc "$2" "$work/$1/out.job"; }
is_under_way() { grep -sq "epoch 3:" "$work/$1/out.job"; }
show() { sed 's/^/# job: /' "$work/$1/out.job" | tail -n 40; }

submit calm --partition=low
calm=$job
expect "the example ends" until_true 300 over "$calm"
expect "well" is "$calm" COMPLETED
expect "with a model" test -s "$work/calm/troupe-$calm/run/model.safetensors"
[ -s "$work/calm/troupe-$calm/run/model.safetensors" ] || show calm

submit disturbed --partition=low
disturbed=$job
expect "another is under way" until_true 120 is_under_way disturbed
mkdir "$work/urgent"
urgent=$(cd "$work/urgent" && sbatch --parsable --partition=high --nodes=1 --cpus-per-task=4 --wrap='sleep 2')
expect "a job of higher priority takes its node" until_true 120 over "$urgent"
expect "when it has been told, and stopped behind a checkpoint" grep -q "stopped by signal; continue with --resume" "$work/disturbed/out.job"
expect "it goes back into the queue, and ends well" is_well "$disturbed"
expect "having begun twice" [ "$(lines_with disturbed "ready process 0")" -ge 2 ]
expect "not from the beginning" [ "$(lines_with disturbed "epoch 1:")" = 1 ]
expect "with the model of the one that nothing disturbed" \
    cmp "$work/calm/troupe-$calm/run/model.safetensors" "$work/disturbed/troupe-$disturbed/run/model.safetensors"
cmp -s "$work/calm/troupe-$calm/run/model.safetensors" "$work/disturbed/troupe-$disturbed/run/model.safetensors" || show disturbed
finish
