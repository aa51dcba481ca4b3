# SPDX-License-Identifier: Apache-2.0
# A job through a real sshd and rsync, on two hosts that share no files: the README's example, then one
# with checkpoints and a kill -9 on the second host, and what is left of a launcher that was killed.
. "${srcdir:-.}/tests/outside/two_hosts.sh"

readme=${srcdir:-.}/README.md
make_hosts 2>"$work/err" || {
    echo "Bail out! no hosts can be made here: $(tail -n 3 "$work/err" "$work"/log.* 2>/dev/null)"
    exit 99
}
job_a=$(files_of a)/home/troupe/job
job_b=$(files_of b)/home/troupe/job
on a troupe mkdir job || exit 99
at_a() { run on a troupe sh -c "cd job && $1"; }

# The indented block of the README that begins with such a line.
block() { awk -v first="$1" '!inside && index($0, first) == 5 { inside = 1 }
    inside && !/^    / { exit } inside { print substr($0, 5) }' "$readme"; }
# The example's cluster file with real addresses and ssh, as the README says; more fields may follow.
cluster_file() {
    block '{' | sed -e '/"name": "a"/s/127.0.0.1/10.78.0.1/' -e '/"name": "b"/s/127.0.0.1/10.78.0.2/' \
        -e "s|^  \"name\"|  \"launcher\": {\"kind\": \"ssh\"},$1\n  \"name\"|"
}

block 'troupe generate' >"$work/example"
expect "the README has an example" [ "$(grep -c '^troupe' "$work/example")" = 4 ]
cluster_file >"$job_a/cluster.json"
cp "$work/example" "$job_a/example"
at_a "sh -e example"
expect "it works as it stands where hosts are reached by ssh" exited 0
expect "and prints what it says" says "\[a/trainer 0\] test accuracy  *0.994"
at_a "troupe train parts-toy/toy.json --trainers 2 --seed 7 --epochs 20 --hidden 32 --run one"
expect "one process trains" exited 0
expect "to the same model" cmp "$job_a/one/model.safetensors" "$job_a/run1/model.safetensors"
expect "the second host has its partition and the deal alone" \
    [ "$(cd "$job_b/parts-toy" && echo *)" = "deal~_N.npy part1 toy.json" ]
expect "and its own keys" [ "$(cd "$job_b/keys" && echo *)" = "b.key b.pem ca.pem" ]
expect "in a folder that its user alone may enter" [ "$(stat -c %a "$job_b/keys")" = 700 ]

# The folder of keys is somebody else's before we come, or a link that leads to files of ours.
attack() {
    rm -rf "$job_b/keys"
    # shellcheck disable=SC2086
    on b mallory $1
    at_a "troupe launch cluster.json --run run2 -- --epochs 1"
    expect "$2: nothing is copied" fails_with "host b: no key is copied to .*/job/keys, because"
    expect "and no key is there" sh -c "! find '$(files_of b)/home' -name '*.key' | grep ."
}
chmod 777 "$job_b"
attack "mkdir -m 777 /home/troupe/job/keys" "a folder of another user"
attack "ln -s /home/troupe/.ssh /home/troupe/job/keys" "a link to a folder of ours"
chmod 755 "$job_b"
rm -rf "$job_b/keys"

# Two processes a host and more, a key that launch makes, checkpoints that no host shares.
fields='\n  "checkpoints": {"every": 4},\n  "restart": {"times": 20, "seconds": 600},'
cluster_file "$fields" | sed -e '/"tls"/d' -e 's/\("port": 75[12]0\)/\1, "processes": "role"/' -e 's/^  \],/  ]/' \
    >"$job_a/roles.json"
# Long enough that what is done to a job that has a checkpoint is done before its end.
learning="--epochs 200 --hidden 32 --batch-size 128"
at_a "troupe train parts-toy/toy.json --trainers 2 --seed 7 $learning --run plain"
expect "one process trains for longer" exited 0
same_model() { cmp "$job_a/plain/model.safetensors" "$job_a/$1/model.safetensors"; }
# begin RUN [OPTIONS]: starts a job; its launcher is $launcher
begin() {
    rm -rf "$job_a/checkpoints" "$job_b/checkpoints" "$work/out" "$work/err"
    on a troupe sh -c "cd job && exec troupe launch roles.json --run $1 -- ${2:-$learning}" \
        >"$work/out" 2>"$work/err" </dev/null &
    launcher=$!
}
# process_on HOST WORDS: the number of the process there whose command line has these words
process_on() {
    for number in $(processes_of "$1"); do
        case $(tr '\0' ' ' <"/proc/$number/cmdline" 2>/dev/null) in
        "troupe "*"$2"* | /*/troupe\ *"$2"*) process=$number; return ;;
        esac
    done
    return 1
}
saved_on_b() { ls "$job_b/checkpoints/b" 2>/dev/null | grep -q '^checkpoint-[0-9]*$'; }

begin killed
expect "the second host keeps checkpoints" within saved_on_b
expect "and its trainer runs" process_on b "--process=5"
kill -KILL "$process"
wait $launcher
code=$?
expect "a trainer of the second host is killed: the job succeeds" exited 0
expect "it was started again" [ "$(grep -c '^\[b/trainer 5\] started' "$work/err")" = 2 ]
expect "and gives the same model" same_model killed

begin silent
within saved_on_b
# What carries a process there and back dies; the process notices the end of its input.
carrier=$(sed -n 's/^\[b\/trainer 5\] started, process number //p' "$work/err" | head -n 1)
process_on b "--process=5"
kill -KILL "$carrier"
wait $launcher
code=$?
expect "an ssh to the second host is killed: the job succeeds" exited 0
expect "and gives the same model" same_model silent
gone() { ! process_on a "--process=" && ! process_on b "--process="; }
expect "nothing is left on the hosts" within gone

# The key of a job that runs: who finds it where.
begin left "--epochs 100000 --hidden 32 --batch-size 128"
within saved_on_b
key=$(sed -n 's/.*TROUPE_SHARED_KEY=//p' "$work/err")
run on a troupe env "TROUPE_SHARED_KEY=$key" troupe status job/roles.json
expect "launch says where the key is" [ -n "$key" ]
expect "status is let in with it" exited 0
run on a mallory cat "$key"
expect "another user cannot read it" complains "Permission denied"
on a troupe head -c 64 "$key" >"$work/key"
expect "which is a key" [ "$(wc -c <"$work/key")" = 64 ]
expect "it is in no file of the hosts" sh -c "! grep -rlF -f '$work/key' '$(files_of a)' '$(files_of b)'"
for number in $(processes_of a) $(processes_of b); do
    tr '\0' '\n' <"/proc/$number/cmdline"
    tr '\0' '\n' <"/proc/$number/environ"
done >"$work/shown" 2>/dev/null
expect "on no command line and in no environment" sh -c "! grep -F -f '$work/key' '$work/shown'"
process_on a "launch roles.json"
kill -KILL "$process"
wait $launcher
expect "of a launcher that was killed nothing is left on the hosts" within gone
expect "no file of it either" sh -c "! find '$(files_of a)/tmp' '$(files_of b)/tmp' -mindepth 1 | grep ."
finish
