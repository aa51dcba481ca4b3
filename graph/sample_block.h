/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of rows: what the kernels of all samplers share.
 *
 * A kernel waits for memory and little else, so it decides a block of rows at a time, which of
 * their positions are drawn, prefetches the columns at these, and reads them one block later.
 * Whatever a sampler decides, the columns, IDs and weights of a decided block are given here.
 *
 * sample_walk() drives kernels that decide by a function: up to three blocks are under way, one
 * whose first reads are prefetched (aimed), one that is decided, one that is read. Uniform draws
 * (graph/sample.c) have a loop of their own, whose decisions are inlined.
 *
 * Thread rules: as in graph/sample.h.
 */
#ifndef GRAPH_SAMPLE_BLOCK_H
#define GRAPH_SAMPLE_BLOCK_H

#include <stdbool.h>

#include "graph/key.h"
#include "graph/sample.h"
#include "graph/vec.h"

/* Rows in flight at once: enough misses to keep the memory busy, few enough for the L1 cache. */
#define BLOCK_ROWS 64u
/* Positions of one block, of which there are two; a fanout above makes blocks of one row. */
#define BLOCK_POSITIONS 4096u
/* The first lines of a row that is taken whole are prefetched, the hardware follows by itself. */
#define WHOLE_LINES_MAX 4u
#define LINE_WORDS 16u

/* A function that only prefetches looks free of effects to gcc, which then drops the calls;
 * inlined, the prefetches stay. */
#define PREFETCHER static inline __attribute__((always_inline)) void

/* The decision for one row, before its columns are read. */
struct row_plan {
    uint64_t begin; /* of the row in the CSC's indices */
    uint32_t count;
    uint32_t at; /* of its positions in the block's; WHOLE: all of the row */
};

#define WHOLE UINT32_MAX

struct block_plan {
    struct row_plan rows[BLOCK_ROWS];
    const uint32_t *positions;
    const float *weights; /* of the edges at the positions; NULL: each is 1. Rows that are WHOLE
                             have weights of 1 */
    uint32_t first_row;
    uint32_t num_rows;
};

/* Reads the columns of a decided block; *translated is how far wide columns are done. */
void block_emit(const struct csc *csc, const struct block_plan *block, struct sample_result *result,
                uint64_t *translated);
/* Makes IDs of the wide columns from that one on: behind the last block. */
void block_translate(const struct csc *csc, struct sample_result *result, uint64_t from);

/* Rows of a block that draws so many each. */
uint32_t block_rows(uint32_t fanout);

/* Makes *words hold at least `wanted` words; what it held is lost. */
int sample_reserve(uint32_t **words, size_t *bytes, uint64_t wanted);

/* A block of sample_walk(). */
struct walk_block {
    struct block_plan plan;
    uint32_t num_positions;
    struct vec positions; /* uint32_t[num_positions] */
    struct vec weights;   /* float[num_positions], of kernels that give weights */
    uint64_t keys[BLOCK_ROWS];
    bool weigh; /* the kernel gives weights */
    /* The kernel's own, between its steps. */
    uint64_t draws[BLOCK_ROWS];
    double rest[BLOCK_ROWS];
    int ways[BLOCK_ROWS];
};

/* Memory of kernels beside that of the block, for one row. */
struct walk_space {
    struct walk_block blocks[3];
    struct vec candidates; /* uint32_t */
    struct vec scratch;    /* of subset_draw() */
    struct vec keyed;      /* the kernel's own */
    struct vec others;     /* uint64_t, edges of other types that are left out */
};

/* The decisions of a kernel for one row of a block: in plan->count, and in the block's positions
 * from plan->at on, or WHOLE. */
struct walk_kernel {
    /* Prefetches what decide() will read of the rows; NULL: nothing. */
    int (*aim)(struct walk_space *space, const struct sample_request *request,
               struct walk_block *block);
    int (*decide)(struct walk_space *space, const struct sample_request *request,
                  struct walk_block *block, uint32_t i);
    /* Ends what decide() began, a block later, when what it prefetched is there; NULL: nothing. */
    int (*finish)(struct walk_space *space, const struct sample_request *request,
                  struct walk_block *block);
    bool weighs; /* fills the block's weights, whether they are wanted or not */
};

int sample_walk(struct sample_space *space, const struct sample_request *request,
                struct sample_result *result, const struct walk_kernel *kernel);

/* Room for `count` positions more behind those of the block, and for as many weights. TR_ENOMEM. */
int walk_reserve(struct walk_block *block, uint64_t count);

/* The most attempts at k draws that may be refused, before the row is read whole. */
static inline uint64_t walk_attempts(uint32_t k)
{
    return 8 * (uint64_t)k + 64;
}

/* The key of what is drawn behind refused attempts, whose number nothing else depends on. */
static inline uint64_t walk_rest_key(uint64_t row_key)
{
    return key_mix(row_key ^ UINT64_C(0xa0761d6478bd642f));
}

/* The row of the request, its begin and its degree. */
static inline uint64_t walk_row(const struct sample_request *request,
                                const struct walk_block *block, uint32_t i, uint64_t *degree)
{
    uint32_t row = request->rows[block->plan.first_row + i];
    uint64_t begin = request->csc->index[row];
    *degree = request->csc->index[row + UINT64_C(1)] - begin;
    return begin;
}

/* The key of the draws of the request's row i. */
static inline uint64_t sample_row_key(const struct sample_request *request, uint32_t i)
{
    uint32_t row = request->rows[i];
    uint64_t id = request->original_ids != NULL ? request->original_ids[row]
                                                : request->global_begin + row;
    uint64_t key = key_node(request->key_base, id);
    return request->with.salts != NULL ? key_occurrence(key, request->with.salts[i]) : key;
}

PREFETCHER prefetch_bounds(const struct sample_request *request, uint32_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = request->rows[first + i];
        __builtin_prefetch(&request->csc->index[row]);
        __builtin_prefetch(&request->csc->index[row + UINT64_C(1)]); /* may be the next line */
        if (request->original_ids != NULL)
            __builtin_prefetch(&request->original_ids[row]);
    }
}

/* The first lines of an array that is read from its beginning. */
PREFETCHER prefetch_bytes(const void *from, uint64_t bytes)
{
    const unsigned char *at = from;
    uint64_t most = WHOLE_LINES_MAX * LINE_WORDS * sizeof(uint32_t);
    bytes = bytes < most ? bytes : most;
    for (uint64_t i = 0; i < bytes; i += LINE_WORDS * sizeof(uint32_t))
        __builtin_prefetch(&at[i]);
    if (bytes > 0)
        __builtin_prefetch(&at[bytes - 1]);
}

#endif
