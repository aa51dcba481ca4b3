# SPDX-License-Identifier: Apache-2.0
# A job that is detached outlives whoever launched it, also one that is gone before the job is up.
restarts=3
. "${srcdir:-.}/tests/cli/job.sh"
learning="--epochs 1000000 --hidden 16 --fanout 4,6 --batch-size 32"
has_job_ended() { [ "$(wc -l <"$1.job")" = 2 ]; }

# Its processes begin when there is a gate, so that the job is not up before.
cluster "$role_hosts" ', "launcher": {"command": ["sh", "-c", "while [ ! -e gate ]; do sleep 0.05; done; exec {command}"]}'
cd "$work" || exit 99
# shellcheck disable=SC2086
"$TROUPE" launch cluster.json --run run --log a.log --detach -- $learning >out.waits 2>err.waits </dev/null &
waits=$!
expect "a job is launched" within grep -qs 'started, process' a.log
kill -KILL "$waits"
wait "$waits" 2>/dev/null
touch gate
expect "it is up when nobody waits for it any more" within grep -q 'epoch 3' a.log
expect "it goes on" [ "$(wc -l <a.log.job)" = 1 ]
troupe attach --stop a.log
expect "until it is stopped" exited 1
expect "by its launcher" says 'error stopped by signal'
expect "which notes its end" has_job_ended a.log

for kind in directory pipe; do
    echo 0 >$kind.job
done
mkdir directory
mkfifo pipe
for kind in directory pipe; do
    troupe attach $kind
    expect "a $kind is no log" complains "attach: $kind: no file, so it has no lines"
done
finish
