/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chart of lines as SVG within a page: axes with round numbers, a line for each of several runs,
 * told apart by colour and by dash.
 *
 * Its size is bounded: a line of more points than the chart is wide is drawn by the first, the
 * lowest, the highest and the last of each column.
 *
 * Ownership: all is borrowed for the call. Thread rules: pure.
 */
#ifndef MODEL_REPORT_LINE_CHART_H
#define MODEL_REPORT_LINE_CHART_H

#include <stddef.h>

#include "model/report/html.h"

/* Colours times dashes: as many lines as can be told apart. */
#define LINE_COLOURS 8
#define LINE_DASHES 4
#define LINES_MAX (LINE_COLOURS * LINE_DASHES)

struct chart_line {
    const char *name;
    const double *x; /* [count], not decreasing */
    const double *y; /* [count]; a point that is not finite is left out */
    size_t count;
};

struct line_chart {
    const char *id;    /* unique in the page: letters and digits */
    const char *title; /* the program's own words, as the labels */
    const char *x_label, *y_label;
    const struct chart_line *lines;
    size_t num_lines; /* at most LINES_MAX */
};

/* The styles that the page's <style> has to have. */
void line_chart_write_style(struct html *html);
/* A figure with the chart, or a paragraph where no line has a point. */
void line_chart_write(struct html *html, const struct line_chart *chart);
/* A sample of the line with that number, for a legend. */
void line_chart_write_sample(struct html *html, size_t number);

#endif
