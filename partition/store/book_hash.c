/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A number for all that a book says of where nodes and edges are: processes compare it before
 * they exchange IDs.
 */
#include <string.h>

#include "partition/store/book.h"

/* FNV-1a (Fowler, Noll, Vo), over everything that places a node. */
#define HASH_START UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * HASH_PRIME;
    return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t hash_word(uint64_t hash, uint64_t word)
{
    for (int i = 0; i < 8; i++) {
        unsigned char byte = (unsigned char)(word >> (8 * i));
        hash = hash_bytes(hash, &byte, 1);
    }
    return hash;
}

static uint64_t hash_extents(uint64_t hash, struct extent *const *extents, uint32_t num_types,
                             uint32_t num_parts)
{
    for (uint32_t type = 0; type < num_types; type++)
        for (uint32_t part = 0; part < num_parts; part++) {
            hash = hash_word(hash, extents[type][part].begin);
            hash = hash_word(hash, extents[type][part].end);
        }
    return hash;
}

uint64_t book_hash(const struct book *book)
{
    const struct graph_types *types = &book->types;
    uint64_t hash = hash_text(HASH_START, book->graph_name);
    for (uint32_t i = 0; i < types->num_ntypes; i++)
        hash = hash_text(hash, types->ntypes[i]);
    for (uint32_t i = 0; i < types->num_etypes; i++) {
        hash = hash_text(hash, types->etypes[i].name);
        hash = hash_word(hash, types->etypes[i].src);
        hash = hash_word(hash, types->etypes[i].dst);
    }
    hash = hash_word(hash, book->num_parts);
    hash = hash_extents(hash, book->node_extents, types->num_ntypes, book->num_parts);
    hash = hash_extents(hash, book->edge_extents, types->num_etypes, book->num_parts);
    /* Tables of ranks are asked for by number. */
    for (uint32_t i = 0; i < book->num_ranks; i++) {
        hash = hash_word(hash, book->ranks[i].set);
        hash = hash_word(hash, book->ranks[i].ntype);
        hash = hash_word(hash, book->ranks[i].num_ranks);
    }
    return hash;
}
