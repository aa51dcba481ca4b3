/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Specs of draws as programs make them: each setter checks its place and value against the graph, so
 * what a draw or a loader is opened with names only types and features that are there.
 */
#include "api/public_spec.h"

#include <troupe/sample.h>

#include <inttypes.h>
#include <stdlib.h>

#include "api/internal.h"
#include "graph/sample.h"
#include "graph/samplers.h"
#include "graph/weight_sums.h"

struct tr_sample_spec {
    struct tr_graph *graph; /* held until the spec is destroyed */
    enum tr_sampler sampler;
    struct sample_spec spec;
};

const struct sample_spec *public_spec_draws(const struct tr_sample_spec *spec)
{
    return &spec->spec;
}

const struct tr_graph *public_spec_graph(const struct tr_sample_spec *spec)
{
    return spec->graph;
}

int tr_sample_spec_create(struct tr_graph *graph, uint32_t num_layers, struct tr_sample_spec **out,
                          struct tr_error *error)
{
    uint32_t num_etypes = graph->book->types.num_etypes;
    *out = NULL;
    int mine = session_mine(graph->session, error);
    if (mine != 0)
        return mine;
    if (num_layers == 0 || num_layers > TR_LAYERS_MAX)
        return tr_error_set(error, TR_ERANGE, "%" PRIu32 " layers; give 1 to %d", num_layers,
                            TR_LAYERS_MAX);
    struct tr_sample_spec *spec = calloc(1, sizeof *spec);
    int rv = spec == NULL ? TR_ENOMEM : sample_spec_alloc(&spec->spec, num_layers, num_etypes);
    if (rv != 0) {
        free(spec);
        return tr_error_set(error, rv, "%" PRIu32 " layers of %" PRIu32 " edge types: %s",
                            num_layers, num_etypes, tr_strerror(rv));
    }
    graph_acquire(graph);
    spec->graph = graph;
    *out = spec;
    return 0;
}

void tr_sample_spec_destroy(struct tr_sample_spec *spec)
{
    if (spec == NULL || session_is_child(spec->graph->session))
        return;
    sample_spec_free(&spec->spec);
    graph_release(spec->graph);
    free(spec);
}

static int check_place(const struct tr_sample_spec *of, uint32_t layer, uint32_t etype,
                       struct tr_error *error)
{
    const struct sample_spec *spec = &of->spec;
    int rv = session_mine(of->graph->session, error);
    if (rv != 0)
        return rv;
    if (layer != TR_EVERY && layer >= spec->num_layers)
        return tr_error_set(error, TR_ERANGE, "layer %" PRIu32 ", the spec has %" PRIu32, layer,
                            spec->num_layers);
    if (etype != TR_EVERY && etype >= spec->num_etypes)
        return tr_error_set(error, TR_ERANGE,
                            "edge type %" PRIu32
                            ": types are numbered from 0, and the graph has %" PRIu32,
                            etype, spec->num_etypes);
    return 0;
}

/* Whether a place, or every one, is meant. */
static bool is_meant(uint32_t place, uint32_t wanted)
{
    return wanted == TR_EVERY || wanted == place;
}

static int check_fanout(int32_t fanout, struct tr_error *error)
{
    if (fanout >= TR_FANOUT_ALL && fanout <= (int32_t)SAMPLE_FANOUT_MAX)
        return 0;
    return tr_error_set(error, TR_ERANGE,
                        "fanout %" PRId32 "; give 0 to %" PRIu32 ", or -1 for all", fanout,
                        SAMPLE_FANOUT_MAX);
}

int tr_sample_spec_set_fanout(struct tr_sample_spec *spec, uint32_t layer, uint32_t etype,
                              int32_t fanout, struct tr_error *error)
{
    int rv = check_place(spec, layer, etype, error);
    if (rv != 0)
        return rv;
    rv = check_fanout(fanout, error);
    if (rv != 0)
        return rv;
    for (uint32_t l = 0; l < spec->spec.num_layers; l++)
        for (uint32_t e = 0; e < spec->spec.num_etypes; e++)
            if (is_meant(l, layer) && is_meant(e, etype)) {
                struct sample_term *term = sample_spec_term(&spec->spec, l, e);
                term->fanout = fanout;
                term->flags &= ~SAMPLE_TOTAL;
            }
    return 0;
}

int tr_sample_spec_set_total(struct tr_sample_spec *spec, uint32_t layer, uint32_t ntype,
                             int32_t fanout, struct tr_error *error)
{
    const struct graph_types *types = &spec->graph->book->types;
    int rv = check_place(spec, layer, TR_EVERY, error);
    if (rv == 0 && ntype != TR_EVERY)
        rv = graph_check_ntype(spec->graph, ntype, error);
    if (rv == 0)
        rv = check_fanout(fanout, error);
    if (rv != 0)
        return rv;
    for (uint32_t l = 0; l < spec->spec.num_layers; l++)
        for (uint32_t e = 0; e < spec->spec.num_etypes; e++) {
            struct sample_term *term = sample_spec_term(&spec->spec, l, e);
            if (!is_meant(l, layer) || !is_meant(sample_row_type(&types->etypes[e], term), ntype))
                continue;
            term->fanout = fanout;
            term->flags |= SAMPLE_TOTAL;
        }
    return 0;
}

int tr_sample_spec_set_replace(struct tr_sample_spec *spec, uint32_t layer, uint32_t etype,
                               bool replace, struct tr_error *error)
{
    int rv = check_place(spec, layer, etype, error);
    if (rv != 0)
        return rv;
    for (uint32_t l = 0; l < spec->spec.num_layers; l++)
        for (uint32_t e = 0; e < spec->spec.num_etypes; e++)
            if (is_meant(l, layer) && is_meant(e, etype)) {
                struct sample_term *term = sample_spec_term(&spec->spec, l, e);
                term->flags = (term->flags & ~SAMPLE_REPLACE) | (replace ? SAMPLE_REPLACE : 0);
            }
    return 0;
}

int tr_sample_spec_set_direction(struct tr_sample_spec *spec, uint32_t layer, uint32_t etype,
                                 enum tr_direction direction, struct tr_error *error)
{
    int rv = check_place(spec, layer, etype, error);
    if (rv != 0)
        return rv;
    if (direction != TR_IN_EDGES && direction != TR_OUT_EDGES)
        return tr_error_set(error, TR_ERANGE, "direction: %d is not a value of enum tr_direction",
                            (int)direction);
    /* Out-edges of all edge types are written, or of none. */
    if (direction == TR_OUT_EDGES && spec->spec.num_etypes > 0)
        rv = graph_check_out_edges(spec->graph, 0, error);
    if (rv != 0)
        return rv;
    for (uint32_t l = 0; l < spec->spec.num_layers; l++)
        for (uint32_t e = 0; e < spec->spec.num_etypes; e++)
            if (is_meant(l, layer) && is_meant(e, etype))
                sample_spec_term(&spec->spec, l, e)->direction = (uint32_t)direction;
    return 0;
}

/* The table that edges of that type draw by: a number of the type's own, or SAMPLE_NO_TABLE. */
static uint32_t draws_by(const struct tr_sample_spec *spec, uint32_t etype, const char *name)
{
    const struct graph_meta *meta = &spec->graph->meta;
    int number = name == NULL ? -1 : graph_meta_edge_name(meta, name);
    int table = number < 0 ? -1 : graph_meta_edge_table(meta, etype, (uint32_t)number);
    return table < 0 ? SAMPLE_NO_TABLE : (uint32_t)table;
}

/* One edge type has the feature, or some of every one; those of them that have it can draw by it as
 * `check` says. */
static int check_drawn_by(const struct tr_sample_spec *spec, uint32_t etype, const char *use,
                          const char *name,
                          int (*check)(const char *name, enum tr_dtype dtype, uint64_t width,
                                       const char *where, struct error *error),
                          struct tr_error *error)
{
    const struct graph_types *types = &spec->graph->book->types;
    uint32_t found = 0;
    for (uint32_t e = 0; e < types->num_etypes; e++) {
        uint32_t table = is_meant(e, etype) ? draws_by(spec, e, name) : SAMPLE_NO_TABLE;
        if (table == SAMPLE_NO_TABLE)
            continue;
        const struct feature_meta *meta = &spec->graph->meta.edges[e].features[table];
        struct error why = { 0 };
        found++;
        if (check(name, meta->dtype, meta->width, types->etypes[e].name, &why) != 0)
            return error_give(&why, error);
    }
    if (found > 0 || name == NULL)
        return 0;
    if (etype == TR_EVERY)
        return tr_error_set(error, TR_ENOENT, "%s: no edge type has a feature \"%s\"", use, name);
    return tr_error_set(error, TR_ENOENT, "%s: edges of type %s have no feature \"%s\"", use,
                        types->etypes[etype].name, name);
}

static bool has_weights(const struct sample_spec *spec)
{
    for (uint32_t l = 0; l < spec->num_layers; l++)
        for (uint32_t e = 0; e < spec->num_etypes; e++)
            if (sample_spec_term(spec, l, e)->weights != SAMPLE_NO_TABLE)
                return true;
    return false;
}

/* Neighbours are drawn by another kernel where some term has weights. */
static enum sample_kind kind_of(const struct tr_sample_spec *spec)
{
    if (spec->sampler == TR_SAMPLER_LABOR)
        return SAMPLE_LABOR;
    if (spec->sampler == TR_SAMPLER_LABOR_POISSON)
        return SAMPLE_LABOR_POISSON;
    return has_weights(&spec->spec) ? SAMPLE_WEIGHTED : SAMPLE_UNIFORM;
}

int tr_sample_spec_set_weights(struct tr_sample_spec *spec, uint32_t layer, uint32_t etype,
                               const char *name, struct tr_error *error)
{
    int rv = check_place(spec, layer, etype, error);
    if (rv == 0)
        rv = check_drawn_by(spec, etype, "weights", name, weights_check, error);
    if (rv != 0)
        return rv;
    for (uint32_t l = 0; l < spec->spec.num_layers; l++)
        for (uint32_t e = 0; e < spec->spec.num_etypes; e++)
            if (is_meant(l, layer) && is_meant(e, etype))
                sample_spec_term(&spec->spec, l, e)->weights = draws_by(spec, e, name);
    spec->spec.kind = kind_of(spec);
    return 0;
}

int tr_sample_spec_set_sampler(struct tr_sample_spec *spec, enum tr_sampler sampler,
                               struct tr_error *error)
{
    int rv = session_mine(spec->graph->session, error);
    if (rv != 0)
        return rv;
    if ((unsigned)sampler > TR_SAMPLER_LABOR_POISSON)
        return tr_error_set(error, TR_ERANGE, "sampler: %d is not a value of enum tr_sampler",
                            (int)sampler);
    spec->sampler = sampler;
    spec->spec.kind = kind_of(spec);
    return 0;
}

int tr_sample_spec_set_mask(struct tr_sample_spec *spec, uint32_t layer, uint32_t etype,
                            const char *name, struct tr_error *error)
{
    int rv = check_place(spec, layer, etype, error);
    if (rv == 0)
        rv = check_drawn_by(spec, etype, "mask", name, sample_mask_check, error);
    if (rv != 0)
        return rv;
    for (uint32_t l = 0; l < spec->spec.num_layers; l++)
        for (uint32_t e = 0; e < spec->spec.num_etypes; e++)
            if (is_meant(l, layer) && is_meant(e, etype))
                sample_spec_term(&spec->spec, l, e)->mask = draws_by(spec, e, name);
    return 0;
}

_Static_assert(TR_FOR_ALL == SAMPLE_FOR_ALL && TR_FOR_SEEDS == SAMPLE_FOR_SEEDS &&
                   (int)TR_OF_NODES == SAMPLE_OF_NODES && (int)TR_OF_EDGES == SAMPLE_OF_EDGES,
               "what is public is what is sent");

static bool is_of_edges(enum tr_table_of of)
{
    return of == TR_OF_EDGES;
}

/* The number of the feature's name where that type has it, else TR_ENOENT. */
static int name_of(const struct graph_meta *meta, enum tr_table_of of, uint32_t type,
                   const char *name)
{
    int number = is_of_edges(of) ? graph_meta_edge_name(meta, name) : graph_meta_name(meta, name);
    if (number < 0)
        return TR_ENOENT;
    int table = is_of_edges(of) ? graph_meta_edge_table(meta, type, (uint32_t)number)
                                : graph_meta_table(meta, type, (uint32_t)number);
    return table < 0 ? TR_ENOENT : number;
}

static int check_table(const struct tr_sample_spec *spec, enum tr_table_of of, uint32_t type,
                       uint32_t where, struct tr_error *error)
{
    const struct graph_types *types = &spec->graph->book->types;
    int rv = session_mine(spec->graph->session, error);
    if (rv != 0)
        return rv;
    if (of != TR_OF_NODES && of != TR_OF_EDGES)
        return tr_error_set(error, TR_ERANGE, "of: %d; tables are of nodes or of edges", (int)of);
    uint32_t count = is_of_edges(of) ? types->num_etypes : types->num_ntypes;
    if (type >= count)
        return tr_error_set(error, TR_ERANGE,
                            "%s type %" PRIu32
                            ": types are numbered from 0, and the graph has %" PRIu32,
                            is_of_edges(of) ? "edge" : "node", type, count);
    bool seeds = where == TR_FOR_SEEDS && !is_of_edges(of);
    if (where >= spec->spec.num_layers && where != TR_FOR_ALL && !seeds)
        return tr_error_set(error, TR_ERANGE,
                            "where: %" PRIu32 "; give TR_FOR_ALL%s or a layer below %" PRIu32,
                            where, is_of_edges(of) ? "" : ", TR_FOR_SEEDS", spec->spec.num_layers);
    return 0;
}

int tr_sample_spec_add_table(struct tr_sample_spec *spec, enum tr_table_of of, uint32_t type,
                             const char *name, uint32_t where, struct tr_error *error)
{
    const struct graph_types *types = &spec->graph->book->types;
    int rv = check_table(spec, of, type, where, error);
    if (rv != 0)
        return rv;
    int number = name_of(&spec->graph->meta, of, type, name);
    if (number < 0)
        return tr_error_set(error, TR_ENOENT, "%s of type %s have no feature \"%s\"",
                            is_of_edges(of) ? "edges" : "nodes",
                            is_of_edges(of) ? types->etypes[type].name : types->ntypes[type], name);
    const struct sample_table table = { (uint32_t)of, type, (uint32_t)number, where };
    rv = sample_spec_add_table(&spec->spec, &table);
    return rv == 0 ? 0
                   : tr_error_set(error, rv, "table %" PRIu32 " of at most %u: %s",
                                  spec->spec.num_tables, SAMPLE_TABLES_MAX, tr_strerror(rv));
}

uint32_t tr_sample_spec_num_tables(const struct tr_sample_spec *spec)
{
    return spec->spec.num_tables;
}

int tr_sample_spec_find_table(const struct tr_sample_spec *spec, enum tr_table_of of, uint32_t type,
                              const char *name, uint32_t *table, struct tr_error *error)
{
    int rv = session_mine(spec->graph->session, error);
    if (rv != 0)
        return rv;
    bool is_there = check_table(spec, of, type, TR_FOR_ALL, NULL) == 0;
    int number = is_there ? name_of(&spec->graph->meta, of, type, name) : TR_ENOENT;
    for (uint32_t i = 0; i < spec->spec.num_tables; i++) {
        const struct sample_table *at = &spec->spec.tables[i];
        if (at->of == (uint32_t)of && at->type == type && (int)at->name == number) {
            *table = i;
            return 0;
        }
    }
    return tr_error_set(error, TR_ENOENT, "the spec lists no table \"%s\" of %s type %" PRIu32,
                        name, is_of_edges(of) ? "edge" : "node", type);
}
