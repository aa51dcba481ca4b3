#include "model/exact.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/features.h"
#include "model/gcn.h"
#include "model/labels.h"
#include "model/matmul.h"
#include "model/node_map.h"
#include "model/sage.h"

/* Rows on their way while one is added; see kernels.c. */
#define AHEAD 6

struct exact_layer {
    struct model *model;
    const struct exact_graph *graph;
    const struct node_map *map;
    const struct feature_table **tables; /* [num_parts]; the input layer reads them */
    const struct layer_params *params;
    const float *weights;
    const float *in; /* [num_nodes][params->in], or NULL: the rows of the tables */
    float *out;      /* [num_nodes][params->out] */
    bool last;
    struct tensor *scratch; /* [workers]: a block of aggregates and one of own rows */
};

/* Where a feature row lies as it is. */
static const char *stored_row(const struct exact_layer *layer, uint32_t original)
{
    struct node_place place = layer->map->places[original];
    const struct feature_table *table = layer->tables[place.part];
    return (const char *)table->rows + (size_t)place.row * table->row_bytes;
}

static const float *input_row(const struct exact_layer *layer, uint32_t original)
{
    if (layer->in != NULL)
        return layer->in + (size_t)original * layer->params->in;
    return (const float *)(const void *)stored_row(layer, original);
}

static void prefetch_row(const struct exact_layer *layer, uint32_t original)
{
    size_t bytes = layer->params->in * sizeof(float);
    const char *row = layer->in != NULL
                          ? (const char *)(layer->in + (size_t)original * layer->params->in)
                          : stored_row(layer, original);
    for (size_t i = 0; i < bytes; i += 64)
        __builtin_prefetch(row + i);
}

static float source_scale(const struct exact_layer *layer, uint32_t original)
{
    if (model_configuration(layer->model)->kind == MODEL_SAGE)
        return 1;
    struct node_place place = layer->map->places[original];
    return gcn_norm(layer->graph->parts[place.part]->nodes[0].out_degrees[place.row]);
}

static void add_sources(const struct exact_layer *layer, uint32_t original, const struct csc *csc,
                        uint32_t csc_row, float *aggregate)
{
    bool skip_self = model_configuration(layer->model)->kind == MODEL_GCN;
    const struct kernels *kernels = model_kernels(layer->model);
    uint64_t end = csc->index[csc_row + 1];
    for (uint64_t e = csc->index[csc_row]; e < end; e++) {
        if (e + AHEAD < csc->num_edges)
            prefetch_row(layer, node_map_source(layer->map, csc, csc->indices[e + AHEAD]));
        uint32_t source = node_map_source(layer->map, csc, csc->indices[e]);
        if (skip_self && source == original)
            continue;
        kernels->axpy(aggregate, input_row(layer, source), source_scale(layer, source),
                      layer->params->in);
    }
}

static void aggregate_row(const struct exact_layer *layer, uint32_t original, const float *own,
                          float *aggregate)
{
    size_t width = layer->params->in;
    struct node_place place = layer->map->places[original];
    const struct graph_part *part = layer->graph->parts[place.part];
    const struct csc *csc = &part->edges[0].csc;
    const struct kernels *kernels = model_kernels(layer->model);
    memset(aggregate, 0, width * sizeof *aggregate);
    add_sources(layer, original, csc, place.row, aggregate);
    if (model_configuration(layer->model)->kind == MODEL_SAGE) {
        kernels->scale(aggregate, sage_scale(csc->index[place.row + 1] - csc->index[place.row]),
                       width);
        return;
    }
    float norm = gcn_norm(part->nodes[0].in_degrees[place.row]);
    kernels->scale(aggregate, norm, width);
    kernels->axpy(aggregate, own, norm * source_scale(layer, original), width);
}

static void infer_block(void *arg, size_t block, size_t worker)
{
    const struct exact_layer *layer = arg;
    const struct layer_params *p = layer->params;
    const struct kernels *kernels = model_kernels(layer->model);
    struct dropout none = dropout_make(0, 0);
    size_t begin = block * MATMUL_ROWS, rest = layer->map->num_nodes - begin;
    size_t count = rest < MATMUL_ROWS ? rest : MATMUL_ROWS;
    float *aggregates = layer->scratch[worker].data;
    float *owns = aggregates + MATMUL_ROWS * p->in;
    for (size_t i = 0; p->in > 0 && i < count; i++) {
        uint32_t original = (uint32_t)(begin + i);
        float *own = owns + i * p->in;
        memcpy(own, input_row(layer, original), p->in * sizeof *own);
        aggregate_row(layer, original, own, aggregates + i * p->in);
    }
    float *out = layer->out + begin * p->out;
    matmul_forward(count, p->in, p->out, aggregates, layer->weights + p->neigh, 0, out);
    if (p->has_self)
        matmul_forward(count, p->in, p->out, owns, layer->weights + p->self, 1, out);
    for (size_t i = 0; i < count; i++) {
        if (layer->last)
            kernels->axpy(out + i * p->out, layer->weights + p->bias, 1.0f, p->out);
        else
            kernels->activate(out + i * p->out, layer->weights + p->bias, p->out, &none, i);
    }
}

static int find_tables(struct exact_layer *layer, struct error *error)
{
    uint32_t width = model_configuration(layer->model)->inputs;
    static const struct feature_table empty = { .dtype = TR_F32 };
    for (uint32_t p = 0; p < layer->graph->num_parts; p++) {
        const struct graph_part *part = layer->graph->parts[p];
        layer->tables[p] = width == 0 ? &empty
                                      : node_part_feature(&part->nodes[0], layer->graph->features);
        if (layer->tables[p] == NULL)
            return error_set(error, TR_ENOENT, "exact inference: partition %u has no feature '%s'",
                             part->part_id, layer->graph->features);
        if (width > 0 && (layer->tables[p]->width != width ||
                          layer->tables[p]->num_rows < part->nodes[0].num_nodes))
            return error_set(error, TR_EMISMATCH,
                             "exact inference: feature '%s' of partition %u has %" PRIu64
                             " columns; the model takes %u",
                             layer->graph->features, part->part_id, layer->tables[p]->width, width);
    }
    return 0;
}

/* Memory for one layer: its output in the one of two matrices that its input is not. */
static int reserve_layer(struct exact_layer *layer, struct tensor *out)
{
    const struct layer_params *p = layer->params;
    int rc = tensor_resize(out, layer->map->num_nodes, p->out);
    for (size_t w = 0; rc == 0 && w < model_parallel(layer->model)->workers; w++)
        rc = tensor_resize(&layer->scratch[w], 2 * MATMUL_ROWS, p->in);
    return rc;
}

static bool tables_serve_as_they_are(const struct exact_layer *layer)
{
    bool all_floats = true;
    for (uint32_t p = 0; p < layer->graph->num_parts; p++)
        all_floats = all_floats && layer->tables[p]->dtype == TR_F32;
    return all_floats && !model_configuration(layer->model)->normalise;
}

struct convert_job {
    const struct exact_layer *layer;
    struct tensor *to;
};

static void convert_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct convert_job *job = arg;
    const struct exact_layer *layer = job->layer;
    size_t begin = block * MATMUL_ROWS, width = job->to->cols;
    for (size_t row = begin; row < begin + MATMUL_ROWS && row < job->to->rows; row++) {
        const struct feature_table *table = layer->tables[layer->map->places[row].part];
        features_convert(table->dtype, stored_row(layer, (uint32_t)row), width,
                         tensor_row(job->to, row));
        if (model_configuration(layer->model)->normalise)
            features_normalise(tensor_row(job->to, row), width);
    }
}

/* A row is read once for each out-edge: it is converted before, not at each reading. */
static int convert_features(struct exact_layer *layer, struct tensor *to)
{
    uint32_t width = model_configuration(layer->model)->inputs;
    if (width == 0 || tables_serve_as_they_are(layer))
        return 0;
    int rc = tensor_resize(to, layer->map->num_nodes, width);
    if (rc != 0)
        return rc;
    struct convert_job job = { layer, to };
    parallel_for(model_parallel(layer->model), matmul_blocks(to->rows), convert_block, &job);
    return 0;
}

static int infer_layers(struct exact_layer *layer, struct tensor *logits, struct error *error)
{
    const struct params *params = model_params(layer->model);
    /* Layer l reads one and writes the other; the converted features, if any, come first. */
    struct tensor hidden[2] = { 0 };
    int rc = convert_features(layer, &hidden[1]);
    for (uint32_t l = 0; rc == 0 && l < params->num_layers; l++) {
        layer->last = l + 1 == params->num_layers;
        layer->params = &params->layers[l];
        struct tensor *out = layer->last ? logits : &hidden[l % 2];
        rc = reserve_layer(layer, out);
        if (rc != 0)
            break;
        layer->in = hidden[(l + 1) % 2].data;
        layer->out = out->data;
        parallel_for(model_parallel(layer->model), matmul_blocks(layer->map->num_nodes),
                     infer_block, layer);
    }
    tensor_fini(&hidden[0]);
    tensor_fini(&hidden[1]);
    if (rc != 0)
        error_set(error, rc, "exact inference: no memory for %u nodes of %u hidden values; use "
                  "sampled inference", layer->map->num_nodes,
                  model_configuration(layer->model)->hidden);
    return rc;
}

int exact_infer(struct model *model, const struct exact_graph *graph, struct tensor *logits,
                struct error *error)
{
    struct node_map map;
    int rc = node_map_init(&map, graph->parts, graph->num_parts, error);
    if (rc != 0)
        return rc;
    size_t workers = model_parallel(model)->workers;
    struct exact_layer layer = { .model = model,
                                 .graph = graph,
                                 .map = &map,
                                 .weights = model_weights(model) };
    layer.tables = calloc((size_t)graph->num_parts + 1, sizeof *layer.tables);
    layer.scratch = calloc(workers, sizeof *layer.scratch);
    if (layer.tables == NULL || layer.scratch == NULL) {
        rc = error_set(error, TR_ENOMEM, "exact inference: out of memory");
        goto done;
    }
    rc = find_tables(&layer, error);
    if (rc == 0)
        rc = infer_layers(&layer, logits, error);
    for (size_t w = 0; w < workers; w++)
        tensor_fini(&layer.scratch[w]);
done:
    free(layer.scratch);
    free(layer.tables);
    node_map_fini(&map);
    return rc;
}

/* Copies the logits and labels of the chosen nodes side by side. */
static int pick_rows(const struct exact_graph *graph, const struct node_map *map,
                     const struct tensor *logits, const char *name, const uint64_t *ids,
                     size_t count, struct tensor *picked, struct batch_rows *labels,
                     struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (ids[i] >= map->num_nodes)
            return error_set(error, TR_ERANGE, "evaluation: node %" PRIu64 " of %u", ids[i],
                             map->num_nodes);
        struct node_place place = map->places[ids[i]];
        const struct feature_table *table =
            node_part_feature(&graph->parts[place.part]->nodes[0], name);
        if (table == NULL || table->num_rows <= place.row)
            return error_set(error, TR_ENOENT, "evaluation: partition %u has no label '%s'",
                             graph->parts[place.part]->part_id, name);
        if (labels->rows == NULL) {
            *labels = (struct batch_rows){ table->dtype, (uint32_t)count, table->width,
                                           table->row_bytes,
                                           reallocarray(NULL, count, table->row_bytes + 1) };
            if (labels->rows == NULL)
                return error_set(error, TR_ENOMEM, "evaluation: no memory for %zu labels", count);
        }
        if (table->dtype != labels->dtype || table->row_bytes != labels->row_bytes)
            return error_set(error, TR_EMISMATCH, "evaluation: label '%s' differs in type between "
                             "partitions", name);
        memcpy((char *)labels->rows + i * table->row_bytes,
               (const char *)table->rows + (size_t)place.row * table->row_bytes, table->row_bytes);
        memcpy(tensor_row(picked, i), tensor_row(logits, ids[i]), logits->cols * sizeof(float));
    }
    return 0;
}

static int score_rows(struct model *model, const struct tensor *picked,
                      const struct batch_rows *labels, struct scores *scores, struct error *error)
{
    const struct model_config *config = model_configuration(model);
    struct loss_sum loss;
    struct metrics metrics;
    int rc = labels_check(labels, picked->rows, config, error);
    if (rc != 0)
        return rc;
    rc = metrics_init(&metrics, config);
    if (rc != 0)
        return error_set(error, rc, "evaluation: out of memory");
    rc = loss_compute(config, model_parallel(model), picked->data, picked->rows, labels, 1, NULL,
                      &loss);
    if (rc == 0)
        rc = metrics_add(&metrics, picked->data, picked->rows, labels, &loss);
    if (rc == 0)
        metrics_result(&metrics, scores);
    metrics_fini(&metrics);
    return rc == 0 ? 0 : error_set(error, rc, "evaluation: out of memory");
}

int exact_scores(struct model *model, const struct exact_graph *graph, const struct tensor *logits,
                 const char *labels_name, const uint64_t *original_ids, size_t count,
                 struct scores *scores, struct error *error)
{
    struct node_map map;
    int rc = node_map_init(&map, graph->parts, graph->num_parts, error);
    if (rc != 0)
        return rc;
    struct tensor picked = { 0 };
    struct batch_rows labels = { 0 };
    if (count > UINT32_MAX) {
        rc = error_set(error, TR_ETOOBIG, "evaluation: %zu nodes", count);
        goto done;
    }
    rc = tensor_resize(&picked, count, logits->cols);
    if (rc != 0) {
        error_set(error, rc, "evaluation: no memory for %zu nodes", count);
        goto done;
    }
    rc = pick_rows(graph, &map, logits, labels_name, original_ids, count, &picked, &labels, error);
    if (rc == 0)
        rc = score_rows(model, &picked, &labels, scores, error);
    free(labels.rows);
done:
    tensor_fini(&picked);
    node_map_fini(&map);
    return rc;
}
