/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the samplers of the table can draw what a spec asks for. */
#include "graph/samplers.h"

#include <inttypes.h>
#include <stdio.h>

#include "graph/weight_sums.h"

/* Of a text that says which term is refused. */
#define PLACE_BYTES 200

/* instead: what a user does, or NULL where only other versions ask for that. */
static int refuse(const char *where, const struct sample_method *method, const char *what,
                  const char *instead, struct error *error)
{
    return instead == NULL
               ? error_set(error, TR_EUNSUPPORTED, "%s: the %s sampler has no %s in this version",
                           where, method->name, what)
               : error_set(error, TR_EUNSUPPORTED,
                           "%s: the %s sampler has no %s; %s, or draw by the sampler of neighbors",
                           where, method->name, what, instead);
}

bool sample_gives_weights(uint32_t kind, const struct sample_term *term)
{
    const struct sample_method *method = sample_method_find(kind);
    return method != NULL && method->edge_weights && term->weights != SAMPLE_NO_TABLE;
}

int sample_method_check(uint32_t kind, uint32_t row_fields, const struct sample_term *term,
                        const char *where, struct error *error)
{
    const struct sample_method *method = sample_method_find(kind);
    if (method == NULL)
        return error_set(error, TR_EUNSUPPORTED,
                         "%s: sampler %" PRIu32 " is not one of this version's", where, kind);
    uint32_t missing = row_fields & ~method->row_fields;
    if ((missing & SAMPLE_ROW_SALT) != 0)
        return refuse(where, method, "salts of rows", NULL, error);
    if ((missing & SAMPLE_ROW_TIME) != 0)
        return refuse(where, method, "times of rows", NULL, error);
    if ((missing & SAMPLE_ROW_EXCLUDE) != 0)
        return refuse(where, method, "exclusions", NULL, error);
    if (term->weights != SAMPLE_NO_TABLE && !method->weights)
        return refuse(where, method, "weights", "leave them out", error);
    if (term->mask != SAMPLE_NO_TABLE && !method->mask)
        return refuse(where, method, "mask", NULL, error);
    if ((term->flags & ~SAMPLE_FLAGS) != 0)
        return refuse(where, method, "other flags than to replace and in total", NULL, error);
    if ((term->flags & SAMPLE_REPLACE) != 0 && method->once)
        return refuse(where, method, "draws with replacement", "draw without", error);
    if (term->direction != SAMPLE_IN && !method->out_edges)
        return refuse(where, method, "draws along out-edges",
                      "import the graph with --reverse-types, and draw along the in-edges of the "
                      "reverse type",
                      error);
    if (term->direction != SAMPLE_IN &&
        (term->weights != SAMPLE_NO_TABLE || term->mask != SAMPLE_NO_TABLE))
        return error_set(
            error, TR_EUNSUPPORTED,
            "%s: draws along out-edges have no weights and no mask, since features of "
            "edges lie with their destinations; import the graph with --reverse-types, "
            "and draw by them along the in-edges of the reverse type",
            where);
    if ((term->flags & SAMPLE_TOTAL) != 0 && !method->totals)
        return refuse(where, method, "draws over all edge types together",
                      "give each edge type a fanout of its own", error);
    if ((term->flags & SAMPLE_TOTAL) != 0 &&
        (term->weights != SAMPLE_NO_TABLE || term->mask != SAMPLE_NO_TABLE))
        return error_set(error, TR_EUNSUPPORTED,
                         "%s: draws over all edge types together have no weights and no mask; give "
                         "each edge type a fanout of its own",
                         where);
    if (term->fanout > (int32_t)SAMPLE_FANOUT_MAX)
        return error_set(error, TR_ETOOBIG,
                         "%s: fanout %" PRId32 " asked for, the most is %" PRIu32
                         " (or -1 for all)",
                         where, term->fanout, SAMPLE_FANOUT_MAX);
    return 0;
}

/* What edge type e draws in total, all others draw with it that draw at the same nodes. */
static int total_check(const struct sample_spec *spec, uint32_t layer, uint32_t e,
                       const struct graph_types *types, const char *where, struct error *error)
{
    const struct sample_term *term = sample_spec_term(spec, layer, e);
    const uint32_t ntype = sample_row_type(&types->etypes[e], term);
    for (uint32_t i = 0; (term->flags & SAMPLE_TOTAL) != 0 && i < spec->num_etypes; i++) {
        const struct sample_term *other = sample_spec_term(spec, layer, i);
        bool with = sample_row_type(&types->etypes[i], term) == ntype;
        if (!with || (other->fanout == term->fanout && other->flags == term->flags &&
                      other->direction == term->direction))
            continue;
        return error_set(error, TR_EINVAL,
                         "%s: layer %" PRIu32 ": edges of type %s are drawn in total with those of "
                         "type %s, which have another fanout or draw otherwise; set both alike",
                         where, layer, types->etypes[e].name, types->etypes[i].name);
    }
    return 0;
}

int sample_spec_check(const struct sample_spec *spec, const struct graph_types *types,
                      const char *where, struct error *error)
{
    const uint32_t num_etypes = types->num_etypes;
    int rv = 0;
    if (spec->num_etypes != num_etypes)
        return error_set(error, TR_EMISMATCH,
                         "%s: fanouts of %" PRIu32 " edge types, the graph has %" PRIu32, where,
                         spec->num_etypes, num_etypes);
    for (uint32_t i = 0; i < spec->num_layers * num_etypes && rv == 0; i++) {
        char place[PLACE_BYTES];
        snprintf(place, sizeof place, "%s: layer %" PRIu32 ", edges of type %s", where,
                 i / num_etypes, types->etypes[i % num_etypes].name);
        rv = sample_method_check(spec->kind, spec->row_fields, &spec->terms[i], place, error);
    }
    for (uint32_t i = 0; i < spec->num_layers * num_etypes && rv == 0; i++)
        rv = total_check(spec, i / num_etypes, i % num_etypes, types, where, error);
    return rv;
}

int sample_mask_check(const char *name, enum tr_dtype dtype, uint64_t width, const char *where,
                      struct error *error)
{
    if ((dtype == TR_BOOL || dtype == TR_U8) && width == 1)
        return 0;
    return error_set(error, TR_EINVAL,
                     "%s: mask \"%s\" has %" PRIu64
                     " of %s for an edge; a mask has one bool or uint8",
                     where, name, width, tr_dtype_name(dtype));
}

typedef int table_check(const char *name, enum tr_dtype dtype, uint64_t width, const char *where,
                        struct error *error);

/* The weights and the mask that edge type e draws by in a layer. */
static int term_tables_check(const struct sample_term *term, const struct graph_meta *meta,
                             uint32_t e, const char *where, struct error *error)
{
    const struct edge_meta *edges = &meta->edges[e];
    const struct {
        const char *use;
        uint32_t table;
        table_check *check;
    } tables[] = { { "weights", term->weights, weights_check },
                   { "a mask", term->mask, sample_mask_check } };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        if (tables[i].table == SAMPLE_NO_TABLE)
            continue;
        if (tables[i].table >= edges->num_features)
            return error_set(error, TR_ERANGE,
                             "%s: %s of table %" PRIu32 " of edge type %" PRIu32
                             " asked for, it has %" PRIu32 " tables",
                             where, tables[i].use, tables[i].table, e, edges->num_features);
        const struct feature_meta *meta_of = &edges->features[tables[i].table];
        int rv = tables[i].check(meta_of->name, meta_of->dtype, meta_of->width, where, error);
        if (rv != 0)
            return rv;
    }
    return 0;
}

int sample_tables_check(const struct sample_spec *spec, const struct graph_meta *meta,
                        const char *where, struct error *error)
{
    int rv = 0;
    for (uint32_t i = 0; i < spec->num_layers * spec->num_etypes && rv == 0; i++)
        rv = term_tables_check(&spec->terms[i], meta, i % spec->num_etypes, where, error);
    if (rv != 0)
        return rv;
    for (uint32_t i = 0; i < spec->num_tables; i++) {
        const struct sample_table *table = &spec->tables[i];
        bool edges = table->of == SAMPLE_OF_EDGES;
        if (table->type >= (edges ? meta->num_etypes : meta->num_ntypes))
            return error_set(error, TR_ERANGE, "%s: table %" PRIu32 " is of %s type %" PRIu32,
                             where, i, edges ? "edge" : "node", table->type);
        int found = edges ? graph_meta_edge_table(meta, table->type, table->name)
                          : graph_meta_table(meta, table->type, table->name);
        if (found < 0)
            return error_set(error, TR_ENOENT,
                             "%s: table %" PRIu32 ": %s type %" PRIu32 " has no such feature",
                             where, i, edges ? "edge" : "node", table->type);
    }
    return 0;
}
