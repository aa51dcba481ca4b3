/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened to the job of each run, and when: a picture of its processes over time, and the
 * events as a table. Runs without a history are left out.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "model/report/report_page.h"

#define WIDTH 420
#define LEFT 76
#define RIGHT 408
#define ROW 20
#define THICK 11
/* More processes are no picture any more, and more rows no table: the first, and the last, are
 * shown. */
#define PROCESSES_MAX 64u
#define ROWS_MAX 200u
/* As wide as a mark: what is closer together is one. */
#define MARK_WIDTH 2.0

struct history_span {
    int64_t from_ns, to_ns;
};

static double place_of(const struct history_span *span, int64_t time_ns)
{
    double all = (double)(span->to_ns - span->from_ns);
    double part = all > 0 ? (double)(time_ns - span->from_ns) / all : 0;
    /* The clock may have been set back between two events. */
    return LEFT + fmin(fmax(part, 0), 1) * (RIGHT - LEFT);
}

static bool is_event(const struct tr_run_event *event, const char *name)
{
    return strcmp(event->event, name) == 0;
}

static const struct tr_run_event *event_at(const struct run_history *history, size_t index)
{
    return &history->events[index].event;
}

static void write_mark(struct html *html, const char *class, double x, size_t top, size_t bottom)
{
    html_print(html, "<path class=\"%s\" d=\"M%.1f %zuV%zu\"/>", class, x, top, bottom);
}

/* Where no mark of the same kind is already. */
static void write_marks(struct html *html, const struct run_history *history,
                        const struct history_span *span, const char *name, const char *class,
                        size_t bottom)
{
    double last = -MARK_WIDTH;
    for (size_t i = 0; i < history->count; i++) {
        double x = place_of(span, event_at(history, i)->time_ns);
        if (!is_event(event_at(history, i), name) || fabs(x - last) < MARK_WIDTH)
            continue;
        write_mark(html, class, x, 0, bottom);
        last = x;
    }
}

static void write_life(struct html *html, const struct history_span *span, uint32_t process,
                       int64_t from_ns, int64_t to_ns, bool failed)
{
    double begin = place_of(span, from_ns), end = place_of(span, to_ns);
    size_t top = ROW + (size_t)process * ROW + 4;
    html_print(html, "<rect class=\"f0\" x=\"%.1f\" y=\"%zu\" width=\"%.1f\" height=\"%d\"/>\n",
               begin, top, fmax(end - begin, 1), THICK);
    if (failed)
        write_mark(html, "death", end, top - 2, top + THICK + 2);
}

/* From each start of the process to its end, or to that of the history. */
static void write_lives(struct html *html, const struct run_history *history,
                        const struct history_span *span, uint32_t process)
{
    const struct tr_run_event *start = NULL;
    for (size_t i = 0; i < history->count; i++) {
        const struct tr_run_event *event = event_at(history, i);
        bool begun = is_event(event, "begun");
        if (event->process != process && !begun)
            continue;
        bool ended = is_event(event, "ended");
        /* A launcher that was killed has left its processes without an end. */
        if (start != NULL && (ended || begun))
            write_life(html, span, process, start->time_ns, event->time_ns,
                       ended && (event->signal != 0 || event->exit_code != 0));
        if (is_event(event, "started"))
            start = event;
        else if (ended || begun)
            start = NULL;
    }
    if (start != NULL)
        write_life(html, span, process, start->time_ns, span->to_ns, false);
}

/* The number of the last process, and 1; its role is that of its first event. */
static uint32_t count_processes(const struct run_history *history)
{
    uint32_t count = 0;
    for (size_t i = 0; i < history->count; i++) {
        uint32_t process = event_at(history, i)->process;
        if (is_event(event_at(history, i), "started") && process < PROCESSES_MAX &&
            process >= count)
            count = process + 1;
    }
    return count;
}

static const char *role_of(const struct run_history *history, uint32_t process)
{
    for (size_t i = 0; i < history->count; i++)
        if (event_at(history, i)->process == process && event_at(history, i)->role[0] != '\0')
            return event_at(history, i)->role;
    return "";
}

static void write_processes(struct html *html, const struct run_history *history,
                            const struct history_span *span, uint32_t count)
{
    for (uint32_t p = 0; p < count; p++) {
        html_print(html, "<text class=\"axis\" x=\"%d\" y=\"%zu\" text-anchor=\"end\">", LEFT - 6,
                   ROW + (size_t)p * ROW + 14);
        /* A role has one of three words; a file may hold any. */
        char role[12];
        snprintf(role, sizeof role, "%s", role_of(history, p));
        html_text(html, role);
        html_print(html, " %u</text>", p);
        write_lives(html, history, span, p);
    }
}

static struct history_span span_of(const struct run_history *history)
{
    struct history_span span = { event_at(history, 0)->time_ns, event_at(history, 0)->time_ns };
    for (size_t i = 0; i < history->count; i++) {
        int64_t time_ns = event_at(history, i)->time_ns;
        span.from_ns = time_ns < span.from_ns ? time_ns : span.from_ns;
        span.to_ns = time_ns > span.to_ns ? time_ns : span.to_ns;
    }
    return span;
}

static void write_picture(struct html *html, const struct run_record *run, size_t number)
{
    const struct run_history *history = &run->history;
    const struct history_span span = span_of(history);
    uint32_t count = count_processes(history);
    size_t bottom = ROW + (size_t)count * ROW + 4;
    html_markup(html, "<figure><figcaption>History of ");
    html_text(html, run->path);
    html_print(
        html,
        "</figcaption>\n<svg viewBox=\"0 0 %d %zu\" role=\"img\" aria-labelledby=\"h%zu-t\">"
        "<title id=\"h%zu-t\">%zu events in %.1f seconds: a bar for each life of a process, a "
        "thin line for a checkpoint, a dashed one for an era, a thick one for a process that "
        "failed</title>\n",
        WIDTH, bottom + 16, number, number, history->count,
        (double)(span.to_ns - span.from_ns) / 1e9);
    html_print(html, "<text class=\"axis\" x=\"%d\" y=\"14\" text-anchor=\"end\">job</text>",
               LEFT - 6);
    write_processes(html, history, &span, count);
    write_marks(html, history, &span, "checkpoint", "checkpoint", bottom);
    write_marks(html, history, &span, "era", "era", bottom);
    html_print(html,
               "<text class=\"axis\" x=\"%d\" y=\"%zu\">0 s</text><text class=\"axis\" x=\"%d\" "
               "y=\"%zu\" text-anchor=\"end\">%.1f s</text></svg></figure>\n",
               LEFT, bottom + 13, RIGHT, bottom + 13, (double)(span.to_ns - span.from_ns) / 1e9);
}

static void write_time(struct html *html, int64_t time_ns)
{
    struct tm utc;
    char text[32];
    time_t seconds = (time_t)(time_ns / 1000000000);
    if (gmtime_r(&seconds, &utc) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc) == 0)
        text[0] = '\0';
    html_element(html, "td", "", text);
}

static void write_what(struct html *html, const struct tr_run_event *event)
{
    html_markup(html, "<td>");
    html_text(html, event->event);
    if (is_event(event, "checkpoint") || is_event(event, "era"))
        html_print(html, ", step %llu", (unsigned long long)event->step);
    else if (is_event(event, "ended") && event->signal != 0)
        html_print(html, " by signal %d", event->signal);
    else if (is_event(event, "ended"))
        html_print(html, " with exit code %d", event->exit_code);
    if (event->outcome[0] != '\0') {
        html_markup(html, ": ");
        html_text(html, event->outcome);
    }
    if (event->text[0] != '\0') {
        html_markup(html, "; ");
        html_text(html, event->text);
    }
    if (event->lost > 0)
        html_print(html, " (%llu events before it were lost)", (unsigned long long)event->lost);
    html_markup(html, "</td>");
}

static void write_row(struct html *html, const struct tr_run_event *event)
{
    html_markup(html, "<tr>");
    write_time(html, event->time_ns);
    write_what(html, event);
    html_markup(html, "<td>");
    if (event->process != UINT32_MAX)
        html_print(html, "%u ", event->process);
    html_text(html, event->role);
    html_markup(html, "</td>");
    html_element(html, "td", "", event->host);
    html_markup(html, "</tr>\n");
}

static void write_events(struct html *html, const struct run_record *run)
{
    size_t count = run->history.count, first = count > ROWS_MAX ? count - ROWS_MAX : 0;
    html_element(html, "h3", "", run->path);
    page_begin_table(html, first == 0 ? "Every event, with its time (UTC)"
                                      : "The last 200 events, with their time (UTC)");
    html_markup(html,
                "<thead><tr><th scope=\"col\">Time</th><th scope=\"col\">Event</th><th "
                "scope=\"col\">Process</th><th scope=\"col\">Host</th></tr></thead>\n<tbody>");
    for (size_t i = first; i < count; i++)
        write_row(html, event_at(&run->history, i));
    html_markup(html, "</tbody>");
    page_end_table(html);
}

void page_write_history_style(struct html *html)
{
    html_markup(html, ".checkpoint{stroke:var(--muted);stroke-width:1}"
                      ".era{stroke:var(--c2);stroke-width:2;stroke-dasharray:3 3}"
                      ".death{stroke:var(--c1);stroke-width:3}\n");
}

void page_write_history(struct html *html, const struct report_page *page)
{
    bool any = false;
    for (size_t r = 0; r < page->num_runs; r++)
        any = any || page->runs[r].history.count > 0;
    if (!any)
        return;
    html_markup(html, "<section><h2 id=\"history\">History</h2>\n<div class=\"charts\">\n");
    for (size_t r = 0; r < page->num_runs; r++)
        if (page->runs[r].history.count > 0)
            write_picture(html, &page->runs[r], r);
    html_markup(html, "</div>\n");
    for (size_t r = 0; r < page->num_runs; r++)
        if (page->runs[r].history.count > 0)
            write_events(html, &page->runs[r]);
    html_markup(html, "</section>\n");
}
