/* SPDX-License-Identifier: Apache-2.0 */
#include "model/exact.h"

#include <stdlib.h>

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
    int rc = exact->scratch == NULL
                 ? error_set(error, TR_ENOMEM, "exact inference: out of memory")
                 : node_map_init(&exact->map, graph->parts, graph->num_parts, error);
    if (rc == 0 && model_configuration(model)->edge_weights)
        rc = find_weights(exact, error);
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
    tensor_fini(&exact->hidden[0]);
    tensor_fini(&exact->hidden[1]);
    tensor_fini(&exact->products);
    tensor_fini(&exact->transposed);
    for (size_t w = 0; exact->scratch != NULL && w < exact->num_scratch; w++)
        tensor_fini(&exact->scratch[w]);
    free(exact->scratch);
    tensor_fini(&exact->picked);
    storage_fini(&exact->labels);
    node_map_fini(&exact->map);
    free(exact->weights);
    free(exact);
}

static int prepare(struct exact *exact, struct error *error)
{
    if (exact->prepared)
        return 0;
    const struct exact_graph *graph = &exact->graph;
    int rc = exact_features_init(&exact->features, exact->model, &exact->map, graph->parts,
                                 graph->num_parts, graph->features, error);
    if (rc != 0)
        exact_features_fini(&exact->features);
    exact->prepared = rc == 0;
    return rc;
}

const struct tensor *exact_hidden(const struct exact *exact)
{
    uint32_t layers = model_params(exact->model)->num_layers;
    return layers < 2 ? NULL : &exact->hidden[(layers - 2) % 2];
}

int exact_infer(struct exact *exact, struct tensor *logits, struct error *error)
{
    int rc = prepare(exact, error);
    if (rc != 0)
        return rc;
    const struct params *params = model_params(exact->model);
    struct exact_layer layer = { .model = exact->model,
                                 .parts = exact->graph.parts,
                                 .map = &exact->map,
                                 .weights = exact->weights,
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
        error_set(error, rc,
                  "exact inference: no memory for %u nodes of %u hidden values; use "
                  "sampled inference",
                  exact->map.num_nodes, model_configuration(exact->model)->hidden);
    return rc;
}
