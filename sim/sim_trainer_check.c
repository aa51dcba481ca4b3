/* SPDX-License-Identifier: Apache-2.0 */
/* The results of a simulated trainer, compared with the undisturbed run (expected_run.h). */
#include <inttypes.h>
#include <string.h>

#include "actors/data/sampled_batch.h"
#include "sim/fleet_checkpoints.h"
#include "sim/sim_trainer_state.h"

static void sim_trainer_take_wish(struct sim_trainer *t, float sum)
{
    t->wish = training_wish_read(sum);
    if (t->wish != TRAINING_GOES_ON)
        training_loop_leave(&t->loop);
}

void sim_trainer_apply(struct sim_trainer *t, const struct message *reply)
{
    const struct msg_group_reply *head = (const void *)reply->head;
    const struct fleet_plan *plan = t->plan;
    const float *sums = message_body(reply);
    uint64_t step = sim_trainer_step(t);
    uint64_t asks = sim_trainer_asks_leave(t);
    if (head->count != plan->values + UINT64_C(1) + asks ||
        reply->frame.body_bytes != head->count * sizeof(float)) {
        fleet_fail(t->fleet, "trainer %" PRIu32 ": %" PRIu64 " values were reduced, not %" PRIu32,
                   t->rank, head->count, plan->values + 1);
        return;
    }
    sim_trainer_take_wish(t, asks != 0 ? sums[plan->values + 1] : 0);
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

/* Whether that era is known to a process that lives. Where the coordinator and all trainers died
 * eras begin low again: one has the number of another, which nothing keeps in memory. */
static bool is_era_known(const struct fleet *fleet, uint32_t era)
{
    for (uint32_t p = 0; p < fleet->plan.plan.num_processes; p++)
        if (fleet->processes[p].node != NULL && fleet->processes[p].era == era)
            return true;
    return false;
}

static void note_era(struct sim_trainer *t, uint64_t step, uint32_t era)
{
    struct fleet *fleet = t->fleet;
    fleet->last_era = t->era = t->process->era = era;
    fleet->last_era_step = step;
    fleet->processes[fleet->plan.plan.coordinator].era = era;
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
    bool same = era == fleet->last_era && is_era_known(fleet, era);
    if (!same)
        fleet_checkpoints_restored(fleet, step);
    if (same && step != fleet->last_era_step)
        fleet_fail(fleet,
                   "in era %" PRIu32 " trainer %" PRIu32 " is at step %" PRIu64
                   ", others at %" PRIu64,
                   era, t->rank, step, fleet->last_era_step);
    note_era(t, step, era);
    if (step > t->plan->steps ||
        expected_run_hash(t->plan, t->weights) != fleet->expected.hashes[step])
        fleet_fail(fleet,
                   "trainer %" PRIu32 " was restored to other weights than those of step %" PRIu64,
                   t->rank, step);
}

void sim_trainer_restored(struct sim_trainer *t, const struct message *reply)
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
    t->stands = head->step;
    t->fleet->reached[t->rank] = head->step;
    check_restored(t, head->step, head->era);
}

float sim_trainer_score(const struct sim_trainer *t)
{
    return (float)(expected_run_hash(t->plan, t->weights) % 1000 + 1);
}

bool sim_trainer_check_scores(struct sim_trainer *t, const struct message *reply)
{
    const float *sums = message_body(reply);
    if (reply->frame.body_bytes != t->plan->plan.trainers * sizeof *sums ||
        sums[0] != sim_trainer_score(t))
        fleet_fail(t->fleet,
                   "trainer %" PRIu32 ", step %" PRIu64 ": the scores are not those of "
                   "its weights",
                   t->rank, sim_trainer_step(t));
    bool best = sums[0] > t->best;
    t->best = best ? sums[0] : t->best;
    return best;
}

void sim_trainer_check_losses(struct sim_trainer *t, const struct message *reply)
{
    const float *sums = message_body(reply);
    uint32_t world = t->plan->plan.trainers;
    uint64_t asks = sim_trainer_asks_leave(t);
    sim_trainer_take_wish(t, asks != 0 ? sums[world] : 0);
    for (uint32_t rank = 0; rank < world; rank++)
        if (reply->frame.body_bytes != (world + asks) * sizeof *sums ||
            sums[rank] != (float)(rank + 1 + t->loop.at.epoch))
            fleet_fail(t->fleet,
                       "trainer %" PRIu32 ": the sum of epoch %" PRIu32 " lacks that of "
                       "trainer %" PRIu32,
                       t->rank, t->loop.at.epoch, rank);
}

uint64_t sim_trainer_check_batch(struct sim_trainer *t, struct sampled_batch *batch)
{
    struct error error = { 0 };
    uint64_t digest = 0, step = sim_trainer_step(t);
    if (expected_run_check(&t->fleet->expected, &t->fleet->partitions, t->rank, step,
                           &batch->space.batch, &digest, &error) != 0)
        fleet_fail(t->fleet,
                   "trainer %" PRIu32 ": the batch of step %" PRIu64 " is not the "
                   "undisturbed run's: %s",
                   t->rank, step, error.text);
    t->fleet->tally.batches++;
    sampled_batch_release(batch);
    return digest;
}
