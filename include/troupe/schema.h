/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contents of a graph at rest: node types, edge types and tables of features. A raw graph
 * (troupe/raw.h) and the book of a partitioned one (troupe/book.h) describe themselves with these.
 *
 * Types are numbered from 0: node types 0 .. num_ntypes - 1, edge types likewise.
 *
 * Ownership: texts belong to the raw graph or book that gave them and are valid until it is
 * closed. Thread rules: plain values.
 */
#ifndef TROUPE_SCHEMA_H
#define TROUPE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Dimensions of one row of a table; a table has one more, that of its rows. */
#define TR_TABLE_NDIM_MAX 4

struct tr_ntype_info {
    size_t size;
    const char *name;
    uint64_t num_nodes;
    /* The user's ID of the node that is 0 here, as predictions have it: 1 where IDs began at 1. */
    uint64_t first_id;
};
#define TR_NTYPE_INFO_INIT                       \
    {                                            \
        sizeof(struct tr_ntype_info), NULL, 0, 0 \
    }

struct tr_etype_info {
    size_t size;
    const char *name;     /* "source:relation:destination" */
    const char *relation; /* the middle of it */
    uint32_t src_ntype;
    uint32_t dst_ntype;
    uint64_t num_edges;
};
#define TR_ETYPE_INFO_INIT                                \
    {                                                     \
        sizeof(struct tr_etype_info), NULL, NULL, 0, 0, 0 \
    }

/* A feature of a node type or an edge type: a row for each of its nodes or edges. */
struct tr_table_info {
    size_t size;
    const char *name;
    bool on_edges;
    uint32_t type; /* the number of the node type, or of the edge type */
    enum tr_dtype dtype;
    uint32_t ndim;                     /* of one row; 0: a row is one element */
    uint64_t shape[TR_TABLE_NDIM_MAX]; /* [ndim] */
    uint64_t width;                    /* elements of a row: the product of shape */
    uint64_t row_bytes;                /* of a dense row, which everybody who asks for rows gets */
    uint64_t elements;                 /* stored, where the table is sparse; else 0 */
    uint64_t stored_bytes;             /* of all rows, as they are kept */
    bool sparse;                       /* rows are kept as their elements that are not 0 */
    unsigned char reserved[7];
};
#define TR_TABLE_INFO_INIT                                                                    \
    {                                                                                         \
        sizeof(struct tr_table_info), NULL, false, 0, TR_F32, 0, { 0 }, 0, 0, 0, 0, false, "" \
    }

/* What a list of names is of. */
enum tr_names_of {
    TR_NAMES_NODES = 0,   /* of a type, by original ID */
    TR_NAMES_VALUES = 1,  /* the numbers in a table: classes, categories */
    TR_NAMES_COLUMNS = 2, /* the elements of a row of a table */
};

/* The names that the user's own files had where the graph has numbers, as `troupe import table`
 * keeps them. */
struct tr_names_info {
    size_t size;
    uint32_t of; /* enum tr_names_of */
    uint32_t ntype;
    const char *table; /* a feature of the type; NULL of nodes */
    uint64_t count;
};
#define TR_NAMES_INFO_INIT                          \
    {                                               \
        sizeof(struct tr_names_info), 0, 0, NULL, 0 \
    }

#ifdef __cplusplus
}
#endif

#endif
