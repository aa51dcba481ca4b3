/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations of a simulated trainer's group, as api/group.c performs them: a call of the rank's
 * reducer, made again or failed by the same rule.
 *
 * Invariants: at most one call is under way, and it is that of loop.operation; the numbers of
 * reductions and barriers grow when one is done, that of saves when one has ended whatever its
 * outcome, so a repeat has the number of its first attempt.
 */
#include <inttypes.h>
#include <string.h>

#include "actors/cluster/process_notice.h"
#include "actors/common/error_reply.h"
#include "actors/job/reducer.h"
#include "runtime/core/call.h"
#include "sim/sim_trainer_state.h"

/* A reducer ends an operation at its deadline; so much later it is given up (as api/group.c). */
#define GRACE_NS (5 * ENV_SECOND_NS)
/* The end of the job is waited for as long as it takes. */
#define FINISH_NS (100000 * ENV_SECOND_NS)

static void reducer_found(struct actor *self, void *arg, int status, struct address address)
{
    struct sim_trainer *t = arg;
    (void)self;
    t->reducer = status == 0 ? address : ADDRESS_NONE;
    sim_trainer_go_later(t, status == 0 ? 0 : SIM_TRAINER_AGAIN_NS);
}

/* A checkpoint without the part of a rank is none. The part of a save that timed out may have come,
 * though, before the same save was skipped. And a trainer that leaves at a step whose checkpoint stands
 * saves it once more: a coordinator that was started meanwhile answers of the one that stands. */
static void check_saved(struct sim_trainer *t)
{
    if (t->unsynced != 0 && t->offered != t->saves + 1 && t->stands != sim_trainer_step(t))
        fleet_fail(t->fleet,
                   "trainer %" PRIu32 ": the checkpoint of step %" PRIu64 " was committed, though "
                   "this trainer had no part of it",
                   t->rank, sim_trainer_step(t));
}

static void group_succeed(struct sim_trainer *t, const struct message *reply)
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
        sim_trainer_check_losses(t, reply);
        break;
    case TRAINING_SHARE:
        t->reductions++;
        training_loop_scored(&t->loop, sim_trainer_check_scores(t, reply));
        break;
    case TRAINING_SAVE:
        check_saved(t);
        t->stands = sim_trainer_step(t);
        fleet->tally.saves++;
        fleet->made[sim_trainer_step(t)] = true;
        fleet->committed = sim_trainer_step(t) > fleet->committed ? sim_trainer_step(t)
                                                                  : fleet->committed;
        if (t->rank == 0)
            fleet_say(t->process, "%s %" PRIu64, NOTICE_CHECKPOINT, sim_trainer_step(t));
        break;
    case TRAINING_MEET:
        t->barriers++;
        fleet->furthest = t->plan->steps + 1;
        break;
    default:
        break;
    }
    if (fleet->error.code == 0)
        t->end(t, 0, "");
}

static uint32_t group_operation(const struct sim_trainer *t)
{
    switch (t->loop.operation) {
    case TRAINING_RESTORE:
        return MSG_GROUP_RESTORE;
    case TRAINING_SAVE:
        return t->unsynced != 0 ? MSG_GROUP_SKIP : MSG_GROUP_SAVE;
    case TRAINING_MEET:
        return MSG_GROUP_BARRIER;
    case TRAINING_FINISH:
        return MSG_GROUP_FINISH;
    default:
        return MSG_GROUP_REDUCE;
    }
}

/* As api/group.c: by the same rule, calls are made again or their failure is the trainer's. */
static void group_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct sim_trainer *t = arg;
    struct error error = { 0 };
    bool completes = t->loop.operation == TRAINING_FINISH && t->rank == 0;
    enum sim_trainer_withdrawal withdrawn = sim_trainer_answered(t);
    bool answered = status == 0;
    t->fleet->tally.calls_completed++;
    if (answered)
        status = error_reply_read(reply, &error);
    if (status == 0)
        group_succeed(t, reply);
    /* A group that is shut ends whatever came of the call; an interrupted call that was answered all
     * the same is as any other. */
    if (withdrawn == SIM_TRAINER_SHUT) {
        if (t->fleet->error.code == 0)
            sim_trainer_reopen(t);
    } else if (withdrawn == SIM_TRAINER_INTERRUPTED && !answered) {
        sim_trainer_ask_again(t);
    } else if (status != 0 && status != TR_ECANCELED) { /* else this actor ends */
        if (status == TR_EPEERDOWN)
            t->reducer = ADDRESS_NONE;
        int code = reducer_call_failed(group_operation(t), completes, status);
        if (code == 0)
            sim_trainer_go_later(t, SIM_TRAINER_AGAIN_NS);
        else
            t->end(t, code, error.text);
    }
    message_release(self, reply);
}

static struct message *make_group_request(struct sim_trainer *t, uint64_t value, uint64_t count,
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
            .number = t->loop.operation == TRAINING_SAVE ? t->saves + 1 : 0,
            .operation = operation,
            .timeout_ns = operation == MSG_GROUP_FINISH ? FINISH_NS : t->plan->group_ns
        };
    return request;
}

static struct message *make_reduction(struct sim_trainer *t, const float *values, size_t count)
{
    struct message *request = make_group_request(t, t->reductions + 1, count,
                                                 count * sizeof(float));
    if (request != NULL)
        memcpy(message_body(request), values, count * sizeof(float));
    return request;
}

/* A launcher asks a process to stop by the end of its input, which is what an orphan sees. */
static float wish_here(const struct sim_trainer *t)
{
    const struct fleet_process *process = t->process;
    bool asked = process->signalled && !process->orphan;
    if (!process->leaves)
        return training_wish_write(TRAINING_GOES_ON);
    return training_wish_write(asked ? TRAINING_ASKED : TRAINING_ORPHANED);
}

/* A number of each trainer's, in its place. */
static struct message *make_shared(struct sim_trainer *t, float mine)
{
    uint32_t trainers = t->plan->plan.trainers;
    bool asks = t->loop.operation == TRAINING_SUM && sim_trainer_asks_leave(t);
    memset(t->shared, 0, (trainers + (size_t)1) * sizeof *t->shared);
    t->shared[t->rank] = mine;
    t->shared[trainers] = wish_here(t);
    return make_reduction(t, t->shared, trainers + (size_t)asks);
}

static struct message *make_save(struct sim_trainer *t)
{
    size_t bytes = t->plan->values * sizeof(float);
    struct message *request = make_group_request(
        t, sim_trainer_step(t), sizeof(struct part_head) + bytes, sizeof(struct part_head) + bytes);
    if (request == NULL)
        return NULL;
    t->offered = t->saves + 1;
    if (sim_trainer_step(t) > t->fleet->offered)
        t->fleet->offered = sim_trainer_step(t);
    struct part_head *part = message_body(request);
    memset(part, 0, sizeof *part);
    part->step = sim_trainer_step(t);
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
        t->values[t->plan->values + 1] = wish_here(t);
        return make_reduction(t, t->values,
                              t->plan->values + (size_t)1 + sim_trainer_asks_leave(t));
    case TRAINING_SUM:
        return make_shared(t, (float)(t->rank + 1 + t->loop.at.epoch));
    case TRAINING_SHARE:
        return make_shared(t, t->rank == 0 ? sim_trainer_score(t) : 0);
    case TRAINING_SAVE:
        return t->unsynced == 0
                   ? make_save(t)
                   : make_group_request(t, sim_trainer_step(t), (uint32_t)t->unsynced, 0);
    case TRAINING_MEET:
        return make_group_request(t, 0, t->barriers + 1, 0);
    case TRAINING_FINISH:
        return make_group_request(t, 0, t->rank == 0, 0); /* tr_group_complete() */
    default:
        return make_group_request(t, 0, 0, 0);
    }
}

void sim_trainer_call_group(struct sim_trainer *t)
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
                   group_answered, t, &t->call) != 0) {
        sim_trainer_go_later(t, SIM_TRAINER_AGAIN_NS);
        return;
    }
    t->fleet->tally.calls_opened++;
    sim_trainer_called(t);
}
