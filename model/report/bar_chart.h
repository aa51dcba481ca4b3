/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chart of horizontal bars as SVG within a page: a count for each partition, and their mean.
 *
 * Ownership: all is borrowed for the call. Thread rules: pure.
 */
#ifndef MODEL_REPORT_BAR_CHART_H
#define MODEL_REPORT_BAR_CHART_H

#include <stddef.h>
#include <stdint.h>

#include "model/report/html.h"

/* More bars are no picture any more: the first are drawn. */
#define BARS_MAX 64

struct bar_chart {
    const char *id;    /* unique in the page: letters and digits */
    const char *title; /* the program's own words */
    const uint64_t *values;
    size_t num_values;
    size_t colour; /* below LINE_COLOURS (line_chart.h) */
};

/* The styles that the page's <style> has to have, beside those of line charts. */
void bar_chart_write_style(struct html *html);
void bar_chart_write(struct html *html, const struct bar_chart *chart);

#endif
