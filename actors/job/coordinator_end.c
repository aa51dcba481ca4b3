/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of the job: all trainers are done, or one says that the result is written, or one failed.
 *
 * Invariants: `over` and `stopping` are set once and stay. Until a job is over, a rank that is done
 * waits (`dones`), and the end of its era takes that back; afterwards no era begins or ends, so
 * nothing takes the end back. Members are stopped (`stopping`) when every trainer knows of the end,
 * or has had LINGER_MAX_NS to ask for it: a trainer that died without knowing would be started
 * again and would wait for the others. The coordinator's process is the last to be stopped, and the
 * coordinator ends after the last member: a member that is still there can ask it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actors/cluster/plan.h"
#include "actors/common/process_member.h"
#include "actors/job/coordinator_state.h"
#include "runtime/core/log.h"

/* Polls at this interval for members that are still to hear that the job is over. */
#define LINGER_NS UINT64_C(5000000000)
/* How long members are kept for such a trainer. It may be here, and its answer on a link that
 * carries nothing at present: either that passes, or one side counts the other as dead. Or it was a
 * member of the coordinator before this one, and has not come yet: it looks for one as long as
 * that, and then ends. */
#define LINGER_MAX_NS MEMBER_JOIN_NS

/* Memory for what could not be sent may be there then. */
#define STOP_AGAIN_NS UINT64_C(10000000)

/* A line of the log lists ranks in so many bytes; a longer list is cut. */
#define MISSING_TEXT_MAX 256u

/* From the end of an era in which ranks were done until all are in one again. */
static uint64_t rejoin_ns(const struct coordinator *state)
{
    uint64_t recovery_ns = state->options->recovery_ns;
    return recovery_ns != 0 ? recovery_ns : COORDINATOR_RECOVERY_NS;
}

/* Answers a report with itself; the report is over then. */
static int job_end_acknowledge(struct actor *self, struct message *request, struct error *error)
{
    struct message *reply = message_copy(self, request);
    if (reply == NULL)
        return error_set(error, TR_ENOMEM, "the coordinator has no memory for a reply");
    actor_reply(self, request, reply);
    return 0;
}

/* The last member has gone, and with the coordinator goes its process. */
static void end_process(struct actor *self, void *arg)
{
    struct coordinator *state = arg;
    struct address root = state->options->root;
    actor_failpoint(self, FAILPOINT_END_LAST_GONE);
    /* The root is asked before the coordinator ends, again and again where memory is short: a
     * coordinator that is started again in its place would know of no end. */
    if (!address_is_none(root) && actor_stop(self, root) == TR_ENOMEM)
        timer_start(self, &state->linger, actor_now_ns(self) + STOP_AGAIN_NS, end_process, state);
    else
        actor_exit(self, 0);
}

/* Those elsewhere are stopped before those of this process: with its own members this process ends,
 * and a member that is not linked at the moment would never hear that the job is over. A member
 * that there was no memory to stop would stay for ever; to be stopped twice does no harm. */
static void stop_again(struct actor *self, void *arg)
{
    struct coordinator *state = arg;
    if (!coordinator_stop_each(self))
        timer_start(self, &state->linger, actor_now_ns(self) + STOP_AGAIN_NS, stop_again, state);
}

static void stop_members(struct actor *self)
{
    struct coordinator *state = actor_state(self);
    state->stopping = true; /* before anyone goes: a DOWN from now on ends no era */
    /* The timer is stopped before members are, which may start it for another purpose. */
    timer_stop(&state->linger);
    stop_again(self, state);
    actor_failpoint(self, FAILPOINT_END_STOPPING);
    /* Where no member is left, no end of one leads to this: the process ends here. */
    if (state->num_members == 0)
        end_process(self, state);
}

void coordinator_go_on_stopping(struct actor *self, bool was_here)
{
    struct coordinator *state = actor_state(self);
    /* The last of all comes before the last elsewhere, which it is too. */
    if (state->num_members == 0)
        end_process(self, state);
    else if (!was_here && !coordinator_any_elsewhere(self))
        stop_again(self, state); /* the last elsewhere has gone: now those of this process */
}

void coordinator_note_aware(struct actor *self, uint32_t rank)
{
    struct coordinator *state = actor_state(self);
    if (rank >= state->options->trainers || state->aware[rank] != 0)
        return;
    state->aware[rank] = 1;
    state->num_aware++;
    /* The count comes before members are stopped: with the last rank nobody is left that could miss
     * the end. */
    if (state->num_aware == state->options->trainers && !state->stopping)
        stop_members(self);
}

void coordinator_note_refused(struct coordinator *state, uint32_t rank)
{
    if (rank < state->options->trainers)
        state->aware[rank] = 1;
}

/* Some trainer has yet to hear of the end. One that came anew will not ask for it. */
static bool is_any_unaware(const struct coordinator *state)
{
    bool any = false;
    for (uint32_t rank = 0; rank < state->options->trainers; rank++) {
        bool anew = rank < state->world && state->restores[rank];
        any = any || (!anew && state->aware[rank] == 0);
    }
    return any;
}

/* A trainer that does not confirm may have known it before this coordinator was started. */
static void stop_lingering(struct actor *self, void *arg)
{
    struct coordinator *state = arg;
    uint64_t now_ns = actor_now_ns(self);
    if (state->stopping)
        return;
    if (now_ns < state->linger_until_ns && is_any_unaware(state))
        timer_start(self, &state->linger, now_ns + LINGER_NS, stop_lingering, state);
    else
        stop_members(self);
}

/* All trainers are done. Nobody is stopped before all know it, for a trainer that dies without
 * knowing would come back and wait for the others. */
static void end_job(struct actor *self)
{
    struct coordinator *state = actor_state(self);
    if (state->over || state->stopping)
        return;
    /* The end is noted in the turn in which the first trainer is answered, be that before or after
     * it: a trainer that hears of the end may go at once, and its DOWN, a message of a later turn,
     * is to be that of one that knows, not the end of an era. */
    state->over = true;
    state->linger_until_ns = actor_now_ns(self) + LINGER_MAX_NS;
    timer_start(self, &state->linger, actor_now_ns(self) + LINGER_NS, stop_lingering, state);
    for (uint32_t rank = 0; rank < state->options->trainers; rank++) {
        struct message *request = state->dones[rank];
        state->dones[rank] = NULL;
        if (request != NULL && job_end_acknowledge(self, request, NULL) != 0)
            actor_refuse(self, request, TR_ENOMEM); /* it asks again */
    }
    actor_failpoint(self, FAILPOINT_END_OVER);
}

/* The rank waits for the others. A report of an era that is over is no harm: a rank that left that
 * era, or came anew, is missing, and by then this one has been restored and forgotten.
 *
 * No table of sequenced clients remembers it: a rank is done once in an era, so its request has no
 * sequence to compare, and the reply is the same for all, made anew for each repeat. */
static void wait_for_others(struct actor *self, struct message *request, uint32_t rank)
{
    struct coordinator *state = actor_state(self);
    /* The rank is counted once, with its first request: its repeats take the place of that. */
    if (state->dones[rank] != NULL) /* an attempt that timed out: the rank waits for this one */
        actor_refuse(self, state->dones[rank], TR_ECANCELED);
    else
        state->num_done++;
    /* The request is kept before the count is compared: the end answers all that are kept. */
    state->dones[rank] = request;
    actor_failpoint(self, FAILPOINT_END_DONE_TAKEN);
    if (state->num_done == state->options->trainers)
        end_job(self);
}

/* A plain message comes from a trainer that knows that the job is over, from this coordinator or
 * the one before it. A trainer that has written the job's result ends the job by itself: one that
 * died before it said that it was done has nothing left to do, and going back would undo what is
 * written. */
int coordinator_job_done(struct actor *self, struct message *request, struct error *error)
{
    struct coordinator *state = actor_state(self);
    /* The head is copied, since the answer consumes the request. */
    const struct msg_job_done head = *(const struct msg_job_done *)message_head(request);
    bool waits = (request->frame.flags & MESSAGE_REQUEST) != 0;
    if (head.code == 0 && head.rank >= state->options->trainers)
        return error_set(error, TR_ERANGE,
                         "rank %" PRIu32 " ends the job, which has %" PRIu32 " trainers", head.rank,
                         state->options->trainers);
    if (head.code == 0 && waits && head.complete == 0 && !state->over && !state->stopping) {
        wait_for_others(self, request, head.rank);
        return 0;
    }
    /* The answer comes first: where there is no memory for it nothing has changed, and the rank,
     * which asks again, ends the job then. */
    int rv = 0;
    if (waits)
        rv = job_end_acknowledge(self, request, error);
    else
        message_release(self, request);
    if (rv != 0)
        return rv;
    if (head.code == 0) {
        /* The end comes before the rank that knows of it, so that it is noted wherever members are
         * stopped: the last rank to know has them stopped at once, and after that an end does
         * nothing. */
        end_job(self);
        if (!waits)
            coordinator_note_aware(self, head.rank);
        return 0;
    }
    /* The first failure counts, and none after the end: the result is there. */
    if (state->code == 0 && !state->over)
        state->code = head.code;
    if (!state->stopping)
        stop_members(self);
    return 0;
}

/* The ranks that are not back: each with the process where it trains. */
static void list_missing(const struct coordinator *state, char *text, size_t size)
{
    const struct plan *plan = state->options->plan;
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t rank = 0; rank < state->options->trainers && at < size; rank++) {
        bool waits = rank < state->world && state->restores[rank];
        if (waits)
            continue;
        int n = snprintf(text + at, size - at, "%strainer %" PRIu32, at > 0 ? ", " : "", rank);
        at += (size_t)n;
        if (plan != NULL && at < size)
            at += (size_t)snprintf(text + at, size - at, " (process %" PRIu32 ")",
                                   plan_trainer_node(plan, rank));
    }
}

/* Some ranks were done when the era ended, and all are needed to be done again: one whose program
 * has ended well, or that is never started again, would be waited for without an end. */
static void give_up(struct actor *self, void *arg)
{
    struct coordinator *state = arg;
    char missing[MISSING_TEXT_MAX];
    if (state->over || state->stopping || state->entered)
        return;
    list_missing(state, missing, sizeof missing);
    if (missing[0] == '\0') /* the checkpoint for all of them is being looked for */
        return;
    log_write(
        actor_node(self), LOG_LEVEL_ERROR, "job",
        "the job was about to end when the trainers had to go back to a checkpoint, and then %s "
        "did not come back in %" PRIu64
        " s: the job stops before it is complete; start it again to go on from its last checkpoint",
        missing, rejoin_ns(state) / UINT64_C(1000000000));
    state->code = TR_ETIMEDOUT;
    stop_members(self);
}

void coordinator_all_back(struct coordinator *state)
{
    timer_stop(&state->rejoin);
}

void coordinator_end_dones(struct actor *self)
{
    struct coordinator *state = actor_state(self);
    /* The ranks are counted before they are forgotten. A timer that runs is left: patience begins
     * with the first era that ended so. */
    if (state->num_done > 0 && !timer_is_started(&state->rejoin))
        timer_start(self, &state->rejoin, actor_now_ns(self) + rejoin_ns(state), give_up, state);
    state->num_done = 0;
    for (uint32_t rank = 0; rank < state->options->trainers; rank++) {
        struct message *request = state->dones[rank];
        state->dones[rank] = NULL;
        if (request != NULL)
            actor_refuse(self, request, TR_EROLLBACK);
    }
}

void coordinator_free_dones(struct actor *self, struct coordinator *state)
{
    for (uint32_t rank = 0; state->dones != NULL && rank < state->options->trainers; rank++)
        message_release(self, state->dones[rank]);
    free(state->dones);
}
