/* SPDX-License-Identifier: Apache-2.0 */
/* Specs of draws, and single draws: a loader of one batch that is opened, asked once and closed, so
 * that they take the way that every batch takes. */
#include <troupe/batch.h>
#include <troupe/loader.h>
#include <troupe/sample.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "api/sample_spec_of.h"
#include "api/sized.h"
#include "graph/sample.h"

struct tr_sample_spec {
    struct sample_spec spec;
};

const struct sample_spec *sample_spec_of(const struct tr_sample_spec *spec)
{
    return &spec->spec;
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
    *out = spec;
    return 0;
}

void tr_sample_spec_destroy(struct tr_sample_spec *spec)
{
    if (spec == NULL)
        return;
    sample_spec_free(&spec->spec);
    free(spec);
}

static int check_place(const struct sample_spec *spec, uint32_t layer, uint32_t etype,
                       struct tr_error *error)
{
    if (layer != TR_EVERY && layer >= spec->num_layers)
        return tr_error_set(error, TR_ERANGE, "layer %" PRIu32 ", the spec has %" PRIu32, layer,
                            spec->num_layers);
    if (etype != TR_EVERY && etype >= spec->num_etypes)
        return tr_error_set(error, TR_ERANGE, "edge type %" PRIu32 ", the graph has %" PRIu32,
                            etype, spec->num_etypes);
    return 0;
}

/* Whether a place, or every one, is meant. */
static bool is_meant(uint32_t place, uint32_t wanted)
{
    return wanted == TR_EVERY || wanted == place;
}

int tr_sample_spec_set_fanout(struct tr_sample_spec *spec, uint32_t layer, uint32_t etype,
                              int32_t fanout, struct tr_error *error)
{
    int rv = check_place(&spec->spec, layer, etype, error);
    if (rv != 0)
        return rv;
    if (fanout < TR_FANOUT_ALL || fanout > (int32_t)SAMPLE_FANOUT_MAX)
        return tr_error_set(error, TR_ERANGE,
                            "fanout %" PRId32 "; give 0 to %" PRIu32 ", or -1 for all", fanout,
                            SAMPLE_FANOUT_MAX);
    for (uint32_t l = 0; l < spec->spec.num_layers; l++)
        for (uint32_t e = 0; e < spec->spec.num_etypes; e++)
            if (is_meant(l, layer) && is_meant(e, etype))
                sample_spec_term(&spec->spec, l, e)->fanout = fanout;
    return 0;
}

int tr_sample_spec_set_replace(struct tr_sample_spec *spec, uint32_t layer, uint32_t etype,
                               bool replace, struct tr_error *error)
{
    int rv = check_place(&spec->spec, layer, etype, error);
    if (rv != 0)
        return rv;
    for (uint32_t l = 0; l < spec->spec.num_layers; l++)
        for (uint32_t e = 0; e < spec->spec.num_etypes; e++)
            if (is_meant(l, layer) && is_meant(e, etype))
                sample_spec_term(&spec->spec, l, e)->flags = replace ? SAMPLE_REPLACE : 0;
    return 0;
}

void tr_sample_options_init_sized(struct tr_sample_options *options, size_t size)
{
    memset(options, 0, size);
    memcpy(options, &size, sizeof size);
}

static int check_options(const struct tr_graph *graph, const struct tr_sample_options *o,
                         struct tr_error *error)
{
    const struct graph_types *types = &graph->book->types;
    if (o->spec == NULL)
        return tr_error_set(error, TR_EINVAL, "spec: NULL; give what to draw");
    if (o->ntype >= types->num_ntypes)
        return tr_error_set(error, TR_ERANGE, "ntype: %" PRIu32 ", the graph has %" PRIu32,
                            o->ntype, types->num_ntypes);
    if (o->num_seeds == 0 || o->num_seeds > UINT32_MAX || o->seeds == NULL)
        return tr_error_set(error, TR_ERANGE, "num_seeds: %zu; give 1 to %" PRIu32, o->num_seeds,
                            UINT32_MAX);
    return 0;
}

/* The seeds as they stand: their order is the batch's. */
static struct tr_nodes *make_seeds(struct tr_graph *graph, const struct tr_sample_options *o,
                                   struct tr_error *error)
{
    struct tr_nodes *nodes = nodes_create(graph, o->ntype, o->num_seeds, error);
    if (nodes == NULL)
        return NULL;
    memcpy(nodes->ids, o->seeds, o->num_seeds * sizeof *o->seeds);
    memcpy(nodes->original_ids, o->seeds, o->num_seeds * sizeof *o->seeds);
    nodes->once = true;
    return nodes;
}

int tr_sample(struct tr_graph *graph, const struct tr_sample_options *options, int64_t timeout_ns,
              struct tr_batch **out, struct tr_error *error)
{
    struct tr_sample_options o;
    struct tr_loader_options lo;
    struct tr_loader *loader = NULL;
    *out = NULL;
    tr_sample_options_init(&o);
    int rv = session_mine(graph->session, error);
    if (rv == 0)
        rv = sized_read(&o, sizeof o, options, "tr_sample_options", error);
    if (rv == 0)
        rv = check_options(graph, &o, error);
    if (rv != 0)
        return rv;
    struct tr_nodes *nodes = make_seeds(graph, &o, error);
    if (nodes == NULL)
        return TR_ENOMEM;
    tr_loader_options_init(&lo);
    lo.spec = o.spec;
    lo.batch_size = (uint32_t)o.num_seeds;
    lo.shuffle = false;
    lo.world = 1;
    lo.prefetch = 1;
    lo.seed = o.seed;
    lo.edge_ids = o.edge_ids;
    lo.original_ids = o.original_ids;
    lo.degrees = o.degrees;
    lo.features = o.features;
    lo.labels = o.labels;
    rv = tr_loader_open(graph, nodes, &lo, timeout_ns, &loader, error);
    if (rv == 0)
        rv = tr_loader_next(loader, timeout_ns, out, error);
    tr_loader_close(loader);
    tr_nodes_close(nodes);
    return rv;
}
