/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checksums of a partition directory: a CRC-32C for each array, kept in NAME.json, which sums
 * itself as well.
 *
 * Arrays are named by their file; an array of the partitions has a sum for each of them, one that
 * lies beside NAME.json has a single sum. A folder that was written before there were sums has none
 * at all: then every look-up says that nothing is known.
 *
 * NAME.json's own sum is that of its bytes, with the eight digits that hold it read as zeros, so
 * that a wrong byte is found wherever it stands, between values too.
 *
 * Ownership: checksums_fini frees all; zeroed is an empty list. Thread rules: one thread at a time
 * while sums are set; any threads afterwards.
 */
#ifndef PARTITION_STORE_CHECKSUMS_H
#define PARTITION_STORE_CHECKSUMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/base/json_field.h"

/* Stands for the partition of an array that is the whole graph's. */
#define CHECKSUMS_GRAPH UINT32_MAX

struct checksum_row {
    char *name;    /* of the file */
    bool of_graph; /* one sum, not one a partition */
    uint32_t num_sums;
    uint64_t *sums; /* CHECKSUM_UNSET: not set yet */
};

#define CHECKSUM_UNSET UINT64_MAX

struct checksums {
    uint32_t num_rows;
    struct checksum_row *rows; /* in the order of names */
};

void checksums_fini(struct checksums *checksums);

/* Whether the folder was written with sums. */
static inline bool checksums_known(const struct checksums *checksums)
{
    return checksums->num_rows > 0;
}

/* TR_ENOMEM. part: CHECKSUMS_GRAPH for an array that lies beside NAME.json. */
int checksums_set(struct checksums *checksums, uint32_t num_parts, uint32_t part, const char *name,
                  uint32_t sum);
bool checksums_find(const struct checksums *checksums, uint32_t part, const char *name,
                    uint32_t *sum);

/* Adds the sums to the object "troupe" of NAME.json, and digits for that of the document. Every
 * array must have got its sums. TR_ENOMEM. */
int checksums_put(const struct checksums *checksums, json_t *own);
/* Takes them from there; none is fine. */
int checksums_take(struct checksums *checksums, const struct json_field *own, uint32_t num_parts,
                   struct error *error);

/* Puts the document's own sum into its text, where checksums_put left digits; false: nowhere. */
bool checksums_seal(char *text, size_t size);
/* Compares a document, parsed from text, with its own sum; one without any sum passes. */
int checksums_check_seal(const struct json_field *root, const char *text, size_t size,
                         struct error *error);

#endif
