/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/build/train_mask.h"

#include <stdlib.h>
#include <string.h>

static bool is_mask(const struct partition_job *job, const struct raw_table *table, uint32_t ntype)
{
    const char *name = job->options->train_mask;
    name = name != NULL ? name : PARTITION_TRAIN_MASK;
    return !table->on_edges && table->type == ntype && table->width == 1 &&
           tr_dtype_size(table->dtype) == 1 && strcmp(table->name, name) == 0;
}

int train_mask_read(struct partition_job *job, uint32_t ntype, uint8_t **mask, struct error *error)
{
    const struct raw_graph *raw = job->raw;
    uint32_t index = 0;
    while (index < raw->num_tables && !is_mask(job, &raw->tables[index], ntype))
        index++;
    *mask = calloc((size_t)raw->num_nodes[ntype] + 1, 1);
    if (*mask == NULL)
        return job_no_memory(error, "the train mask", raw->num_nodes[ntype]);
    if (index == raw->num_tables)
        return 0;
    int rv = raw_read_rows(job->raw, index, 0, raw->num_nodes[ntype], *mask, error);
    if (rv != 0) {
        free(*mask);
        *mask = NULL;
    }
    return rv;
}

int train_mask_balance(struct partition_job *job, uint32_t *const *parts, double *balance,
                       struct error *error)
{
    uint32_t num_parts = job->options->num_parts;
    uint64_t largest = 0, total = 0, *counts = calloc(num_parts, sizeof *counts);
    int rv = counts == NULL ? job_no_memory(error, "counts of training nodes", num_parts * 8) : 0;
    for (uint32_t t = 0; t < job->raw->types.num_ntypes && rv == 0; t++) {
        uint8_t *mask;
        rv = train_mask_read(job, t, &mask, error);
        for (uint64_t v = 0; v < job->raw->num_nodes[t] && rv == 0; v++)
            counts[parts[t][v]] += mask[v] != 0;
        if (rv == 0)
            free(mask);
    }
    for (uint32_t p = 0; p < num_parts && rv == 0; p++) {
        total += counts[p];
        largest = counts[p] > largest ? counts[p] : largest;
    }
    free(counts);
    *balance = total == 0 ? 0 : (double)largest * num_parts / (double)total;
    return rv;
}
