/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe bench`: what this machine does with Troupe, each figure beside its reference.
 */
#include <stdio.h>
#include <string.h>

#include "bench/figure.h"
#include "cli/bench_values.h"
#include "cli/lib/report.h"
#include "cli/tools/inside.h"
#include "cli/tools/tools.h"

_Static_assert(BENCH_ROUNDS_MAX == FIGURE_ROUNDS_MAX, "the option has the bound of figures");

/* Where figures go as they are done. */
struct printing {
    bool json;
    int rc;
    struct error *error;
};

static void print_json(struct printing *printing, const struct figure *figure)
{
    struct report report;
    report_init(&report, true);
    report_text(&report, "figure", "figure", figure->name);
    report_real(&report, "value", "value", figure->value);
    report_text(&report, "unit", "unit", figure->unit);
    report_text(&report, "reference", "reference", figure->reference);
    report_real(&report, "reference_value", "reference", figure->reference_value);
    report_real(&report, "ratio", "ratio", figure->ratio);
    report_real(&report, "goal", "goal", figure->goal);
    report_flag(&report, "reached", "reached", figure_reached(figure));
    printing->rc = report_print_inside(&report, printing->error);
}

static void print_figure(void *arg, const struct figure *figure)
{
    struct printing *printing = arg;
    if (printing->rc < 0)
        return;
    if (printing->json) {
        print_json(printing, figure);
        return;
    }
    printf("%-18s %.4g %s, %.3g times %s (%.4g); goal: at %s %g, %s\n", figure->name, figure->value,
           figure->unit, figure->ratio, figure->reference, figure->reference_value,
           figure->lower_is_better ? "most" : "least", figure->goal,
           figure_reached(figure) ? "reached" : "NOT reached");
    fflush(stdout);
}

static int list_benches(const struct invocation *invocation, bool json)
{
    struct error error = { 0 };
    struct report report;
    report_init(&report, json);
    for (const struct bench *bench = bench_list; bench->name != NULL; bench++) {
        report_row(&report, "benchmarks");
        report_text(&report, "name", "name", bench->name);
        report_text(&report, "summary", "what is measured", bench->summary);
    }
    report_rows_end(&report);
    return report_print_inside(&report, &error) < 0 ? fail_inside(invocation, &error) : EXIT_DONE;
}

static const struct bench *find_bench(const char *name)
{
    const struct bench *bench = bench_list;
    while (bench->name != NULL && strcmp(bench->name, name) != 0)
        bench++;
    return bench->name != NULL ? bench : NULL;
}

static int run_benches(const char *name, const struct bench_options *options,
                       struct printing *printing, struct error *error)
{
    int rc = 0;
    for (const struct bench *bench = bench_list; bench->name != NULL && rc == 0; bench++) {
        if (strcmp(name, "all") != 0 && strcmp(name, bench->name) != 0)
            continue;
        rc = bench->run(options, print_figure, printing, error);
        rc = rc == 0 ? printing->rc : rc;
    }
    return rc;
}

int run_bench(const struct invocation *invocation, const void *opaque)
{
    const struct bench_values *values = opaque;
    struct error error = { 0 };
    if (values->list)
        return list_benches(invocation, values->json);
    const char *name = invocation->num_operands > 0 ? invocation->operands[0] : "";
    if (strcmp(name, "all") != 0 && find_bench(name) == NULL) {
        error_set(&error, TR_EINVAL,
                  *name == '\0' ? "%sname a benchmark, all or --list"
                                : "%s: no such benchmark; --list shows them",
                  name);
        return fail_usage_inside(invocation, &error);
    }
    struct bench_options options = { .scale = values->scale,
                                     .rounds = (uint32_t)values->rounds,
                                     .seed = values->seed,
                                     .folder = values->folder };
    struct printing printing = { .json = values->json, .error = &error };
    int rc = run_benches(name, &options, &printing, &error);
    return rc < 0 ? fail_inside(invocation, &error) : EXIT_DONE;
}
