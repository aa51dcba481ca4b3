/* SPDX-License-Identifier: Apache-2.0 */
/* `troupe report`: one page of HTML about one or more training runs. */
#include <stddef.h>

#include <troupe/report.h>

#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/follow.h"
#include "cli/lib/report.h"

_Static_assert(OPTION_LIST_MAX <= TR_REPORT_CLASSES_MAX, "every file that is named is read");

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
      .made = true,
      .required = true,
      .help = "write the page here" },
    { .name = "classes",
      .kind = OPTION_TEXTS,
      .offset = AT(classes),
      .metavar = "FILE.json",
      .help = "also show the classes in this output of troupe infer --by-class --json" },
    OPTION_ROW_JSON(struct report_values),
    OPTION_ROW_END,
};

static int report_start(const void *options, struct tr_task **out, struct tr_error *error)
{
    return tr_report_start(options, out, error);
}

static int report_graphs(struct report *report, struct tr_task *task, uint64_t count,
                         struct tr_error *error)
{
    int rv = 0;
    for (uint64_t i = 0; i < count && rv == 0; i++) {
        struct tr_report_graph graph = TR_REPORT_GRAPH_INIT;
        rv = tr_report_get_graph(task, i, &graph, error);
        if (rv != 0)
            break;
        report_row(report, "graphs");
        report_text(report, "graph", "graph", graph.path);
        report_flag(report, "read", "read", graph.why == NULL);
    }
    report_rows_end(report);
    return rv;
}

static int print_result(struct tr_task *task, const struct report_values *values,
                        struct tr_error *error)
{
    struct tr_report_result result = TR_REPORT_RESULT_INIT;
    struct report report;
    int rv = tr_report_get_result(task, &result, error);
    if (rv != 0)
        return rv;
    report_init(&report, values->json);
    report_text(&report, "report", "report", values->out);
    report_count(&report, "runs", "runs", result.runs);
    report_count(&report, "classes", "tables of classes", result.classes);
    rv = report_graphs(&report, task, result.graphs, error);
    if (rv != 0) {
        report_fini(&report);
        return rv;
    }
    return report_print(&report, error);
}

static int cmd_report_run(const struct invocation *invocation, const void *opaque)
{
    const struct report_values *values = opaque;
    struct tr_report_options options = TR_REPORT_OPTIONS_INIT;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task;
    options.out = values->out;
    options.runs = (const char *const *)invocation->operands;
    options.num_runs = (size_t)invocation->num_operands;
    options.classes = values->classes.values;
    options.num_classes = values->classes.count;
    int rv = follow_task(true, report_start, &options, &task, &error);
    if (rv == 0)
        rv = print_result(task, values, &error);
    tr_task_close(task);
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
    .operands_max = TR_REPORT_RUNS_MAX,
    .options = OPTIONS,
    .values_size = sizeof(struct report_values),
    .examples = EXAMPLES,
    .run = cmd_report_run,
};
