/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The score that a run in a folder went by.
 *
 * Thread rules: any thread.
 */
#ifndef CLI_LIB_RUN_SCORE_H
#define CLI_LIB_RUN_SCORE_H

#include <troupe/run.h>

/* Returns the score of the validation nodes in the best epoch, by the run's metric; NaN: there is
 * none. */
double run_score(const struct tr_run *run, const struct tr_run_info *info);

#endif
