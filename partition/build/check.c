/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/build/check.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "partition/build/job.h"
#include "partition/raw/raw_source.h"
#include "partition/store/book.h"
#include "partition/store/book_json.h"
#include "partition/store/part_files.h"

static int check_numbers(const struct raw_graph *raw, const struct partition_options *options,
                         struct error *error)
{
    uint64_t ranges = (uint64_t)options->num_parts *
                      (raw->types.num_ntypes + raw->types.num_etypes);
    /* The counts of out-edges take as much of the book as ranges do. */
    if (options->out_edges)
        ranges += (uint64_t)options->num_parts * raw->types.num_etypes;
    if (options->num_parts == 0 || options->num_parts > BOOK_PARTS_MAX)
        return error_set(error, TR_EINVAL, "%u partitions were asked for: 1 to %d are possible",
                         options->num_parts, BOOK_PARTS_MAX);
    if (ranges > BOOK_RANGES_MAX)
        return error_set(error, TR_ETOOBIG,
                         "%u partitions of %u types: %" PRIu64 " ranges, at most %" PRIu64
                         " fit the partition book",
                         options->num_parts, raw->types.num_ntypes + raw->types.num_etypes, ranges,
                         BOOK_RANGES_MAX);
    uint64_t arrays = raw->types.num_ntypes * (4 + (uint64_t)options->halo_hops) +
                      raw->types.num_etypes * (options->out_edges ? UINT64_C(8) : UINT64_C(5)) +
                      raw->num_tables;
    uint64_t sparse = 0;
    for (uint32_t i = 0; i < raw->num_tables; i++)
        sparse += raw->tables[i].csr != NULL;
    arrays += 2 * sparse;
    uint64_t bytes = ranges * BOOK_RANGE_BYTES +
                     options->num_parts * (arrays * BOOK_CHECKSUM_BYTES + sparse * BOOK_NNZ_BYTES);
    if (bytes > JSON_FILE_BYTES_MAX)
        return error_set(error, TR_ETOOBIG,
                         "%u partitions of %" PRIu64 " arrays each: the partition book would have "
                         "%" PRIu64 " bytes, at most %zu are possible; use fewer partitions",
                         options->num_parts, arrays, bytes, JSON_FILE_BYTES_MAX);
    if (options->trainers > BOOK_TRAINERS_MAX)
        return error_set(error, TR_EINVAL, "%u trainers were asked for: 1 to %d are possible",
                         options->trainers, BOOK_TRAINERS_MAX);
    if (options->halo_hops > BOOK_HALO_HOPS_MAX)
        return error_set(error, TR_EINVAL, "%u halo hops were asked for: 0 to %d are possible",
                         options->halo_hops, BOOK_HALO_HOPS_MAX);
    return 0;
}

/* Destinations of out-edges are 4 bytes, without a table of columns. */
static int check_out_edges(const struct raw_graph *raw, const struct partition_options *options,
                           struct error *error)
{
    for (uint32_t e = 0; options->out_edges && e < raw->types.num_etypes; e++) {
        uint32_t dst = raw->types.etypes[e].dst;
        if (raw->num_nodes[dst] > job_columns_max(options))
            return error_set(error, TR_EUNSUPPORTED,
                             "out-edges to node type %s, which has %" PRIu64
                             " nodes, cannot be stored; at most %" PRIu64
                             " nodes are possible: partition without out-edges",
                             raw->types.ntypes[dst], raw->num_nodes[dst], job_columns_max(options));
    }
    return 0;
}

static int check_tables(const struct raw_graph *raw, const struct partition_options *options,
                        struct error *error)
{
    uint32_t masks = 0;
    for (uint32_t i = 0; options->train_mask != NULL && i < raw->num_tables; i++)
        masks += !raw->tables[i].on_edges && strcmp(raw->tables[i].name, options->train_mask) == 0;
    if (options->train_mask != NULL && masks == 0)
        return error_set(error, TR_ENOENT, "the input has no table '%s' that names training nodes",
                         options->train_mask);
    for (uint32_t i = 0; options->trainers > 0 && i < raw->num_tables; i++) {
        if (!raw->tables[i].on_edges && strcmp(raw->tables[i].name, PARTITION_TRAINER_ID) == 0)
            return error_set(error, TR_EEXIST,
                             "the input has a table '" PARTITION_TRAINER_ID
                             "', the name under which the trainers of nodes are stored; rename it");
    }
    /* The bounds that readers of the partition book hold it to. */
    if (raw->num_tables > BOOK_TABLES_MAX - raw->types.num_ntypes)
        return error_set(error, TR_ETOOBIG, "%u features; at most %u are possible", raw->num_tables,
                         BOOK_TABLES_MAX - raw->types.num_ntypes);
    for (uint32_t i = 0; i < raw->num_tables; i++) {
        uint64_t largest = raw->tables[i].width;
        for (uint32_t d = 0; d < raw->tables[i].ndim; d++)
            largest = raw->tables[i].shape[d] > largest ? raw->tables[i].shape[d] : largest;
        if (largest > INT32_MAX)
            return error_set(error, TR_ETOOBIG,
                             "feature '%s': rows of %" PRIu64 " elements; at most %d are possible",
                             raw->tables[i].name, largest, INT32_MAX);
    }
    return 0;
}

/* Takes name, the longest that a feature or type gives to a file. */
static int check_length(char *name, const char *what, const char *of, struct error *error)
{
    size_t length = name == NULL ? 0 : strlen(name);
    int rv = name == NULL ? job_no_memory(error, "a file's name", 0) : 0;
    if (length > NAME_MAX)
        rv = error_set(error, TR_ETOOBIG,
                       "%s '%.80s' would make a file's name of %zu bytes, at most %d are possible; "
                       "shorten it",
                       what, of, length, NAME_MAX);
    free(name);
    return rv;
}

static int check_names(const struct raw_graph *raw, struct error *error)
{
    const struct graph_types *types = &raw->types;
    int rv = 0;
    for (uint32_t i = 0; i < types->num_ntypes && rv == 0; i++)
        rv = check_length(part_file_node(types, i, PART_ORIGINAL_IDS), "node type",
                          types->ntypes[i], error);
    for (uint32_t i = 0; i < types->num_etypes && rv == 0; i++)
        rv = check_length(part_file_edge(types, i, PART_COLUMN_GLOBAL), "edge type",
                          types->etypes[i].name, error);
    for (uint32_t i = 0; i < raw->num_tables && rv == 0; i++) {
        const struct raw_table *table = &raw->tables[i];
        char *name = table->csr != NULL
                         ? part_file_csr(types, table->type, table->name, PART_CSR_COLUMNS)
                         : part_file_feature(types, table->on_edges, table->type, table->name);
        rv = check_length(name, "feature", table->name, error);
    }
    return rv;
}

int partition_check(const struct raw_graph *raw, const struct partition_options *options,
                    struct error *error)
{
    int rv = check_numbers(raw, options, error);
    if (rv == 0)
        rv = check_out_edges(raw, options, error);
    if (rv == 0)
        rv = check_tables(raw, options, error);
    if (rv == 0 && options->name != NULL)
        rv = raw_check_name(options->name, error);
    return rv == 0 ? check_names(raw, error) : rv;
}
