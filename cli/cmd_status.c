/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe status` and `troupe top`: which processes of a job are up and what they do, once or live.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <troupe/observe.h>

#include "cli/lib/command.h"
#include "cli/lib/fail.h"
#include "cli/lib/report.h"
#include "cli/lib/signals.h"

/* Until every process has answered or has been given up. */
#define STATUS_WAIT_NS INT64_C(10000000000)
/* Until the first picture, at most. */
#define FIRST_NS INT64_C(3000000000)
/* How often the keyboard and the signals are looked at, and the picture is drawn. */
#define LOOK_MS 100
#define DRAW_NS UINT64_C(1000000000)

struct status_values {
    const char *graph, *host, *web, *log, *run;
    bool json;
};

#define STATUS_ROWS                                                                          \
    { .name = "graph",                                                                       \
      .kind = OPTION_TEXT,                                                                   \
      .offset = offsetof(struct status_values, graph),                                       \
      .metavar = "NAME.json",                                                                \
      .help = "the partitioned graph, where the cluster file names none" },                  \
    {                                                                                        \
        .name = "host", .kind = OPTION_TEXT, .offset = offsetof(struct status_values, host), \
        .metavar = "NAME", .help = "use the keys of this host of the cluster file"           \
    }

static const struct option_spec STATUS_OPTIONS[] = {
    STATUS_ROWS,
    OPTION_ROW_JSON(struct status_values),
    OPTION_ROW_END,
};

static const struct option_spec TOP_OPTIONS[] = {
    STATUS_ROWS,
    { .name = "web",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct status_values, web),
      .metavar = "[HOST:]PORT",
      .help = "serve a live page for browsers of this host; port 0: any that is free" },
    { .name = "log",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct status_values, log),
      .metavar = "FILE",
      .help = "show the lines of this file on the live page, as it grows" },
    { .name = "run",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct status_values, run),
      .metavar = "DIR",
      .help = "show the history of this run, events.jsonl, on the live page" },
    OPTION_ROW_END,
};

/* What there is none of is an empty cell. */
static void report_known(struct report *report, const char *key, const char *label, bool known,
                         double number)
{
    if (known)
        report_real(report, key, label, number);
    else
        report_absent(report, key, label);
}

static void report_job(struct report *report, const struct tr_job_status *job)
{
    report_text(report, "job", "job", job->name);
    report_count(report, "era", "era", job->era);
    report_count(report, "epoch", "epoch", job->epoch);
    report_count(report, "epochs", "of", job->epochs);
    report_count(report, "step", "step of the epoch", job->step);
    report_count(report, "steps", "of", job->steps);
    if (job->has_checkpoint)
        report_count(report, "checkpoint", "last checkpoint, at step", job->checkpoint);
    if (job->checkpoint_age_s >= 0)
        report_seconds(report, "checkpoint_age_seconds", "committed before", job->checkpoint_age_s);
    if (job->has_loss)
        report_real(report, "loss", "training loss", job->loss);
    if (job->has_score) {
        report_text(report, "score_name", "validation by", job->score_name);
        report_real(report, "score", "score", job->score);
    }
    report_real(report, "seeds_per_second", "seeds/s", job->seeds_per_s);
}

static void report_line(struct report *report, uint32_t process,
                        const struct tr_process_status *line)
{
    report_row(report, "processes");
    report_count(report, "process", "process", process);
    report_text(report, "host", "host", line->host);
    report_text(report, "roles", "roles", line->roles);
    report_flag(report, "up", "up", line->up);
    report_count(report, "incarnation", "incarnation", line->incarnation);
    report_seconds(report, "uptime_seconds", "uptime", line->uptime_s);
    report_real(report, "lag_milliseconds", "lag ms", line->round_trip_s * 1e3);
    report_bytes(report, "rss_bytes", "RSS", line->rss_bytes);
    report_seconds(report, "cpu_seconds", "CPU", line->cpu_s);
    report_real(report, "cpus", "CPUs", line->cpus);
    report_known(report, "loss", "loss", line->has_loss, line->loss);
    report_real(report, "seeds_per_second", "seeds/s", line->seeds_per_s);
    report_count(report, "process_restarts", "restarts", line->process_restarts);
    report_count(report, "restarts", "of actors", line->restarts);
    report_count(report, "links_up", "links up", line->links_up);
    report_count(report, "mailbox_messages", "mailboxes", line->mailbox_messages);
    report_count(report, "mailbox_messages_max", "most in one", line->mailbox_messages_max);
    report_bytes(report, "mailbox_bytes", "held", line->mailbox_bytes);
    report_bytes(report, "queued_bytes", "queued", line->queued_bytes);
    report_bytes(report, "credit_bytes", "credit", line->credit_bytes);
    report_bytes(report, "bytes_sent", "sent", line->sent_bytes);
    report_bytes(report, "bytes_received", "received", line->received_bytes);
    report_count(report, "batches_made", "made", line->batches_made);
    report_count(report, "batches_taken", "taken", line->batches_taken);
    report_text(report, "why", "why not up", line->why);
}

/* JSON is the library's; a table is for people. */
static int print_status(const struct tr_status *status, bool json, struct tr_error *error)
{
    struct tr_job_status job = TR_JOB_STATUS_INIT;
    struct report report;
    if (json)
        return puts(tr_status_json(status)) >= 0 && fflush(stdout) == 0
                   ? 0
                   : tr_error_set(error, TR_EIO,
                                  "cannot write the results to the standard output: %s",
                                  strerror(errno));
    int rv = tr_status_job(status, &job, error);
    report_init(&report, false);
    if (rv == 0)
        report_job(&report, &job);
    for (uint32_t p = 0; rv == 0 && p < job.num_processes; p++) {
        struct tr_process_status line = TR_PROCESS_STATUS_INIT;
        rv = tr_status_process(status, p, &line, error);
        if (rv == 0)
            report_line(&report, p, &line);
    }
    report_rows_end(&report);
    if (rv == 0)
        return report_print(&report, error);
    report_fini(&report);
    return rv;
}

/* The outcome of the command where processes do not answer. */
static int check_all_up(const struct tr_status *status, struct tr_error *error)
{
    struct tr_job_status job = TR_JOB_STATUS_INIT;
    struct tr_process_status first_down = TR_PROCESS_STATUS_INIT;
    uint32_t down = 0, which = 0;
    int rv = tr_status_job(status, &job, error);
    for (uint32_t p = 0; rv == 0 && p < job.num_processes; p++) {
        struct tr_process_status line = TR_PROCESS_STATUS_INIT;
        rv = tr_status_process(status, p, &line, error);
        if (rv == 0 && !line.up && down++ == 0) {
            first_down = line;
            which = p;
        }
    }
    if (rv == 0 && down > 0)
        rv = tr_error_set(error, TR_EPEERDOWN,
                          "%u of %u processes do not answer; process %u (%s): %s", down,
                          job.num_processes, which, first_down.host,
                          first_down.why[0] != '\0' ? first_down.why : "it is silent");
    return rv;
}

static int report_all(struct tr_observer *observer, bool json, struct tr_error *error)
{
    struct tr_status *status;
    int rv = tr_status_read(observer, &status, error);
    if (rv != 0)
        return rv;
    rv = print_status(status, json, error);
    if (rv == 0)
        rv = check_all_up(status, error);
    tr_status_close(status);
    return rv;
}

static int open_observer(const struct invocation *invocation, const struct status_values *values,
                         struct tr_observer **observer, struct tr_error *error)
{
    struct tr_observer_options options = TR_OBSERVER_OPTIONS_INIT;
    options.cluster = invocation->operands[0];
    options.graph = values->graph;
    options.host = values->host;
    return tr_observer_open(&options, TR_WAIT_FOREVER, observer, error);
}

static int run_status(const struct invocation *invocation, const void *values)
{
    const struct status_values *v = values;
    struct tr_observer *observer;
    struct tr_error error = TR_ERROR_INIT;
    int rv = open_observer(invocation, v, &observer, &error);
    if (rv != 0)
        return rv == TR_EINVAL ? fail_usage(invocation, &error) : fail(invocation, &error);
    (void)tr_observer_wait(observer, 1, STATUS_WAIT_NS, NULL); /* silent processes are shown so */
    rv = report_all(observer, v->json, &error);
    tr_observer_close(observer);
    return rv == 0 ? EXIT_DONE : fail(invocation, &error);
}

/* The picture before, to tell rates. */
struct rates {
    uint64_t at_ns, bytes, made, taken;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double cmd_status_rate(uint64_t now, uint64_t before, double seconds)
{
    return now >= before && seconds > 0 ? (double)(now - before) / seconds : 0;
}

static void draw_line(uint32_t process, const struct tr_process_status *line, struct rates *before,
                      uint64_t at_ns, const char *end)
{
    if (!line->up) {
        printf("%5u %-12.12s %-24.24s down: %.80s%s\n", process, line->host, line->roles, line->why,
               end);
        *before = (struct rates){ 0 };
        return;
    }
    double seconds = before->at_ns != 0 ? (double)(at_ns - before->at_ns) / 1e9 : 0;
    uint64_t bytes = line->sent_bytes + line->received_bytes;
    char loss[16] = "-";
    if (line->has_loss)
        snprintf(loss, sizeof loss, "%.4g", line->loss);
    printf("%5u %-12.12s %-24.24s %8" PRIu64 " %7.2f %5u/%-5u %6.2f %9.1f %9" PRIu64 " %9" PRIu64
           " %9.1f %9.1f %9.1f %8.1f %8.1f %9.0f %8s%s\n",
           process, line->host, line->roles, line->process_restarts, line->round_trip_s * 1e3,
           line->links_up, line->links, line->cpus, (double)line->rss_bytes / 1048576,
           line->mailbox_messages, line->mailbox_messages_max,
           (double)line->mailbox_bytes / 1048576, (double)line->credit_bytes / 1048576,
           cmd_status_rate(bytes, before->bytes, seconds) / 1048576,
           cmd_status_rate(line->batches_made, before->made, seconds),
           cmd_status_rate(line->batches_taken, before->taken, seconds), line->seeds_per_s, loss,
           end);
    *before = (struct rates){ at_ns, bytes, line->batches_made, line->batches_taken };
}

static void draw_job(const struct tr_job_status *job, const char *end)
{
    char checkpoint[64] = "no checkpoint";
    if (job->has_checkpoint)
        snprintf(checkpoint, sizeof checkpoint, "last checkpoint at step %" PRIu64,
                 job->checkpoint);
    printf("era %" PRIu32 ", epoch %" PRIu32, job->era, job->epoch);
    if (job->epochs != 0)
        printf(" of %" PRIu32, job->epochs);
    printf(", step %" PRIu64 " of %" PRIu64 ", %s", job->step, job->steps, checkpoint);
    if (job->checkpoint_age_s >= 0)
        printf(" %.0f s ago", job->checkpoint_age_s);
    printf(", %.0f seeds/s", job->seeds_per_s);
    if (job->has_loss)
        printf(", loss %.4g", job->loss);
    if (job->has_score)
        printf(", validation %s %.4g", job->score_name, job->score);
    printf("%s\n", end);
}

static int cmd_status_draw(struct tr_observer *observer, struct rates *rates, bool terminal,
                           struct tr_error *error)
{
    struct tr_job_status job = TR_JOB_STATUS_INIT;
    const char *end = terminal ? "\033[K" : "";
    int rv = tr_observer_job(observer, &job, error);
    if (terminal)
        printf("\033[H%s: %u processes; q ends%s\n", job.name, job.num_processes, end);
    draw_job(&job, end);
    printf("%5s %-12s %-24s %8s %7s %11s %6s %9s %9s %9s %9s %9s %9s %8s %8s %9s %8s%s\n", "",
           "host", "roles", "restarts", "lag ms", "links", "CPUs", "RSS MiB", "messages", "at most",
           "held MiB", "cred MiB", "MiB/s", "made/s", "taken/s", "seeds/s", "loss", end);
    for (uint32_t p = 0; rv == 0 && p < job.num_processes; p++) {
        struct tr_process_status line = TR_PROCESS_STATUS_INIT;
        rv = tr_observer_process(observer, p, &line, error);
        if (rv == 0)
            draw_line(p, &line, &rates[p], line.at_ns, end);
    }
    if (terminal)
        printf("\033[J");
    if (rv == 0 && fflush(stdout) != 0)
        rv = tr_error_set(error, TR_EIO, "cannot write to the standard output");
    return rv;
}

/* Keys come from a terminal, or from whatever stands in its place: a pipe that says q. Where
 * nothing comes any more, as of /dev/null, a signal ends it, but the end of a terminal does too:
 * nobody is there to look. *listens: whether something may still come. */
static bool asked_to_quit(bool keyboard, bool *listens)
{
    struct pollfd polled = { .fd = STDIN_FILENO, .events = POLLIN };
    char key = 0;
    if (poll(&polled, *listens ? 1 : 0, LOOK_MS) <= 0)
        return false;
    *listens = read(STDIN_FILENO, &key, 1) > 0;
    return *listens ? key == 'q' || key == 'Q' : keyboard;
}

static int cmd_status_watch(struct tr_observer *observer, struct signals *signals,
                            struct tr_error *error)
{
    bool terminal = isatty(STDOUT_FILENO) == 1, keyboard = isatty(STDIN_FILENO) == 1;
    struct tr_job_status job = TR_JOB_STATUS_INIT;
    int rv = tr_observer_job(observer, &job, error);
    struct rates *rates = rv == 0 ? calloc(job.num_processes, sizeof *rates) : NULL;
    struct termios before, raw;
    uint64_t next_ns = 0;
    bool listens = true;
    if (rv == 0 && rates == NULL)
        rv = tr_error_set(error, TR_ENOMEM, "no memory");
    keyboard = keyboard && tcgetattr(STDIN_FILENO, &before) == 0;
    if (keyboard) {
        raw = before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    if (terminal)
        printf("\033[2J");
    (void)tr_observer_wait(observer, 1, FIRST_NS, NULL);
    while (rv == 0 && !atomic_load(&signals->cancelled)) {
        if (now_ns() >= next_ns) {
            rv = cmd_status_draw(observer, rates, terminal, error);
            next_ns = now_ns() + DRAW_NS;
        }
        if (asked_to_quit(keyboard, &listens))
            break;
    }
    /* The terminal is given back before this returns, whatever ended it: errors are printed on
     * it as it was. */
    if (keyboard)
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
    free(rates);
    return rv;
}

/* The page is served by the library's thread; what is left is to say where, and to wait. */
static int serve_page(struct tr_observer *observer, const struct status_values *values,
                      struct signals *signals, struct tr_error *error)
{
    struct tr_live_page_options options = TR_LIVE_PAGE_OPTIONS_INIT;
    struct tr_live_page *page;
    bool keyboard = isatty(STDIN_FILENO) == 1, listens = true;
    options.address = values->web;
    options.log = values->log;
    options.run = values->run;
    int rv = tr_live_page_open(observer, &options, &page, error);
    if (rv != 0)
        return rv;
    if (puts(tr_live_page_url(page)) < 0 || fflush(stdout) != 0)
        rv = tr_error_set(error, TR_EIO, "cannot write to the standard output");
    while (rv == 0 && !atomic_load(&signals->cancelled) && !asked_to_quit(keyboard, &listens))
        continue;
    tr_live_page_close(page);
    return rv;
}

static void cmd_status_interrupt(void *observer)
{
    tr_observer_interrupt(observer);
}

static int run_top(const struct invocation *invocation, const void *values)
{
    const struct status_values *v = values;
    struct tr_observer *observer;
    struct signals signals;
    struct tr_error error = TR_ERROR_INIT;
    if (v->log != NULL && v->web == NULL) {
        tr_error_set(&error, TR_EINVAL, "--log: its lines are shown on the live page; give --web");
        return fail_usage(invocation, &error);
    }
    if (v->run != NULL && v->web == NULL) {
        tr_error_set(&error, TR_EINVAL,
                     "--run: the history of the run is shown on the live page; give --web");
        return fail_usage(invocation, &error);
    }
    int rv = open_observer(invocation, v, &observer, &error);
    if (rv != 0)
        return rv == TR_EINVAL ? fail_usage(invocation, &error) : fail(invocation, &error);
    rv = signals_start(&signals, cmd_status_interrupt, NULL, observer, NULL, &error);
    if (rv == 0) {
        rv = v->web != NULL ? serve_page(observer, v, &signals, &error)
                            : cmd_status_watch(observer, &signals, &error);
        signals_stop(&signals);
    }
    /* The observer is closed after the signals, which interrupt it. */
    tr_observer_close(observer);
    if (rv == TR_EINVAL && v->web != NULL)
        return fail_usage(invocation, &error);
    return rv == 0 ? EXIT_DONE : fail(invocation, &error);
}

static const char *const STATUS_EXAMPLES[] = {
    "troupe status cluster.json",
    "troupe status cluster.json --json",
    NULL,
};

static const char *const TOP_EXAMPLES[] = { "troupe top cluster.json",
                                            "troupe top cluster.json --web 8080", NULL };

const struct command command_status = {
    .name = "status",
    .summary = "Show which processes of a running job are up, and what they do",
    .operands = "CLUSTER",
    .operands_min = 1,
    .operands_max = 1,
    .options = STATUS_OPTIONS,
    .values_size = sizeof(struct status_values),
    .examples = STATUS_EXAMPLES,
    .run = run_status,
};

const struct command command_top = {
    .name = "top",
    .summary = "Watch a running job, live",
    .operands = "CLUSTER",
    .operands_min = 1,
    .operands_max = 1,
    .options = TOP_OPTIONS,
    .values_size = sizeof(struct status_values),
    .examples = TOP_EXAMPLES,
    .run = run_top,
};
