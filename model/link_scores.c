/* SPDX-License-Identifier: Apache-2.0 */
#include "model/link_scores.h"

#include <math.h>
#include <stdlib.h>

#include "model/link_loss.h"
#include "model/ranking.h"

#define PAIRS_AT_ONCE 256u

/* What a block of pairs adds up to. */
struct link_sums {
    double loss, reciprocals;
    uint64_t edges_right, others_right;
};

struct scoring {
    const struct tensor *sources, *destinations; /* outputs of the nodes that ends are among */
    const struct link_pairs *pairs;
    uint64_t base;            /* of the keys of negatives */
    float *scores;            /* [pairs][2]: of a pair, and of its first negative */
    struct link_sums *blocks; /* [blocks] */
};

static double score_of(const struct scoring *s, uint32_t a, uint32_t b)
{
    return link_score(tensor_row(s->sources, a), tensor_row(s->destinations, b),
                      (uint32_t)s->sources->cols);
}

static void score_pair(const struct scoring *s, size_t i, struct link_sums *sums)
{
    uint32_t source = s->pairs->sources[i];
    double own = score_of(s, source, s->pairs->destinations[i]), above = 0;
    uint64_t key = key_node(s->base, i), draw = 0;
    for (uint32_t j = 0; j < LINK_NEGATIVES; j++) {
        uint32_t other = (uint32_t)key_below(key, &draw, s->destinations->rows);
        double score = score_of(s, source, other);
        /* An output that is no number comes last. */
        above += score < own ? 0 : score == own ? 0.5 : 1;
        if (j > 0)
            continue;
        s->scores[2 * i] = (float)own;
        s->scores[2 * i + 1] = (float)score;
        sums->loss += (link_entropy(own, true) + link_entropy(score, false)) / 2;
        sums->edges_right += own > 0;
        sums->others_right += score <= 0;
    }
    sums->reciprocals += 1 / (1 + above);
}

static void score_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct scoring *s = arg;
    size_t begin = block * PAIRS_AT_ONCE, left = s->pairs->count - begin;
    size_t end = left < PAIRS_AT_ONCE ? s->pairs->count : begin + PAIRS_AT_ONCE;
    struct link_sums sums = { 0 };
    for (size_t i = begin; i < end; i++)
        score_pair(s, i, &sums);
    s->blocks[block] = sums;
}

/* Of both kinds there are as many as pairs. */
static double macro_f1(const struct link_sums *sums, uint64_t pairs)
{
    uint64_t edges_said = sums->edges_right + (pairs - sums->others_right);
    double of_edges = 2.0 * (double)sums->edges_right / (double)(edges_said + pairs);
    double of_others = 2.0 * (double)sums->others_right / (double)(3 * pairs - edges_said);
    return (of_edges + of_others) / 2;
}

static int find_area(const struct scoring *s, double *area)
{
    struct ranking ranking = { 0 };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < 2 * s->pairs->count; i++)
        rc = ranking_add(&ranking, s->scores[i], i % 2 == 0);
    *area = rc == 0 ? ranking_area(&ranking) : (double)NAN;
    ranking_fini(&ranking);
    return rc;
}

int link_scores_of(struct parallel *parallel, const struct tensor *sources,
                   const struct tensor *destinations, const struct link_pairs *pairs,
                   enum link_split_part part, struct scores *scores)
{
    const struct draw_key key = { .purpose = KEY_NEGATIVES, .type = (uint32_t)part };
    struct scoring s = {
        .sources = sources, .destinations = destinations, .pairs = pairs, .base = key_base(&key)
    };
    size_t blocks = (pairs->count + PAIRS_AT_ONCE - 1) / PAIRS_AT_ONCE;
    *scores = scores_none();
    if (pairs->count == 0)
        return 0;
    s.scores = calloc(pairs->count, 2 * sizeof *s.scores);
    s.blocks = calloc(blocks, sizeof *s.blocks);
    int rc = s.scores == NULL || s.blocks == NULL ? TR_ENOMEM : 0;
    struct link_sums all = { 0 };
    if (rc == 0)
        parallel_for(parallel, blocks, score_block, &s);
    for (size_t i = 0; rc == 0 && i < blocks; i++) {
        all.loss += s.blocks[i].loss;
        all.reciprocals += s.blocks[i].reciprocals;
        all.edges_right += s.blocks[i].edges_right;
        all.others_right += s.blocks[i].others_right;
    }
    double count = (double)pairs->count, area = (double)NAN;
    if (rc == 0)
        rc = find_area(&s, &area);
    if (rc == 0)
        *scores = (struct scores){ .labelled = pairs->count,
                                   .loss = all.loss / count,
                                   .accuracy = (double)(all.edges_right + all.others_right) /
                                               (2 * count),
                                   .macro_f1 = macro_f1(&all, pairs->count),
                                   .roc_auc = area,
                                   .mrr = all.reciprocals / count };
    free(s.scores);
    free(s.blocks);
    return rc;
}
