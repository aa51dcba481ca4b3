# SPDX-License-Identifier: Apache-2.0
# The example of launching runs a job of several real processes to its end, and observes it.
. "${srcdir:-.}/tests/cli/tap.sh"

example=$(dirname "$TROUPE")/examples/launch_job
"$TROUPE" generate sbm --nodes 300 --edges 3000 --features 4 --classes 3 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --name toy --out "$work/g" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
mkdir -m 700 "$work/sockets" || exit 99
cat >"$work/c.json" <<EOF
{"name": "toy", "graph": "g/toy.json", "hosts": [{"name": "a", "unix": "$work/sockets",
 "servers": 1, "samplers": 1, "trainers": 1, "processes": "role"}]}
EOF
run "$example" "$work/c.json" "$TROUPE" --run "$work/run" --epochs 2 --hidden 8 --quiet
expect "the job ends well" exited 0
expect "its processes were ready" [ "$(grep -c 'troupe: ready process' "$work/out")" = 3 ]
expect "the model is there" [ -s "$work/run/model.safetensors" ]
run "$example" "$work/c.json" "$TROUPE" --run "$work/run" --epochs 2 --quiet
expect "a run that is there is not written over" exited 1
expect "and the message says so" complains 'launch_job: .*process 2'
run "$example" "$work/nowhere.json" "$TROUPE"
expect "a cluster file that is not there is named" complains 'nowhere.json'
finish
