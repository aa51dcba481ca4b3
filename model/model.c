/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/sample.h>

#include "graph/key.h"
#include "model/batch_norm.h"
#include "model/edge_weights.h"
#include "model/features.h"
#include "model/gcn.h"
#include "model/labels.h"
#include "model/layer.h"
#include "model/matmul.h"
#include "model/optimiser.h"
#include "model/sage.h"

struct model {
    struct model_config config;
    const struct weighted_norms *norms; /* NULL: not needed */
    struct params params;
    struct layer_tools tools;
    struct tensor weights;   /* [1][params.count] */
    struct tensor beginning; /* the same, where the first weights are not drawn */
    struct tensor columns;   /* [1][2 * inputs], where they are standardised: means, then factors */
    struct tensor gradients; /* [1][params.count] */
    struct optimiser optimiser;
    struct tensor input;       /* features converted, normalised or dropped; else unused */
    struct tensor logit_grads; /* [seeds][classes] */
    struct layer layers[BATCH_LAYERS_MAX];
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
    size_t count = 2 * (size_t)model->params.columns;
    int rc = tensor_resize(&model->columns, 1, count);
    if (rc != 0)
        return rc;
    memcpy(model->columns.data, columns, count * sizeof(float));
    model_reset(model);
    return 0;
}

static int reserve_weights(struct model *model)
{
    int rc = tensor_resize(&model->weights, 1, model->params.count);
    if (rc == 0)
        rc = tensor_resize(&model->gradients, 1, model->params.count + 1);
    if (rc == 0)
        rc = optimiser_init(&model->optimiser, &model->config, model->params.count,
                            model->params.trained);
    /* Nobody else writes the gradients of what no step changes. */
    if (rc == 0)
        memset(model->gradients.data, 0, model->params.count * sizeof(float));
    return rc;
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
    params_layout(&model->params, config);
    for (uint32_t l = 0; l < config->layers; l++) {
        model->layers[l].params = model->params.layers[l];
        model->layers[l].last = l + 1 == config->layers;
    }
    rc = reserve_weights(model);
    if (rc != 0) {
        model_destroy(model);
        return error_set(error, rc, "model: no memory for %zu parameters", model->params.count);
    }
    model_reset(model);
    *out = model;
    return 0;
}

void model_destroy(struct model *model)
{
    if (model == NULL)
        return;
    for (uint32_t l = 0; l < model->params.num_layers; l++)
        layer_fini(&model->layers[l]);
    layer_tools_fini(&model->tools);
    tensor_fini(&model->weights);
    tensor_fini(&model->beginning);
    tensor_fini(&model->columns);
    tensor_fini(&model->gradients);
    tensor_fini(&model->input);
    tensor_fini(&model->logit_grads);
    optimiser_fini(&model->optimiser);
    free(model);
}

/* Every maker of batches keeps this: prefixes of one node list, layer upon layer. */
static void assert_shape(const struct mini_batch *batch)
{
    uint32_t sources = batch->nodes->num_nodes;
    for (uint32_t l = 0; l < batch->num_layers; l++) {
        const struct block *block = &batch->blocks[l];
        assert(block->num_src[0] == sources && block->num_dst[0] <= sources);
        assert(block->edges->num_dst == block->num_dst[0]);
        assert(block->edges->index[block->num_dst[0]] == block->edges->num_edges);
        sources = block->num_dst[0];
    }
    assert(sources == batch->nodes->num_seeds);
}

static int check_batch(const struct model *model, const struct mini_batch *batch,
                       struct error *error)
{
    if (batch->num_ntypes != 1 || batch->num_etypes != 1)
        return error_set(error, TR_EUNSUPPORTED,
                         "batch: %u node types and %u edge types; the built-in models take one of "
                         "each: merge the types, or train in Python",
                         batch->num_ntypes, batch->num_etypes);
    if (batch->num_layers != model->config.layers)
        return error_set(error, TR_EMISMATCH,
                         "batch: %u blocks for a model of %u layers; give one fanout a layer",
                         batch->num_layers, model->config.layers);
    const struct batch_nodes *nodes = batch->nodes;
    const struct batch_rows *features = &nodes->features;
    if (features->width != model->config.inputs)
        return error_set(error, TR_EMISMATCH,
                         "batch: features have %" PRIu64 " columns; the model takes %u",
                         features->width, model->config.inputs);
    if (features->width > 0 && (features->rows == NULL || features->num_rows < nodes->num_nodes))
        return error_set(error, TR_EMISMATCH,
                         "batch: features of %u of %u nodes; fetch features "
                         "with the batch",
                         features->rows == NULL ? 0 : features->num_rows, nodes->num_nodes);
    if (model->config.kind == MODEL_GCN && nodes->num_nodes > 0 &&
        (nodes->in_degrees == NULL || nodes->out_degrees == NULL))
        return error_set(error, TR_EMISMATCH,
                         "batch: gcn normalises by degrees; ask for them with the batch");
    if (model->config.kind == MODEL_GCN && model->config.edge_weights &&
        (model->norms == NULL || nodes->ids == NULL))
        return error_set(error, TR_EMISMATCH,
                         "batch: gcn with weights of edges normalises by weighted degrees; set the "
                         "model's");
    for (uint32_t i = 0; model->norms != NULL && i < nodes->num_nodes; i++)
        if (nodes->ids[i] >= model->norms->num_nodes)
            return error_set(error, TR_EMISMATCH,
                             "batch: node %" PRIu64 " of a graph of %" PRIu64
                             " nodes, by the weighted degrees",
                             nodes->ids[i], model->norms->num_nodes);
    assert_shape(batch);
    return 0;
}

/* The rows of weights that came with a layer's block, or NULL. */
static const struct batch_rows *find_weights(const struct mini_batch *batch, uint32_t layer)
{
    for (uint32_t t = 0; t < batch->num_tables; t++) {
        const struct batch_table *table = &batch->tables[t];
        if (table->of == TR_OF_EDGES && table->type == 0 && table->layer == layer)
            return &table->rows;
    }
    return NULL;
}

static int check_weights(const struct block_edges *edges, const float *weights, struct error *error)
{
    for (uint32_t e = 0; e < edges->num_edges; e++) {
        if (edge_weight_is_valid(weights[e]))
            continue;
        return error_set(error, TR_ERANGE,
                         "the edge with the global ID %" PRIu64 " weighs %g; options.edge_weight "
                         "takes weights from 0 to %g",
                         edges->edge_ids == NULL ? e : edges->edge_ids[e], (double)weights[e],
                         (double)EDGE_WEIGHT_MAX);
    }
    return 0;
}

/* Each layer's propagation gets the weights of its block's edges: those of the batch where they are
 * float32, else a converted copy. */
static int model_take_weights(struct model *model, const struct mini_batch *batch,
                              struct error *error)
{
    for (uint32_t l = 0; l < model->config.layers; l++) {
        struct propagation *prop = &model->layers[l].prop;
        const struct block_edges *edges = &batch->blocks[l].edges[0];
        prop->weights = NULL;
        if (!model->config.edge_weights || edges->num_edges == 0)
            continue;
        const struct batch_rows *rows = find_weights(batch, l);
        if (rows == NULL || rows->width != 1 || rows->num_rows < edges->num_edges ||
            rows->row_bytes != tr_dtype_size(rows->dtype) || rows->rows == NULL)
            return error_set(error, TR_EMISMATCH,
                             "batch: weights of %u of %u edges in layer %u; fetch a table of one "
                             "number an edge with the batch",
                             rows == NULL ? 0 : rows->num_rows, edges->num_edges, l);
        prop->weights = rows->rows;
        if (rows->dtype != TR_F32) {
            if (storage_reserve(&prop->converted, edges->num_edges, sizeof(float)) != 0)
                return error_set(error, TR_ENOMEM, "model: no memory for the weights of %u edges",
                                 edges->num_edges);
            features_convert(rows->dtype, rows->rows, edges->num_edges, prop->converted.data);
            prop->weights = prop->converted.data;
        }
        int rv = check_weights(edges, prop->weights, error);
        if (rv != 0)
            return rv;
    }
    return 0;
}

struct input_job {
    struct model *model;
    const struct batch_rows *features;
    size_t num_rows;
    const struct dropout *dropout;
};

/* Normalising and dropout are one pass: both scale what they keep. */
static void prepare_row(const struct model *model, const struct batch_rows *features,
                        const struct dropout *dropout, size_t row, float *to)
{
    const struct kernels *kernels = model->tools.kernels;
    const void *stored = (const char *)features->rows + row * features->row_bytes;
    const float *from = to;
    size_t width = model->config.inputs;
    if (features->dtype == TR_F32 && features->row_bytes % sizeof(float) == 0)
        from = stored;
    else
        features_convert(features->dtype, stored, width, to);
    float norm = model->config.normalise ? features_norm(kernels, from, width) : 1.0f;
    if (model->config.standardise) {
        const float *weights = model->weights.data;
        if (from != to)
            memcpy(to, from, width * sizeof *to);
        from = to;
        features_standardise(to, weights + model->params.means, weights + model->params.factors,
                             width);
    }
    if (dropout->threshold > 0) {
        struct dropout scaled = *dropout;
        scaled.scale *= norm;
        kernels->drop(to, from, width, &scaled, row);
        return;
    }
    if (from != to)
        memcpy(to, from, width * sizeof *to);
    if (norm != 1.0f)
        kernels->scale(to, norm, width);
}

static void input_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct input_job *job = arg;
    struct model *model = job->model;
    size_t first = block * MATMUL_ROWS;
    for (size_t row = first; row < first + MATMUL_ROWS && row < job->num_rows; row++)
        prepare_row(model, job->features, job->dropout, row, tensor_row(&model->input, row));
}

/* The rows that the input layer reads: those of the batch where nothing is to be done to them. */
static int prepare_input(struct model *model, const struct mini_batch *batch,
                         const struct dropout *dropout, const float **rows)
{
    const struct batch_nodes *nodes = batch->nodes;
    const struct batch_rows *features = &nodes->features;
    if (features->rows != NULL && features->dtype == TR_F32 && !model->config.normalise &&
        !model->config.standardise && dropout->threshold == 0 &&
        features->row_bytes == model->config.inputs * sizeof(float)) {
        *rows = features->rows;
        return 0;
    }
    int rc = tensor_resize(&model->input, nodes->num_nodes, model->config.inputs);
    if (rc != 0)
        return rc;
    struct input_job job = { model, features, nodes->num_nodes, dropout };
    if (model->config.inputs > 0)
        parallel_for(model->tools.parallel, matmul_blocks(nodes->num_nodes), input_block, &job);
    *rows = model->input.data;
    return 0;
}

static int prepare_layer(struct model *model, const struct mini_batch *batch, uint32_t l)
{
    struct propagation *prop = &model->layers[l].prop;
    const struct block *block = &batch->blocks[l];
    prop->edges = &block->edges[0];
    prop->num_src = block->num_src[0];
    prop->num_dst = block->num_dst[0];
    if (model->config.kind == MODEL_SAGE)
        return sage_scales(prop);
    return gcn_scales(prop, batch->nodes, model->config.edge_weights ? model->norms : NULL);
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

static int model_forward_layers(struct model *model, const struct mini_batch *batch, bool training,
                                const float **rows)
{
    const struct model_config *config = &model->config;
    struct dropout dropout = layer_dropout(batch, config->seed,
                                           training ? config->input_dropout : 0, 0);
    int rc = prepare_input(model, batch, &dropout, rows);
    const float *in = *rows;
    for (uint32_t l = 0; rc == 0 && l < config->layers; l++) {
        struct layer *layer = &model->layers[l];
        layer->training = training;
        layer->dropout = layer_dropout(batch, config->seed, training ? config->dropout : 0, l + 1);
        rc = prepare_layer(model, batch, l);
        if (rc == 0)
            rc = layer_forward(layer, &model->tools, model->weights.data, in);
        in = layer->out.data;
    }
    return rc;
}

static int model_backward_layers(struct model *model, const float *rows)
{
    int rc = 0;
    const struct layer *above = NULL;
    for (uint32_t l = model->config.layers; rc == 0 && l-- > 0;) {
        struct layer *layer = &model->layers[l];
        if (l > 0)
            rc = propagation_transpose(&layer->prop);
        if (rc == 0)
            rc = layer_backward(layer, &model->tools, above, model->logit_grads.data,
                                l > 0 ? model->layers[l - 1].out.data : rows, l > 0,
                                model->weights.data, model->gradients.data);
        above = layer;
    }
    return rc;
}

static int no_memory(const struct mini_batch *batch, int rc, struct error *error)
{
    return error_set(error, rc,
                     "model: no memory for a batch of %u nodes; use smaller batches "
                     "or fanouts",
                     batch->nodes->num_nodes);
}

int model_forward(struct model *model, const struct mini_batch *batch, const float **logits,
                  struct error *error)
{
    int rc = check_batch(model, batch, error);
    if (rc == 0)
        rc = model_take_weights(model, batch, error);
    if (rc != 0)
        return rc;
    const float *rows;
    rc = model_forward_layers(model, batch, false, &rows);
    if (rc != 0)
        return no_memory(batch, rc, error);
    *logits = model->layers[model->config.layers - 1].out.data;
    return 0;
}

const float *model_hidden(const struct model *model)
{
    uint32_t layers = model->config.layers;
    /* Seeds stand first in every layer's rows. */
    return layers < 2 ? NULL : model->layers[layers - 2].out.data;
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
    const struct layer *last = &model->layers[config->layers - 1];
    uint32_t seeds = batch->nodes->num_seeds;
    if (batch->step_seeds < seeds)
        return error_set(error, TR_EMISMATCH, "batch: %u seeds in a step of %u over all trainers",
                         seeds, batch->step_seeds);
    rc = labels_check(&batch->nodes->labels, seeds, config, error);
    if (rc != 0)
        return rc;
    const float *rows;
    rc = model_forward_layers(model, batch, true, &rows);
    if (rc == 0)
        rc = tensor_resize(&model->logit_grads, seeds, config->classes);
    if (rc == 0)
        rc = loss_compute(config, model->tools.parallel, last->out.data, seeds,
                          &batch->nodes->labels, batch->step_seeds, model->logit_grads.data, loss);
    if (rc == 0)
        rc = model_backward_layers(model, rows);
    return rc == 0 ? 0 : no_memory(batch, rc, error);
}

void model_apply(struct model *model, double rate)
{
    optimiser_step(&model->optimiser, model->tools.parallel, model->tools.kernels, rate,
                   model->weights.data, model->gradients.data);
    for (uint32_t l = 0; l < model->params.num_layers; l++) {
        const struct layer_params *layer = &model->params.layers[l];
        if (layer->batch_normed)
            batch_norm_take(model->weights.data + layer->running,
                            model->gradients.data + layer->running, layer->out);
    }
}
