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
#include "api/features_report.h"
#include "api/open_raw.h"
#include "api/public_error.h"
#include "api/sized.h"
#include "api/task_run.h"
#include "partition/generate/generate.h"
#include "partition/import/debian.h"
#include "partition/import/npz_import.h"
#include "partition/import/ogb_import.h"
#include "partition/raw/edge_import.h"
#include "partition/raw/raw.h"
#include "partition/raw/raw_write.h"
#include "partition/raw/reverse_pairs.h"
#include "partition/store/replace.h"

_Static_assert(TR_GENERATE_NODES_MAX == GENERATE_NODES_MAX &&
                   TR_GENERATE_EDGES_MAX == GENERATE_EDGES_MAX &&
                   TR_GENERATE_FEATURES_MAX == GENERATE_FEATURES_MAX &&
                   TR_GENERATE_CLASSES_MAX == GENERATE_CLASSES_MAX,
               "callers and generators have the same bounds");

/* What all such tasks have: the first member of what each of them has of its own. */
struct raw_making {
    struct tr_task *task;
    char *out;
    char *from; /* what is imported; NULL: apt-cache, or nothing */
    bool replace;
    uint64_t num_edges; /* to be written; 0: not known */
    struct cancel cancel;
};

static void raw_task_destroy(void *arg)
{
    struct raw_making *making = arg;
    free(making->out);
    free(making->from);
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

/* What is read stays where it is. features: may be NULL. */
static int check_inputs(const struct raw_making *making, const char *features, struct error *error)
{
    if (!making->replace)
        return 0;
    int rv = replace_check_input(files_posix, making->out, making->from, error);
    return rv == 0 ? replace_check_input(files_posix, making->out, features, error) : rv;
}

/* Zeroed memory of so many bytes, a raw_making at their begin, with copies of what every such task
 * needs. from: may be NULL. */
static void *raw_task_create(size_t bytes, const char *out, const char *from, bool replace,
                             struct tr_error *error)
{
    struct raw_making *making = calloc(1, bytes);
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

struct generate_making {
    struct raw_making base;
    enum tr_generate_kind kind;
    struct generate_options options;
};

static int run_generate(struct tr_task *task, void *arg, struct error *error)
{
    struct generate_making *making = arg;
    struct raw_write_options write = raw_task_prepare(&making->base, task);
    const char *out = making->base.out;
    switch (making->kind) {
    case TR_GENERATE_SKEW:
        return generate_skew(out, &making->options, &write, error);
    case TR_GENERATE_RMAT:
        return generate_rmat(out, &making->options, &write, error);
    case TR_GENERATE_SBM:
        return generate_sbm(out, &making->options, &write, error);
    }
    return error_set(error, TR_EINVAL, "kind %d is not a value of enum tr_generate_kind",
                     (int)making->kind);
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
    struct generate_making *making = raw_task_create(sizeof *making, options.out, NULL,
                                                     options.replace, error);
    if (making == NULL)
        return options.out == NULL || options.out[0] == '\0' ? TR_EINVAL : TR_ENOMEM;
    making->kind = options.kind;
    making->base.num_edges = options.num_edges;
    making->options = (struct generate_options){ .num_nodes = options.num_nodes,
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

struct edges_making {
    struct raw_making base;
    char *source, *target; /* columns; NULL: not named */
    char *node_features;   /* a file; NULL: none */
    enum svmlight_base feature_base;
    enum raw_rows rows;
    bool reverse_types;
    struct raw_options read;
    struct raw_edges_found found;
    struct node_features_found features;
};

static void edges_task_destroy(void *arg)
{
    struct edges_making *making = arg;
    free(making->source);
    free(making->target);
    free(making->node_features);
    raw_edges_found_fini(&making->found);
    raw_task_destroy(making);
}

/* What has to be read whole before it is written. */
static int read_and_copy(struct edges_making *making, const struct raw_write_options *write,
                         struct error *error)
{
    struct node_features features = { 0 };
    struct reverse_pairs reverse = { 0 };
    struct raw_graph *graph = NULL;
    /* Where equal edges are merged, reverses that were there already do no harm. */
    bool looks = making->read.undirected && making->read.duplicates != RAW_DUPLICATES_MERGE;
    int rv = 0;
    if (making->node_features != NULL)
        rv = node_features_read(&features, files_posix, making->node_features, making->feature_base,
                                &making->base.cancel, error);
    if (rv == 0)
        rv = raw_open(making->base.from, &making->read, &graph, error);
    if (rv == 0 && making->node_features != NULL)
        rv = node_features_fit(&features, graph, making->read.num_nodes == 0, error);
    if (rv == 0 && looks && reverse_pairs_init(&reverse) != 0)
        rv = error_set(error, TR_ENOMEM, "%s: no memory to look at its edges", making->base.from);
    if (rv != 0)
        goto end;
    /* The graph is closed, and the report asked for later. */
    making->found = graph->found;
    graph->found = (struct raw_edges_found){ 0 };
    for (uint32_t t = 0; t < graph->types.num_etypes; t++)
        making->base.num_edges += graph->num_edges[t] << making->reverse_types;
    rv = raw_copy_with(graph, making->node_features != NULL ? &features : NULL, making->rows,
                       looks ? &reverse : NULL, making->base.out, write, error);
    making->features = features.found;
    if (looks)
        reverse_pairs_count(&reverse, &making->found.pairs_seen, &making->found.pairs_mutual);
end:
    reverse_pairs_fini(&reverse);
    raw_close(graph);
    node_features_fini(&features);
    return rv;
}

static int run_edges(struct tr_task *task, void *arg, struct error *error)
{
    struct edges_making *making = arg;
    struct raw_write_options write = raw_task_prepare(&making->base, task);
    int rv = check_inputs(&making->base, making->node_features, error);
    making->read.cancel = &making->base.cancel;
    write.reverse_types = making->reverse_types;
    if (rv != 0 || making->node_features != NULL || making->reverse_types)
        return rv != 0 ? rv : read_and_copy(making, &write, error);
    rv = edge_import(making->base.from, &making->read, making->base.out, &write, &making->found,
                     error);
    return rv == 1 ? read_and_copy(making, &write, error) : rv;
}

static const struct task_work IMPORT_EDGES_WORK = { "import edges", run_edges, NULL,
                                                    edges_task_destroy, NULL };

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
    rv = features_options_check(options.node_features, options.feature_base, options.rows, error);
    if (rv != 0)
        return rv;
    struct edges_making *making = raw_task_create(sizeof *making, options.out, options.path,
                                                  options.replace, error);
    if (making == NULL)
        return options.out == NULL || options.out[0] == '\0' ? TR_EINVAL : TR_ENOMEM;
    making->source = options.source != NULL ? strdup(options.source) : NULL;
    making->target = options.target != NULL ? strdup(options.target) : NULL;
    making->node_features = options.node_features != NULL ? strdup(options.node_features) : NULL;
    making->feature_base = (enum svmlight_base)options.feature_base;
    making->rows = (enum raw_rows)options.rows;
    making->reverse_types = options.reverse_types;
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
             (options.target != NULL && making->target == NULL) ||
             (options.node_features != NULL && making->node_features == NULL))
        rv = tr_error_set(error, TR_ENOMEM, "%s: no memory to begin", options.path);
    if (rv != 0) {
        edges_task_destroy(making);
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
    const struct raw_edges_found *found = &((const struct edges_making *)making)->found;
    known.header_line = found->header_line;
    known.source_name = found->source_name;
    known.target_name = found->target_name;
    known.source_column = found->source_column;
    known.target_column = found->target_column;
    known.num_columns = found->num_columns;
    known.smallest_id = found->smallest_id;
    known.largest_id = found->largest_id;
    known.num_lines = found->num_lines;
    known.self_loops = found->self_loops;
    known.duplicates = found->duplicates;
    known.pairs_seen = found->pairs_seen;
    known.pairs_mutual = found->pairs_mutual;
    known.two_kinds = found->two_kinds;
    known.says_undirected = found->says_undirected;
    known.maybe_two_kinds = found->maybe_two_kinds;
    tr_task_leave(task);
    return sized_write(report, &known, sizeof known, "tr_import_edges_report", error);
}

int tr_import_edges_features(struct tr_task *task, struct tr_import_features_report *report,
                             struct tr_error *error)
{
    void *making;
    int rv = task_enter_ended(task, &IMPORT_EDGES_WORK, "import of edges", &making, error);
    if (rv != 0)
        return rv;
    struct node_features_found found = ((const struct edges_making *)making)->features;
    tr_task_leave(task);
    return features_report_write(&found, report, error);
}

struct npz_making {
    struct raw_making base;
    struct npz_import_options options;
    struct npz_facts facts;
};

static void npz_task_destroy(void *arg)
{
    struct npz_making *making = arg;
    npz_facts_fini(&making->facts);
    raw_task_destroy(making);
}

static int run_npz(struct tr_task *task, void *arg, struct error *error)
{
    struct npz_making *making = arg;
    struct raw_write_options write = raw_task_prepare(&making->base, task);
    int rv = check_inputs(&making->base, NULL, error);
    return rv != 0 ? rv
                   : npz_import(making->base.from, &making->options, making->base.out, &write,
                                &making->facts, error);
}

static const struct task_work IMPORT_NPZ_WORK = { "import npz", run_npz, NULL, npz_task_destroy,
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
    if (options.rows > TR_ROWS_SPARSE)
        return tr_error_set(error, TR_EINVAL, "rows: %u is not a value of enum tr_import_rows",
                            options.rows);
    struct npz_making *making = raw_task_create(sizeof *making, options.out, options.path,
                                                options.replace, error);
    if (making == NULL)
        return options.out == NULL || options.out[0] == '\0' ? TR_EINVAL : TR_ENOMEM;
    making->options = (struct npz_import_options){ .undirected = options.undirected,
                                                   .split = options.split,
                                                   .loops = rules.loops,
                                                   .duplicates = rules.duplicates,
                                                   .rows = (enum raw_rows)options.rows };
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
    const struct npz_facts *facts = &((const struct npz_making *)making)->facts;
    known.edges_name = facts->edges_name;
    known.features_name = facts->features_name;
    known.labels_name = facts->labels_name;
    known.unread = facts->unread;
    known.sparse_items = facts->sparse_items;
    known.feature_items = facts->feature_items;
    known.sparse_bytes = facts->sparse_bytes;
    known.dense_bytes = facts->dense_bytes;
    known.kept_sparse = facts->kept_sparse;
    known.self_loops = facts->self_loops;
    known.duplicates = facts->duplicates;
    known.pairs_seen = facts->pairs_seen;
    known.pairs_mutual = facts->pairs_mutual;
    known.num_splits = facts->num_splits;
    known.split = ((const struct npz_making *)making)->options.split;
    tr_task_leave(task);
    return sized_write(report, &known, sizeof known, "tr_import_npz_report", error);
}

struct ogb_making {
    struct raw_making base;
    char *split; /* NULL: not named */
    struct ogb_import_options options;
    struct ogb_facts facts;
};

static void ogb_task_destroy(void *arg)
{
    struct ogb_making *making = arg;
    free(making->split);
    ogb_facts_fini(&making->facts);
    raw_task_destroy(making);
}

static int run_ogb(struct tr_task *task, void *arg, struct error *error)
{
    struct ogb_making *making = arg;
    struct raw_write_options write = raw_task_prepare(&making->base, task);
    int rv = check_inputs(&making->base, NULL, error);
    return rv != 0 ? rv
                   : ogb_import(making->base.from, &making->options, making->base.out, &write,
                                &making->facts, error);
}

static const struct task_work IMPORT_OGB_WORK = { "import ogb", run_ogb, NULL, ogb_task_destroy,
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
    struct ogb_making *making = raw_task_create(sizeof *making, options.out, options.path,
                                                options.replace, error);
    if (making == NULL)
        return options.out == NULL || options.out[0] == '\0' ? TR_EINVAL : TR_ENOMEM;
    making->split = options.split != NULL ? strdup(options.split) : NULL;
    making->options = (struct ogb_import_options){ options.undirected, making->split };
    if (options.split != NULL && making->split == NULL) {
        ogb_task_destroy(making);
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
    const struct ogb_facts *facts = &((const struct ogb_making *)making)->facts;
    known.split = facts->split;
    known.unread = facts->unread;
    known.self_loops = facts->self_loops;
    known.pairs_seen = facts->pairs_seen;
    known.pairs_mutual = facts->pairs_mutual;
    known.pickle = facts->pickle;
    tr_task_leave(task);
    return sized_write(report, &known, sizeof known, "tr_import_ogb_report", error);
}

struct debian_making {
    struct raw_making base;
    bool types;
    char *sources; /* NULL: none */
};

static void debian_destroy(void *arg)
{
    struct debian_making *making = arg;
    free(making->sources);
    raw_task_destroy(arg);
}

/* NULL: the file is not named, or (rv) cannot be opened. */
static FILE *open_text(const char *path, int *rv, struct error *error)
{
    FILE *file = path != NULL ? fopen(path, "re") : NULL;
    *rv = path == NULL || file != NULL ? 0 : error_set_errno(error, errno, "%s", path);
    return file;
}

/* The packages are those of the file, or of apt-cache. */
static int import_packages(struct debian_making *making, struct debian_input *input,
                           const struct raw_write_options *write, struct error *error)
{
    struct apt_reader reader;
    int rv;
    input->packages = open_text(making->base.from, &rv, error);
    if (input->packages != NULL) {
        input->name = making->base.from;
        rv = debian_import(input, making->base.out, write, NULL, error);
        fclose(input->packages);
    } else if (rv == 0) {
        rv = apt_reader_open(&reader, error);
        if (rv != 0)
            return rv;
        input->packages = reader.input;
        input->name = APT_COMMAND;
        rv = debian_import(input, making->base.out, write, NULL, error);
        /* The reader is closed whatever came of the import: how its program ended may be the
         * reason. */
        rv = apt_reader_close(&reader, rv, error);
    }
    return rv;
}

static int run_debian(struct tr_task *task, void *arg, struct error *error)
{
    struct debian_making *making = arg;
    struct raw_write_options write = raw_task_prepare(&making->base, task);
    struct debian_input input = { .typed = making->types, .sources_name = making->sources };
    int rv;
    input.sources = open_text(making->sources, &rv, error);
    if (rv == 0)
        rv = import_packages(making, &input, &write, error);
    if (input.sources != NULL)
        fclose(input.sources);
    return rv;
}

int tr_import_debian_start(const struct tr_import_debian_options *caller, struct tr_task **out,
                           struct tr_error *error)
{
    static const struct task_work WORK = { "import debian", run_debian, NULL, debian_destroy,
                                           NULL };
    struct tr_import_debian_options options = TR_IMPORT_DEBIAN_OPTIONS_INIT;
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_import_debian_options", error);
    if (rv != 0)
        return rv;
    if (options.sources != NULL && !options.types)
        return tr_error_set(error, TR_EINVAL,
                            "\"sources\" gives edges of a type of their own: it needs \"types\"");
    struct debian_making *making = raw_task_create(sizeof *making, options.out, options.from,
                                                   options.replace, error);
    if (making == NULL)
        return options.out == NULL || options.out[0] == '\0' ? TR_EINVAL : TR_ENOMEM;
    making->types = options.types;
    making->sources = options.sources != NULL ? strdup(options.sources) : NULL;
    if (options.sources != NULL && making->sources == NULL) {
        debian_destroy(making);
        return tr_error_set(error, TR_ENOMEM, "%s: no memory to begin", options.out);
    }
    return task_start(&WORK, making, out, error);
}
