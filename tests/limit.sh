# SPDX-License-Identifier: Apache-2.0
# The harness: a test that hangs is shown, killed and failed; what a test leaves behind is killed.
. "${srcdir:-.}/tests/cli/tap.sh"

limit=./tests/limit
gone() { ! kill -0 "$(cat "$work/pid")" 2>/dev/null; }
soon() { [ $(($(date +%s) - begun)) -lt 60 ]; }
begin() { begun=$(date +%s); }

run $limit -s 60 sh -c 'echo "ok 1 - fine"; exit 3'
expect "a test's exit code is kept" exited 3
expect "and its output" says '^ok 1 - fine$'
expect "the time that it took is said" says '^# took [0-9.]* s, CPU [0-9.]* s$'
run $limit -s 60 sh -c 'kill -KILL $$'
expect "a test that a signal ended has failed" exited 137

begin
run $limit -s 1 sleep 1000
expect "a test that never ends is a hard error" exited 99
expect "in TAP" says '^Bail out! limit: still running after 1 s: sleep 1000$'
expect "its process is shown" complains '^limit: process [0-9]* of [0-9]*: sleep 1000'
expect "and it takes no longer" soon

# What is shown: one line of a shell, the stack of what was built here, the end of what it said.
begin
echo "this was its last word" >"$work/out.7"
run $limit -s 2 sh -c "$limit -s 60 sleep 1000 3>>'$work/out.7'; true"
expect "a shell is shown in one line" complains '^limit: process [0-9]* of [0-9]*: sh -c'
expect "without its threads" sh -c "! grep '^limit: thread [^:]*: [^:]* sh' '$work/err'"
expect "a program built here with its threads" complains '^limit: thread [0-9]*: S .* limit'
if command -v gdb >/dev/null; then
    expect "and what they were at" complains '^limit: thread [0-9]*: S [^ ]* limit: .*sigtimedwait'
else
    skip "and what they were at" "gdb is not here"
fi
expect "then the end of what it said" complains '^this was its last word$'
expect "and it takes no longer either" soon
sleep 1000 &
child=$!
run $limit -p "$child"
expect "any process can be shown" complains "^limit: process $child of [0-9]*: sleep 1000"
expect "and lives on" kill -0 "$child"
kill -KILL "$child"
wait "$child" 2>/dev/null

# Its own session, signals ignored: out of reach of a group's kill and of a polite one.
deaf='trap "" TERM INT HUP; echo $$ >"$0"; sleep 1000; sleep 1000'
begin
run $limit -s 1 setsid -w sh -c "$deaf" "$work/pid"
expect "nor does one that left its session" soon
expect "which is killed" gone

begin
rm -f "$work/pid"
run $limit -s 60 sh -c "setsid sh -c '$deaf' '$work/pid' & while [ ! -s '$work/pid' ]; do sleep 0.1; done; echo ok"
expect "a test that leaves a process behind ends with its own exit code" exited 0
expect "and the process is killed" gone
begin
output=$($limit -s 60 sh -c "sleep 1000 & echo through")
expect "whoever reads its output is not kept waiting" [ "${output%%#*}" = "through
" ]
expect "for a process that holds it open" soon

run $limit -s 60 sh -c 'kill -INT $$; sleep 1'
expect "an interrupt ends a test" exited 130
(
    trap '' INT
    run $limit -s 60 sh -c 'kill -INT $$; sleep 1'
    exit "$code"
)
code=$?
expect "also where this runs in the background, which ignores it" exited 130

TROUPE_TEST_LIMIT=soon run $limit true
expect "a limit that is no number is refused" complains '^limit: soon: give seconds'
finish
