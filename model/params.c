/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* asprintf */

#include "model/params.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/key.h"
#include "model/batch_norm.h"
#include "model/kernels.h"

/* Numbers of matrices, which their draws are keyed by: a node type's own are even, a relation's odd,
 * and the rest is kept apart by bits that types do not reach (GRAPH_TYPES_MAX). */
#define DRAW_SELF(ntype) (2 * (ntype))
#define DRAW_RELATION(etype) (2 * (etype) + 1)
#define DRAW_DESTINATION (1u << 16)
#define DRAW_ATTENTION (1u << 17)
#define DRAW_SHARES (1u << 18)
#define DRAW_BASE (1u << 19)
#define DRAW_EMBEDDING (1u << 20)

/* Rows of nodes tell one from another at once, and what is learned soon outweighs them. */
#define EMBEDDING_BOUND 0.05f

const struct layer_params *params_part(const struct params *params, uint32_t layer, uint32_t ntype)
{
    for (uint32_t i = params->first[layer]; i < params->first[layer + 1]; i++)
        if (params->layers[i].ntype == ntype)
            return &params->layers[i];
    return NULL;
}

bool params_one_hot(const struct params *params, uint32_t layer, uint32_t ntype)
{
    return params->config->kind == MODEL_RGCN && layer == 0 &&
           params->types.ntypes[ntype].embedded > 0;
}

uint32_t params_width(const struct params *params, uint32_t layer, uint32_t ntype)
{
    const struct model_ntype *type = &params->types.ntypes[ntype];
    if (params_one_hot(params, layer, ntype))
        return (uint32_t)type->embedded; /* at most MODEL_EMBEDDED_MAX */
    return layer > 0 || type->embedded > 0 ? params->config->hidden : type->inputs;
}

/* Marks the types whose rows are read above: needed[layer][type], the inputs included as layer 0,
 * so that layer l's parts are needed[l + 1]. */
static void params_mark(const struct params *params, uint32_t layers, bool *needed)
{
    const struct model_types *types = &params->types;
    for (uint32_t end = 0; end < MODEL_ENDS; end++)
        needed[layers * types->num_ntypes + types->targets[end]] = true;
    for (uint32_t l = layers; l-- > 0;) {
        const bool *above = needed + (size_t)(l + 1) * types->num_ntypes;
        bool *below = needed + (size_t)l * types->num_ntypes;
        memcpy(below, above, types->num_ntypes * sizeof *below);
        for (uint32_t e = 0; e < types->num_etypes; e++)
            below[types->etypes[e].src] |= above[types->etypes[e].dst];
    }
}

/* Is the group the one whose bases the relation mixes? */
static bool group_has(const struct base_params *group, uint32_t layer,
                      const struct term_params *term)
{
    return group->layer == layer && group->in == term->in && group->one_hot == term->one_hot &&
           (!group->one_hot || group->src == term->src);
}

/* Makes the group of bases of a relation, where there is none. */
static void params_group(struct params *params, uint32_t layer, const struct term_params *term)
{
    for (uint32_t i = 0; i < params->num_groups; i++)
        if (group_has(&params->groups[i], layer, term))
            return;
    params->groups[params->num_groups++] = (struct base_params){ .layer = layer,
                                                                 .in = term->in,
                                                                 .width = term->width,
                                                                 .one_hot = term->one_hot,
                                                                 .src = term->src };
}

static void place_term(struct params *params, const struct layer_params *part, uint32_t etype,
                       size_t *next)
{
    const struct model_config *config = params->config;
    struct term_params *term = &params->terms[params->num_terms++];
    uint32_t src = params->types.etypes[etype].src;
    bool last = part->layer + 1 == config->layers;
    *term = (struct term_params){ .etype = etype,
                                  .src = src,
                                  .in = params_width(params, part->layer, src),
                                  .width = part->out,
                                  .one_hot = params_one_hot(params, part->layer, src) };
    if (config->kind == MODEL_GAT && last)
        term->width = part->out * config->heads;
    if (params->bases > 0) {
        params_group(params, part->layer, term);
        term->shares = *next;
        *next += params->bases;
        return;
    }
    if (term->one_hot) /* behind the layers: see place_rows() */
        return;
    term->weight = *next;
    *next += (size_t)term->in * term->width;
    if (config->kind != MODEL_GAT)
        return;
    term->own_weight = src != part->ntype;
    term->dst_weight = *next;
    *next += term->own_weight ? (size_t)part->in * term->width : 0;
    term->attention = *next;
    *next += 2 * (size_t)term->width;
}

/* A gat of one relation attends to the node itself, so it needs no matrix for it. */
static bool has_self(const struct params *params)
{
    const struct model_config *config = params->config;
    return config->kind == MODEL_SAGE || config->kind == MODEL_RGCN ||
           (config->kind == MODEL_GAT && !params_attends_to_self(params));
}

static size_t place_part(struct params *params, uint32_t l, uint32_t ntype, size_t next)
{
    const struct model_config *config = params->config;
    struct layer_params *layer = &params->layers[params->num_parts++];
    bool hidden = l + 1 < config->layers;
    layer->layer = l;
    layer->ntype = ntype;
    layer->in = params_width(params, l, ntype);
    layer->out = hidden ? config->hidden : config->classes;
    layer->own_one_hot = params_one_hot(params, l, ntype);
    layer->has_self = has_self(params) && !layer->own_one_hot;
    layer->self = next;
    next += layer->has_self ? (size_t)layer->in * layer->out : 0;
    layer->terms = params->terms + params->num_terms;
    for (uint32_t e = 0; e < params->types.num_etypes; e++)
        if (params->types.etypes[e].dst == ntype)
            place_term(params, layer, e, &next);
    layer->num_terms = (uint32_t)(params->terms + params->num_terms - layer->terms);
    layer->bias = next;
    layer->residual = config->residual && l > 0 && hidden;
    layer->normed = config->norm == MODEL_NORM_LAYER && hidden;
    layer->batch_normed = config->norm == MODEL_NORM_BATCH && hidden;
    layer->scale = layer->bias + layer->out;
    bool scaled = layer->normed || layer->batch_normed;
    layer->end = layer->scale + (scaled ? layer->out : 0);
    return layer->end;
}

static size_t place_layers(struct params *params, const bool *needed)
{
    uint32_t num_ntypes = params->types.num_ntypes;
    size_t next = 0;
    for (uint32_t l = 0; l < params->num_layers; l++) {
        params->first[l] = params->num_parts;
        uint32_t groups = params->num_groups;
        for (uint32_t t = 0; t < num_ntypes; t++)
            if (needed[(size_t)(l + 1) * num_ntypes + t])
                next = place_part(params, l, t, next);
        for (; groups < params->num_groups; groups++) {
            struct base_params *group = &params->groups[groups];
            group->weight = next;
            next += (size_t)params->bases * group->width * group->in;
        }
    }
    params->first[params->num_layers] = params->num_parts;
    return next;
}

/* The first layer's matrices of one-hot rows, apart from its other parameters, which steps add up in
 * lanes. */
static size_t place_rows(struct params *params, size_t next)
{
    for (uint32_t i = 0; i < params->first[1]; i++) {
        struct layer_params *layer = &params->layers[i];
        layer->own_rows = next;
        next += layer->own_one_hot ? (size_t)layer->in * layer->out : 0;
        for (uint32_t t = 0; t < layer->num_terms; t++) {
            struct term_params *term = &layer->terms[t];
            if (!term->one_hot || params->bases > 0)
                continue;
            term->weight = next;
            next += (size_t)term->in * term->width;
        }
    }
    return next;
}

static size_t place_embeddings(struct params *params, const bool *needed, size_t next)
{
    for (uint32_t t = 0; t < params->types.num_ntypes; t++) {
        struct embedding_params *embedding = &params->embeddings[t];
        embedding->weight = next;
        bool learned = needed[t] && !params_one_hot(params, 0, t);
        embedding->rows = learned ? (size_t)params->types.ntypes[t].embedded : 0;
        next += embedding->rows * params->config->hidden;
    }
    return next;
}

static int params_alloc(struct params *params)
{
    const struct model_types *types = &params->types;
    size_t layers = params->num_layers;
    params->layers = calloc(layers * types->num_ntypes + 1, sizeof *params->layers);
    params->terms = calloc(layers * types->num_etypes + 1, sizeof *params->terms);
    params->groups = calloc(layers * types->num_ntypes + 1, sizeof *params->groups);
    params->embeddings = calloc((size_t)types->num_ntypes + 1, sizeof *params->embeddings);
    return params->layers != NULL && params->terms != NULL && params->groups != NULL &&
                   params->embeddings != NULL
               ? 0
               : TR_ENOMEM;
}

/* One type of each, where the configuration says nothing of types. */
static void params_take_types(struct params *params, const struct model_config *config)
{
    params->only_ntype = (struct model_ntype){ .name = "_N", .inputs = config->inputs };
    params->only_etype = (struct model_etype){ .name = "_N:_E:_N" };
    params->types = (struct model_types){ .num_ntypes = 1,
                                          .num_etypes = 1,
                                          .ntypes = &params->only_ntype,
                                          .etypes = &params->only_etype };
    if (config->types != NULL)
        params->types = *config->types;
}

bool params_attends_to_self(const struct params *params)
{
    const struct model_types *types = &params->types;
    return params->config->kind == MODEL_GAT && types->num_etypes == 1 &&
           types->etypes[0].src == types->etypes[0].dst;
}

int params_layout(struct params *params, const struct model_config *config, enum params_form form)
{
    memset(params, 0, sizeof *params);
    params->num_layers = config->layers;
    params->config = config;
    params->bases = form == PARAMS_STORED && config->kind == MODEL_RGCN ? config->bases : 0;
    params_take_types(params, config);
    bool *needed = calloc((config->layers + (size_t)1) * params->types.num_ntypes, sizeof *needed);
    if (needed == NULL || params_alloc(params) != 0) {
        free(needed);
        params_fini(params);
        return TR_ENOMEM;
    }
    params_mark(params, config->layers, needed);
    size_t next = place_rows(params, place_layers(params, needed));
    if (form == PARAMS_STORED)
        next = place_embeddings(params, needed, next);
    free(needed);
    params->trained = next;
    for (uint32_t i = 0; i < params->num_parts; i++) {
        struct layer_params *layer = &params->layers[i];
        layer->running = next;
        next += layer->batch_normed ? BATCH_NORM_RUNNING(layer->out) : 0;
    }
    params->columns = config->standardise ? config->inputs : 0;
    params->means = next;
    params->factors = params->means + params->columns;
    params->centres = params->factors + params->columns;
    params->units = params->centres + (config->logarithms ? params->columns : 0);
    params->count = params->units + (config->logarithms ? params->columns : 0);
    return 0;
}

void params_fini(struct params *params)
{
    free(params->layers);
    free(params->terms);
    free(params->groups);
    free(params->embeddings);
    *params = (struct params){ 0 };
}

static void draw_within(float *values, size_t count, float bound, uint64_t seed, uint32_t layer,
                        uint32_t matrix)
{
    struct draw_key key = { .seed = seed, .purpose = KEY_WEIGHTS, .hop = layer, .type = matrix };
    uint64_t base = key_base(&key);
    for (size_t i = 0; i < count; i++)
        values[i] = (2.0f * key_float(base, i) - 1.0f) * bound;
}

static void draw_matrix(float *weights, size_t in, size_t out, uint64_t seed, uint32_t layer,
                        uint32_t matrix)
{
    float bound = in + out == 0 ? 0 : sqrtf(6.0f / (float)(in + out));
    draw_within(weights, in * out, bound, seed, layer, matrix);
}

static void draw_term(const struct params *params, const struct layer_params *layer,
                      const struct term_params *term, uint64_t seed, float *values)
{
    uint32_t number = DRAW_RELATION(term->etype), heads = params->config->heads;
    if (params->bases > 0) {
        /* Shares of the variance 1 / bases leave the sum of bases as large as one of them. */
        draw_within(values + term->shares, params->bases, sqrtf(3.0f / (float)params->bases), seed,
                    layer->layer, number | DRAW_SHARES);
        return;
    }
    draw_matrix(values + term->weight, term->in, term->width, seed, layer->layer, number);
    if (term->own_weight)
        draw_matrix(values + term->dst_weight, layer->in, term->width, seed, layer->layer,
                    number | DRAW_DESTINATION);
    if (params->config->kind == MODEL_GAT)
        draw_within(values + term->attention, 2 * (size_t)term->width,
                    sqrtf(6.0f / (float)(term->width / heads + 1)), seed, layer->layer,
                    number | DRAW_ATTENTION);
}

static void draw_bases(const struct params *params, uint64_t seed, float *values)
{
    for (uint32_t g = 0; g < params->num_groups; g++) {
        const struct base_params *group = &params->groups[g];
        size_t size = (size_t)group->width * group->in;
        float bound = sqrtf(6.0f / (float)(group->width + group->in));
        /* Groups of a layer are apart by the number of all groups before. */
        draw_within(values + group->weight, params->bases * size, bound, seed, group->layer,
                    DRAW_BASE + g);
    }
}

void params_draw(const struct params *params, uint64_t seed, float *values)
{
    memset(values, 0, params->count * sizeof *values);
    for (uint32_t i = 0; i < params->num_parts; i++) {
        const struct layer_params *layer = &params->layers[i];
        if (layer->has_self)
            draw_matrix(values + layer->self, layer->in, layer->out, seed, layer->layer,
                        DRAW_SELF(layer->ntype));
        if (layer->own_one_hot)
            draw_matrix(values + layer->own_rows, layer->in, layer->out, seed, layer->layer,
                        DRAW_SELF(layer->ntype));
        for (uint32_t t = 0; t < layer->num_terms; t++)
            draw_term(params, layer, &layer->terms[t], seed, values);
        for (size_t c = layer->scale; c < layer->end; c++)
            values[c] = 1;
        for (size_t c = 0; layer->batch_normed && c < layer->out; c++)
            values[layer->running + layer->out + c] = 1;
    }
    draw_bases(params, seed, values);
    for (uint32_t t = 0; t < params->types.num_ntypes; t++)
        draw_within(values + params->embeddings[t].weight,
                    params->embeddings[t].rows * params->config->hidden, EMBEDDING_BOUND, seed, 0,
                    DRAW_EMBEDDING + t);
    for (uint32_t i = 0; i < params->columns; i++)
        values[params->factors + i] = 1;
}

static void copy_values(float *to, size_t to_begin, const float *from, size_t from_begin,
                        size_t count)
{
    memcpy(to + to_begin, from + from_begin, count * sizeof *to);
}

/* What stands in a part beside the relations' matrices; its running statistics. */
static void copy_part(const struct layer_params *to, float *values, const struct layer_params *from,
                      const float *source)
{
    if (to->has_self)
        copy_values(values, to->self, source, from->self, (size_t)to->in * to->out);
    if (to->own_one_hot)
        copy_values(values, to->own_rows, source, from->own_rows, (size_t)to->in * to->out);
    copy_values(values, to->bias, source, from->bias, to->end - to->bias);
    if (to->batch_normed)
        copy_values(values, to->running, source, from->running, BATCH_NORM_RUNNING(to->out));
}

static const struct base_params *term_group(const struct params *stored,
                                            const struct layer_params *layer,
                                            const struct term_params *term)
{
    for (uint32_t g = 0; g < stored->num_groups; g++)
        if (group_has(&stored->groups[g], layer->layer, term))
            return &stored->groups[g];
    return NULL; /* never: the layout made it */
}

void params_apply(const struct params *stored, const struct params *applied, const float *weights,
                  float *to)
{
    const struct kernels *kernels = kernels_best();
    for (uint32_t i = 0; i < stored->num_parts; i++) {
        const struct layer_params *from = &stored->layers[i], *layer = &applied->layers[i];
        copy_part(layer, to, from, weights);
        for (uint32_t t = 0; t < layer->num_terms; t++) {
            const struct base_params *group = term_group(stored, from, &from->terms[t]);
            size_t size = (size_t)group->width * group->in;
            float *matrix = to + layer->terms[t].weight;
            memset(matrix, 0, size * sizeof *matrix);
            for (uint32_t b = 0; b < stored->bases; b++)
                kernels->axpy(matrix, weights + group->weight + b * size,
                              weights[from->terms[t].shares + b], size);
        }
    }
}

static float inner_product(const float *a, const float *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return (float)sum;
}

/* Relations are added up in their order, layer by layer. */
void params_gather(const struct params *stored, const struct params *applied, const float *weights,
                   const float *applied_grads, float *grads)
{
    const struct kernels *kernels = kernels_best();
    for (uint32_t g = 0; g < stored->num_groups; g++) {
        const struct base_params *group = &stored->groups[g];
        memset(grads + group->weight, 0,
               (size_t)stored->bases * group->width * group->in * sizeof *grads);
    }
    for (uint32_t i = 0; i < stored->num_parts; i++) {
        const struct layer_params *to = &stored->layers[i], *layer = &applied->layers[i];
        copy_part(to, grads, layer, applied_grads);
        for (uint32_t t = 0; t < layer->num_terms; t++) {
            const struct base_params *group = term_group(stored, to, &to->terms[t]);
            size_t size = (size_t)group->width * group->in;
            const float *matrix = applied_grads + layer->terms[t].weight;
            for (uint32_t b = 0; b < stored->bases; b++) {
                size_t base = group->weight + b * size;
                kernels->axpy(grads + base, matrix, weights[to->terms[t].shares + b], size);
                grads[to->terms[t].shares + b] = inner_product(matrix, weights + base, size);
            }
        }
    }
}

/* Names are made one after the other; the first failure is kept. */
struct view_list {
    struct param_view *views;
    size_t count, room;
    int rc;
};

TR_PRINTF(5, 6)
static void add_view(struct view_list *list, size_t offset, uint32_t ndim, const uint64_t *shape,
                     const char *format, ...)
{
    va_list arguments;
    if (list->rc == 0 && list->count == list->room) {
        size_t room = list->room == 0 ? 64 : 2 * list->room;
        struct param_view *views = realloc(list->views, room * sizeof *views);
        list->rc = views == NULL ? TR_ENOMEM : 0;
        list->views = views == NULL ? list->views : views;
        list->room = views == NULL ? list->room : room;
    }
    if (list->rc != 0)
        return;
    struct param_view *view = &list->views[list->count];
    *view = (struct param_view){ .offset = offset, .ndim = ndim };
    memcpy(view->shape, shape, ndim * sizeof *shape);
    va_start(arguments, format);
    int length = vasprintf(&view->name, format, arguments);
    va_end(arguments);
    list->rc = length < 0 ? TR_ENOMEM : 0;
    list->count += length >= 0;
}

/* Escapes what stands between words of the names of tensors. The caller frees it; NULL: no memory. */
static char *escape_name(const char *name)
{
    char *escaped = malloc(3 * strlen(name) + 1), *to = escaped;
    for (const char *from = name; escaped != NULL && *from != '\0'; from++) {
        if (*from == '.' || *from == '%') {
            memcpy(to, *from == '.' ? "%2e" : "%25", 3);
            to += 3;
        } else {
            *to++ = *from;
        }
    }
    if (escaped != NULL)
        *to = '\0';
    return escaped;
}

/* What every part has, behind a prefix. */
static void view_part(struct view_list *list, const struct layer_params *layer, const char *prefix)
{
    const uint64_t out = layer->out, one = 1;
    const uint64_t matrix[] = { layer->out, layer->in }, rows[] = { layer->in, layer->out };
    if (layer->has_self)
        add_view(list, layer->self, 2, matrix, "%s.self.weight", prefix);
    if (layer->own_one_hot)
        add_view(list, layer->own_rows, 2, rows, "%s.self.rows", prefix);
    add_view(list, layer->bias, 1, &out, "%s.bias", prefix);
    if (layer->normed || layer->batch_normed)
        add_view(list, layer->scale, 1, &out, "%s.norm.weight", prefix);
    if (!layer->batch_normed)
        return;
    add_view(list, layer->running, 1, &out, "%s.norm.running_mean", prefix);
    add_view(list, layer->running + layer->out, 1, &out, "%s.norm.running_var", prefix);
    add_view(list, layer->running + 2 * (size_t)layer->out, 1, &one, "%s.norm.steps", prefix);
}

static void view_plain(const struct params *params, struct view_list *list)
{
    for (uint32_t l = 0; l < params->num_layers; l++) {
        const struct layer_params *layer = &params->layers[l];
        const uint64_t shape[] = { layer->out, layer->terms[0].in };
        char prefix[24];
        snprintf(prefix, sizeof prefix, "layers.%u", l);
        add_view(list, layer->terms[0].weight, 2, shape, "%s.%s", prefix,
                 layer->has_self ? "neigh.weight" : "weight");
        view_part(list, layer, prefix);
    }
}

static void view_term(const struct params *params, const struct layer_params *layer,
                      const struct term_params *term, struct view_list *list)
{
    const uint64_t shape[] = { term->width, term->in }, own[] = { term->width, layer->in };
    const uint64_t heads = params->config->heads, ends[] = { 2, heads, term->width / heads };
    const uint64_t bases = params->bases, rows[] = { term->in, term->width };
    char *name = escape_name(params->types.etypes[term->etype].name);
    if (name == NULL) {
        list->rc = TR_ENOMEM;
        return;
    }
    uint32_t l = layer->layer;
    if (bases > 0)
        add_view(list, term->shares, 1, &bases, "layers.%u.relations.%s.shares", l, name);
    else if (term->one_hot)
        add_view(list, term->weight, 2, rows, "layers.%u.relations.%s.rows", l, name);
    else
        add_view(list, term->weight, 2, shape, "layers.%u.relations.%s.weight", l, name);
    if (term->own_weight)
        add_view(list, term->dst_weight, 2, own, "layers.%u.relations.%s.dst_weight", l, name);
    if (params->config->kind == MODEL_GAT)
        add_view(list, term->attention, 3, ends, "layers.%u.relations.%s.attention", l, name);
    free(name);
}

static void view_relations(const struct params *params, struct view_list *list)
{
    for (uint32_t i = 0; i < params->num_parts; i++) {
        const struct layer_params *layer = &params->layers[i];
        char *name = escape_name(params->types.ntypes[layer->ntype].name), *prefix = NULL;
        if (name == NULL || asprintf(&prefix, "layers.%u.types.%s", layer->layer, name) < 0)
            list->rc = TR_ENOMEM;
        else
            view_part(list, layer, prefix);
        for (uint32_t t = 0; list->rc == 0 && t < layer->num_terms; t++)
            view_term(params, layer, &layer->terms[t], list);
        free(prefix);
        free(name);
    }
    for (uint32_t g = 0; g < params->num_groups; g++) {
        const struct base_params *group = &params->groups[g];
        const uint64_t shape[] = { params->bases, group->width, group->in };
        const uint64_t rows[] = { params->bases, group->in, group->width };
        char *name = group->one_hot ? escape_name(params->types.ntypes[group->src].name) : NULL;
        if (name != NULL)
            add_view(list, group->weight, 3, rows, "layers.%u.bases.%s.rows", group->layer, name);
        else if (group->one_hot)
            list->rc = TR_ENOMEM;
        else
            add_view(list, group->weight, 3, shape, "layers.%u.bases.%u", group->layer, group->in);
        free(name);
    }
    for (uint32_t t = 0; t < params->types.num_ntypes; t++) {
        const struct embedding_params *embedding = &params->embeddings[t];
        const uint64_t shape[] = { embedding->rows, params->config->hidden };
        char *name = embedding->rows == 0 ? NULL : escape_name(params->types.ntypes[t].name);
        if (name != NULL)
            add_view(list, embedding->weight, 2, shape, "embeddings.%s", name);
        else if (embedding->rows > 0)
            list->rc = TR_ENOMEM;
        free(name);
    }
}

struct feature_columns params_feature_columns(const struct params *params, const float *weights)
{
    bool logarithms = params->config->logarithms;
    return (struct feature_columns){ .means = weights + params->means,
                                     .factors = weights + params->factors,
                                     .centres = logarithms ? weights + params->centres : NULL,
                                     .units = logarithms ? weights + params->units : NULL };
}

int params_views(const struct params *params, struct param_view **views, size_t *count)
{
    struct view_list list = { 0 };
    const uint64_t columns = params->columns;
    if (model_kind_has_relations(params->config->kind))
        view_relations(params, &list);
    else
        view_plain(params, &list);
    if (params->columns > 0) {
        add_view(&list, params->means, 1, &columns, "features.mean");
        add_view(&list, params->factors, 1, &columns, "features.factor");
    }
    if (params->columns > 0 && params->config->logarithms) {
        add_view(&list, params->centres, 1, &columns, "features.log_centre");
        add_view(&list, params->units, 1, &columns, "features.log_unit");
    }
    *views = list.views;
    *count = list.count;
    if (list.rc != 0) {
        param_views_free(list.views, list.count);
        *views = NULL;
        *count = 0;
    }
    return list.rc;
}

void param_views_free(struct param_view *views, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(views[i].name);
    free(views);
}
