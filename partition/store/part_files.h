/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of the arrays of a partition.
 *
 * One array is one .npy file in the partition's folder: "node~TYPE~ARRAY.npy",
 * "edge~SOURCE:EDGE:DESTINATION~ARRAY.npy" or, for a feature, "...~feature~NAME.npy". Type
 * names can't hold '~', ':' or '/'; of a feature's name the bytes that a file name can't
 * hold, and '~' and '%', are written as %XX.
 *
 * Ownership: callers free the names. Pure functions.
 */
#ifndef PARTITION_STORE_PART_FILES_H
#define PARTITION_STORE_PART_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/types.h"
#include "partition/store/book.h"
#include "partition/store/name_list.h"

#define PART_ORIGINAL_IDS "original_ids"
#define PART_IN_DEGREES "in_degrees"
#define PART_OUT_DEGREES "out_degrees"
#define PART_INDEX "index"
#define PART_INDICES "indices"
#define PART_COLUMN_GLOBAL "column_global"
#define PART_EDGE_RANK "edge_rank"
#define PART_EDGE_RUNS "edge_runs"
#define PART_OUT_INDEX "out_index"
#define PART_OUT_DESTINATIONS "out_destinations"
#define PART_OUT_EDGE_IDS "out_edge_ids"

/* "node~TYPE~ARRAY.npy", or NULL when there is no memory. */
char *part_file_node(const struct graph_types *types, uint32_t ntype, const char *array);
char *part_file_edge(const struct graph_types *types, uint32_t etype, const char *array);
char *part_file_halo(const struct graph_types *types, uint32_t ntype, uint32_t hop);
char *part_file_feature(const struct graph_types *types, bool on_edges, uint32_t type,
                        const char *feature);
/* The arrays of a sparse table: "node~TYPE~feature~NAME~indptr.npy", "...~indices.npy" and
 * "...~data.npy". */
#define PART_CSR_INDEX "indptr"
#define PART_CSR_COLUMNS "indices"
#define PART_CSR_VALUES "data"
char *part_file_csr(const struct graph_types *types, uint32_t ntype, const char *feature,
                    const char *array);
/* A slice of a table of ranks: "node~TYPE~ranks.npy", "node~TYPE~ranks~MASK.npy",
 * "node~TYPE~dealt_ranks.npy". */
char *part_file_ranks(const struct graph_types *types, const struct rank_table *table);
/* A file of the graph, beside NAME.json: the trainer of each training node of a type. */
char *part_file_deal(const struct graph_types *types, uint32_t ntype);
/* The stem of two of them, a list of names: "dict~TYPE~nodes", "dict~TYPE~values~TABLE". */
char *part_file_names(const struct graph_types *types, const struct names_key *names);

#endif
