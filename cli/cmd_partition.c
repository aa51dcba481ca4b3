/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe partition`: a raw graph becomes a directory of partitions.
 */
#define _GNU_SOURCE /* asprintf */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/book.h>
#include <troupe/partition.h>

#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/follow.h"
#include "cli/lib/next_step.h"
#include "cli/lib/raw_report.h"
#include "cli/lib/report.h"

struct partition_values {
    uint64_t parts;
    const char *method;
    const char *out;
    const char *name;
    int objective;
    struct text_list balance_ntypes;
    bool balance_edges;
    uint64_t halo_hops;
    uint64_t trainers;
    const char *train_mask;
    uint64_t seed;
    bool drop_edge_ids;
    bool out_edges;
    bool undirected;
    uint64_t num_nodes;
    uint64_t threads;
    bool replace;
    bool json;
    bool quiet;
};

#define AT(field) offsetof(struct partition_values, field)

static const struct option_spec OPTIONS[] = {
    { .name = "parts",
      .field = "num_parts",
      .kind = OPTION_COUNT,
      .offset = AT(parts),
      .metavar = "K",
      .required = true,
      .min = 1,
      .max = TR_PARTS_MAX,
      .help = "how many partitions to make" },
    { .name = "out",
      .kind = OPTION_TEXT,
      .offset = AT(out),
      .metavar = "DIR",
      .made = true,
      .required = true,
      .help = "the directory to make" },
    { .name = "method",
      .field = "\"method\"",
      .kind = OPTION_TEXT,
      .offset = AT(method),
      .metavar = "metis|random|FILE",
      .fallback = "metis",
      .help = "how nodes get their partitions; FILE has the number of a partition for each node" },
    { .name = "name",
      .kind = OPTION_TEXT,
      .offset = AT(name),
      .metavar = "NAME",
      .help = "the graph's name, DIR/NAME.json; otherwise the raw graph's" },
    { .name = "objective",
      .kind = OPTION_CHOICE,
      .offset = AT(objective),
      .choices = "cut|volume",
      .fallback = "cut",
      .help = "what METIS minimises: edges cut, or communication volume" },
    { .name = "balance-ntypes",
      .kind = OPTION_TEXTS,
      .offset = AT(balance_ntypes),
      .metavar = "TABLE",
      .help = "spread each class of nodes evenly; TABLE is the feature with the classes, such as "
              "train_mask" },
    { .name = "balance-edges",
      .kind = OPTION_FLAG,
      .offset = AT(balance_edges),
      .help = "spread the edges evenly too" },
    { .name = "halo-hops",
      .kind = OPTION_COUNT,
      .offset = AT(halo_hops),
      .metavar = "H",
      .fallback = "1",
      .max = TR_HALO_HOPS_MAX,
      .help = "list in the files of each partition the nodes up to H hops away" },
    { .name = "trainers",
      .kind = OPTION_COUNT,
      .offset = AT(trainers),
      .metavar = "T",
      .max = TR_PARTS_MAX,
      .help = "give each training node to one of T trainers of the job" },
    { .name = "train-mask",
      .kind = OPTION_TEXT,
      .offset = AT(train_mask),
      .metavar = "TABLE",
      .help = "the mask of the nodes for trainers; otherwise train_mask" },
    { .name = "seed",
      .kind = OPTION_COUNT,
      .offset = AT(seed),
      .metavar = "S",
      .fallback = "0",
      .help = "seed of all random choices" },
    { .name = "drop-edge-ids",
      .kind = OPTION_FLAG,
      .offset = AT(drop_edge_ids),
      .help = "do not keep original edge IDs: 8 bytes an edge less" },
    { .name = "out-edges",
      .kind = OPTION_FLAG,
      .offset = AT(out_edges),
      .help = "store out-edges too, for questions and draws along them: 12 bytes an edge more" },
    { .name = "undirected",
      .field = "\"undirected\"",
      .kind = OPTION_FLAG,
      .offset = AT(undirected),
      .help = "for an edge list: add the reverse of each edge" },
    { .name = "num-nodes",
      .field = "num_nodes",
      .kind = OPTION_COUNT,
      .offset = AT(num_nodes),
      .metavar = "N",
      .min = 1,
      .help = "for an edge list: number of nodes; otherwise the largest ID plus 1" },
    { .name = "threads",
      .kind = OPTION_COUNT,
      .offset = AT(threads),
      .metavar = "N",
      .min = 1,
      .max = 1024,
      .help = "threads to use; otherwise one per core" },
    { .name = "replace",
      .kind = OPTION_FLAG,
      .offset = AT(replace),
      .help = "replace DIR where it is there" },
    OPTION_ROW_JSON(struct partition_values),
    OPTION_ROW_QUIET(struct partition_values),
    OPTION_ROW_END,
};

static struct tr_partition_options options_of(const char *raw,
                                              const struct partition_values *values)
{
    struct tr_partition_options options;
    tr_partition_options_init(&options);
    options.raw = raw;
    options.out = values->out;
    options.replace = values->replace;
    options.num_parts = (uint32_t)values->parts;
    options.halo_hops = (uint32_t)values->halo_hops;
    options.name = values->name;
    options.method = values->method;
    options.minimise_volume = values->objective == 1;
    options.balance_edges = values->balance_edges;
    options.balance_tables = values->balance_ntypes.values;
    options.num_balance_tables = values->balance_ntypes.count;
    options.trainers = (uint32_t)values->trainers;
    options.train_mask = values->train_mask;
    options.seed = values->seed;
    options.drop_edge_ids = values->drop_edge_ids;
    options.out_edges = values->out_edges;
    options.threads = (uint32_t)values->threads;
    options.undirected = values->undirected;
    options.num_nodes = values->num_nodes;
    return options;
}

/* What `troupe train` reads where no option names other tables. */
static const char *const TRAINED_BY[] = { "feat", "label", "train_mask" };
#define NUM_TRAINED_BY (sizeof TRAINED_BY / sizeof *TRAINED_BY)

/* The first of those tables that the nodes have not; NULL: there are all. */
static const char *find_missing(const struct tr_book *book, const struct tr_book_info *info)
{
    bool there[NUM_TRAINED_BY] = { false };
    for (uint32_t t = 0; t < info->num_tables; t++) {
        struct tr_table_info table = TR_TABLE_INFO_INIT;
        if (tr_book_table(book, t, &table, NULL) != 0 || table.on_edges)
            continue;
        for (size_t i = 0; i < NUM_TRAINED_BY; i++)
            there[i] |= strcmp(table.name, TRAINED_BY[i]) == 0;
    }
    for (size_t i = 0; i < NUM_TRAINED_BY; i++)
        if (!there[i])
            return TRAINED_BY[i];
    return NULL;
}

/* Of several node types: whether the nodes of one have labels, and parts of a split. Features are not
 * needed there. */
static bool has_typed_labels(const struct tr_book *book, const struct tr_book_info *info)
{
    uint64_t labelled = 0, split = 0; /* a bit a type */
    for (uint32_t t = 0; t < info->num_tables; t++) {
        struct tr_table_info table = TR_TABLE_INFO_INIT;
        if (tr_book_table(book, t, &table, NULL) != 0 || table.on_edges || table.type >= 64)
            continue;
        labelled |= (uint64_t)(strcmp(table.name, "label") == 0) << table.type;
        split |= (uint64_t)(strcmp(table.name, "train_mask") == 0) << table.type;
    }
    return (labelled & split) != 0;
}

static void report_training(struct report *report, const struct tr_book *book, const char *path,
                            const char *raw, const char *out)
{
    struct tr_book_info info = TR_BOOK_INFO_INIT;
    char hint[256], *run = NULL;
    if (tr_book_info(book, &info, NULL) != 0)
        return;
    /* Of several node types the options of training say which one is meant. */
    const char *missing = info.num_ntypes == 1 ? find_missing(book, &info) : NULL;
    if (missing != NULL) {
        snprintf(hint, sizeof hint,
                 "to train, nodes need '%s'; see troupe-split(1) for masks, troupe-feature(1) for "
                 "features, and \"Features, labels and masks\" in troupe-import(1)",
                 missing);
        report_text(report, "hint", "hint", hint);
    }
    if (missing != NULL && raw_report_mend(report, raw))
        return;
    if (missing != NULL || (info.num_ntypes != 1 && !has_typed_labels(book, &info))) {
        const char *const words[] = { "troupe", "inspect", path, NULL };
        next_step(report, words);
        return;
    }
    size_t length = strlen(out);
    while (length > 1 && out[length - 1] == '/')
        length--;
    if (asprintf(&run, "%.*s-run", (int)length, out) < 0) {
        report->failed = true;
        return;
    }
    const char *const words[] = { "troupe", "train", path, "--run", run, NULL };
    next_step(report, words);
    free(run);
}

/* More would push the figures of the whole out of sight; `troupe inspect` shows any number. */
#define PARTS_SHOWN 64u

/* What the files of each partition hold. */
static void report_parts(struct report *report, const struct tr_book *book)
{
    struct tr_book_info info = TR_BOOK_INFO_INIT;
    if (tr_book_info(book, &info, NULL) != 0 || info.num_parts > PARTS_SHOWN)
        return;
    for (uint32_t p = 0; p < info.num_parts; p++) {
        struct tr_part_info part = TR_PART_INFO_INIT;
        if (tr_book_part(book, p, &part, NULL) != 0)
            break;
        report_row(report, "partitions");
        report_count(report, "part", "partition", p);
        report_count(report, "nodes", "nodes", part.num_nodes);
        report_count(report, "edges", "edges", part.num_edges);
        report_count(report, "halo_nodes", "halo nodes", part.halo_nodes);
        report_bytes(report, "bytes", "files", part.file_bytes);
    }
    report_rows_end(report);
}

/* What was written, and the command that comes next: what trains on the graph, or adds to the raw
 * graph what that needs. */
static void report_book(struct report *report, const char *path, const char *raw, const char *out)
{
    struct tr_book *book;
    if (tr_book_open(path, &book, NULL) != 0)
        return;
    report_parts(report, book);
    report_training(report, book, path, raw, out);
    tr_book_close(book);
}

static void report_result(struct report *report, const struct partition_values *values,
                          const struct tr_partition_report *result)
{
    report_text(report, "out", "partitions in", values->out);
    report_text(report, "graph", "graph", result->book);
    report_count(report, "parts", "partitions", values->parts);
    report_count(report, "nodes", "nodes", result->num_nodes);
    report_count(report, "edges", "edges", result->num_edges);
    if (result->header_line != 0)
        report_count(report, "header_line", "line skipped as a header", result->header_line);
    if (result->header_files != 0)
        report_count(report, "header_files", "files with a line skipped as a header",
                     result->header_files);
    report_count(report, "cut_edges", "edges cut", result->cut_edges);
    report_share(report, "cut_share", "share of edges cut", result->cut_share);
    report_real(report, "node_balance", "node balance (largest / mean)", result->node_balance);
    report_real(report, "edge_balance", "edge balance (largest / mean)", result->edge_balance);
    if (result->train_balance > 0)
        report_real(report, "train_balance", "training node balance", result->train_balance);
    report_count(report, "halo_nodes", "halo nodes one hop away", result->halo_nodes);
    report_share(report, "halo_share", "halo share", result->halo_share);
    report_count(report, "halo_hops", "halo hops listed", values->halo_hops);
    report_count(report, "listed_halo_nodes", "halo nodes in the files", result->listed_halo_nodes);
    report_count(report, "listed_halo_max", "of one partition, at most", result->listed_halo_max);
    if (result->metis_seconds > 0) {
        report_count(report, "metis_objective", "METIS's objective",
                     (uint64_t)result->metis_objective);
        report_seconds(report, "metis_seconds", "METIS's own time", result->metis_seconds);
        report_bytes(report, "metis_peak_bytes", "METIS's peak memory", result->metis_peak_bytes);
    }
    if (result->metis_unasked != NULL)
        report_text(report, "metis_unasked", "METIS was not run", result->metis_unasked);
    report_seconds(report, "total_seconds", "whole time", result->total_seconds);
    report_bytes(report, "peak_bytes", "peak memory", result->peak_bytes);
    for (uint32_t c = 0; c < result->num_classes && c < TR_BALANCE_CLASSES_MAX; c++) {
        report_row(report, "classes");
        report_count(report, "class", "class", c);
        report_real(report, "balance", "balance", result->class_balance[c]);
    }
    for (uint32_t hop = 0; hop < values->halo_hops; hop++) {
        report_row(report, "hops");
        report_count(report, "hop", "hop", hop + 1);
        report_count(report, "halo_nodes", "halo nodes", result->hop_halo_nodes[hop]);
    }
    report_rows_end(report);
}

/* The report names the book, whose path is the task's. */
static int print_result(struct tr_task *task, const struct partition_values *values,
                        const char *raw, struct tr_error *error)
{
    struct tr_partition_report result = TR_PARTITION_REPORT_INIT;
    struct report report;
    int rv = tr_partition_result(task, &result, error);
    if (rv != 0)
        return rv;
    report_init(&report, values->json);
    report_result(&report, values, &result);
    report_book(&report, result.book, raw, values->out);
    return report_print(&report, error);
}

static int partition_start(const void *options, struct tr_task **out, struct tr_error *error)
{
    return tr_partition_start(options, out, error);
}

static int cmd_partition_split(const struct invocation *invocation,
                               const struct partition_values *values, struct tr_error *error)
{
    const struct tr_partition_options options = options_of(invocation->operands[0], values);
    struct tr_task *task = NULL;
    int rv = follow_task(values->quiet, partition_start, &options, &task, error);
    if (rv == 0)
        rv = print_result(task, values, options.raw, error);
    tr_task_close(task);
    return rv;
}

static int cmd_partition_run(const struct invocation *invocation, const void *opaque)
{
    struct tr_error error = TR_ERROR_INIT;
    return cmd_partition_split(invocation, opaque, &error) != 0 ? fail(invocation, &error)
                                                                : EXIT_DONE;
}

static const char *const EXAMPLES[] = {
    "troupe partition raw --parts 4 --out parts --name graph",
    "troupe partition links.csv.gz --undirected --parts 2 --method random --out parts",
    "troupe partition raw --parts 8 --balance-ntypes train_mask --balance-edges --out parts",
    NULL,
};

const struct command command_partition = {
    .name = "partition",
    .summary = "Split a raw graph into partitions",
    .operands = "RAW|FILE",
    .operands_min = 1,
    .operands_max = 1,
    .options = OPTIONS,
    .values_size = sizeof(struct partition_values),
    .examples = EXAMPLES,
    .run = cmd_partition_run,
};
