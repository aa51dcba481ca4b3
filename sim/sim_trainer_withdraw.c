/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group calls that a simulated trainer gives up, as threads of a program do (api/group.c):
 *
 *     interrupted   the reducer is asked to dismiss the call (MSG_GROUP_DISMISS); its answer is waited
 *                   for a moment longer, and then the same call is made again
 *     shut          the reducer is asked to cancel its operation (MSG_GROUP_CANCEL) until the call has
 *                   ended; the group is opened anew and begins with a restore
 *
 * Which calls, and when, is drawn for each call; how many there are is a choice of the seed. The
 * invariant: `withdrawn` is of the call under way, and SIM_TRAINER_KEPT while there is none.
 */
#include <inttypes.h>

#include "sim/sim_trainer_state.h"

/* As api/group.c: how long the end of an interrupted call is waited for, and how often a group that
 * is shut asks its reducer. */
#define DISMISS_NS ENV_SECOND_NS
#define SHUT_AGAIN_NS (20 * SIM_TRAINER_MS)
/* An interrupted program looks what it is to do, and asks again. */
#define PAUSE_MAX_NS (100 * SIM_TRAINER_MS)
#define SHUT_PERCENT 20
/* A reducer that nothing disturbs ends the call of a group that is shut at once, whether or not the
 * others come. */
#define SHUT_NS ENV_SECOND_NS

/* Without memory nothing is sent, and the call ends as it would without. */
static void tell_reducer(struct sim_trainer *t, uint32_t operation)
{
    struct message *message = message_create(t->self, MSG_GROUP_REQUEST);
    if (message == NULL)
        return;
    *(struct msg_group_request *)message_head(
        message) = (struct msg_group_request){ .operation = operation };
    (void)actor_send(t->self, t->reducer, message);
}

static void give_up_waiting(struct actor *self, void *arg)
{
    const struct sim_trainer *t = arg;
    (void)actor_cancel(self, t->call);
}

/* Until when the reducer of this process may not get to what it is asked. */
static uint64_t reducer_disturbed_ns(const struct sim_trainer *t)
{
    const struct actor_faults *faults = &t->process->faults.reducers;
    const uint64_t *until_ns = faults->actors[t->rank % ACTOR_FAULTS_ACTORS].until_ns;
    uint64_t last_ns = t->process->paused_until_ns;
    for (uint32_t i = 0; i < ACTOR_FAULT_KINDS; i++) {
        uint64_t over_ns = until_ns[i] + (i == ACTOR_SLOW ? ACTOR_FAULTS_SLOW_NS : 0);
        last_ns = until_ns[i] != 0 && over_ns > last_ns ? over_ns : last_ns;
    }
    return last_ns;
}

static void check_shut(struct sim_trainer *t, uint64_t now_ns)
{
    uint64_t disturbed_ns = reducer_disturbed_ns(t);
    /* Nothing was sent where memory was short. */
    if (t->fleet->memory_until_ns != 0)
        t->shut_ns = now_ns;
    if (now_ns > (t->shut_ns > disturbed_ns ? t->shut_ns : disturbed_ns) + SHUT_NS)
        fleet_fail(t->fleet,
                   "trainer %" PRIu32 ", step %" PRIu64
                   ": its group was shut, and its call (%s) has "
                   "not ended",
                   t->rank, sim_trainer_step(t), training_operation_name(t->loop.operation));
}

static void shut_again(struct actor *self, void *arg)
{
    struct sim_trainer *t = arg;
    uint64_t now_ns = actor_now_ns(self);
    check_shut(t, now_ns);
    tell_reducer(t, MSG_GROUP_CANCEL);
    timer_start(self, &t->withdrawal, now_ns + SHUT_AGAIN_NS, shut_again, t);
}

static void note_withdrawal(struct sim_trainer *t, const char *what)
{
    uint64_t now_ns = actor_now_ns(t->self);
    t->fleet->tally.faults++;
    fleet_liveness_fault(&t->fleet->liveness, now_ns + DISMISS_NS + PAUSE_MAX_NS);
    if (t->fleet->verbose != NULL)
        fprintf(t->fleet->verbose,
                "    %10.6f fault: %s, trainer %" PRIu32 ", step %" PRIu64 ", %s\n",
                (double)now_ns / 1e9, what, t->rank, sim_trainer_step(t),
                training_operation_name(t->loop.operation));
}

static void withdraw_now(struct actor *self, void *arg)
{
    struct sim_trainer *t = arg;
    const struct fleet_plan *plan = t->plan;
    struct fleet_tally *tally = &t->fleet->tally;
    /* A trainer that is done has no group to shut: its process waits for the end of the job. */
    bool shuts = tally->shuts < plan->shuts && t->loop.operation != TRAINING_FINISH &&
                 draws_chance(&t->whims, SHUT_PERCENT);
    if (shuts) {
        tally->shuts++;
        t->withdrawn = SIM_TRAINER_SHUT;
        t->shut_ns = actor_now_ns(self);
        note_withdrawal(t, "shut");
        shut_again(self, t);
    } else if (tally->interrupts < plan->interrupts) {
        tally->interrupts++;
        t->withdrawn = SIM_TRAINER_INTERRUPTED;
        note_withdrawal(t, "interrupt");
        tell_reducer(t, MSG_GROUP_DISMISS);
        timer_start(self, &t->withdrawal, actor_now_ns(self) + DISMISS_NS, give_up_waiting, t);
    }
}

void sim_trainer_called(struct sim_trainer *t)
{
    const struct fleet_plan *plan = t->plan;
    t->withdrawn = SIM_TRAINER_KEPT;
    if (plan->interrupts + plan->shuts == 0 || !draws_chance(&t->whims, plan->withdraw_percent))
        return;
    uint64_t after_ns = draws_scale(&t->whims, 1, plan->withdraw_ns);
    timer_start(t->self, &t->withdrawal, actor_now_ns(t->self) + after_ns, withdraw_now, t);
}

enum sim_trainer_withdrawal sim_trainer_answered(struct sim_trainer *t)
{
    enum sim_trainer_withdrawal withdrawn = t->withdrawn;
    t->withdrawn = SIM_TRAINER_KEPT;
    timer_stop(&t->withdrawal);
    return withdrawn;
}

void sim_trainer_ask_again(struct sim_trainer *t)
{
    /* A save that is asked for again is written for anew: the disk may be another by then. */
    t->synced = false;
    t->unsynced = 0;
    sim_trainer_go_later(t, draws_scale(&t->whims, 1, PAUSE_MAX_NS));
}

void sim_trainer_reopen(struct sim_trainer *t)
{
    t->end(t, TR_EROLLBACK, "the group is opened anew");
    /* Saves are counted from the opening on: the count comes behind the end of one, which it has. */
    t->saves = t->offered = 0;
}
