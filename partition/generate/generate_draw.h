/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of the generators: which edge, which class. Private to generate*.c.
 */
#ifndef PARTITION_GENERATE_GENERATE_DRAW_H
#define PARTITION_GENERATE_GENERATE_DRAW_H

#include "graph/key.h"
#include "partition/generate/generate.h"

/* A bijection of [0, n) that scatters neighbouring numbers: multiplication by a number coprime
 * to n. */
struct scatter_bijection {
    uint64_t n;
    uint64_t factor;
    uint64_t inverse;
};

void scatter_init(struct scatter_bijection *scatter, uint64_t n);

static inline uint64_t scatter_apply(const struct scatter_bijection *scatter, uint64_t x)
{
    return (uint64_t)((unsigned __int128)x * scatter->factor % scatter->n);
}

static inline uint64_t scatter_invert(const struct scatter_bijection *scatter, uint64_t y)
{
    return (uint64_t)((unsigned __int128)y * scatter->inverse % scatter->n);
}

/* The inputs of the draws of a kind of graph. */
struct generate_draws {
    const struct generate_options *options;
    struct scatter_bijection scatter;
    uint64_t edge_base; /* keys, as key_base gives them */
    uint64_t label_base;
    uint64_t feature_base;
    uint64_t centroid_base;
    uint64_t split_base;
    uint32_t levels;  /* R-MAT: log2 of the matrix */
    uint32_t cuts[3]; /* R-MAT: a, a + b, a + b + c in 1/65536 */
};

void draws_init(struct generate_draws *draws, const struct generate_options *options);

/* Edges [begin, begin + count). */
void draw_rmat(const struct generate_draws *draws, uint64_t begin, uint64_t count, uint64_t *src,
               uint64_t *dst);
void draw_sbm(const struct generate_draws *draws, uint64_t begin, uint64_t count, uint64_t *src,
              uint64_t *dst);
void draw_skew(const struct generate_draws *draws, uint64_t begin, uint64_t count, uint64_t *src,
               uint64_t *dst);

/* The first position, in scattered order, of a block: block b has [first(b), first(b + 1)). */
static inline uint64_t block_first(const struct generate_draws *draws, uint64_t block)
{
    return (uint64_t)((unsigned __int128)block * draws->options->num_nodes /
                      draws->options->num_classes);
}

uint32_t block_of(const struct generate_draws *draws, uint64_t node);

#endif
