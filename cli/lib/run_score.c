/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/run_score.h"

#include <math.h>
#include <string.h>

double run_score(const struct tr_run *run, const struct tr_run_info *info)
{
    struct tr_run_epoch best = TR_RUN_EPOCH_INIT;
    struct tr_scores scores = TR_SCORES_INIT;
    const char *metric = tr_run_value(run, "metric");
    if (!info->has_best || metric == NULL ||
        tr_run_get_epoch(run, info->best, &best, &scores, NULL) != 0 || !best.evaluated)
        return (double)NAN;
    return strcmp(metric, "loss") == 0       ? scores.loss
           : strcmp(metric, "roc-auc") == 0  ? scores.roc_auc
           : strcmp(metric, "macro-f1") == 0 ? scores.macro_f1
           : strcmp(metric, "mrr") == 0      ? scores.mrr
                                             : scores.accuracy;
}
