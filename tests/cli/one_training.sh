# SPDX-License-Identifier: Apache-2.0
# A run's folder is of one training at a time: a second one is refused before it does anything, and a job
# that comes after another waits for what lingers of that.
. "${srcdir:-.}/tests/cli/tap.sh"

"$TROUPE" generate sbm --nodes 300 --edges 3000 --features 8 --classes 3 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 2 --method random --name g --out "$work/g" --quiet >"$work/out" 2>"$work/err" || exit 99

# await FILE: there is something in it
await() {
    tries=0
    while [ ! -s "$1" ] && [ $tries -lt 600 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
}

"$TROUPE" train "$work/g" --run "$work/run" --hidden 8 --epochs 1000000 --checkpoint-every 100 --quiet \
    >"$work/out.first" 2>"$work/err.first" </dev/null &
first=$!
await "$work/run/model.safetensors"
second() { troupe train "$work/g" --run "$work/run" --hidden 8 --epochs 1 --quiet "$@"; }
busy="$work/run: another training is under way in this folder; wait for its end, or give another folder as --run"
second --replace
expect "what is trained is not replaced meanwhile" fails_with "$busy"
second --replace --checkpoint-every 1
expect "nor are its checkpoints" fails_with "$busy"
second --resume
expect "nor gone on with" fails_with "$busy"
second
expect "nor begun beside it" fails_with "$busy"
expect "and it goes on" kill -0 $first
expect "with the folder that it has" grep -q '"epochs": 1000000' "$work/run/config.json"
troupe infer "$work/g" --run "$work/run" --quiet
expect "whoever reads it is let in" exited 0
kill -9 $first
wait $first 2>/dev/null
second --replace
expect "a training that was killed keeps nobody out" exited 0

# A folder that is moved away while it is trained, with another one in its place.
"$TROUPE" train "$work/g" --run "$work/moved" --hidden 8 --epochs 1000000 --quiet \
    >"$work/out.first" 2>"$work/err.first" </dev/null &
first=$!
await "$work/moved/model.safetensors"
kill -STOP $first
mv "$work/moved" "$work/away"
troupe train "$work/g" --run "$work/moved" --hidden 8 --epochs 3 --quiet
expect "a folder that was moved away is in nobody's way" exited 0
cp -r "$work/moved" "$work/as-it-was"
kill -CONT $first
wait $first
code=$?
expect "the training that had it ends" [ "$code" = 1 ]
expect "which says why" grep -q "$work/moved: another folder has taken the place of the run's" "$work/err.first"
expect "and writes nothing to what is there now" diff -r "$work/as-it-was" "$work/moved"

# The graph is broken, so that whatever opens it fails otherwise.
echo '{}' >"$work/broken.json"
troupe train "$work/broken.json" --run "$work/run"
expect "a run that is there is refused before the graph is opened" fails_with "$work/run holds a run already; give --replace"

mkdir -m 700 "$work/s" || exit 99
printf '{"name": "job", "graph": "g/g.json", "direct": false, "hosts": [{"name": "a", "unix": "s", "servers": 1,
 "samplers": 1, "trainers": 2, "processes": "role"}]}\n' >"$work/cluster.json"
exec 9<"$work/run"
flock 9
timeout 200 "$TROUPE" launch "$work/cluster.json" --run "$work/run" -- --hidden 8 --epochs 1 --replace --quiet \
    >"$work/out" 2>"$work/err" </dev/null 9<&- &
job=$!
tries=0
until grep -q 'is still under way' "$work/err" || [ $tries -ge 600 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
expect "a job waits for what lingers in the folder, and says so" \
    complains "$work/run: another training is still under way in this folder; it has 30 s to leave"
exec 9<&-
wait $job
code=$?
expect "and trains when that has left" exited 0
finish
