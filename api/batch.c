/* SPDX-License-Identifier: Apache-2.0 */
/* A struct tr_batch is a struct sampled_batch: these read its mini-batch. */
#include <inttypes.h>

#include <troupe/batch.h>
#include <troupe/link_prediction.h>
#include <troupe/sample.h>

#include "actors/data/sampled_batch.h"
#include "api/internal.h"
#include "api/sized.h"
#include "graph/digest.h"
#include "schemas/sample_spec.h"

const struct mini_batch *batch_mini(const struct tr_batch *batch)
{
    return &((const struct sampled_batch *)(const void *)batch)->space.batch;
}

static const struct batch_nodes *nodes_of(const struct tr_batch *batch, uint32_t ntype)
{
    const struct mini_batch *b = batch_mini(batch);
    return ntype < b->num_ntypes ? &b->nodes[ntype] : NULL;
}

void tr_batch_release(struct tr_batch *batch)
{
    struct sampled_batch *sampled = (struct sampled_batch *)(void *)batch;
    bool child = sampled != NULL && sampled->store != NULL &&
                 fork_mark_is_child(batch_store_mark(sampled->store));
    if (!child)
        sampled_batch_release(sampled);
}

uint32_t tr_batch_epoch(const struct tr_batch *batch)
{
    return batch_mini(batch)->epoch;
}

uint64_t tr_batch_index(const struct tr_batch *batch)
{
    return batch_mini(batch)->index;
}

uint32_t tr_batch_num_layers(const struct tr_batch *batch)
{
    return batch_mini(batch)->num_layers;
}

uint32_t tr_batch_num_ntypes(const struct tr_batch *batch)
{
    return batch_mini(batch)->num_ntypes;
}

uint32_t tr_batch_num_etypes(const struct tr_batch *batch)
{
    return batch_mini(batch)->num_etypes;
}

uint32_t tr_batch_rank(const struct tr_batch *batch)
{
    return batch_mini(batch)->rank;
}

uint32_t tr_batch_step_seeds(const struct tr_batch *batch)
{
    return batch_mini(batch)->step_seeds;
}

_Static_assert((int)TR_IN_EDGES == SAMPLE_IN && (int)TR_OUT_EDGES == SAMPLE_OUT,
               "what is public is what is sent");

int tr_batch_block(const struct tr_batch *batch, uint32_t layer, uint32_t etype,
                   struct tr_block *block, struct tr_error *error)
{
    const struct mini_batch *b = batch_mini(batch);
    if (layer >= b->num_layers || etype >= b->num_etypes)
        return tr_error_set(error, TR_ERANGE,
                            "layer %" PRIu32 ", edge type %" PRIu32 "; the batch has %" PRIu32
                            " layers and %" PRIu32 " edge types",
                            layer, etype, b->num_layers, b->num_etypes);
    const struct batch_space *space = &((const struct sampled_batch *)(const void *)batch)->space;
    const struct block_edges *edges = &b->blocks[layer].edges[etype];
    bool out = edges->direction == SAMPLE_OUT;
    uint32_t src = out ? space->etype_dst[etype] : space->etype_src[etype];
    const struct tr_block full = {
        .size = sizeof full,
        .num_src = b->blocks[layer].num_src[src],
        .num_dst = edges->num_dst,
        .num_edges = edges->num_edges,
        .direction = edges->direction,
        .index = edges->index,
        .sources = edges->sources,
        .edge_ids = edges->edge_ids,
        .edge_weights = edges->edge_weights,
    };
    return sized_write(block, &full, sizeof full, "tr_block", error);
}

const uint64_t *tr_batch_nodes(const struct tr_batch *batch, uint32_t ntype, size_t *count)
{
    const struct batch_nodes *nodes = nodes_of(batch, ntype);
    *count = nodes != NULL ? nodes->num_nodes : 0;
    return nodes != NULL ? nodes->ids : NULL;
}

const uint64_t *tr_batch_original_ids(const struct tr_batch *batch, uint32_t ntype, size_t *count)
{
    const struct batch_nodes *nodes = nodes_of(batch, ntype);
    bool there = nodes != NULL && nodes->original_ids != NULL;
    *count = there ? nodes->num_nodes : 0;
    return there ? nodes->original_ids : NULL;
}

size_t tr_batch_num_seeds(const struct tr_batch *batch, uint32_t ntype)
{
    const struct batch_nodes *nodes = nodes_of(batch, ntype);
    return nodes != NULL ? nodes->num_seeds : 0;
}

/* The one edge type that the pairs have; where there are none, *etype stays. */
static int find_only_pairs(const struct tr_batch *batch, const char *call, uint32_t *etype,
                           struct tr_error *error)
{
    const struct mini_batch *b = batch_mini(batch);
    if (b->num_pair_types > 1)
        return tr_error_set(error, TR_EINVAL,
                            "the batch has pairs of %" PRIu32
                            " edge types; %s() gives those of each",
                            b->num_pair_types, call);
    if (b->num_pair_types == 1)
        *etype = b->pairs[0].etype;
    return 0;
}

int tr_batch_pairs(const struct tr_batch *batch, struct tr_pairs *pairs, struct tr_error *error)
{
    uint32_t etype = TR_ETYPE_NONE;
    int rv = find_only_pairs(batch, "tr_batch_pairs_of", &etype, error);
    return rv != 0 ? rv : tr_batch_pairs_of(batch, etype, pairs, error);
}

int tr_batch_pairs_of(const struct tr_batch *batch, uint32_t etype, struct tr_pairs *pairs,
                      struct tr_error *error)
{
    const struct mini_batch *b = batch_mini(batch);
    const struct batch_pairs *from = &b->pairs[batch_find_pairs(b, etype)];
    if (b->num_pair_types == 0)
        return tr_error_set(error, TR_ENOENT,
                            "the seeds of the batch are nodes: open its loader with a set of pairs "
                            "or edges");
    if (from == &b->pairs[b->num_pair_types])
        return tr_error_set(error, TR_ENOENT,
                            "the loader's set has no pairs or edges of edge type %" PRIu32, etype);
    const struct tr_pairs full = { sizeof full,   from->etype,        from->count,
                                   from->sources, from->destinations, from->edge_ids };
    return sized_write(pairs, &full, sizeof full, "tr_pairs", error);
}

int tr_batch_negatives(const struct tr_batch *batch, struct tr_negatives *negatives,
                       struct tr_error *error)
{
    uint32_t etype = TR_ETYPE_NONE;
    int rv = find_only_pairs(batch, "tr_batch_negatives_of", &etype, error);
    return rv != 0 ? rv : tr_batch_negatives_of(batch, etype, negatives, error);
}

int tr_batch_negatives_of(const struct tr_batch *batch, uint32_t etype,
                          struct tr_negatives *negatives, struct tr_error *error)
{
    const struct mini_batch *b = batch_mini(batch);
    const uint32_t number = batch_find_pairs(b, etype);
    if (number == b->num_pair_types && number > 0)
        return tr_error_set(error, TR_ENOENT,
                            "the loader's set has no pairs or edges of edge type %" PRIu32, etype);
    const struct batch_pairs *from = &b->pairs[number];
    const struct negatives_rule *rule = &from->negatives_rule;
    if (number == b->num_pair_types || rule->each == 0)
        return tr_error_set(error, TR_ENOENT,
                            "the batch has no negatives: open its loader with links that say how "
                            "many there are to be");
    const struct tr_negatives full = {
        .size = sizeof full,
        .num_negatives = rule->each,
        .count = from->count_negatives,
        .destinations = from->count_negatives > 0 ? from->negatives : NULL,
        .negatives = (enum tr_negatives_of)rule->of,
        .negative_ends = (enum tr_negative_ends)rule->ends,
        .num_destinations = negatives_each(rule, PAIR_DESTINATION),
        .num_sources = negatives_each(rule, PAIR_SOURCE),
        .sources = from->count_negative_sources > 0 ? from->negative_sources : NULL,
        .count_sources = from->count_negative_sources,
        .num_edges = from->negative_edges,
    };
    return sized_write(negatives, &full, sizeof full, "tr_negatives", error);
}

const uint32_t *tr_batch_in_degrees(const struct tr_batch *batch, uint32_t ntype)
{
    const struct batch_nodes *nodes = nodes_of(batch, ntype);
    return nodes != NULL ? nodes->in_degrees : NULL;
}

const uint32_t *tr_batch_out_degrees(const struct tr_batch *batch, uint32_t ntype)
{
    const struct batch_nodes *nodes = nodes_of(batch, ntype);
    return nodes != NULL ? nodes->out_degrees : NULL;
}

static int give_rows(const struct batch_rows *from, struct tr_rows *rows, struct tr_error *error)
{
    const struct tr_rows full = { sizeof full, from->dtype,     from->num_rows,
                                  from->width, from->row_bytes, from->rows };
    return sized_write(rows, &full, sizeof full, "tr_rows", error);
}

/* The rows of a node type that an option of the loader asks for. */
static int give_asked(const struct batch_rows *from, uint32_t ntype, const char *option,
                      struct tr_rows *rows, struct tr_error *error)
{
    if (from == NULL || from->rows == NULL)
        return tr_error_set(error, TR_ENOENT,
                            "the batch has no %s of node type %" PRIu32
                            ": name such a table by %s in the loader's options",
                            option, ntype, option);
    return give_rows(from, rows, error);
}

int tr_batch_features(const struct tr_batch *batch, uint32_t ntype, struct tr_rows *rows,
                      struct tr_error *error)
{
    const struct batch_nodes *nodes = nodes_of(batch, ntype);
    return give_asked(nodes != NULL ? &nodes->features : NULL, ntype, "features", rows, error);
}

int tr_batch_labels(const struct tr_batch *batch, uint32_t ntype, struct tr_rows *rows,
                    struct tr_error *error)
{
    const struct batch_nodes *nodes = nodes_of(batch, ntype);
    return give_asked(nodes != NULL ? &nodes->labels : NULL, ntype, "labels", rows, error);
}

int tr_batch_table(const struct tr_batch *batch, uint32_t table, uint32_t layer,
                   struct tr_rows *rows, struct tr_error *error)
{
    const struct mini_batch *b = batch_mini(batch);
    for (uint32_t i = 0; i < b->num_tables; i++)
        if (b->tables[i].table == table && b->tables[i].rows.rows != NULL &&
            (b->tables[i].of == SAMPLE_OF_NODES || b->tables[i].layer == layer))
            return give_rows(&b->tables[i].rows, rows, error);
    return tr_error_set(error, TR_ENOENT,
                        "table %" PRIu32 ", layer %" PRIu32 ": the spec lists no such table there",
                        table, layer);
}

int tr_batch_digest(const struct tr_batch *batch, uint64_t *digest, struct tr_error *error)
{
    int rv = batch_digest(batch_mini(batch), digest);
    return rv == 0 ? 0
                   : tr_error_set(error, rv,
                                  "the batch has no original IDs, of which a digest is made: set "
                                  "original_ids in the options");
}
