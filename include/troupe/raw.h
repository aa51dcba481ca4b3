/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A raw graph: edges and features as somebody's files hold them, before partitioning.
 *
 * It is a folder in DGL's chunked format, as `troupe import` and `troupe generate` write it, a
 * folder of .npy files, an edge list (CSV, TSV, text, .npy), a Matrix Market file or a METIS
 * .graph: the file's name and content say which. Texts may be packed by gzip, bzip2, xz, zstd or
 * lz4, or stand in a .zip archive ("links.zip", or "links.zip/NAME" where it has several). IDs are
 * original IDs: nodes of a type are 0 .. num_nodes - 1, an edge's ID is its position in its type.
 *
 * Ownership: tr_raw_close() frees the graph and all texts that came from it. Thread rules: one
 * thread at a time a graph. In a child of fork() calls give TR_EFORKED and a close does nothing.
 */
#ifndef TROUPE_RAW_H
#define TROUPE_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/schema.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_raw;

/* Edges from a node to itself. */
enum tr_loops {
    TR_LOOPS_KEEP = 0,
    TR_LOOPS_DROP = 1,
    TR_LOOPS_ERROR = 2, /* the first is refused */
};

/* Edges whose source and destination are those of an earlier one. */
enum tr_duplicates {
    TR_DUPLICATES_KEEP = 0,  /* and they are not looked for */
    TR_DUPLICATES_COUNT = 1, /* and kept */
    TR_DUPLICATES_MERGE = 2, /* the first of them stays */
    TR_DUPLICATES_ERROR = 3,
};

/* How to read a file that does not say it itself; for folders the first three do not matter, and
 * those from source on are refused for all but edge lists that are text. */
struct tr_raw_options {
    size_t size;
    bool undirected;    /* each line of an edge list also stands for its reverse */
    char delimiter;     /* between columns; 0: blanks, tabs, commas or semicolons */
    uint64_t num_nodes; /* of an edge list; 0: the largest ID and 1 */
    /* The columns of the two ends, by their names in the header or their numbers from 1. NULL: by
     * the names that such columns have (src and dst, source and target, from and to, u and v ...),
     * or, where there is no header, or one of two columns, the first and the second. */
    const char *source;
    const char *target;
    uint64_t first_id;   /* the ID of the first node: 1 where IDs begin at 1 */
    uint32_t loops;      /* enum tr_loops */
    uint32_t duplicates; /* enum tr_duplicates */
};
#define TR_RAW_OPTIONS_INIT                                             \
    {                                                                   \
        sizeof(struct tr_raw_options), false, 0, 0, NULL, NULL, 0, 0, 0 \
    }

struct tr_raw_info {
    size_t size;
    const char *graph_name;
    uint32_t num_ntypes;
    uint32_t num_etypes;
    uint32_t num_tables;
    uint64_t num_nodes; /* of all types */
    uint64_t num_edges; /* of all types */
};
#define TR_RAW_INFO_INIT                                \
    {                                                   \
        sizeof(struct tr_raw_info), NULL, 0, 0, 0, 0, 0 \
    }

/* Opens the folder or file at path; options NULL: the defaults, all 0. Text files are read whole,
 * and of others the heads. TR_ENOENT, TR_EIO; TR_EFORMAT, TR_ERANGE and TR_EUNSUPPORTED name the
 * file and its line or field. *out is NULL after a failure. */
TR_API int tr_raw_open(const char *path, const struct tr_raw_options *options, struct tr_raw **out,
                       struct tr_error *error);
/* NULL is ignored. */
TR_API void tr_raw_close(struct tr_raw *raw);

/* All but the first give TR_ERANGE where there is no such number. */
TR_API int tr_raw_info(const struct tr_raw *raw, struct tr_raw_info *info, struct tr_error *error);
TR_API int tr_raw_ntype(const struct tr_raw *raw, uint32_t ntype, struct tr_ntype_info *info,
                        struct tr_error *error);
TR_API int tr_raw_etype(const struct tr_raw *raw, uint32_t etype, struct tr_etype_info *info,
                        struct tr_error *error);
TR_API int tr_raw_table(const struct tr_raw *raw, uint32_t table, struct tr_table_info *info,
                        struct tr_error *error);

/* Edges [first, first + count) of an edge type, in original order, into sources and destinations
 * [count]. TR_ERANGE: there are no such edges, or the file names a node that there is not. */
TR_API int tr_raw_edges(struct tr_raw *raw, uint32_t etype, uint64_t first, size_t count,
                        uint64_t *sources, uint64_t *destinations, struct tr_error *error);

/* Rows [first, first + count) of a table, by number, into rows [count * row_bytes]. TR_EFORMAT
 * names a number that is not finite; in a table named "label" or "labels" NaN says that there is
 * none. */
TR_API int tr_raw_rows(struct tr_raw *raw, uint32_t table, uint64_t first, size_t count, void *rows,
                       struct tr_error *error);

/* The lists of names of nodes, values and columns, numbered from 0, and the names
 * [first, first + count) of one, as tr_book_names() and tr_book_read_names() have them. TR_ERANGE:
 * there is no such list, or there are no such names. */
TR_API int tr_raw_names(const struct tr_raw *raw, uint32_t list, struct tr_names_info *info,
                        struct tr_error *error);
TR_API int tr_raw_read_names(const struct tr_raw *raw, uint32_t list, uint64_t first, size_t count,
                             uint64_t *offsets, char *text, size_t text_bytes,
                             struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
