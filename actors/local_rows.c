#include "actors/local_rows.h"

#include <inttypes.h>
#include <string.h>

/* Rows in flight: enough misses to keep the memory busy. */
#define PREFETCH_ROWS 16u
#define LINE_BYTES 64u
/* Of a wide row the first lines are fetched, the hardware follows by itself. */
#define PREFETCH_BYTES_MAX 512u

static int find_special(const struct graph_part *part, uint32_t ntype, uint32_t table,
                        struct local_table *out, struct error *error)
{
    const struct node_part *nodes = &part->nodes[ntype];
    size_t bytes = table == MSG_TABLE_ORIGINAL_ID ? sizeof(uint64_t) : sizeof(uint32_t);
    const void *rows = table == MSG_TABLE_ORIGINAL_ID ? (const void *)nodes->original_ids
                       : table == MSG_TABLE_IN_DEGREE ? nodes->in_degrees
                                                      : nodes->out_degrees;
    if (rows == NULL && nodes->num_nodes > 0)
        return error_set(error, TR_ENOENT, "partition %" PRIu32 ": the %s of node type %s are not "
                         "loaded", part->part_id,
                         table == MSG_TABLE_ORIGINAL_ID ? "original IDs" : "degrees",
                         part->types->ntypes[ntype]);
    *out = (struct local_table){ rows, nodes->num_nodes, bytes, 1, bytes };
    return 0;
}

int local_table_find(const struct graph_part *part, uint32_t ntype, uint32_t table,
                     struct local_table *out, struct error *error)
{
    if (ntype >= part->types->num_ntypes)
        return error_set(error, TR_ERANGE, "partition %" PRIu32 ": node type %" PRIu32
                         " asked for, the graph has %" PRIu32, part->part_id, ntype,
                         part->types->num_ntypes);
    if (table >= MSG_TABLE_ORIGINAL_ID)
        return find_special(part, ntype, table, out, error);
    const struct node_part *nodes = &part->nodes[ntype];
    if (table >= nodes->num_features)
        return error_set(error, TR_ERANGE, "partition %" PRIu32 ": table %" PRIu32
                         " of node type %s asked for, it has %" PRIu32, part->part_id, table,
                         part->types->ntypes[ntype], nodes->num_features);
    const struct feature_table *feature = &nodes->features[table];
    *out = (struct local_table){ feature->rows, feature->num_rows, feature->row_bytes,
                                 feature->width, tr_dtype_size(feature->dtype) };
    return 0;
}

int local_table_number(const struct graph_part *part, uint32_t ntype, const char *name)
{
    const struct node_part *nodes = &part->nodes[ntype];
    for (uint32_t i = 0; i < nodes->num_features; i++)
        if (strcmp(nodes->features[i].name, name) == 0)
            return (int)i;
    return -1;
}

int local_rows_check(const struct graph_part *part, const struct local_table *table,
                     const uint32_t *rows, uint64_t num_rows, struct error *error)
{
    uint32_t greatest = 0;
    for (uint64_t i = 0; i < num_rows; i++)
        greatest = rows[i] > greatest ? rows[i] : greatest;
    if (num_rows > 0 && greatest >= table->num_rows)
        return error_set(error, TR_ERANGE, "partition %" PRIu32 ": row %" PRIu32
                         " of a table asked for, it has %" PRIu64 " rows", part->part_id,
                         greatest, table->num_rows);
    return 0;
}

static void prefetch_row(const struct local_table *table, uint32_t row)
{
    const char *at = (const char *)table->rows + row * table->row_bytes;
    size_t bytes = table->row_bytes < PREFETCH_BYTES_MAX ? table->row_bytes : PREFETCH_BYTES_MAX;
    for (size_t i = 0; i < bytes; i += LINE_BYTES)
        __builtin_prefetch(at + i);
}

void local_rows_read(const struct local_table *table, const uint32_t *rows, uint64_t num_rows,
                     void *out)
{
    const char *from = table->rows;
    char *to = out;
    size_t bytes = table->row_bytes;
    if (bytes == 0)
        return;
    for (uint64_t i = 0; i < num_rows; i++) {
        if (i + PREFETCH_ROWS < num_rows)
            prefetch_row(table, rows[i + PREFETCH_ROWS]);
        memcpy(to + i * bytes, from + rows[i] * bytes, bytes);
    }
}
