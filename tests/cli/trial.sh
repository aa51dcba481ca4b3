# SPDX-License-Identifier: Apache-2.0
# Where nobody names a shape of the model, some are tried for a while and the best is trained: the same
# on every layout, and the same bytes as by the options that are printed.
. "${srcdir:-.}/tests/cli/tap.sh"

# graph NAME SPLIT: 900 nodes of three classes that rarely have neighbours of their own. Sage scores 0.81 of 180 nodes, gcn 0.63 and
# deep 0.89, so that deep is chosen by 0.08 where 0.01 is asked: by far more than kernels of another CPU change.
graph() {
    { "$TROUPE" generate sbm --nodes 900 --edges 7200 --features 8 --classes 3 --seed 1 --signal 0.3 \
        --inside 0.05 --out "$work/$1" --quiet &&
        "$TROUPE" split "$work/$1" --ratio "$2" --replace --quiet &&
        "$TROUPE" partition "$work/$1" --parts 2 --method random --name g --out "$work/$1-parts" --quiet
    } >"$work/out" 2>"$work/err" || exit 99
}

# train GRAPH RUN WORDS...: as short as may be, since the choice is what counts.
train() {
    at=$1
    to=$2
    shift 2
    troupe train "$work/$at-parts" --run "$work/$to" --patience "${patience:-1}" "$@"
}

same() { cmp -s "$work/$1/model.safetensors" "$work/$2/model.safetensors"; }

graph g 60/20/20
train g one
expect "what was tried is said, with scores, the choice, and options that are the same" \
    complains '^tried by validation accuracy: sage 0\.[0-9]*, gcn 0\.[0-9]*, deep 0\.[0-9]*; deep is chosen; .* give: --.*--norm layer'
pinned=$(sed -n 's/^tried by .* without trials give: //p' "$work/err")
expect "the report has it" says '^tried and chosen  *deep$'
troupe inspect "$work/one"
expect "and the run keeps it" says '^tried_chosen  *deep$'
# shellcheck disable=SC2086 # options are words
train g pinned $pinned --json --quiet
expect "these options train the same model, without a trial" same one pinned
expect "of which the report says nothing" [ "$code/$(cat "$work/out" "$work/err" | grep -c tried)" = 0/0 ]
{ "$TROUPE" partition "$work/g" --parts 3 --method random --name g --out "$work/g3-parts" --quiet; } >"$work/out" 2>"$work/err"
train g3 layout --threads 1 --loops 2 --messages --codec --json
expect "another layout chooses and trains the same" same one layout
expect "scores are in JSON too" says '"tried_sage":0\.[0-9]*,"tried_gcn":0\.[0-9]*,"tried_deep":0\.[0-9]*,"tried_chosen":"deep"'
expect "and are the same" [ "$(grep tried_ "$work/one/config.json")" = "$(grep tried_ "$work/layout/config.json")" ]
patience=2
# Scores that no trial finds: one would replace them.
for shape in sage gcn deep; do
    sed -i "s/\"tried_$shape\": 0\.[0-9]*/\"tried_$shape\": 0.125/" "$work/one/config.json"
done
train g one --resume
expect "a run that goes on is not tried again" \
    complains '^tried by validation accuracy: sage 0\.1250, gcn 0\.1250, deep 0\.1250; deep is chosen; '
expect "and keeps what was found" [ "$code/$(grep -c '"tried_[a-z]*": 0\.125\>' "$work/one/config.json")" = 0/3 ]
train g long
expect "and ends as one that was begun so" same one long
patience=1
train g from --from "$work/one"
expect "one that begins with its weights has its shape" [ "$code/$(grep -c '"residual": true' "$work/from/config.json")" = 0/1 ]
train g many --seeds 0-1
train g many --seeds 0-1
expect "several seeds are not trained again" [ "$code/$(grep -c 'it was complete' "$work/err")" = 0/2 ]
expect "and the shapes that they chose are said" says '^tried and chosen  deep$'
for shape in '--norm layer' '--model sage'; do
    # shellcheck disable=SC2086 # an option and its value
    train g many --seeds 0-1 $shape
    expect "$shape alone tries nothing, so the runs are others" fails_with 'was begun with other options: --'
done
train g many --seeds 0-1 --hidden 32
expect "those of another width are others" fails_with 'options: --hidden (it was 64, now 32)'
train g wide --seeds 1 --hidden 32 --quiet
train g wide --seeds 1
expect "and one of a named width is not that of the chosen one" fails_with 'options: --hidden (it was 32, now 64)'
train g named --epochs 3
expect "with a number of epochs nothing is tried" [ "$code/$(grep -c tried "$work/err")" = 0/0 ]
train g shape --norm none
expect "nor where a part of the shape is named" [ "$code/$(grep -c tried "$work/err")" = 0/0 ]
train g shape --seeds 1 --l2 0.25 --quiet
train g shape --seeds 1
expect "nor is a run whose option is left to be chosen now" fails_with 'options: --l2 (it was 0.25, now left open)'
graph few 60/5/35
train few run
expect "nor by a handful of validation nodes" [ "$code/$(grep -c tried "$work/err")" = 0/0 ]
finish
