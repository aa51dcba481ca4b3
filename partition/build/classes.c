/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/build/classes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_ROWS ((uint64_t)1 << 16) /* read at a time */

/* The two sources of a class: the class before this table, and its value. */
struct split {
    uint8_t before;
    int64_t value;
    uint8_t after;
};

struct splits {
    uint32_t count;
    struct split list[PARTITION_CLASSES_MAX];
};

static int check_table(const struct raw_table *table, struct error *error)
{
    bool whole = table->dtype == TR_BOOL || table->dtype == TR_U8 || table->dtype == TR_I8 ||
                 table->dtype == TR_I16 || table->dtype == TR_I32 || table->dtype == TR_I64;
    if (whole && table->width == 1)
        return 0;
    return error_set(error, TR_EUNSUPPORTED,
                     "table '%s' is %s with %" PRIu64
                     " values a node; a table to balance by has one bool or integer a node",
                     table->name, tr_dtype_name(table->dtype), table->width);
}

/* The class of a class and a value; a new one if this pair is new. */
static int split_class(struct splits *splits, uint32_t *num_classes, uint8_t before, int64_t value,
                       uint8_t *after, const char *name, struct error *error)
{
    bool first = true;
    for (uint32_t i = 0; i < splits->count; i++) {
        const struct split *split = &splits->list[i];
        if (split->before != before)
            continue;
        first = false;
        if (split->value == value) {
            *after = split->after;
            return 0;
        }
    }
    if (splits->count == PARTITION_CLASSES_MAX || (!first && *num_classes == PARTITION_CLASSES_MAX))
        return error_set(
            error, TR_ETOOBIG,
            "table '%s' has more than %d different values to balance by; give a mask instead", name,
            PARTITION_CLASSES_MAX);
    /* The first value that a class meets keeps its number. */
    *after = first ? before : (uint8_t)(*num_classes)++;
    splits->list[splits->count++] = (struct split){ before, value, *after };
    return 0;
}

static int apply_table(struct classes *classes, struct partition_job *job, uint32_t index,
                       struct error *error)
{
    const struct raw_table *table = &job->raw->tables[index];
    uint8_t *of = classes->of[table->type];
    struct splits splits = { 0 };
    void *rows = malloc(BLOCK_ROWS * sizeof(int64_t));
    int rv = rows == NULL ? job_no_memory(error, "classes", 0) : check_table(table, error);
    for (uint64_t begin = 0; begin < table->num_rows && rv == 0; begin += BLOCK_ROWS) {
        uint64_t left = table->num_rows - begin, count = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        rv = raw_read_rows(job->raw, index, begin, count, rows, error);
        for (uint64_t i = 0; i < count && rv == 0; i++)
            rv = split_class(&splits, &classes->num_classes, of[begin + i],
                             raw_whole(table->dtype, rows, i), &of[begin + i], table->name, error);
    }
    free(rows);
    return rv;
}

static int apply_name(struct classes *classes, struct partition_job *job, const char *name,
                      struct error *error)
{
    const struct raw_graph *raw = job->raw;
    bool found = false;
    int rv = 0;
    for (uint32_t i = 0; i < raw->num_tables && rv == 0; i++) {
        if (raw->tables[i].on_edges || strcmp(raw->tables[i].name, name) != 0)
            continue;
        found = true;
        rv = apply_table(classes, job, i, error);
    }
    if (rv == 0 && !found)
        rv = error_set(error, TR_ENOENT, "no node type has a table '%s' to balance by", name);
    return rv;
}

int classes_init(struct classes *classes, struct partition_job *job, const char *const *tables,
                 uint32_t num_tables, struct error *error)
{
    const struct raw_graph *raw = job->raw;
    *classes = (struct classes){ .num_ntypes = raw->types.num_ntypes };
    if (num_tables == 0)
        return 0;
    if (raw->types.num_ntypes > PARTITION_CLASSES_MAX)
        return error_set(error, TR_ETOOBIG,
                         "the graph has %u node types; balancing takes at most %d",
                         raw->types.num_ntypes, PARTITION_CLASSES_MAX);
    classes->num_classes = raw->types.num_ntypes;
    classes->of = calloc(raw->types.num_ntypes + 1, sizeof *classes->of);
    int rv = classes->of == NULL ? job_no_memory(error, "classes", 0) : 0;
    for (uint32_t t = 0; t < raw->types.num_ntypes && rv == 0; t++) {
        classes->of[t] = malloc((size_t)raw->num_nodes[t] + 1);
        if (classes->of[t] == NULL)
            rv = job_no_memory(error, "classes", raw->num_nodes[t]);
        else
            memset(classes->of[t], (int)t, (size_t)raw->num_nodes[t]);
    }
    for (uint32_t i = 0; i < num_tables && rv == 0; i++)
        rv = apply_name(classes, job, tables[i], error);
    return rv;
}

void classes_fini(struct classes *classes)
{
    for (uint32_t t = 0; classes->of != NULL && t < classes->num_ntypes; t++)
        free(classes->of[t]);
    free(classes->of);
    *classes = (struct classes){ 0 };
}

int classes_balance(const struct classes *classes, const struct partition_job *job,
                    uint32_t *const *parts, double *balance)
{
    uint32_t num_parts = job->options->num_parts;
    if (classes->of == NULL)
        return 0;
    uint64_t *counts = calloc((size_t)classes->num_classes * num_parts + 1, sizeof *counts);
    if (counts == NULL)
        return TR_ENOMEM;
    for (uint32_t t = 0; t < classes->num_ntypes; t++) {
        for (uint64_t v = 0; v < job->raw->num_nodes[t]; v++)
            counts[(size_t)classes->of[t][v] * num_parts + parts[t][v]]++;
    }
    for (uint32_t c = 0; c < classes->num_classes; c++) {
        uint64_t largest = 0, total = 0;
        for (uint32_t p = 0; p < num_parts; p++) {
            uint64_t count = counts[(size_t)c * num_parts + p];
            largest = count > largest ? count : largest;
            total += count;
        }
        balance[c] = total == 0 ? 0 : (double)largest * num_parts / (double)total;
    }
    free(counts);
    return 0;
}
