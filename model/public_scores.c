/* SPDX-License-Identifier: Apache-2.0 */
#include "model/public_scores.h"

#include <string.h>

#include "api/sized.h"

int public_scores_write(struct tr_scores *scores, const struct scores *from, struct tr_error *error)
{
    const struct tr_scores shown = { .size = sizeof shown,
                                     .labelled = from->labelled,
                                     .loss = from->loss,
                                     .accuracy = from->accuracy,
                                     .macro_f1 = from->macro_f1,
                                     .roc_auc = from->roc_auc,
                                     .mrr = from->mrr };
    return scores == NULL ? 0 : sized_write(scores, &shown, sizeof shown, "tr_scores", error);
}

void public_options_init(void *options, size_t size, const void *defaults, size_t bytes)
{
    memset(options, 0, size);
    memcpy(options, defaults, size < bytes ? size : bytes);
    memcpy(options, &size, sizeof size); /* each begins with it */
}
