/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a process as a JSON document. */
#include <stdlib.h>

#include "actors/report/status.h"
#include "runtime/net/links.h"

static void add_count(json_t *object, const char *key, uint64_t count)
{
    json_object_set_new(object, key, json_integer((json_int_t)count));
}

static json_t *counters_json(struct node *node)
{
    struct node_counters c;
    json_t *object = json_object();
    node_counters(node, &c);
    add_count(object, "messages_live", c.messages_live);
    add_count(object, "buffers_live", c.buffers_live);
    add_count(object, "calls_open", c.calls_open);
    add_count(object, "actors_live", c.actors_live);
    add_count(object, "sent", c.sent);
    add_count(object, "delivered", c.delivered);
    add_count(object, "dropped_full", c.dropped_full);
    add_count(object, "dropped_expired", c.dropped_expired);
    add_count(object, "stale", c.stale);
    add_count(object, "late_replies", c.late_replies);
    add_count(object, "long_turns", c.long_turns);
    add_count(object, "restarts", c.restarts);
    add_count(object, "mailbox_messages_max", c.mailbox_messages_max);
    return object;
}

static json_t *link_json(const struct links_status *link)
{
    static const char *const STATES[] = { "down", "connecting", "up" };
    json_t *object = json_object();
    add_count(object, "node", link->node);
    add_count(object, "incarnation", link->incarnation);
    json_object_set_new(object, "state", json_string(STATES[link->state]));
    add_count(object, "bytes_sent", link->bytes_sent);
    add_count(object, "bytes_received", link->bytes_received);
    add_count(object, "messages_sent", link->messages_sent);
    add_count(object, "messages_received", link->messages_received);
    add_count(object, "queued_bytes", link->queued_bytes);
    add_count(object, "retained_bytes", link->retained_bytes);
    add_count(object, "credit_bytes", link->credit_bytes);
    add_count(object, "connections", link->connections);
    json_object_set_new(object, "silent_seconds", json_real((double)link->silent_ns / 1e9));
    return object;
}

static json_t *links_json(struct node *node)
{
    json_t *array = json_array();
    uint32_t count = links_status(node, NULL, 0);
    struct links_status *links = calloc(count + (size_t)1, sizeof *links);
    uint32_t got = links != NULL ? links_status(node, links, count) : 0;
    for (uint32_t i = 0; i < got && i < count; i++)
        json_array_append_new(array, link_json(&links[i]));
    free(links);
    return array;
}

static json_t *refused_json(struct node *node)
{
    struct links_counters c;
    json_t *object = json_object();
    links_counters(node, &c);
    add_count(object, "accepted", c.accepted);
    add_count(object, "refused", c.refused);
    add_count(object, "unproved", c.dropped_unproved);
    add_count(object, "corrupt", c.corrupt);
    add_count(object, "observers", c.observers);
    return object;
}

static void add_real(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, json_real(value));
}

static void add_training(json_t *object, struct job_progress *progress, uint64_t now_ns)
{
    const struct job_progress_now now = job_progress_look(progress);
    if (now.checkpoint_ns != 0 && now_ns >= now.checkpoint_ns)
        add_real(object, "checkpoint_age_seconds", (double)(now_ns - now.checkpoint_ns) / 1e9);
    if (now.has_loss)
        add_real(object, "loss", now.loss);
    if (now.has_score) {
        add_real(object, "score", now.score);
        json_object_set_new(object, "score_name", json_string(now.score_name));
    }
    add_count(object, "seeds", now.seeds);
    add_real(object, "seeds_per_second", job_progress_pace(progress, now_ns));
}

static void add_usage(json_t *object, const struct status_options *options, uint64_t now_ns)
{
    struct process_usage usage;
    if (options->usage == NULL)
        return;
    options->usage(&usage);
    double seconds = (double)(now_ns - options->begin_ns) / 1e9;
    add_count(object, "rss_bytes", usage.resident_bytes);
    add_real(object, "cpu_seconds", (double)usage.cpu_ns / 1e9);
    if (usage.cpu_ns >= options->begin_cpu_ns && seconds > 0)
        add_real(object, "cpus", (double)(usage.cpu_ns - options->begin_cpu_ns) / 1e9 / seconds);
}

static void add_progress(json_t *object, struct job_progress *progress)
{
    const struct job_progress_now now = job_progress_look(progress);
    add_count(object, "era", now.era);
    add_count(object, "epoch", now.epoch);
    add_count(object, "epochs", now.epochs);
    add_count(object, "step", now.step);
    add_count(object, "steps", now.steps);
    if (now.has_checkpoint)
        add_count(object, "checkpoint", now.checkpoint);
}

json_t *status_json(const struct status_options *options, struct node *node, uint64_t now_ns)
{
    struct batch_store_counts batches;
    json_t *object = json_object();
    if (object == NULL)
        return NULL;
    batch_store_counts(options->store, &batches);
    add_count(object, "node", options->node);
    add_count(object, "incarnation", options->incarnation);
    add_count(object, "restarts", options->restarts);
    json_object_set_new(object, "job", json_string(options->job));
    json_object_set_new(object, "roles", json_string(options->roles));
    json_object_set_new(object, "uptime_seconds",
                        json_real((double)(now_ns - options->begin_ns) / 1e9));
    add_progress(object, options->progress);
    add_training(object, options->progress, now_ns);
    add_usage(object, options, now_ns);
    add_count(object, "batches_made", batches.made);
    add_count(object, "batches_taken", batches.taken);
    add_count(object, "batch_bytes", batch_store_used(options->store));
    json_object_set_new(object, "counters", counters_json(node));
    json_object_set_new(object, "links", links_json(node));
    json_object_set_new(object, "refused", refused_json(node));
    return object;
}
