/* SPDX-License-Identifier: Apache-2.0 */
#include "model/report/class_scores.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/regular_file.h"

static uint64_t class_count(const json_t *value)
{
    json_int_t count = json_integer_value(value);
    return count < 0 ? 0 : (uint64_t)count;
}

static double class_ratio(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static int take_cells(struct class_row *row, const json_t *cells, const char *path,
                      struct tr_error *error)
{
    size_t count = json_array_size(cells);
    row->cells = calloc(count + 1, sizeof *row->cells);
    if (row->cells == NULL)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory for its classes", path);
    for (; row->num_cells < count; row->num_cells++) {
        const json_t *cell = json_array_get(cells, row->num_cells);
        if (json_array_size(cell) != 2)
            return tr_error_set(error, TR_EFORMAT, "%s: \"taken_for\" has no pairs of numbers",
                                path);
        row->cells[row->num_cells].class = class_count(json_array_get(cell, 0));
        row->cells[row->num_cells].nodes = class_count(json_array_get(cell, 1));
    }
    return 0;
}

static int take_rows(struct class_scores *scores, const json_t *root, const char *path,
                     struct tr_error *error)
{
    const json_t *classes = json_object_get(root, "classes");
    size_t count = json_array_size(classes);
    const char *run = json_string_value(json_object_get(root, "run"));
    const char *inference = json_string_value(json_object_get(root, "inference"));
    int rv = 0;
    if (count == 0)
        return tr_error_set(error, TR_EFORMAT,
                            "%s has no classes: troupe infer --by-class --json writes such a file",
                            path);
    scores->run = strdup(run != NULL ? run : path);
    scores->inference = strdup(inference != NULL ? inference : "");
    scores->rows = calloc(count, sizeof *scores->rows);
    if (scores->run == NULL || scores->inference == NULL || scores->rows == NULL)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory for its classes", path);
    while (scores->num_rows < count && rv == 0) {
        const json_t *from = json_array_get(classes, scores->num_rows);
        struct class_row *row = &scores->rows[scores->num_rows++];
        const char *name = json_string_value(json_object_get(from, "name"));
        row->name = name != NULL && name[0] != '\0' ? strdup(name) : NULL;
        if (name != NULL && name[0] != '\0' && row->name == NULL)
            return tr_error_set(error, TR_ENOMEM, "%s: no memory for its classes", path);
        row->class = class_count(json_object_get(from, "class"));
        row->labelled = class_count(json_object_get(from, "labelled"));
        row->predicted = class_count(json_object_get(from, "predicted"));
        row->precision = class_ratio(from, "precision");
        row->recall = class_ratio(from, "recall");
        row->f1 = class_ratio(from, "f1");
        rv = take_cells(row, json_object_get(from, "taken_for"), path, error);
    }
    return rv;
}

int class_scores_read(struct class_scores *scores, const char *path, struct tr_error *error)
{
    json_error_t why;
    json_t *root = NULL;
    FILE *file;
    *scores = (struct class_scores){ 0 };
    int rv = regular_file_open(path, &file, error);
    if (rv != 0)
        return rv;
    /* The length comes first: a file is parsed whole, in several times its size of memory. */
    if (fseeko(file, 0, SEEK_END) != 0 || ftello(file) < 0) {
        rv = tr_error_set(error, TR_EIO, "%s: %s", path, strerror(errno));
    } else if ((uint64_t)ftello(file) > CLASS_FILE_BYTES_MAX) {
        rv = tr_error_set(error, TR_ETOOBIG, "%s: larger than what troupe infer --by-class writes",
                          path);
    } else {
        rewind(file);
        root = json_loadf(file, 0, &why);
        rv = json_is_object(root)
                 ? take_rows(scores, root, path, error)
                 : tr_error_set(error, TR_EFORMAT,
                                "%s: not what troupe infer --by-class --json writes", path);
    }
    json_decref(root);
    fclose(file);
    if (rv != 0)
        class_scores_free(scores);
    return rv;
}

void class_scores_free(struct class_scores *scores)
{
    for (size_t i = 0; i < scores->num_rows; i++) {
        free(scores->rows[i].name);
        free(scores->rows[i].cells);
    }
    free(scores->rows);
    free(scores->run);
    free(scores->inference);
    *scores = (struct class_scores){ 0 };
}
