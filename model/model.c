/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/key.h"
#include "model/attention.h"
#include "model/batch_norm.h"
#include "model/block_weights.h"
#include "model/edge_weights.h"
#include "model/gcn.h"
#include "model/inputs.h"
#include "model/layer.h"
#include "model/matmul.h"
#include "model/objective.h"
#include "model/optimiser.h"
#include "model/sage.h"

struct model {
    struct model_config config;
    const struct weighted_norms *norms; /* NULL: not needed */
    struct params params;
    struct params applied; /* with bases: what layers take; else not there */
    struct layer_tools tools;
    struct tensor weights;   /* [1][params.count] */
    struct tensor beginning; /* the same, where the first weights are not drawn */
    struct tensor columns;   /* [1][2 or 4 * inputs], by what they are standardised (model.h) */
    struct tensor gradients; /* [1][params.count] */
    struct tensor applied_weights, applied_gradients; /* [1][applied.count] */
    struct optimiser optimiser;
    struct inputs inputs;
    struct tensor output_grads[MODEL_ENDS]; /* [seeds][classes] of each target */
    struct layer *layers;                   /* [params.num_parts] */
    struct term *terms;                     /* of all layers */
    const float **rows;                     /* [layers][node types]: what each layer reads */
    char kernels_text[96];
};

const struct model_config *model_configuration(const struct model *model)
{
    return &model->config;
}

const struct params *model_params(const struct model *model)
{
    return &model->params;
}

struct parallel *model_parallel(const struct model *model)
{
    return model->tools.parallel;
}

void model_set_parallel(struct model *model, struct parallel *parallel)
{
    model->tools.parallel = parallel;
}

void model_set_cancel(struct model *model, const struct cancel *cancel)
{
    model->tools.cancel = cancel;
}

void model_set_norms(struct model *model, const struct weighted_norms *norms)
{
    model->norms = norms;
}

const struct weighted_norms *model_norms(const struct model *model)
{
    return model->norms;
}

const struct kernels *model_kernels(const struct model *model)
{
    return model->tools.kernels;
}

void model_use_kernels(struct model *model, const struct kernels *kernels)
{
    model->tools.kernels = kernels;
    snprintf(model->kernels_text, sizeof model->kernels_text, "blas %s, loops %s", matmul_kernels(),
             kernels->name);
}

const char *model_kernels_text(const struct model *model)
{
    return model->kernels_text;
}

float *model_weights(struct model *model)
{
    return model->weights.data;
}

float *model_gradients(struct model *model, size_t *count)
{
    *count = model->params.count;
    return model->gradients.data;
}

struct optimiser *model_optimiser_state(struct model *model)
{
    return &model->optimiser;
}

void model_reset(struct model *model)
{
    if (model->beginning.rows > 0)
        memcpy(model->weights.data, model->beginning.data, model->params.count * sizeof(float));
    else
        params_draw(&model->params, model->config.seed, model->weights.data);
    if (model->beginning.rows == 0 && model->columns.rows > 0)
        memcpy(model->weights.data + model->params.means, model->columns.data,
               model->columns.cols * sizeof(float));
    optimiser_reset(&model->optimiser);
}

int model_begin_with(struct model *model, const float *weights)
{
    int rc = tensor_resize(&model->beginning, 1, model->params.count);
    if (rc != 0)
        return rc;
    memcpy(model->beginning.data, weights, model->params.count * sizeof(float));
    model_reset(model);
    return 0;
}

int model_standardise_with(struct model *model, const float *columns)
{
    size_t count = model->params.count - model->params.means;
    int rc = tensor_resize(&model->columns, 1, count);
    if (rc != 0)
        return rc;
    memcpy(model->columns.data, columns, count * sizeof(float));
    model_reset(model);
    return 0;
}

/* Those that layers take. */
static const struct params *layer_params_of(const struct model *model)
{
    return model->params.bases > 0 ? &model->applied : &model->params;
}

static int reserve_applied(struct model *model)
{
    int rc = tensor_resize(&model->applied_weights, 1, model->applied.count);
    if (rc == 0)
        rc = tensor_resize(&model->applied_gradients, 1, model->applied.count);
    if (rc == 0)
        memset(model->applied_gradients.data, 0, model->applied.count * sizeof(float));
    return rc;
}

static int reserve_weights(struct model *model)
{
    int rc = tensor_resize(&model->weights, 1, model->params.count);
    if (rc == 0)
        rc = tensor_resize(&model->gradients, 1, model->params.count + 1);
    if (rc == 0)
        rc = optimiser_init(&model->optimiser, &model->config, model->params.count,
                            model->params.trained);
    if (rc == 0 && model->params.bases > 0)
        rc = reserve_applied(model);
    /* Nobody else writes the gradients of what no step changes. */
    if (rc == 0)
        memset(model->gradients.data, 0, model->params.count * sizeof(float));
    return rc;
}

/* Finds what reads the rows of a type in a layer: terms by the layer's parts, then by edge type. */
static int find_readers(const struct model *model, uint32_t l, uint32_t ntype,
                        struct readers *readers)
{
    const struct params *params = layer_params_of(model);
    size_t most = 0;
    for (uint32_t i = params->first[l]; i < params->first[l + 1]; i++)
        most += params->layers[i].num_terms;
    readers->terms = calloc(most + 1, sizeof(struct term *));
    if (readers->terms == NULL)
        return TR_ENOMEM;
    for (uint32_t i = params->first[l]; i < params->first[l + 1]; i++) {
        const struct layer *layer = &model->layers[i];
        for (uint32_t t = 0; t < layer->params->num_terms; t++)
            if (layer->terms[t].params->src == ntype && !layer->terms[t].params->one_hot)
                readers->terms[readers->num_terms++] = &layer->terms[t];
        if (layer->params->ntype == ntype && !layer->params->own_one_hot)
            readers->own = layer;
    }
    return 0;
}

static int make_terms(struct model *model, struct layer *layer, struct term *terms)
{
    const struct params *params = layer_params_of(model);
    bool first = layer->params->layer == 0;
    layer->terms = terms;
    layer->with_own = !first || (params->types.ntypes[layer->params->ntype].embedded > 0 &&
                                 !layer->params->own_one_hot);
    for (uint32_t t = 0; t < layer->params->num_terms; t++) {
        struct term *term = &terms[t];
        term->params = &layer->params->terms[t];
        term->with_input = !first || (params->types.ntypes[term->params->src].embedded > 0 &&
                                      !term->params->one_hot);
        if (model->config.kind != MODEL_GAT)
            continue;
        term->attention = attention_create(model->config.heads, params_attends_to_self(params));
        if (term->attention == NULL)
            return TR_ENOMEM;
    }
    return 0;
}

static int make_layers(struct model *model)
{
    const struct params *params = layer_params_of(model);
    size_t types = params->types.num_ntypes;
    model->layers = calloc((size_t)params->num_parts + 1, sizeof *model->layers);
    model->terms = calloc((size_t)params->num_terms + 1, sizeof *model->terms);
    model->rows = calloc(params->num_layers * types + 1, sizeof *model->rows);
    if (model->layers == NULL || model->terms == NULL || model->rows == NULL)
        return TR_ENOMEM;
    struct term *terms = model->terms;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < params->num_parts; i++) {
        struct layer *layer = &model->layers[i];
        layer->params = &params->layers[i];
        layer->last = layer->params->layer + 1 == params->num_layers;
        rc = make_terms(model, layer, terms);
        terms += layer->params->num_terms;
    }
    for (uint32_t i = 0; rc == 0 && i < params->num_parts; i++) {
        const struct layer_params *p = &params->layers[i];
        if (p->layer + 1 < params->num_layers)
            rc = find_readers(model, p->layer + 1, p->ntype, &model->layers[i].readers);
    }
    if (rc == 0)
        rc = inputs_init(&model->inputs, &model->params);
    for (uint32_t t = 0; rc == 0 && t < types; t++)
        rc = find_readers(model, 0, t, &model->inputs.readers[t]);
    return rc;
}

static int model_fill(struct model *model, struct error *error)
{
    int rc = params_layout(&model->params, &model->config, PARAMS_STORED);
    if (rc == 0 && model->params.bases > 0)
        rc = params_layout(&model->applied, &model->config, PARAMS_APPLIED);
    if (rc == 0)
        rc = make_layers(model);
    if (rc == 0)
        rc = reserve_weights(model);
    if (rc != 0)
        return error_set(error, rc, "model: no memory for %zu parameters", model->params.count);
    model_reset(model);
    return 0;
}

int model_create(struct model **out, const struct model_config *config, struct parallel *parallel,
                 struct error *error)
{
    *out = NULL;
    int rc = model_config_check(config, error);
    if (rc != 0)
        return rc;
    struct model *model = calloc(1, sizeof *model);
    if (model == NULL)
        return error_set(error, TR_ENOMEM, "model: out of memory");
    model->config = *config;
    model->tools.parallel = parallel;
    matmul_single_threaded();
    model_use_kernels(model, kernels_best());
    rc = model_fill(model, error);
    if (rc != 0) {
        model_destroy(model);
        return rc;
    }
    *out = model;
    return 0;
}

void model_destroy(struct model *model)
{
    if (model == NULL)
        return;
    for (uint32_t i = 0; model->layers != NULL && i < model->params.num_parts; i++)
        layer_fini(&model->layers[i]);
    free(model->layers);
    free(model->terms);
    free(model->rows);
    inputs_fini(&model->inputs);
    layer_tools_fini(&model->tools);
    params_fini(&model->params);
    params_fini(&model->applied);
    tensor_fini(&model->weights);
    tensor_fini(&model->beginning);
    tensor_fini(&model->columns);
    tensor_fini(&model->gradients);
    tensor_fini(&model->applied_weights);
    tensor_fini(&model->applied_gradients);
    for (uint32_t i = 0; i < MODEL_ENDS; i++)
        tensor_fini(&model->output_grads[i]);
    optimiser_fini(&model->optimiser);
    free(model);
}

/* Every maker of batches keeps this: prefixes of one node list a type, layer upon layer. */
static void assert_shape(const struct model *model, const struct mini_batch *batch)
{
    const struct model_types *types = &model->params.types;
    for (uint32_t t = 0; t < types->num_ntypes; t++) {
        uint32_t sources = batch->nodes[t].num_nodes;
        for (uint32_t l = 0; l < batch->num_layers; l++) {
            const struct block *block = &batch->blocks[l];
            assert(block->num_src[t] == sources && block->num_dst[t] <= sources);
            sources = block->num_dst[t];
        }
        assert(sources == batch->nodes[t].num_seeds);
    }
    for (uint32_t l = 0; l < batch->num_layers; l++) {
        for (uint32_t e = 0; e < types->num_etypes; e++) {
            const struct block_edges *edges = &batch->blocks[l].edges[e];
            assert(edges->num_dst == batch->blocks[l].num_dst[types->etypes[e].dst]);
            assert((edges->index == NULL ? 0 : edges->index[edges->num_dst]) == edges->num_edges);
        }
    }
}

static int check_types(const struct model *model, const struct mini_batch *batch,
                       struct error *error)
{
    const struct model_types *types = &model->params.types;
    if (batch->num_ntypes == types->num_ntypes && batch->num_etypes == types->num_etypes)
        return 0;
    if (types->num_ntypes == 1 && types->num_etypes == 1)
        return error_set(
            error, TR_EUNSUPPORTED,
            "batch: %u node types and %u edge types; the model takes one of each: rgcn "
            "and gat take more",
            batch->num_ntypes, batch->num_etypes);
    return error_set(error, TR_EMISMATCH,
                     "batch: %u node types and %u edge types; the model takes %u and %u",
                     batch->num_ntypes, batch->num_etypes, types->num_ntypes, types->num_etypes);
}

static int check_degrees(const struct model *model, const struct batch_nodes *nodes,
                         struct error *error)
{
    if (nodes->num_nodes > 0 && (nodes->in_degrees == NULL || nodes->out_degrees == NULL))
        return error_set(error, TR_EMISMATCH,
                         "batch: gcn normalises by degrees; ask for them with the batch");
    if (model->config.edge_weights && (model->norms == NULL || nodes->ids == NULL))
        return error_set(error, TR_EMISMATCH,
                         "batch: gcn with weights of edges normalises by weighted degrees; set the "
                         "model's");
    return 0;
}

static int check_batch(const struct model *model, const struct mini_batch *batch,
                       struct error *error)
{
    int rc = check_types(model, batch, error);
    if (rc != 0)
        return rc;
    if (batch->num_layers != model->config.layers)
        return error_set(error, TR_EMISMATCH,
                         "batch: %u blocks for a model of %u layers; give one fanout a layer",
                         batch->num_layers, model->config.layers);
    const struct batch_nodes *nodes = batch->nodes;
    rc = inputs_check(&model->inputs, batch, error);
    if (rc == 0 && model->config.kind == MODEL_GCN)
        rc = check_degrees(model, nodes, error);
    if (rc != 0)
        return rc;
    for (uint32_t i = 0; model->norms != NULL && i < nodes->num_nodes; i++)
        if (nodes->ids[i] >= model->norms->num_nodes)
            return error_set(error, TR_EMISMATCH,
                             "batch: node %" PRIu64 " of a graph of %" PRIu64
                             " nodes, by the weighted degrees",
                             nodes->ids[i], model->norms->num_nodes);
    assert_shape(model, batch);
    return 0;
}

/* Of sage and gcn, which have one part a layer, and one term in it. */
static int model_take_weights(struct model *model, const struct mini_batch *batch,
                              struct error *error)
{
    int rv = 0;
    if (model_kind_has_relations(model->config.kind))
        return 0;
    for (uint32_t l = 0; rv == 0 && l < model->config.layers; l++)
        rv = block_weights_take(&model->layers[l].terms[0].prop, batch, l,
                                model->config.edge_weights, error);
    return rv;
}

static int prepare_term(struct model *model, const struct mini_batch *batch,
                        const struct layer *layer, struct term *term)
{
    const struct block *block = &batch->blocks[layer->params->layer];
    const struct block_edges *edges = &block->edges[term->params->etype];
    uint32_t num_src = block->num_src[term->params->src];
    switch (model->config.kind) {
    case MODEL_SAGE:
        term_take_all(term, edges, num_src);
        return sage_scales(&term->prop);
    case MODEL_GCN:
        term_take_all(term, edges, num_src);
        return gcn_scales(&term->prop, batch->nodes,
                          model->config.edge_weights ? model->norms : NULL);
    case MODEL_RGCN:
        return term->params->one_hot
                   ? term_take_rows(term, edges, batch->nodes[term->params->src].original_ids)
                   : term_take_means(term, edges, num_src);
    case MODEL_GAT:
        attention_take(term->attention, edges, num_src);
        return 0;
    }
    return 0;
}

static int prepare_layer(struct model *model, const struct mini_batch *batch, struct layer *layer)
{
    int rc = 0;
    layer->num_dst = batch->blocks[layer->params->layer].num_dst[layer->params->ntype];
    layer->own_ids = batch->nodes[layer->params->ntype].original_ids;
    for (uint32_t t = 0; rc == 0 && t < layer->params->num_terms; t++)
        rc = prepare_term(model, batch, layer, &layer->terms[t]);
    return rc;
}

/* Those that layers take, made of the stored ones where they are not these. */
static const float *take_layer_weights(struct model *model)
{
    if (model->params.bases == 0)
        return model->weights.data;
    params_apply(&model->params, &model->applied, model->weights.data, model->applied_weights.data);
    return model->applied_weights.data;
}

/* Layer 0 is the dropout of the features, layer l + 1 that behind layer l. */
static struct dropout layer_dropout(const struct mini_batch *batch, uint64_t seed, float rate,
                                    uint32_t layer)
{
    struct draw_key key = { .seed = seed,
                            .batch = batch->index,
                            .purpose = KEY_DROPOUT,
                            .epoch = batch->epoch,
                            .rank = batch->rank,
                            .hop = layer };
    return dropout_make(rate, key_base(&key));
}

/* The rows that a layer reads, by node type. */
static const float **rows_of(const struct model *model, uint32_t layer)
{
    return model->rows + (size_t)layer * model->params.types.num_ntypes;
}

static int model_forward_layers(struct model *model, const struct mini_batch *batch, bool training)
{
    const struct model_config *config = &model->config;
    const struct params *params = layer_params_of(model);
    uint32_t types = params->types.num_ntypes;
    struct dropout dropout = layer_dropout(batch, config->seed,
                                           training ? config->input_dropout : 0, 0);
    const float *weights = take_layer_weights(model);
    int rc = inputs_prepare(&model->inputs, &model->tools, model->weights.data, batch, &dropout);
    memcpy(rows_of(model, 0), model->inputs.rows, types * sizeof(float *));
    for (uint32_t i = 0; rc == 0 && i < params->num_parts; i++) {
        struct layer *layer = &model->layers[i];
        uint32_t l = layer->params->layer;
        layer->training = training;
        layer->dropout = layer_dropout(batch, config->seed, training ? config->dropout : 0, l + 1);
        /* Masks of node types are apart; of the first one they are those of a graph without types. */
        layer->dropout.key = key_occurrence(layer->dropout.key, layer->params->ntype);
        rc = prepare_layer(model, batch, layer);
        if (rc == 0)
            rc = layer_forward(layer, &model->tools, weights, rows_of(model, l));
        if (rc == 0 && !layer->last)
            rows_of(model, l + 1)[layer->params->ntype] = layer->out.data;
    }
    return rc;
}

/* What the loss says of a target's outputs; of another type no part of the last layer asks. */
static const float *output_grads_of(const struct model *model, uint32_t ntype)
{
    const struct model_types *types = &model->params.types;
    return model->output_grads[ntype == types->targets[0] ? 0 : 1].data;
}

/* From the last layer to the first; the parts of one do not depend on each other. */
static int model_backward_layers(struct model *model, const struct mini_batch *batch)
{
    const struct params *params = layer_params_of(model);
    bool bases = model->params.bases > 0;
    const float *weights = bases ? model->applied_weights.data : model->weights.data;
    float *grads = bases ? model->applied_gradients.data : model->gradients.data;
    int rc = 0;
    for (uint32_t i = params->num_parts; rc == 0 && i-- > 0;) {
        struct layer *layer = &model->layers[i];
        rc = layer_backward(layer, &model->tools, output_grads_of(model, layer->params->ntype),
                            rows_of(model, layer->params->layer), weights, grads);
    }
    if (rc == 0 && bases)
        params_gather(&model->params, &model->applied, model->weights.data, grads,
                      model->gradients.data);
    return rc == 0 ? inputs_backward(&model->inputs, &model->tools, batch, model->gradients.data)
                   : rc;
}

const float *model_outputs(const struct model *model, uint32_t target)
{
    const struct params *params = &model->params;
    const struct layer_params *part = params_part(params, params->num_layers - 1,
                                                  params->types.targets[target]);
    return model->layers[part - params->layers].out.data;
}

static int no_memory(const struct mini_batch *batch, int rc, struct error *error)
{
    uint64_t nodes = 0;
    for (uint32_t t = 0; t < batch->num_ntypes; t++)
        nodes += batch->nodes[t].num_nodes;
    return error_set(error, rc,
                     "model: no memory for a batch of %" PRIu64 " nodes; use smaller batches "
                     "or fanouts",
                     nodes);
}

int model_forward(struct model *model, const struct mini_batch *batch, const float **logits,
                  struct error *error)
{
    int rc = check_batch(model, batch, error);
    if (rc == 0)
        rc = model_take_weights(model, batch, error);
    if (rc != 0)
        return rc;
    rc = model_forward_layers(model, batch, false);
    if (rc != 0)
        return no_memory(batch, rc, error);
    if (cancel_asked(model->tools.cancel))
        return error_set(error, TR_ECANCELED, "interrupted");
    *logits = model_outputs(model, 0);
    return 0;
}

const float *model_hidden(const struct model *model, uint32_t target)
{
    /* Seeds stand first in every layer's rows. */
    return model->config.layers < 2
               ? NULL
               : rows_of(model, model->config.layers - 1)[model->params.types.targets[target]];
}

/* The outputs of the targets, and where their gradients go. */
static int model_lay_outputs(struct model *model, const struct mini_batch *batch,
                             struct objective_rows *rows)
{
    const struct model_types *types = &model->params.types;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < model_types_targets(types); i++)
        rc = tensor_resize(&model->output_grads[i], batch->nodes[types->targets[i]].num_seeds,
                           model->config.classes);
    for (uint32_t end = 0; end < MODEL_ENDS; end++) {
        uint32_t target = model_types_target_of(types, end);
        rows->outputs[end] = model_outputs(model, target);
        rows->grads[end] = model->output_grads[target].data;
    }
    return rc;
}

int model_step(struct model *model, const struct mini_batch *batch, struct loss_sum *loss,
               struct error *error)
{
    int rc = check_batch(model, batch, error);
    if (rc == 0)
        rc = model_take_weights(model, batch, error);
    if (rc != 0)
        return rc;
    const struct model_config *config = &model->config;
    const struct model_types *types = &model->params.types;
    const struct objective *objective = objective_of(config);
    struct objective_rows rows;
    rc = objective->check(config, types, batch, error);
    if (rc != 0)
        return rc;
    rc = model_forward_layers(model, batch, true);
    if (rc == 0)
        rc = model_lay_outputs(model, batch, &rows);
    if (rc == 0)
        rc = objective->loss(config, model->tools.parallel, types, batch, &rows, loss);
    if (rc == 0)
        rc = model_backward_layers(model, batch);
    return rc == 0 ? 0 : no_memory(batch, rc, error);
}

void model_apply(struct model *model, double rate)
{
    optimiser_step(&model->optimiser, model->tools.parallel, model->tools.kernels, rate,
                   model->weights.data, model->gradients.data);
    for (uint32_t i = 0; i < model->params.num_parts; i++) {
        const struct layer_params *layer = &model->params.layers[i];
        if (layer->batch_normed)
            batch_norm_take(model->weights.data + layer->running,
                            model->gradients.data + layer->running, layer->out);
    }
}
