/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMetrics text of a process's counters. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/report/metrics.h"
#include "runtime/net/links.h"

int metrics_address(const char *text, struct endpoint *endpoint, struct error *error)
{
    char full[ENDPOINT_TEXT_MAX];
    size_t digits = strspn(text, "0123456789");
    bool alone = digits > 0 && text[digits] == '\0';
    if (strlen(text) + sizeof "tcp:127.0.0.1:" > sizeof full)
        return error_set(error, TR_EINVAL, "metrics: the address is too long");
    snprintf(full, sizeof full, "tcp:%s%s", alone ? "127.0.0.1:" : "", text);
    int rv = endpoint_parse(full, endpoint, error);
    return rv == 0 ? 0
                   : error_set(error, TR_EINVAL,
                               "%s: not an address to serve metrics at; give PORT, HOST:PORT or "
                               "[ADDRESS]:PORT",
                               text);
}

/* A label's value: backslash, quote and newline are escaped. */
static void put_label(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\\' || *text == '"')
            fprintf(out, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", out);
        else
            fputc(*text, out);
    }
}

static void put_family(FILE *out, const char *name, const char *type, const char *unit,
                       const char *help)
{
    fprintf(out, "# TYPE %s %s\n", name, type);
    if (unit != NULL)
        fprintf(out, "# UNIT %s %s\n", name, unit);
    fprintf(out, "# HELP %s %s\n", name, help);
}

static void put_counter(FILE *out, const char *name, const char *unit, const char *help,
                        uint64_t value)
{
    put_family(out, name, "counter", unit, help);
    fprintf(out, "%s_total %" PRIu64 "\n", name, value);
}

static void put_gauge(FILE *out, const char *name, const char *unit, const char *help,
                      uint64_t value)
{
    put_family(out, name, "gauge", unit, help);
    fprintf(out, "%s %" PRIu64 "\n", name, value);
}

static void put_real(FILE *out, const char *name, const char *unit, const char *help, double value)
{
    put_family(out, name, "gauge", unit, help);
    fprintf(out, "%s %.9g\n", name, value);
}

static void put_node(FILE *out, struct node *node)
{
    struct node_counters c;
    node_counters(node, &c);
    put_counter(out, "troupe_messages_sent", NULL, "Messages sent by actors.", c.sent);
    put_counter(out, "troupe_messages_delivered", NULL, "Messages handed to actors.", c.delivered);
    put_counter(out, "troupe_messages_dropped_full", NULL,
                "Plain messages refused by a full mailbox.", c.dropped_full);
    put_counter(out, "troupe_requests_expired", NULL,
                "Requests dropped because their deadline had passed.", c.dropped_expired);
    put_counter(out, "troupe_replies_late", NULL, "Replies to calls that had ended.",
                c.late_replies);
    put_counter(out, "troupe_turns_long", NULL, "Turns of actors over 10 ms.", c.long_turns);
    put_counter(out, "troupe_actor_restarts", NULL, "Actors started again.", c.restarts);
    put_gauge(out, "troupe_messages_live", NULL, "Messages in memory.", c.messages_live);
    put_gauge(out, "troupe_calls_open", NULL, "Calls that wait for their reply.", c.calls_open);
    put_gauge(out, "troupe_actors", NULL, "Actors alive.", c.actors_live);
    put_gauge(out, "troupe_mailbox_messages", NULL, "Messages that wait for actors.",
              c.mailbox_messages);
    put_gauge(out, "troupe_mailbox_bytes", "bytes",
              "Held by messages that wait for actors, control messages left out.", c.mailbox_bytes);
    put_gauge(out, "troupe_mailbox_messages_max", NULL,
              "The most messages that have waited for one actor.", c.mailbox_messages_max);
}

/* One family of all links; at(link) is its value. */
static void put_links(FILE *out, const struct links_status *links, uint32_t count, const char *name,
                      const char *type, const char *unit, const char *help,
                      uint64_t (*at)(const struct links_status *link))
{
    put_family(out, name, type, unit, help);
    const char *suffix = strcmp(type, "counter") == 0 ? "_total" : "";
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%s%s{peer=\"%" PRIu32 "\"} %" PRIu64 "\n", name, suffix, links[i].node,
                at(&links[i]));
}

static uint64_t is_up(const struct links_status *link)
{
    return link->state == LINKS_UP;
}

static uint64_t text_sent(const struct links_status *link)
{
    return link->bytes_sent;
}

static uint64_t text_received(const struct links_status *link)
{
    return link->bytes_received;
}

static uint64_t text_queued(const struct links_status *link)
{
    return link->queued_bytes;
}

static uint64_t text_credit(const struct links_status *link)
{
    return link->credit_bytes;
}

static void put_all_links(FILE *out, struct node *node)
{
    uint32_t count = links_status(node, NULL, 0);
    struct links_status *links = calloc(count + (size_t)1, sizeof *links);
    if (links == NULL || count == 0) {
        free(links);
        return;
    }
    links_status(node, links, count);
    put_links(out, links, count, "troupe_link_up", "gauge", NULL, "The link is up.", is_up);
    put_links(out, links, count, "troupe_link_sent_bytes", "counter", "bytes",
              "Written to the peer.", text_sent);
    put_links(out, links, count, "troupe_link_received_bytes", "counter", "bytes",
              "Read from the peer.", text_received);
    put_links(out, links, count, "troupe_link_queued_bytes", "gauge", "bytes",
              "Waiting for the connection or credit.", text_queued);
    put_links(out, links, count, "troupe_link_credit_bytes", "gauge", "bytes",
              "Granted by the peer.", text_credit);
    free(links);
}

static void put_refusals(FILE *out, struct node *node)
{
    struct links_counters c;
    links_counters(node, &c);
    put_counter(out, "troupe_connections_accepted", NULL, "Connections accepted.", c.accepted);
    put_counter(out, "troupe_connections_refused", NULL, "Connections refused, with a reason.",
                c.refused);
    put_counter(out, "troupe_connections_unproved", NULL,
                "Connections that ended before the peer had proved its identity.",
                c.dropped_unproved);
    put_counter(out, "troupe_records_corrupt", NULL, "Records that did not verify.", c.corrupt);
    put_family(out, "troupe_observers", "gauge", NULL, "Observers that are connected.");
    fprintf(out, "troupe_observers %" PRIu64 "\n", c.observers);
}

static void put_info(FILE *out, const struct status_options *options)
{
    put_family(out, "troupe_process", "info", NULL, "Which process of which job this is.");
    fputs("troupe_process_info{job=\"", out);
    put_label(out, options->job);
    fprintf(out, "\",process=\"%" PRIu32 "\",incarnation=\"%" PRIu32 "\",roles=\"", options->node,
            options->incarnation);
    put_label(out, options->roles);
    fputs("\"} 1\n", out);
}

static void put_training(FILE *out, const struct job_progress_now *now)
{
    put_counter(out, "troupe_seeds", NULL,
                "Seeds of the batches that trainers here took, evaluations left out.", now->seeds);
    if (now->has_loss)
        put_real(out, "troupe_loss", NULL, "The training loss that a trainer here noted last.",
                 now->loss);
    if (!now->has_score)
        return;
    put_family(out, "troupe_validation_score", "gauge", NULL,
               "The score of the last validation that a trainer here noted.");
    fputs("troupe_validation_score{score=\"", out);
    put_label(out, now->score_name);
    fprintf(out, "\"} %.9g\n", now->score);
}

static void put_progress(FILE *out, struct job_progress *progress, uint64_t now_ns)
{
    const struct job_progress_now now = job_progress_look(progress);
    put_gauge(out, "troupe_era", NULL, "The era of the job's trainers; 0: none has begun.",
              now.era);
    put_gauge(out, "troupe_epoch", NULL, "The epoch that a trainer here is in, from 1.", now.epoch);
    put_gauge(out, "troupe_epochs", NULL, "Epochs to train; 0: not known.", now.epochs);
    put_gauge(out, "troupe_step", NULL, "Batches of the epoch that it took.", now.step);
    put_gauge(out, "troupe_steps", NULL, "Batches of an epoch.", now.steps);
    if (now.has_checkpoint)
        put_gauge(out, "troupe_checkpoint_step", NULL,
                  "Steps, over all epochs, that the last committed checkpoint has.",
                  now.checkpoint);
    if (now.checkpoint_ns != 0 && now_ns >= now.checkpoint_ns)
        put_real(out, "troupe_checkpoint_age_seconds", "seconds",
                 "Since this process saw the last checkpoint committed.",
                 (double)(now_ns - now.checkpoint_ns) / 1e9);
    put_training(out, &now);
}

/* The names that Prometheus' own libraries give these; the numbers are of the whole process. */
static void put_usage(FILE *out, const struct status_options *options)
{
    struct process_usage usage;
    if (options->usage == NULL)
        return;
    options->usage(&usage);
    put_gauge(out, "process_resident_memory_bytes", "bytes", "Memory that is in RAM.",
              usage.resident_bytes);
    put_family(out, "process_cpu_seconds", "counter", "seconds", "Processor time of all threads.");
    fprintf(out, "process_cpu_seconds_total %.6f\n", (double)usage.cpu_ns / 1e9);
    if (options->began_at > 0) {
        put_family(out, "process_start_time_seconds", "gauge", "seconds",
                   "When this process joined its job, since the Unix epoch.");
        fprintf(out, "process_start_time_seconds %.3f\n", options->began_at);
    }
}

char *metrics_text(const struct status_options *options, struct node *node, uint64_t now_ns)
{
    struct batch_store_counts batches;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    batch_store_counts(options->store, &batches);
    put_info(out, options);
    put_family(out, "troupe_uptime_seconds", "gauge", "seconds", "Since the process joined.");
    fprintf(out, "troupe_uptime_seconds %.3f\n", (double)(now_ns - options->begin_ns) / 1e9);
    put_gauge(out, "troupe_process_restarts", NULL,
              "How often the launcher has started this process again.", options->restarts);
    put_progress(out, options->progress, now_ns);
    put_usage(out, options);
    put_counter(out, "troupe_batches_made", NULL, "Mini-batches made by samplers here.",
                batches.made);
    put_counter(out, "troupe_batches_taken", NULL, "Mini-batches taken by trainers here.",
                batches.taken);
    put_gauge(out, "troupe_batch_bytes", "bytes", "Held by mini-batches.",
              batch_store_used(options->store));
    put_node(out, node);
    put_all_links(out, node);
    put_refusals(out, node);
    fputs("# EOF\n", out);
    /* Errors are asked for before the stream is closed, which frees it; the text is whole only
     * after that. */
    bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}

/* A line about a family: "# TYPE name counter" and "# HELP name words". Samples of a counter and of
 * an info have a suffix that is a part of the family's name in the plain format, where an info is a
 * gauge. */
static void put_plain_family(FILE *out, const char *line, size_t length, const char **suffix)
{
    const char *name = line + strlen("# TYPE ");
    size_t name_bytes = strcspn(name, " ");
    const char *rest = name + name_bytes;
    bool of_type = strncmp(line, "# TYPE ", 7) == 0;
    if (of_type)
        *suffix = strncmp(rest, " counter\n", 9) == 0 ? "_total"
                  : strncmp(rest, " info\n", 6) == 0  ? "_info"
                                                      : "";
    bool info = of_type && strcmp(*suffix, "_info") == 0;
    fprintf(out, "%.7s%.*s%s", line, (int)name_bytes, name, *suffix);
    if (info)
        fputs(" gauge\n", out);
    else
        fwrite(rest, 1, length - (size_t)(rest - line), out);
}

char *metrics_plain(char *open_metrics)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_metrics != NULL ? open_memstream(&text, &size) : NULL;
    if (out == NULL) {
        free(open_metrics);
        return NULL;
    }
    const char *suffix = "";
    for (const char *line = open_metrics, *next; *line != '\0'; line = next) {
        const char *end = strchr(line, '\n');
        next = end != NULL ? end + 1 : line + strlen(line);
        size_t length = (size_t)(next - line);
        if (strncmp(line, "# UNIT ", 7) == 0 || strncmp(line, "# EOF", 5) == 0)
            continue;
        if (strncmp(line, "# TYPE ", 7) == 0 || strncmp(line, "# HELP ", 7) == 0)
            put_plain_family(out, line, length, &suffix);
        else
            fwrite(line, 1, length, out);
    }
    free(open_metrics);
    bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}
