/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that write a raw graph: generators and imports.
 *
 * All of them are one writer (partition/raw/raw_write.h) fed by different sources, so they share
 * the destination, cancelling and progress; a source is one function that runs on the task's
 * thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/generate.h>
#include <troupe/import.h>

#include "api/apt_reader.h"
#include "api/open_raw.h"
#include "api/public_error.h"
#include "api/sized.h"
#include "api/task_run.h"
#include "partition/generate/generate.h"
#include "partition/import/debian.h"
#include "partition/import/npz_import.h"
#include "partition/import/ogb_import.h"
#include "partition/raw/raw.h"
#include "partition/raw/raw_write.h"

_Static_assert(TR_GENERATE_NODES_MAX == GENERATE_NODES_MAX &&
                   TR_GENERATE_EDGES_MAX == GENERATE_EDGES_MAX &&
                   TR_GENERATE_FEATURES_MAX == GENERATE_FEATURES_MAX &&
                   TR_GENERATE_CLASSES_MAX == GENERATE_CLASSES_MAX,
               "callers and generators have the same bounds");

struct raw_making {
    struct tr_task *task;
    char *out;
    char *from; /* what is imported; NULL: apt-cache, or nothing */
    bool replace;
    uint64_t num_edges;           /* to be written; 0: not known */
    struct raw_edges_found found; /* of an import of edges */
    char *source, *target;        /* columns; NULL: not named */
    enum tr_generate_kind kind;
    struct generate_options generate;
    struct raw_options read;
    struct npz_import_options npz;
    struct npz_facts npz_facts;
    struct ogb_import_options ogb; /* its split is `source` */
    struct ogb_facts ogb_facts;
    struct cancel cancel;
};

static void raw_task_destroy(void *arg)
{
    struct raw_making *making = arg;
    free(making->out);
    free(making->from);
    free(making->source);
    free(making->target);
    raw_edges_found_fini(&making->found);
    npz_facts_fini(&making->npz_facts);
    ogb_facts_fini(&making->ogb_facts);
    free(making);
}

/* The writer tells edges by their number alone, and features in bytes. */
static void report_written(void *arg, const char *what, uint64_t done, uint64_t total)
{
    struct raw_making *making = arg;
    bool edges = strcmp(what, "edges") == 0;
    tr_task_report(making->task, what, edges ? "edges" : "bytes", done,
                   edges ? making->num_edges : total);
}

static struct raw_write_options raw_task_prepare(struct raw_making *making, struct tr_task *task)
{
    making->task = task;
    making->cancel = task_cancel(task);
    return (struct raw_write_options){ .cancel = &making->cancel,
                                       .replace = making->replace,
                                       .progress = report_written,
                                       .progress_arg = making };
}

/* Copies what every such task needs. from: may be NULL. */
static struct raw_making *raw_task_create(const char *out, const char *from, bool replace,
                                          struct tr_error *error)
{
    struct raw_making *making = calloc(1, sizeof *making);
    if (out == NULL || out[0] == '\0') {
        tr_error_set(error, TR_EINVAL, "out: the folder to make is not named");
        goto fail;
    }
    if (making == NULL)
        goto no_memory;
    making->replace = replace;
    making->out = strdup(out);
    making->from = from != NULL ? strdup(from) : NULL;
    if (making->out == NULL || (from != NULL && making->from == NULL))
        goto no_memory;
    return making;
no_memory:
    tr_error_set(error, TR_ENOMEM, "%s: no memory to begin", out);
fail:
    if (making != NULL)
        raw_task_destroy(making);
    return NULL;
}

static int run_generate(struct tr_task *task, void *arg, struct error *error)
{
    struct raw_making *making = arg;
    struct raw_write_options write = raw_task_prepare(making, task);
    switch (making->kind) {
    case TR_GENERATE_SKEW:
        return generate_skew(making->out, &making->generate, &write, error);
    case TR_GENERATE_RMAT:
        return generate_rmat(making->out, &making->generate, &write, error);
    case TR_GENERATE_SBM:
        return generate_sbm(making->out, &making->generate, &write, error);
    }
    return error_set(error, TR_EINVAL, "kind %d: there is no such generator", (int)making->kind);
}

static const struct tr_generate_options DEFAULTS = {
    .size = sizeof DEFAULTS,
    .kind = TR_GENERATE_SKEW,
    .num_features = 16,
    .num_classes = 8,
    .signal = 0.5,
    .inside = 0.8,
    .quadrants = { 0.57, 0.19, 0.19, 0.05 },
};

void tr_generate_options_init_sized(struct tr_generate_options *options, size_t size)
{
    sized_init(options, size, &DEFAULTS, sizeof DEFAULTS);
}

int tr_generate_start(const struct tr_generate_options *caller, struct tr_task **out,
                      struct tr_error *error)
{
    static const struct task_work WORK = { "generate", run_generate, NULL, raw_task_destroy, NULL };
    struct tr_generate_options options = DEFAULTS;
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_generate_options", error);
    if (rv != 0)
        return rv;
    struct raw_making *making = raw_task_create(options.out, NULL, options.replace, error);
    if (making == NULL)
        return options.out == NULL || options.out[0] == '\0' ? TR_EINVAL : TR_ENOMEM;
    making->kind = options.kind;
    making->num_edges = options.num_edges;
    making->generate = (struct generate_options){ .num_nodes = options.num_nodes,
                                                  .num_edges = options.num_edges,
                                                  .num_features = options.num_features,
                                                  .num_classes = options.num_classes,
                                                  .seed = options.seed,
                                                  .a = options.quadrants[0],
                                                  .b = options.quadrants[1],
                                                  .c = options.quadrants[2],
                                                  .d = options.quadrants[3],
                                                  .inside = options.inside,
                                                  .signal = options.signal };
    return task_start(&WORK, making, out, error);
}

static int run_edges(struct tr_task *task, void *arg, struct error *error)
{
    struct raw_making *making = arg;
    struct raw_write_options write = raw_task_prepare(making, task);
    struct raw_graph *graph;
    making->read.cancel = &making->cancel;
    int rv = raw_open(making->from, &making->read, &graph, error);
    if (rv != 0)
        return rv;
    /* The graph is closed, and the report asked for later. */
    making->found = graph->found;
    graph->found = (struct raw_edges_found){ 0 };
    for (uint32_t t = 0; t < graph->types.num_etypes; t++)
        making->num_edges += graph->num_edges[t];
    rv = raw_copy(graph, making->out, &write, error);
    raw_close(graph);
    return rv;
}

static const struct task_work IMPORT_EDGES_WORK = { "import edges", run_edges, NULL,
                                                    raw_task_destroy, NULL };

int tr_import_edges_start(const struct tr_import_edges_options *caller, struct tr_task **out,
                          struct tr_error *error)
{
    struct tr_import_edges_options options = TR_IMPORT_EDGES_OPTIONS_INIT;
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_import_edges_options", error);
    if (rv != 0)
        return rv;
    if (options.path == NULL)
        return tr_error_set(error, TR_EINVAL, "path: the file to import is not named");
    struct raw_making *making = raw_task_create(options.out, options.path, options.replace, error);
    if (making == NULL)
        return options.out == NULL || options.out[0] == '\0' ? TR_EINVAL : TR_ENOMEM;
    making->source = options.source != NULL ? strdup(options.source) : NULL;
    making->target = options.target != NULL ? strdup(options.target) : NULL;
    making->read = (struct raw_options){ .undirected = options.undirected,
                                         .num_nodes = options.num_nodes,
                                         .delimiter = options.delimiter,
                                         .source = making->source,
                                         .target = making->target,
                                         .first_id = options.first_id,
                                         .loops = (enum raw_loops)options.loops,
                                         .duplicates = (enum raw_duplicates)options.duplicates };
    struct error inner = { 0 };
    rv = raw_options_check(&making->read, &inner);
    if (rv != 0)
        error_give(&inner, error);
    else if ((options.source != NULL && making->source == NULL) ||
             (options.target != NULL && making->target == NULL))
        rv = tr_error_set(error, TR_ENOMEM, "%s: no memory to begin", options.path);
    if (rv != 0) {
        raw_task_destroy(making);
        return rv;
    }
    return task_start(&IMPORT_EDGES_WORK, making, out, error);
}

int tr_import_edges_result(struct tr_task *task, struct tr_import_edges_report *report,
                           struct tr_error *error)
{
    void *making;
    int rv = task_enter_ended(task, &IMPORT_EDGES_WORK, "import of edges", &making, error);
    if (rv != 0)
        return rv;
    struct tr_import_edges_report known = TR_IMPORT_EDGES_REPORT_INIT;
    const struct raw_edges_found *found = &((const struct raw_making *)making)->found;
    known.header_line = found->header_line;
    known.source_name = found->source_name;
    known.target_name = found->target_name;
    known.source_column = found->source_column;
    known.target_column = found->target_column;
    known.num_columns = found->num_columns;
    known.smallest_id = found->smallest_id;
    known.largest_id = found->largest_id;
    known.self_loops = found->self_loops;
    known.duplicates = found->duplicates;
    tr_task_leave(task);
    return sized_write(report, &known, sizeof known, "tr_import_edges_report", error);
}

static int run_npz(struct tr_task *task, void *arg, struct error *error)
{
    struct raw_making *making = arg;
    struct raw_write_options write = raw_task_prepare(making, task);
    return npz_import(making->from, &making->npz, making->out, &write, &making->npz_facts, error);
}

static const struct task_work IMPORT_NPZ_WORK = { "import npz", run_npz, NULL, raw_task_destroy,
                                                  NULL };

int tr_import_npz_start(const struct tr_import_npz_options *caller, struct tr_task **out,
                        struct tr_error *error)
{
    struct tr_import_npz_options options = TR_IMPORT_NPZ_OPTIONS_INIT;
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_import_npz_options", error);
    if (rv != 0)
        return rv;
    if (options.path == NULL)
        return tr_error_set(error, TR_EINVAL, "path: the archive to import is not named");
    struct error inner = { 0 };
    const struct raw_options rules = { .loops = (enum raw_loops)options.loops,
                                       .duplicates = (enum raw_duplicates)options.duplicates };
    if (raw_options_check(&rules, &inner) != 0)
        return error_give(&inner, error);
    struct raw_making *making = raw_task_create(options.out, options.path, options.replace, error);
    if (making == NULL)
        return options.out == NULL || options.out[0] == '\0' ? TR_EINVAL : TR_ENOMEM;
    making->npz = (struct npz_import_options){ .undirected = options.undirected,
                                               .split = options.split,
                                               .loops = rules.loops,
                                               .duplicates = rules.duplicates };
    return task_start(&IMPORT_NPZ_WORK, making, out, error);
}

int tr_import_npz_result(struct tr_task *task, struct tr_import_npz_report *report,
                         struct tr_error *error)
{
    void *making;
    int rv = task_enter_ended(task, &IMPORT_NPZ_WORK, "import of an archive", &making, error);
    if (rv != 0)
        return rv;
    struct tr_import_npz_report known = TR_IMPORT_NPZ_REPORT_INIT;
    const struct npz_facts *facts = &((const struct raw_making *)making)->npz_facts;
    known.edges_name = facts->edges_name;
    known.features_name = facts->features_name;
    known.labels_name = facts->labels_name;
    known.unread = facts->unread;
    known.sparse_items = facts->sparse_items;
    known.self_loops = facts->self_loops;
    known.duplicates = facts->duplicates;
    known.pairs_seen = facts->pairs_seen;
    known.pairs_mutual = facts->pairs_mutual;
    known.num_splits = facts->num_splits;
    known.split = ((const struct raw_making *)making)->npz.split;
    tr_task_leave(task);
    return sized_write(report, &known, sizeof known, "tr_import_npz_report", error);
}

static int run_ogb(struct tr_task *task, void *arg, struct error *error)
{
    struct raw_making *making = arg;
    struct raw_write_options write = raw_task_prepare(making, task);
    return ogb_import(making->from, &making->ogb, making->out, &write, &making->ogb_facts, error);
}

static const struct task_work IMPORT_OGB_WORK = { "import ogb", run_ogb, NULL, raw_task_destroy,
                                                  NULL };

int tr_import_ogb_start(const struct tr_import_ogb_options *caller, struct tr_task **out,
                        struct tr_error *error)
{
    struct tr_import_ogb_options options = TR_IMPORT_OGB_OPTIONS_INIT;
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_import_ogb_options", error);
    if (rv != 0)
        return rv;
    if (options.path == NULL)
        return tr_error_set(error, TR_EINVAL, "path: the folder to import is not named");
    struct raw_making *making = raw_task_create(options.out, options.path, options.replace, error);
    if (making == NULL)
        return options.out == NULL || options.out[0] == '\0' ? TR_EINVAL : TR_ENOMEM;
    making->source = options.split != NULL ? strdup(options.split) : NULL;
    making->ogb = (struct ogb_import_options){ options.undirected, making->source };
    if (options.split != NULL && making->source == NULL) {
        raw_task_destroy(making);
        return tr_error_set(error, TR_ENOMEM, "%s: no memory to begin", options.path);
    }
    return task_start(&IMPORT_OGB_WORK, making, out, error);
}

int tr_import_ogb_result(struct tr_task *task, struct tr_import_ogb_report *report,
                         struct tr_error *error)
{
    void *making;
    int rv = task_enter_ended(task, &IMPORT_OGB_WORK, "import of a benchmark's folder", &making,
                              error);
    if (rv != 0)
        return rv;
    struct tr_import_ogb_report known = TR_IMPORT_OGB_REPORT_INIT;
    const struct ogb_facts *facts = &((const struct raw_making *)making)->ogb_facts;
    known.split = facts->split;
    known.unread = facts->unread;
    known.self_loops = facts->self_loops;
    known.pairs_seen = facts->pairs_seen;
    known.pairs_mutual = facts->pairs_mutual;
    known.pickle = facts->pickle;
    tr_task_leave(task);
    return sized_write(report, &known, sizeof known, "tr_import_ogb_report", error);
}

static int run_debian(struct tr_task *task, void *arg, struct error *error)
{
    struct raw_making *making = arg;
    struct raw_write_options write = raw_task_prepare(making, task);
    if (making->from == NULL) {
        struct apt_reader reader;
        int rv = apt_reader_open(&reader, error);
        if (rv != 0)
            return rv;
        rv = debian_import(reader.input, APT_COMMAND, making->out, &write, NULL, error);
        /* The reader is closed whatever came of the import: how its program ended may be the
         * reason. */
        return apt_reader_close(&reader, rv, error);
    }
    FILE *input = fopen(making->from, "re");
    if (input == NULL)
        return error_set_errno(error, errno, "%s", making->from);
    int rv = debian_import(input, making->from, making->out, &write, NULL, error);
    fclose(input);
    return rv;
}

int tr_import_debian_start(const struct tr_import_debian_options *caller, struct tr_task **out,
                           struct tr_error *error)
{
    static const struct task_work WORK = { "import debian", run_debian, NULL, raw_task_destroy,
                                           NULL };
    struct tr_import_debian_options options = TR_IMPORT_DEBIAN_OPTIONS_INIT;
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_import_debian_options", error);
    if (rv != 0)
        return rv;
    struct raw_making *making = raw_task_create(options.out, options.from, options.replace, error);
    if (making == NULL)
        return options.out == NULL || options.out[0] == '\0' ? TR_EINVAL : TR_ENOMEM;
    return task_start(&WORK, making, out, error);
}
