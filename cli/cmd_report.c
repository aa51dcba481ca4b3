/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe report`: one page of HTML about one or more training runs.
 *
 * All that it is made of is read before the page is written, and the page appears whole or not at
 * all.
 */
#include "config.h" /* asprintf */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/file.h>

#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/regular_file.h"
#include "cli/lib/report.h"
#include "cli/report/report_page.h"

struct report_values {
    const char *out;
    struct text_list classes;
    bool json;
};

#define AT(field) offsetof(struct report_values, field)

static const struct option_spec OPTIONS[] = {
    { .name = "out",
      .kind = OPTION_TEXT,
      .offset = AT(out),
      .metavar = "FILE.html",
      .required = true,
      .help = "write the page here" },
    { .name = "classes",
      .kind = OPTION_TEXTS,
      .offset = AT(classes),
      .metavar = "FILE.json",
      .help = "show the classes of this output of troupe infer --by-class --json too" },
    OPTION_ROW_JSON(struct report_values),
    OPTION_ROW_END,
};

/* Everything that a page is made of; zeroed first. */
struct report_sources {
    struct run_record runs[LINES_MAX];
    size_t num_runs;
    struct page_graph graphs[LINES_MAX];
    size_t num_graphs;
    struct class_scores classes[LINES_MAX + OPTION_LIST_MAX];
    size_t num_classes;
};

static int add_classes(struct report_sources *sources, const char *path, struct tr_error *error)
{
    int rv = class_scores_read(&sources->classes[sources->num_classes], path, error);
    sources->num_classes += rv == 0;
    return rv;
}

/* The run's own by-class.json, where it is there. */
static int add_run_classes(struct report_sources *sources, const char *run, struct tr_error *error)
{
    char *path;
    if (asprintf(&path, "%s/by-class.json", run) < 0)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory", run);
    int rv = add_classes(sources, path, error);
    free(path);
    return rv == TR_ENOENT ? 0 : rv;
}

/* A graph that is not here any more, or was changed, takes nothing from the rest of a report. */
static void add_graph(struct report_sources *sources, const char *path)
{
    const struct tr_error none = TR_ERROR_INIT;
    for (size_t i = 0; i < sources->num_graphs; i++)
        if (strcmp(sources->graphs[i].path, path) == 0)
            return;
    struct page_graph *graph = &sources->graphs[sources->num_graphs++];
    graph->path = path;
    graph->why = none;
    graph->why.code = graph_facts_read(&graph->facts, path, &graph->why);
}

static int read_sources(struct report_sources *sources, const struct invocation *invocation,
                        const struct report_values *values, struct tr_error *error)
{
    int rv = 0;
    for (int i = 0; i < invocation->num_operands && rv == 0; i++) {
        const char *path = invocation->operands[i];
        rv = run_record_open(&sources->runs[sources->num_runs], path, error);
        if (rv == 0)
            rv = add_run_classes(sources, sources->runs[sources->num_runs++].path, error);
    }
    for (uint32_t i = 0; i < values->classes.count && rv == 0; i++)
        rv = add_classes(sources, values->classes.values[i], error);
    for (size_t i = 0; i < sources->num_runs && rv == 0; i++)
        add_graph(sources, sources->runs[i].graph);
    return rv;
}

static void close_sources(struct report_sources *sources)
{
    for (size_t i = 0; i < sources->num_runs; i++)
        run_record_close(&sources->runs[i]);
    for (size_t i = 0; i < sources->num_graphs; i++)
        graph_facts_free(&sources->graphs[i].facts);
    for (size_t i = 0; i < sources->num_classes; i++)
        class_scores_free(&sources->classes[i]);
    free(sources);
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
                                  "another one by --out",
                                  path);
}

static int write_page(const struct report_sources *sources, const char *path,
                      struct tr_error *error)
{
    const struct report_page page = { .runs = sources->runs,
                                      .num_runs = sources->num_runs,
                                      .graphs = sources->graphs,
                                      .num_graphs = sources->num_graphs,
                                      .classes = sources->classes,
                                      .num_classes = sources->num_classes };
    struct html html;
    html_init(&html);
    report_page_write(&html, &page);
    int rv = html.failed ? tr_error_set(error, TR_ENOMEM, "%s: no memory for the page", path)
                         : tr_file_write(path, html.text, html.used, error);
    html_fini(&html);
    return rv;
}

static int report_result(const struct report_sources *sources, const struct report_values *values,
                         struct tr_error *error)
{
    struct report report;
    report_init(&report, values->json);
    report_text(&report, "report", "report", values->out);
    report_count(&report, "runs", "runs", sources->num_runs);
    report_count(&report, "classes", "tables of classes", sources->num_classes);
    for (size_t i = 0; i < sources->num_graphs; i++) {
        report_row(&report, "graphs");
        report_text(&report, "graph", "graph", sources->graphs[i].path);
        report_flag(&report, "read", "read", sources->graphs[i].why.code == 0);
    }
    report_rows_end(&report);
    return report_print(&report, error);
}

static int cmd_report_run(const struct invocation *invocation, const void *opaque)
{
    const struct report_values *values = opaque;
    struct tr_error error = TR_ERROR_INIT;
    struct report_sources *sources = calloc(1, sizeof *sources);
    int rv = sources == NULL ? tr_error_set(&error, TR_ENOMEM, "no memory for a report") : 0;
    if (rv != 0)
        return fail(invocation, &error);
    rv = check_out(values->out, &error);
    if (rv == 0)
        rv = read_sources(sources, invocation, values, &error);
    if (rv == 0)
        rv = write_page(sources, values->out, &error);
    if (rv == 0)
        rv = report_result(sources, values, &error);
    close_sources(sources);
    return rv == 0 ? EXIT_DONE : fail(invocation, &error);
}

static const char *const EXAMPLES[] = {
    "troupe report run1 run2 --out report.html",
    "troupe report run1 --classes classes.json --out report.html",
    NULL,
};

const struct command command_report = {
    .name = "report",
    .summary = "Write a page about one or more training runs",
    .operands = "RUN...",
    .operands_min = 1,
    .operands_max = LINES_MAX,
    .options = OPTIONS,
    .values_size = sizeof(struct report_values),
    .examples = EXAMPLES,
    .run = cmd_report_run,
};
