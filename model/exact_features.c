/* SPDX-License-Identifier: Apache-2.0 */
#include "model/exact_features.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/exact_layer.h"
#include "model/features.h"
#include "model/matmul.h"

/* One pass over all rows, in blocks of MATMUL_ROWS. */
struct pass {
    struct exact_features *features;
    const struct model *model;
    const float *weights; /* the model's */
    uint64_t *index;
    struct tensor rows; /* [workers][width] */
};

static int find_tables(struct exact_features *features, const struct graph_part *const *parts,
                       uint32_t num_parts, const char *name, uint32_t width, struct error *error)
{
    static const struct feature_table empty = { .dtype = TR_F32 };
    for (uint32_t p = 0; p < num_parts; p++) {
        const struct node_part *nodes = &parts[p]->nodes[0];
        const struct feature_table *table = width == 0 ? &empty : node_part_feature(nodes, name);
        if (table == NULL)
            return error_set(error, TR_ENOENT, "exact inference: partition %u has no feature '%s'",
                             parts[p]->part_id, name);
        if (width > 0 && (table->width != width || table->num_rows < nodes->num_nodes))
            return error_set(error, TR_EMISMATCH,
                             "exact inference: feature '%s' of partition %u has %" PRIu64
                             " columns; the model takes %u",
                             name, parts[p]->part_id, table->width, width);
        features->tables[p] = table;
    }
    return 0;
}

/* The elements of a sparse row, each converted by itself as those of a dense row are. */
static void convert_sparse(const struct csr_rows *csr, uint64_t row, size_t width, float *to)
{
    size_t size = tr_dtype_size(csr->dtype);
    memset(to, 0, width * sizeof *to);
    for (uint64_t i = csr->index[row]; i < csr->index[row + 1]; i++) {
        if (csr->values == NULL)
            to[csr->columns[i]] = 1;
        else
            features_convert(csr->dtype, (const char *)csr->values + i * size, 1,
                             &to[csr->columns[i]]);
    }
}

void exact_features_row(const struct feature_table *table, uint64_t row, float *to)
{
    if (table->form == TABLE_CSR)
        convert_sparse(table->csr, row, table->width, to);
    else
        features_convert(table->dtype, (const char *)table->rows + row * table->row_bytes,
                         table->width, to);
}

static void convert_row(const struct pass *pass, size_t row, float *to)
{
    const struct exact_rows *rows = &pass->features->rows;
    const struct kernels *kernels = model_kernels(pass->model);
    struct node_place place = rows->map->places[row];
    exact_features_row(rows->tables[place.part], place.row, to);
    if (model_configuration(pass->model)->normalise)
        kernels->scale(to, features_norm(kernels, to, rows->width), rows->width);
    const struct params *params = model_params(pass->model);
    if (params->columns > 0) {
        const struct feature_columns columns = params_feature_columns(params, pass->weights);
        features_standardise(to, &columns, rows->width);
    }
}

static size_t block_end(const struct pass *pass, size_t begin)
{
    size_t rest = pass->features->rows.map->num_nodes - begin;
    return begin + (rest < MATMUL_ROWS ? rest : MATMUL_ROWS);
}

static void convert_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct pass *pass = arg;
    size_t begin = block * MATMUL_ROWS, end = block_end(pass, begin);
    for (size_t row = begin; row < end; row++)
        convert_row(pass, row, tensor_row(&pass->features->dense, row));
}

static void count_block(void *arg, size_t block, size_t worker)
{
    const struct pass *pass = arg;
    float *values = tensor_row(&pass->rows, worker);
    size_t begin = block * MATMUL_ROWS, end = block_end(pass, begin);
    for (size_t row = begin; row < end; row++) {
        uint64_t count = 0;
        convert_row(pass, row, values);
        for (size_t i = 0; i < pass->features->rows.width; i++)
            count += values[i] != 0;
        pass->index[row + 1] = count;
    }
}

static void compress_block(void *arg, size_t block, size_t worker)
{
    const struct pass *pass = arg;
    struct exact_features *features = pass->features;
    float *row_values = tensor_row(&pass->rows, worker);
    size_t begin = block * MATMUL_ROWS, end = block_end(pass, begin);
    uint32_t *columns = features->columns.data;
    float *values = features->values.data;
    for (size_t row = begin; row < end; row++) {
        uint64_t at = pass->index[row];
        convert_row(pass, row, row_values);
        for (uint32_t i = 0; i < features->rows.width; i++) {
            if (row_values[i] == 0)
                continue;
            columns[at] = i;
            values[at++] = row_values[i];
        }
    }
}

/* Counts the elements to keep into index; whether they are few. */
static bool count_elements(struct pass *pass)
{
    const struct exact_rows *rows = &pass->features->rows;
    size_t num_nodes = rows->map->num_nodes;
    pass->index[0] = 0;
    parallel_for(model_parallel(pass->model), matmul_blocks(num_nodes), count_block, pass);
    for (size_t row = 0; row < num_nodes; row++)
        pass->index[row + 1] += pass->index[row];
    /* Both factors are below 2^32. */
    return pass->index[num_nodes] <= (uint64_t)num_nodes * rows->width / EXACT_SPARSE_SHARE;
}

static int compress_rows(struct pass *pass)
{
    struct exact_features *features = pass->features;
    size_t num_nodes = features->rows.map->num_nodes;
    int rc = storage_reserve(&features->index, num_nodes + 1, sizeof(uint64_t));
    if (rc == 0)
        rc = tensor_resize(&pass->rows, model_parallel(pass->model)->workers, features->rows.width);
    if (rc != 0)
        return rc;
    pass->index = features->index.data;
    if (!count_elements(pass)) {
        storage_fini(&features->index);
        return 0;
    }
    rc = storage_reserve(&features->columns, pass->index[num_nodes], sizeof(uint32_t));
    if (rc == 0)
        rc = storage_reserve(&features->values, pass->index[num_nodes], sizeof(float));
    if (rc != 0)
        return rc;
    parallel_for(model_parallel(pass->model), matmul_blocks(num_nodes), compress_block, pass);
    features->sparse = (struct sparse_rows){ pass->index, features->columns.data,
                                             features->values.data };
    features->rows.sparse = &features->sparse;
    return 0;
}

static int convert_rows(struct pass *pass)
{
    struct exact_features *features = pass->features;
    size_t num_nodes = features->rows.map->num_nodes;
    int rc = tensor_resize(&features->dense, num_nodes, features->rows.width);
    if (rc != 0)
        return rc;
    parallel_for(model_parallel(pass->model), matmul_blocks(num_nodes), convert_block, pass);
    features->rows.dense = features->dense.data;
    return 0;
}

static bool serve_as_stored(const struct exact_features *features, const struct model *model,
                            uint32_t num_parts)
{
    bool all_floats = true;
    for (uint32_t p = 0; p < num_parts; p++)
        all_floats = all_floats && features->tables[p]->dtype == TR_F32 &&
                     features->tables[p]->form == TABLE_DENSE;
    const struct model_config *config = model_configuration(model);
    return all_floats && !config->normalise && !config->standardise;
}

int exact_features_init(struct exact_features *features, struct model *model,
                        const struct node_map *map, const struct graph_part *const *parts,
                        uint32_t num_parts, const char *name, struct error *error)
{
    uint32_t width = model_configuration(model)->inputs;
    *features = (struct exact_features){ 0 };
    features->tables = calloc((size_t)num_parts + 1, sizeof *features->tables);
    if (features->tables == NULL)
        return error_set(error, TR_ENOMEM, "exact inference: out of memory");
    features->rows = (struct exact_rows){ .width = width, .tables = features->tables, .map = map };
    int rc = find_tables(features, parts, num_parts, name, width, error);
    if (rc != 0 || width == 0)
        return rc;
    struct pass pass = { .features = features, .model = model, .weights = model_weights(model) };
    if (exact_multiplies_first(&model_params(model)->layers[0]))
        rc = compress_rows(&pass);
    if (rc == 0 && features->rows.sparse == NULL && !serve_as_stored(features, model, num_parts))
        rc = convert_rows(&pass);
    tensor_fini(&pass.rows);
    return rc == 0 ? 0
                   : error_set(error, rc,
                               "exact inference: no memory for the features of %u "
                               "nodes",
                               map->num_nodes);
}

void exact_features_fini(struct exact_features *features)
{
    free(features->tables);
    tensor_fini(&features->dense);
    storage_fini(&features->index);
    storage_fini(&features->columns);
    storage_fini(&features->values);
    *features = (struct exact_features){ 0 };
}
