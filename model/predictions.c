/* SPDX-License-Identifier: Apache-2.0 */
#include "model/predictions.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/scores.h"

#define BUFFER_BYTES ((size_t)1 << 16)
/* The longest piece that is formatted at once: two numbers and the keys around them. */
#define PIECE_MAX 128u

struct prediction_lines {
    struct file file;
    enum predictions_format format;
    const struct tensor *outputs;
    struct name_reader *names; /* NULL: none */
    char *buffer;
    size_t used;
    int rv; /* the first failure; nothing is written behind it */
    struct error *error;
};

static bool name_ends(const char *path, const char *suffix)
{
    size_t length = strlen(path), end = strlen(suffix);
    return length > end && strcmp(path + length - end, suffix) == 0;
}

bool predictions_find_format(const char *path, enum predictions_format *format)
{
    *format = name_ends(path, ".csv") ? PREDICTIONS_CSV : PREDICTIONS_JSONL;
    return *format == PREDICTIONS_CSV || name_ends(path, ".jsonl");
}

static void flush_lines(struct prediction_lines *lines)
{
    if (lines->rv == 0)
        lines->rv = file_append(&lines->file, lines->buffer, lines->used, lines->error);
    lines->used = 0;
}

static __attribute__((format(printf, 2, 3))) void put(struct prediction_lines *lines,
                                                      const char *format, ...)
{
    va_list args;
    if (BUFFER_BYTES - lines->used < PIECE_MAX)
        flush_lines(lines);
    va_start(args, format);
    lines->used += (size_t)vsnprintf(lines->buffer + lines->used, PIECE_MAX, format, args);
    va_end(args);
}

/* Printed as two whole numbers: a locale may have a comma between them. */
static void put_probability(struct prediction_lines *lines, double probability)
{
    if (!isfinite(probability)) {
        put(lines, "%s", lines->format == PREDICTIONS_CSV ? "" : "null");
        return;
    }
    uint64_t millionths = (uint64_t)(probability * 1e6 + 0.5);
    put(lines, "%" PRIu64 ".%06" PRIu64, millionths / 1000000, millionths % 1000000);
}

static void put_bytes(struct prediction_lines *lines, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (lines->used == BUFFER_BYTES)
            flush_lines(lines);
        lines->buffer[lines->used++] = bytes[i];
    }
}

/* The program's own words before a text are part of its field. */
static void put_csv_text(struct prediction_lines *lines, const char *own, const char *text,
                         size_t length)
{
    bool quote = length == 0 || text[0] == ' ' || text[length - 1] == ' ';
    for (size_t i = 0; i < length; i++)
        quote = quote || strchr(",;\"\r\n\t", text[i]) != NULL;
    put(lines, "%s%s", quote ? "\"" : "", own);
    if (!quote) {
        put_bytes(lines, text, length);
        return;
    }
    for (size_t i = 0; i < length; i++)
        put_bytes(lines, text[i] == '"' ? "\"\"" : &text[i], text[i] == '"' ? 2 : 1);
    put(lines, "\"");
}

static void put_json_text(struct prediction_lines *lines, const char *text, size_t length)
{
    put(lines, "\"");
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < 0x20) {
            put(lines, "\\u%04x", (unsigned)text[i]);
            continue;
        }
        if (text[i] == '"' || text[i] == '\\')
            put_bytes(lines, "\\", 1);
        put_bytes(lines, &text[i], 1);
    }
    put(lines, "\"");
}

/* The name of a number where there is one, or else the number, counted from `first`; own: before it,
 * in CSV. */
static void put_name(struct prediction_lines *lines, const char *own, struct name_piece *piece,
                     uint64_t number, uint64_t first)
{
    const char *text;
    size_t length;
    int rv = 0;
    bool named = piece != NULL && name_reader_find(lines->names, piece, number, &text, &length, &rv,
                                                   lines->rv == 0 ? lines->error : NULL);
    if (rv != 0 && lines->rv == 0)
        lines->rv = rv;
    if (!named)
        put(lines, "%s%" PRIu64, own, first + number);
    else if (lines->format == PREDICTIONS_CSV)
        put_csv_text(lines, own, text, length);
    else
        put_json_text(lines, text, length);
}

static void put_node(struct prediction_lines *lines, size_t node)
{
    if (lines->names != NULL)
        put_name(lines, "", &lines->names->nodes, node, lines->names->first_id);
    else
        put_name(lines, "", NULL, node, 0);
}

static void put_class(struct prediction_lines *lines, const char *own, size_t class)
{
    put_name(lines, own, lines->names != NULL ? &lines->names->classes : NULL, class, 0);
}

/* The class's share of the exponentials; none overflows, since it is the largest. */
static double softmax_share(const float *z, size_t classes, size_t class)
{
    double total = 0;
    for (size_t c = 0; c < classes; c++)
        total += exp((double)z[c] - (double)z[class]);
    return 1 / total;
}

static double sigmoid_share(float z)
{
    return 1 / (1 + exp(-(double)z));
}

static void put_one_class(struct prediction_lines *lines, size_t node)
{
    const float *z = tensor_row(lines->outputs, node);
    size_t classes = lines->outputs->cols, best = scores_largest(z, classes);
    bool csv = lines->format == PREDICTIONS_CSV;
    put(lines, "%s", csv ? "" : "{\"node\":");
    put_node(lines, node);
    put(lines, "%s", csv ? "," : ",\"class\":");
    put_class(lines, "", best);
    put(lines, "%s", csv ? "," : ",\"probability\":");
    put_probability(lines, softmax_share(z, classes, best));
    put(lines, "%s", csv ? "\n" : "}\n");
}

static void put_many_csv(struct prediction_lines *lines, size_t node)
{
    const float *z = tensor_row(lines->outputs, node);
    put_node(lines, node);
    for (size_t c = 0; c < lines->outputs->cols; c++) {
        put(lines, ",");
        put_probability(lines, sigmoid_share(z[c]));
    }
    put(lines, "\n");
}

static void put_many_jsonl(struct prediction_lines *lines, size_t node)
{
    const float *z = tensor_row(lines->outputs, node);
    size_t chosen = 0;
    put(lines, "{\"node\":");
    put_node(lines, node);
    put(lines, ",\"classes\":[");
    for (size_t c = 0; c < lines->outputs->cols; c++) {
        if (z[c] <= 0)
            continue;
        put(lines, "%s", chosen++ > 0 ? "," : "");
        put_class(lines, "", c);
    }
    put(lines, "],\"probabilities\":[");
    for (size_t c = 0; c < lines->outputs->cols; c++) {
        put(lines, "%s", c > 0 ? "," : "");
        put_probability(lines, sigmoid_share(z[c]));
    }
    put(lines, "]}\n");
}

static void put_header(struct prediction_lines *lines, enum model_loss loss)
{
    if (loss == MODEL_SOFTMAX) {
        put(lines, "node,class,probability\n");
        return;
    }
    put(lines, "node");
    for (size_t c = 0; c < lines->outputs->cols; c++) {
        put(lines, ",");
        put_class(lines, "probability_", c);
    }
    put(lines, "\n");
}

int predictions_write(struct files *files, const char *path, enum predictions_format format,
                      enum model_loss loss, const struct tensor *outputs, struct name_reader *names,
                      struct error *error)
{
    struct prediction_lines lines = {
        .format = format, .outputs = outputs, .names = names, .error = error
    };
    lines.buffer = malloc(BUFFER_BYTES);
    if (lines.buffer == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to write it", path);
    lines.rv = file_create(&lines.file, files, path, error);
    bool created = lines.rv == 0;
    if (format == PREDICTIONS_CSV)
        put_header(&lines, loss);
    for (size_t node = 0; lines.rv == 0 && node < outputs->rows; node++) {
        if (loss == MODEL_SOFTMAX)
            put_one_class(&lines, node);
        else if (format == PREDICTIONS_CSV)
            put_many_csv(&lines, node);
        else
            put_many_jsonl(&lines, node);
    }
    flush_lines(&lines);
    if (created)
        file_close(&lines.file);
    free(lines.buffer);
    return lines.rv;
}
