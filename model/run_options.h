/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a program (struct tr_train_options) as the configuration of a run: what decides a
 * result, and what of it is left to be chosen by the graph.
 *
 * Ownership: run_options_read() takes copies; run_config_fini() frees them, also after a failure.
 * Thread rules: one thread at a time.
 */
#ifndef MODEL_RUN_OPTIONS_H
#define MODEL_RUN_OPTIONS_H

#include <troupe/model.h>

#include "model/run_config.h"

#define RUN_OPTIONS_NEEDED "tr_train_options: graph, run, features and train_mask are needed"

struct tr_train_options run_options_defaults(void);

/* TR_EINVAL and TR_ERANGE name an option. The seed is the program's, which a cluster file may
 * replace. */
int run_options_read(struct run_config *config, const struct tr_train_options *from,
                     struct tr_error *error);

#endif
