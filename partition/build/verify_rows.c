/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verification of what stands in rows: features byte by byte, and the trainers of nodes, which must
 * stand beside their partitions and have even shares of the training nodes.
 */
#include <stdlib.h>
#include <string.h>

#include "partition/build/assign.h"
#include "partition/build/train_mask.h"
#include "partition/build/verify_private.h"
#include "partition/store/part_files.h"

static const struct feature_table *find_table(const struct graph_part *part,
                                              const struct raw_table *table)
{
    return table->on_edges ? edge_part_feature(&part->edges[table->type], table->name)
                           : node_part_feature(&part->nodes[table->type], table->name);
}

/* One row of the input and the one that the directory has for it; widened has memory for one. */
static int check_row(struct verification *verification, const struct raw_table *table,
                     uint64_t global, const uint8_t *row, uint8_t *widened)
{
    const struct book *book = verification->book;
    uint32_t part = (uint32_t)(table->on_edges ? book_edge_owner(book, table->type, global)
                                               : book_node_owner(book, table->type, global));
    struct extent **extents = table->on_edges ? book->edge_extents : book->node_extents;
    uint64_t at = global - extents[table->type][part].begin;
    const struct feature_table *feature = find_table(verification->parts[part], table);
    const uint8_t *found = widened;
    if (feature->csr != NULL)
        csr_widen_row(feature->csr, at, widened);
    else
        found = (const uint8_t *)feature->rows + at * feature->row_bytes;
    if (memcmp(found, row, table->row_bytes) == 0)
        return 0;
    size_t byte = 0;
    while (found[byte] == row[byte])
        byte++;
    char *name = feature->csr != NULL
                     ? part_file_csr(&book->types, table->type, table->name, PART_CSR_COLUMNS)
                     : part_file_feature(&book->types, table->on_edges, table->type, table->name);
    return verify_differs(verification, part, name, "a byte of row", at, found[byte], row[byte]);
}

int verify_rows(struct verification *verification, uint32_t index, const uint64_t *positions)
{
    const struct raw_table *table = &verification->raw->tables[index];
    uint64_t step = table->row_bytes == 0 ? 0 : JOB_BLOCK_BYTES / table->row_bytes;
    step = step == 0 ? 1 : step;
    if (table->row_bytes == 0)
        return 0; /* shapes were compared */
    uint8_t *block = malloc((size_t)(step + 1) * table->row_bytes);
    uint8_t *widened = block == NULL ? NULL : block + (size_t)step * table->row_bytes;
    int rv = block == NULL ? job_no_memory(verification->error, "a block of rows", 0) : 0;
    for (uint64_t begin = 0; begin < table->num_rows && rv == 0; begin += step) {
        uint64_t left = table->num_rows - begin, count = left < step ? left : step;
        rv = job_step(&verification->job, table->name, begin, table->num_rows, verification->error);
        if (rv == 0)
            rv = raw_read_rows(verification->raw, index, begin, count, block, verification->error);
        for (uint64_t i = 0; i < count && rv == 0; i++) {
            uint64_t global = positions != NULL ? positions[begin + i]
                                                : verification->global[table->type][begin + i];
            rv = check_row(verification, table, global, block + i * table->row_bytes, widened);
        }
    }
    verification->report->num_rows += table->num_rows;
    free(block);
    return rv;
}

/* The trainer of a node stands beside its partition; the deal names trainers for training nodes,
 * evenly. */
static int check_trainers(struct verification *verification, uint32_t ntype, const int32_t *deal,
                          const uint8_t *mask, uint64_t *counts)
{
    const struct book *book = verification->book;
    uint32_t num_trainers = store_book_file(verification->store)->num_trainers;
    for (uint64_t v = 0; v < book->num_nodes[ntype]; v++) {
        uint64_t global = verification->global[ntype][v];
        uint32_t part = (uint32_t)book_node_owner(book, ntype, global);
        const struct node_part *nodes = &verification->parts[part]->nodes[ntype];
        const struct feature_table *ids = node_part_feature(nodes, PARTITION_TRAINER_ID);
        uint64_t row = global - nodes->global_begin;
        uint32_t trainer = ((const uint32_t *)ids->rows)[row];
        struct trainer_range beside = assign_part_trainers(part, book->num_parts, num_trainers);
        if (trainer < beside.first || trainer > beside.last)
            return verify_differs(
                verification, part,
                part_file_feature(&book->types, false, ntype, PARTITION_TRAINER_ID),
                "the trainer (beside the partition) of row", row, trainer, beside.first);
        if ((mask[v] != 0 ? deal[v] < 0 : deal[v] != -1) || deal[v] >= (int64_t)num_trainers)
            return verify_differs(verification, UINT32_MAX, part_file_deal(&book->types, ntype),
                                  "whether a trainer has node", v, deal[v] >= 0, mask[v] != 0);
        if (deal[v] >= 0)
            counts[deal[v]]++;
    }
    uint64_t total = 0;
    for (uint32_t t = 0; t < num_trainers; t++)
        total += counts[t];
    for (uint32_t t = 0; t < num_trainers; t++) {
        uint64_t share = total / num_trainers + (t < total % num_trainers);
        if (counts[t] != share)
            return verify_differs(verification, UINT32_MAX, part_file_deal(&book->types, ntype),
                                  "the number of nodes of trainer", t, counts[t], share);
    }
    return 0;
}

int verify_trainers(struct verification *verification, uint32_t ntype)
{
    const struct book_file *file = store_book_file(verification->store);
    int32_t *deal = NULL;
    uint8_t *mask = NULL;
    if (file->num_trainers == 0)
        return 0;
    uint64_t *counts = calloc(file->num_trainers, sizeof *counts);
    int rv = counts == NULL
                 ? job_no_memory(verification->error, "the deal", 0)
                 : store_read_deal(verification->store, ntype, &deal, verification->error);
    if (rv == 0)
        rv = train_mask_read(&verification->job, ntype, &mask, verification->error);
    if (rv == 0)
        rv = check_trainers(verification, ntype, deal, mask, counts);
    free(mask);
    free(deal);
    free(counts);
    return rv;
}
