/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A raw input graph: edges and features as somebody else's files hold them. Each format is one
 * reader behind struct raw_source (raw_source.h).
 *
 * Whatever the source (a folder in DGL's chunked format, an edge list, Matrix Market, a
 * METIS .graph ...), partitioning sees this: counts, and readers that stream pieces into
 * the caller's buffers. So the memory that partitioning needs does not depend on the
 * size of features, and edges are read twice instead of being held.
 *
 * IDs here are original IDs: per node type, 0 .. num_nodes[ntype]. The original ID of an edge is
 * its position in its edge type.
 *
 * Thread rules: one thread at a time a raw graph. Ownership: raw_close frees all.
 */
#ifndef PARTITION_RAW_RAW_H
#define PARTITION_RAW_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/types.h>

#include "graph/types.h"
#include "partition/raw/text_reading.h"
#include "partition/store/name_list.h"
#include "runtime/base/cancel.h"
#include "runtime/base/error.h"
#include "runtime/base/files.h"

#define RAW_NDIM_MAX 4 /* of a row and its number: a video's frames; nobody trains on more */
/* An ID above this in a text file is a mistake: its node tables would fill no disk that exists. */
#define RAW_NODES_MAX ((uint64_t)1 << 40)

/* A feature of a node type or an edge type. */
struct raw_table {
    char *name;
    bool on_edges;
    uint32_t type; /* node type or edge type */
    enum tr_dtype dtype;
    uint32_t ndim; /* of one row */
    uint64_t shape[RAW_NDIM_MAX];
    uint64_t width; /* elements a row: the product of shape */
    size_t row_bytes;
    uint64_t num_rows;   /* = nodes or edges of the type, checked at open */
    struct raw_csr *csr; /* its arrays, where rows are kept sparse (raw_csr.h); NULL: dense */
};

/* What an edge list that is text was found to hold. Columns count from 1. */
struct raw_edges_found {
    uint64_t header_line; /* skipped as a header; 0: none was */
    uint32_t num_columns;
    uint32_t source_column, target_column;
    char *source_name, *target_name;  /* in the header, printable; NULL: there is none */
    uint64_t smallest_id, largest_id; /* as they stand in the file */
    uint64_t num_lines;               /* of edges */
    uint64_t self_loops;              /* lines, dropped or not */
    uint64_t duplicates;              /* edges, where they were looked for */
    /* Of an import that gave edges their reverse (reverse_pairs.h): before that. */
    uint64_t pairs_seen, pairs_mutual;
    /* The sources are one kind of things and the destinations another, as the columns' names or the
     * file's first line say, and numbers may be of both. */
    bool two_kinds;
    bool says_undirected; /* the first line does */
    bool maybe_two_kinds; /* numbers in two columns without names look so */
};

/* A list of names in the files of a raw graph. */
struct raw_names {
    struct names_key key; /* its table is the graph's */
    struct files *files;
    char *stem; /* the list's path */
    uint64_t count;
};

void raw_edges_found_fini(struct raw_edges_found *found);

/* What becomes of edges from a node to itself, and of those that are there again. */
enum raw_loops { RAW_LOOPS_KEEP, RAW_LOOPS_DROP, RAW_LOOPS_ERROR };
enum raw_duplicates {
    RAW_DUPLICATES_KEEP, /* and they are not looked for */
    RAW_DUPLICATES_COUNT,
    RAW_DUPLICATES_MERGE,
    RAW_DUPLICATES_ERROR,
};

/* What may be done about an edge list that is not understood. */
enum raw_remedy {
    RAW_REMEDY_OPTIONS, /* all of those below may be given */
    RAW_REMEDY_IMPORT,  /* the reader's caller has none from source on; the import has */
    RAW_REMEDY_FILE,    /* nor is the file imported: it is one of a folder's */
};

struct raw_graph {
    char *name;
    struct graph_types types;
    uint64_t *num_nodes; /* [types.num_ntypes] */
    uint64_t *num_edges; /* [types.num_etypes] */
    uint32_t num_tables;
    struct raw_table *tables;
    uint32_t num_names;
    struct raw_names *names;
    uint64_t first_id; /* the user's ID of node 0: the others follow, where they have no names */
    struct raw_edges_found found; /* of an edge list; else all 0 */
    uint64_t header_files;        /* texts of a chunked graph with such a line */
    struct raw_source *source;    /* how to read: private to the reader */
};

struct raw_options {
    bool undirected;                /* edge lists: each line also stands for its reverse */
    uint64_t num_nodes;             /* edge lists: 0 = largest ID + 1 */
    char delimiter;                 /* edge lists: 0 = blanks, tabs, commas or semicolons */
    const char *source, *target;    /* edge lists: columns by name or number; NULL = found */
    uint64_t first_id;              /* edge lists: the ID of the first node */
    enum raw_loops loops;           /* edge lists */
    enum raw_duplicates duplicates; /* edge lists */
    enum raw_remedy remedy;         /* edge lists: for messages */
    struct files *files;            /* NULL = files_posix */
    const struct cancel *cancel;    /* asked while text is parsed */
    struct text_reading reading;    /* edge lists */
};

/* Opens a folder (chunked format, metadata.json) or a file (by its name and content).
 * options may be NULL. Errors name the file and the line or field. */
int raw_open(const char *path, const struct raw_options *options, struct raw_graph **out,
             struct error *error);
void raw_close(struct raw_graph *graph);

/* Edges [begin, begin + count) of an edge type in original order; IDs are checked against
 * num_nodes: TR_ERANGE names the file, the position and the value. src and dst: [count]. */
int raw_read_edges(struct raw_graph *graph, uint32_t etype, uint64_t begin, uint64_t count,
                   uint64_t *src, uint64_t *dst, struct error *error);

/* Rows [begin, begin + count) of a table into rows: [count * row_bytes]; those of a sparse table
 * are widened. Non-finite floats are
 * TR_EFORMAT, but in a table named "label" or "labels", where NaN says that there is none. */
int raw_read_rows(struct raw_graph *graph, uint32_t table, uint64_t begin, uint64_t count,
                  void *rows, struct error *error);

/* Value i of rows of a whole number each: a bool, a byte, or a signed integer. */
int64_t raw_whole(enum tr_dtype dtype, const void *rows, uint64_t i);

/* The table of this name on a node type or an edge type, or -1. */
int raw_find_table(const struct raw_graph *graph, bool on_edges, uint32_t type, const char *name);

/* The position of the first number that is not finite, or count. */
uint64_t raw_find_not_finite(enum tr_dtype dtype, const void *data, uint64_t count);

/* Whether an edge type has a table at all. */
bool raw_has_edge_rows(const struct raw_graph *graph, uint32_t etype);

#endif
