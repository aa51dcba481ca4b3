/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts that the files of the store share.
 *
 * A loaded partition owns a list of blocks: a block is an array in huge-page memory or a mapped
 * file. Thread rules: those of store.h.
 */
#ifndef PARTITION_STORE_STORE_PRIVATE_H
#define PARTITION_STORE_STORE_PRIVATE_H

#include "partition/store/npy.h"
#include "partition/store/store.h"
#include "runtime/base/files.h"

struct store {
    struct files *files;
    char *path;   /* of NAME.json */
    char *folder; /* that holds it */
    struct book_file file;
};

struct store_block {
    struct npy npy; /* open while it is mapped */
    void *memory;   /* NULL: mapped */
    size_t bytes;
};

struct loaded_part {
    struct graph_part part; /* first: what the user holds */
    struct store_block *blocks;
    size_t num_blocks;
};

/* The form that an array has to have. */
struct array_form {
    char kind;
    uint8_t item_bytes;
    uint32_t ndim; /* with the rows */
    uint64_t rows;
    const uint64_t *row_shape; /* [ndim - 1] */
};

/* "FOLDER/part<i>/NAME" (part UINT32_MAX: "FOLDER/NAME"); frees name. NULL: no memory. */
char *store_path(const struct store *store, uint32_t part, char *name);

/* Opens an array and holds it against its form. Takes path. */
int store_open_array(struct store *store, char *path, const struct array_form *form,
                     struct npy *npy, struct error *error);

/* Compares what was summed over a whole file with NAME.json, if that has checksums. part:
 * CHECKSUMS_GRAPH for a file beside NAME.json. */
int store_check_sum(const struct store *store, uint32_t part, const char *path, uint32_t sum,
                    struct error *error);

/* The sum of the header, and of data that lie behind it. TR_ECANCELED: cancel was asked. */
int store_sum_array(struct npy *npy, const void *data, size_t bytes, struct parallel *parallel,
                    const struct cancel *cancel, uint32_t *sum, struct error *error);

/* Reads or maps an array; the loaded part holds it. Takes path. */
int store_load_array(struct store *store, struct loaded_part *loaded, char *path,
                     const struct array_form *form, const struct partition_load *load,
                     const void **data, struct error *error);

/* The form of a table's rows; TR_EFORMAT is left to store_open_array. */
void store_table_form(const struct book_table *table, uint64_t rows, struct array_form *form);

#endif
