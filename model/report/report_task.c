/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tr_report_start(): a page about training runs, on a thread of its own.
 *
 * All that the page is made of is read before it is written, and it appears whole or not at all.
 * What was read belongs to the task's thread until the task has ended, which tr_task_wait() says,
 * and does not change from then on.
 */
#include "config.h" /* asprintf */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/file.h>
#include <troupe/report.h>

#include "api/sized.h"
#include "model/regular_file.h"
#include "model/report/report_page.h"

_Static_assert(TR_REPORT_RUNS_MAX == LINES_MAX, "a chart has a line for each run");

/* zeroed first. */
struct report_work {
    char *out;
    char *run_paths[TR_REPORT_RUNS_MAX];
    char *class_paths[TR_REPORT_CLASSES_MAX];
    size_t num_run_paths, num_class_paths;
    struct run_record runs[TR_REPORT_RUNS_MAX];
    size_t num_runs;
    struct page_graph graphs[TR_REPORT_RUNS_MAX];
    size_t num_graphs;
    struct class_scores classes[TR_REPORT_RUNS_MAX + TR_REPORT_CLASSES_MAX];
    size_t num_classes;
};

static const char report_kind = 0; /* its address is the kind of the task */

static int add_classes(struct report_work *work, const char *path, struct tr_error *error)
{
    int rv = class_scores_read(&work->classes[work->num_classes], path, error);
    work->num_classes += rv == 0;
    return rv;
}

/* The run's own by-class.json, where it is there. */
static int add_run_classes(struct report_work *work, const char *run, struct tr_error *error)
{
    char *path;
    if (asprintf(&path, "%s/by-class.json", run) < 0)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory", run);
    int rv = add_classes(work, path, error);
    free(path);
    return rv == TR_ENOENT ? 0 : rv;
}

/* A graph that is not here any more, or was changed, takes nothing from the rest of a report. */
static void add_graph(struct report_work *work, struct tr_task *task, const char *path)
{
    const struct tr_error none = TR_ERROR_INIT;
    for (size_t i = 0; i < work->num_graphs; i++)
        if (strcmp(work->graphs[i].path, path) == 0)
            return;
    struct page_graph *graph = &work->graphs[work->num_graphs++];
    graph->path = path;
    graph->why = none;
    graph->why.code = graph_facts_read(&graph->facts, path, task, &graph->why);
}

static int report_read(struct report_work *work, struct tr_task *task, struct tr_error *error)
{
    int rv = 0;
    for (size_t i = 0; i < work->num_run_paths && rv == 0; i++) {
        tr_task_report(task, "reading runs", "", i, work->num_run_paths);
        rv = run_record_open(&work->runs[work->num_runs], work->run_paths[i], error);
        if (rv == 0)
            rv = add_run_classes(work, work->runs[work->num_runs++].path, error);
        if (rv == 0 && tr_task_is_cancelled(task))
            rv = tr_error_set(error, TR_ECANCELED, "the report was cancelled");
    }
    for (size_t i = 0; i < work->num_class_paths && rv == 0; i++)
        rv = add_classes(work, work->class_paths[i], error);
    for (size_t i = 0; i < work->num_runs && rv == 0; i++) {
        add_graph(work, task, work->runs[i].graph);
        if (tr_task_is_cancelled(task))
            rv = tr_error_set(error, TR_ECANCELED, "the report was cancelled");
    }
    return rv;
}

/* A page takes the place of an older page, and of no other file: a run's own metrics.jsonl is soon
 * named by mistake. */
static int check_out(const char *path, struct tr_error *error)
{
    char head[sizeof REPORT_PAGE_HEAD] = "";
    FILE *file;
    int rv = regular_file_open(path, &file, error);
    if (rv != 0)
        return rv == TR_ENOENT ? 0 : rv;
    bool is_page = fgets(head, sizeof head, file) != NULL && strcmp(head, REPORT_PAGE_HEAD) == 0;
    fclose(file);
    return is_page ? 0
                   : tr_error_set(error, TR_EEXIST,
                                  "%s: there is another file of that name; remove it, or name "
                                  "another one by options.out",
                                  path);
}

static int write_page(const struct report_work *work, struct tr_error *error)
{
    const struct report_page page = { .runs = work->runs,
                                      .num_runs = work->num_runs,
                                      .graphs = work->graphs,
                                      .num_graphs = work->num_graphs,
                                      .classes = work->classes,
                                      .num_classes = work->num_classes };
    struct html html;
    html_init(&html);
    report_page_write(&html, &page);
    int rv = html.failed ? tr_error_set(error, TR_ENOMEM, "%s: no memory for the page", work->out)
                         : tr_file_write(work->out, html.text, html.used, error);
    html_fini(&html);
    return rv;
}

static int report_task_run(struct tr_task *task, void *arg, struct tr_error *error)
{
    struct report_work *work = arg;
    /* Before what may take long: the name is refused at once. */
    int rv = check_out(work->out, error);
    if (rv == 0)
        rv = report_read(work, task, error);
    if (rv != 0)
        return rv;
    tr_task_report(task, "writing the page", "", 0, 0);
    return write_page(work, error);
}

static void report_task_destroy(void *arg)
{
    struct report_work *work = arg;
    for (size_t i = 0; i < work->num_runs; i++)
        run_record_close(&work->runs[i]);
    for (size_t i = 0; i < work->num_graphs; i++)
        graph_facts_free(&work->graphs[i].facts);
    for (size_t i = 0; i < work->num_classes; i++)
        class_scores_free(&work->classes[i]);
    for (size_t i = 0; i < work->num_run_paths; i++)
        free(work->run_paths[i]);
    for (size_t i = 0; i < work->num_class_paths; i++)
        free(work->class_paths[i]);
    free(work->out);
    free(work);
}

/* Copies paths; *taken counts those that are there, also after a failure. */
static int copy_paths(char **to, size_t *taken, const char *const *from, size_t count,
                      const char *what, struct tr_error *error)
{
    for (; *taken < count; ++*taken) {
        if (from[*taken] == NULL || from[*taken][0] == '\0')
            return tr_error_set(error, TR_EINVAL, "options.%s: number %zu is not named", what,
                                *taken);
        to[*taken] = strdup(from[*taken]);
        if (to[*taken] == NULL)
            return tr_error_set(error, TR_ENOMEM, "no memory for a report");
    }
    return 0;
}

static int check_options(const struct tr_report_options *options, struct tr_error *error)
{
    if (options->out == NULL || options->out[0] == '\0')
        return tr_error_set(error, TR_EINVAL, "options.out: the page is not named");
    if (options->num_runs == 0 || options->num_runs > TR_REPORT_RUNS_MAX || options->runs == NULL)
        return tr_error_set(error, TR_EINVAL, "options.runs: %zu runs; give 1 to %d",
                            options->num_runs, TR_REPORT_RUNS_MAX);
    if (options->num_classes > TR_REPORT_CLASSES_MAX ||
        (options->num_classes > 0 && options->classes == NULL))
        return tr_error_set(error, TR_EINVAL, "options.classes: %zu files; give at most %d",
                            options->num_classes, TR_REPORT_CLASSES_MAX);
    return 0;
}

int tr_report_start(const struct tr_report_options *options, struct tr_task **out,
                    struct tr_error *error)
{
    struct tr_report_options read = TR_REPORT_OPTIONS_INIT;
    struct tr_task_work task = TR_TASK_WORK_INIT;
    *out = NULL;
    int rv = sized_read(&read, sizeof read, options, "tr_report_options", error);
    if (rv == 0)
        rv = check_options(&read, error);
    if (rv != 0)
        return rv;
    struct report_work *work = calloc(1, sizeof *work);
    if (work == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a report");
    work->out = strdup(read.out);
    if (work->out == NULL)
        rv = tr_error_set(error, TR_ENOMEM, "no memory for a report");
    if (rv == 0)
        rv = copy_paths(work->run_paths, &work->num_run_paths, read.runs, read.num_runs, "runs",
                        error);
    if (rv == 0)
        rv = copy_paths(work->class_paths, &work->num_class_paths, read.classes, read.num_classes,
                        "classes", error);
    if (rv != 0) {
        report_task_destroy(work);
        return rv;
    }
    task.name = "report";
    task.kind = &report_kind;
    task.run = report_task_run;
    task.destroy = report_task_destroy;
    return tr_task_start(&task, work, out, error);
}

/* Begins a call on a task that has written its page. */
static int report_task_enter(struct tr_task *task, struct report_work **work,
                             struct tr_error *error)
{
    void *arg;
    int rv = tr_task_enter(task, &report_kind, &arg, error);
    *work = arg;
    if (rv != 0)
        return rv == TR_EINVAL ? tr_error_set(error, rv, "the task writes no report") : rv;
    rv = tr_task_wait(task, 0, error);
    if (rv != 0)
        tr_task_leave(task);
    return rv;
}

int tr_report_get_result(struct tr_task *task, struct tr_report_result *result,
                         struct tr_error *error)
{
    struct report_work *work;
    int rv = report_task_enter(task, &work, error);
    if (rv != 0)
        return rv;
    const struct tr_report_result known = { .size = sizeof known,
                                            .runs = work->num_runs,
                                            .classes = work->num_classes,
                                            .graphs = work->num_graphs };
    rv = sized_write(result, &known, sizeof known, "tr_report_result", error);
    tr_task_leave(task);
    return rv;
}

int tr_report_get_graph(struct tr_task *task, uint64_t index, struct tr_report_graph *graph,
                        struct tr_error *error)
{
    struct report_work *work;
    int rv = report_task_enter(task, &work, error);
    if (rv != 0)
        return rv;
    if (index < work->num_graphs) {
        const struct page_graph *from = &work->graphs[index];
        const struct tr_report_graph known = { .size = sizeof known,
                                               .path = from->path,
                                               .why = from->why.code != 0 ? from->why.message
                                                                          : NULL };
        rv = sized_write(graph, &known, sizeof known, "tr_report_graph", error);
    } else {
        rv = tr_error_set(error, TR_ERANGE, "there is no graph %llu; the report has %zu",
                          (unsigned long long)index, work->num_graphs);
    }
    tr_task_leave(task);
    return rv;
}
