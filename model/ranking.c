/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ranking.h"

#include <math.h>
#include <stdlib.h>

#include <troupe/error.h>

void ranking_fini(struct ranking *ranking)
{
    free(ranking->items);
    *ranking = (struct ranking){ 0 };
}

int ranking_add(struct ranking *ranking, float score, bool positive)
{
    if (ranking->count == ranking->room) {
        size_t room = ranking->room == 0 ? 1024 : 2 * ranking->room;
        struct ranked *items = reallocarray(ranking->items, room, sizeof *items);
        if (items == NULL)
            return TR_ENOMEM;
        ranking->items = items;
        ranking->room = room;
    }
    ranking->items[ranking->count++] = (struct ranked){ isnan(score) ? -INFINITY : score,
                                                        positive };
    return 0;
}

static int compare(const void *a, const void *b)
{
    float x = ((const struct ranked *)a)->score, y = ((const struct ranked *)b)->score;
    return (x > y) - (x < y);
}

double ranking_area(struct ranking *ranking)
{
    if (ranking->count > 0)
        qsort(ranking->items, ranking->count, sizeof *ranking->items, compare);
    /* Counts each pair of positive and negative twice, a tie once. */
    uint64_t pairs = 0, positives = 0, negatives = 0;
    for (size_t i = 0; i < ranking->count;) {
        uint64_t tied_positives = 0, tied = 0;
        float score = ranking->items[i].score;
        for (; i < ranking->count && ranking->items[i].score == score; i++, tied++)
            tied_positives += ranking->items[i].positive;
        pairs += tied_positives * (2 * negatives + (tied - tied_positives));
        positives += tied_positives;
        negatives += tied - tied_positives;
    }
    if (positives == 0 || negatives == 0)
        return (double)NAN;
    return (double)pairs / 2 / (double)positives / (double)negatives;
}
