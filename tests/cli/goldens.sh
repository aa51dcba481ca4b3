# SPDX-License-Identifier: Apache-2.0
# The losses and models that a seed gave when they were recorded, it gives on every later day: for both
# models, on 1 and on 4 partitions, and on 4 processes. A model's last bits depend on the kernels of the
# CPU, which config.json records; data/goldens.txt has a line for each model and record that was seen.
# On a machine with another record, the runs must agree with each other, which is checked in any case.
. "${srcdir:-.}/tests/cli/tap.sh"

goldens=${srcdir:-.}/tests/cli/data/goldens.txt
options="--epochs 4 --hidden 16 --fanout 4,6 --batch-size 64 --lr 0.02 --dropout 0.3 --quiet"

"$TROUPE" generate sbm --nodes 600 --edges 7000 --features 12 --classes 4 --signal 0.5 --seed 3 --out "$work/raw" \
    --quiet >"$work/out" 2>"$work/err" || exit 99
for parts in 1 4; do
    "$TROUPE" partition "$work/raw" --parts $parts --method metis --seed 1 --name toy --out "$work/parts-$parts" \
        --quiet >"$work/out" 2>"$work/err" || exit 99
done
mkdir -m 700 "$work/sockets" || exit 99
cat >"$work/cluster.json" <<END
{"name": "job", "graph": "parts-4/toy.json", "seed": 11, "hosts": [{"name": "a", "unix": "sockets",
 "servers": 2, "samplers": 1, "trainers": 1, "processes": "role"}]}
END

# The numbers themselves, not the lines, which may gain fields.
losses() {
    sed 's/.*"train_loss":\([^,}]*\).*"loss":\([^,}]*\).*/\1 \2/' "$1/metrics.jsonl" | sha256sum | cut -c 1-16
}
model() { sha256sum <"$1/model.safetensors" | cut -c 1-16; }
kernels() { sed -n 's/^ *"kernels": "\(.*\)",$/\1/p' "$1/config.json"; }

# recorded RUN MODEL: is the run what was recorded on such kernels, if there is a record of them?
recorded() {
    seen="$2: losses $(losses "$1") model $(model "$1") on $(kernels "$1")"
    grep -q " on $(kernels "$1")\$" "$goldens" || {
        echo "# no record of these kernels: $seen"
        return 0
    }
    grep -qxF "$seen" "$goldens" || {
        echo "# not recorded: $seen"
        return 1
    }
}
alike() { [ "$(losses "$1") $(model "$1")" = "$(losses "$2") $(model "$2")" ]; }

for model in sage gcn; do
    for parts in 1 4; do
        # shellcheck disable=SC2086 # words are meant to be split
        troupe train "$work/parts-$parts/toy.json" --model $model --seed 11 --run "$work/$model-$parts" $options
        expect "$model trains on $parts partitions" exited 0
        expect "$model on $parts partitions: as recorded" recorded "$work/$model-$parts" $model
    done
    # shellcheck disable=SC2086
    run timeout 120 "$TROUPE" launch "$work/cluster.json" --run "$work/$model-processes" -- --model $model $options
    expect "$model trains on 4 processes" exited 0
    expect "$model on 4 processes: as recorded" recorded "$work/$model-processes" $model
    expect "$model: partitions change nothing" alike "$work/$model-1" "$work/$model-4"
    expect "$model: processes change nothing" alike "$work/$model-1" "$work/$model-processes"
    expect "$model: there are losses of every epoch" [ "$(grep -c train_loss "$work/$model-1/metrics.jsonl")" = 4 ]
done
finish
