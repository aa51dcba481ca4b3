/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public functions of libtroupe-model share this: scores as a caller has them, options that are
 * filled with defaults.
 *
 * Thread rules: pure functions.
 */
#ifndef MODEL_PUBLIC_SCORES_H
#define MODEL_PUBLIC_SCORES_H

#include <troupe/model.h>

#include "model/scores.h"

/* scores may be NULL. */
int public_scores_write(struct tr_scores *scores, const struct scores *from,
                        struct tr_error *error);

/* Fills a caller's options [size] with the defaults [bytes]; what only the caller knows is zero. */
void public_options_init(void *options, size_t size, const void *defaults, size_t bytes);

#endif
