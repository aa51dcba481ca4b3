/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By what the columns of the features are shifted and scaled, so that a price, a year and a flag
 * count alike when training begins.
 *
 * A column that is 0 for most nodes and never below, as a flag or a count of words is, keeps its
 * zeros: it is divided by the root mean square of its other numbers, which of a flag is 1. Any other
 * column gets the mean 0 and the deviation 1.
 *
 * Invariant: every process of a job measures the same, wherever the graph's partitions are: the rows
 * are read, and added up, in the order of original IDs.
 */
#include <math.h>
#include <stdlib.h>

#include "model/features.h"
#include "model/run_job_inside.h"

/* Rows lie together in so many pieces, evenly over the nodes. */
#define PIECES 64u
/* Bytes of rows that are asked for at a time. */
#define BYTES_AT_ONCE ((size_t)16 << 20)
/* At most so many numbers are read, of wide rows fewer rows. */
#define NUMBERS_MOST (UINT64_C(1) << 26)
#define ROWS_LEAST 1024u
/* Below this a deviation is what rounding leaves of a constant. */
#define DEVIATION_LEAST 1e-30
#define ROUNDING 1e-6
/* A column that is mostly 0 stays as it is up to this factor, either way. */
#define SPARSE_FACTOR 2.0

struct column {
    double first;        /* the column's first number: sums of differences from it lose no digits */
    double sum, squares; /* of the differences */
    double others_squares;  /* of the numbers themselves */
    uint64_t count, others; /* finite numbers; those that are not 0 */
};

static void column_add(struct column *column, double value)
{
    if (!isfinite(value))
        return;
    if (column->count++ == 0)
        column->first = value;
    double difference = value - column->first;
    column->sum += difference;
    column->squares += difference * difference;
    column->others_squares += value * value;
    column->others += value != 0;
}

/* Are most numbers of the column 0? */
static bool column_is_sparse(const struct column *column)
{
    return 2 * column->others < column->count;
}

static void column_settle(const struct column *column, float *mean, float *factor)
{
    *mean = 0;
    *factor = 1;
    if (column->count == 0)
        return;
    double count = (double)column->count, spread;
    if (column_is_sparse(column)) {
        spread = column->others == 0 ? 1 : sqrt(column->others_squares / (double)column->others);
        if (spread <= SPARSE_FACTOR && spread * SPARSE_FACTOR >= 1)
            spread = 1;
    } else {
        double away = column->sum / count, middle = column->first + away;
        double variance = column->squares / count - away * away;
        spread = variance > 0 ? sqrt(variance) : 0;
        *mean = (float)middle;
        spread = spread > ROUNDING * fabs(middle) ? spread : 0;
    }
    if (spread > DEVIATION_LEAST)
        *factor = (float)(1 / spread);
}

struct columns_reader {
    struct run_job *job;
    struct tr_nodes *nodes;
    struct tr_feature_info info;
    struct column *columns; /* [width] */
    uint64_t *ids;
    char *bytes;
    float *values;
    size_t at_once; /* rows */
};

static int columns_read(struct columns_reader *reader, uint64_t begin, uint64_t end,
                        struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    size_t width = reader->info.width;
    int rv = 0;
    for (uint64_t at = begin; at < end && rv == 0; at += reader->at_once) {
        size_t rows = end - at < reader->at_once ? (size_t)(end - at) : reader->at_once;
        rv = tr_nodes_ids(reader->nodes, at, rows, TR_WAIT_FOREVER, reader->ids, &why);
        if (rv == 0)
            rv = tr_graph_fetch(reader->job->graph, reader->job->ntype, reader->info.name,
                                reader->ids, rows, TR_WAIT_FOREVER, reader->bytes, &why);
        if (rv != 0)
            return session_failed(&why, rv, error);
        features_convert(reader->info.dtype, reader->bytes, rows * width, reader->values);
        for (size_t i = 0; i < rows * width; i++)
            column_add(&reader->columns[i % width], (double)reader->values[i]);
    }
    return rv;
}

/* All rows of a small graph, of a large one pieces of equal length. */
static int columns_read_all(struct columns_reader *reader, uint64_t most, struct error *error)
{
    uint64_t nodes = tr_nodes_count(reader->nodes);
    uint64_t rows = NUMBERS_MOST / reader->info.width;
    rows = rows < ROWS_LEAST ? ROWS_LEAST : rows;
    rows = rows < most ? rows : most;
    if (nodes <= rows)
        return columns_read(reader, 0, nodes, error);
    int rv = 0;
    for (uint64_t piece = 0; piece < PIECES && rv == 0; piece++) {
        uint64_t begin = piece * (nodes / PIECES);
        rv = columns_read(reader, begin, begin + rows / PIECES, error);
    }
    return rv;
}

static int columns_open(struct columns_reader *reader, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_feature_info *info = &reader->info;
    int rv = tr_graph_find_feature(reader->job->graph, reader->job->ntype,
                                   reader->job->config->features, info, &why);
    if (rv == 0)
        rv = tr_nodes_all(reader->job->graph, reader->job->ntype, TR_WAIT_FOREVER, &reader->nodes,
                          &why);
    if (rv != 0)
        return session_failed(&why, rv, error);
    reader->at_once = info->row_bytes > 0 ? BYTES_AT_ONCE / info->row_bytes : ROWS_LEAST;
    reader->at_once = reader->at_once < 1 ? 1 : reader->at_once;
    reader->at_once = reader->at_once < ROWS_LEAST ? reader->at_once : ROWS_LEAST;
    reader->columns = calloc(info->width + 1, sizeof *reader->columns);
    reader->ids = malloc(reader->at_once * sizeof *reader->ids);
    reader->bytes = malloc(reader->at_once * info->row_bytes + 1);
    reader->values = malloc((reader->at_once * info->width + 1) * sizeof *reader->values);
    if (reader->columns == NULL || reader->ids == NULL || reader->bytes == NULL ||
        reader->values == NULL)
        return error_set(error, TR_ENOMEM, "no memory to measure %llu columns of features",
                         (unsigned long long)info->width);
    return 0;
}

static void columns_close(struct columns_reader *reader)
{
    tr_nodes_close(reader->nodes);
    free(reader->columns);
    free(reader->ids);
    free(reader->bytes);
    free(reader->values);
}

int run_job_measure_columns(struct run_job *job, uint32_t rows_most, float *columns,
                            struct error *error)
{
    struct columns_reader reader = { .job = job, .info = TR_FEATURE_INFO_INIT };
    uint32_t width = job->config->model.inputs;
    int rv = columns_open(&reader, error);
    if (rv == 0 && width > 0)
        rv = columns_read_all(&reader, rows_most, error);
    for (uint32_t i = 0; rv == 0 && i < width; i++)
        column_settle(&reader.columns[i], &columns[i], &columns[width + i]);
    columns_close(&reader);
    return rv;
}

int run_job_standardise(struct run_job *job, bool *needed, struct error *error)
{
    uint32_t width = job->config->model.inputs;
    *needed = false;
    if (job->columns == NULL)
        job->columns = calloc(2 * (size_t)width + 1, sizeof *job->columns);
    if (job->columns == NULL)
        return error_set(error, TR_ENOMEM, "no memory for the means of %u columns", width);
    int rv = run_job_measure_columns(job, RUN_COLUMNS_ROWS, job->columns, error);
    for (uint32_t i = 0; i < width; i++)
        *needed = *needed || job->columns[i] != 0.0f || job->columns[width + i] != 1.0f;
    return rv;
}
