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

# A command that hangs, whatever it was to run: the job ends when it is asked to, and nothing is left of it.
cat >"$work/hang" <<EOF
#!/bin/sh
trap '' TERM
echo \$\$ >>"$work/hung"
while :; do sleep 0.1; done
EOF
chmod +x "$work/hang"
is_gone() { [ ! -e "/proc/$1/stat" ] || grep -q ') Z ' "/proc/$1/stat" 2>/dev/null; }
# Bounded, by far more than it takes.
within() {
    tries=0
    while ! "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 2400 ] || return 1
        sleep 0.05
    done
}
both_hang() { [ "$(cat "$work/hung" 2>/dev/null | wc -l)" = 2 ]; }
all_hung_gone() { while read -r pid; do is_gone "$pid" || return 1; done <"$work/hung"; }
cluster "{\"command\": [\"$work/hang\", \"{host}\"]}"
for signal in INT TERM; do
    rm -f "$work/hung"
    # A shell starts what is in the background with Ctrl-C ignored.
    env --default-signal=INT "$TROUPE" launch "$work/c.json" --run "$work/run4" -- --epochs 2 \
        >"$work/out.hang" 2>"$work/err.hang" </dev/null &
    launcher=$!
    expect "both commands hang" within both_hang
    kill -"$signal" "$launcher"
    wait "$launcher"
    code=$?
    expect "a job whose command hangs ends by SIG$signal" exited 1
    expect "and leaves no process" all_hung_gone
done

# A name that has all that a host's may have reaches the command as it is, wherever it stands in a word.
odd=Z_z.9-$(printf '%057d' 0)
cat >"$work/odd" <<EOF
#!/bin/sh
echo "\$1 \$2" >>"$work/asked"
shift 2
cd / && exec env -i PATH="$bin:$PATH" "\$@"
EOF
chmod +x "$work/odd"
rm -rf "$work/asked" "$work/run5"
cluster "{\"command\": [\"$work/odd\", \"{host}\", \"pod={host}{host}.x\"], \"program\": \"troupe\"}"
sed -i "s/\"a\"/\"$odd\"/" "$work/c.json"
troupe launch "$work/c.json" --run "$work/run5" -- --epochs 2 --hidden 8
expect "a long, odd name of a host is taken" exited 0
expect "and given as it is" grep -qx "$odd pod=$odd$odd.x" "$work/asked"
expect "to the same model" cmp "$work/alone/model.safetensors" "$work/run5/model.safetensors"
# shellcheck disable=SC2016 # nobody is to read it as a command
for name in 'a b' 'a;touch x' '$(touch x)' -a .a "${odd}1"; do
    cluster "{\"command\": [\"$work/odd\", \"{host}\", \"x\"]}"
    sed -i "s/\"a\"/\"$name\"/" "$work/c.json"
    troupe launch "$work/c.json" --dry-run
    expect "the name $name is refused" complains 'a name has up to 63 letters, digits'
done

cluster '{"kind": "command"}'
troupe cluster check "$work/c.json"
expect "a kind without its command is refused, with an example" complains '"kubectl", "exec"'
finish
