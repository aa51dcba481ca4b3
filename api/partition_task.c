/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The task that partitions: partition/build/partition.h on threads of its own.
 *
 * The report is written by the task's thread before it has finished, and read only when
 * tr_task_wait() says that it has, which orders the two.
 */
#define _GNU_SOURCE /* asprintf */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <troupe/partition.h>

#include "api/public_error.h"
#include "api/sized.h"
#include "api/task_run.h"
#include "partition/build/partition.h"
#include "partition/store/book.h"
#include "partition/store/book_json.h"
#include "partition/store/replace.h"
#include "runtime/core/crew.h"

_Static_assert(TR_PARTS_MAX == BOOK_PARTS_MAX && TR_HALO_HOPS_MAX == BOOK_HALO_HOPS_MAX &&
                   TR_BALANCE_CLASSES_MAX == PARTITION_CLASSES_MAX,
               "callers and partitioning have the same bounds");

static const struct tr_partition_options DEFAULTS = { .size = sizeof DEFAULTS,
                                                      .halo_hops = 1,
                                                      .method = "metis" };

void tr_partition_options_init_sized(struct tr_partition_options *options, size_t size)
{
    sized_init(options, size, &DEFAULTS, sizeof DEFAULTS);
}

struct partition_request {
    char *raw, *out, *name, *assignment, *train_mask;
    char **tables; /* [options.num_balance_tables] */
    struct raw_options read;
    struct partition_options options; /* its texts are those above */
    uint32_t threads;
    struct partition_report result;
    uint64_t header_line, header_files;
    char *book; /* its path, once it is there */
};

static void partition_task_destroy(void *arg)
{
    struct partition_request *p = arg;
    for (uint32_t i = 0; p->tables != NULL && i < p->options.num_balance_tables; i++)
        free(p->tables[i]);
    free(p->tables);
    free(p->raw);
    free(p->out);
    free(p->name);
    free(p->assignment);
    free(p->train_mask);
    free(p->book);
    free(p);
}

/* False: no memory. Nothing is copied of NULL. */
static bool partition_task_copy(char **to, const char *from)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from == NULL || *to != NULL;
}

static enum partition_method method_of(const char *word)
{
    if (strcmp(word, "metis") == 0)
        return PARTITION_METIS;
    return strcmp(word, "random") == 0 ? PARTITION_RANDOM : PARTITION_FILE;
}

static bool copy_tables(struct partition_request *p, const struct tr_partition_options *options)
{
    p->tables = calloc((size_t)options->num_balance_tables + 1, sizeof *p->tables);
    bool whole = p->tables != NULL;
    for (uint32_t i = 0; whole && i < options->num_balance_tables; i++)
        whole = partition_task_copy(&p->tables[i], options->balance_tables[i]);
    return whole;
}

static bool partition_task_fill(struct partition_request *p,
                                const struct tr_partition_options *options)
{
    enum partition_method method = method_of(options->method);
    p->options.num_balance_tables = options->num_balance_tables;
    bool whole = partition_task_copy(&p->raw, options->raw) &&
                 partition_task_copy(&p->out, options->out) &&
                 partition_task_copy(&p->name, options->name) &&
                 partition_task_copy(&p->train_mask, options->train_mask) &&
                 partition_task_copy(&p->assignment,
                                     method == PARTITION_FILE ? options->method : NULL) &&
                 copy_tables(p, options);
    p->read = (struct raw_options){ .undirected = options->undirected,
                                    .num_nodes = options->num_nodes,
                                    .delimiter = options->delimiter,
                                    .remedy = RAW_REMEDY_IMPORT };
    p->threads = options->threads;
    p->options = (struct partition_options){
        .name = p->name,
        .method = method,
        .assignment = p->assignment,
        .num_parts = options->num_parts,
        .seed = options->seed,
        .halo_hops = options->halo_hops,
        .trainers = options->trainers,
        .train_mask = p->train_mask,
        .volume = options->minimise_volume,
        .balance_tables = (const char *const *)p->tables,
        .num_balance_tables = options->num_balance_tables,
        .balance_edges = options->balance_edges,
        .drop_edge_ids = options->drop_edge_ids,
        .out_edges = options->out_edges,
        .replace = options->replace,
    };
    return whole;
}

static size_t count_threads(const struct partition_request *p)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (p->threads > 0)
        return p->threads;
    return cores > 0 ? (size_t)cores : 1;
}

/* What is read stays where it is. */
static int check_replaced(const struct partition_request *p, struct error *error)
{
    int rv = 0;
    if (p->options.replace)
        rv = replace_check_input(files_posix, p->out, p->raw, error);
    if (p->options.replace && rv == 0)
        rv = replace_check_input(files_posix, p->out, p->assignment, error);
    return rv;
}

static int partition_task_run(struct tr_task *task, void *arg, struct error *error)
{
    struct partition_request *p = arg;
    struct cancel cancel = task_cancel(task);
    const struct partition_hooks hooks = { .progress = task_progress,
                                           .arg = task,
                                           .cancel = &cancel };
    struct raw_graph *raw;
    int rv = check_replaced(p, error);
    if (rv != 0)
        return rv;
    p->read.cancel = &cancel;
    /* It is looked for before anything long begins: the word may be misspelt. */
    if (p->options.method == PARTITION_FILE && !files_exists(files_posix, p->assignment))
        return error_set(
            error, TR_ENOENT,
            "\"method\" '%s' is neither metis nor random, and there is no file of that "
            "name, with a partition for each node",
            p->assignment);
    rv = raw_open(p->raw, &p->read, &raw, error);
    if (rv != 0)
        return rv;
    struct parallel *parallel = crew_parallel_create(count_threads(p) - 1);
    if (parallel == NULL) {
        rv = error_set(error, TR_ENOMEM, "cannot start %zu threads; give fewer", count_threads(p));
        goto close_raw;
    }
    size_t length = strlen(p->out);
    while (length > 1 && p->out[length - 1] == '/')
        length--;
    if (asprintf(&p->book, "%.*s/%s.json", (int)length, p->out,
                 p->name != NULL ? p->name : raw->name) < 0) {
        p->book = NULL;
        rv = error_set(error, TR_ENOMEM, "%s: no memory to begin", p->out);
        goto destroy_parallel;
    }
    /* The notes are copied before partitioning may fail, and before the raw graph is closed. */
    p->header_line = raw->found.header_line;
    p->header_files = raw->header_files;
    rv = partition_graph(raw, &p->options, p->out, parallel, &hooks, &p->result, error);
destroy_parallel:
    crew_parallel_destroy(parallel);
close_raw:
    raw_close(raw);
    return rv;
}

static int partition_task_check(const struct tr_partition_options *options, struct tr_error *error)
{
    if (options->raw == NULL)
        return tr_error_set(error, TR_EINVAL, "raw: the graph to partition is not named");
    if (options->out == NULL || options->out[0] == '\0')
        return tr_error_set(error, TR_EINVAL, "out: the directory to make is not named");
    if (options->method == NULL)
        return tr_error_set(error, TR_EINVAL, "method: it is \"metis\", \"random\" or a file");
    for (uint32_t i = 0; i < options->num_balance_tables; i++)
        if (options->balance_tables == NULL || options->balance_tables[i] == NULL)
            return tr_error_set(error, TR_EINVAL, "balance_tables[%u]: it is NULL", i);
    return 0;
}

static const struct task_work PARTITION_WORK = { "partition", partition_task_run, NULL,
                                                 partition_task_destroy, NULL };

int tr_partition_start(const struct tr_partition_options *caller, struct tr_task **out,
                       struct tr_error *error)
{
    struct tr_partition_options options = DEFAULTS;
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_partition_options", error);
    if (rv == 0)
        rv = partition_task_check(&options, error);
    if (rv != 0)
        return rv;
    struct partition_request *p = calloc(1, sizeof *p);
    if (p == NULL || !partition_task_fill(p, &options)) {
        if (p != NULL)
            partition_task_destroy(p);
        return tr_error_set(error, TR_ENOMEM, "%s: no memory to begin", options.raw);
    }
    return task_start(&PARTITION_WORK, p, out, error);
}

int tr_partition_result(struct tr_task *task, struct tr_partition_report *report,
                        struct tr_error *error)
{
    void *arg;
    int rv = task_enter_ended(task, &PARTITION_WORK, "partitioning", &arg, error);
    if (rv != 0)
        return rv;
    const struct partition_request *p = arg;
    const struct partition_report *from = &p->result;
    struct tr_partition_report known = TR_PARTITION_REPORT_INIT;
    known.num_nodes = from->num_nodes;
    known.num_edges = from->num_edges;
    known.cut_edges = from->cut_edges;
    known.cut_share = from->cut_share;
    known.node_balance = from->node_balance;
    known.edge_balance = from->edge_balance;
    known.train_balance = from->train_balance;
    known.halo_nodes = from->halo_nodes;
    known.halo_share = from->halo_share;
    known.num_classes = from->num_classes;
    memcpy(known.class_balance, from->class_balance, sizeof known.class_balance);
    known.metis_objective = from->metis_objective;
    known.metis_seconds = from->metis_seconds;
    known.metis_peak_bytes = from->metis_peak_bytes;
    known.total_seconds = from->total_seconds;
    known.peak_bytes = from->peak_bytes;
    known.header_line = p->header_line;
    known.header_files = p->header_files;
    known.metis_unasked = from->metis_unasked;
    known.book = p->book;
    memcpy(known.hop_halo_nodes, from->hop_halo_nodes, sizeof known.hop_halo_nodes);
    known.listed_halo_nodes = from->listed_halo_nodes;
    known.listed_halo_max = from->listed_halo_max;
    rv = sized_write(report, &known, sizeof known, "tr_partition_report", error);
    tr_task_leave(task);
    return rv;
}
