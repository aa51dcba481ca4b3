/* SPDX-License-Identifier: Apache-2.0 */
/* Scores of each class, and what its nodes were taken for. */
#include <stdlib.h>
#include <string.h>

#include "model/report/report_page.h"

/* A table of more rows is not read: the classes with the lowest F1 are shown. */
#define CLASS_ROWS_MAX 100u
/* A matrix of more columns is no picture any more. */
#define MATRIX_CLASSES_MAX 24u
/* The deepest shade of a cell, on which its number still has its contrast. */
#define SHADE_MAX 0.4

static int compare_f1(const void *a, const void *b)
{
    const struct class_row *const *left = a, *const *right = b;
    if ((*left)->f1 != (*right)->f1)
        return (*left)->f1 < (*right)->f1 ? -1 : 1;
    return (*left)->class < (*right)->class ? -1 : (*left)->class > (*right)->class;
}

/* The class's name where it has one, or else its number. A name in letters that run from right to
 * left must not turn what stands beside it. */
static void write_class(struct html *html, const struct class_row *row)
{
    if (row->name == NULL)
        html_print(html, "%llu", (unsigned long long)row->class);
    else
        html_element(html, "bdi", "", row->name);
}

static void write_class_row(struct html *html, const struct class_row *row)
{
    html_markup(html, "<tr><th scope=\"row\">");
    write_class(html, row);
    html_markup(html, "</th>");
    page_write_count(html, row->labelled);
    page_write_count(html, row->predicted);
    page_write_number(html, row->precision);
    page_write_number(html, row->recall);
    page_write_number(html, row->f1);
    html_markup(html, "</tr>\n");
}

static void write_class_table(struct html *html, const struct class_scores *scores)
{
    const struct class_row **order = calloc(scores->num_rows + 1, sizeof *order);
    if (order == NULL) {
        html->failed = true;
        return;
    }
    for (size_t i = 0; i < scores->num_rows; i++)
        order[i] = &scores->rows[i];
    bool all = scores->num_rows <= CLASS_ROWS_MAX;
    if (!all)
        qsort(order, scores->num_rows, sizeof *order, compare_f1);
    page_begin_table(html, all ? "Scores of each class of the test nodes"
                               : "Scores of the 100 classes of the test nodes with the lowest F1");
    html_markup(html, "<thead><tr><th scope=\"col\">Class</th><th scope=\"col\">Labelled</th>"
                      "<th scope=\"col\">Predicted</th><th scope=\"col\">Precision</th>"
                      "<th scope=\"col\">Recall</th><th scope=\"col\">F1</th></tr></thead>\n"
                      "<tbody>");
    for (size_t i = 0; i < scores->num_rows && i < CLASS_ROWS_MAX; i++)
        write_class_row(html, order[i]);
    html_markup(html, "</tbody>");
    page_end_table(html);
    free(order);
}

static uint64_t cell_nodes(const struct class_row *row, uint64_t class)
{
    for (size_t i = 0; i < row->num_cells; i++)
        if (row->cells[i].class == class)
            return row->cells[i].nodes;
    return 0;
}

static void write_matrix(struct html *html, const struct class_scores *scores)
{
    page_begin_table(html, "Confusion: a row for each class, a column for what it was taken for");
    html_markup(html, "<thead><tr><th scope=\"col\">Class</th>");
    for (size_t c = 0; c < scores->num_rows; c++) {
        html_markup(html, "<th scope=\"col\">");
        write_class(html, &scores->rows[c]);
        html_markup(html, "</th>");
    }
    html_markup(html, "</tr></thead>\n<tbody>");
    for (size_t r = 0; r < scores->num_rows; r++) {
        const struct class_row *row = &scores->rows[r];
        html_markup(html, "<tr><th scope=\"row\">");
        write_class(html, row);
        html_markup(html, "</th>");
        for (size_t c = 0; c < scores->num_rows; c++) {
            uint64_t nodes = cell_nodes(row, scores->rows[c].class);
            double share = row->labelled == 0 ? 0 : (double)nodes / (double)row->labelled;
            html_print(html,
                       "<td class=\"n\" style=\"background:rgba(var(--heat),%.3f)\">%llu</td>",
                       (share < 1 ? share : 1) * SHADE_MAX, (unsigned long long)nodes);
        }
        html_markup(html, "</tr>\n");
    }
    html_markup(html, "</tbody>");
    page_end_table(html);
}

static void write_scores(struct html *html, const struct class_scores *scores)
{
    html_element(html, "h3", "", scores->run);
    if (scores->inference[0] != '\0') {
        html_markup(html, "<p>Inference: ");
        html_text(html, scores->inference);
        html_markup(html, "</p>\n");
    }
    write_class_table(html, scores);
    if (scores->num_rows <= MATRIX_CLASSES_MAX)
        write_matrix(html, scores);
}

/* No inference writes classes of a model of links. */
static bool has_nodes(const struct report_page *page)
{
    for (size_t r = 0; r < page->num_runs; r++) {
        const char *task = run_record_value(&page->runs[r], "task");
        if (task == NULL || strcmp(task, "link") != 0)
            return true;
    }
    return false;
}

void page_write_classes(struct html *html, const struct report_page *page)
{
    html_markup(html, "<section><h2 id=\"classes\">Classes</h2>\n");
    if (page->num_classes == 0 && !has_nodes(page))
        html_markup(html, "<p>Models of links have no classes.</p>\n");
    else if (page->num_classes == 0)
        html_markup(html, "<p>There are no scores by class here: save what troupe infer --by-class "
                          "--json prints as by-class.json in the folder of the run, or name it "
                          "with --classes.</p>\n");
    for (size_t i = 0; i < page->num_classes; i++)
        write_scores(html, &page->classes[i]);
    html_markup(html, "</section>\n");
}
