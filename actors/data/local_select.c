/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/data/local_select.h"

#include <inttypes.h>
#include <string.h>

/* Rows looked at for one piece, 4 ms with two IDs written for each; a piece may be empty. */
#define SCAN_ROWS (UINT64_C(1) << 18)

static bool is_set(const struct local_mask *mask, uint64_t row)
{
    static const unsigned char zeroes[sizeof(uint64_t)];
    if (mask->table.rows == NULL)
        return true;
    size_t bytes = mask->table.row_bytes;
    return memcmp((const unsigned char *)mask->table.rows + row * bytes, zeroes, bytes) != 0;
}

int local_mask_find(const struct graph_part *part, uint32_t ntype, uint32_t table,
                    struct local_mask *mask, struct error *error)
{
    int rv = local_table_find(part, ntype, MSG_TABLE_ORIGINAL_ID, &mask->table, error);
    if (rv == 0 && table != MSG_MASK_ALL)
        rv = local_table_find(part, ntype, table, &mask->table, error);
    else
        mask->table.rows = NULL;
    if (rv != 0)
        return rv;
    mask->nodes = &part->nodes[ntype];
    if (mask->table.width != 1 || mask->table.row_bytes > sizeof(uint64_t))
        return error_set(error, TR_EINVAL,
                         "partition %" PRIu32 ": table %" PRIu32 " of node type "
                         "%s has %" PRIu64 " elements a row; a mask has one",
                         part->part_id, table, part->types->ntypes[ntype], mask->table.width);
    return 0;
}

uint64_t local_mask_scan(const struct local_mask *mask, uint64_t begin, uint64_t most,
                         uint32_t *count)
{
    uint64_t left = mask->table.num_rows - begin;
    uint64_t end = left < SCAN_ROWS ? mask->table.num_rows : begin + SCAN_ROWS;
    uint32_t found = 0;
    uint64_t row = begin;
    for (; row < end && found < most; row++)
        found += is_set(mask, row);
    *count = found;
    return row;
}

void local_mask_read(const struct local_mask *mask, uint64_t begin, uint64_t end,
                     uint64_t *global_ids, uint64_t *original_ids)
{
    for (uint64_t row = begin; row < end; row++)
        if (is_set(mask, row)) {
            *global_ids++ = mask->nodes->global_begin + row;
            *original_ids++ = mask->nodes->original_ids[row];
        }
}
