/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe train`: trains a graph neural network on a partitioned graph.
 */
#include "cli/train/train.h"

static const char *const EXAMPLES[] = {
    "troupe train parts/web.json --run run1",
    "troupe train parts/web.json --model gcn --hidden 64 --lr 0.01 --l2 5e-4 --run run2",
    "troupe train parts/web.json --layers 3 --fanout 5,10,15 --epochs 20 --run run3 --json",
    "troupe train parts/web.json --seeds 0-9 --sweep lr=0.01,0.003 --run sweep1",
    NULL,
};

const struct command command_train = {
    .name = "train",
    .summary = "Train a graph neural network on a partitioned graph",
    .operands = "[DIR|DIR/NAME.json]",
    .operands_max = 1,
    .options = train_options,
    .values_size = sizeof(struct train_values),
    .examples = EXAMPLES,
    .run = train_run,
};
