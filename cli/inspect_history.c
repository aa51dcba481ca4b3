/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a job: when each happened, to which process, and in the table what it says in one
 * column, while JSON has each of its fields. */
#include "cli/inspect_history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The table shows at most so many events of a run's history. */
#define EVENTS_SHOWN 40u

/* RFC 3339, as the file has it. */
static void report_time(struct report *report, int64_t time_ns)
{
    struct tm utc;
    char date[32], text[48];
    time_t seconds = (time_t)(time_ns / 1000000000);
    if (gmtime_r(&seconds, &utc) == NULL ||
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc) == 0)
        date[0] = '\0';
    snprintf(text, sizeof text, "%s.%03dZ", date, (int)(time_ns / 1000000 % 1000));
    report_text(report, "time", "time (UTC)", text);
}

/* What an event says beside its process, in one column. */
static void report_event_shortly(struct report *report, const struct tr_run_event *event)
{
    char what[160];
    if (event->signal != 0)
        snprintf(what, sizeof what, "signal %d", event->signal);
    else if (strcmp(event->event, "ended") == 0)
        snprintf(what, sizeof what, "exit code %d", event->exit_code);
    else if (strcmp(event->event, "checkpoint") == 0 || strcmp(event->event, "era") == 0)
        snprintf(what, sizeof what, "step %" PRIu64, event->step);
    else
        snprintf(what, sizeof what, "%s%s%.100s", event->outcome,
                 event->outcome[0] != '\0' && event->text[0] != '\0' ? ": " : "", event->text);
    report_text(report, "what", "what", what);
}

static void report_event(struct report *report, const struct tr_run_event *event)
{
    report_row(report, "events");
    report_time(report, event->time_ns);
    report_text(report, "event", "event", event->event);
    if (event->process != UINT32_MAX)
        report_count(report, "process", "process", event->process);
    else
        report_absent(report, "process", "process");
    report_text(report, "role", "role", event->role);
    report_text(report, "host", "host", event->host);
    if (!report->json) {
        report_event_shortly(report, event);
        return;
    }
    report_count(report, "step", "", event->step);
    report_count(report, "pid", "", (uint64_t)event->pid);
    report_count(report, "exit_code", "", (uint64_t)event->exit_code);
    report_count(report, "signal", "", (uint64_t)event->signal);
    report_text(report, "outcome", "", event->outcome);
    report_text(report, "text", "", event->text);
    report_count(report, "lost", "", event->lost);
}

/* In the table, of checkpoints one after the other the last one stands for all, so that a long training
 * does not hide what else happened. */
static bool stands_for(const struct tr_run_event *next, const struct tr_run_event *event)
{
    return strcmp(event->event, "checkpoint") == 0 && strcmp(next->event, "checkpoint") == 0 &&
           next->process == event->process;
}

/* Reads the event; whether the table has a row for it. */
static int read_shown(const struct tr_run *run, uint64_t number, struct tr_run_event *event,
                      struct tr_error *error)
{
    struct tr_run_event next = TR_RUN_EVENT_INIT;
    int rv = tr_run_get_event(run, number, event, error);
    if (rv < 0 || number + 1 == tr_run_num_events(run))
        return rv < 0 ? rv : 1;
    rv = tr_run_get_event(run, number + 1, &next, error);
    return rv < 0 ? rv : !stands_for(&next, event);
}

/* The first event that the table shows, which has the last ones of a long history. */
static int find_first(const struct tr_run *run, uint64_t *first, struct tr_error *error)
{
    uint32_t rows = 0;
    for (*first = tr_run_num_events(run); *first > 0 && rows < EVENTS_SHOWN; --*first) {
        struct tr_run_event event = TR_RUN_EVENT_INIT;
        int rv = read_shown(run, *first - 1, &event, error);
        if (rv < 0)
            return rv;
        rows += (uint32_t)rv;
    }
    return 0;
}

int inspect_history(struct report *report, const struct tr_run *run, struct tr_error *error)
{
    uint64_t count = tr_run_num_events(run), first = 0;
    int rv = report->json ? 0 : find_first(run, &first, error);
    if (count > 0)
        report_count(report, "num_events", "events of its job", count);
    for (uint64_t i = first; i < count && rv >= 0; i++) {
        struct tr_run_event event = TR_RUN_EVENT_INIT;
        rv = read_shown(run, i, &event, error);
        if (rv == 1 || (rv == 0 && report->json))
            report_event(report, &event);
    }
    report_rows_end(report);
    return rv < 0 ? rv : 0;
}
