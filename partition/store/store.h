/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A partition directory opened for reading: the book and, on demand, partitions in memory.
 *
 * PARTITION_COPY reads a partition into huge-page memory (what a server wants: fastest access);
 * PARTITION_MAP maps the files (what a command wants that only looks, or where memory is short).
 *
 * Ownership: store_close frees the book and all; close partitions first. Thread rules: open and
 * close on one thread; a loaded struct graph_part is frozen and readable from any thread.
 */
#ifndef PARTITION_STORE_STORE_H
#define PARTITION_STORE_STORE_H

#include <stdbool.h>

#include "graph/part.h"
#include "partition/store/book.h"
#include "partition/store/book_json.h"
#include "runtime/base/cancel.h"
#include "runtime/base/error.h"
#include "runtime/base/parallel.h"

struct store;

enum partition_mode { PARTITION_COPY, PARTITION_MAP };

/* The files that are compared with the checksums of NAME.json, where it has some. A mapped one is
 * read whole for that, which a mapping is there to avoid. PARTITION_CHECK_NONE is for measuring the
 * others. */
enum partition_check { PARTITION_CHECK_COPIES, PARTITION_CHECK_ALL, PARTITION_CHECK_NONE };

/* The parts to load beside topology; an unset one is NULL in the graph_part. */
struct partition_load {
    enum partition_mode mode;
    enum partition_check check;
    bool features; /* node and edge features */
    bool degrees;  /* in_degrees and out_degrees */
    bool edge_rank;
    bool ranks;                /* slices of the tables of ranks, and of edges by rank */
    bool out_edges;            /* where they were written; mapped in any mode */
    bool original_edge_ids;    /* TR_ENOENT where the partitioner was asked to drop them */
    bool mapped_edge_ids;      /* the same where they were kept; mapped in any mode */
    struct parallel *parallel; /* reads with it; NULL: serially */
    /* Asked by the threads that read, each quarter of a megabyte: then TR_ECANCELED. NULL:
     * never. */
    const struct cancel *cancel;
};

/* path: DIR/NAME.json (the part_config file). Checks every key, size and file. */
int store_open(const char *path, struct store **out, struct error *error);
void store_close(struct store *store);
const struct book *store_book(const struct store *store);
/* The tables, the seed and what else NAME.json says. */
const struct book_file *store_book_file(const struct store *store);
/* Whether NAME.json has checksums: folders of older versions have none, and load unchecked. */
bool store_has_checksums(const struct store *store);

int store_load(struct store *store, uint32_t part, const struct partition_load *load,
               struct graph_part **out, struct error *error);
void store_unload(struct store *store, struct graph_part *part);

/* Bytes of the partition's files that store_load with these choices would read. */
uint64_t store_part_bytes(const struct store *store, uint32_t part,
                          const struct partition_load *load);

/* Halo nodes of a type that a partition reaches first at a hop (1 .. halo_hops): per-type global
 * IDs, increasing. Free *ids. */
int store_read_halo(struct store *store, uint32_t part, uint32_t ntype, uint32_t hop,
                    uint64_t **ids, uint64_t *count, struct error *error);

/* Original IDs of the global IDs [first, first + count) of a node type, or of an edge type, from
 * the files of their owners, unchecked. TR_ERANGE: there are no such IDs; TR_ENOENT: an owner's
 * folder is not here, or those of edges were not kept. */
int store_read_original_ids(struct store *store, bool on_edges, uint32_t type, uint64_t first,
                            size_t count, uint64_t *ids, struct error *error);

struct store_checked {
    uint64_t num_files;
    uint64_t bytes;
    uint32_t elsewhere; /* partitions whose folder is not here */
};

/* Opens a list of names of the book file, by its number below num_names. */
int store_open_names(struct store *store, uint32_t number, struct name_list *list,
                     struct error *error);

/* Compares every array that NAME.json has a checksum of with it, the lists of halos and the deals
 * too. some: a partition without a folder is on another host. step may be NULL; what it returns
 * ends the work. cancel is asked while files are read, or NULL. TR_ENOENT without checksums. */
int store_check_files(struct store *store, bool some, struct parallel *parallel,
                      const struct cancel *cancel,
                      int (*step)(void *arg, uint32_t part, struct error *error), void *arg,
                      struct store_checked *checked, struct error *error);

/* Where the deal of a type lies that was written for this graph; free it. NULL: no memory. */
char *store_deal_path(const struct store *store, uint32_t ntype);
/* Its checksum; false: not known. */
bool store_deal_checksum(const struct store *store, uint32_t ntype, uint32_t *checksum);

/* The trainer of each node of a type by original ID, -1 where it is not a training node:
 * [num_nodes]. Free *trainers. TR_ENOENT if no trainers were named. */
int store_read_deal(struct store *store, uint32_t ntype, int32_t **trainers, struct error *error);

#endif
