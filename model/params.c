/* SPDX-License-Identifier: Apache-2.0 */
#include "model/params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/key.h"
#include "model/batch_norm.h"

void params_layout(struct params *params, const struct model_config *config)
{
    memset(params, 0, sizeof *params);
    params->num_layers = config->layers;
    size_t next = 0;
    for (uint32_t l = 0; l < config->layers; l++) {
        struct layer_params *layer = &params->layers[l];
        layer->in = l == 0 ? config->inputs : config->hidden;
        layer->out = l + 1 == config->layers ? config->classes : config->hidden;
        layer->has_self = config->kind == MODEL_SAGE;
        size_t matrix = (size_t)layer->in * layer->out;
        layer->self = next;
        layer->neigh = next + (layer->has_self ? matrix : 0);
        layer->bias = layer->neigh + matrix;
        bool hidden = l + 1 < config->layers;
        layer->residual = config->residual && l > 0 && hidden;
        layer->normed = config->norm == MODEL_NORM_LAYER && hidden;
        layer->batch_normed = config->norm == MODEL_NORM_BATCH && hidden;
        layer->scale = layer->bias + layer->out;
        bool scaled = layer->normed || layer->batch_normed;
        layer->end = next = layer->scale + (scaled ? layer->out : 0);
    }
    params->trained = next;
    for (uint32_t l = 0; l < config->layers; l++) {
        struct layer_params *layer = &params->layers[l];
        layer->running = next;
        next += layer->batch_normed ? BATCH_NORM_RUNNING(layer->out) : 0;
    }
    params->columns = config->standardise ? config->inputs : 0;
    params->means = next;
    params->factors = params->means + params->columns;
    params->count = params->factors + params->columns;
}

static void draw_matrix(float *weights, size_t in, size_t out, uint64_t seed, uint32_t layer,
                        uint32_t matrix)
{
    struct draw_key key = { .seed = seed, .purpose = KEY_WEIGHTS, .hop = layer, .type = matrix };
    uint64_t base = key_base(&key);
    float bound = in + out == 0 ? 0 : sqrtf(6.0f / (float)(in + out));
    for (size_t i = 0; i < in * out; i++)
        weights[i] = (2.0f * key_float(base, i) - 1.0f) * bound;
}

void params_draw(const struct params *params, uint64_t seed, float *values)
{
    memset(values, 0, params->count * sizeof *values);
    for (uint32_t l = 0; l < params->num_layers; l++) {
        const struct layer_params *layer = &params->layers[l];
        if (layer->has_self)
            draw_matrix(values + layer->self, layer->in, layer->out, seed, l, 0);
        draw_matrix(values + layer->neigh, layer->in, layer->out, seed, l, 1);
        for (size_t i = layer->scale; i < layer->end; i++)
            values[i] = 1;
        for (size_t i = 0; layer->batch_normed && i < layer->out; i++)
            values[layer->running + layer->out + i] = 1;
    }
    for (uint32_t i = 0; i < params->columns; i++)
        values[params->factors + i] = 1;
}

static void add_view(struct param_view *view, uint32_t layer, const char *what, size_t offset,
                     uint32_t out, uint32_t in)
{
    *view = (struct param_view){ .offset = offset, .ndim = in == 0 ? 1 : 2, .shape = { out, in } };
    snprintf(view->name, sizeof view->name, "layers.%u.%s", layer, what);
}

static void add_matrix(struct param_view *view, uint32_t layer, const char *what, size_t offset,
                       const struct layer_params *shape)
{
    add_view(view, layer, what, offset, shape->out, shape->in);
    view->ndim = 2;
}

size_t params_views(const struct params *params, struct param_view views[PARAM_VIEWS_MAX])
{
    size_t count = 0;
    for (uint32_t l = 0; l < params->num_layers; l++) {
        const struct layer_params *layer = &params->layers[l];
        if (layer->has_self)
            add_matrix(&views[count++], l, "self.weight", layer->self, layer);
        add_matrix(&views[count++], l, layer->has_self ? "neigh.weight" : "weight", layer->neigh,
                   layer);
        add_view(&views[count++], l, "bias", layer->bias, layer->out, 0);
        if (layer->normed || layer->batch_normed)
            add_view(&views[count++], l, "norm.weight", layer->scale, layer->out, 0);
        if (!layer->batch_normed)
            continue;
        size_t running = layer->running, out = layer->out;
        add_view(&views[count++], l, "norm.running_mean", running, layer->out, 0);
        add_view(&views[count++], l, "norm.running_var", running + out, layer->out, 0);
        add_view(&views[count++], l, "norm.steps", running + 2 * out, 1, 0);
    }
    if (params->columns > 0) {
        views[count++] = (struct param_view){ .name = "features.mean",
                                              .offset = params->means,
                                              .ndim = 1,
                                              .shape = { params->columns } };
        views[count++] = (struct param_view){ .name = "features.factor",
                                              .offset = params->factors,
                                              .ndim = 1,
                                              .shape = { params->columns } };
    }
    return count;
}
