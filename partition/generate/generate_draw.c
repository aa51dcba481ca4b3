/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/generate/generate_draw.h"

#include <math.h>

/* A prime near 2^32 over the golden ratio; numbers next to it are tried until one is coprime. */
#define FACTOR UINT64_C(2654435761)

/* Draws of an R-MAT edge that miss [0, n) before one is folded into it: never in practice, since
 * the first quadrant is always inside. */
#define MISSES_MAX 1000

/* The inverse of a modulo n by Euclid's algorithm, or 0 if they share a factor. */
static uint64_t invert(uint64_t a, uint64_t n)
{
    __int128 t = 0, next_t = 1, r = n, next_r = a % n;
    while (next_r != 0) {
        __int128 quotient = r / next_r, was = t - quotient * next_t;
        t = next_t;
        next_t = was;
        was = r - quotient * next_r;
        r = next_r;
        next_r = was;
    }
    if (r != 1)
        return 0;
    return (uint64_t)(t < 0 ? t + n : t);
}

void scatter_init(struct scatter_bijection *scatter, uint64_t n)
{
    *scatter = (struct scatter_bijection){ .n = n == 0 ? 1 : n, .factor = FACTOR };
    if (n <= 2) {
        scatter->factor = scatter->inverse = 1;
        return;
    }
    while ((scatter->inverse = invert(scatter->factor, n)) == 0)
        scatter->factor += 2;
}

enum { STREAM_EDGES, STREAM_LABELS, STREAM_FEATURES, STREAM_CENTROIDS };

static uint64_t make_base(uint64_t seed, uint32_t purpose, uint32_t stream)
{
    struct draw_key key = { .seed = seed, .purpose = purpose, .type = stream };
    return key_base(&key);
}

void draws_init(struct generate_draws *draws, const struct generate_options *options)
{
    *draws = (struct generate_draws){
        .options = options,
        .edge_base = make_base(options->seed, KEY_GENERATE, STREAM_EDGES),
        .label_base = make_base(options->seed, KEY_GENERATE, STREAM_LABELS),
        .feature_base = make_base(options->seed, KEY_GENERATE, STREAM_FEATURES),
        .centroid_base = make_base(options->seed, KEY_GENERATE, STREAM_CENTROIDS),
        .split_base = make_base(options->seed, KEY_SPLIT, 0),
    };
    scatter_init(&draws->scatter, options->num_nodes);
    while (((uint64_t)1 << draws->levels) < options->num_nodes)
        draws->levels++;
    draws->cuts[0] = (uint32_t)(options->a * 65536);
    draws->cuts[1] = (uint32_t)((options->a + options->b) * 65536);
    draws->cuts[2] = (uint32_t)((options->a + options->b + options->c) * 65536);
}

/* One descent through the matrix, four levels a draw of 64 bits. */
static void descend(const struct generate_draws *draws, uint64_t key, uint64_t *draw, uint64_t *row,
                    uint64_t *column)
{
    uint64_t r = 0, c = 0, bits = 0;
    for (uint32_t level = 0; level < draws->levels; level++) {
        if (level % 4 == 0)
            bits = key_draw(key, (*draw)++);
        uint32_t piece = bits & 0xffff;
        bits >>= 16;
        uint32_t quadrant = (piece >= draws->cuts[0]) + (piece >= draws->cuts[1]) +
                            (piece >= draws->cuts[2]);
        r = r << 1 | quadrant >> 1;
        c = c << 1 | (quadrant & 1);
    }
    *row = r;
    *column = c;
}

void draw_rmat(const struct generate_draws *draws, uint64_t begin, uint64_t count, uint64_t *src,
               uint64_t *dst)
{
    uint64_t n = draws->options->num_nodes;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t key = key_node(draws->edge_base, begin + i), draw = 0, row, column;
        int misses = 0;
        do
            descend(draws, key, &draw, &row, &column);
        while ((row >= n || column >= n) && ++misses < MISSES_MAX);
        src[i] = scatter_apply(&draws->scatter, row % n);
        dst[i] = scatter_apply(&draws->scatter, column % n);
    }
}

static uint64_t square(double u, uint64_t n)
{
    return (uint64_t)((double)n * u * u);
}

void draw_skew(const struct generate_draws *draws, uint64_t begin, uint64_t count, uint64_t *src,
               uint64_t *dst)
{
    uint64_t n = draws->options->num_nodes;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t key = key_node(draws->edge_base, begin + i);
        dst[i] = square(key_double(key, 0), n);
        src[i] = scatter_apply(&draws->scatter, square(key_double(key, 1), n));
    }
}

static uint64_t draw_member(const struct generate_draws *draws, uint64_t key, uint64_t *draw,
                            uint64_t block)
{
    uint64_t first = block_first(draws, block), end = block_first(draws, block + 1);
    return scatter_invert(&draws->scatter, first + key_below(key, draw, end - first));
}

void draw_sbm(const struct generate_draws *draws, uint64_t begin, uint64_t count, uint64_t *src,
              uint64_t *dst)
{
    const struct generate_options *options = draws->options;
    uint64_t blocks = options->num_classes;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t key = key_node(draws->edge_base, (begin + i) / 2), draw = 0;
        uint64_t from = key_below(key, &draw, blocks), to = from;
        if (key_double(key, draw++) >= options->inside && blocks > 1)
            to = (from + 1 + key_below(key, &draw, blocks - 1)) % blocks;
        uint64_t a = draw_member(draws, key, &draw, from);
        uint64_t b = draw_member(draws, key, &draw, to);
        bool back = (begin + i) & 1;
        src[i] = back ? b : a;
        dst[i] = back ? a : b;
    }
}

uint32_t block_of(const struct generate_draws *draws, uint64_t node)
{
    uint64_t n = draws->options->num_nodes;
    uint64_t position = scatter_apply(&draws->scatter, node);
    /* The largest block whose first position is not above this one. */
    uint64_t block = (uint64_t)(((unsigned __int128)position * draws->options->num_classes) / n);
    while (block_first(draws, block + 1) <= position)
        block++;
    return (uint32_t)block;
}
