/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/status_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

json_t *status_view_parse(const void *bytes, size_t size)
{
    json_t *document = json_loadb(bytes, size, 0, NULL);
    if (json_is_object(document))
        return document;
    json_decref(document);
    return NULL;
}

/* No count is negative. */
static uint64_t count_of(json_t *object, const char *key)
{
    json_int_t count = json_integer_value(json_object_get(object, key));
    return count > 0 ? (uint64_t)count : 0;
}

/* Finite, and not below 0: rates, times and ages. JSON has no other numbers than finite ones, but
 * for those that a reader overflows. */
static double real_of(json_t *object, const char *key)
{
    double value = json_number_value(json_object_get(object, key));
    return isfinite(value) && value > 0 ? value : 0;
}

static bool read_number(json_t *object, const char *key, double *value)
{
    json_t *number = json_object_get(object, key);
    *value = json_number_value(number);
    if (json_is_number(number) && isfinite(*value))
        return true;
    *value = 0;
    return false;
}

static void copy_text(json_t *object, const char *key, char *text, size_t size)
{
    const char *value = json_string_value(json_object_get(object, key));
    snprintf(text, size, "%s", value != NULL ? value : "");
}

static void read_training(struct job_progress_now *one, json_t *document)
{
    one->seeds = count_of(document, "seeds");
    one->has_loss = read_number(document, "loss", &one->loss);
    one->has_score = read_number(document, "score", &one->score);
    if (one->has_score)
        copy_text(document, "score_name", one->score_name, sizeof one->score_name);
}

static struct job_progress_now read_progress(json_t *document)
{
    struct job_progress_now one = {
        .era = (uint32_t)count_of(document, "era"),
        .epoch = (uint32_t)count_of(document, "epoch"),
        .epochs = (uint32_t)count_of(document, "epochs"),
        .step = count_of(document, "step"),
        .steps = count_of(document, "steps"),
        .has_checkpoint = json_object_get(document, "checkpoint") != NULL,
        .checkpoint = count_of(document, "checkpoint"),
    };
    read_training(&one, document);
    return one;
}

void status_view_add_job(struct job_progress_now *job, json_t *document)
{
    const struct job_progress_now one = read_progress(document);
    /* The era comes before all counts: a later one voids what was seen of those before it. */
    if (one.era > job->era)
        *job = (struct job_progress_now){ .era = one.era, .epochs = job->epochs };
    if (one.era < job->era)
        return;
    if (one.epoch > job->epoch || (one.epoch == job->epoch && one.step > job->step)) {
        job->epoch = one.epoch;
        job->step = one.step;
        job->steps = one.steps;
    }
    job->epochs = one.epochs > job->epochs ? one.epochs : job->epochs;
    if (one.has_checkpoint && (!job->has_checkpoint || one.checkpoint > job->checkpoint)) {
        job->has_checkpoint = true;
        job->checkpoint = one.checkpoint;
    }
}

bool status_view_link(json_t *document, uint32_t number, struct status_link_view *link)
{
    json_t *object = json_array_get(json_object_get(document, "links"), number);
    if (object == NULL)
        return false;
    const char *state = json_string_value(json_object_get(object, "state"));
    *link = (struct status_link_view){
        .process = (uint32_t)count_of(object, "node"),
        .up = state != NULL && strcmp(state, "up") == 0,
        .sent_bytes = count_of(object, "bytes_sent"),
        .received_bytes = count_of(object, "bytes_received"),
        .queued_bytes = count_of(object, "queued_bytes"),
        .silent_s = real_of(object, "silent_seconds"),
    };
    return true;
}

static void add_links(struct status_view *view, json_t *links)
{
    size_t i;
    json_t *link;
    json_array_foreach(links, i, link)
    {
        const char *state = json_string_value(json_object_get(link, "state"));
        uint64_t credit = count_of(link, "credit_bytes");
        bool up = state != NULL && strcmp(state, "up") == 0;
        view->links++;
        view->links_up += up;
        view->sent_bytes += count_of(link, "bytes_sent");
        view->received_bytes += count_of(link, "bytes_received");
        view->queued_bytes += count_of(link, "queued_bytes");
        if (up && (view->links_up == 1 || credit < view->credit_bytes))
            view->credit_bytes = credit; /* the least of all is the one that holds up */
    }
}

static void add_mailboxes(struct status_view *view, json_t *actors)
{
    size_t i;
    json_t *actor;
    json_array_foreach(actors, i, actor)
    {
        view->mailbox_messages += count_of(actor, "messages");
        view->mailbox_bytes += count_of(actor, "bytes");
    }
}

void status_view_fill(const struct cluster_plan *plan, uint32_t process, json_t *document,
                      uint64_t round_trip_ns, struct status_view *view)
{
    *view = (struct status_view){
        .host = plan->cluster->hosts[plan->processes[process].host].name,
        .checkpoint_age_s = -1,
    };
    cluster_roles_text(plan->processes[process].roles, view->planned, sizeof view->planned);
    view->roles = view->planned;
    if (document == NULL)
        return;
    view->up = true;
    view->incarnation = (uint32_t)count_of(document, "incarnation");
    view->uptime_s = json_number_value(json_object_get(document, "uptime_seconds"));
    view->lag_ms = (double)round_trip_ns / 1e6;
    view->made = count_of(document, "batches_made");
    view->taken = count_of(document, "batches_taken");
    view->batch_bytes = count_of(document, "batch_bytes");
    view->restarts = count_of(json_object_get(document, "counters"), "restarts");
    view->mailbox_messages_max = count_of(json_object_get(document, "counters"),
                                          "mailbox_messages_max");
    view->process_restarts = count_of(document, "restarts");
    view->progress = read_progress(document);
    view->seeds_per_s = real_of(document, "seeds_per_second");
    if (json_object_get(document, "checkpoint_age_seconds") != NULL)
        view->checkpoint_age_s = real_of(document, "checkpoint_age_seconds");
    view->rss_bytes = count_of(document, "rss_bytes");
    view->cpu_s = real_of(document, "cpu_seconds");
    view->cpus = real_of(document, "cpus");
    add_links(view, json_object_get(document, "links"));
    add_mailboxes(view, json_object_get(document, "actors"));
}
