/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a run, as pure transitions; see training_loop.h.
 *
 * Invariants:
 *   - An operation is performed again only after a timeout or a refusal, and then finds `at` as it
 *     was: that changes in training_loop_done, training_loop_scored and training_loop_restored
 *     alone.
 *   - Whatever an operation was about, TR_EROLLBACK of a group is about the era: nothing else of
 *     the answer counts then.
 */
#include "model/training_loop.h"

#include "runtime/base/error.h"
#include "runtime/base/files.h"

void training_loop_init(struct training_loop *loop, const struct training_loop_plan *plan)
{
    *loop = (struct training_loop){ .plan = *plan, .operation = TRAINING_RESTORE };
}

void training_loop_restored(struct training_loop *loop, const struct training_position *at)
{
    loop->at = *at;
    /* The model on the disk may be of an era that was rolled back. */
    loop->best_unkept = at->has_best;
    loop->stopped_early = false;
    loop->leaving = false;
}

/* A wish that is asked for weighs as much as those of 2^20 orphans. */
float training_wish_write(enum training_wish wish)
{
    static const float WEIGHTS[] = {
        [TRAINING_GOES_ON] = 0, [TRAINING_ORPHANED] = 0x1p-20f, [TRAINING_ASKED] = 1
    };
    return WEIGHTS[wish];
}

enum training_wish training_wish_read(float sum)
{
    if (sum >= 1)
        return TRAINING_ASKED;
    return sum > 0 ? TRAINING_ORPHANED : TRAINING_GOES_ON;
}

void training_loop_leave(struct training_loop *loop)
{
    loop->leaving = true;
}

void training_loop_scored(struct training_loop *loop, bool best)
{
    loop->at.evaluations_since_best = best ? 0 : loop->at.evaluations_since_best + 1;
    loop->at.has_best = loop->at.has_best || best;
    loop->best_unkept = loop->best_unkept || best;
}

static bool is_evaluated(const struct training_loop *loop)
{
    uint32_t every = loop->plan.evaluate_every == 0 ? 1 : loop->plan.evaluate_every;
    uint32_t done = loop->at.epoch + 1;
    return loop->plan.evaluates && (done == loop->plan.epochs || done % every == 0);
}

static enum training_operation after_step(const struct training_loop *loop)
{
    /* The count of steps includes the one that was just applied. */
    uint64_t every = loop->plan.save_every;
    if (loop->leaving)
        return TRAINING_SAVE;
    return every != 0 && loop->at.steps % every == 0 ? TRAINING_SAVE : TRAINING_STEP;
}

static enum training_operation next_epoch(struct training_loop *loop)
{
    const struct training_loop_plan *plan = &loop->plan;
    loop->stopped_early = plan->patience > 0 && loop->at.evaluations_since_best >= plan->patience;
    return loop->at.epoch < plan->epochs && !loop->stopped_early ? TRAINING_BEGIN : TRAINING_MEET;
}

static enum training_operation end_epoch(struct training_loop *loop)
{
    /* The epoch counts before next_epoch() asks whether there is another one. */
    loop->at.epoch++;
    loop->at.step = 0;
    return next_epoch(loop);
}

/* Returns what follows an operation that succeeded, or is gone on without. */
static enum training_operation training_loop_follow(struct training_loop *loop)
{
    const struct training_loop_plan *plan = &loop->plan;
    switch (loop->operation) {
    /* The checkpoint says where the run goes back to, so it is read before anything is taken
     * back. */
    case TRAINING_RESTORE:
        return TRAINING_REWIND;
    case TRAINING_REWIND:
        /* Patience is judged in next_epoch alone: here no epoch is over. */
        return loop->at.epoch < plan->epochs ? TRAINING_BEGIN : TRAINING_MEET;
    case TRAINING_BEGIN:
        return TRAINING_STEP;
    case TRAINING_STEP:
        return TRAINING_REDUCE;
    case TRAINING_REDUCE:
        loop->at.step++;
        loop->at.steps++;
        return after_step(loop);
    case TRAINING_SAVE:
        if (!loop->leaving)
            return TRAINING_STEP;
        loop->code = TR_ECANCELED;
        return TRAINING_FAILED;
    /* The losses may be summed before or behind the evaluation: the other ranks wait for rank 0 in
     * the next sum either way. */
    case TRAINING_SUM:
        /* What is saved here is the epoch with all its steps, which ends again when it is gone on
         * with. */
        if (loop->leaving)
            return TRAINING_SAVE;
        return is_evaluated(loop) ? TRAINING_EVALUATE : TRAINING_REPORT;
    case TRAINING_EVALUATE:
        return TRAINING_SHARE;
    case TRAINING_SHARE:
        /* Before the report: a reader that sees an epoch called the best finds its model. */
        return plan->keeps && loop->best_unkept ? TRAINING_KEEP_BEST : TRAINING_REPORT;
    case TRAINING_KEEP_BEST:
        return TRAINING_REPORT;
    case TRAINING_REPORT:
        return end_epoch(loop);
    /* MEET stands before KEEP, in which rank 0 says that the job is complete: all have then made
     * their last step. FINISH comes behind KEEP, since it ends the job, whichever process dies. */
    case TRAINING_MEET:
        return plan->keeps ? TRAINING_KEEP : plan->finishes ? TRAINING_FINISH : TRAINING_DONE;
    case TRAINING_KEEP:
        return plan->finishes ? TRAINING_FINISH : TRAINING_DONE;
    default:
        return TRAINING_DONE;
    }
}

static void training_loop_enter(struct training_loop *loop, enum training_operation operation)
{
    loop->operation = operation;
    loop->refused = false;
}

static void training_loop_fail(struct training_loop *loop, int code)
{
    loop->code = code;
    training_loop_enter(loop, TRAINING_FAILED);
}

static bool waits_for_others(const struct training_loop *loop)
{
    switch (loop->operation) {
    case TRAINING_RESTORE:
    case TRAINING_REWIND: /* trainers are compared */
    case TRAINING_REDUCE:
    case TRAINING_SAVE:
    case TRAINING_SUM:
    case TRAINING_SHARE:
    case TRAINING_MEET:
    case TRAINING_FINISH:
        return loop->plan.grouped;
    default:
        return false;
    }
}

/* A disk refused it: without, again, or the end. */
static void be_refused(struct training_loop *loop, int code, uint64_t now_ns)
{
    switch (loop->operation) {
    case TRAINING_SAVE:
    case TRAINING_KEEP_BEST:
    case TRAINING_REPORT:
        training_loop_enter(loop, training_loop_follow(loop));
        return;
    case TRAINING_RESTORE:
    case TRAINING_REWIND:
    case TRAINING_KEEP:
        /* The time is that of the first refusal: training_loop_enter() clears the flag when another
         * operation begins. */
        loop->refused_ns = loop->refused ? loop->refused_ns : now_ns;
        loop->refused = true;
        if (now_ns - loop->refused_ns < loop->plan.patience_ns)
            loop->wait_ns = TRAINING_AGAIN_NS;
        else
            training_loop_fail(loop, code);
        return;
    default:
        training_loop_fail(loop, code);
    }
}

void training_loop_done(struct training_loop *loop, int code, uint64_t now_ns)
{
    /* The pause is of one operation alone: be_refused() sets it again where there is one. */
    loop->wait_ns = 0;
    /* A rollback comes first, since it voids whatever the operation was; then the two codes that
     * are no failures of their operations; refusals before all other failures, which they are some
     * of. */
    if (code == TR_EROLLBACK && loop->plan.grouped) {
        training_loop_enter(loop, TRAINING_RESTORE);
    } else if (code == TR_ETIMEDOUT && waits_for_others(loop)) {
        return; /* again at once: the call itself has waited */
    } else if (code == TR_EEND && loop->operation == TRAINING_STEP) {
        training_loop_enter(loop, TRAINING_SUM);
    } else if (files_is_refusal(code)) {
        be_refused(loop, code, now_ns);
    } else if (code < 0) {
        training_loop_fail(loop, code);
    } else {
        if (loop->operation == TRAINING_KEEP_BEST || loop->operation == TRAINING_KEEP)
            loop->best_unkept = false;
        /* training_loop_follow() reads `best_unkept`, which is therefore settled above. */
        training_loop_enter(loop, training_loop_follow(loop));
    }
}

const char *training_operation_name(enum training_operation operation)
{
    static const char *const names[] = {
        [TRAINING_RESTORE] = "restore", [TRAINING_REWIND] = "rewind",
        [TRAINING_BEGIN] = "begin",     [TRAINING_STEP] = "step",
        [TRAINING_REDUCE] = "reduce",   [TRAINING_SAVE] = "save",
        [TRAINING_SUM] = "sum",         [TRAINING_EVALUATE] = "evaluate",
        [TRAINING_SHARE] = "share",     [TRAINING_KEEP_BEST] = "keep the best",
        [TRAINING_REPORT] = "report",   [TRAINING_MEET] = "meet",
        [TRAINING_KEEP] = "keep",       [TRAINING_FINISH] = "finish",
        [TRAINING_DONE] = "done",       [TRAINING_FAILED] = "failed",
    };
    return names[operation];
}
