# SPDX-License-Identifier: Apache-2.0
# What TensorBoard is given of a job whose trainers are killed is what its metrics.jsonl has: epochs that
# are trained again take the place of those before, in the process that lives on and in one that is new.
# So many that the job goes on while its processes are killed.
epochs=200
. "${srcdir:-.}/tests/cli/job.sh"
. "${srcdir:-.}/tests/cli/board_points.sh"

undisturbed one --trainers 2 --checkpoint-every 10
cluster "$pair_hosts"
begin --tensorboard "$work/board"
within has_lines 4
within pid_of 1 && kill -KILL "$pid"
within has_lines 12
within pid_of 0 && kill -KILL "$pid"
finish_job
expect "the job ends as one that nobody disturbed" fits one
expect "its folder is what metrics.jsonl says" points "$work/board" "$work/run"
lives() { grep -c "^\\[[ab]/[a-z]* $1\\] started" "$work/err"; }
expect "both trainers were killed" [ "$(lives 0)/$(lives 1)" = 2/2 ]
expect "in a file of each life of trainer 0" [ "$(find "$work/board" -type f | wc -l)" = 2 ]

: >"$work/file"
begin --tensorboard "$work/file/board"
finish_job
expect "a folder that cannot be is refused" [ "$code" != 0 ]
expect "once, with what to do" [ "$(grep -c 'no files for TensorBoard.*another folder as --tensorboard' "$work/err")" = 1 ]
expect "before there is a run" absent "$work/run/metrics.jsonl"
finish
