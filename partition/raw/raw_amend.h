/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds tables of nodes and edges to a raw graph that is a folder in DGL's chunked format, in its place.
 *
 * metadata.json says which files of the folder are the graph. A new table is written under a hidden
 * name, synced, and given a name that no file has; then metadata.json is replaced in one step,
 * which brings all tables of the amendment at once. A reader sees the graph of before or that of
 * after. A process that is killed leaves at most files that no graph names.
 *
 * The folder is locked meanwhile, so that two amendments do not lose each other's tables (where its
 * file system has no locks, there must be one at a time).
 *
 * Ownership: commit or abort ends it. One thread at a time.
 */
#ifndef PARTITION_RAW_RAW_AMEND_H
#define PARTITION_RAW_RAW_AMEND_H

#include "partition/raw/raw.h"

struct raw_amend;

/* files NULL = files_posix; cancel may be NULL, and is asked at each append. TR_EUNSUPPORTED: the
 * path is a raw graph of another form; TR_EEXIST: another process amends it. */
int raw_amend_open(const char *path, struct files *files, const struct cancel *cancel,
                   struct raw_amend **out, struct error *error);

/* The graph as it was before; the amendment's. */
struct raw_graph *raw_amend_graph(struct raw_amend *amend);

/* What a table has rows of: the nodes of a type, or its edges. */
struct amend_rows_of {
    bool edges;
    uint32_t type;
};

/* The node type of that name, or the edge type, whose name is "source:edge:destination", or the middle
 * of that where one type has it; NULL: the only one that there is. TR_ENOENT and TR_EINVAL name the
 * types. */
int raw_amend_find_type(struct raw_amend *amend, bool edges, const char *name,
                        struct amend_rows_of *of, struct error *error);

/* A table of `width` elements a row (0: one, and rows have no dimension); its number is *table.
 * TR_EEXIST: the type has one of that name, unless replace. */
int raw_amend_add_table(struct raw_amend *amend, struct amend_rows_of of, const char *name,
                        bool replace, enum tr_dtype dtype, uint64_t width, uint32_t *table,
                        struct error *error);
int raw_amend_rows(struct raw_amend *amend, uint32_t table, uint64_t count, const void *rows,
                   struct error *error);

/* Checks that each table has a row for each node, or edge, and makes them a part of the graph.
 * Files that they replaced and that nothing names any more are removed. */
int raw_amend_commit(struct raw_amend *amend, struct error *error);
/* Leaves nothing behind; harmless on NULL. */
void raw_amend_abort(struct raw_amend *amend);

#endif
