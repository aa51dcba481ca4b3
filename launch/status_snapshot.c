/* SPDX-License-Identifier: Apache-2.0 */
/* What an observer has seen at one moment, kept: tr_status_read(). */
#include <stdlib.h>
#include <string.h>

#include <troupe/observe.h>

#include "api/sized.h"
#include "launch/observer.h"
#include "runtime/base/json_text.h"

/* Those of a process that were there when it was read. */
struct status_links {
    struct tr_link_status *links; /* [count] */
    uint32_t count;
};

struct tr_status {
    struct tr_job_status job;            /* its name is a copy */
    struct tr_process_status *processes; /* [job.num_processes], their texts are copies */
    struct status_links *links;          /* [job.num_processes] */
    struct part_list parts;
    uint32_t num_read; /* of processes: their texts are to be freed */
    char *json;
};

/* Where it is a number: JSON has no NaN. */
static json_t *real_json(double value)
{
    json_t *real = json_real(value);
    return real != NULL ? real : json_null();
}

/* A path or a name need not be UTF-8, JSON must: such a text is given as far as it can be. */
static json_t *text_json(const char *text)
{
    json_t *value = json_string(text);
    return value != NULL ? value : json_string("(not UTF-8)");
}

static json_t *links_json(const struct status_links *of)
{
    json_t *links = json_array();
    for (uint32_t i = 0; links != NULL && i < of->count; i++) {
        const struct tr_link_status *link = &of->links[i];
        json_array_append_new(links, json_pack("{s:I, s:b, s:I, s:I, s:I, s:o}", "process",
                                               (json_int_t)link->process, "up", link->up,
                                               "bytes_sent", (json_int_t)link->sent_bytes,
                                               "bytes_received", (json_int_t)link->received_bytes,
                                               "queued_bytes", (json_int_t)link->queued_bytes,
                                               "silent_seconds", real_json(link->silent_s)));
    }
    return links;
}

/* Adds what there is of a loss and a score. */
static int add_scores(json_t *object, bool has_loss, double loss, bool has_score, double score,
                      const char *name)
{
    int rv = 0;
    if (has_loss)
        rv |= json_object_set_new(object, "loss", real_json(loss));
    if (has_score) {
        rv |= json_object_set_new(object, "score", real_json(score));
        rv |= json_object_set_new(object, "score_name", text_json(name));
    }
    return rv;
}

/* Its memory, processors, links and trainers. */
static int add_use(json_t *object, const struct tr_process_status *line,
                   const struct status_links *links)
{
    int rv = json_object_set_new(object, "restarts", json_integer(line->restarts));
    rv |= json_object_set_new(object, "process_restarts",
                              json_integer((json_int_t)line->process_restarts));
    rv |= json_object_set_new(object, "mailbox_messages_max",
                              json_integer((json_int_t)line->mailbox_messages_max));
    rv |= json_object_set_new(object, "rss_bytes", json_integer((json_int_t)line->rss_bytes));
    rv |= json_object_set_new(object, "cpu_seconds", real_json(line->cpu_s));
    rv |= json_object_set_new(object, "cpus", real_json(line->cpus));
    rv |= json_object_set_new(object, "epoch", json_integer(line->epoch));
    rv |= json_object_set_new(object, "step", json_integer((json_int_t)line->step));
    rv |= json_object_set_new(object, "steps", json_integer((json_int_t)line->steps));
    rv |= json_object_set_new(object, "seeds", json_integer((json_int_t)line->seeds));
    rv |= json_object_set_new(object, "seeds_per_second", real_json(line->seeds_per_s));
    rv |= add_scores(object, line->has_loss, line->loss, line->has_score, line->score,
                     line->score_name);
    return rv | json_object_set_new(object, "links", links_json(links));
}

static json_t *counts_json(uint32_t process, const struct tr_process_status *line)
{
    return json_pack(
        "{s:I, s:o, s:o, s:b, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I,"
        " s:I, s:o}",
        "process", (json_int_t)process, "host", text_json(line->host), "roles",
        text_json(line->roles), "up", line->up, "incarnation", (json_int_t)line->incarnation,
        "uptime_seconds", real_json(line->uptime_s), "lag_milliseconds",
        real_json(line->round_trip_s * 1e3), "links_up", (json_int_t)line->links_up,
        "mailbox_messages", (json_int_t)line->mailbox_messages, "mailbox_bytes",
        (json_int_t)line->mailbox_bytes, "queued_bytes", (json_int_t)line->queued_bytes,
        "credit_bytes", (json_int_t)line->credit_bytes, "bytes_sent", (json_int_t)line->sent_bytes,
        "bytes_received", (json_int_t)line->received_bytes, "batches_made",
        (json_int_t)line->batches_made, "batches_taken", (json_int_t)line->batches_taken, "why",
        text_json(line->why));
}

static json_t *process_json(uint32_t process, const struct tr_process_status *line,
                            const struct status_links *links)
{
    json_t *object = counts_json(process, line);
    if (object != NULL && add_use(object, line, links) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *parts_json(const struct part_list *list)
{
    json_t *parts = json_array();
    bool whole = parts != NULL;
    for (uint32_t p = 0; whole && p < list->count; p++) {
        const struct tr_part_status *part = &list->parts[p];
        json_t *processes = json_array();
        for (uint32_t i = 0; whole && i < part->num_processes; i++)
            whole = json_array_append_new(processes, json_integer(part->processes[i])) == 0;
        /* An append or a pack of what there was no memory for fails. */
        json_t *object = json_pack("{s:I, s:I, s:I, s:o}", "partition", (json_int_t)p, "nodes",
                                   (json_int_t)part->num_nodes, "edges",
                                   (json_int_t)part->num_edges, "processes", processes);
        whole = json_array_append_new(parts, object) == 0 && whole;
    }
    if (whole)
        return parts;
    json_decref(parts);
    return NULL;
}

/* A text that any terminal takes: all but ASCII is written as \uXXXX. */
static char *status_json_text(const struct tr_status *status)
{
    const struct tr_job_status *job = &status->job;
    json_t *rows = json_array();
    json_t *root = json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "job", text_json(job->name), "era",
                             (json_int_t)job->era, "epoch", (json_int_t)job->epoch, "epochs",
                             (json_int_t)job->epochs, "step", (json_int_t)job->step, "steps",
                             (json_int_t)job->steps);
    bool whole = root != NULL && rows != NULL;
    if (whole && job->has_checkpoint)
        whole = json_object_set_new(root, "checkpoint",
                                    json_integer((json_int_t)job->checkpoint)) == 0;
    if (whole && job->checkpoint_age_s >= 0)
        whole = json_object_set_new(root, "checkpoint_age_seconds",
                                    real_json(job->checkpoint_age_s)) == 0;
    whole = whole && add_scores(root, job->has_loss, job->loss, job->has_score, job->score,
                                job->score_name) == 0;
    whole = whole &&
            json_object_set_new(root, "seeds", json_integer((json_int_t)job->seeds)) == 0 &&
            json_object_set_new(root, "seeds_per_second", real_json(job->seeds_per_s)) == 0;
    for (uint32_t p = 0; p < job->num_processes && whole; p++)
        whole = json_array_append_new(
                    rows, process_json(p, &status->processes[p], &status->links[p])) == 0;
    whole = whole && json_object_set(root, "processes", rows) == 0 &&
            json_object_set_new(root, "partitions", parts_json(&status->parts)) == 0;
    char *text = whole ? json_write_text(root,
                                         JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9))
                       : NULL;
    json_decref(rows);
    json_decref(root);
    return text;
}

/* Copies the texts that are the observer's. */
static int keep_process(struct tr_status *status, const struct tr_process_status *seen,
                        struct tr_error *error)
{
    struct tr_process_status *kept = &status->processes[status->num_read++];
    *kept = *seen;
    kept->host = strdup(seen->host);
    kept->roles = strdup(seen->roles);
    return kept->host != NULL && kept->roles != NULL
               ? 0
               : tr_error_set(error, TR_ENOMEM, "no memory for the status of a job");
}

/* One that was asked anew meanwhile may tell of fewer links by now. */
static int keep_links(struct tr_status *status, struct tr_observer *observer, uint32_t process,
                      struct tr_error *error)
{
    struct status_links *kept = &status->links[process];
    uint32_t links = status->processes[process].links;
    kept->links = calloc(links + (size_t)1, sizeof *kept->links);
    if (kept->links == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for the status of a job");
    int rv = 0;
    for (; kept->count < links && rv == 0; kept->count += rv == 0) {
        const struct tr_link_status none = TR_LINK_STATUS_INIT;
        kept->links[kept->count] = none;
        rv = tr_observer_link(observer, process, kept->count, &kept->links[kept->count], error);
    }
    return rv == TR_ERANGE ? 0 : rv;
}

static int status_fill(struct tr_status *status, struct tr_observer *observer,
                       struct tr_error *error)
{
    struct tr_job_status job = TR_JOB_STATUS_INIT;
    int rv = tr_observer_job(observer, &job, error);
    if (rv != 0)
        return rv;
    status->job = job;
    status->job.name = strdup(job.name);
    status->processes = calloc(job.num_processes, sizeof *status->processes);
    status->links = calloc(job.num_processes, sizeof *status->links);
    if (status->job.name == NULL || status->processes == NULL || status->links == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for the status of a job");
    for (uint32_t p = 0; p < job.num_processes && rv == 0; p++) {
        struct tr_process_status seen = TR_PROCESS_STATUS_INIT;
        rv = tr_observer_process(observer, p, &seen, error);
        if (rv == 0)
            rv = keep_process(status, &seen, error);
        if (rv == 0)
            rv = keep_links(status, observer, p, error);
    }
    /* The partitions change no more once the observer is open. */
    if (rv == 0 && part_list_copy(&status->parts, &observer->parts) != 0)
        rv = tr_error_set(error, TR_ENOMEM, "no memory for the status of a job");
    if (rv != 0)
        return rv;
    status->json = status_json_text(status);
    return status->json != NULL
               ? 0
               : tr_error_set(error, TR_ENOMEM, "no memory for the status of a job");
}

int tr_status_read(struct tr_observer *observer, struct tr_status **out, struct tr_error *error)
{
    *out = NULL;
    struct tr_status *status = calloc(1, sizeof *status);
    if (status == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for the status of a job");
    int rv = status_fill(status, observer, error);
    if (rv == 0)
        *out = status;
    else
        tr_status_close(status);
    return rv;
}

void tr_status_close(struct tr_status *status)
{
    if (status == NULL)
        return;
    for (uint32_t p = 0; p < status->num_read; p++) {
        free((char *)(uintptr_t)status->processes[p].host);
        free((char *)(uintptr_t)status->processes[p].roles);
        free(status->links[p].links);
    }
    free(status->links);
    free(status->processes);
    part_list_fini(&status->parts);
    free((char *)(uintptr_t)status->job.name);
    free(status->json);
    free(status);
}

int tr_status_job(const struct tr_status *status, struct tr_job_status *job, struct tr_error *error)
{
    return sized_write(job, &status->job, sizeof status->job, "tr_job_status", error);
}

int tr_status_process(const struct tr_status *status, uint32_t process,
                      struct tr_process_status *line, struct tr_error *error)
{
    if (process >= status->job.num_processes)
        return tr_error_set(error, TR_ERANGE, "there is no process %u; the job has %u", process,
                            status->job.num_processes);
    return sized_write(line, &status->processes[process], sizeof *status->processes,
                       "tr_process_status", error);
}

int tr_status_link(const struct tr_status *status, uint32_t process, uint32_t link,
                   struct tr_link_status *out, struct tr_error *error)
{
    if (process >= status->job.num_processes)
        return tr_error_set(error, TR_ERANGE, "there is no process %u; the job has %u", process,
                            status->job.num_processes);
    const struct status_links *of = &status->links[process];
    if (link >= of->count)
        return tr_error_set(error, TR_ERANGE, "process %u told of no link %u", process, link);
    return sized_write(out, &of->links[link], sizeof *of->links, "tr_link_status", error);
}

int tr_status_part(const struct tr_status *status, uint32_t part, struct tr_part_status *out,
                   struct tr_error *error)
{
    return part_list_get(&status->parts, part, out, error);
}

const char *tr_status_json(const struct tr_status *status)
{
    return status->json;
}
