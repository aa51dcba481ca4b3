/* SPDX-License-Identifier: Apache-2.0 */
/* A flattened batch that a sampler elsewhere sent: what is taken flattens to the same bytes, and
 * its arrays can be read. */
#include "actors/data/batch_flat.h"
#include "partition/store/book.h"
#include "tests/fuzz/fuzz.h"

#define LAYERS 2

static void make_types(struct graph_types *types)
{
    int rv = graph_types_add_ntype(types, "user", NULL);
    rv = rv != 0 ? rv : graph_types_add_ntype(types, "item", NULL);
    rv = rv != 0 ? rv : graph_types_add_etype(types, "user:knows:user", NULL);
    rv = rv != 0 ? rv : graph_types_add_etype(types, "item:bought:user", NULL);
    assert(rv == 0);
}

/* A book so large has all IDs but one. */
static struct book book_of(const struct graph_types *types)
{
    static uint64_t nodes[] = { UINT64_MAX, UINT64_MAX }, edges[] = { UINT64_MAX, UINT64_MAX };
    return (struct book){ .types = *types, .num_nodes = nodes, .num_edges = edges };
}

static void touch(const struct mini_batch *batch)
{
    for (uint32_t t = 0; t < batch->num_ntypes; t++) {
        const struct batch_nodes *nodes = &batch->nodes[t];
        fuzz_touch(nodes->ids, nodes->num_nodes * UINT64_C(8));
        if (nodes->features.rows != NULL)
            fuzz_touch(nodes->features.rows, nodes->features.num_rows * nodes->features.row_bytes);
    }
    for (uint32_t i = 0; i < batch->num_tables; i++)
        fuzz_touch(batch->tables[i].rows.rows,
                   batch->tables[i].rows.num_rows * batch->tables[i].rows.row_bytes);
    for (uint32_t t = 0; t < batch->num_pair_types; t++) {
        const struct batch_pairs *pairs = &batch->pairs[t];
        assert(pairs->etype < batch->num_etypes);
        fuzz_touch(pairs->sources, pairs->count * sizeof *pairs->sources);
        fuzz_touch(pairs->destinations, pairs->count * sizeof *pairs->destinations);
        if (pairs->edge_ids != NULL)
            fuzz_touch(pairs->edge_ids, pairs->count * sizeof *pairs->edge_ids);
    }
    for (uint32_t l = 0; l < batch->num_layers; l++)
        for (uint32_t e = 0; e < batch->num_etypes; e++) {
            const struct block_edges *edges = &batch->blocks[l].edges[e];
            if (edges->index != NULL)
                assert(edges->index[edges->num_dst] == edges->num_edges);
        }
}

/* Padding between arrays is not read, so bytes of it may differ: all but that is the same. */
static void check_same(const struct sampled_batch *batch, const struct book *book)
{
    uint64_t once, again;
    int rv = batch_flat_bytes(batch, &once);
    assert(rv == 0);
    void *bytes = NULL, *same = NULL;
    rv = posix_memalign(&bytes, 64, once);
    assert(rv == 0);
    batch_flatten(batch, bytes);
    struct sampled_batch *back = sampled_batch_create(2, 2, LAYERS);
    assert(back != NULL);
    rv = batch_unflatten(back, book, bytes, once);
    assert(rv == 0 && batch_flat_bytes(back, &again) == 0 && again == once);
    rv = posix_memalign(&same, 64, once);
    assert(rv == 0);
    batch_flatten(back, same);
    assert(memcmp(bytes, same, once) == 0);
    free(same);
    free(bytes);
    sampled_batch_release(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct graph_types types = { 0 };
    make_types(&types);
    const struct book book = book_of(&types);
    struct sampled_batch *batch = sampled_batch_create(2, 2, LAYERS);
    uint8_t *bytes = fuzz_block(data, size);
    assert(batch != NULL);
    if (batch_unflatten(batch, &book, bytes, size) == 0) {
        touch(&batch->space.batch);
        check_same(batch, &book);
    }
    free(bytes);
    sampled_batch_release(batch);
    graph_types_fini(&types);
    return 0;
}
