# SPDX-License-Identifier: Apache-2.0
# Columns of features as people have them, far from 0 and 1: they are standardised where a training has a choice, by the
# same numbers wherever the partitions are, and inference does as the model says.
. "${srcdir:-.}/tests/cli/tap.sh"

"$TROUPE" generate sbm --nodes 600 --edges 3000 --features 1 --classes 3 --out "$work/raw" --quiet >"$work/out" 2>"$work/err" ||
    exit 99
# features TYPE A B C: three columns of bytes, by awk expressions of the class $1.
features() {
    {
        printf '\223NUMPY\001\000v\000'
        printf '%-117s\n' "{'descr': '|$1', 'fortran_order': False, 'shape': (600, 3), }"
        # shellcheck disable=SC2059 # The bytes are the format.
        printf "$(tail -c 4800 "$work/raw/node_data/_N/label.npy" | od -An -v -t d8 -w8 |
            awk "{ printf \"\\\\%03o\\\\%03o\\\\%03o\", $2, $3, $4 }")"
    } >"$work/feat" && mv "$work/feat" "$work/raw/node_data/_N/feat.npy"
}
# cut PARTS OUT: partitions the graph.
cut() {
    "$TROUPE" partition "$work/raw" --parts "$1" --method random --name g --out "$work/$2" --quiet \
        >"$work/out" 2>"$work/err" || exit 99
}
features i1 'NR % 3 == 0 ? 2 - NR % 2 : 0' 'NR % 4 ? 0 : NR % 8 ? 255 : 1' 'NR % 5 == 0'
cut 1 words
# A large number that the class moves a little, one that tells nothing, and a flag.
features u1 '200 + 3 * $1 + NR % 2' 'NR * 37 % 256' 'NR % 5 == 0'
cut 1 1
cut 2 2
# The class moves a number a little beside which a few are far away.
features u1 'NR % 40 ? 4 + $1 : 255' 'NR * 37 % 256' 'NR % 5 == 0'
cut 2 tails

learn() { troupe train "$@" --hidden 16 --replace --json --quiet; }
result() { sed -n "s/.*\"$1\":\([0-9.e-]*\).*/\1/p" "$work/out"; }
advised() { grep -q "^troupe train: column 0 of 'feat' has numbers far from 0 and 1, such as [0-9.]*, .*: give --standardise$" "$work/err"; }

troupe train "$work/2" --run "$work/run" --epochs 1 --hidden 8
expect "a run of named epochs is advised of such columns" advised
troupe train "$work/2" --run "$work/run" --replace --epochs 1 --hidden 8 --standardise
expect "and not of those that are standardised" sh -c "! grep -q column '$work/err'"
troupe train "$work/2" --run "$work/run" --replace --epochs 1 --hidden 8 --no-standardise
expect "nor of those that are to stay" sh -c "! grep -q column '$work/err'"
expect "whose run has no word of it" sh -c "! grep -q standardise '$work/run/config.json'"
troupe train "$work/2" --run "$work/run" --replace --standardise --no-standardise
expect "both at once are refused" refuses_with '--standardise and --no-standardise are opposites'

learn "$work/words" --run "$work/run"
expect "counts and signs of words, most of them 0, stay as they are" sh -c "! grep -q 'standardise.: true' '$work/run/config.json'"
learn "$work/2" --run "$work/two" --seed 5
accuracy=$(result test_accuracy)
expect "without options they are standardised" grep -q '"standardise": true' "$work/two/config.json"
expect "and tell the class, ${accuracy:-nothing} of the test nodes" awk -v a="${accuracy:-0}" 'BEGIN { exit !(a >= 0.9) }'
expect "the model says by what" sh -c "grep -q features.mean '$work/two/model.safetensors' && grep -q features.factor '$work/two/model.safetensors'"
troupe infer "$work/2" --run "$work/two" --exact --json --quiet
expect "inference does as the model says" says "\"accuracy\":$accuracy"
learn "$work/1" --run "$work/one" --seed 5
expect "one partition is measured alike" cmp "$work/one/model.safetensors" "$work/two/model.safetensors"
mkdir -m 700 "$work/sockets" || exit 99
printf '{"name": "job", "graph": "2/g.json", "seed": 5, "hosts": [{"name": "a", "unix": "sockets", "servers": 2,
    "samplers": 1, "trainers": 1, "processes": "role"}]}\n' >"$work/cluster.json"
run timeout 120 "$TROUPE" launch "$work/cluster.json" --run "$work/apart" -- --hidden 16 --quiet
expect "four processes measure it alike" cmp "$work/two/model.safetensors" "$work/apart/model.safetensors"
learn "$work/tails" --run "$work/tails-run" --seed 5
accuracy=$(result test_accuracy)
expect "numbers beside which a few are far away tell the class too, ${accuracy:-nothing}" \
    awk -v a="${accuracy:-0}" 'BEGIN { exit !(a >= 0.75) }'
expect "by the logarithm, of which the run has a word" grep -q '"logarithms": true' "$work/tails-run/config.json"
expect "and those before have none" sh -c "! grep -q logarithms '$work/two/config.json'"
troupe infer "$work/tails" --run "$work/tails-run" --json --quiet
expect "inference takes it too" says "\"accuracy\":$accuracy"
troupe train "$work/tails" --run "$work/tails-run" --hidden 16 --seed 5 --resume --json --quiet
expect "and so does a run that goes on" exited 0
learn "$work/tails" --run "$work/tails-onward" --from "$work/tails-run" --epochs 1
expect "or begins with that model" grep -q '"logarithms": true' "$work/tails-onward/config.json"
learn "$work/2" --run "$work/onward" --from "$work/two" --epochs 1
expect "what begins with that model reads features as it does" grep -q '"standardise": true' "$work/onward/config.json"
learn "$work/2" --run "$work/plain" --from "$work/two" --epochs 1 --no-standardise
expect "and has to" fails_with 'from 3 features in standardised columns to 3 classes: --from needs a model of the same shape'
finish
