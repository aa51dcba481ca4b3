# SPDX-License-Identifier: Apache-2.0
# A look at graphs: what is there is shown, what is not is named.
. "${srcdir:-.}/tests/cli/tap.sh"

troupe generate sbm --nodes 60 --edges 300 --features 4 --classes 3 --out "$work/raw" --quiet
troupe inspect "$work/raw"
expect "a raw graph is shown to people" says '^_N  *60$'
expect "with its features" says '^_N  *feat  *float32  *\[4\]$'
troupe inspect "$work/raw" --json
expect "and to scripts, in one line" says '^{"kind":"raw graph","graph":"sbm",.*"edges":300.*"shape":\[4\].*}$'

tables='"features":\[{"type":"_N","name":"feat","dtype":"float32","shape":\[4]}'
tables="$tables"',{"type":"_N","name":"label","dtype":"int64","shape":\[]}'
for mask in train val test; do
    tables="$tables"',{"type":"_N","name":"'$mask'_mask","dtype":"uint8","shape":\[]}'
done
types='"node_types":\[{"type":"_N","nodes":60}],"edge_types":\[{"type":"_N:_E:_N","edges":300}]'
expect "with nothing left out" says '^{"kind":"raw graph","graph":"sbm",'"$types,$tables]}\$"

troupe inspect "$work/nowhere"
expect "a folder that is not there is named" fails_with "$work/nowhere"
troupe inspect "$work/nowhere.json"
expect "a book that is not there is named" fails_with "$work/nowhere.json"
mkdir "$work/none"
troupe inspect "$work/none"
expect "a folder without a graph is named" fails_with "$work/none"
echo '{' >"$work/broken.json"
troupe inspect "$work/broken.json"
expect "a broken book is named" fails_with "$work/broken.json"
troupe partition "$work/raw" --parts 2 --method random --name g --out "$work/parts" --quiet
troupe inspect "$work/parts/g.json" --json
expect "a partitioned graph is shown" says '"kind":"partitioned graph".*"parts":2.*"halo_nodes":[1-9]'
number='[0-9][0-9.]*'
sizes='"nodes":N,"edges":N,"halo_nodes":N,"topology_bytes":N,"feature_bytes":N,"bytes":N}'
sizes='"partitions":\[{"part":0,'"$sizes"',{"part":1,'"$sizes]}"
facts='"parts":2,"method":"random","halo_hops":1,"trainers":0,"node_balance":N,"edge_balance":N,"bytes":N'
expect "with nothing left out either" says "^$(printf '{"kind":"partitioned graph","graph":"g",%s' \
    "$facts,\"checksums\":true,\"out_edges\":false,$types,$tables],$sizes" | sed "s/:N/:$number/g")\$"
cp "$work/out" "$work/named"
troupe inspect "$work/parts" --json
expect "its folder is enough" cmp -s "$work/out" "$work/named"
troupe inspect "$work/parts" --edges 3,0 --json
edge='{"edge":N,"source":N,"destination":N,"original_source":N,"original_destination":N,"original_id":N,"part":0}'
expect "edges are shown by ID, in the order asked" says "^$(echo "{\"edges\":\[$edge,$edge]}" | sed "s/:N/:$number/g")\$"
expect "each as it is" says '"edge":3,.*"edge":0,'
# Each edge's ends are those of its line of the raw graph.
original=$(sed 's/.*"edge":0.*"original_id":\([0-9]*\).*/\1/' "$work/out")
ends=$(sed 's/.*"edge":0.*"original_source":\([0-9]*\),"original_destination":\([0-9]*\).*/\1 \2/' "$work/out")
raw_edges="$work/raw/edges/_N:_E:_N.npy"
first=$((10 + $(od -An -t u2 -j 8 -N 2 "$raw_edges"))) # behind the header, whose length stands there
raw_ends=$(od -An -v -t u4 -w8 -j $((first + 8 * original)) -N 8 "$raw_edges" | xargs)
expect "and with the user's own IDs" [ "$ends" = "$raw_ends" ]
troupe inspect "$work/parts" --nodes 59 --json
expect "nodes too" says '^{"nodes":\[{"node":59,"original_id":[0-9]*,"part":1,"in_degree":[0-9]*,"out_degree":[0-9]*}],'
expect "with their in-edges by type" says '"in_edges":\[{"node":59,"type":"_N:_E:_N","edges":[0-9]*}]}$'
troupe inspect "$work/parts" --nodes 60
expect "an ID that is none is named" fails_with '60'
troupe inspect "$work/parts" --nodes 0 --node-type paper
expect "and so is a type" fails_with 'paper'
printf 'src,dst\n"Doe, Jane",b\nb,c\n' >"$work/people.csv"
"$TROUPE" import table --edges "$work/people.csv" --out "$work/people" --quiet >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/people" --parts 1 --name p --out "$work/people-parts" --quiet >"$work/out" 2>"$work/err" ||
    exit 99
most=$(seq 0 63 | sed 's/.*/0/' | paste -sd ,)
troupe inspect "$work/people-parts" --nodes "${most%,0}" --own-ids "Doe, Jane" --json
expect "a name with commas in it is one, and the last of 64 nodes" \
    says '"own_id":"Doe, Jane",[^}]*}],"in_edges":'
troupe inspect "$work/people-parts" --nodes "$most" --own-ids "Doe, Jane"
expect "but none of 65" fails_with "--nodes and --own-ids: more than 64 nodes"
troupe inspect "$work/people-parts" --nodes "$most" --own-ids b
expect "as any name" fails_with "--nodes and --own-ids: more than 64 nodes"
troupe inspect "$work/raw" --edges 0
expect "a raw graph has none of them" fails_with "$work/raw"
troupe verify "$work/parts" "$work/raw"
expect "also to verify it" says '^equal  *yes$'
troupe verify "$work/parts"
expect "and its files" says '^whole  *yes$'
mkdir "$work/plain"
echo '{}' >"$work/plain/config.json"
troupe verify "$work/plain"
expect "a folder without partitions is no graph's" fails_with 'plain: no checkpoint-STEP in it'
short="$work/parts/part1/node~_N~halo1.npy"
truncate -s -8 "$short"
troupe inspect "$work/parts/g.json"
expect "a file that is too short is named, in whatever partition" fails_with "$short"

"$TROUPE" train "$work/parts/g.json" --run "$work/run" --epochs 4 --hidden 4 --fanout 3,3 --batch-size 4 --trainers 2 \
    --checkpoint-every 2 --quiet >"$work/out" 2>"$work/err" || exit 99
troupe inspect "$work/run" --json
expect "a run is shown" says '^{"kind":"training run","complete":true,"graph":"'"$work/parts/g.json"'"'
layers=$((4 * 4 * 2 + 4 + 4 * 3 * 2 + 3)) # two layers, each of own and neighbours' rows, and a bias
expect "with its model" says "\"model\":true,\"parameters\":$layers,"
expect "its checkpoints" says '"checkpoints":2,"checkpoint_step":[0-9]'
expect "its epochs" says '"epochs_done":4,"steps":[0-9]*,"seconds":[0-9.e-]*,"train_loss":[0-9.]*,"best_epoch":[1-4]'
expect "its scores" says '"scores":\[{"split":"validation",.*{"split":"test","labelled":[0-9]*,"loss":[0-9.]*,"accuracy":'
expect "and its options" says '{"name":"trainers","value":"2"}.*{"name":"lr","value":"0.01"}.*{"name":"fanout","value":"3,3"}'
troupe inspect "$work/run"
expect "people see it too" says '^complete  *yes$'
"$TROUPE" train "$work/parts/g.json" --run "$work/scaled" --epochs 1 --hidden 4 --fanout 3,3 --norm batch --standardise \
    --eval none >"$work/out" 2>"$work/err" || exit 99
head=$(sed -n 's/.* with \([0-9]*\) parameters; .*/\1/p' "$work/out" "$work/err")
troupe inspect "$work/scaled" --json
expect "parameters are those that are learned, as training says them" says "\"parameters\":$head,"
mkdir "$work/early"
cp "$work/run/config.json" "$work/early"
head -n 2 "$work/run/metrics.jsonl" >"$work/early/metrics.jsonl"
printf '{"epoch":3,"st' >>"$work/early/metrics.jsonl"
mkdir "$work/early/checkpoints"
troupe inspect "$work/early" --json
expect "a run that has not saved yet has no checkpoint" says '"checkpoints":0,"epochs_done":2,'
expect "a run that goes on has the epochs whose lines are whole" \
    says '"complete":false.*"model":false,.*"epochs_done":2,.*"best_epoch":[12],'
cp "$work/run/model.safetensors" "$work/early"
troupe inspect "$work/early" --json
expect "the best model so far does not make it complete" says '"complete":false.*"model":true,'
sed 's/"patience": 0/"patience": 1/' "$work/run/config.json" >"$work/early/config.json"
printf '%s\n' '{"epoch":1,"val":{},"best":true}' '{"epoch":2,"val":{},"best":false}' >"$work/early/metrics.jsonl"
troupe inspect "$work/early" --json
expect "but a patience that was lost does" says '"complete":true.*"epochs_done":2,'
echo '{"epochs":3}' >>"$work/early/metrics.jsonl"
troupe inspect "$work/early"
expect "a line that is none of a run is named" fails_with "$work/early/metrics.jsonl:3: "
head -c 9000 /dev/zero | tr '\0' ' ' >"$work/early/metrics.jsonl"
echo >>"$work/early/metrics.jsonl"
troupe inspect "$work/early"
expect "so is one that is too long" fails_with "$work/early/metrics.jsonl:1: "
: >"$work/early/config.json"
troupe inspect "$work/early"
expect "an empty configuration is said to be empty" fails_with "$work/early/config.json: is empty: the training was stopped"
echo '[' >"$work/early/config.json"
troupe inspect "$work/early"
expect "and a configuration that is none" fails_with "$work/early/config.json: "
awk 'BEGIN { printf "{\"run\":{"; for (i = 0; i < 300; i++) printf "%s\"o%d\":%d", i ? "," : "", i, i; print "}}" }' \
    >"$work/early/config.json"
troupe inspect "$work/early"
expect "or has too many values" fails_with "$work/early/config.json: more than "
: >"$work/early/metadata.json"
troupe inspect "$work/early"
expect "a raw graph may have a config.json beside it" fails_with metadata.json

for lr in 0.01 0.02; do
    for seed in 2 10; do
        mkdir -p "$work/all/lr=$lr/seed-$seed" && cp "$work/run/"*.* "$work/all/lr=$lr/seed-$seed"
    done
done
# As a run is left that was stopped in its first epoch.
rm "$work/all/lr=0.02/seed-10/model.safetensors"
: >"$work/all/lr=0.02/seed-10/metrics.jsonl"
troupe inspect "$work/all"
expect "a folder of runs is shown" says '^kind  *folder of training runs$'
expect "with how many there are" says '^runs  *4$'
expect "and how many are complete" says '^complete  *3$'
expect "and a line each, in the order of seeds" \
    [ "$(sed -n 's/^\(lr=[^ ]*\)  *\([yn][^ ]*\)  *\([0-9]*\) .*/\1:\2:\3/p' "$work/out" | tr '\n' ' ')" = \
    "lr=0.01/seed-2:yes:4 lr=0.01/seed-10:yes:4 lr=0.02/seed-2:yes:4 lr=0.02/seed-10:no:0 " ]
troupe inspect "$work/all/lr=0.02" --json
expect "also to scripts" says '^{"kind":"folder of training runs","count":2,"complete":1,"runs":\[{"run":"seed-2","complete":true,"epochs":4,"val":'
expect "where a score that there is none of is null" \
    says '{"run":"seed-10","complete":false,"epochs":0,"val":null,"test_accuracy":null,"test_macro_f1":null,"test_roc_auc":null,"test_mrr":null}\]}$'
printf '{' >"$work/all/lr=0.01/seed-2/config.json"
troupe inspect "$work/all"
expect "a run in it that is broken is named" fails_with "lr=0.01/seed-2/config.json: "

kept="$work/run/checkpoints"
newest=$(ls "$kept" | sed -n 's/^checkpoint-//p' | sort -n | tail -n 1)
last="$kept/checkpoint-$newest"
crc=$(sed -n 's/.*"crc32c": \([0-9]*\).*/\1/p' "$last/manifest.json" | head -n 1)
troupe inspect "$kept"
expect "a folder of checkpoints is shown, the newest first" \
    [ "$(grep -A1 '^step' "$work/out" | tail -n 1 | sed 's/^ *\([0-9]*\).*/\1/')" = "$newest" ]
mkdir "$kept/checkpoint-99999"
troupe inspect "$kept/" --json
expect "what has no manifest is counted" says '"kind":"checkpoints","count":2,"unfinished":1,'
expect "with epochs and batches" \
    says "\"step\":$newest,\"era\":[0-9]*,\"trainers\":2,\"epoch\":[1-4],\"batch\":[0-9]*,\"job_hash\":\"[0-9a-f]*\""
troupe inspect "$kept/checkpoint-99999"
expect "alone it is no checkpoint" fails_with "checkpoint-99999/manifest.json"
rmdir "$kept/checkpoint-99999"
cp -r "$last" "$work/copied"
for folder in "$last" "$work/copied"; do
    troupe inspect "$folder"
    expect "a checkpoint's parts have the checksums of its manifest" says "$(printf '%08x' "$crc")"
done
cp -r "$last" "$kept/checkpoint-77777"
troupe inspect "$kept"
expect "a checkpoint under the name of another step is named" fails_with "checkpoint-77777/manifest.json"
rm -r "$kept/checkpoint-77777" "$work/copied/part1"
troupe inspect "$work/copied" --json
expect "a part that is not here is told" says '"rank":1,[^}]*"here":false'
truncate -s -1 "$work/copied/part0"
troupe inspect "$work/copied"
expect "a part that is cut is named" fails_with "$work/copied/part0"
echo '{"step": 1}' >"$work/copied/manifest.json"
troupe inspect "$work/copied"
expect "a broken manifest is named" fails_with "$work/copied/manifest.json"
if [ -e /dev/full ]; then
    # shellcheck disable=SC2016 # expanded by the inner shell
    run sh -c '"$TROUPE" inspect "$1" --json >/dev/full' - "$work/raw"
    expect "results that cannot be written are an error" fails_with "standard output"
else
    skip "results that cannot be written" "/dev/full is not here"
fi
finish
