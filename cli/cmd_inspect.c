/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe inspect`: what a raw graph, a partition directory or a folder of checkpoints holds.
 *
 * Only the heads of files are read, so that a look at a big graph is quick.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/lib/checkpoint_list.h"
#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/report.h"
#include "partition/raw/raw.h"
#include "partition/store/inspect.h"
#include "partition/store/store.h"

struct inspect_values {
    bool json;
};

static const struct option_spec OPTIONS[] = { OPTION_ROW_JSON(struct inspect_values),
                                              OPTION_ROW_END };

static void report_table(struct report *report, const char *type, const char *name,
                         enum tr_dtype dtype, uint32_t ndim, const uint64_t *shape)
{
    report_row(report, "features");
    report_text(report, "type", "feature of", type);
    report_text(report, "name", "name", name);
    report_text(report, "dtype", "dtype", tr_dtype_name(dtype));
    report_counts(report, "shape", "row", shape, ndim);
}

static void report_types(struct report *report, const struct graph_types *types,
                         const uint64_t *num_nodes, const uint64_t *num_edges)
{
    for (uint32_t t = 0; t < types->num_ntypes; t++) {
        report_row(report, "node_types");
        report_text(report, "type", "node type", types->ntypes[t]);
        report_count(report, "nodes", "nodes", num_nodes[t]);
    }
    for (uint32_t t = 0; t < types->num_etypes; t++) {
        char name[512];
        graph_types_canonical(types, t, name, sizeof name);
        report_row(report, "edge_types");
        report_text(report, "type", "edge type", name);
        report_count(report, "edges", "edges", num_edges[t]);
    }
    report_rows_end(report);
}

static void report_raw(struct report *report, const struct raw_graph *raw)
{
    report_text(report, "kind", "kind", "raw graph");
    report_text(report, "graph", "graph", raw->name);
    report_types(report, &raw->types, raw->num_nodes, raw->num_edges);
    for (uint32_t i = 0; i < raw->num_tables; i++) {
        const struct raw_table *table = &raw->tables[i];
        char type[512];
        if (table->on_edges)
            graph_types_canonical(&raw->types, table->type, type, sizeof type);
        else
            snprintf(type, sizeof type, "%s", raw->types.ntypes[table->type]);
        report_table(report, type, table->name, table->dtype, table->ndim, table->shape);
    }
    report_rows_end(report);
}

static void report_book_tables(struct report *report, const struct book_file *file)
{
    for (uint32_t i = 0; i < file->num_tables; i++) {
        const struct book_table *table = &file->tables[i];
        char type[512];
        if (table->on_edges)
            graph_types_canonical(&file->book.types, table->type, type, sizeof type);
        else
            snprintf(type, sizeof type, "%s", file->book.types.ntypes[table->type]);
        report_table(report, type, table->name, table->dtype, table->ndim, table->shape);
    }
    report_rows_end(report);
}

static void report_parts(struct report *report, const struct inspection *inspection)
{
    for (uint32_t p = 0; p < inspection->file->book.num_parts; p++) {
        const struct inspect_part *part = &inspection->parts[p];
        report_row(report, "partitions");
        report_count(report, "part", "partition", p);
        report_count(report, "nodes", "nodes", part->num_nodes);
        report_count(report, "edges", "edges", part->num_edges);
        report_count(report, "halo_nodes", "halo", part->halo_nodes);
        report_bytes(report, "topology_bytes", "topology", part->topology_bytes);
        report_bytes(report, "feature_bytes", "features", part->feature_bytes);
        report_bytes(report, "bytes", "files", part->file_bytes);
    }
    report_rows_end(report);
}

static int report_store(struct report *report, struct store *store, struct error *error)
{
    const struct book *book = store_book(store);
    struct inspection inspection;
    int rc = inspect_init(&inspection, store, error);
    if (rc < 0)
        return rc;
    report_text(report, "kind", "kind", "partitioned graph");
    report_text(report, "graph", "graph", book->graph_name);
    report_count(report, "parts", "partitions", book->num_parts);
    report_text(report, "method", "method", book->part_method);
    report_count(report, "halo_hops", "halo hops", book->halo_hops);
    report_count(report, "trainers", "trainers of the deal", inspection.file->num_trainers);
    report_real(report, "node_balance", "node balance (largest / mean)", inspection.node_balance);
    report_real(report, "edge_balance", "edge balance (largest / mean)", inspection.edge_balance);
    report_bytes(report, "bytes", "files", inspection.file_bytes);
    report_flag(report, "checksums", "checksums", store_has_checksums(store));
    report_types(report, &book->types, book->num_nodes, book->num_edges);
    report_book_tables(report, inspection.file);
    report_parts(report, &inspection);
    inspect_fini(&inspection);
    return 0;
}

/* A partition directory is named by its book, DIR/NAME.json; anything else is a raw graph. */
static bool names_book(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    struct stat facts;
    return length > 5 && strcmp(name + length - 5, ".json") == 0 &&
           strcmp(name, "metadata.json") != 0 &&
           !(stat(path, &facts) == 0 && S_ISDIR(facts.st_mode));
}

static int inspect_book(struct report *report, const char *path, struct error *error)
{
    struct store *store;
    int rc = store_open(path, &store, error);
    if (rc < 0)
        return rc;
    rc = report_store(report, store, error);
    store_close(store);
    return rc;
}

static int inspect_raw(struct report *report, const char *path, struct error *error)
{
    struct raw_graph *raw;
    int rc = raw_open(path, NULL, &raw, error);
    if (rc < 0)
        return rc;
    report_raw(report, raw);
    raw_close(raw);
    return 0;
}

static int run(const struct invocation *invocation, const void *opaque)
{
    const struct inspect_values *values = opaque;
    const char *path = invocation->operands[0];
    struct error error = { 0 };
    struct report report;
    report_init(&report, values->json);
    int rc = names_book(path)          ? inspect_book(&report, path, &error)
             : checkpoints_named(path) ? checkpoints_inspect(path, &report, &error)
                                       : inspect_raw(&report, path, &error);
    if (rc < 0) {
        report_fini(&report);
        return fail(invocation, &error);
    }
    return report_print(&report, &error) < 0 ? fail(invocation, &error) : EXIT_DONE;
}

static const char *const EXAMPLES[] = {
    "troupe inspect raw",
    "troupe inspect parts/graph.json --json",
    "troupe inspect run/checkpoints",
    "troupe inspect run/checkpoints/checkpoint-40",
    NULL,
};

const struct command command_inspect = {
    .name = "inspect",
    .summary = "Show what a raw graph, a partitioned graph or a checkpoint holds",
    .operands = "RAW|DIR/NAME.json|CHECKPOINTS",
    .operands_min = 1,
    .operands_max = 1,
    .options = OPTIONS,
    .values_size = sizeof(struct inspect_values),
    .examples = EXAMPLES,
    .run = run,
};
