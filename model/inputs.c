/* SPDX-License-Identifier: Apache-2.0 */
#include "model/inputs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/key.h"
#include "model/features.h"
#include "model/matmul.h"

int inputs_init(struct inputs *inputs, const struct params *params)
{
    size_t types = params->types.num_ntypes;
    *inputs = (struct inputs){ .params = params };
    inputs->readers = calloc(types + 1, sizeof *inputs->readers);
    inputs->made = calloc(types + 1, sizeof *inputs->made);
    inputs->rows = calloc(types + 1, sizeof *inputs->rows);
    return inputs->readers != NULL && inputs->made != NULL && inputs->rows != NULL ? 0 : TR_ENOMEM;
}

void inputs_fini(struct inputs *inputs)
{
    uint32_t types = inputs->params == NULL ? 0 : inputs->params->types.num_ntypes;
    for (uint32_t t = 0; t < types; t++) {
        if (inputs->readers != NULL)
            free(inputs->readers[t].terms);
        if (inputs->made != NULL)
            tensor_fini(&inputs->made[t]);
    }
    free(inputs->readers);
    free(inputs->made);
    free(inputs->rows);
    *inputs = (struct inputs){ 0 };
}

bool inputs_wants(const struct inputs *inputs, uint32_t ntype)
{
    const struct readers *readers = &inputs->readers[ntype];
    return readers->num_terms > 0 || readers->own != NULL;
}

static int check_learned(const struct model_ntype *type, const struct batch_nodes *nodes,
                         struct error *error)
{
    if (nodes->num_nodes > 0 && nodes->original_ids == NULL)
        return error_set(error, TR_EMISMATCH,
                         "batch: rows of type '%s' are learned by original ID; ask for these with "
                         "the batch",
                         type->name);
    for (uint32_t i = 0; i < nodes->num_nodes; i++)
        if (nodes->original_ids[i] >= type->embedded)
            return error_set(error, TR_EMISMATCH,
                             "batch: node %" PRIu64 " of type '%s'; the model learned rows of "
                             "%" PRIu64 " nodes, and takes the graph that it was trained on",
                             nodes->original_ids[i], type->name, type->embedded);
    return 0;
}

int inputs_check(const struct inputs *inputs, const struct mini_batch *batch, struct error *error)
{
    const struct model_types *types = &inputs->params->types;
    int rc = 0;
    for (uint32_t t = 0; t < types->num_ntypes && rc == 0; t++) {
        const struct batch_nodes *nodes = &batch->nodes[t];
        const struct batch_rows *features = &nodes->features;
        uint32_t width = types->ntypes[t].inputs;
        if (!inputs_wants(inputs, t) && !params_one_hot(inputs->params, 0, t))
            continue;
        if (types->ntypes[t].embedded > 0) {
            rc = check_learned(&types->ntypes[t], nodes, error);
            continue;
        }
        if (nodes->num_nodes == 0 && types->num_ntypes > 1)
            continue;
        if (features->width != width)
            return error_set(error, TR_EMISMATCH,
                             "batch: features have %" PRIu64 " columns; the model takes %u",
                             features->width, width);
        if (features->width > 0 &&
            (features->rows == NULL || features->num_rows < nodes->num_nodes))
            return error_set(error, TR_EMISMATCH,
                             "batch: features of %u of %u nodes; fetch features "
                             "with the batch",
                             features->rows == NULL ? 0 : features->num_rows, nodes->num_nodes);
    }
    return rc;
}

struct input_job {
    struct inputs *inputs;
    const struct layer_tools *tools;
    const float *weights;
    const struct batch_nodes *nodes;
    const struct dropout *dropout;
    uint32_t ntype;
    size_t width;
    float *grads;
};

/* Normalising and dropout are one pass: both scale what they keep. */
static void prepare_row(const struct input_job *job, size_t row, float *to)
{
    const struct kernels *kernels = job->tools->kernels;
    const struct params *params = job->inputs->params;
    const struct batch_rows *features = &job->nodes->features;
    const void *stored = (const char *)features->rows + row * features->row_bytes;
    const float *from = to;
    size_t width = job->width;
    if (features->dtype == TR_F32 && features->row_bytes % sizeof(float) == 0)
        from = stored;
    else
        features_convert(features->dtype, stored, width, to);
    float norm = params->config->normalise ? features_norm(kernels, from, width) : 1.0f;
    if (params->columns > 0) {
        if (from != to)
            memcpy(to, from, width * sizeof *to);
        from = to;
        const struct feature_columns columns = params_feature_columns(params, job->weights);
        features_standardise(to, &columns, width);
    }
    if (job->dropout->threshold > 0) {
        struct dropout scaled = *job->dropout;
        scaled.scale *= norm;
        kernels->drop(to, from, width, &scaled, row);
        return;
    }
    if (from != to)
        memcpy(to, from, width * sizeof *to);
    if (norm != 1.0f)
        kernels->scale(to, norm, width);
}

static size_t block_end(const struct input_job *job, size_t block)
{
    size_t end = (block + 1) * MATMUL_ROWS;
    return end < job->nodes->num_nodes ? end : job->nodes->num_nodes;
}

static void prepare_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct input_job *job = arg;
    for (size_t row = block * MATMUL_ROWS; row < block_end(job, block); row++)
        prepare_row(job, row, tensor_row(&job->inputs->made[job->ntype], row));
}

static const float *learned_row(const struct input_job *job, size_t row)
{
    const struct embedding_params *embedding = &job->inputs->params->embeddings[job->ntype];
    return job->weights + embedding->weight + job->nodes->original_ids[row] * job->width;
}

static void pick_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct input_job *job = arg;
    for (size_t row = block * MATMUL_ROWS; row < block_end(job, block); row++)
        memcpy(tensor_row(&job->inputs->made[job->ntype], row), learned_row(job, row),
               job->width * sizeof(float));
}

/* Where nothing is to be done to features they are read where the batch has them. */
static bool is_ready(const struct input_job *job)
{
    const struct batch_rows *features = &job->nodes->features;
    const struct params *params = job->inputs->params;
    return features->rows != NULL && features->dtype == TR_F32 && !params->config->normalise &&
           params->columns == 0 && job->dropout->threshold == 0 &&
           features->row_bytes == job->width * sizeof(float);
}

int inputs_prepare(struct inputs *inputs, const struct layer_tools *tools, const float *weights,
                   const struct mini_batch *batch, const struct dropout *dropout)
{
    const struct params *params = inputs->params;
    int rc = 0;
    for (uint32_t t = 0; rc == 0 && t < params->types.num_ntypes; t++) {
        struct dropout of_type = *dropout;
        of_type.key = key_occurrence(of_type.key, t);
        struct input_job job = { .inputs = inputs,
                                 .tools = tools,
                                 .weights = weights,
                                 .nodes = &batch->nodes[t],
                                 .dropout = &of_type,
                                 .ntype = t,
                                 .width = params_width(params, 0, t) };
        bool learned = params->types.ntypes[t].embedded > 0;
        inputs->rows[t] = NULL;
        if (!inputs_wants(inputs, t))
            continue;
        if (!learned && is_ready(&job)) {
            inputs->rows[t] = job.nodes->features.rows;
            continue;
        }
        rc = tensor_resize(&inputs->made[t], job.nodes->num_nodes, job.width);
        if (rc == 0 && job.width > 0)
            parallel_for(tools->parallel, matmul_blocks(job.nodes->num_nodes),
                         learned ? pick_block : prepare_block, &job);
        inputs->rows[t] = inputs->made[t].data;
    }
    return rc;
}

/* A node stands once in a batch, so each row has one writer. */
static void back_block(void *arg, size_t block, size_t worker)
{
    const struct input_job *job = arg;
    const struct embedding_params *embedding = &job->inputs->params->embeddings[job->ntype];
    for (size_t row = block * MATMUL_ROWS; row < block_end(job, block); row++)
        readers_gradient(
            &job->inputs->readers[job->ntype], job->tools->kernels, (uint32_t)row, job->width,
            job->grads + embedding->weight + job->nodes->original_ids[row] * job->width,
            tensor_row(&job->tools->spare, worker));
}

int inputs_backward(struct inputs *inputs, struct layer_tools *tools,
                    const struct mini_batch *batch, float *grads)
{
    const struct params *params = inputs->params;
    for (uint32_t t = 0; t < params->types.num_ntypes; t++) {
        const struct embedding_params *embedding = &params->embeddings[t];
        struct input_job job = { .inputs = inputs,
                                 .tools = tools,
                                 .nodes = &batch->nodes[t],
                                 .ntype = t,
                                 .width = params->config->hidden,
                                 .grads = grads };
        if (embedding->rows == 0)
            continue;
        int rc = tensor_resize(&tools->spare, tools->parallel->workers, job.width);
        if (rc != 0)
            return rc;
        memset(grads + embedding->weight, 0, embedding->rows * job.width * sizeof *grads);
        parallel_for(tools->parallel, matmul_blocks(job.nodes->num_nodes), back_block, &job);
    }
    return 0;
}
