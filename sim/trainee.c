#include "sim/trainee.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "actors/failed.h"
#include "actors/process_notice.h"
#include "runtime/call.h"
#include "runtime/directory.h"
#include "runtime/timer.h"
#include "sim/fleet.h"

#define MS UINT64_C(1000000)

/* What failed in passing is tried again after this. */
#define AGAIN_NS (2 * MS)
#define FIND_NS ENV_SECOND_NS
/* As a program waits for a batch before it looks again. */
#define LOOK_NS (100 * MS)
/* A reducer ends an operation at its deadline; so much later it is given up (as api/group.c). */
#define GRACE_NS (5 * ENV_SECOND_NS)
/* The end of the job is waited for as long as it takes. */
#define FINISH_NS (100000 * ENV_SECOND_NS)
/* A disk that is full is given this long, or the process fails. */
#define DISK_AGAIN_NS (50 * MS)

enum phase { RESTORING, OPENING, TAKING, REDUCING, SAVING, MEETING, FINISHING, FINISHED };

struct trainee {
    struct actor *self;
    struct fleet *fleet;
    const struct fleet_plan *plan;
    struct fleet_process *process;
    uint32_t rank;
    struct draws draws;
    enum phase phase;
    struct address reducer, proxy; /* none: to be found */
    uint64_t loader;
    uint64_t step;       /* done */
    uint64_t reductions, barriers; /* done since it was restored */
    uint32_t era;
    float *weights;      /* [values] */
    float *values;       /* [values + 1]: what is reduced */
    struct timer timer;
};

/* A checkpoint's part: this, and the weights. */
struct part_head {
    uint64_t step, rank;
};

static void go(struct trainee *t);

static void say(const struct trainee *t, const char *what, int status)
{
    static const char *const phases[] = { "restoring", "opening", "taking", "reducing",
                                          "saving", "meeting", "finishing", "finished" };
    if (t->fleet->verbose != NULL)
        fprintf(t->fleet->verbose, "    %10.6f trainer %" PRIu32 ", step %" PRIu64 ", era %" PRIu32
                ", %s: %s %s\n", (double)actor_now_ns(t->self) / 1e9, t->rank, t->step, t->era,
                phases[t->phase], what, status == 0 ? "" : tr_error_name(status));
}

static void wake(struct actor *self, void *arg)
{
    (void)self;
    go(arg);
}

static void go_later(struct trainee *t, uint64_t after_ns)
{
    timer_start(t->self, &t->timer, actor_now_ns(t->self) + after_ns, wake, t);
}

static void enter(struct trainee *t, enum phase phase)
{
    t->phase = phase;
    go(t);
}

static void reducer_found(struct actor *self, void *arg, int status, struct address address)
{
    struct trainee *t = arg;
    (void)self;
    t->reducer = status == 0 ? address : ADDRESS_NONE;
    go_later(t, status == 0 ? 0 : AGAIN_NS);
}

static void proxy_found(struct actor *self, void *arg, int status, struct address address)
{
    struct trainee *t = arg;
    (void)self;
    t->proxy = status == 0 ? address : ADDRESS_NONE;
    go_later(t, status == 0 ? 0 : AGAIN_NS);
}

static void find(struct trainee *t, const char *name, directory_found *found)
{
    if (directory_wait(t->self, name, actor_now_ns(t->self) + FIND_NS, found, t) != 0)
        go_later(t, AGAIN_NS);
}

/* What was reduced is what the undisturbed run has, and so are the weights after it. */
static void apply(struct trainee *t, const struct message *reply)
{
    const struct msg_group_reply *head = (const void *)reply->head;
    const struct fleet_plan *plan = t->plan;
    const float *sums = message_body(reply);
    if (head->count != plan->values + UINT64_C(1) ||
        reply->frame.body_bytes != head->count * sizeof(float)) {
        fleet_fail(t->fleet, "trainer %" PRIu32 ": %" PRIu64 " values were reduced, not %" PRIu32,
                   t->rank, head->count, plan->values + 1);
        return;
    }
    float loss = sums[plan->values];
    if (memcmp(&loss, &t->fleet->lessons.losses[t->step], sizeof loss) != 0)
        fleet_fail(t->fleet, "trainer %" PRIu32 ", step %" PRIu64 ": the loss is not that of the "
                   "undisturbed run", t->rank, t->step);
    lessons_apply(plan, t->weights, sums);
    t->step++;
    t->reductions++;
    t->fleet->tally.steps++;
    t->fleet->reached[t->rank] = t->step;
    t->fleet->furthest = t->step > t->fleet->furthest ? t->step : t->fleet->furthest;
    if (lessons_hash(plan, t->weights) != t->fleet->lessons.hashes[t->step])
        fleet_fail(t->fleet, "trainer %" PRIu32 ": after step %" PRIu64 " the weights are not the "
                   "undisturbed run's", t->rank, t->step);
}

/* Everybody goes back to the same step, and to none before what was committed. */
static void check_restored(struct trainee *t, uint32_t era)
{
    struct fleet *fleet = t->fleet;
    fleet->tally.restores++;
    if (t->step < fleet->committed)
        fleet_fail(fleet, "trainer %" PRIu32 " was restored to step %" PRIu64 ", but %" PRIu64
                   " was committed", t->rank, t->step, fleet->committed);
    if (era == fleet->last_era && t->step != fleet->last_era_step)
        fleet_fail(fleet, "in era %" PRIu32 " trainer %" PRIu32 " is at step %" PRIu64
                   ", others at %" PRIu64, era, t->rank, t->step, fleet->last_era_step);
    t->era = fleet->last_era = era;
    fleet->last_era_step = t->step;
    if (t->step > t->plan->steps ||
        lessons_hash(t->plan, t->weights) != fleet->lessons.hashes[t->step])
        fleet_fail(fleet, "trainer %" PRIu32 " was restored to other weights than those of step %"
                   PRIu64, t->rank, t->step);
}

static void restored(struct trainee *t, const struct message *reply)
{
    const struct msg_group_reply *head = (const void *)reply->head;
    size_t bytes = t->plan->values * sizeof(float);
    const struct part_head *part = message_body(reply);
    t->step = head->step;
    t->reductions = t->barriers = 0;
    if (head->found == 0) {
        lessons_begin(t->plan, t->weights);
    } else if (reply->frame.body_bytes != sizeof *part + bytes || part->step != head->step ||
               part->rank != t->rank) {
        fleet_fail(t->fleet, "trainer %" PRIu32 " was given %" PRIu64 " bytes that are not its "
                   "part of step %" PRIu64, t->rank, reply->frame.body_bytes, head->step);
        return;
    } else {
        memcpy(t->weights, part + 1, bytes);
    }
    t->fleet->reached[t->rank] = t->step;
    check_restored(t, head->era);
}

/* What comes after a step: a checkpoint, the next step, or the end. */
static void go_on(struct trainee *t, bool saved)
{
    const struct fleet_plan *plan = t->plan;
    if (!saved && plan->save_every != 0 && t->step != 0 && t->step % plan->save_every == 0)
        t->phase = SAVING;
    else
        t->phase = t->step < plan->steps ? TAKING : MEETING;
    go_later(t, draws_below(&t->draws, plan->think_ns));
}

static void succeed(struct trainee *t, const struct message *reply)
{
    struct fleet *fleet = t->fleet;
    switch (t->phase) {
    case RESTORING:
        restored(t, reply);
        if (fleet->error.code == 0)
            enter(t, OPENING);
        break;
    case REDUCING:
        apply(t, reply);
        go_on(t, false);
        break;
    case SAVING:
        fleet->tally.saves++;
        fleet->committed = t->step > fleet->committed ? t->step : fleet->committed;
        if (t->rank == 0)
            fleet_say(t->process, "%s %" PRIu64, NOTICE_CHECKPOINT, t->step);
        go_on(t, true);
        break;
    case MEETING:
        t->barriers++;
        fleet->furthest = t->plan->steps + 1;
        if (t->rank == 0)
            fleet_complete(t->process);
        enter(t, FINISHING);
        break;
    default:
        t->phase = FINISHED;
        break;
    }
}

/* The disk was full, or did not sync. */
static void fail_saving(struct trainee *t, int status)
{
    t->fleet->tally.failures_told++;
    if (t->plan->patient)
        go_later(t, DISK_AGAIN_NS);
    else
        actor_exit(t->self, status);
}

/* As api/group.c decides. */
static void fail(struct trainee *t, int status, const char *text)
{
    if (status == TR_EPEERDOWN)
        t->reducer = ADDRESS_NONE;
    bool completes = t->phase == FINISHING && t->rank == 0;
    if (completes && status == TR_EROLLBACK) {
        fleet_fail(t->fleet, "trainer 0 was rolled back after it had written the result");
    } else if (status == TR_EROLLBACK ||
               (status == TR_EPEERDOWN && t->phase != RESTORING && !completes)) {
        t->phase = RESTORING;
        go_later(t, 0);
    } else if (status == TR_EFULL || status == TR_ENOMEM || status == TR_ETIMEDOUT ||
               status == TR_EPEERDOWN || status == TR_ECANCELED) {
        go_later(t, AGAIN_NS);
    } else if ((t->phase == SAVING || t->phase == RESTORING) &&
               (status == TR_EIO || status == TR_ENOSPC)) {
        fail_saving(t, status);
    } else {
        fleet_fail(t->fleet, "trainer %" PRIu32 ", step %" PRIu64 ", phase %d: failed with %s: %s",
                   t->rank, t->step, (int)t->phase, tr_error_name(status), text);
    }
}

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct trainee *t = arg;
    struct error error = { 0 };
    t->fleet->tally.calls_completed++;
    if (status == 0)
        status = failed_read(reply, &error);
    if (status != 0 || (t->phase != REDUCING && t->phase != SAVING))
        say(t, status == 0 ? "done" : "failed with", status);
    if (status == 0)
        succeed(t, reply);
    else
        fail(t, status, error.text);
    message_release(self, reply);
}

static struct message *make(struct trainee *t, uint32_t operation, uint64_t value, size_t bytes)
{
    struct message *request = message_create(t->self, MSG_GROUP_REQUEST);
    if (request != NULL && bytes != 0 && message_body_alloc(t->self, request, bytes) == NULL) {
        message_release(t->self, request);
        return NULL;
    }
    if (request != NULL)
        *(struct msg_group_request *)message_head(request) = (struct msg_group_request){
            .value = value, .operation = operation,
            .timeout_ns = operation == MSG_GROUP_FINISH ? FINISH_NS : t->plan->group_ns };
    return request;
}

static struct message *make_reduction(struct trainee *t)
{
    size_t count = t->plan->values + (size_t)1;
    struct message *request = make(t, MSG_GROUP_REDUCE, t->reductions + 1,
                                   count * sizeof(float));
    if (request == NULL)
        return NULL;
    memcpy(message_body(request), t->values, count * sizeof(float));
    ((struct msg_group_request *)message_head(request))->count = count;
    return request;
}

static struct message *make_save(struct trainee *t)
{
    size_t bytes = t->plan->values * sizeof(float);
    struct message *request = make(t, MSG_GROUP_SAVE, t->step, sizeof(struct part_head) + bytes);
    if (request == NULL)
        return NULL;
    struct part_head *part = message_body(request);
    *part = (struct part_head){ t->step, t->rank };
    memcpy(part + 1, t->weights, bytes);
    ((struct msg_group_request *)message_head(request))->count = sizeof *part + bytes;
    return request;
}

static void operate(struct trainee *t)
{
    struct message *request;
    if (address_is_none(t->reducer)) {
        char name[DIRECTORY_NAME_MAX];
        reducer_name(t->rank, name, sizeof name);
        find(t, name, reducer_found);
        return;
    }
    if (t->phase == RESTORING)
        request = make(t, MSG_GROUP_RESTORE, 0, 0);
    else if (t->phase == REDUCING)
        request = make_reduction(t);
    else if (t->phase == SAVING)
        request = make_save(t);
    else
        request = make(t, t->phase == MEETING ? MSG_GROUP_BARRIER : MSG_GROUP_FINISH, 0, 0);
    if (request != NULL && t->phase == FINISHING && t->rank == 0)
        ((struct msg_group_request *)message_head(request))->count = 1; /* group_complete() */
    if (request != NULL && t->phase == MEETING)
        ((struct msg_group_request *)message_head(request))->count = t->barriers + 1;
    uint64_t wait_ns = (t->phase == FINISHING ? FINISH_NS : t->plan->group_ns) + GRACE_NS;
    if (request == NULL || actor_call(t->self, t->reducer, request,
                                      actor_now_ns(t->self) + wait_ns, answered, t, NULL) != 0)
        go_later(t, AGAIN_NS);
    else
        t->fleet->tally.calls_opened++;
}

static void opened(struct actor *self, void *arg, int status, struct message *reply)
{
    struct trainee *t = arg;
    t->fleet->tally.calls_completed++;
    if (status == 0)
        status = failed_read(reply, NULL);
    if (status != 0) {
        t->proxy = ADDRESS_NONE;
        go_later(t, AGAIN_NS);
    } else if (((const struct msg_loader_opened *)message_head(reply))->num_batches !=
               t->plan->steps_epoch) {
        fleet_fail(t->fleet, "trainer %" PRIu32 ": a loader of another number of batches", t->rank);
    } else {
        go_on(t, true);
    }
    message_release(self, reply);
}

static struct message *make_open(struct trainee *t)
{
    const struct wanted_loader *loader = &t->plan->loader;
    size_t n = loader->open.num_seeds;
    struct message *request = message_create(t->self, MSG_LOADER_OPEN);
    uint64_t *body =
        request == NULL ? NULL : message_body_alloc(t->self, request, 2 * n * sizeof *body);
    if (body == NULL) {
        message_release(t->self, request);
        return NULL;
    }
    struct msg_loader_open *head = message_head(request);
    *head = loader->open;
    head->loader = t->loader;
    head->rank = t->rank;
    for (size_t i = 0; i < n; i++) {
        body[i] = t->fleet->placed.global[head->ntype][loader->seeds[i]];
        body[n + i] = loader->seeds[i];
    }
    return request;
}

static void open_loader(struct trainee *t)
{
    if (address_is_none(t->proxy)) {
        char name[DIRECTORY_NAME_MAX];
        proxy_name(t->rank, name);
        find(t, name, proxy_found);
        return;
    }
    struct message *request = make_open(t);
    if (request == NULL || actor_call(t->self, t->proxy, request, actor_now_ns(t->self) + FIND_NS,
                                      opened, t, NULL) != 0)
        go_later(t, AGAIN_NS);
    else
        t->fleet->tally.calls_opened++;
}

/* Passing are also a proxy that went (the loader is opened at the next one) and a deadline. */
static void told(struct actor *self, void *arg, int status, struct message *reply)
{
    struct trainee *t = arg;
    struct error error = { 0 };
    t->fleet->tally.calls_completed++;
    int failed = status == 0 ? failed_read(reply, &error) : 0;
    message_release(self, reply);
    /* A batch that failed fails the training: what samplers and servers lack for a while is theirs
     * to get over. */
    if (failed != 0) {
        fleet_fail(t->fleet, "trainer %" PRIu32 ": the batch of step %" PRIu64 " failed with %s: "
                   "%s", t->rank, t->step, tr_error_name(failed), error.text);
    } else if (status == TR_EPEERDOWN || status == TR_ECLOSED) {
        t->proxy = ADDRESS_NONE;
        t->phase = OPENING;
        go_later(t, AGAIN_NS);
    } else if (status == 0 || status == TR_ETIMEDOUT) {
        go(t);
    } else if (status == TR_EFULL || status == TR_ENOMEM || status == TR_ECANCELED) {
        t->fleet->tally.failures_told++;
        go_later(t, AGAIN_NS);
    } else {
        fleet_fail(t->fleet, "trainer %" PRIu32 ": the request of step %" PRIu64 " was answered "
                   "with %s", t->rank, t->step, tr_error_name(status));
    }
}

static struct message *make_request(struct trainee *t, uint64_t step)
{
    struct message *request = message_create(t->self, MSG_BATCH_REQUEST);
    if (request != NULL)
        *(struct msg_batch_request *)message_head(request) = (struct msg_batch_request){
            .loader = t->loader, .epoch = (uint32_t)(step / t->plan->steps_epoch),
            .batch = step % t->plan->steps_epoch };
    return request;
}

static void ask(struct trainee *t)
{
    struct message *request = make_request(t, t->step);
    if (request == NULL || actor_call(t->self, t->proxy, request, actor_now_ns(t->self) + LOOK_NS,
                                      told, t, NULL) != 0)
        go_later(t, AGAIN_NS);
    else
        t->fleet->tally.calls_opened++;
}

static void take(struct trainee *t)
{
    const struct fleet_plan *plan = t->plan;
    struct sampled_batch *batch =
        batch_bank_collect(t->process->bank, t->loader, (uint32_t)(t->step / plan->steps_epoch),
                           t->step % plan->steps_epoch);
    struct error error = { 0 };
    uint64_t digest = 0;
    if (batch == NULL) {
        ask(t);
        return;
    }
    if (lessons_check(&t->fleet->lessons, &t->fleet->placed, t->rank, t->step,
                      &batch->space.batch, &digest, &error) != 0)
        fleet_fail(t->fleet, "trainer %" PRIu32 ": the batch of step %" PRIu64 " is not the "
                   "undisturbed run's: %s", t->rank, t->step, error.text);
    t->fleet->tally.batches++;
    sampled_batch_release(batch);
    struct message *notice = make_request(t, t->step + 1);
    if (notice != NULL)
        actor_send(t->self, t->proxy, notice);
    lessons_learn(plan, t->weights, digest, t->values);
    t->phase = REDUCING;
    go_later(t, draws_below(&t->draws, plan->think_ns));
}

static void go(struct trainee *t)
{
    switch (t->phase) {
    case OPENING:
        open_loader(t);
        break;
    case TAKING:
        take(t);
        break;
    case FINISHED:
        break;
    default:
        operate(t);
        break;
    }
}

static int start(struct actor *self, const void *arg)
{
    const struct fleet_seat *seat = arg;
    struct trainee *t = calloc(1, sizeof *t);
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
    t->weights = calloc(t->plan->values + (size_t)1, sizeof *t->weights);
    t->values = calloc(t->plan->values + (size_t)1, sizeof *t->values);
    if (t->weights == NULL || t->values == NULL)
        return TR_ENOMEM;
    go_later(t, 0);
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static void fini(struct actor *self)
{
    struct trainee *t = actor_state(self);
    if (t == NULL)
        return;
    free(t->weights);
    free(t->values);
    free(t);
}

const struct actor_ops trainee_ops = {
    .name = "trainee",
    .start = start,
    .receive = receive,
    .fini = fini,
};
