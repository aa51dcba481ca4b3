/* SPDX-License-Identifier: Apache-2.0 */
/* What an observer has learnt: of the job as a whole, of each process and of its links. */
#include "launch/observer.h"

#include <stdio.h>

#include "api/public_error.h"
#include "api/schema.h"
#include "api/sized.h"
#include "launch/status_view.h"

/* What the trainers of all processes have come to. */
struct job_training {
    uint32_t losses;
    bool has_score;
    double loss, score, seeds_per_s, checkpoint_age_s;
    uint64_t seeds, checkpoint;
    char score_name[JOB_SCORE_NAME_MAX];
};

static void add_training(struct job_training *all, const struct status_view *view)
{
    const struct job_progress_now *one = &view->progress;
    all->losses += one->has_loss;
    all->loss += one->has_loss ? one->loss : 0;
    all->seeds += one->seeds;
    all->seeds_per_s += view->seeds_per_s;
    if (one->has_score && !all->has_score) {
        all->has_score = true;
        all->score = one->score;
        snprintf(all->score_name, sizeof all->score_name, "%s", one->score_name);
    }
    /* The last checkpoint, as old as the one that saw it first says. */
    bool sees = one->has_checkpoint && view->checkpoint_age_s >= 0;
    if (sees &&
        (all->checkpoint_age_s < 0 || one->checkpoint > all->checkpoint ||
         (one->checkpoint == all->checkpoint && view->checkpoint_age_s > all->checkpoint_age_s))) {
        all->checkpoint = one->checkpoint;
        all->checkpoint_age_s = view->checkpoint_age_s;
    }
}

int tr_observer_job(struct tr_observer *observer, struct tr_job_status *status,
                    struct tr_error *error)
{
    struct job_progress_now job = { 0 };
    struct job_training training = { .checkpoint_age_s = -1 };
    struct status_view view;
    uint32_t num_up = 0, count;
    int rv = observer_enter(observer, error);
    if (rv != 0)
        return rv;
    count = observer->plan.plan.num_processes;
    for (uint32_t p = 0; p < count; p++)
        if (observer->asked[p].seen.document != NULL) {
            status_view_add_job(&job, observer->asked[p].seen.document);
            status_view_fill(&observer->plan, p, observer->asked[p].seen.document, 0, &view);
            add_training(&training, &view);
            num_up++;
        }
    const char *const name = observer->cluster.name;
    const uint32_t parts = observer->parts.count;
    observer_leave(observer);
    struct tr_job_status known = {
        .name = name,
        .num_processes = count,
        .num_up = num_up,
        .era = job.era,
        .epoch = job.epoch,
        .epochs = job.epochs,
        .num_parts = parts,
        .step = job.step,
        .steps = job.steps,
        .has_checkpoint = job.has_checkpoint,
        .checkpoint = job.checkpoint,
        .checkpoint_age_s = job.has_checkpoint && training.checkpoint == job.checkpoint
                                ? training.checkpoint_age_s
                                : -1,
        .has_loss = training.losses != 0,
        .loss = training.losses != 0 ? training.loss / training.losses : 0,
        .has_score = training.has_score,
        .score = training.score,
        .seeds = training.seeds,
        .seeds_per_s = training.seeds_per_s,
    };
    snprintf(known.score_name, sizeof known.score_name, "%s", training.score_name);
    return sized_write(status, &known, sizeof known, "tr_job_status", error);
}

int tr_observer_process(struct tr_observer *observer, uint32_t process,
                        struct tr_process_status *status, struct tr_error *error)
{
    struct status_view view;
    int rv = observer_enter(observer, error);
    if (rv != 0)
        return rv;
    const uint32_t count = observer->plan.plan.num_processes;
    if (process >= count) {
        observer_leave(observer);
        return schema_refuse("process", process, count, error);
    }
    const struct observed_process *asked = &observer->asked[process];
    status_view_fill(&observer->plan, process, asked->seen.document, asked->seen.round_trip_ns,
                     &view);
    /* All that follows is copied before the call leaves: a close may free the observer then. */
    const uint64_t at_ns = asked->seen.at_ns, answers = asked->seen.answers;
    const double cpus = asked->seen.cpus;
    char why[TR_OBSERVER_WHY_MAX];
    snprintf(why, sizeof why, "%s", asked->seen.why);
    observer_leave(observer);
    struct tr_process_status known = {
        .host = view.host,
        .roles = asked->roles,
        .up = view.up,
        .incarnation = view.incarnation,
        .links = view.links,
        .links_up = view.links_up,
        .restarts = (uint32_t)view.restarts,
        .uptime_s = view.uptime_s,
        .round_trip_s = view.lag_ms / 1e3,
        .at_ns = at_ns,
        .asked = answers,
        .sent_bytes = view.sent_bytes,
        .received_bytes = view.received_bytes,
        .queued_bytes = view.queued_bytes,
        .credit_bytes = view.credit_bytes,
        .mailbox_messages = view.mailbox_messages,
        .mailbox_bytes = view.mailbox_bytes,
        .batch_bytes = view.batch_bytes,
        .batches_made = view.made,
        .batches_taken = view.taken,
        .rss_bytes = view.rss_bytes,
        .cpu_s = view.cpu_s,
        .cpus = cpus >= 0 ? cpus : view.cpus,
        .has_loss = view.progress.has_loss,
        .has_score = view.progress.has_score,
        .epoch = view.progress.epoch,
        .step = view.progress.step,
        .steps = view.progress.steps,
        .seeds = view.progress.seeds,
        .seeds_per_s = view.seeds_per_s,
        .loss = view.progress.loss,
        .score = view.progress.score,
        .mailbox_messages_max = view.mailbox_messages_max,
        .process_restarts = view.process_restarts,
    };
    snprintf(known.score_name, sizeof known.score_name, "%s", view.progress.score_name);
    if (!view.up)
        snprintf(known.why, sizeof known.why, "%s",
                 why[0] != '\0' ? why
                 : answers == 0 ? "it has not been asked yet"
                                : "it is connected, and does not answer within 3 seconds");
    return sized_write(status, &known, sizeof known, "tr_process_status", error);
}

int tr_observer_link(struct tr_observer *observer, uint32_t process, uint32_t link,
                     struct tr_link_status *status, struct tr_error *error)
{
    struct status_link_view view;
    int rv = observer_enter(observer, error);
    if (rv != 0)
        return rv;
    const uint32_t count = observer->plan.plan.num_processes;
    bool found = process < count &&
                 status_view_link(observer->asked[process].seen.document, link, &view);
    observer_leave(observer);
    if (process >= count)
        return schema_refuse("process", process, count, error);
    if (!found)
        return tr_error_set(error, TR_ERANGE, "process %u told of no link %u", process, link);
    const struct tr_link_status known = { .process = view.process,
                                          .up = view.up,
                                          .sent_bytes = view.sent_bytes,
                                          .received_bytes = view.received_bytes,
                                          .queued_bytes = view.queued_bytes,
                                          .silent_s = view.silent_s };
    return sized_write(status, &known, sizeof known, "tr_link_status", error);
}

int tr_observer_part(struct tr_observer *observer, uint32_t part, struct tr_part_status *status,
                     struct tr_error *error)
{
    int rv = observer_enter(observer, error);
    if (rv != 0)
        return rv;
    rv = part_list_get(&observer->parts, part, status, error);
    observer_leave(observer);
    return rv;
}
