/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver: performs what the training loop says comes next, one operation at a time.
 *
 * Invariants: between two operations nothing is under way but the timer; during one it is either a
 * call, a search in the directory or the timer, and exactly one of them, so an operation ends once.
 * Whatever passes (a reducer or proxy that is not there, want of memory) leads back to
 * sim_trainer_go(), which performs the same operation from its beginning.
 */
#include "sim/sim_trainer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "actors/cluster/process_notice.h"
#include "actors/data/batch_store.h"
#include "actors/data/seed_lists.h"
#include "runtime/base/atomic_dir.h"
#include "sim/sim_trainer_state.h"

/* As --disk-wait. */
#define DISK_WAIT_NS (600 * ENV_SECOND_NS)
/* Tells the streams of draws of a trainer's life apart. */
#define WHIMS (UINT64_C(1) << 60)

static void sim_trainer_say(const struct sim_trainer *t, const char *what, int status)
{
    if (t->fleet->verbose != NULL)
        fprintf(t->fleet->verbose,
                "    %10.6f trainer %" PRIu32 ", step %" PRIu64 ", era %" PRIu32 ", %s: %s %s\n",
                (double)actor_now_ns(t->self) / 1e9, t->rank, sim_trainer_step(t), t->era,
                training_operation_name(t->loop.operation), what,
                status == 0 ? "" : tr_error_name(status));
}

/* What it was to leave is over, and the next era may be that of another launcher. */
static bool gives_up(struct sim_trainer *t)
{
    if (t->process->leaves)
        t->process->leave_ns = actor_now_ns(t->self);
    return t->process->leaves;
}

/* The operation under way has ended: the loop says what comes now. */
static void end_operation(struct sim_trainer *t, int code, const char *text)
{
    enum training_operation ended = t->loop.operation;
    t->saves += ended == TRAINING_SAVE && code != TR_ETIMEDOUT; /* as api/group.c */
    /* A save that timed out is written for anew: the disk may be another by then. */
    t->synced = false;
    t->unsynced = 0;
    if (code != 0 && code != TR_EEND)
        sim_trainer_say(t, "ended with", code);
    /* This is asked before the loop, which would have this trainer restored as any other may be. */
    if (ended == TRAINING_FINISH && t->rank == 0 && code == TR_EROLLBACK) {
        fleet_fail(t->fleet, "trainer 0 was rolled back after it had written the result");
        return;
    }
    if (ended == TRAINING_RESTORE && gives_up(t))
        return;
    training_loop_done(&t->loop, code, actor_now_ns(t->self));
    if (files_is_refusal(code))
        t->fleet->tally.failures_told++;
    /* It has left, and its process ends when all trainers there have. */
    if (t->loop.operation == TRAINING_FAILED && ended == TRAINING_SAVE && t->loop.leaving) {
        t->fleet->tally.leaves++;
        fleet_say(t->process, "%s%s", NOTICE_LEFT,
                  t->wish == TRAINING_ASKED ? "" : NOTICE_LEFT_ORPHANED);
        fleet_leave(t->process);
    } else if (t->loop.operation == TRAINING_FAILED) {
        fleet_fail(t->fleet, "trainer %" PRIu32 ", step %" PRIu64 ": %s failed with %s: %s",
                   t->rank, sim_trainer_step(t), training_operation_name(ended),
                   tr_error_name(code), text);
    } else if (t->loop.operation != TRAINING_DONE) {
        sim_trainer_go_later(t, t->loop.wait_ns);
    }
}

static void take_step(struct sim_trainer *t)
{
    if (t->loop.at.step == t->plan->steps_epoch) {
        end_operation(t, TR_EEND, "");
        return;
    }
    struct sampled_batch *batch = sim_trainer_take_batch(t);
    if (batch == NULL)
        return;
    uint64_t digest = sim_trainer_check_batch(t, batch);
    /* The next batch is announced before the trainer learns, so that it is made meanwhile. */
    sim_trainer_announce_next(t);
    expected_run_learn(t->plan, t->weights, digest, t->values);
    t->loop.wait_ns = 0;
    training_loop_done(&t->loop, 0, actor_now_ns(t->self));
    sim_trainer_go_later(t, draws_below(&t->draws, t->plan->think_ns));
}

/* Rank 0 keeps a run: files that appear whole, as those of model/run_folder.h. */
static int write_file(struct sim_trainer *t, const char *name, const void *bytes, size_t count,
                      struct error *error)
{
    int rv = files_make_folders(t->process->files, FLEET_RUN, error);
    return rv == 0 ? files_write_atomic(t->process->files, name, bytes, count, error) : rv;
}

static int write_metrics(struct sim_trainer *t, struct error *error)
{
    return write_file(t, FLEET_METRICS, &t->loop.at.epoch, sizeof t->loop.at.epoch, error);
}

static void keep_run(struct sim_trainer *t)
{
    struct error error = { 0 };
    int rv = 0;
    if (t->rank == 0 &&
        (t->loop.operation == TRAINING_REWIND || t->loop.operation == TRAINING_REPORT))
        rv = write_metrics(t, &error);
    else if (t->rank == 0)
        rv = write_file(t, FLEET_MODEL, t->weights, t->plan->values * sizeof(float), &error);
    /* The job is complete when the file is there: nothing of it is started again after that. */
    if (rv == 0 && t->loop.operation == TRAINING_KEEP)
        fleet_complete(t->process);
    if (t->fleet->error.code == 0)
        end_operation(t, rv, error.text);
}

/* The reports must be on the disk when the checkpoint is: without them rank 0 has no part, and says
 * so, as model/train_ranks.c has it. */
static void save_run(struct sim_trainer *t)
{
    struct error error = { 0 };
    if (t->rank == 0 && !t->synced && t->plan->seed >= FLEET_SKIPS_FROM) {
        t->synced = true;
        t->unsynced = write_metrics(t, &error);
        t->fleet->tally.skips += t->unsynced != 0;
        if (t->unsynced != 0)
            sim_trainer_say(t, "has no part:", t->unsynced);
    }
    if (t->fleet->error.code == 0)
        sim_trainer_call_group(t);
}

/* A thread that stands still (see fleet_faults.h) does so between two operations. */
static void sim_trainer_go(struct sim_trainer *t)
{
    uint64_t now_ns = actor_now_ns(t->self);
    if (now_ns < t->process->trainers_until_ns) {
        sim_trainer_go_later(t, t->process->trainers_until_ns - now_ns);
        return;
    }
    bool meets = t->loop.operation == TRAINING_MEET;
    if ((meets || t->loop.operation == TRAINING_RESTORE) && gives_up(t))
        return;
    if (meets != t->met && (meets || t->loop.operation == TRAINING_RESTORE)) {
        t->met = meets;
        t->process->met += meets ? 1 : UINT32_MAX;
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
            sim_trainer_open_loader(t);
        break;
    case TRAINING_STEP:
        take_step(t);
        break;
    case TRAINING_SAVE:
        save_run(t);
        break;
    case TRAINING_EVALUATE:
        if (t->rank == 0 && !t->evaluated) { /* the others wait for it */
            t->evaluated = true;
            sim_trainer_go_later(t, 3 * t->plan->think_ns);
        } else {
            t->evaluated = false;
            end_operation(t, 0, "");
        }
        break;
    case TRAINING_DONE:
    case TRAINING_FAILED:
        break;
    default:
        sim_trainer_call_group(t);
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
    t->go = sim_trainer_go;
    t->end = end_operation;
    t->loader = 1 + seat->rank;
    uint64_t life = (uint64_t)seat->process->incarnation << 16 | seat->rank;
    t->draws = draws_of(t->plan->seed, life);
    t->whims = draws_of(t->plan->seed, life | WHIMS);
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
    t->values = calloc(t->plan->values + (size_t)2, sizeof *t->values);
    t->shared = calloc(t->plan->plan.trainers + (size_t)1, sizeof *t->shared);
    if (t->weights == NULL || t->values == NULL || t->shared == NULL)
        return TR_ENOMEM;
    sim_trainer_go_later(t, 0);
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
    seed_lists_drop(t->process->lists, t->loader);
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
