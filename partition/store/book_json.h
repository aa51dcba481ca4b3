/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NAME.json: the partition book and the list of what is stored, at rest.
 *
 * Its keys are those of DGL's part_config.json, so that other programs find parts and ranges
 * in it: ranges there are homogeneous IDs (all types, partition-major), here per type. Values that
 * DGL has no key for stand under "troupe": the version of the format and the tables with their
 * types.
 *
 * Ownership: book_file_fini frees all. Thread rules: immutable after it was read.
 */
#ifndef PARTITION_STORE_BOOK_JSON_H
#define PARTITION_STORE_BOOK_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/types.h>

#include "graph/part.h"
#include "partition/store/book.h"
#include "partition/store/checksums.h"
#include "partition/store/name_list.h"
#include "runtime/base/error.h"
#include "runtime/base/files.h"

#define BOOK_FORMAT_VERSION 1
/* (type, partition) pairs, of about 50 bytes each: what fits in JSON_FILE_BYTES_MAX. */
#define BOOK_RANGES_MAX ((uint64_t)4 << 20)
#define BOOK_RANGE_BYTES 50
/* The number of elements of a sparse table in one partition: twenty digits and what parts them. */
#define BOOK_NNZ_BYTES 21
/* The checksum of one array of one partition: eight digits and what parts them. */
#define BOOK_CHECKSUM_BYTES 9
/* Tables of features; each is a file in each partition. */
#define BOOK_TABLES_MAX 65536

/* A feature of a node type or edge type, stored in every partition. */
struct book_table {
    char *name;
    bool on_edges;
    uint32_t type;
    enum tr_dtype dtype;
    uint32_t ndim; /* of one row */
    uint64_t shape[FEATURE_NDIM_MAX];
    enum table_form form;
    /* Of TABLE_CSR, which has one dimension of at least CSR_WIDTH_MIN: */
    bool has_values;      /* else each stored element is 1 */
    uint32_t row_nnz_max; /* elements of a row, at most */
    uint64_t *nnz;        /* [num_parts]: elements of each partition */
};

/* A list of names beside the file (name_list.h). */
struct book_names {
    struct names_key key; /* its table is the file's */
    uint64_t count;
};

/* Lists of names: of the nodes of each type, and two of each table. */
#define BOOK_NAMES_MAX (2 * BOOK_TABLES_MAX)

struct book_file {
    struct book book;
    uint32_t num_tables;
    struct book_table *tables;
    bool original_edge_ids; /* stored */
    bool *column_tables;    /* [num_etypes]: columns are local IDs, see graph/part.h */
    uint64_t seed;
    uint64_t first_id;     /* the user's ID of original ID 0, where nodes have no names */
    uint32_t num_trainers; /* 0: no trainers were named, no deal is stored */
    char *train_mask;      /* the table of nodes that are dealt; NULL: PARTITION_TRAIN_MASK */
    uint32_t num_names;
    struct book_names *names;
    char **part_folders;        /* [num_parts], relative to the file's folder */
    struct checksums checksums; /* of the arrays; none in folders of older versions */
};

/* Bytes of one row; 0 for a width of zero. */
size_t book_table_row_bytes(const struct book_table *table, uint64_t *width);
/* Bytes of the elements of all arrays of a partition's rows, sparse ones too. */
uint64_t book_table_bytes(const struct book_table *table, uint32_t part, uint64_t num_rows);
/* Elements that a sparse table has in all partitions. */
uint64_t book_table_nnz(const struct book_table *table, uint32_t num_parts);

int book_file_read(struct book_file *file, struct files *files, const char *path,
                   struct error *error);
int book_file_write(const struct book_file *file, struct files *files, const char *path,
                    struct error *error);
/* Appends a list; the key's table is copied. TR_ENOMEM. */
int book_file_add_names(struct book_file *file, const struct names_key *key, uint64_t count);
void book_file_fini(struct book_file *file);

#endif
