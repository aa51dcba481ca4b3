/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a run in a folder is the one that options ask for: of commands that train several runs, and
 * of any program by tr_run_compare().
 *
 * Two questions are asked. A training that goes on with a run takes what its options leave open
 * from the run (run_config_adopt). A command that names the run that a training would begin leaves
 * open what that would choose: config.json says what was left open then (run_open.h). Either is
 * answered by the comparison of what config.json has with what it would have (run_compare.h), by
 * which a training decides whether to go on.
 *
 * Ownership: nothing is kept. Thread rules: any number of threads may ask of one document.
 */
#ifndef MODEL_RUN_SAME_H
#define MODEL_RUN_SAME_H

#include <jansson.h>

#include <troupe/model.h>

#include "runtime/base/error.h"

/* Whether root, the document of a config.json at that path, is of the run that a training with these
 * options would begin; with options->resume, of one that it would go on with. TR_EMISMATCH names what
 * differs. *longer: more epochs or a longer patience are asked for. The graph is not compared, nor
 * what files of options.deal and options.from hold. */
int run_compare_options(const char *path, const json_t *root,
                        const struct tr_train_options *options, bool *longer, struct error *error);

#endif
