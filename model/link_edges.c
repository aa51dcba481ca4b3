/* SPDX-License-Identifier: Apache-2.0 */
#include "model/link_edges.h"

#include <stdlib.h>
#include <string.h>

#include <troupe/query.h>

#include "model/features.h"
#include "model/loader_source.h"
#include "model/run_hash.h"

#define EDGES_AT_ONCE 65536u
/* What an edge is of that no mask marks: it carries messages alone. */
#define OF_NO_PART LINK_PARTS

/* All edges, in their order, and what is asked of some at a time. */
struct link_reading {
    struct link_edges *edges;
    struct tr_graph *graph;
    struct link_split *split;
    const struct link_masks *masks;
    struct tr_feature_info infos[LINK_PARTS]; /* of the masks that are named */
    struct tr_nodes *all;
    size_t count;
    uint64_t num_nodes[2];          /* of sources, destinations */
    uint64_t *ids;                  /* [count] */
    uint32_t *ends[2];              /* [count] each, by original ID: sources, destinations */
    unsigned char *part;            /* [count] */
    uint64_t *global[2], *original; /* [EDGES_AT_ONCE] */
    void *rows;                     /* of a mask, and as floats */
    float *values;
};

static bool is_named(const struct link_masks *masks, int part)
{
    return masks != NULL && masks->names[part] != NULL && masks->names[part][0] != '\0';
}

static int add_pair(struct link_pairs *pairs, uint32_t source, uint32_t destination)
{
    if (pairs->count == pairs->room) {
        size_t room = pairs->room == 0 ? 1024 : 2 * pairs->room;
        uint32_t *sources = reallocarray(pairs->sources, room, sizeof *sources);
        pairs->sources = sources != NULL ? sources : pairs->sources;
        uint32_t *destinations = reallocarray(pairs->destinations, room, sizeof *destinations);
        pairs->destinations = destinations != NULL ? destinations : pairs->destinations;
        if (sources == NULL || destinations == NULL)
            return TR_ENOMEM;
        pairs->room = room;
    }
    pairs->sources[pairs->count] = source;
    pairs->destinations[pairs->count++] = destination;
    return 0;
}

/* The edges of those ranks, and the original IDs of their ends. */
static int ask_ends(struct link_reading *r, size_t first, size_t count, struct tr_error *why)
{
    int rv = tr_edges_ids(r->all, first, count, TR_WAIT_FOREVER, r->ids + first, why);
    if (rv == 0)
        rv = tr_graph_find_edges(r->graph, r->split->types.etype, r->ids + first, count,
                                 TR_WAIT_FOREVER, r->global[0], r->global[1], why);
    for (int end = 0; end < 2 && rv == 0; end++) {
        rv = tr_graph_original_ids(r->graph, r->split->types.ntypes[end], r->global[end], count,
                                   TR_WAIT_FOREVER, r->original, why);
        for (size_t i = 0; i < count && rv == 0; i++)
            r->ends[end][first + i] = (uint32_t)r->original[i];
    }
    return rv;
}

/* The last mask that marks an edge counts: an edge of the test is of no other part. */
static int ask_masks(struct link_reading *r, size_t first, size_t count, struct tr_error *why)
{
    int rv = 0;
    memset(r->part + first, OF_NO_PART, count);
    for (int part = 0; part < LINK_PARTS && rv == 0; part++) {
        if (!is_named(r->masks, part))
            continue;
        rv = tr_graph_fetch_edges(r->graph, r->split->types.etype, r->masks->names[part],
                                  r->ids + first, count, TR_WAIT_FOREVER, r->rows, why);
        if (rv == 0)
            features_convert(r->infos[part].dtype, r->rows, count, r->values);
        for (size_t i = 0; i < count && rv == 0; i++)
            if (r->values[i] != 0)
                r->part[first + i] = (unsigned char)part;
    }
    return rv;
}

static int find_masks(struct link_reading *r, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    for (int part = 0; part < LINK_PARTS; part++) {
        const struct tr_feature_info unknown = TR_FEATURE_INFO_INIT;
        r->infos[part] = unknown;
        if (!is_named(r->masks, part))
            continue;
        int rv = tr_graph_find_edge_feature(r->graph, r->split->types.etype, r->masks->names[part],
                                            &r->infos[part], &why);
        if (rv != 0)
            return session_failed(&why, rv, error);
        if (r->infos[part].width != 1)
            return error_set(error, TR_EMISMATCH,
                             "edge feature '%s' has %llu numbers an edge: a mask has one",
                             r->masks->names[part], (unsigned long long)r->infos[part].width);
    }
    return 0;
}

static int reading_begin(struct link_reading *r, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    for (int end = 0; end < 2; end++) {
        uint64_t nodes = r->num_nodes[end] = tr_graph_num_nodes(r->graph,
                                                                r->split->types.ntypes[end]);
        /* A pair of nodes is a number of 64 bits, of which one stands for none. */
        if (nodes >= UINT32_MAX)
            return error_set(error, TR_ETOOBIG,
                             "%llu nodes: a model of links is trained on graphs of less than 2^32",
                             (unsigned long long)nodes);
    }
    int rv = tr_edges_all(r->graph, r->split->types.etype, &r->all, &why);
    if (rv != 0)
        return session_failed(&why, rv, error);
    size_t count = r->count = tr_nodes_count(r->all);
    r->ids = calloc(count + 1, sizeof *r->ids);
    r->part = calloc(count + 1, sizeof *r->part);
    r->original = calloc(EDGES_AT_ONCE, sizeof *r->original);
    r->rows = calloc(EDGES_AT_ONCE, sizeof(double)); /* the widest type */
    r->values = calloc(EDGES_AT_ONCE, sizeof *r->values);
    r->edges->degrees = calloc(r->num_nodes[0] + r->num_nodes[1] + 1, sizeof *r->edges->degrees);
    bool enough = r->ids != NULL && r->part != NULL && r->original != NULL && r->rows != NULL &&
                  r->values != NULL && r->edges->degrees != NULL;
    for (int end = 0; end < 2; end++) {
        r->ends[end] = calloc(count + 1, sizeof *r->ends[end]);
        r->global[end] = calloc(EDGES_AT_ONCE, sizeof *r->global[end]);
        enough = enough && r->ends[end] != NULL && r->global[end] != NULL;
    }
    return enough ? find_masks(r, error)
                  : error_set(error, TR_ENOMEM, "no memory for %zu edges", count);
}

static void reading_end(struct link_reading *r)
{
    tr_nodes_close(r->all);
    for (int end = 0; end < 2; end++) {
        free(r->ends[end]);
        free(r->global[end]);
    }
    free(r->ids);
    free(r->part);
    free(r->original);
    free(r->rows);
    free(r->values);
}

static int ask_all(struct link_reading *r, const struct cancel *cancel, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    for (size_t first = 0; first < r->count; first += EDGES_AT_ONCE) {
        size_t count = r->count - first < EDGES_AT_ONCE ? r->count - first : EDGES_AT_ONCE;
        if (cancel_asked(cancel))
            return error_set(error, TR_ECANCELED, "interrupted");
        int rv = ask_ends(r, first, count, &why);
        if (rv == 0 && r->masks != NULL)
            rv = ask_masks(r, first, count, &why);
        if (rv != 0)
            return session_failed(&why, rv, error);
        for (size_t i = first; i < first + count && r->masks == NULL; i++)
            r->part[i] = (unsigned char)link_split_part(r->split, r->ends[0][i], r->ends[1][i]);
    }
    return 0;
}

/* In the order of their ranks, which no placement changes. */
static void hash_edges(struct link_reading *r)
{
    uint64_t *hashes = r->edges->hashes;
    for (int part = 0; part < LINK_PARTS; part++)
        hashes[part] = RUN_HASH_BEGIN;
    for (size_t i = 0; i < r->count; i++) {
        const uint32_t ends[2] = { r->ends[0][i], r->ends[1][i] };
        if (r->part[i] != OF_NO_PART)
            hashes[r->part[i]] = run_hash_bytes(hashes[r->part[i]], ends, sizeof ends);
    }
}

/* Pairs that are held out, and with masks the table of them, which says of all edges which pass. */
static int hold_out(struct link_reading *r)
{
    struct link_edges *edges = r->edges;
    int rv = 0;
    for (size_t i = 0; i < r->count && rv == 0; i++)
        if (r->part[i] == LINK_VALIDATION || r->part[i] == LINK_TEST)
            rv = add_pair(&edges->held[r->part[i]], r->ends[0][i], r->ends[1][i]);
    if (rv != 0 || r->masks == NULL)
        return rv;
    uint64_t room = pair_table_room(edges->held[LINK_VALIDATION].count +
                                    edges->held[LINK_TEST].count);
    edges->apart = malloc(room * sizeof *edges->apart);
    if (edges->apart == NULL)
        return TR_ENOMEM;
    memset(edges->apart, 0xff, room * sizeof *edges->apart);
    r->split->apart = (struct pair_table){ edges->apart, room - 1 };
    for (int part = LINK_VALIDATION; part <= LINK_TEST; part++)
        for (size_t i = 0; i < edges->held[part].count; i++) {
            const struct link_pairs *held = &edges->held[part];
            uint64_t pair = link_pair_name(&r->split->types, held->sources[i],
                                           held->destinations[i]);
            *pair_table_find(&r->split->apart, pair) = pair;
        }
    return 0;
}

/* Those of a training part whose ends are not held apart, and the degrees of all that pass. */
static size_t take_train(struct link_reading *r)
{
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++) {
        uint32_t source = r->ends[0][i], destination = r->ends[1][i];
        if (!link_split_joins(r->split, source, destination))
            continue;
        r->edges->degrees[destination]++;
        r->edges->degrees[r->num_nodes[1] + source]++;
        /* The list is made in the place of what it is made of, which is further on. */
        if (r->part[i] == LINK_TRAIN)
            r->ids[count++] = r->ids[i];
    }
    return count;
}

/* What masks leave is theirs to change. */
static int refuse_none(const struct link_reading *r, struct error *error)
{
    size_t marked = 0;
    for (size_t i = 0; i < r->count; i++)
        marked += r->part[i] == LINK_TRAIN;
    if (r->masks == NULL)
        return error_set(error, TR_EINVAL, "of %zu edges none is left to train on", r->count);
    if (marked == 0)
        return error_set(error, TR_EINVAL,
                         "of %zu edges none is left to train on: '%s' marks none that another mask "
                         "does not mark too, which counts before it; mark each edge in one of them",
                         r->count, r->masks->names[LINK_TRAIN]);
    return error_set(error, TR_EINVAL,
                     "of %zu edges none is left to train on: each of the %zu that '%s' marks joins "
                     "two nodes that an edge which is held out joins too; hold out an edge "
                     "together with its reverse and the edges beside it",
                     r->count, marked, r->masks->names[LINK_TRAIN]);
}

static int read_all(struct link_reading *r, const struct cancel *cancel, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    int rv = ask_all(r, cancel, error);
    if (rv != 0)
        return rv;
    if (hold_out(r) != 0)
        return error_set(error, TR_ENOMEM, "no memory for the edges that are held out");
    hash_edges(r);
    size_t count = take_train(r);
    if (count == 0)
        return refuse_none(r, error);
    rv = tr_edges_listed(r->graph, r->split->types.etype, r->ids, count, &r->edges->train, &why);
    return rv == 0 ? 0 : session_failed(&why, rv, error);
}

int link_edges_open(struct link_edges *edges, struct tr_graph *graph, struct link_split *split,
                    const struct link_masks *masks, const struct cancel *cancel,
                    struct error *error)
{
    *edges = (struct link_edges){ 0 };
    struct link_reading r = { .edges = edges, .graph = graph, .split = split, .masks = masks };
    int rv = reading_begin(&r, error);
    if (rv == 0)
        rv = read_all(&r, cancel, error);
    reading_end(&r);
    if (rv != 0) {
        link_edges_close(edges);
        return rv;
    }
    split->in_degrees = edges->degrees;
    split->out_degrees = edges->degrees + r.num_nodes[1];
    return 0;
}

void link_edges_close(struct link_edges *edges)
{
    tr_nodes_close(edges->train);
    free(edges->degrees);
    free(edges->apart);
    for (int part = 0; part < LINK_PARTS; part++) {
        free(edges->held[part].sources);
        free(edges->held[part].destinations);
    }
    *edges = (struct link_edges){ 0 };
}
