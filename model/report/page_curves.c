/* SPDX-License-Identifier: Apache-2.0 */
/* Losses and scores of runs, each over the steps that were done and over the seconds they took. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/report/report_page.h"

enum curve {
    CURVE_TRAIN_LOSS,
    CURVE_LOSS,
    CURVE_ACCURACY,
    CURVE_MACRO_F1,
    CURVE_ROC_AUC,
    CURVE_MRR,
    CURVES
};

static const char *const NAMES[CURVES] = { "Training loss",       "Validation loss",
                                           "Validation accuracy", "Validation macro-F1",
                                           "Validation ROC AUC",  "Validation MRR" };

static double curve_value(const struct run_epoch *epoch, int curve)
{
    const struct tr_scores *scores = &epoch->validation;
    const double values[CURVES] = { epoch->train_loss, scores->loss,    scores->accuracy,
                                    scores->macro_f1,  scores->roc_auc, scores->mrr };
    return values[curve];
}

/* Numbers of one run, [num_epochs] each. */
struct curve_points {
    double *steps, *seconds, *values;
};

static bool curve_points_init(struct curve_points *points, const struct run_record *run)
{
    size_t count = run->num_epochs + 1;
    points->steps = malloc(count * sizeof *points->steps);
    points->seconds = malloc(count * sizeof *points->seconds);
    points->values = malloc(count * sizeof *points->values);
    if (points->steps == NULL || points->seconds == NULL || points->values == NULL)
        return false;
    double steps = 0, seconds = 0;
    for (size_t i = 0; i < run->num_epochs; i++) {
        double took = run->epochs[i].seconds;
        points->steps[i] = steps += (double)run->epochs[i].steps;
        points->seconds[i] = seconds += isfinite(took) && took > 0 ? took : 0;
    }
    return true;
}

static void curve_points_fini(struct curve_points *points)
{
    free(points->steps);
    free(points->seconds);
    free(points->values);
}

/* Whether any run has such a number. */
static bool take_values(const struct report_page *page, struct curve_points *points, int curve)
{
    bool any = false;
    for (size_t r = 0; r < page->num_runs; r++)
        for (size_t i = 0; i < page->runs[r].num_epochs; i++) {
            points[r].values[i] = curve_value(&page->runs[r].epochs[i], curve);
            any = any || isfinite(points[r].values[i]);
        }
    return any;
}

static void write_pair(struct html *html, const struct report_page *page,
                       const struct curve_points *points, int curve)
{
    struct chart_line lines[LINES_MAX];
    for (int over = 0; over < 2; over++) {
        char id[] = { 'c', (char)('0' + curve), over == 0 ? 's' : 't', '\0' };
        char title[64];
        snprintf(title, sizeof title, "%s over %s", NAMES[curve], over == 0 ? "steps" : "seconds");
        for (size_t r = 0; r < page->num_runs; r++)
            lines[r] = (struct chart_line){ .name = page->runs[r].path,
                                            .x = over == 0 ? points[r].steps : points[r].seconds,
                                            .y = points[r].values,
                                            .count = page->runs[r].num_epochs };
        const struct line_chart chart = { .id = id,
                                          .title = title,
                                          .x_label = over == 0 ? "steps" : "seconds",
                                          .lines = lines,
                                          .num_lines = page->num_runs };
        line_chart_write(html, &chart);
    }
}

static void write_legend(struct html *html, const struct report_page *page)
{
    html_markup(html, "<ul class=\"legend\">");
    for (size_t r = 0; r < page->num_runs; r++) {
        html_markup(html, "<li>");
        line_chart_write_sample(html, r);
        html_element(html, "span", "", page->runs[r].path);
        html_markup(html, "</li>");
    }
    html_markup(html, "</ul>\n");
}

void page_write_curves(struct html *html, const struct report_page *page)
{
    struct curve_points points[LINES_MAX] = { 0 };
    for (size_t r = 0; r < page->num_runs; r++)
        html->failed |= !curve_points_init(&points[r], &page->runs[r]);
    html_markup(html, "<section><h2 id=\"curves\">Losses and scores</h2>\n");
    write_legend(html, page);
    html_markup(html, "<div class=\"charts\">\n");
    for (int curve = 0; curve < CURVES && !html->failed; curve++)
        if (take_values(page, points, curve))
            write_pair(html, page, points, curve);
    html_markup(html, "</div></section>\n");
    for (size_t r = 0; r < page->num_runs; r++)
        curve_points_fini(&points[r]);
}
