/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which options were left open when a run was begun, for the graph or for trials to choose: a list in
 * config.json beside the configuration, since it decides nothing when the run goes on. A later
 * command is compared with the list, to see whether it would choose as that run did (run_same.h).
 */
#ifndef MODEL_RUN_OPEN_H
#define MODEL_RUN_OPEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define RUN_OPEN_KEY "left_open"

enum run_open {
    RUN_OPEN_EPOCHS = 1 << 0,
    RUN_OPEN_PATIENCE = 1 << 1,
    RUN_OPEN_EVALUATE_EVERY = 1 << 2,
    RUN_OPEN_INPUT_DROPOUT = 1 << 3,
    RUN_OPEN_L2 = 1 << 4,
    RUN_OPEN_NORMALISE = 1 << 5,
    RUN_OPEN_STANDARDISE = 1 << 6,
    RUN_OPEN_KIND = 1 << 7,
    RUN_OPEN_LAYERS = 1 << 8, /* and what they draw */
    RUN_OPEN_NORM = 1 << 9,   /* and residual */
    RUN_OPEN_HIDDEN = 1 << 10,
    RUN_OPEN_METRIC = 1 << 11,
    RUN_OPEN_VAL_MASK = 1 << 12,
    RUN_OPEN_TEST_MASK = 1 << 13,
    RUN_OPEN_DEAL = 1 << 14
};

/* ["epochs", "patience"], by the names of config.json; NULL when memory is out. */
json_t *run_open_to_json(uint32_t open);
/* Of root, the document of config.json; *known is false where it has no such list, as older versions
 * wrote it. Names of a later version are left out. */
void run_open_read(const json_t *root, uint32_t *open, bool *known);

#endif
