/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says what a partition holds, as JSON: types, counts, feature tables.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "actors/data/server_work.h"

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

uint64_t server_book_hash(const struct book *book)
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

static json_t *describe_features(const struct feature_table *features, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_t *shape = json_array();
        for (uint32_t d = 0; d < features[i].ndim; d++)
            json_array_append_new(shape, json_integer((json_int_t)features[i].shape[d]));
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", features[i].name, "dtype",
                                              tr_dtype_name(features[i].dtype), "shape", shape));
    }
    return list;
}

static json_t *describe_ntypes(const struct graph_part *part, const struct book *book)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < part->types->num_ntypes; i++) {
        const struct node_part *nodes = &part->nodes[i];
        json_array_append_new(
            list, json_pack("{s:s, s:I, s:I, s:I, s:o}", "name", part->types->ntypes[i], "nodes",
                            (json_int_t)nodes->num_nodes, "begin", (json_int_t)nodes->global_begin,
                            "total", (json_int_t)book->num_nodes[i], "features",
                            describe_features(nodes->features, nodes->num_features)));
    }
    return list;
}

/* "source:edge:destination", allocated. */
static char *canonical(const struct graph_types *types, uint32_t etype)
{
    int length = graph_types_canonical(types, etype, NULL, 0);
    char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (text != NULL)
        graph_types_canonical(types, etype, text, (size_t)length + 1);
    return text;
}

static json_t *describe_etypes(const struct graph_part *part, const struct book *book)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < part->types->num_etypes; i++) {
        const struct edge_part *edges = &part->edges[i];
        char *name = canonical(part->types, i);
        json_array_append_new(
            list,
            json_pack("{s:s, s:I, s:I, s:I, s:o}", "name", name != NULL ? name : "", "edges",
                      (json_int_t)edges->csc.num_edges, "begin", (json_int_t)edges->csc.first_edge,
                      "total", (json_int_t)book->num_edges[i], "features",
                      describe_features(edges->features, edges->num_features)));
        free(name);
    }
    return list;
}

static char *describe(const struct graph_part *part, const struct book *book)
{
    json_t *root = json_pack("{s:s, s:I, s:I, s:I, s:o, s:o}", "graph", book->graph_name, "part",
                             (json_int_t)part->part_id, "version", (json_int_t)part->version,
                             "parts", (json_int_t)book->num_parts, "ntypes",
                             describe_ntypes(part, book), "etypes", describe_etypes(part, book));
    char *text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return text;
}

static int begin(struct actor *self, struct server_work *work, struct error *error)
{
    (void)self;
    const struct msg_meta_request *head = message_head(work->request);
    return server_pin(work, head->part, SNAPSHOT_NEWEST, error);
}

static int step(struct actor *self, struct server_work *work, struct error *error)
{
    const struct book *book = snapshots_book(work->server->options->snapshots);
    void *body;
    char *text = describe(work->part, book);
    if (text == NULL)
        return error_set(error, TR_ENOMEM, "the server has no memory to describe its partition");
    size_t length = strlen(text);
    int rv = server_make_body(self, work, MSG_META_REPLY, length, &body, error);
    if (rv == 0) {
        memcpy(body, text, length);
        *(struct msg_meta_reply *)message_head(work->reply) = (struct msg_meta_reply){
            .part = work->part->part_id,
            .version = work->part->version,
            .book_hash = server_book_hash(book),
        };
    }
    free(text);
    return rv;
}

const struct work_ops server_meta_ops = {
    .kind = MSG_META_REQUEST,
    .state_bytes = sizeof(struct server_work),
    .begin = begin,
    .step = step,
};
