/* SPDX-License-Identifier: Apache-2.0 */
#include "model/exact.h"

#include <stdlib.h>
#include <string.h>

#include "model/exact_layer.h"
#include "model/exact_memory.h"

/* All are checked here: those of partitions that were mapped since have been seen by nobody. */
static int find_weights(struct exact *exact, struct error *error)
{
    const struct exact_graph *graph = &exact->graph;
    if (model_configuration(exact->model)->kind == MODEL_GCN && model_norms(exact->model) == NULL)
        return error_set(error, TR_EMISMATCH,
                         "exact inference: gcn with weights of edges normalises by weighted "
                         "degrees; set the model's");
    exact->weights = calloc((size_t)graph->num_parts + 1, sizeof *exact->weights);
    if (exact->weights == NULL)
        return error_set(error, TR_ENOMEM, "exact inference: out of memory");
    int rv = edge_weights_check(graph->parts, graph->num_parts, graph->edge_weight, graph->cancel,
                                error);
    for (uint32_t p = 0; rv == 0 && p < graph->num_parts; p++)
        rv = edge_weights_find(graph->parts[p], graph->edge_weight, &exact->weights[p], error);
    return rv;
}

static int map_nodes(struct exact *exact, struct error *error)
{
    const struct exact_graph *graph = &exact->graph;
    const struct model_types *types = &model_params(exact->model)->types;
    int rc = 0;
    for (uint32_t p = 0; p < graph->num_parts; p++)
        if (graph->parts[p]->types->num_ntypes != types->num_ntypes ||
            graph->parts[p]->types->num_etypes != types->num_etypes)
            return error_set(error, TR_EUNSUPPORTED,
                             "exact inference: %u node types and %u edge types; the model takes %u "
                             "and %u",
                             graph->parts[p]->types->num_ntypes, graph->parts[p]->types->num_etypes,
                             types->num_ntypes, types->num_etypes);
    exact->maps = calloc((size_t)types->num_ntypes + 1, sizeof *exact->maps);
    if (exact->maps == NULL)
        return error_set(error, TR_ENOMEM, "exact inference: out of memory");
    for (; rc == 0 && exact->num_maps < types->num_ntypes; exact->num_maps++)
        rc = node_map_init(&exact->maps[exact->num_maps], graph->parts, graph->num_parts,
                           exact->num_maps, error);
    return rc;
}

int exact_create(struct exact **out, struct model *model, const struct exact_graph *graph,
                 struct error *error)
{
    *out = NULL;
    struct exact *exact = calloc(1, sizeof *exact);
    if (exact == NULL)
        return error_set(error, TR_ENOMEM, "exact inference: out of memory");
    exact->model = model;
    exact->graph = *graph;
    exact->num_scratch = model_parallel(model)->workers;
    exact->scratch = calloc(exact->num_scratch, sizeof *exact->scratch);
    int rc = exact->scratch == NULL ? error_set(error, TR_ENOMEM, "exact inference: out of memory")
                                    : map_nodes(exact, error);
    if (rc == 0 && model_configuration(model)->edge_weights)
        rc = find_weights(exact, error);
    if (rc == 0 && (graph->draw_by != NULL || graph->draw_mask != NULL))
        rc = drawn_edges_find(graph->parts, graph->num_parts, graph->draw_by, graph->draw_mask,
                              &exact->drawn, error);
    if (rc != 0) {
        exact_destroy(exact);
        return rc;
    }
    *out = exact;
    return 0;
}

void exact_destroy(struct exact *exact)
{
    if (exact == NULL)
        return;
    exact_features_fini(&exact->features);
    whole_batch_fini(&exact->whole);
    for (uint32_t i = 0; i < MODEL_ENDS; i++)
        tensor_fini(&exact->whole_hidden[i]);
    tensor_fini(&exact->hidden[0]);
    tensor_fini(&exact->hidden[1]);
    tensor_fini(&exact->products);
    tensor_fini(&exact->transposed);
    for (size_t w = 0; exact->scratch != NULL && w < exact->num_scratch; w++)
        tensor_fini(&exact->scratch[w]);
    free(exact->scratch);
    tensor_fini(&exact->picked);
    storage_fini(&exact->labels);
    for (uint32_t t = 0; t < exact->num_maps; t++)
        node_map_fini(&exact->maps[t]);
    free(exact->maps);
    free(exact->weights);
    free(exact->drawn);
    free(exact);
}

static bool has_relations(const struct exact *exact)
{
    return model_kind_has_relations(model_configuration(exact->model)->kind);
}

static int prepare(struct exact *exact, struct error *error)
{
    if (exact->prepared)
        return 0;
    const struct exact_graph *graph = &exact->graph;
    if (has_relations(exact)) {
        const struct whole_graph whole = { graph->parts,    graph->num_parts, exact->maps,
                                           graph->features, graph->links,     exact->drawn };
        int rv = whole_batch_init(&exact->whole, exact->model, &whole, error);
        if (rv != 0)
            whole_batch_fini(&exact->whole);
        exact->prepared = rv == 0;
        return rv;
    }
    int rc = exact_features_init(&exact->features, exact->model, exact->maps, graph->parts,
                                 graph->num_parts, graph->features, error);
    if (rc != 0)
        exact_features_fini(&exact->features);
    exact->prepared = rc == 0;
    return rc;
}

const struct tensor *exact_hidden(const struct exact *exact)
{
    uint32_t layers = model_params(exact->model)->num_layers;
    if (has_relations(exact))
        return layers < 2 ? NULL : exact->whole_hidden;
    return layers < 2 ? NULL : &exact->hidden[(layers - 2) % 2];
}

static int copy_rows(struct tensor *to, const float *rows, size_t count, size_t width)
{
    int rc = tensor_resize(to, count, width);
    if (rc == 0 && count * width > 0)
        memcpy(to->data, rows, count * width * sizeof *rows);
    return rc;
}

/* The graph is one batch, which the model runs forward as any other. */
static int infer_whole(struct exact *exact, struct tensor *logits, struct error *error)
{
    const struct model_config *config = model_configuration(exact->model);
    const struct model_types *types = &model_params(exact->model)->types;
    const float *first;
    model_set_cancel(exact->model, exact->graph.cancel);
    int rc = model_forward(exact->model, &exact->whole.batch, &first, error);
    model_set_cancel(exact->model, NULL);
    if (rc != 0)
        return rc;
    uint32_t nodes = 0;
    for (uint32_t i = 0; rc == 0 && i < model_types_targets(types); i++) {
        nodes = exact->maps[types->targets[i]].num_nodes;
        rc = copy_rows(&logits[i], model_outputs(exact->model, i), nodes, config->classes);
        if (rc == 0 && config->layers > 1)
            rc = copy_rows(&exact->whole_hidden[i], model_hidden(exact->model, i), nodes,
                           config->hidden);
    }
    return rc == 0 ? 0
                   : error_set(error, rc, "exact inference: no memory for the outputs of %u nodes",
                               nodes);
}

int exact_infer(struct exact *exact, struct tensor *logits, struct error *error)
{
    int rc = prepare(exact, error);
    if (rc != 0)
        return rc;
    if (has_relations(exact))
        return infer_whole(exact, logits, error);
    const struct params *params = model_params(exact->model);
    struct exact_layer layer = { .model = exact->model,
                                 .parts = exact->graph.parts,
                                 .map = exact->maps,
                                 .weights = exact->weights,
                                 .links = exact->graph.links,
                                 .drawn = exact->drawn,
                                 .cancel = exact->graph.cancel,
                                 .in = exact->features.rows,
                                 .products = &exact->products,
                                 .transposed = &exact->transposed,
                                 .scratch = exact->scratch };
    for (uint32_t l = 0; rc == 0 && l < params->num_layers; l++) {
        layer.params = &params->layers[l];
        layer.last = l + 1 == params->num_layers;
        layer.out = layer.last ? logits : &exact->hidden[l % 2];
        rc = exact_layer_run(&layer);
        layer.in = (struct exact_rows){ .width = layer.params->out, .dense = layer.out->data };
    }
    if (rc == TR_ECANCELED)
        error_set(error, rc, "exact inference: interrupted");
    else if (rc != 0)
        error_set(error, rc, "exact inference: no memory for %u nodes of %u hidden values",
                  exact->maps[0].num_nodes, model_configuration(exact->model)->hidden);
    return rc;
}
