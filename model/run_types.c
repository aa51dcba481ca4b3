/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types of the job's graph, as its model takes them: which node type has the labels, which have
 * features, whose rows are learned, and what each relation draws.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/run_job_inside.h"
#include "model/run_task.h"

/* The features that nobody has to name; a graph may be without them. */
#define FEATURES_USUAL "feat"

static int refuse_memory(struct error *error)
{
    return error_set(error, TR_ENOMEM, "no memory for the types of the graph");
}

static bool type_has(const struct run_job *job, uint32_t ntype, const char *name)
{
    struct tr_feature_info info = TR_FEATURE_INFO_INIT;
    return tr_graph_find_feature(job->graph, ntype, name, &info, NULL) == 0;
}

/* Lists the node types that have a feature, for messages. */
static uint32_t list_types(const struct run_job *job, const char *name, char *text, size_t bytes)
{
    uint32_t count = 0;
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t t = 0; t < tr_graph_num_ntypes(job->graph); t++) {
        if (name != NULL && !type_has(job, t, name))
            continue;
        if (used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s'%s'", count > 0 ? ", " : "",
                                     tr_graph_ntype_name(job->graph, t));
        count++;
    }
    return count;
}

static int find_named_type(struct run_job *job, const char *name, struct error *error)
{
    char types[400];
    for (uint32_t t = 0; t < tr_graph_num_ntypes(job->graph); t++) {
        if (strcmp(tr_graph_ntype_name(job->graph, t), name) == 0) {
            job->ntype = t;
            return 0;
        }
    }
    (void)list_types(job, NULL, types, sizeof types);
    return error_set(error, TR_ENOENT,
                     "options.label_type: the graph has no node type '%s'; it has %s", name, types);
}

/* The only type with the labels, where nobody named one. */
static int find_label_type(struct run_job *job, struct error *error)
{
    struct run_config *config = job->config;
    char types[400];
    if (config->label_type != NULL)
        return find_named_type(job, config->label_type, error);
    uint32_t count = list_types(job, config->labels, types, sizeof types);
    if (count > 1)
        return error_set(error, TR_EINVAL,
                         "nodes of the types %s have labels '%s': say by options.label_type which "
                         "of them are learned",
                         types, config->labels);
    if (count == 0 && tr_graph_num_ntypes(job->graph) > 1)
        return error_set(error, TR_ENOENT,
                         "no node type has labels '%s'; name the feature that has them as "
                         "options.labels",
                         config->labels);
    for (uint32_t t = 0; count == 1 && t < tr_graph_num_ntypes(job->graph); t++)
        if (type_has(job, t, config->labels))
            job->ntype = t;
    if (tr_graph_num_ntypes(job->graph) == 1)
        return 0;
    config->label_type = strdup(tr_graph_ntype_name(job->graph, job->ntype));
    return config->label_type == NULL ? refuse_memory(error) : 0;
}

static int take_ntypes(struct run_job *job, struct model_ntype *ntypes, struct error *error)
{
    const struct run_config *config = job->config;
    uint32_t with_features = 0;
    for (uint32_t t = 0; t < tr_graph_num_ntypes(job->graph); t++) {
        struct tr_feature_info info = TR_FEATURE_INFO_INIT;
        bool found = tr_graph_find_feature(job->graph, t, config->features, &info, NULL) == 0;
        if (found && info.width > MODEL_WIDTH_MAX)
            return error_set(error, TR_ERANGE, "feature '%s' has rows of %llu numbers, at most %u",
                             config->features, (unsigned long long)info.width, MODEL_WIDTH_MAX);
        ntypes[t] = (struct model_ntype){ .name = tr_graph_ntype_name(job->graph, t),
                                          .inputs = found ? (uint32_t)info.width : 0,
                                          .embedded = found ? 0
                                                            : tr_graph_num_nodes(job->graph, t) };
        with_features += found;
    }
    job->has_features = with_features > 0;
    if (with_features > 0 || strcmp(config->features, FEATURES_USUAL) == 0)
        return 0;
    return error_set(error, TR_ENOENT,
                     "no node type has features '%s'; name others as options.features, or give "
                     "none: rows of nodes are then learned instead",
                     config->features);
}

static int take_etypes(struct run_job *job, const struct tr_book *book, struct model_etype *etypes,
                       struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    for (uint32_t e = 0; e < job->types.num_etypes; e++) {
        struct tr_etype_info info = TR_ETYPE_INFO_INIT;
        int rv = tr_book_etype(book, e, &info, &why);
        if (rv != 0)
            return session_failed(&why, rv, error);
        char *name = strdup(info.name);
        if (name == NULL)
            return refuse_memory(error);
        etypes[e] = (struct model_etype){ name, info.src_ntype, info.dst_ntype };
    }
    return 0;
}

/* "REL=5,10", or "SRC:REL:DST=0,3": what a relation draws in each layer, in the place of the fanout.
 * `named` says of each edge type whether it had its numbers before. */
static int read_fanout(struct run_job *job, const struct tr_book *book, char *part, bool *named,
                       struct error *error)
{
    uint32_t layers = job->config->model.layers, etype, l = 0;
    char *numbers = strrchr(part, '=');
    if (numbers == NULL)
        return error_set(error, TR_EINVAL,
                         "options.etype_fanout '%s': write RELATION=N,N, with a number a layer, "
                         "and ';' between relations",
                         part);
    *numbers++ = '\0';
    if (tr_book_find_etype(book, part, &etype, NULL) != 0)
        return error_set(error, TR_ENOENT,
                         "options.etype_fanout: '%s' names no edge type, or several; `troupe "
                         "inspect` lists them",
                         part);
    if (named[etype])
        return error_set(error, TR_EINVAL,
                         "options.etype_fanout: '%s' is there twice; give its numbers once", part);
    named[etype] = true;
    for (char *end = numbers; l < layers && *numbers != '\0'; numbers = end + (*end == ',')) {
        long value = strtol(numbers, &end, 10);
        if (end == numbers || (*end != ',' && *end != '\0') || value < TR_FANOUT_ALL ||
            value > INT32_MAX)
            break;
        job->fanouts[(size_t)l++ * job->types.num_etypes + etype] = (int32_t)value;
    }
    return l == layers && *numbers == '\0'
               ? 0
               : error_set(error, TR_EINVAL,
                           "options.etype_fanout: '%s' needs %u numbers, one a layer: a count, 0 "
                           "for none, or %d for all",
                           part, layers, TR_FANOUT_ALL);
}

/* Relations stand one behind the other, with ';' between. */
static int read_fanouts(struct run_job *job, const struct tr_book *book, struct error *error)
{
    char *text = strdup(job->config->etype_fanout), *rest = NULL;
    bool *named = calloc(job->types.num_etypes + 1, sizeof *named);
    int rv = text == NULL || named == NULL ? refuse_memory(error) : 0;
    for (char *part = rv != 0 ? NULL : strtok_r(text, ";", &rest); rv == 0 && part != NULL;
         part = strtok_r(NULL, ";", &rest))
        rv = read_fanout(job, book, part, named, error);
    free(named);
    free(text);
    return rv;
}

static int take_fanouts(struct run_job *job, const struct tr_book *book, struct error *error)
{
    const struct run_config *config = job->config;
    size_t etypes = job->types.num_etypes;
    job->fanouts = calloc((size_t)BATCH_LAYERS_MAX * etypes + 1, sizeof *job->fanouts);
    if (job->fanouts == NULL)
        return refuse_memory(error);
    for (size_t l = 0; l < config->model.layers; l++)
        for (size_t e = 0; e < etypes; e++)
            job->fanouts[l * etypes + e] = config->fanout[l];
    return config->etype_fanout == NULL ? 0 : read_fanouts(job, book, error);
}

static int refuse_types(const struct run_job *job, const char *path, struct error *error)
{
    const struct run_config *config = job->config;
    uint32_t ntypes = tr_graph_num_ntypes(job->graph), etypes = tr_graph_num_etypes(job->graph);
    const char *option = config->edge_weight != NULL ? "options.edge_weight" : NULL;
    bool relations = model_kind_has_relations(config->model.kind);
    if (!relations && (config->etype_fanout != NULL || config->label_type != NULL))
        return error_set(error, TR_EINVAL,
                         "options.label_type and options.etype_fanout are for models of relations: "
                         "give options.model 'rgcn' or 'gat'");
    if (!relations && (ntypes != 1 || etypes != 1))
        return error_set(
            error, TR_EUNSUPPORTED,
            "%s has %u node type%s and %u edge type%s; %s takes graphs with one of each: "
            "give options.model 'rgcn' or 'gat', which take any number",
            path, ntypes, ntypes == 1 ? "" : "s", etypes, etypes == 1 ? "" : "s",
            model_kind_name(config->model.kind));
    if (config->model.kind == MODEL_GCN && config->draw_mask != NULL)
        return error_set(error, TR_EUNSUPPORTED,
                         "options.draw_mask is for sage, rgcn and gat: gcn normalises by the "
                         "degrees of all edges");
    if (relations && ntypes > 1 && config->model.standardise)
        option = "options.standardise";
    if (relations && option != NULL)
        return error_set(error, TR_EUNSUPPORTED, "%s is for sage and gcn%s; leave it out for %s",
                         option,
                         config->edge_weight != NULL ? "" : ", or for graphs of one node type",
                         model_kind_name(config->model.kind));
    return 0;
}

/* Of several types, where nobody named a model, and none that is gone on with is of relations. */
static void choose_relations(struct run_job *job)
{
    struct run_config *config = job->config;
    bool typed = tr_graph_num_ntypes(job->graph) > 1 || tr_graph_num_etypes(job->graph) > 1;
    if (!config->choose_kind || !typed)
        return;
    if (!model_kind_has_relations(config->model.kind))
        config->model.kind = MODEL_RGCN;
    config->choose_kind = false;
}

int run_nodes_find_types(struct run_job *job, const struct tr_book *book, struct error *error)
{
    (void)book;
    int rv = find_label_type(job, error);
    job->types.targets[MODEL_SOURCES] = job->types.targets[MODEL_DESTINATIONS] = job->ntype;
    return rv;
}

/* Takes the types of a graph whose model is one of relations; the targets are known by then. */
static int take_types(struct run_job *job, const struct tr_book *book, struct error *error)
{
    job->types.num_ntypes = tr_graph_num_ntypes(job->graph);
    job->types.num_etypes = tr_graph_num_etypes(job->graph);
    struct model_ntype *ntypes = calloc((size_t)job->types.num_ntypes + 1, sizeof *ntypes);
    struct model_etype *etypes = calloc((size_t)job->types.num_etypes + 1, sizeof *etypes);
    /* run_job_drop_types() frees them, also those of a failure. */
    job->types.ntypes = ntypes;
    job->types.etypes = etypes;
    if (ntypes == NULL || etypes == NULL) {
        job->types.num_etypes = etypes == NULL ? 0 : job->types.num_etypes;
        return refuse_memory(error);
    }
    int rv = take_ntypes(job, ntypes, error);
    if (rv == 0)
        rv = take_etypes(job, book, etypes, error);
    if (rv == 0)
        rv = take_fanouts(job, book, error);
    job->config->model.types = &job->types;
    /* What several types have is not chosen by the features of one. */
    bool measured = job->types.num_ntypes == 1 && job->has_features;
    job->config->choose_layers = job->config->choose_norm = false;
    job->config->choose_standardise = job->config->choose_standardise && measured;
    job->config->choose_normalise = job->config->choose_normalise && measured;
    return rv;
}

int run_job_take_types(struct run_job *job, const char *path, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_book *book = NULL;
    choose_relations(job);
    int rv = refuse_types(job, path, error);
    job->has_features = true;
    if (rv != 0)
        return rv;
    rv = tr_book_open(path, &book, &why);
    if (rv != 0)
        return session_failed(&why, rv, error);
    rv = job->task->find_types(job, book, error);
    if (rv == 0 && model_kind_has_relations(job->config->model.kind))
        rv = take_types(job, book, error);
    tr_book_close(book);
    return rv;
}

void run_job_drop_types(struct run_job *job)
{
    for (uint32_t e = 0; e < job->types.num_etypes; e++)
        free((char *)(uintptr_t)job->types.etypes[e].name);
    free((struct model_etype *)(uintptr_t)job->types.etypes);
    free((struct model_ntype *)(uintptr_t)job->types.ntypes);
    free(job->fanouts);
    if (job->config != NULL && job->config->model.types == &job->types)
        job->config->model.types = NULL;
}
