# SPDX-License-Identifier: Apache-2.0
# Sourced by tests of the files for TensorBoard.
#
# points FOLDER RUN: each scalar of the files is that of the run's metrics, and none is missing.
points() {
    # shellcheck disable=SC2154 # set by tap.sh, which those that source this sourced
    tests/cli/tensorboard_lines "$1" | sort >"$work/points" || return 1
    awk '
        function say(key, tag) {
            if (match($0, "\"" key "\":-?[0-9][0-9.e+-]*"))
                print step, tag, substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
        }
        function scores(split_) {
            say("loss", "loss/" split_)
            say("accuracy", "accuracy/" split_)
            say("macro_f1", "macro_f1/" split_)
            say("roc_auc", "roc_auc/" split_)
            say("mrr", "mrr/" split_)
        }
        /^\{"test"/ { scores("test"); next }
        {
            match($0, /"epoch":[0-9]+/)
            step = substr($0, RSTART + 8, RLENGTH - 8)
            say("train_loss", "loss/train")
            say("rate", "epoch/learning_rate")
            say("seconds", "epoch/seconds")
            say("seeds", "epoch/seeds")
            say("steps", "epoch/steps")
            print step, "epoch/seeds_per_second", "any"
            scores("validation")
        }' "$2/metrics.jsonl" | sort >"$work/metrics"
    [ -s "$work/metrics" ] && paste -d ' ' "$work/metrics" "$work/points" | awk '
        $1 != $4 || $2 != $5 || NF != 6 { exit 1 }
        $3 != "any" && ($3 - $6) ^ 2 > 1e-12 * $3 ^ 2 { exit 1 }'
}
