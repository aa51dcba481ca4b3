/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The area under the ROC curve: the probability that a positive scores above a negative,
 * ties counting half (Mann and Whitney, 1947).
 *
 * Ownership: embedded; keeps every score until it is asked, as the area needs their order.
 */
#ifndef MODEL_RANKING_H
#define MODEL_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ranked {
    float score;
    uint32_t positive;
};

struct ranking {
    struct ranked *items;
    size_t count;
    size_t room;
};

void ranking_fini(struct ranking *ranking);

/* TR_ENOMEM */
int ranking_add(struct ranking *ranking, float score, bool positive);

/* NaN without a positive or without a negative; NaN scores rank lowest. Sorts the items. Exact up
 * to 2^32 items (products of counts are integers below 2^64). */
double ranking_area(struct ranking *ranking);

#endif
