/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrix Market coordinate files (https://math.nist.gov/MatrixMarket/formats.html): entry (i, j) is
 * an edge from node i - 1 to node j - 1; of a symmetric matrix each entry off the diagonal is
 * followed by its reverse. Values become edge feature "weight" (float32).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "partition/raw/raw_memory.h"
#include "partition/raw/text.h"

struct matrix {
    bool values;
    bool symmetric;
    bool skew;
    uint64_t size;    /* rows and columns */
    uint64_t entries; /* lines */
    float *weights;
    struct pairs pairs;
};

static int parse_banner(struct text *text, struct matrix *matrix)
{
    char words[5][TEXT_TOKEN_MAX];
    for (int i = 0; i < 5; i++) {
        text_skip_blanks(text);
        int rv = text_word(text, words[i]);
        if (rv != 0)
            return rv;
    }
    if (strcmp(words[0], "%%matrixmarket") != 0 || strcmp(words[1], "matrix") != 0)
        return text_fail(text, TR_EFORMAT, "'%%%%MatrixMarket matrix ...' is needed, not '%s %s'",
                         words[0], words[1]);
    if (strcmp(words[2], "coordinate") != 0)
        return text_fail(text, TR_EUNSUPPORTED, "'%s' is not read; write a coordinate matrix",
                         words[2]);
    matrix->values = strcmp(words[3], "pattern") != 0;
    if (matrix->values && strcmp(words[3], "real") != 0 && strcmp(words[3], "integer") != 0 &&
        strcmp(words[3], "double") != 0)
        return text_fail(text, TR_EUNSUPPORTED, "values of '%s'; pattern, real or integer are read",
                         words[3]);
    matrix->skew = strcmp(words[4], "skew-symmetric") == 0;
    matrix->symmetric = matrix->skew || strcmp(words[4], "symmetric") == 0;
    if (!matrix->symmetric && strcmp(words[4], "general") != 0)
        return text_fail(text, TR_EUNSUPPORTED, "symmetry '%s'; general or symmetric are read",
                         words[4]);
    return text_end_line(text);
}

static int parse_sizes(struct text *text, struct matrix *matrix)
{
    static const char *const what[] = { "the number of rows", "the number of columns",
                                        "the number of entries" };
    uint64_t sizes[3];
    text_skip_comments(text, false);
    for (int i = 0; i < 3; i++) {
        text_skip_blanks(text);
        int rv = text_number(text, RAW_NODES_MAX, what[i], &sizes[i]);
        if (rv != 0)
            return rv;
    }
    if (sizes[0] != sizes[1])
        return text_fail(text, TR_EUNSUPPORTED,
                         "a matrix of %" PRIu64 " x %" PRIu64 "; a graph needs a square one",
                         sizes[0], sizes[1]);
    matrix->size = sizes[0];
    matrix->entries = sizes[2];
    /* An entry needs 4 bytes of text at least: a lying count costs no memory. */
    if (!text->packed && matrix->entries > text->file.size / 4)
        return text_fail(text, TR_EFORMAT,
                         "%" PRIu64 " entries do not fit the %" PRIu64
                         " bytes of the file; it is truncated",
                         matrix->entries, text->file.size);
    return text_end_line(text);
}

/* Room for the weights of the pairs there are and one entry more. */
static int keep_weight(struct text *text, struct matrix *matrix, size_t *room, float weight,
                       uint64_t from)
{
    if (matrix->pairs.count > *room) {
        size_t wanted = 2 * (size_t)matrix->pairs.count + 1024;
        float *grown = realloc(matrix->weights, wanted * sizeof *grown);
        if (grown == NULL)
            return text_fail(text, TR_ENOMEM, "no memory for the weights");
        matrix->weights = grown;
        *room = wanted;
    }
    matrix->weights[from] = weight;
    if (matrix->pairs.count > from + 1)
        matrix->weights[from + 1] = matrix->skew ? -weight : weight;
    return 0;
}

static int parse_entry(struct text *text, struct matrix *matrix, size_t *room)
{
    uint64_t row, column, from = matrix->pairs.count;
    double value = 0;
    int rv = text_number(text, matrix->size + 1, "the row", &row);
    text_skip_blanks(text);
    if (rv == 0)
        rv = text_number(text, matrix->size + 1, "the column", &column);
    if (rv == 0 && (row == 0 || column == 0))
        rv = text_fail(text, TR_ERANGE, "row or column 0; Matrix Market numbers from 1");
    if (rv == 0 && matrix->values) {
        text_skip_blanks(text);
        rv = text_float(text, &value);
    }
    if (rv == 0)
        rv = text_end_line(text);
    if (rv != 0)
        return rv;
    rv = pairs_add(&matrix->pairs, row - 1, column - 1);
    if (rv == 0 && matrix->symmetric && row != column)
        rv = pairs_add(&matrix->pairs, column - 1, row - 1);
    if (rv != 0)
        return text_fail(text, rv, "no memory for %" PRIu64 " edges", matrix->pairs.count);
    return matrix->values ? keep_weight(text, matrix, room, (float)value, from) : 0;
}

static int parse_matrix(struct text *text, struct matrix *matrix)
{
    size_t room = 0;
    int rv = parse_banner(text, matrix);
    if (rv == 0)
        rv = parse_sizes(text, matrix);
    for (uint64_t i = 0; rv == 0 && i < matrix->entries; i++) {
        text_skip_comments(text, false);
        if (text_peek(text) == TEXT_END)
            return text_fail(text, TR_EFORMAT,
                             "ends after %" PRIu64 " of %" PRIu64 " entries; it is truncated", i,
                             matrix->entries);
        rv = parse_entry(text, matrix, &room);
    }
    if (rv != 0)
        return rv;
    text_skip_comments(text, false);
    if (text_peek(text) != TEXT_END)
        return text_fail(text, TR_EFORMAT, "more than the %" PRIu64 " entries that the sizes say",
                         matrix->entries);
    return text->rv;
}

int raw_open_mtx(const char *path, const struct raw_options *options, struct raw_graph **out,
                 struct error *error)
{
    struct matrix matrix = { 0 };
    struct raw_graph *graph = NULL;
    struct text text;
    int rv = text_open(&text, options->files, path, options->cancel, error);
    if (rv != 0)
        return rv;
    rv = parse_matrix(&text, &matrix);
    text_close(&text);
    if (rv != 0)
        goto out;
    rv = raw_memory_graph(path, &matrix.pairs, matrix.size, &graph, error);
    if (rv == 0 && matrix.values) {
        rv = raw_memory_table(graph, "weight", true, TR_F32, 0, matrix.weights, error);
        matrix.weights = NULL;
    }
    if (rv == 0) {
        graph->first_id = 1;
        *out = graph;
    } else
        raw_close(graph);
out:
    free(matrix.weights);
    pairs_fini(&matrix.pairs);
    return rv;
}
