# SPDX-License-Identifier: Apache-2.0
# The example for logrotate with the real one, on a job that goes on: each rotation reaches its launcher,
# somebody who is attached stays so, and over all files no line is lost.
restarts=3
. "${srcdir:-.}/tests/cli/job.sh"
cluster "$role_hosts"
PATH=$(dirname "$TROUPE"):/usr/sbin:$PATH
export PATH
mkdir -m 755 "$work/logs" || exit 99
log=$work/logs/job.log
example=${srcdir:-.}/examples/deploy/logrotate.conf
sed "s,/var/log/troupe,$work/logs,g" "$example" >"$work/logrotate.conf"
expect "the example names the folder" grep -q "^$work/logs/\*.log {" "$work/logrotate.conf"
chmod 644 "$work/logrotate.conf"
has_epoch() { grep -qs '"message":"epoch ' "$1"; }
rotate() { run logrotate --force --state "$work/state" "$work/logrotate.conf"; }

troupe launch "$work/cluster.json" --run "$work/run" --log "$log" --log-format json --detach -- \
    --epochs 1000000 --hidden 16 --fanout 4,6 --batch-size 32
expect "a job is detached" exited 0
"$TROUPE" attach "$log" >"$work/out.attach" 2>"$work/err.attach" </dev/null &
attached=$!
rotated=0
for part in 1 2 3 4 5; do
    within has_epoch "$log" || break
    rotate
    exited 0 && within has_epoch "$log" && [ -e "$log.1" ] && rotated=$part
done
expect "its log is rotated" [ "$rotated" = 5 ]
expect "older logs are compressed" [ -e "$log.5.gz" ]
expect "the launcher's own file is not" [ "$(ls "$work/logs" | grep -c '\.job')" = 1 ]
expect "the job runs on" [ "$(wc -l <"$log.job")" = 1 ]
troupe attach --stop "$log"
expect "until it is stopped" exited 1
wait "$attached"
expect "which who was attached sees, too" grep -q '"level":"error"' "$work/out.attach"
for part in 5 4 3 2; do zcat "$log.$part.gz"; done >"$work/all"
cat "$log.1" "$log" >>"$work/all"
expect "every line is whole" [ "$(grep -vc '^{"time":"[^"]*Z","level":"[a-z]*",.*"message":".*"}$' "$work/all")" = 0 ]
sed -n 's/.*"role":"trainer","stream":"std[a-z]*","message":"epoch \([0-9]*\): .*/\1/p' "$work/all" >"$work/epochs"
expect "and none is lost" eval 'seq "$(tail -n 1 "$work/epochs")" | cmp -s - "$work/epochs"'
rotate
expect "without a job it rotates as well" exited 0
finish
