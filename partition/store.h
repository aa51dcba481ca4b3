/*
 * A partition directory opened for reading: the book and, on demand, partitions in memory.
 *
 * PARTITION_COPY reads a partition into huge-page memory (what a server wants: fastest access);
 * PARTITION_MAP maps the files (what a command wants that only looks, or where memory is short).
 *
 * Ownership: store_close frees the book and all; close partitions first. Thread rules: open and
 * close on one thread; a loaded struct graph_part is frozen and readable from any thread.
 */
#ifndef PARTITION_STORE_H
#define PARTITION_STORE_H

#include <stdbool.h>

#include "graph/part.h"
#include "partition/book.h"
#include "partition/book_json.h"
#include "runtime/error.h"
#include "runtime/parallel.h"

struct store;

enum partition_mode { PARTITION_COPY, PARTITION_MAP };

/* What to load beside topology; an unset part is NULL in the graph_part. */
struct partition_load {
    enum partition_mode mode;
    bool features;          /* node and edge features */
    bool degrees;           /* in_degrees and out_degrees */
    bool edge_rank;
    bool original_edge_ids; /* TR_ENOENT where the partitioner was told to drop them */
    struct parallel *parallel; /* reads with it; NULL: serially */
};

/* path: DIR/NAME.json (the part_config file). Checks every key, size and file. */
int store_open(const char *path, struct store **out, struct error *error);
void store_close(struct store *store);
const struct book *store_book(const struct store *store);
/* The tables, the seed and what else NAME.json says. */
const struct book_file *store_book_file(const struct store *store);

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

/* Where the deal of a type lies that was written for this graph; free it. NULL: no memory. */
char *store_deal_path(const struct store *store, uint32_t ntype);

/* The trainer of each node of a type by original ID, -1 where it is not a training node:
 * [num_nodes]. Free *trainers. TR_ENOENT if no trainers were named. */
int store_read_deal(struct store *store, uint32_t ntype, int32_t **trainers,
                    struct error *error);

#endif
