/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/reference_loops.h"

#include <assert.h>
#include <string.h>

#include "graph/key.h"
#include "runtime/base/hotmem.h"

#define BLOCK 64u
#define AHEAD 16u

int reference_loops_init(struct reference_loops *bare, uint32_t num_seeds,
                         const uint32_t fanouts[REFERENCE_LAYERS])
{
    *bare = (struct reference_loops){ .stamp = 1 };
    uint64_t frontier = num_seeds, edges = 0;
    for (int hop = 0; hop < REFERENCE_LAYERS; hop++) {
        assert(fanouts[hop] < REFERENCE_FANOUT_MAX);
        edges += frontier * fanouts[hop];
        frontier += frontier * fanouts[hop];
    }
    bare->edges_max = edges;
    bare->slots = hotmem_alloc(REFERENCE_SLOTS * 2 * sizeof *bare->slots);
    bare->nodes = hotmem_alloc((REFERENCE_NODES_MAX + 1) * sizeof *bare->nodes);
    bare->columns = hotmem_alloc(edges * sizeof *bare->columns);
    bare->sources = hotmem_alloc(edges * sizeof *bare->sources);
    bare->counts = hotmem_alloc(edges * sizeof *bare->counts);
    if (bare->slots == NULL || bare->nodes == NULL || bare->columns == NULL ||
        bare->sources == NULL || bare->counts == NULL) {
        reference_loops_fini(bare);
        return TR_ENOMEM;
    }
    return 0;
}

void reference_loops_fini(struct reference_loops *bare)
{
    hotmem_free(bare->slots, REFERENCE_SLOTS * 2 * sizeof *bare->slots);
    hotmem_free(bare->nodes, (REFERENCE_NODES_MAX + 1) * sizeof *bare->nodes);
    hotmem_free(bare->columns, bare->edges_max * sizeof *bare->columns);
    hotmem_free(bare->sources, bare->edges_max * sizeof *bare->sources);
    hotmem_free(bare->counts, bare->edges_max * sizeof *bare->counts);
    *bare = (struct reference_loops){ 0 };
}

/* k distinct positions below degree, in the order drawn. */
static inline void draw_distinct(uint32_t *positions, uint32_t k, uint32_t degree, uint64_t key)
{
    uint64_t state = key;
    for (uint32_t i = 0; i < k;) {
        state += KEY_STEP;
        uint32_t drawn = (uint32_t)((key_mix(state) >> 32) * degree >> 32);
        uint32_t j = 0;
        while (j < i && positions[j] != drawn)
            j++;
        positions[i] = drawn;
        i += j == i;
    }
}

/* The columns of rows first .. first + n; returns how many. Two passes: positions, columns. */
static uint64_t sample_block(const struct csc *csc, const uint32_t *rows, uint32_t n, uint32_t k,
                             uint64_t key, uint32_t *counts, uint32_t *columns)
{
    const uint32_t *picks[BLOCK * REFERENCE_FANOUT_MAX];
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t begin = csc->index[rows[i]], degree = csc->index[rows[i] + 1] - begin;
        uint32_t positions[REFERENCE_FANOUT_MAX], count = degree < k ? (uint32_t)degree : k;
        if (degree <= k) {
            for (uint32_t e = 0; e < count; e++)
                positions[e] = e;
        } else {
            draw_distinct(positions, k, (uint32_t)degree, key_node(key, rows[i]));
        }
        for (uint32_t e = 0; e < count; e++) {
            picks[total + e] = &csc->indices[begin + positions[e]];
            __builtin_prefetch(picks[total + e]);
        }
        counts[i] = count;
        total += count;
    }
    for (uint64_t e = 0; e < total; e++)
        columns[e] = *picks[e];
    return total;
}

uint64_t reference_loops_draw(const struct csc *csc, const uint32_t *rows, uint32_t n, uint32_t k,
                              uint64_t key, uint32_t *counts, uint32_t *columns)
{
    uint64_t total = 0;
    for (uint32_t first = 0; first < n; first += BLOCK) {
        uint32_t size = n - first < BLOCK ? n - first : BLOCK;
        for (uint32_t i = first + size; i < n && i < first + 2 * BLOCK; i++)
            __builtin_prefetch(&csc->index[rows[i] + 1]);
        total += sample_block(csc, rows + first, size, k, key, counts + first, columns + total);
    }
    return total;
}

static inline size_t slot_of(uint32_t id)
{
    return (size_t)(id * KEY_STEP >> 43);
}

_Static_assert(REFERENCE_SLOTS == (size_t)1 << 21, "slot_of keeps 21 bits");

static void relabel_columns(struct reference_loops *bare, const uint32_t *ids, uint64_t n,
                            uint32_t *sources)
{
    uint32_t num_nodes = bare->num_nodes, stamp = bare->stamp;
    for (uint64_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            __builtin_prefetch(&bare->slots[slot_of(ids[i + AHEAD])], 1);
        uint64_t *slot = &bare->slots[slot_of(ids[i])];
        while (*slot >> 32 >= stamp && (uint32_t)*slot != ids[i])
            slot++; /* never past the end: there are as many slots again behind it */
        uint32_t value = (uint32_t)(*slot >> 32);
        int is_new = value < stamp;
        value = is_new ? stamp + num_nodes : value;
        *slot = (uint64_t)value << 32 | ids[i];
        bare->nodes[num_nodes] = ids[i];
        num_nodes += (uint32_t)is_new;
        assert(num_nodes <= REFERENCE_NODES_MAX);
        sources[i] = value - stamp;
    }
    bare->num_nodes = num_nodes;
}

uint64_t reference_loops_sample(struct reference_loops *bare, const struct csc *csc,
                                const uint32_t *seeds, uint32_t num_seeds,
                                const uint32_t fanouts[REFERENCE_LAYERS], uint64_t key)
{
    uint64_t total = 0;
    uint32_t *counts = bare->counts;
    bare->stamp += bare->num_nodes;
    if (bare->stamp > UINT32_MAX - REFERENCE_NODES_MAX - 1) {
        memset(bare->slots, 0, REFERENCE_SLOTS * 2 * sizeof *bare->slots);
        bare->stamp = 1;
    }
    bare->num_nodes = 0;
    relabel_columns(bare, seeds, num_seeds, bare->sources);
    for (int hop = 0; hop < REFERENCE_LAYERS; hop++) {
        uint32_t frontier = bare->num_nodes;
        uint64_t edges = reference_loops_draw(csc, bare->nodes, frontier, fanouts[hop],
                                              key_mix(key + (uint64_t)hop), counts, bare->columns);
        relabel_columns(bare, bare->columns, edges, bare->sources + total);
        counts += frontier;
        total += edges;
    }
    return total;
}

void reference_loops_gather(char *to, const char *from, size_t row_bytes, const uint32_t *rows,
                            size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) {
            const char *ahead = from + rows[i + AHEAD] * row_bytes;
            for (size_t at = 0; at < row_bytes; at += 64)
                __builtin_prefetch(ahead + at);
        }
        memcpy(to + i * row_bytes, from + rows[i] * row_bytes, row_bytes);
    }
}
