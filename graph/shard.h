/*
 * Splitting a frontier among the partitions that own it, and putting their answers together.
 *
 * The split keeps the frontier's order within each partition, so the answers interleave: a walk
 * over the owners, taking the next row of each, gives the frontier's order back. What comes out
 * equals what one partition holding everything would have answered.
 * A frontier with one owner needs neither; its answer is used as it is.
 *
 * Thread rules: pure, on the caller's memory.
 */
#ifndef GRAPH_SHARD_H
#define GRAPH_SHARD_H

#include <stddef.h>
#include <stdint.h>

#include "graph/sample.h"

/* Rows of ids[n] by owner: those of partition p are rows[starts[p] .. starts[p + 1]), as
 * id - begins[p]. owners[i] < num_parts. positions (NULL: not wanted) gets the place in ids. */
void shard_split(const uint64_t *ids, const uint32_t *owners, uint32_t n, uint32_t num_parts,
                 const uint64_t *begins, uint32_t *starts, uint32_t *rows, uint32_t *positions);

/* The answer of one partition: all of it must be used up, and no more. */
struct shard {
    struct sample_result answer;
    uint32_t num_rows;
    uint32_t next_row;  /* scratch of shard_merge */
    uint64_t next_edge; /* scratch of shard_merge */
};

/*
 * Merges shards[num_parts] into merged, whose arrays hold the sum of their edges; its columns,
 * wide_columns and edge_ids are filled where they are not NULL, and each shard must have
 * those. TR_EFORMAT when counts and numbers of rows or edges of a shard do not agree.
 */
int shard_merge(const uint32_t *owners, uint32_t n, struct shard *shards, uint32_t num_parts,
                struct sample_result *merged);

#endif
