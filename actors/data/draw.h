/* SPDX-License-Identifier: Apache-2.0 */
/* The key that a message names: the kernel's, but for purpose and type. */
#ifndef ACTORS_DATA_DRAW_H
#define ACTORS_DATA_DRAW_H

#include "graph/key.h"
#include "schemas/messages.h"

static inline struct draw_key draw_key_of(const struct msg_draw *draw)
{
    return (struct draw_key){ .seed = draw->seed,
                              .batch = draw->batch,
                              .epoch = draw->epoch,
                              .rank = draw->rank,
                              .hop = draw->hop };
}

static inline struct msg_draw draw_of(const struct draw_key *key)
{
    return (struct msg_draw){ .seed = key->seed,
                              .batch = key->batch,
                              .epoch = key->epoch,
                              .rank = key->rank,
                              .hop = key->hop };
}

#endif
