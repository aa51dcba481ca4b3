/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/digest.h"

#include <stddef.h>
#include <string.h>

#include "graph/key.h"

/* A sum of words, each mixed with its place in the batch: as sensitive to order as a chain, but
 * the processor can work on many words at once. */
struct hash {
    uint64_t sum;
    uint64_t place;
};

static inline void hash_word(struct hash *hash, uint64_t word)
{
    hash->place += KEY_STEP;
    hash->sum += key_mix(key_mix(hash->place) ^ word);
}

/* Positions are in the order of the canonical walk, and the node lists say which node each is. */
static void hash_edges(struct hash *hash, const struct block_edges *edges)
{
    hash_word(hash, edges->num_dst);
    for (uint32_t i = 0; i < edges->num_dst; i++)
        hash_word(hash, edges->index[i + 1] - edges->index[i]);
    for (uint32_t i = 0; i < edges->num_edges; i++)
        hash_word(hash, edges->sources[i]);
    for (uint32_t i = 0; edges->edge_weights != NULL && i < edges->num_edges; i++) {
        uint32_t bits;
        memcpy(&bits, &edges->edge_weights[i], sizeof bits);
        hash_word(hash, bits);
    }
}

static int hash_nodes(struct hash *hash, const struct batch_nodes *nodes)
{
    if (nodes->num_nodes > 0 && nodes->original_ids == NULL)
        return TR_EINVAL;
    hash_word(hash, nodes->num_nodes);
    hash_word(hash, nodes->num_seeds);
    for (uint32_t i = 0; i < nodes->num_nodes; i++)
        hash_word(hash, nodes->original_ids[i]);
    return 0;
}

static void hash_pairs(struct hash *hash, const struct batch_pairs *pairs)
{
    hash_word(hash, (uint64_t)pairs->etype << 32 | pairs->count);
    for (uint32_t i = 0; i < pairs->count; i++)
        hash_word(hash, (uint64_t)pairs->sources[i] << 32 | pairs->destinations[i]);
    const struct negatives_rule *rule = &pairs->negatives_rule;
    if (rule->each == 0)
        return;
    hash_word(hash, (uint64_t)rule->each << 32 | pairs->count_negatives);
    for (uint32_t i = 0; i < pairs->count_negatives; i++)
        hash_word(hash, pairs->negatives[i]);
    if (rule->no_edges != 0)
        hash_word(hash, pairs->negative_edges);
    /* Those of batches that have destinations alone are what they were before there were others. */
    if (rule->ends == NEGATIVE_DESTINATIONS)
        return;
    hash_word(hash, (uint64_t)rule->ends << 32 | pairs->count_negative_sources);
    for (uint32_t i = 0; i < pairs->count_negative_sources; i++)
        hash_word(hash, pairs->negative_sources[i]);
}

int batch_digest(const struct mini_batch *batch, uint64_t *digest)
{
    struct hash hash = { 0 };
    int rv = 0;
    hash_word(&hash, (uint64_t)batch->num_layers << 32 | batch->num_ntypes);
    for (uint32_t i = 0; i < batch->num_ntypes && rv == 0; i++)
        rv = hash_nodes(&hash, &batch->nodes[i]);
    for (uint32_t l = 0; l < batch->num_layers; l++) {
        for (uint32_t i = 0; i < batch->num_ntypes; i++)
            hash_word(&hash,
                      (uint64_t)batch->blocks[l].num_src[i] << 32 | batch->blocks[l].num_dst[i]);
        for (uint32_t i = 0; i < batch->num_etypes; i++)
            hash_edges(&hash, &batch->blocks[l].edges[i]);
    }
    for (uint32_t i = 0; i < batch->num_pair_types; i++)
        hash_pairs(&hash, &batch->pairs[i]);
    *digest = key_mix(hash.sum);
    return rv;
}
