/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_trainer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/cluster/process_notice.h"
#include "actors/common/error_reply.h"
#include "actors/common/part_call.h"
#include "actors/job/reducer.h"
#include "model/training_loop.h"
#include "runtime/base/atomic_dir.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/timer.h"
#include "sim/fleet.h"

#define MS UINT64_C(1000000)

/* As api/group.c waits for a reducer that was not ready. */
#define AGAIN_NS (5 * MS)
#define FIND_NS ENV_SECOND_NS
/* As a program waits for a batch before it looks again. */
#define LOOK_NS (100 * MS)
/* As a session waits for a proxy that is started again. */
#define RECOVERY_NS (600 * ENV_SECOND_NS)
/* A reducer ends an operation at its deadline; so much later it is given up (as api/group.c). */
#define GRACE_NS (5 * ENV_SECOND_NS)
/* The end of the job is waited for as long as it takes. */
#define FINISH_NS (100000 * ENV_SECOND_NS)
/* As --disk-wait. */
#define DISK_WAIT_NS (600 * ENV_SECOND_NS)

/* What a checkpoint keeps of a trainer, before its weights. */
struct part_head {
    uint64_t step, rank;
    struct training_position at;
    float best;
};

struct sim_trainer {
    struct actor *self;
    struct fleet *fleet;
    const struct fleet_plan *plan;
    struct fleet_process *process;
    uint32_t rank;
    struct draws draws;
    struct training_loop loop;
    struct address reducer, proxy; /* none: to be found */
    uint64_t loader;
    bool opened;                   /* the loader, at that proxy */
    bool evaluated;                /* rank 0: the scores of this epoch */
    uint64_t reductions, barriers; /* done since it was restored */
    uint64_t saves; /* that ended, whatever their outcome; not those that timed out */
    uint32_t era;
    float best;     /* score so far */
    float *weights; /* [values] */
    float *values;  /* [values + 1]: what is reduced */
    float *shared;  /* [trainers]: what is summed of an epoch */
    struct timer timer;
};

static void sim_trainer_go(struct sim_trainer *t);

/* Steps of the whole job that are done. */
static uint64_t step_of(const struct sim_trainer *t)
{
    return t->loop.at.steps;
}

static void sim_trainer_say(const struct sim_trainer *t, const char *what, int status)
{
    if (t->fleet->verbose != NULL)
        fprintf(t->fleet->verbose,
                "    %10.6f trainer %" PRIu32 ", step %" PRIu64 ", era %" PRIu32 ", %s: %s %s\n",
                (double)actor_now_ns(t->self) / 1e9, t->rank, step_of(t), t->era,
                training_operation_name(t->loop.operation), what,
                status == 0 ? "" : tr_error_name(status));
}

static void sim_trainer_wake(struct actor *self, void *arg)
{
    (void)self;
    sim_trainer_go(arg);
}

static void go_later(struct sim_trainer *t, uint64_t after_ns)
{
    timer_start(t->self, &t->timer, actor_now_ns(t->self) + after_ns, sim_trainer_wake, t);
}

/* The operation under way has ended: the loop says what comes now. */
static void end_operation(struct sim_trainer *t, int code, const char *text)
{
    enum training_operation ended = t->loop.operation;
    t->saves += ended == TRAINING_SAVE && code != TR_ETIMEDOUT; /* as api/group.c */
    if (code != 0 && code != TR_EEND)
        sim_trainer_say(t, "ended with", code);
    if (ended == TRAINING_FINISH && t->rank == 0 && code == TR_EROLLBACK) {
        fleet_fail(t->fleet, "trainer 0 was rolled back after it had written the result");
        return;
    }
    training_loop_done(&t->loop, code, actor_now_ns(t->self));
    if (files_is_refusal(code))
        t->fleet->tally.failures_told++;
    if (t->loop.operation == TRAINING_FAILED)
        fleet_fail(t->fleet, "trainer %" PRIu32 ", step %" PRIu64 ": %s failed with %s: %s",
                   t->rank, step_of(t), training_operation_name(ended), tr_error_name(code), text);
    else if (t->loop.operation != TRAINING_DONE)
        go_later(t, t->loop.wait_ns);
}

static void reducer_found(struct actor *self, void *arg, int status, struct address address)
{
    struct sim_trainer *t = arg;
    (void)self;
    t->reducer = status == 0 ? address : ADDRESS_NONE;
    go_later(t, status == 0 ? 0 : AGAIN_NS);
}

static void proxy_found(struct actor *self, void *arg, int status, struct address address)
{
    struct sim_trainer *t = arg;
    (void)self;
    t->proxy = status == 0 ? address : ADDRESS_NONE;
    go_later(t, status == 0 ? 0 : AGAIN_NS);
}

static void sim_trainer_find(struct sim_trainer *t, const char *name, directory_found *found)
{
    if (directory_wait(t->self, name, actor_now_ns(t->self) + FIND_NS, found, t) != 0)
        go_later(t, AGAIN_NS);
}

/* What was reduced is what the undisturbed run has, and so are the weights after it. */
static void sim_trainer_apply(struct sim_trainer *t, const struct message *reply)
{
    const struct msg_group_reply *head = (const void *)reply->head;
    const struct fleet_plan *plan = t->plan;
    const float *sums = message_body(reply);
    uint64_t step = step_of(t);
    if (head->count != plan->values + UINT64_C(1) ||
        reply->frame.body_bytes != head->count * sizeof(float)) {
        fleet_fail(t->fleet, "trainer %" PRIu32 ": %" PRIu64 " values were reduced, not %" PRIu32,
                   t->rank, head->count, plan->values + 1);
        return;
    }
    float loss = sums[plan->values];
    if (memcmp(&loss, &t->fleet->expected.losses[step], sizeof loss) != 0)
        fleet_fail(t->fleet,
                   "trainer %" PRIu32 ", step %" PRIu64 ": the loss is not that of the "
                   "undisturbed run",
                   t->rank, step);
    expected_run_apply(plan, t->weights, sums);
    step++;
    t->fleet->tally.steps++;
    t->fleet->reached[t->rank] = step;
    t->fleet->furthest = step > t->fleet->furthest ? step : t->fleet->furthest;
    if (expected_run_hash(plan, t->weights) != t->fleet->expected.hashes[step])
        fleet_fail(t->fleet,
                   "trainer %" PRIu32 ": after step %" PRIu64 " the weights are not the "
                   "undisturbed run's",
                   t->rank, step);
}

/* Everybody goes back to the same step, and to none before what was committed. */
static void check_restored(struct sim_trainer *t, uint64_t step, uint32_t era)
{
    struct fleet *fleet = t->fleet;
    fleet->tally.restores++;
    if (step < fleet->committed)
        fleet_fail(fleet,
                   "trainer %" PRIu32 " was restored to step %" PRIu64 ", but %" PRIu64
                   " was committed",
                   t->rank, step, fleet->committed);
    if (era == fleet->last_era && step != fleet->last_era_step)
        fleet_fail(fleet,
                   "in era %" PRIu32 " trainer %" PRIu32 " is at step %" PRIu64
                   ", others at %" PRIu64,
                   era, t->rank, step, fleet->last_era_step);
    t->era = fleet->last_era = era;
    fleet->last_era_step = step;
    if (step > t->plan->steps ||
        expected_run_hash(t->plan, t->weights) != fleet->expected.hashes[step])
        fleet_fail(fleet,
                   "trainer %" PRIu32 " was restored to other weights than those of step %" PRIu64,
                   t->rank, step);
}

static void sim_trainer_restored(struct sim_trainer *t, const struct message *reply)
{
    const struct msg_group_reply *head = (const void *)reply->head;
    size_t bytes = t->plan->values * sizeof(float);
    const struct part_head *part = message_body(reply);
    struct training_position at = { 0 };
    t->reductions = t->barriers = 0;
    t->opened = t->evaluated = false;
    t->best = 0;
    if (head->found == 0) {
        expected_run_begin(t->plan, t->weights);
    } else if (reply->frame.body_bytes != sizeof *part + bytes || part->step != head->step ||
               part->rank != t->rank) {
        fleet_fail(t->fleet,
                   "trainer %" PRIu32 " was given %" PRIu64 " bytes that are not its "
                   "part of step %" PRIu64,
                   t->rank, reply->frame.body_bytes, head->step);
        return;
    } else {
        memcpy(t->weights, part + 1, bytes);
        at = part->at;
        t->best = part->best;
    }
    training_loop_restored(&t->loop, &at);
    t->fleet->reached[t->rank] = head->step;
    check_restored(t, head->step, head->era);
}

/* Any number that the weights decide. */
static float sim_trainer_score(const struct sim_trainer *t)
{
    return (float)(expected_run_hash(t->plan, t->weights) % 1000 + 1);
}

/* All know what rank 0 found. */
static void take_scores(struct sim_trainer *t, const struct message *reply)
{
    const float *sums = message_body(reply);
    if (reply->frame.body_bytes != t->plan->plan.trainers * sizeof *sums ||
        sums[0] != sim_trainer_score(t))
        fleet_fail(t->fleet,
                   "trainer %" PRIu32 ", step %" PRIu64 ": the scores are not those of "
                   "its weights",
                   t->rank, step_of(t));
    bool best = sums[0] > t->best;
    t->best = best ? sums[0] : t->best;
    training_loop_scored(&t->loop, best);
}

static void take_losses(struct sim_trainer *t, const struct message *reply)
{
    const float *sums = message_body(reply);
    uint32_t world = t->plan->plan.trainers;
    for (uint32_t rank = 0; rank < world; rank++)
        if (reply->frame.body_bytes != world * sizeof *sums ||
            sums[rank] != (float)(rank + 1 + t->loop.at.epoch))
            fleet_fail(t->fleet,
                       "trainer %" PRIu32 ": the sum of epoch %" PRIu32 " lacks that of "
                       "trainer %" PRIu32,
                       t->rank, t->loop.at.epoch, rank);
}

static void sim_trainer_succeed(struct sim_trainer *t, const struct message *reply)
{
    struct fleet *fleet = t->fleet;
    switch (t->loop.operation) {
    case TRAINING_RESTORE:
        sim_trainer_restored(t, reply);
        break;
    case TRAINING_REDUCE:
        t->reductions++;
        sim_trainer_apply(t, reply);
        break;
    case TRAINING_SUM:
        t->reductions++;
        take_losses(t, reply);
        break;
    case TRAINING_SHARE:
        t->reductions++;
        take_scores(t, reply);
        break;
    case TRAINING_SAVE:
        fleet->tally.saves++;
        fleet->committed = step_of(t) > fleet->committed ? step_of(t) : fleet->committed;
        if (t->rank == 0)
            fleet_say(t->process, "%s %" PRIu64, NOTICE_CHECKPOINT, step_of(t));
        break;
    case TRAINING_MEET:
        t->barriers++;
        fleet->furthest = t->plan->steps + 1;
        break;
    default:
        break;
    }
    if (fleet->error.code == 0)
        end_operation(t, 0, "");
}

static uint32_t group_operation(const struct sim_trainer *t)
{
    switch (t->loop.operation) {
    case TRAINING_RESTORE:
        return MSG_GROUP_RESTORE;
    case TRAINING_SAVE:
        return MSG_GROUP_SAVE;
    case TRAINING_MEET:
        return MSG_GROUP_BARRIER;
    case TRAINING_FINISH:
        return MSG_GROUP_FINISH;
    default:
        return MSG_GROUP_REDUCE;
    }
}

/* As api/group.c: by the same rule, calls are made again or their failure is the trainer's. */
static void sim_trainer_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct sim_trainer *t = arg;
    struct error error = { 0 };
    bool completes = t->loop.operation == TRAINING_FINISH && t->rank == 0;
    t->fleet->tally.calls_completed++;
    if (status == 0)
        status = error_reply_read(reply, &error);
    if (status == 0) {
        sim_trainer_succeed(t, reply);
    } else if (status != TR_ECANCELED) { /* else this actor ends */
        if (status == TR_EPEERDOWN)
            t->reducer = ADDRESS_NONE;
        int code = reducer_call_failed(group_operation(t), completes, status);
        if (code == 0)
            go_later(t, AGAIN_NS);
        else
            end_operation(t, code, error.text);
    }
    message_release(self, reply);
}

static struct message *sim_trainer_make(struct sim_trainer *t, uint64_t value, uint64_t count,
                                        size_t bytes)
{
    uint32_t operation = group_operation(t);
    struct message *request = message_create(t->self, MSG_GROUP_REQUEST);
    if (request != NULL && bytes != 0 && message_body_alloc(t->self, request, bytes) == NULL) {
        message_release(t->self, request);
        return NULL;
    }
    if (request != NULL)
        *(struct msg_group_request *)message_head(request) = (struct msg_group_request){
            .value = value,
            .count = count,
            .number = operation == MSG_GROUP_SAVE ? t->saves + 1 : 0,
            .operation = operation,
            .timeout_ns = operation == MSG_GROUP_FINISH ? FINISH_NS : t->plan->group_ns
        };
    return request;
}

static struct message *make_reduction(struct sim_trainer *t, const float *values, size_t count)
{
    struct message *request = sim_trainer_make(t, t->reductions + 1, count, count * sizeof(float));
    if (request != NULL)
        memcpy(message_body(request), values, count * sizeof(float));
    return request;
}

/* A number of each trainer's, in its place. */
static struct message *make_shared(struct sim_trainer *t, float mine)
{
    memset(t->shared, 0, t->plan->plan.trainers * sizeof *t->shared);
    t->shared[t->rank] = mine;
    return make_reduction(t, t->shared, t->plan->plan.trainers);
}

static struct message *make_save(struct sim_trainer *t)
{
    size_t bytes = t->plan->values * sizeof(float);
    struct message *request = sim_trainer_make(t, step_of(t), sizeof(struct part_head) + bytes,
                                               sizeof(struct part_head) + bytes);
    if (request == NULL)
        return NULL;
    struct part_head *part = message_body(request);
    memset(part, 0, sizeof *part);
    part->step = step_of(t);
    part->rank = t->rank;
    part->at = t->loop.at;
    part->best = t->best;
    memcpy(part + 1, t->weights, bytes);
    return request;
}

static struct message *make_call(struct sim_trainer *t)
{
    switch (t->loop.operation) {
    case TRAINING_REDUCE:
        return make_reduction(t, t->values, t->plan->values + (size_t)1);
    case TRAINING_SUM:
        return make_shared(t, (float)(t->rank + 1 + t->loop.at.epoch));
    case TRAINING_SHARE:
        return make_shared(t, t->rank == 0 ? sim_trainer_score(t) : 0);
    case TRAINING_SAVE:
        return make_save(t);
    case TRAINING_MEET:
        return sim_trainer_make(t, 0, t->barriers + 1, 0);
    case TRAINING_FINISH:
        return sim_trainer_make(t, 0, t->rank == 0, 0); /* group_complete() */
    default:
        return sim_trainer_make(t, 0, 0, 0);
    }
}

static void call_group(struct sim_trainer *t)
{
    if (address_is_none(t->reducer)) {
        char name[DIRECTORY_NAME_MAX];
        reducer_name(t->rank, name, sizeof name);
        sim_trainer_find(t, name, reducer_found);
        return;
    }
    struct message *request = make_call(t);
    uint64_t wait_ns = t->loop.operation == TRAINING_FINISH ? FINISH_NS : t->plan->group_ns;
    if (request == NULL ||
        actor_call(t->self, t->reducer, request, actor_now_ns(t->self) + wait_ns + GRACE_NS,
                   sim_trainer_answered, t, NULL) != 0)
        go_later(t, AGAIN_NS);
    else
        t->fleet->tally.calls_opened++;
}

/* As api/loader.c: what passes is asked for again, what does not is the trainer's failure. */
static void sim_trainer_opened(struct actor *self, void *arg, int status, struct message *reply)
{
    struct sim_trainer *t = arg;
    struct error error = { 0 };
    t->fleet->tally.calls_completed++;
    int failed = status == 0 ? error_reply_read(reply, &error) : 0;
    if (part_call_peer_recovers(status) || status == TR_ECANCELED) {
        t->proxy = ADDRESS_NONE;
        go_later(t, AGAIN_NS);
    } else if (status != 0 || failed != 0) {
        fleet_fail(t->fleet, "trainer %" PRIu32 ": its loader was not opened: %s %s", t->rank,
                   tr_error_name(status != 0 ? status : failed), error.text);
    } else if (((const struct msg_loader_opened *)message_head(reply))->num_batches !=
               t->plan->steps_epoch) {
        fleet_fail(t->fleet, "trainer %" PRIu32 ": a loader of another number of batches", t->rank);
    } else {
        t->opened = true;
        go_later(t, 0);
    }
    message_release(self, reply);
}

static struct message *make_open(struct sim_trainer *t)
{
    const struct wanted_loader *loader = &t->plan->loader;
    struct message *request = message_create(t->self, MSG_LOADER_OPEN);
    void *body = request == NULL
                     ? NULL
                     : message_body_alloc(t->self, request, wanted_loader_bytes(loader));
    if (body == NULL) {
        message_release(t->self, request);
        return NULL;
    }
    struct msg_loader_open *head = message_head(request);
    *head = loader->open;
    head->loader = t->loader;
    head->rank = t->rank;
    wanted_loader_write(loader, t->fleet->partitions.global[head->ntype], head, body);
    return request;
}

static void open_loader(struct sim_trainer *t)
{
    if (address_is_none(t->proxy)) {
        char name[DIRECTORY_NAME_MAX];
        proxy_name(t->rank, name);
        sim_trainer_find(t, name, proxy_found);
        return;
    }
    struct message *request = make_open(t);
    if (request == NULL ||
        actor_call(t->self, t->proxy, request, actor_now_ns(t->self) + RECOVERY_NS,
                   sim_trainer_opened, t, NULL) != 0)
        go_later(t, AGAIN_NS);
    else
        t->fleet->tally.calls_opened++;
}

/* The same for a batch. A look that found none before its deadline is followed by another. */
static void sim_trainer_told(struct actor *self, void *arg, int status, struct message *reply)
{
    struct sim_trainer *t = arg;
    struct error error = { 0 };
    t->fleet->tally.calls_completed++;
    int failed = status == 0 ? error_reply_read(reply, &error) : 0;
    message_release(self, reply);
    if (failed != 0) {
        fleet_fail(t->fleet,
                   "trainer %" PRIu32 ": the batch of step %" PRIu64 " failed with %s: "
                   "%s",
                   t->rank, step_of(t), tr_error_name(failed), error.text);
        return;
    }
    if (status == 0 || status == TR_ETIMEDOUT) {
        sim_trainer_go(t);
        return;
    }
    switch (proxy_call_end(status)) {
    case PROXY_CALL_REOPEN:
        t->proxy = ADDRESS_NONE;
        t->opened = false;
        go_later(t, AGAIN_NS);
        break;
    case PROXY_CALL_AGAIN:
        t->fleet->tally.failures_told++;
        go_later(t, AGAIN_NS);
        break;
    case PROXY_CALL_FAILED:
        fleet_fail(t->fleet,
                   "trainer %" PRIu32 ": the request of step %" PRIu64 " was answered "
                   "with %s",
                   t->rank, step_of(t), tr_error_name(status));
        break;
    }
}

static struct message *make_request(struct sim_trainer *t, uint64_t step)
{
    struct message *request = message_create(t->self, MSG_BATCH_REQUEST);
    if (request != NULL)
        *(struct msg_batch_request *)message_head(
            request) = (struct msg_batch_request){ .loader = t->loader,
                                                   .epoch = (uint32_t)(step / t->plan->steps_epoch),
                                                   .batch = step % t->plan->steps_epoch };
    return request;
}

static void sim_trainer_ask(struct sim_trainer *t)
{
    struct message *request = make_request(t, step_of(t));
    if (request == NULL || actor_call(t->self, t->proxy, request, actor_now_ns(t->self) + LOOK_NS,
                                      sim_trainer_told, t, NULL) != 0)
        go_later(t, AGAIN_NS);
    else
        t->fleet->tally.calls_opened++;
}

static void sim_trainer_learn(struct sim_trainer *t, struct sampled_batch *batch)
{
    struct error error = { 0 };
    uint64_t digest = 0, step = step_of(t);
    if (expected_run_check(&t->fleet->expected, &t->fleet->partitions, t->rank, step,
                           &batch->space.batch, &digest, &error) != 0)
        fleet_fail(t->fleet,
                   "trainer %" PRIu32 ": the batch of step %" PRIu64 " is not the "
                   "undisturbed run's: %s",
                   t->rank, step, error.text);
    t->fleet->tally.batches++;
    sampled_batch_release(batch);
    struct message *notice = make_request(t, step + 1);
    if (notice != NULL)
        actor_send(t->self, t->proxy, notice);
    expected_run_learn(t->plan, t->weights, digest, t->values);
}

static void take_step(struct sim_trainer *t)
{
    const struct fleet_plan *plan = t->plan;
    if (t->loop.at.step == plan->steps_epoch) {
        end_operation(t, TR_EEND, "");
        return;
    }
    struct sampled_batch *batch = batch_store_collect(t->process->store, t->loader,
                                                      t->loop.at.epoch, t->loop.at.step);
    if (batch == NULL && t->opened) {
        sim_trainer_ask(t);
        return;
    }
    if (batch == NULL) { /* its proxy was lost meanwhile */
        open_loader(t);
        return;
    }
    sim_trainer_learn(t, batch);
    t->loop.wait_ns = 0;
    training_loop_done(&t->loop, 0, actor_now_ns(t->self));
    go_later(t, draws_below(&t->draws, plan->think_ns));
}

/* Rank 0 keeps a run: files that appear whole, as those of model/run_folder.h. */
static int write_file(struct sim_trainer *t, const char *name, const void *bytes, size_t count,
                      struct error *error)
{
    int rv = files_make_folders(t->process->files, FLEET_RUN, error);
    return rv == 0 ? files_write_atomic(t->process->files, name, bytes, count, error) : rv;
}

static void keep_run(struct sim_trainer *t)
{
    struct error error = { 0 };
    int rv = 0;
    if (t->rank == 0 &&
        (t->loop.operation == TRAINING_REWIND || t->loop.operation == TRAINING_REPORT))
        rv = write_file(t, FLEET_RUN "/metrics", &t->loop.at.epoch, sizeof t->loop.at.epoch,
                        &error);
    else if (t->rank == 0)
        rv = write_file(t, FLEET_MODEL, t->weights, t->plan->values * sizeof(float), &error);
    if (rv == 0 && t->loop.operation == TRAINING_KEEP)
        fleet_complete(t->process);
    if (t->fleet->error.code == 0)
        end_operation(t, rv, error.text);
}

/* A thread that stands still (see fleet_faults.h) does so between two operations. */
static void sim_trainer_go(struct sim_trainer *t)
{
    uint64_t now_ns = actor_now_ns(t->self);
    if (now_ns < t->process->trainers_until_ns) {
        go_later(t, t->process->trainers_until_ns - now_ns);
        return;
    }
    switch (t->loop.operation) {
    case TRAINING_REWIND:
    case TRAINING_KEEP_BEST:
    case TRAINING_REPORT:
    case TRAINING_KEEP:
        keep_run(t);
        break;
    case TRAINING_BEGIN:
        if (t->opened)
            end_operation(t, 0, "");
        else
            open_loader(t);
        break;
    case TRAINING_STEP:
        take_step(t);
        break;
    case TRAINING_EVALUATE:
        if (t->rank == 0 && !t->evaluated) { /* the others wait for it */
            t->evaluated = true;
            go_later(t, 3 * t->plan->think_ns);
        } else {
            t->evaluated = false;
            end_operation(t, 0, "");
        }
        break;
    case TRAINING_DONE:
    case TRAINING_FAILED:
        break;
    default:
        call_group(t);
        break;
    }
}

static int sim_trainer_start(struct actor *self, const void *arg)
{
    const struct fleet_seat *seat = arg;
    struct sim_trainer *t = calloc(1, sizeof *t);
    if (t == NULL)
        return TR_ENOMEM;
    actor_set_state(self, t);
    t->self = self;
    t->fleet = seat->fleet;
    t->plan = &seat->fleet->plan;
    t->process = seat->process;
    t->rank = seat->rank;
    t->loader = 1 + seat->rank;
    t->draws = draws_of(t->plan->seed, (uint64_t)seat->process->incarnation << 16 | seat->rank);
    const struct training_loop_plan loop = {
        /* Without a seed there is an epoch without a step. */
        .epochs = t->plan->steps_epoch == 0 ? 1 : (uint32_t)(t->plan->steps / t->plan->steps_epoch),
        .save_every = t->plan->save_every,
        .patience_ns = DISK_WAIT_NS,
        .evaluates = t->plan->evaluates,
        .keeps = t->rank == 0,
        .grouped = true,
        .finishes = true,
    };
    training_loop_init(&t->loop, &loop);
    t->weights = calloc(t->plan->values + (size_t)1, sizeof *t->weights);
    t->values = calloc(t->plan->values + (size_t)1, sizeof *t->values);
    t->shared = calloc(t->plan->plan.trainers, sizeof *t->shared);
    if (t->weights == NULL || t->values == NULL || t->shared == NULL)
        return TR_ENOMEM;
    go_later(t, 0);
    return 0;
}

static int sim_trainer_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static void sim_trainer_fini(struct actor *self)
{
    struct sim_trainer *t = actor_state(self);
    if (t == NULL)
        return;
    free(t->weights);
    free(t->values);
    free(t->shared);
    free(t);
}

const struct actor_ops sim_trainer_ops = {
    .name = "trainer",
    .start = sim_trainer_start,
    .receive = sim_trainer_receive,
    .fini = sim_trainer_fini,
};
