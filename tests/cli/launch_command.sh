# SPDX-License-Identifier: Apache-2.0
# A job whose hosts are reached by a command of the user's, as kubectl exec would be: a stand-in that
# carries neither environment nor folder, and looks whom it is asked for.
. "${srcdir:-.}/tests/cli/tap.sh"

bin=$(cd "$(dirname "$TROUPE")" && pwd)
# into HOST -- WORDS: the words run there; shell HOST TEXT: a shell of its reads the text.
cat >"$work/into" <<EOF
#!/bin/sh
case \$1 in a | b) ;; *) echo "into: no host \$1" >&2; exit 7 ;; esac
echo "\$1" >>"$work/asked"
[ "\$2" = -- ] || exit 8
shift 2
cd / && exec env -i PATH="$bin:$PATH" "\$@"
EOF
sed -e 's/"\$2" = --/$# = 2/; s/shift 2/shift/; s/"\$@"$/sh -c "$1"/' "$work/into" >"$work/shell"
chmod +x "$work/into" "$work/shell"
troupe generate sbm --nodes 400 --edges 4000 --features 8 --classes 4 --seed 1 --out "$work/raw"
troupe partition "$work/raw" --parts 2 --name g --out "$work/parts"
expect "there is a graph" exited 0
# There, since the kernels of a BLAS depend on the environment.
run "$work/into" a -- troupe train "$work/parts/g.json" --trainers 2 --seed 3 --epochs 2 --hidden 8 --run "$work/alone"
expect "one process trains" exited 0

# cluster LAUNCHER
cluster() {
    printf '{"name": "job", "graph": "%s", "seed": 3, "hosts": [{"name": "a", "unix": "%s"}, {"name": "b", "unix": "%s"}],
        "launcher": %s}' "$work/parts/g.json" "$work/a" "$work/b" "$1" >"$work/c.json"
}
for way in "[\"$work/into\", \"{host}\", \"--\"]" "[\"$work/shell\", \"{host}\", \": {address}; exec {command}\"]"; do
    rm -rf "$work/asked" "$work/run"
    cluster "{\"command\": $way, \"program\": \"troupe\"}"
    troupe launch "$work/c.json" --run "$work/run" -- --epochs 2 --hidden 8
    expect "a job runs by the command" exited 0
    expect "on both hosts" [ "$(sort -u "$work/asked" | tr -d '\n')" = ab ]
    expect "to the model of one process" cmp "$work/alone/model.safetensors" "$work/run/model.safetensors"
done

cluster "{\"command\": [\"$work/into\", \"{host}\", \"--\"], \"program\": \"troupe\", \"workdir\": \"$work/it's\"}"
mkdir "$work/it's"
troupe launch "$work/c.json" --run here -- --epochs 2 --hidden 8
expect "it works in a folder of the hosts" exited 0
expect "where the run is" cmp "$work/alone/model.safetensors" "$work/it's/here/model.safetensors"
expect "with the history of its job" [ -f "$work/it's/here/events.jsonl" ]
expect "and nothing where the launch began" [ ! -e here ]
troupe launch "$work/c.json" --dry-run
expect "--dry-run prints the command" says "^\[a/[a-z]* 0\] $work/into a -- sh -c "

cluster "{\"command\": [\"$work/into\", \"x{host}\", \"--\"]}"
troupe launch "$work/c.json" --run "$work/run2" -- --epochs 2
expect "a command that fails ends the job" exited 1
expect "and is heard" complains "into: no host x[ab]"
cluster '{"command": ["/nowhere/into", "{host}"]}'
troupe launch "$work/c.json" --run "$work/run3" -- --epochs 2
expect "a command that is not there ends it too" fails_with "/nowhere/into"
cluster '{"kind": "command"}'
troupe cluster check "$work/c.json"
expect "a kind without its command is refused, with an example" complains '"kubectl", "exec"'
finish
