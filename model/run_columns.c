/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By what the columns of the features are shifted and scaled, so that a price, a year and a flag
 * count alike when training begins.
 *
 * A column that is 0 for most nodes and never below, as a flag or a count of words is, keeps its
 * zeros: it is divided by the root mean square of its other numbers, which of a flag is 1. Any other
 * column gets the mean 0 and the deviation 1.
 *
 * A few numbers far from all others make a deviation by which these others are all alike: incomes,
 * counts of visits, prices with one that was mistyped. So of a column with such tails the logarithm
 * is taken before (features.h). It has them where the deviation is above TAIL times the distance
 * between the quartiles: 0.74 times of a normal distribution, 0.91 of an exponential one, 1.5 of a
 * lognormal one whose logarithm has the deviation 1. Of a column that is mostly 0 this is asked of
 * its other numbers. Quartiles are those of some rows, deviations those of all that are read.
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

/* Tails: the deviation in distances between the quartiles, and the fewest numbers by which it is
 * asked. */
#define TAIL 1.25
#define TAIL_NUMBERS_LEAST 32u
/* Numbers that spread over their own size are taken by their ratios, from the one on that so many of
 * the positive ones are below. */
#define RATIO 2
#define SMALLEST_SHARE 20
/* Rows whose quartiles are looked at, and the numbers that are kept for that; below so many rows they
 * would say little, and of rows so wide there are none but bags of words. */
#define SAMPLE_ROWS 4096u
#define SAMPLE_NUMBERS (UINT64_C(1) << 22)
#define SAMPLE_ROWS_LEAST 512u

struct column {
    double first;        /* the column's first number: sums of differences from it lose no digits */
    double sum, squares; /* of the differences */
    double others_sum, others_squares; /* of the numbers themselves */
    uint64_t count, others;            /* finite numbers; those that are not 0 */
    float centre, unit;                /* of the logarithm; unit 0: none is taken */
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
    column->others_sum += value;
    column->others_squares += value * value;
    column->others += value != 0;
}

/* Are most numbers of the column 0? */
static bool column_is_sparse(const struct column *column)
{
    return 2 * column->others < column->count;
}

static double square_root(double square)
{
    return square > 0 ? sqrt(square) : 0;
}

/* Of the numbers that are not 0 where these are few, else of all. */
static double column_deviation(const struct column *column)
{
    double count = (double)column->count, others = (double)column->others;
    if (column_is_sparse(column))
        return column->others == 0
                   ? 0
                   : square_root(column->others_squares / others -
                                 column->others_sum / others * (column->others_sum / others));
    return count == 0
               ? 0
               : square_root(column->squares / count - column->sum / count * (column->sum / count));
}

static int compare_numbers(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Leaves finite numbers, without zeros where the column is sparse, from the smallest on. */
static size_t column_sort(const struct column *column, float *numbers, size_t count)
{
    bool sparse = column_is_sparse(column);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(numbers[i]) && !(sparse && numbers[i] == 0))
            numbers[kept++] = numbers[i];
    qsort(numbers, kept, sizeof *numbers, compare_numbers);
    return kept;
}

static float smallest_positive(const float *sorted, size_t count)
{
    size_t first = 0;
    while (first < count && sorted[first] <= 0)
        first++;
    return sorted[first + (count - first) / SMALLEST_SHARE];
}

/* Does the column have tails? Then its centre and unit are set. numbers: some of it. */
static bool column_find_tails(struct column *column, float *numbers, size_t count)
{
    bool sparse = column_is_sparse(column);
    count = column_sort(column, numbers, count);
    if (count < TAIL_NUMBERS_LEAST)
        return false;
    float low = numbers[count / 4], middle = numbers[count / 2], high = numbers[count * 3 / 4];
    float unit, centre = 0, apart = high - low;
    if (!(apart > 0) || !(column_deviation(column) > TAIL * (double)apart))
        return false;
    if (numbers[0] >= 0 && sparse) {
        unit = middle;
    } else if (numbers[0] >= 0 && high >= RATIO * low) {
        unit = smallest_positive(numbers, count);
    } else if (sparse) {
        unit = (fabsf(low) + fabsf(high)) / 2;
    } else {
        unit = apart / 2;
        centre = middle;
    }
    if (!((double)unit > DEVIATION_LEAST) || !isfinite(unit))
        return false;
    column->centre = centre;
    column->unit = unit;
    return true;
}

/* Keeps the logarithm, and forgets what was added. */
static void column_begin_again(struct column *column)
{
    *column = (struct column){ .centre = column->centre, .unit = column->unit };
}

static void column_settle(const struct column *column, float *mean, float *factor)
{
    *mean = 0;
    *factor = 1;
    if (column->count == 0)
        return;
    double spread;
    if (column_is_sparse(column)) {
        spread = column->others == 0 ? 1 : sqrt(column->others_squares / (double)column->others);
        if (spread <= SPARSE_FACTOR && spread * SPARSE_FACTOR >= 1)
            spread = 1;
    } else {
        double middle = column->first + column->sum / (double)column->count;
        spread = column_deviation(column);
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
    float *sample;  /* [width][sample_most], of each row_step-th row; NULL: none is taken */
    size_t sample_most, sampled;
    uint64_t row_step, row;
};

/* Every row_step-th row, as long as there is room. */
static void columns_sample_row(struct columns_reader *reader, const float *row)
{
    if (reader->sample == NULL || reader->row++ % reader->row_step != 0 ||
        reader->sampled == reader->sample_most)
        return;
    for (size_t i = 0; i < reader->info.width; i++)
        reader->sample[i * reader->sample_most + reader->sampled] = row[i];
    reader->sampled++;
}

static void columns_add_row(struct columns_reader *reader, const float *row)
{
    columns_sample_row(reader, row);
    for (size_t i = 0; i < reader->info.width; i++) {
        struct column *column = &reader->columns[i];
        float value = column->unit == 0 ? row[i]
                                        : features_logarithm(row[i], column->centre, column->unit);
        column_add(column, (double)value);
    }
}

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
        for (size_t row = 0; row < rows; row++)
            columns_add_row(reader, reader->values + row * width);
    }
    return rv;
}

/* How many rows are read, of at most so many. */
static uint64_t columns_rows(const struct columns_reader *reader, uint64_t most)
{
    uint64_t nodes = tr_nodes_count(reader->nodes);
    uint64_t rows = NUMBERS_MOST / reader->info.width;
    rows = rows < ROWS_LEAST ? ROWS_LEAST : rows;
    rows = rows < most ? rows : most;
    return nodes < rows ? nodes : rows;
}

/* All rows of a small graph, of a large one pieces of equal length. */
static int columns_read_all(struct columns_reader *reader, uint64_t most, struct error *error)
{
    uint64_t nodes = tr_nodes_count(reader->nodes), rows = columns_rows(reader, most);
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

static int columns_open_sample(struct columns_reader *reader, uint64_t rows_most,
                               struct error *error)
{
    uint64_t rows = columns_rows(reader, rows_most), most = SAMPLE_NUMBERS / reader->info.width;
    most = most < SAMPLE_ROWS ? most : SAMPLE_ROWS;
    if (most < SAMPLE_ROWS_LEAST)
        return 0;
    reader->sample_most = (size_t)most;
    reader->row_step = rows <= most ? 1 : (rows + most - 1) / most;
    reader->sample = malloc(reader->info.width * (size_t)most * sizeof *reader->sample);
    return reader->sample != NULL ? 0
                                  : error_set(error, TR_ENOMEM,
                                              "no memory to measure %llu columns "
                                              "of features",
                                              (unsigned long long)reader->info.width);
}

/* Whether any column has tails; those that have begin again. */
static bool columns_find_tails(struct columns_reader *reader)
{
    bool any = false;
    for (size_t i = 0; reader->sample != NULL && i < reader->info.width; i++)
        any |= column_find_tails(&reader->columns[i], reader->sample + i * reader->sample_most,
                                 reader->sampled);
    for (size_t i = 0; any && i < reader->info.width; i++)
        column_begin_again(&reader->columns[i]);
    free(reader->sample);
    reader->sample = NULL;
    return any;
}

static void columns_close(struct columns_reader *reader)
{
    tr_nodes_close(reader->nodes);
    free(reader->columns);
    free(reader->ids);
    free(reader->bytes);
    free(reader->values);
    free(reader->sample);
}

int run_job_measure_columns(struct run_job *job, uint32_t rows_most, bool logarithms,
                            float *columns, struct error *error)
{
    struct columns_reader reader = { .job = job, .info = TR_FEATURE_INFO_INIT };
    uint32_t width = job->config->model.inputs;
    int rv = columns_open(&reader, error);
    if (rv == 0 && width > 0 && logarithms)
        rv = columns_open_sample(&reader, rows_most, error);
    if (rv == 0 && width > 0)
        rv = columns_read_all(&reader, rows_most, error);
    if (rv == 0 && columns_find_tails(&reader))
        rv = columns_read_all(&reader, rows_most, error);
    for (uint32_t i = 0; rv == 0 && i < width; i++) {
        column_settle(&reader.columns[i], &columns[i], &columns[width + i]);
        columns[2 * (size_t)width + i] = reader.columns[i].centre;
        columns[3 * (size_t)width + i] = reader.columns[i].unit;
    }
    columns_close(&reader);
    return rv;
}

int run_job_standardise(struct run_job *job, bool *needed, struct error *error)
{
    struct run_config *config = job->config;
    size_t width = config->model.inputs;
    bool logarithms = config->model.logarithms || config->choose_logarithms, any = false;
    *needed = false;
    if (job->columns == NULL)
        job->columns = calloc(4 * width + 1, sizeof *job->columns);
    if (job->columns == NULL)
        return error_set(error, TR_ENOMEM, "no memory for the means of %zu columns", width);
    int rv = run_job_measure_columns(job, RUN_COLUMNS_ROWS, logarithms, job->columns, error);
    for (size_t i = 0; i < width; i++) {
        *needed = *needed || job->columns[i] != 0.0f || job->columns[width + i] != 1.0f;
        any = any || job->columns[3 * width + i] != 0.0f;
    }
    *needed = *needed || any;
    if (config->choose_logarithms)
        config->model.logarithms = any;
    return rv;
}
