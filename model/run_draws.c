/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a training draws: the spec of its loaders, and whether the graph's edges can be drawn so, which
 * is asked before anything is written.
 */
#include <stdlib.h>

#include <troupe/sample.h>

#include "model/run_job_inside.h"

/* A loader's own options say what all edge types draw evenly. */
static bool needs_spec(const struct run_job *job)
{
    const struct run_config *config = job->config;
    return config->edge_weight != NULL || job->fanouts != NULL || config->draw_by != NULL ||
           config->draw_mask != NULL || config->sampler != TR_SAMPLER_NEIGHBORS;
}

static uint32_t count_etypes(const struct run_job *job)
{
    return job->config->model.types == NULL ? 1 : job->types.num_etypes;
}

static int32_t fanout_of(const struct run_job *job, uint32_t layer, uint32_t etype)
{
    return job->fanouts == NULL ? job->config->fanout[layer]
                                : job->fanouts[(size_t)layer * count_etypes(job) + etype];
}

static int name_draws(const struct run_config *config, struct tr_sample_spec *spec,
                      struct tr_error *why)
{
    int rv = tr_sample_spec_set_replace(spec, TR_EVERY, TR_EVERY, config->replace, why);
    if (rv == 0)
        rv = tr_sample_spec_set_sampler(spec, config->sampler, why);
    if (rv == 0 && config->draw_by != NULL)
        rv = tr_sample_spec_set_weights(spec, TR_EVERY, TR_EVERY, config->draw_by, why);
    if (rv == 0 && config->draw_mask != NULL)
        rv = tr_sample_spec_set_mask(spec, TR_EVERY, TR_EVERY, config->draw_mask, why);
    return rv;
}

int run_job_specify_draws(const struct run_job *job, struct tr_sample_spec **spec,
                          struct tr_error *why)
{
    const struct run_config *config = job->config;
    *spec = NULL;
    if (!needs_spec(job))
        return 0;
    int rv = tr_sample_spec_create(job->graph, config->model.layers, spec, why);
    for (uint32_t l = 0; l < config->model.layers; l++)
        for (uint32_t e = 0; rv == 0 && e < count_etypes(job); e++)
            rv = tr_sample_spec_set_fanout(*spec, l, e, fanout_of(job, l, e), why);
    if (rv == 0)
        rv = name_draws(config, *spec, why);
    if (rv == 0 && config->edge_weight != NULL)
        rv = tr_sample_spec_add_table(*spec, TR_OF_EDGES, 0, config->edge_weight, TR_FOR_ALL, why);
    return rv;
}

/* Whether a layer draws edges of the type by the feature. */
static bool draws_by(const struct run_job *job, uint32_t etype)
{
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    bool any = false;
    for (uint32_t l = 0; l < job->config->model.layers; l++)
        any |= fanout_of(job, l, etype) != 0;
    return any &&
           tr_graph_find_edge_feature(job->graph, etype, job->config->draw_by, &info, NULL) == 0;
}

/* The seeds of a draw that reaches each partition: of each node type into which edges lead that are
 * drawn by the feature, a node of each. */
struct first_nodes {
    uint32_t num_ntypes;
    uint32_t *ntypes; /* [node types] */
    size_t *counts;   /* [node types] */
    uint64_t *ids;    /* [node types * partitions] */
    size_t num_ids;
};

static void add_first_nodes(const struct run_job *job, const struct tr_book *book, uint32_t ntype,
                            struct first_nodes *first)
{
    const size_t before = first->num_ids;
    for (uint32_t i = 0; i < first->num_ntypes; i++)
        if (first->ntypes[i] == ntype)
            return;
    for (uint32_t p = 0; p < tr_graph_num_parts(job->graph); p++) {
        struct tr_range range = { 0, 0 };
        if (tr_book_node_range(book, ntype, p, &range, NULL) == 0 && range.begin < range.end)
            first->ids[first->num_ids++] = range.begin;
    }
    if (first->num_ids == before)
        return;
    first->ntypes[first->num_ntypes] = ntype;
    first->counts[first->num_ntypes++] = first->num_ids - before;
}

static int find_first_nodes(const struct run_job *job, const struct tr_book *book,
                            struct tr_sample_spec *spec, struct first_nodes *first,
                            struct tr_error *why)
{
    size_t ntypes = tr_graph_num_ntypes(job->graph);
    *first = (struct first_nodes){
        .ntypes = calloc(ntypes, sizeof *first->ntypes),
        .counts = calloc(ntypes, sizeof *first->counts),
        .ids = calloc(ntypes * tr_graph_num_parts(job->graph), sizeof *first->ids),
    };
    if (first->ntypes == NULL || first->counts == NULL || first->ids == NULL)
        return tr_error_set(why, TR_ENOMEM, "no memory for a draw by weights");
    int rv = 0;
    for (uint32_t e = 0; rv == 0 && e < count_etypes(job); e++) {
        struct tr_etype_info info = TR_ETYPE_INFO_INIT;
        if (!draws_by(job, e))
            continue;
        rv = tr_sample_spec_set_fanout(spec, 0, e, 1, why);
        if (rv == 0)
            rv = tr_book_etype(book, e, &info, why);
        if (rv == 0)
            add_first_nodes(job, book, info.dst_ntype, first);
    }
    return rv;
}

/* An owner reads all weights of its edges before it draws by them for the first time, and keeps what it
 * makes of them for the batches. */
static int draw_once(const struct run_job *job, const struct tr_book *book, struct tr_error *why)
{
    struct tr_sample_options options;
    struct tr_sample_spec *spec;
    struct tr_batch *batch = NULL;
    struct first_nodes first = { 0 };
    int rv = tr_sample_spec_create(job->graph, 1, &spec, why);
    if (rv == 0)
        rv = tr_sample_spec_set_fanout(spec, 0, TR_EVERY, 0, why);
    if (rv == 0)
        rv = name_draws(job->config, spec, why);
    if (rv == 0)
        rv = find_first_nodes(job, book, spec, &first, why);
    if (rv == 0 && first.num_ids > 0) {
        tr_sample_options_init(&options);
        options.spec = spec;
        options.seeds = first.ids;
        options.num_seeds = first.num_ids;
        options.ntypes = first.ntypes;
        options.counts = first.counts;
        options.num_ntypes = first.num_ntypes;
        rv = tr_sample(job->graph, &options, TR_WAIT_FOREVER, &batch, why);
    }
    if (batch != NULL)
        tr_batch_release(batch);
    tr_sample_spec_destroy(spec);
    free(first.ntypes);
    free(first.counts);
    free(first.ids);
    return rv;
}

int run_job_check_draws(const struct run_job *job, const char *path, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_book *book;
    if (job->config->draw_by == NULL)
        return 0;
    int rv = tr_book_open(path, &book, &why);
    if (rv == 0)
        rv = draw_once(job, book, &why);
    tr_book_close(book);
    if (rv == 0)
        return 0;
    session_failed(&why, rv, error);
    return rv == TR_EINVAL ? error_prefix(error, "options.draw_by") : rv;
}
