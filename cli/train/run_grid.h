/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of one command: the values that --sweep gives to options, in every combination, and of
 * each such point the seeds of --seeds.
 *
 * Invariant: points stand in the order of the lists, of which the last changes fastest.
 *
 * Ownership: the values and what they point to outlive the grid. Thread rules: the main thread.
 */
#ifndef CLI_TRAIN_RUN_GRID_H
#define CLI_TRAIN_RUN_GRID_H

#include "cli/train/train.h"

#define RUN_GRID_AXES_MAX 16u
#define RUN_GRID_VALUES_MAX 64u

/* One --sweep: an option and its values. */
struct run_grid_axis {
    const struct option_spec *spec;
    char *text; /* of the option, cut into its words */
    const char *values[RUN_GRID_VALUES_MAX];
    uint32_t count;
};

struct run_grid {
    const struct train_values *values;
    struct run_grid_axis axes[RUN_GRID_AXES_MAX];
    uint32_t num_axes;
    uint64_t *seeds;
    uint32_t num_seeds;
    uint32_t num_points;
};

/* Reads --seeds and --sweep of values, and refuses a point whose options disagree. given: the options
 * of the command line, by the rows of train_options; one that is swept or counted by --seeds is not
 * to be among them. TR_EINVAL. Whatever it returns, run_grid_fini() follows. */
int run_grid_init(struct run_grid *grid, const struct train_values *values, const bool *given,
                  struct tr_error *error);
void run_grid_fini(struct run_grid *grid);

/* As the command line has it: "0.01". */
const char *run_grid_value(const struct run_grid *grid, uint32_t point, uint32_t axis);

/* FOLDER/lr=0.01,hidden=64/seed-3, without what is not asked for, to free(). seed: NULL: the folder
 * of the point. NULL: no memory. */
char *run_grid_path(const struct run_grid *grid, const char *folder, uint32_t point,
                    const uint64_t *seed);

/* *values: those of the command, and the point's. */
int run_grid_take(const struct run_grid *grid, uint32_t point, struct train_values *values,
                  struct tr_error *error);

/* "0-9,12": [*count] in the order of the text, each once, to free(). TR_EINVAL. */
int run_grid_read_seeds(const char *text, uint64_t **seeds, uint32_t *count,
                        struct tr_error *error);

#endif
