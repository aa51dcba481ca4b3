/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a raw graph as a folder in DGL's chunked format: metadata.json and .npy files, as a
 * stream.
 *
 * The folder appears whole, at raw_writer_commit, or not at all. Edges are int32 where the IDs
 * of both ends fit, else int64. Rows and edges are appended in order; edge types and tables may
 * be written in turns.
 *
 * Ownership: commit or abort ends the writer. One thread at a time.
 */
#ifndef PARTITION_RAW_RAW_WRITE_H
#define PARTITION_RAW_RAW_WRITE_H

#include "partition/raw/raw.h"

struct raw_writer;

/* How sparse rows of a source are written. */
enum raw_rows {
    RAW_ROWS_SMALLER, /* sparse where that takes fewer bytes */
    RAW_ROWS_DENSE,
    RAW_ROWS_SPARSE,
};

struct raw_write_options {
    struct files *files;         /* NULL = files_posix */
    const struct cancel *cancel; /* asked at each append and while copying */
    bool replace;                /* a raw or empty folder is replaced, else TR_EEXIST */
    /* raw_copy: each edge type gets another, "rev_" before its name, with its edges turned round in
     * their order and what they have: edge i is the reverse of edge i. */
    bool reverse_types;
    /* Told at each append; may be NULL. what: "edges", total 0 as it is not known here; or
     * "features", in bytes, of the tables added so far. */
    void (*progress)(void *arg, const char *what, uint64_t done, uint64_t total);
    void *progress_arg;
};

/* num_nodes: [types->num_ntypes]. types are copied. options may be NULL. */
int raw_writer_open(const char *path, const struct raw_write_options *options, const char *name,
                    const struct graph_types *types, const uint64_t *num_nodes,
                    struct raw_writer **out, struct error *error);

int raw_writer_edges(struct raw_writer *writer, uint32_t etype, uint64_t count, const uint64_t *src,
                     const uint64_t *dst, struct error *error);

/* The same of a type both of whose ends have at most 2^31 nodes: src, dst, src, dst ..., each below
 * them. */
int raw_writer_narrow(struct raw_writer *writer, uint32_t etype, uint64_t count,
                      const uint32_t *pairs, struct error *error);

/* Nodes of a type that are fewer than was said at first; before tables and names are added. All
 * edges are between them. */
void raw_writer_count_nodes(struct raw_writer *writer, uint32_t ntype, uint64_t num_nodes);

/* The user's ID of node 0, which is 0 unless it is set. */
void raw_writer_set_first_id(struct raw_writer *writer, uint64_t first_id);

/* A feature of a node or edge type; shape is that of a row. Its number is *table. TR_EEXIST: the type
 * has one of that name. */
int raw_writer_add_table(struct raw_writer *writer, const char *name, bool on_edges, uint32_t type,
                         enum tr_dtype dtype, uint32_t ndim, const uint64_t *shape, uint32_t *table,
                         struct error *error);
int raw_writer_rows(struct raw_writer *writer, uint32_t table, uint64_t count, const void *rows,
                    struct error *error);

/* A feature of a node type whose rows are kept sparse (raw_csr.h), of `width` columns; values or,
 * where there are none, ones. Rows are appended in order: row i has the elements [index[i],
 * index[i + 1]), which stand in columns and values from index[i] - index[0] on. The columns of a
 * row increase: TR_EFORMAT. */
int raw_writer_add_csr(struct raw_writer *writer, const char *name, uint32_t ntype,
                       enum tr_dtype dtype, uint64_t width, bool has_values, uint32_t *table,
                       struct error *error);
int raw_writer_csr_rows(struct raw_writer *writer, uint32_t table, uint64_t count,
                        const uint64_t *index, const uint32_t *columns, const void *values,
                        struct error *error);

/* A list of names: of the nodes of a type, which must be as many, or of the values or columns of a
 * table of the type (raw.h). They are appended in order. */
int raw_writer_add_names(struct raw_writer *writer, enum names_of of, uint32_t ntype,
                         const char *table, uint32_t *list, struct error *error);
int raw_writer_name(struct raw_writer *writer, uint32_t list, const char *name, size_t length,
                    struct error *error);

/* A file of text beside metadata.json. */
int raw_writer_text(struct raw_writer *writer, const char *file_name, const char *text, size_t size,
                    struct error *error);

/* Checks that every table has a row for each node or edge, and puts the folder in its place. */
int raw_writer_commit(struct raw_writer *writer, struct error *error);
/* Leaves nothing behind; harmless on NULL. */
void raw_writer_abort(struct raw_writer *writer);

/* Copies any raw graph into a folder at path, as `troupe import edges` does. */
int raw_copy(struct raw_graph *graph, const char *path, const struct raw_write_options *options,
             struct error *error);
/* The same, with features of nodes that fit the graph (node_features.h), NULL: without; and with a
 * look at edges that each have their reverse behind them (reverse_pairs.h), NULL: without. */
struct node_features;
struct reverse_pairs;
int raw_copy_with(struct raw_graph *graph, struct node_features *features, enum raw_rows form,
                  struct reverse_pairs *reverse, const char *path,
                  const struct raw_write_options *options, struct error *error);

#endif
