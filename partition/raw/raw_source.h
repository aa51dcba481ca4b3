/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that a reader of one input format gives to raw.c, and those by which it builds a
 * raw graph.
 *
 * A reader checks sizes at open and fills graph->types, num_nodes, num_edges and tables;
 * raw.c then checks every ID and float that passes through read_edges and read_rows, so that
 * readers need not.
 *
 * Ownership: raw_close calls close once, also for a graph whose opening failed half-way.
 */
#ifndef PARTITION_RAW_RAW_SOURCE_H
#define PARTITION_RAW_RAW_SOURCE_H

#include "partition/raw/raw.h"

/* Long enough for a path and a field of metadata.json in an error. */
#define RAW_PLACE_MAX 600

struct raw_source {
    int (*read_edges)(struct raw_source *self, uint32_t etype, uint64_t begin, uint64_t count,
                      uint64_t *src, uint64_t *dst, struct error *error);
    /* NULL for a format without features. */
    int (*read_rows)(struct raw_source *self, uint32_t table, uint64_t begin, uint64_t count,
                     void *rows, struct error *error);
    /* Names the file, and where it can the line, of an edge or row: "e.npy: edge 3". */
    void (*name_edge)(struct raw_source *self, uint32_t etype, uint64_t edge, char *text,
                      size_t size);
    void (*name_row)(struct raw_source *self, uint32_t table, uint64_t row, char *text,
                     size_t size);
    void (*close)(struct raw_source *self);
};

/* A graph without types, tables or source; or NULL. */
struct raw_graph *raw_graph_new(const char *name);
/* _N and _E with these counts. */
int raw_graph_homogeneous(struct raw_graph *graph, uint64_t num_nodes, uint64_t num_edges,
                          struct error *error);
/* Allocates num_nodes and num_edges, zeroed, once the types are known. */
int raw_graph_alloc_counts(struct raw_graph *graph, struct error *error);
/* Appends a table; its number of rows is that of its type. Checks name, shape and sizes. */
int raw_graph_add_table(struct raw_graph *graph, const char *name, bool on_edges, uint32_t type,
                        enum tr_dtype dtype, uint32_t ndim, const uint64_t *shape,
                        struct error *error);

/* A table or graph name becomes a file's name: not empty, no '/', no leading '.', <= 200 bytes. */
int raw_check_name(const char *name, struct error *error);

/* Whether raw_open() would take what is there for an edge list that is text. */
bool raw_is_edge_list(const char *path, struct files *files);

/* Readers. Each takes the path and returns a whole graph or nothing. */
int raw_open_chunked(const char *path, const struct raw_options *options, struct raw_graph **out,
                     struct error *error);
int raw_open_edgelist(const char *path, const struct raw_options *options, struct raw_graph **out,
                      struct error *error);
int raw_open_npy(const char *path, const struct raw_options *options, struct raw_graph **out,
                 struct error *error);
int raw_open_npy_folder(const char *path, const struct raw_options *options, struct raw_graph **out,
                        struct error *error);
int raw_open_mtx(const char *path, const struct raw_options *options, struct raw_graph **out,
                 struct error *error);
int raw_open_metis(const char *path, const struct raw_options *options, struct raw_graph **out,
                   struct error *error);

#endif
