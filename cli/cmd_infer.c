/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe infer`: predicts the class of every node with a trained model.
 */
#define _GNU_SOURCE /* asprintf */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <troupe/model.h>

#include "cli/infer_files.h"
#include "cli/lib/canceller.h"
#include "cli/lib/class_names.h"
#include "cli/lib/command_log.h"
#include "cli/lib/fail.h"
#include "cli/lib/graph_path.h"
#include "cli/lib/next_step.h"
#include "cli/lib/options.h"
#include "cli/lib/report.h"

struct infer_values {
    const char *run;
    const char *out;
    const char *embeddings;
    bool by_class;
    bool exact;
    bool sampled;
    uint64_t epoch;
    uint64_t threads;
    uint64_t loops;
    bool map;
    bool verify;
    bool json;
    bool quiet;
};

#define AT(field) offsetof(struct infer_values, field)

static const struct option_spec OPTIONS[] = {
    { .name = "run",
      .kind = OPTION_TEXT,
      .offset = AT(run),
      .metavar = "RUNDIR",
      .required = true,
      .help = "the folder of the training run" },
    { .name = "exact",
      .kind = OPTION_FLAG,
      .offset = AT(exact),
      .help = "use all neighbours of every node, layer by layer: the default" },
    { .name = "sampled",
      .kind = OPTION_FLAG,
      .offset = AT(sampled),
      .help = "draw neighbours as in training: less memory on large graphs, other scores" },
    { .name = "out",
      .kind = OPTION_TEXT,
      .offset = AT(out),
      .metavar = "FILE",
      .made = true,
      .help = "write the class of each node here (.csv, .jsonl), or the outputs (.npy)" },
    { .name = "embeddings",
      .kind = OPTION_TEXT,
      .offset = AT(embeddings),
      .metavar = "FILE.npy",
      .made = true,
      .help = "write the rows of the last hidden layer here" },
    { .name = "by-class",
      .kind = OPTION_FLAG,
      .offset = AT(by_class),
      .help = "report scores by class of the test nodes, and the confusion matrix" },
    { .name = "epoch",
      .kind = OPTION_COUNT,
      .offset = AT(epoch),
      .metavar = "E",
      .optional = true,
      .max = UINT32_MAX,
      .help = "with --sampled: draw the samples of this epoch; otherwise of epoch 0" },
    OPTION_ROW_THREADS(struct infer_values),
    OPTION_ROW_LOOPS(struct infer_values),
    OPTION_ROW_MAP(struct infer_values),
    OPTION_ROW_VERIFY(struct infer_values),
    OPTION_ROW_JSON(struct infer_values),
    OPTION_ROW_QUIET(struct infer_values),
    OPTION_ROW_END,
};

static const char *const EXAMPLES[] = {
    "troupe infer parts/web.json --run run1",
    "troupe infer parts/web.json --run run1 --out predictions.csv",
    "troupe infer parts/web.json --run run1 --sampled --embeddings embeddings.npy",
    NULL,
};

#define STOPPED "stopped by a signal; each output is whole or as it was before"

/* Threads that are stuck in the BLAS end with the process alone. */
static void cmd_infer_show(const struct tr_model_event *event, const struct canceller *canceller,
                           bool quiet)
{
    if (event->kind == TR_MODEL_WARNING && quiet)
        return;
    /* Relaxed: the flag carries no other data. */
    if (event->kind == TR_MODEL_STUCK &&
        atomic_load_explicit(&canceller->signals.cancelled, memory_order_relaxed)) {
        fputs("troupe infer: " STOPPED "\n", stderr);
    } else {
        command_log_message(NULL, TR_LOG_WARN, "troupe", event->text, OPTIONS);
    }
    if (event->kind == TR_MODEL_STUCK) {
        fflush(NULL);
        _exit(EXIT_FAILED);
    }
}

static int wait_for_end(struct tr_task *task, const struct canceller *canceller, bool quiet,
                        struct tr_error *error)
{
    struct tr_model_event event = TR_MODEL_EVENT_INIT;
    while (tr_model_next_event(task, TR_WAIT_FOREVER, &event, NULL) == 0)
        cmd_infer_show(&event, canceller, quiet);
    return tr_task_wait(task, TR_WAIT_FOREVER, error);
}

static int cmd_infer_score(struct tr_task *task, enum tr_split split, const char *key,
                           struct report *report, struct tr_error *error)
{
    struct tr_scores scores = TR_SCORES_INIT;
    int rv = tr_infer_get_scores(task, split, &scores, error);
    if (rv != 0 || scores.labelled == 0)
        return rv;
    report_row(report, "scores");
    report_text(report, "split", "split", key);
    report_count(report, "labelled", "labelled", scores.labelled);
    report_real(report, "accuracy", "accuracy", scores.accuracy);
    report_real(report, "macro_f1", "macro-F1", scores.macro_f1);
    if (isfinite(scores.roc_auc))
        report_real(report, "roc_auc", "ROC AUC", scores.roc_auc);
    return 0;
}

static double class_ratio(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

/* A row a class: what its nodes were taken for. A figure of nothing is 0. */
static void report_classes(const uint64_t *counts, uint32_t classes,
                           const struct class_names *names, struct report *report)
{
    for (uint32_t c = 0; c < classes; c++) {
        const uint64_t *row = counts + (size_t)c * classes;
        uint64_t labelled = 0, predicted = 0;
        for (uint32_t other = 0; other < classes; other++) {
            labelled += row[other];
            predicted += counts[(size_t)other * classes + c];
        }
        report_row(report, "classes");
        report_count(report, "class", "class", c);
        const char *name = class_names_find(names, c);
        if (names->count > 0)
            report_text(report, "name", "name", name != NULL ? name : "");
        report_count(report, "labelled", "labelled", labelled);
        report_count(report, "predicted", "predicted", predicted);
        report_real(report, "precision", "precision", class_ratio(row[c], predicted));
        report_real(report, "recall", "recall", class_ratio(row[c], labelled));
        report_real(report, "f1", "F1", class_ratio(2 * row[c], labelled + predicted));
        report_cells(report, "taken_for", "taken for", row, classes);
    }
    report_rows_end(report);
}

static int cmd_infer_confusion(struct tr_task *task, uint64_t classes,
                               const struct class_names *names, struct report *report,
                               struct tr_error *error)
{
    size_t size = classes <= TR_CONFUSION_CLASSES_MAX ? (size_t)(classes * classes) : 0;
    uint64_t *counts = calloc(size + 1, sizeof *counts);
    if (counts == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a confusion matrix");
    int rv = tr_infer_get_confusion(task, TR_SPLIT_TEST, counts, size, error);
    if (rv == 0)
        report_classes(counts, (uint32_t)classes, names, report);
    free(counts);
    return rv;
}

static void infer_next(struct report *report, const char *run)
{
    char *page;
    if (asprintf(&page, "%s/report.html", run) < 0) {
        report->failed = true;
        return;
    }
    next_step(report, (const char *const[]){ "troupe", "report", run, "--out", page, NULL });
    free(page);
}

/* What has outputs: nodes of one type, or of both that links join. */
struct typed_nodes {
    uint32_t count;
    const char *names[2];
    uint64_t nodes[2], classes;
};

static int find_nodes(struct tr_task *task, struct typed_nodes *found, struct tr_error *error)
{
    *found = (struct typed_nodes){ 0 };
    for (; found->count < 2; found->count++) {
        struct tr_rows outputs = TR_ROWS_INIT;
        int rv = tr_infer_node_type(task, found->count, &found->names[found->count], error);
        if (rv == TR_ERANGE)
            return 0;
        if (rv == 0)
            rv = tr_infer_get_outputs_of(task, found->count, &outputs, error);
        if (rv != 0)
            return rv;
        found->nodes[found->count] = outputs.num_rows;
        found->classes = outputs.width;
    }
    return 0;
}

static void report_types(const struct typed_nodes *found, struct report *report)
{
    for (uint32_t i = 0; found->count > 1 && i < found->count; i++) {
        report_row(report, "node_types");
        report_text(report, "type", "node type", found->names[i]);
        report_count(report, "nodes", "nodes", found->nodes[i]);
    }
    if (found->count > 1)
        report_rows_end(report);
}

static int report_outputs(struct tr_task *task, const struct infer_values *values,
                          const struct class_names *names, struct tr_error *error)
{
    struct report report;
    struct typed_nodes found;
    int rv = find_nodes(task, &found, error);
    if (rv != 0)
        return rv;
    report_init(&report, values->json);
    report_text(&report, "run", "run", values->run);
    report_count(&report, "nodes", "nodes", found.nodes[0] + found.nodes[1]);
    report_text(&report, "inference", "inference", values->sampled ? "sampled" : "exact");
    report_types(&found, &report);
    if (rv == 0)
        rv = cmd_infer_score(task, TR_SPLIT_TRAIN, "train", &report, error);
    if (rv == 0)
        rv = cmd_infer_score(task, TR_SPLIT_VALIDATION, "validation", &report, error);
    if (rv == 0)
        rv = cmd_infer_score(task, TR_SPLIT_TEST, "test", &report, error);
    report_rows_end(&report);
    if (rv == 0 && values->by_class)
        rv = cmd_infer_confusion(task, found.classes, names, &report, error);
    if (rv != 0) {
        report_fini(&report);
        return rv;
    }
    infer_next(&report, values->run);
    return report_print(&report, error);
}

/* Before anything is computed: a run without a confusion matrix is refused by its model alone, and
 * the names of its classes in the graph are read. */
static int check_by_class(const char *run, const char *graph, struct class_names *names,
                          struct tr_error *error)
{
    struct tr_model_info info = TR_MODEL_INFO_INIT;
    struct tr_model *model;
    int rv = tr_model_open(run, &model, error);
    if (rv != 0)
        return rv;
    rv = tr_model_info(model, &info, error);
    if (rv == 0 && strcmp(info.task, "link") == 0)
        rv = tr_error_set(error, TR_EUNSUPPORTED,
                          "%s: its model is one of links, which has no classes; leave --by-class "
                          "out, and write its outputs by --out FILE.npy",
                          run);
    else if (rv == 0 && strcmp(info.loss, "softmax") != 0)
        rv = tr_error_set(error, TR_EUNSUPPORTED,
                          "%s: its model has several labels a node, each yes or no, so there is no "
                          "confusion matrix; leave --by-class out, and write the probability of "
                          "each label by --out FILE.csv",
                          run);
    else if (rv == 0 && info.classes > TR_CONFUSION_CLASSES_MAX)
        rv = tr_error_set(
            error, TR_ETOOBIG,
            "%s: its model has %u classes, and a confusion matrix has at most %d; "
            "leave --by-class out, and write the class of each node by --out FILE.csv",
            run, info.classes, TR_CONFUSION_CLASSES_MAX);
    if (rv == 0)
        rv = class_names_read(names, graph, info.labels, info.classes, error);
    tr_model_close(model);
    return rv;
}

static int cmd_infer_infer(const char *graph, const struct infer_values *values,
                           const struct class_names *names, struct canceller *canceller,
                           struct tr_error *error)
{
    struct tr_infer_options options;
    struct tr_task *task;
    tr_infer_options_init(&options);
    options.graph = graph;
    options.run = values->run;
    options.sampled = values->sampled;
    options.epoch = values->epoch == OPTION_NOT_GIVEN ? 0 : (uint32_t)values->epoch;
    options.loops = (uint32_t)values->loops;
    options.threads = (uint32_t)values->threads;
    options.map_files = values->map;
    options.verify_files = values->verify;
    options.embeddings = values->embeddings != NULL;
    int rv = tr_infer_start(&options, &task, error);
    if (rv != 0)
        return rv;
    canceller_watch(canceller, task);
    rv = wait_for_end(task, canceller, values->quiet, error);
    /* The outputs are written before the report, so that a report says that they are there. */
    if (rv == 0 && values->out != NULL)
        rv = tr_infer_write(task, values->out, error);
    if (rv == 0 && values->embeddings != NULL)
        rv = tr_infer_write_embeddings(task, values->embeddings, error);
    if (rv == 0)
        rv = report_outputs(task, values, names, error);
    /* The canceller lets go before the task is closed, so that no signal finds one that is gone. */
    canceller_watch(canceller, NULL);
    tr_task_close(task);
    return rv;
}

static int check_ways(const struct infer_values *values, struct tr_error *error)
{
    if (values->exact && values->sampled)
        return tr_error_set(error, TR_EINVAL,
                            "--exact and --sampled are opposites; give one of them");
    if (values->epoch != OPTION_NOT_GIVEN && !values->sampled)
        return tr_error_set(error, TR_EINVAL,
                            "--epoch says which neighbours are drawn, and all are used; give "
                            "--sampled too, or leave it out");
    return 0;
}

static int infer_run(const struct invocation *invocation, const void *values)
{
    const struct infer_values *infer = values;
    struct tr_error error = TR_ERROR_INIT;
    struct class_names names = { 0 };
    struct canceller canceller;
    char *graph = NULL;
    const struct infer_files files = { infer->out, infer->embeddings };
    if (check_ways(infer, &error) != 0 || infer_files_check_names(&files, &error) != 0)
        return fail_usage(invocation, &error);
    int rv = infer_files_check(&files, infer->run, &error);
    if (rv == 0)
        rv = graph_path_find(invocation->operands[0], &graph, &error);
    if (rv == 0 && infer->by_class)
        rv = check_by_class(infer->run, graph, &names, &error);
    if (rv == 0)
        rv = canceller_begin(&canceller, NULL, NULL, &error);
    if (rv == 0) {
        rv = cmd_infer_infer(graph, infer, &names, &canceller, &error);
        canceller_end(&canceller);
        /* The library says where it was interrupted, which is no matter to who stopped it. The
         * thread that sets the flag has ended. */
        if (rv == TR_ECANCELED && canceller.fired)
            rv = tr_error_set(&error, rv, STOPPED);
    }
    class_names_free(&names);
    free(graph);
    return rv == 0 ? EXIT_DONE : fail(invocation, &error);
}

const struct command command_infer = {
    .name = "infer",
    .summary = "Predict every node with a trained model",
    .operands = "DIR|DIR/NAME.json",
    .operands_min = 1,
    .operands_max = 1,
    .options = OPTIONS,
    .values_size = sizeof(struct infer_values),
    .examples = EXAMPLES,
    .run = infer_run,
};
