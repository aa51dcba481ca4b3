/* SPDX-License-Identifier: Apache-2.0 */
#include "model/report/report_page.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/text.h>

#include "model/report/bar_chart.h"
#include "model/report/repeat_command.h"

/* Texts have a contrast of 4.5 or more with each background that they stand on, in both modes. */
static const char STYLE[] =
    ":root{color-scheme:light dark;--bg:#ffffff;--fg:#1b1f24;--muted:#4f5863;--line:#c9d1d9;"
    "--card:#f5f7f9;--mark:#fff0b8;--heat:11,98,184}\n"
    "@media (prefers-color-scheme:dark){:root{--bg:#14171c;--fg:#e8eaed;--muted:#a9b2bd;"
    "--line:#3a424d;--card:#1c2128;--mark:#4a3d10;--heat:108,178,255}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}\n"
    "header,main,footer{max-width:84rem;margin:0 auto;padding:0 1rem}\n"
    "h1{font-size:1.6rem;margin:1.2rem 0 .3rem}h2{font-size:1.25rem;margin:2rem 0 .6rem;"
    "border-bottom:1px solid var(--line)}h3{font-size:1.05rem;margin:1.2rem 0 .4rem}\n"
    "h1,h2,h3,p,li,code,figcaption{overflow-wrap:anywhere}td,th{overflow-wrap:break-word;max-width:"
    "26rem}\n"
    "p,footer{color:var(--muted)}footer{margin:2rem auto}\n"
    ".box{overflow-x:auto;max-width:100%}.box+.box{margin-top:1rem}\n"
    "table{border-collapse:collapse;font-size:.92rem}\n"
    "th,td{padding:.25rem .6rem;border:1px solid var(--line);text-align:left;vertical-align:top;"
    "min-width:3.2rem}\n"
    "th{background:var(--card);font-weight:600}td.n{text-align:right;white-space:nowrap;"
    "overflow-wrap:normal;font-variant-numeric:tabular-nums}\n"
    "th[scope=row]{min-width:7rem;overflow-wrap:anywhere}\n"
    "caption{text-align:left;color:var(--muted);padding-bottom:.3rem}"
    "caption span{display:inline-block;max-width:calc(100vw - 2.2rem)}\n"
    "tr.diff td,tr.diff th{background:var(--mark)}.tag{font-weight:400;font-size:.85em}\n"
    ".charts{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,30rem),"
    "1fr))}\n"
    "figure{margin:0;padding:.6rem;background:var(--card);border:1px solid var(--line);"
    "border-radius:6px;min-width:0}figcaption{font-weight:600;margin-bottom:.3rem}\n"
    "figure svg{display:block;width:100%;height:auto;max-width:40rem}\n"
    ".sample{width:44px;height:12px;flex:none}\n"
    ".legend{list-style:none;margin:0 0 .8rem;padding:0;display:flex;flex-wrap:wrap;gap:.2rem "
    "1.4rem}.legend li{display:flex;gap:.5rem;align-items:center;min-width:0}\n"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--card);border:1px solid "
    "var(--line);border-radius:6px;padding:.6rem;font-size:.9rem}\n"
    "@media print{figure{break-inside:avoid}}\n";

void page_begin_table(struct html *html, const char *title)
{
    html_markup(html, "<div class=\"box\" role=\"group\" tabindex=\"0\" aria-label=\"");
    html_text(html, title);
    html_markup(html, "\"><table><caption><span>");
    html_text(html, title);
    html_markup(html, "</span></caption>\n");
}

void page_end_table(struct html *html)
{
    html_markup(html, "</table></div>\n");
}

void page_write_number(struct html *html, double value)
{
    html_markup(html, "<td class=\"n\">");
    if (isfinite(value))
        html_print(html, "%.4g", value);
    html_markup(html, "</td>");
}

void page_write_count(struct html *html, uint64_t value)
{
    char text[TR_TEXT_QUANTITY_MAX];
    html_element(html, "td", " class=\"n\"", tr_text_whole(text, value));
}

static void write_columns(struct html *html, const char *const *names)
{
    html_markup(html, "<thead><tr>");
    for (; *names != NULL; names++)
        html_element(html, "th", " scope=\"col\"", *names);
    html_markup(html, "</tr></thead>\n<tbody>");
}

/* The scores that a summary shows of the best epoch's validation, and of the test. */
struct summary_score {
    const char *validation, *test; /* heads of its columns */
    size_t offset;                 /* in struct tr_scores */
    bool always;                   /* also where no run has it */
};

static const struct summary_score SCORES[] = {
    { "Validation accuracy", "Test accuracy", offsetof(struct tr_scores, accuracy), true },
    { "Validation macro-F1", "Test macro-F1", offsetof(struct tr_scores, macro_f1), true },
    { "Validation ROC AUC", "Test ROC AUC", offsetof(struct tr_scores, roc_auc), false },
    { "Validation MRR", "Test MRR", offsetof(struct tr_scores, mrr), false },
};
#define SCORES_COUNT (sizeof SCORES / sizeof *SCORES)

static double score_of(const struct tr_scores *scores, const struct summary_score *which)
{
    double score = (double)NAN;
    if (scores != NULL)
        memcpy(&score, (const char *)scores + which->offset, sizeof score);
    return score;
}

static const struct tr_scores *validation_of(const struct run_record *run)
{
    const struct run_epoch *best = run_record_best(run);
    return best != NULL ? &best->validation : NULL;
}

static const struct tr_scores *test_of(const struct run_record *run)
{
    return run->tested ? &run->test : NULL;
}

/* Two classes and links have a ROC AUC, links alone MRR. */
static bool is_shown(const struct report_page *page, const struct summary_score *which)
{
    bool shown = which->always;
    for (size_t r = 0; r < page->num_runs && !shown; r++)
        shown = isfinite(score_of(validation_of(&page->runs[r]), which)) ||
                isfinite(score_of(test_of(&page->runs[r]), which));
    return shown;
}

/* shown [SCORES_COUNT]: which of them there are. */
static void write_run_scores(struct html *html, const bool *shown, const struct tr_scores *scores)
{
    for (size_t s = 0; s < SCORES_COUNT; s++)
        if (shown[s])
            page_write_number(html, score_of(scores, &SCORES[s]));
}

static void write_summary_row(struct html *html, const bool *shown, const struct run_record *run)
{
    char text[TR_TEXT_QUANTITY_MAX];
    const struct run_epoch *best = run_record_best(run);
    uint64_t steps = 0;
    double seconds = 0, loss = (double)NAN;
    for (size_t i = 0; i < run->num_epochs; i++) {
        steps += run->epochs[i].steps;
        seconds += isfinite(run->epochs[i].seconds) ? run->epochs[i].seconds : 0;
        loss = run->epochs[i].train_loss;
    }
    html_markup(html, "<tr>");
    html_element(html, "th", " scope=\"row\"", run->path);
    html_element(html, "td", "", run_record_is_complete(run) ? "yes" : "no");
    page_write_count(html, run->num_epochs > 0 ? run->epochs[run->num_epochs - 1].epoch : 0);
    page_write_count(html, steps);
    html_element(html, "td", " class=\"n\"", tr_text_seconds(text, seconds));
    page_write_number(html, loss);
    if (best != NULL)
        page_write_count(html, best->epoch);
    else
        html_markup(html, "<td></td>");
    write_run_scores(html, shown, validation_of(run));
    write_run_scores(html, shown, test_of(run));
    html_markup(html, "</tr>\n");
}

static void write_summary(struct html *html, const struct report_page *page)
{
    static const char *const plain[] = { "Run",       "Complete",       "Epochs",
                                         "Steps",     "Time of epochs", "Training loss, last epoch",
                                         "Best epoch" };
    enum { PLAIN = sizeof plain / sizeof *plain };
    const char *heads[PLAIN + 2 * SCORES_COUNT + 1];
    bool shown[SCORES_COUNT];
    size_t count = PLAIN;
    memcpy(heads, plain, sizeof plain);
    for (size_t s = 0; s < SCORES_COUNT; s++) {
        shown[s] = is_shown(page, &SCORES[s]);
        if (shown[s])
            heads[count++] = SCORES[s].validation;
    }
    for (size_t s = 0; s < SCORES_COUNT; s++)
        if (shown[s])
            heads[count++] = SCORES[s].test;
    heads[count] = NULL;
    html_markup(html, "<section><h2 id=\"summary\">Summary</h2>\n");
    page_begin_table(html, "What came of each run; validation is that of the best epoch");
    write_columns(html, heads);
    for (size_t r = 0; r < page->num_runs; r++)
        write_summary_row(html, shown, &page->runs[r]);
    html_markup(html, "</tbody>");
    page_end_table(html);
    html_markup(html, "</section>\n");
}

/* Options of the layout change no result: the page shows them with the machine. */
static bool is_of_layout(const char *name)
{
    static const char *const names[] = { "servers", "samplers", "loops",
                                         "threads", "messages", "codec" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool values_differ(const struct report_page *page, const char *name)
{
    const char *first = run_record_value(&page->runs[0], name);
    for (size_t r = 1; r < page->num_runs; r++) {
        const char *other = run_record_value(&page->runs[r], name);
        if ((first == NULL) != (other == NULL) || (first != NULL && strcmp(first, other) != 0))
            return true;
    }
    return false;
}

/* Whether a run before that one has an option of that name, whose row is written already. */
static bool option_is_written(const struct report_page *page, size_t run, const char *name)
{
    for (size_t r = 0; r < run; r++)
        if (run_record_value(&page->runs[r], name) != NULL)
            return true;
    return false;
}

static void write_option_row(struct html *html, const struct report_page *page, const char *name)
{
    bool differ = values_differ(page, name);
    html_markup(html, differ ? "<tr class=\"diff\"><th scope=\"row\">" : "<tr><th scope=\"row\">");
    html_text(html, name);
    html_markup(html, differ ? " <span class=\"tag\">(differs)</span></th>" : "</th>");
    for (size_t r = 0; r < page->num_runs; r++) {
        const char *value = run_record_value(&page->runs[r], name);
        html_element(html, "td", "", value != NULL ? value : "");
    }
    html_markup(html, "</tr>\n");
}

static void write_run_columns(struct html *html, const struct report_page *page, const char *first)
{
    html_markup(html, "<thead><tr>");
    html_element(html, "th", " scope=\"col\"", first);
    for (size_t r = 0; r < page->num_runs; r++)
        html_element(html, "th", " scope=\"col\"", page->runs[r].path);
    html_markup(html, "</tr></thead>\n<tbody>");
}

static void write_options(struct html *html, const struct report_page *page, bool of_layout)
{
    for (size_t r = 0; r < page->num_runs; r++) {
        const struct run_record *run = &page->runs[r];
        for (size_t i = 0; i < run->num_options; i++) {
            const char *name = run->options[i].name;
            if (is_of_layout(name) == of_layout && !option_is_written(page, r, name))
                write_option_row(html, page, name);
        }
    }
}

static void write_experiment(struct html *html, const struct report_page *page)
{
    html_markup(html, "<section><h2 id=\"options\">Options</h2>\n");
    page_begin_table(html, "Every option, by its name in config.json; rows that differ are marked");
    write_run_columns(html, page, "Option");
    write_options(html, page, false);
    html_markup(html, "</tbody>");
    page_end_table(html);
    html_markup(html, "</section>\n");
}

static void write_fact_row(struct html *html, const struct report_page *page, const char *name,
                           size_t offset)
{
    html_markup(html, "<tr>");
    html_element(html, "th", " scope=\"row\"", name);
    for (size_t r = 0; r < page->num_runs; r++)
        html_element(html, "td", "", *(char *const *)((const char *)&page->runs[r] + offset));
    html_markup(html, "</tr>\n");
}

static void write_machines(struct html *html, const struct report_page *page)
{
    html_markup(html, "<section><h2 id=\"machine\">Machine</h2>\n");
    page_begin_table(html, "Where each run computed; 0 is as many as suit the machine");
    write_run_columns(html, page, "What");
    write_fact_row(html, page, "Troupe", offsetof(struct run_record, version));
    write_fact_row(html, page, "Kernels", offsetof(struct run_record, kernels));
    write_fact_row(html, page, "Graph", offsetof(struct run_record, graph));
    write_options(html, page, true);
    html_markup(html, "</tbody>");
    page_end_table(html);
    html_markup(html, "</section>\n");
}

static void write_commands(struct html *html, const struct report_page *page)
{
    html_markup(html, "<section><h2 id=\"repeat\">Commands that repeat the runs</h2>\n"
                      "<p>Each trains the same model again, bit for bit where the kernels are the "
                      "same; name another folder with --run to keep the first one.</p>\n");
    for (size_t r = 0; r < page->num_runs; r++) {
        char *line = repeat_command(&page->runs[r]);
        if (line == NULL) {
            html->failed = true;
            return;
        }
        html_markup(html, "<pre><code>");
        html_text(html, line);
        html_markup(html, "</code></pre>\n");
        free(line);
    }
    html_markup(html, "</section>\n");
}

static void write_head(struct html *html, const struct report_page *page)
{
    html_markup(html, REPORT_PAGE_HEAD
                "<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                "<meta name=\"generator\" content=\"troupe report\">\n<title>Report of ");
    html_text(html, page->runs[0].path);
    if (page->num_runs > 1)
        html_print(html, " and %zu more", page->num_runs - 1);
    html_markup(html, "</title>\n<style>\n");
    html_markup(html, STYLE);
    line_chart_write_style(html);
    bar_chart_write_style(html);
    page_write_history_style(html);
    html_markup(html, "</style></head>\n<body><header><h1>Report of ");
    if (page->num_runs == 1)
        html_text(html, page->runs[0].path);
    else
        html_print(html, "%zu runs", page->num_runs);
    html_markup(html, "</h1></header>\n<main>\n");
}

void report_page_write(struct html *html, const struct report_page *page)
{
    write_head(html, page);
    write_summary(html, page);
    page_write_curves(html, page);
    page_write_classes(html, page);
    page_write_partitions(html, page);
    page_write_history(html, page);
    write_experiment(html, page);
    write_machines(html, page);
    write_commands(html, page);
    html_markup(html, "</main>\n<footer>Written by troupe report.</footer></body></html>\n");
}
