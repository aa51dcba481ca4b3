/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shapes of a model that are tried where nobody named one (run_trial.c), and what config.json
 * says of a trial: an object "tried" beside the configuration, since it tells how that was chosen
 * and decides nothing when a run goes on.
 */
#ifndef MODEL_RUN_TRIED_H
#define MODEL_RUN_TRIED_H

#include <jansson.h>
#include <stdbool.h>

/* Each has to be better by a margin than those before it, which are faster. */
enum run_shape { RUN_SHAPE_SAGE, RUN_SHAPE_GCN, RUN_SHAPE_DEEP, RUN_SHAPES };

/* The width of deep's hidden layers where none is named. */
#define RUN_SHAPE_DEEP_HIDDEN 64u

struct run_tried {
    bool any; /* there was a trial */
    enum run_shape chosen;
    double scores[RUN_SHAPES]; /* of the validation nodes; NaN: that one learned nothing */
};

/* "deep" */
const char *run_shape_name(enum run_shape shape);

/* {"tried_sage": 0.71, ..., "tried_chosen": "sage"}, without those that learned nothing; NULL when
 * memory is out. */
json_t *run_tried_to_json(const struct run_tried *tried);
/* Reads "tried" from root, the document of config.json; without it tried->any is false. */
void run_tried_read(const json_t *root, struct run_tried *tried);

#endif
