/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a training that goes on with a run takes over from it, and whether it then computes the same:
 * config.json as it is, beside what the training would write there.
 *
 * Ownership: configurations stay the caller's. Thread rules: one thread at a time for each.
 */
#ifndef MODEL_RUN_COMPARE_H
#define MODEL_RUN_COMPARE_H

#include "model/run_config.h"

/* Which of these options (enum run_open, but masks and the deal) are left to be chosen. */
uint32_t run_config_left_open(const struct run_config *config, uint32_t options);
/* Takes the values of these options, whether they are left open or not. */
void run_config_take(struct run_config *config, const struct run_config *of, uint32_t options);

/* Takes whether logarithms of columns are taken, behind whether they are standardised. */
void run_config_take_logarithms(struct run_config *config, const struct run_config *of);

/* Takes what nobody named from the configuration of a run that is gone on with. lent: it began with
 * another run's weights, and so has its shape. */
void run_config_adopt(struct run_config *config, const struct run_config *begun, bool lent);

/* Takes what nobody named of how features are read, and of the shape, from the run whose weights are
 * those to begin with. */
void run_config_begin_from(struct run_config *config, const struct run_config *from);

/* Whether RUNDIR/config.json is of a run that computes the same as `now`, which is what would be
 * written there, as far as that run went: TR_EMISMATCH names what differs. *kernels: the record of
 * them, for free(). *grew: more epochs or a longer patience. */
int run_config_compare(struct files *files, const char *path, const json_t *now, char **kernels,
                       bool *grew, struct error *error);

/* The same of documents, in the fields `decisive` [count] alone: changes root. path: of config.json,
 * for the error. */
int run_config_compare_fields(const char *path, json_t *root, const json_t *now,
                              const char *const *decisive, size_t count, bool *grew,
                              struct error *error);

/* Leaves out what a run may still change while it goes on: equal for runs of which one goes on from
 * the other's checkpoints. */
void run_config_forget_length(json_t *run);

#endif
