/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report of training runs as one page of HTML that needs nothing else: no network, no script.
 *
 *     report_page.c        the frame, the style, the summary, options, machines and commands
 *     page_curves.c        losses and scores over steps and seconds
 *     page_history.c       what happened to the jobs, and when
 *     page_partitions.c    how the graphs are partitioned
 *     page_classes.c       scores by class and confusion
 *
 * Ownership: everything is borrowed for the call. Thread rules: pure.
 */
#ifndef MODEL_REPORT_REPORT_PAGE_H
#define MODEL_REPORT_REPORT_PAGE_H

#include "model/report/class_scores.h"
#include "model/report/graph_facts.h"
#include "model/report/html.h"
#include "model/report/line_chart.h"
#include "model/run_record.h"

/* A graph that a run names. */
struct page_graph {
    const char *path;
    struct graph_facts facts;
    struct tr_error why; /* its code: 0 where the graph could be read */
};

/* The first line of a page. */
#define REPORT_PAGE_HEAD "<!DOCTYPE html>\n"

struct report_page {
    const struct run_record *runs;
    size_t num_runs; /* 1 to LINES_MAX */
    const struct page_graph *graphs;
    size_t num_graphs;
    const struct class_scores *classes;
    size_t num_classes;
};

/* Writes the whole page; html->failed says whether there was memory for it. */
void report_page_write(struct html *html, const struct report_page *page);

/* One section each, with its heading. */
void page_write_curves(struct html *html, const struct report_page *page);
void page_write_history(struct html *html, const struct report_page *page);
/* The styles that it needs, beside those of line charts. */
void page_write_history_style(struct html *html);
void page_write_partitions(struct html *html, const struct report_page *page);
void page_write_classes(struct html *html, const struct report_page *page);

/* A table in a box that scrolls by itself, also by the keyboard, until page_end_table(). title: the
 * program's own words. */
void page_begin_table(struct html *html, const char *title);
void page_end_table(struct html *html);
/* A cell with a number; "" where it is not finite. */
void page_write_number(struct html *html, double value);
void page_write_count(struct html *html, uint64_t value);

#endif
