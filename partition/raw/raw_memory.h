/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges and features that a text reader parsed, in compact memory, as a raw graph.
 *
 * Pairs are 8 bytes until an ID needs more than 32 bits, then 16.
 * Ownership: raw_memory_graph takes the pairs, raw_memory_table the rows. One thread at a time.
 */
#ifndef PARTITION_RAW_RAW_MEMORY_H
#define PARTITION_RAW_RAW_MEMORY_H

#include "partition/raw/raw_source.h"

struct pairs {
    uint32_t *narrow; /* src, dst, src, dst ...; NULL once wide */
    uint64_t *wide;
    uint64_t count, room;
    uint64_t largest; /* ID; 0 without pairs */
};

int pairs_make_room(struct pairs *pairs, uint64_t src, uint64_t dst);
/* Adds those of another list behind these: 0 or TR_ENOMEM, after which none of them is added. */
int pairs_append(struct pairs *pairs, const struct pairs *more);
void pairs_fini(struct pairs *pairs);
void pairs_read(const struct pairs *pairs, uint64_t begin, uint64_t count, uint64_t *src,
                uint64_t *dst);

/* 0 or TR_ENOMEM. */
static inline int pairs_add(struct pairs *pairs, uint64_t src, uint64_t dst)
{
    if (__builtin_expect(
            pairs->count == pairs->room || pairs->narrow == NULL || (src | dst) > UINT32_MAX, 0)) {
        int rv = pairs_make_room(pairs, src, dst);
        if (rv != 0)
            return rv;
    }
    uint64_t larger = src > dst ? src : dst, i = 2 * pairs->count++;
    pairs->largest = larger > pairs->largest ? larger : pairs->largest;
    if (pairs->narrow != NULL) {
        pairs->narrow[i] = (uint32_t)src;
        pairs->narrow[i + 1] = (uint32_t)dst;
    } else {
        pairs->wide[i] = src;
        pairs->wide[i + 1] = dst;
    }
    return 0;
}

/* A homogeneous graph of the pairs, named after the file. Takes the pairs even when it fails. */
int raw_memory_graph(const char *path, struct pairs *pairs, uint64_t num_nodes,
                     struct raw_graph **out, struct error *error);

/* Adds a table of one dimension (or none: width 0); takes rows (malloc'ed) even when it fails. */
int raw_memory_table(struct raw_graph *graph, const char *name, bool on_edges, enum tr_dtype dtype,
                     uint64_t width, void *rows, struct error *error);

/* "cora" for "data/cora.txt.gz": a name for a graph from a file's, in malloc'ed memory, or NULL. */
char *raw_name_of(const char *path);

/* Takes edges as they are parsed, in pieces. */
struct edge_sink {
    int (*take)(void *arg, const struct pairs *some, struct error *error);
    void *arg;
};

/* Parses a text edge list whose edges go to the sink; nothing else has them, so duplicates are not
 * looked for. The same failures as raw_open(), and the sink's. found as below. */
int raw_stream_edgelist(const char *path, const struct raw_options *options,
                        const struct edge_sink *sink, struct raw_edges_found *found,
                        struct error *error);

/* Parses a text edge list, which may hold no edge; see raw_edgelist.c for the rules. found is freed
 * by raw_edges_found_fini (raw.h); after a failure nothing is in it. */
int raw_parse_edgelist(const char *path, const struct raw_options *options, struct pairs *pairs,
                       struct raw_edges_found *found, struct error *error);

#endif
