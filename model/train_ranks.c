/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants:
 *   - Every rank makes the same calls of the group in the same order: sums of one are added to the
 *     sums of the others by their place alone.
 *   - A rank that fails sets `failed` when its code is final; the waiting thread then shuts the
 *     groups of the rest, which would wait for it for ever.
 */
#include "model/train_ranks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <troupe/graph.h>
#include <troupe/group.h>

#include "model/model_file.h"
#include "runtime/base/thread.h"
#include "runtime/core/crew.h"

/* How often the thread that waits for trainers looks whether it is asked to stop them. */
#define LOOK_NS 20000000L
/* How long trainers that are all to end wait for each other, at most. */
#define PART_NS INT64_C(10000000000)

struct train_rank {
    struct train_ranks *all;
    uint32_t rank;
    struct parallel *parallel; /* its own; NULL for the first, which has the job's */
    struct model *model;
    struct run_job_split split;
    struct tr_group *group;    /* NULL: alone */
    struct shape_entry *entry; /* its first era is under way; NULL, or taken: it is not */
    unsigned sums;             /* of this era that are made: enum first_sum */
    bool met;                  /* its last step is made, and it is counted as idle */
    struct watched watched;
    struct trainer_result result;
    struct error error;
    int code;
    atomic_bool ended;
    pthread_t thread;
};

/* The sums behind a restore, in this order. */
enum first_sum { SUM_SHAPE = 1, SUM_JOBS = 2, SUM_KERNELS = 4 };

static bool is_over(void *arg)
{
    const struct train_ranks *ranks = arg;
    /* Relaxed: a flag alone; nothing else is read because of it. */
    return atomic_load_explicit(&ranks->failed, memory_order_relaxed) ||
           cancel_asked(ranks->cancel);
}

static bool rank_cancelled(void *arg)
{
    return is_over(((struct train_rank *)arg)->all);
}

/* Any of the processes may end first: each tells its launcher, which starts none of them again, or
 * all. */
static void rank_left(void *arg, enum training_wish wish)
{
    const struct train_ranks *all = ((struct train_rank *)arg)->all;
    if (all->left != NULL)
        all->left(all->hooks->arg, wish);
}

/* The others hear of it with the sums of the step (trainer.c). A process without a launcher gets a
 * signal as well, as the system's word of that end (launch/child.c), so it knows of no other wish. */
static enum training_wish rank_wish(void *arg)
{
    const struct train_ranks *all = ((struct train_rank *)arg)->all;
    if (!cancel_asked(all->leave))
        return TRAINING_GOES_ON;
    bool orphaned = all->orphaned != NULL && all->orphaned(all->hooks->arg);
    return orphaned ? TRAINING_ORPHANED : TRAINING_ASKED;
}

/* A rank that waits for others that take long (rank 0 evaluates) asks again: of deaths the group
 * notifies it. */
static int rank_reduce(void *arg, float *values, size_t count, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct train_rank *r = arg;
    int rv = tr_group_reduce(r->group, values, count, TR_WAIT_FOREVER, &why);
    return rv == 0 ? 0 : session_failed(&why, rv, error);
}

/* The lines that the mark counts must be there when the checkpoint is. Without them this rank has
 * no part, and says so: the others wait for it. */
static int rank_save(void *arg, uint64_t steps, const void *bytes, size_t count,
                     struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct train_rank *r = arg;
    int synced = r->rank == 0 ? run_folder_sync(r->all->folder, error) : 0;
    int rv = synced == 0 ? tr_group_save(r->group, steps, bytes, count, TR_WAIT_FOREVER, &why)
                         : tr_group_skip_save(r->group, steps, synced, TR_WAIT_FOREVER, &why);
    if (rv == 0 && r->rank == 0) {
        r->all->has_checkpoint = true;
        r->all->saved(r->all->hooks->arg, steps);
    }
    return rv == 0 || rv == synced ? rv : session_failed(&why, rv, error);
}

static uint64_t rank_mark(void *arg)
{
    struct train_rank *r = arg;
    return r->rank == 0 ? run_folder_mark(r->all->folder) : 0;
}

/* A hash as floats, which add up without rounding. */
#define DIGITS 8u

static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* Every trainer puts its own in its place, and the sum has all. *other: the first whose is not
 * that of trainer 0; world where all are equal. */
static int find_other(struct train_rank *r, uint64_t hash, uint32_t *other, struct error *error)
{
    uint32_t world = r->all->world;
    float *all = calloc((size_t)world * DIGITS, sizeof *all);
    if (all == NULL)
        return error_set(error, TR_ENOMEM, "no memory to compare %u trainers", world);
    for (uint32_t i = 0; i < DIGITS; i++)
        all[r->rank * DIGITS + i] = (float)(hash >> (8 * i) & 0xff);
    int rv = rank_reduce(r, all, (size_t)world * DIGITS, error);
    for (*other = 1; *other < world; (*other)++)
        if (memcmp(all, &all[*other * DIGITS], DIGITS * sizeof *all) != 0)
            break;
    free(all);
    return rv;
}

/* All see the difference, and end. One that does so while another's sums are still on their way
 * looks to that one like a trainer that died, and will be waited for. */
static void part_together(struct train_rank *r)
{
    (void)tr_group_barrier(r->group, "differ", PART_NS, NULL);
}

/* Trainers with other batches than the rest would wait for steps that nobody takes, or add
 * gradients of another model. */
static int compare_jobs(struct train_rank *r, struct error *error)
{
    uint32_t other;
    int rv = find_other(r, r->all->job_hash, &other, error);
    if (rv != 0 || other == r->all->world)
        return rv;
    part_together(r);
    return error_set(error, TR_EMISMATCH,
                     "trainer %u has other options, another deal or another "
                     "graph than trainer 0; start all trainers with the same",
                     other);
}

/* Sums over ranks with other kernels than ours would be equal on no other placement. */
static int compare_kernels(struct train_rank *r, struct error *error)
{
    uint32_t other;
    int rv = find_other(r, hash_text(model_kernels_text(r->model)), &other, error);
    if (rv != 0 || other == r->all->world)
        return rv;
    part_together(r);
    return error_set(
        error, TR_EMISMATCH,
        "trainer %u computes with other kernels than trainer 0 "
        "('%s' here): their results differ; leave options.reproducible out to train all "
        "the same",
        other, model_kernels_text(r->model));
}

/* Trainers with another shape are found by compare_jobs(). */
static int announce_shape(struct train_rank *r, struct error *error)
{
    struct run_tried heard;
    return shape_choice_announce(r->group, r->rank, &r->all->job->config->tried, TR_WAIT_FOREVER,
                                 &heard, error);
}

/* The other ranks make a sum once, however often this one's operation is tried again. */
static int sum_once(struct train_rank *r, enum first_sum sum,
                    int (*make)(struct train_rank *r, struct error *error), struct error *error)
{
    if ((r->sums & sum) != 0)
        return 0;
    int rv = make(r, error);
    if (rv == 0)
        r->sums |= sum;
    return rv;
}

static int rewind_run(void *arg, uint64_t to, struct error *error)
{
    struct train_rank *r = arg;
    const struct trainer_hooks *hooks = r->all->hooks;
    /* The folder goes back before the sums, which a disk that refuses is not to be in the way of. */
    int rv = r->rank == 0 ? hooks->rewind(hooks->arg, to, error) : 0;
    if (rv != 0 || r->all->world == 1)
        return rv;
    /* Processes that are about to open their models make the first of these sums, and no other. */
    if (r->all->finishes)
        rv = sum_once(r, SUM_SHAPE, announce_shape, error);
    if (rv == 0)
        rv = sum_once(r, SUM_JOBS, compare_jobs, error);
    if (rv == 0 && r->all->reproducible)
        rv = sum_once(r, SUM_KERNELS, compare_kernels, error);
    return rv;
}

/* The hooks of rank 0 get the arg that they know. */
static int rank_evaluate(void *arg, struct model *model, struct scores *scores, struct error *error)
{
    const struct trainer_hooks *hooks = ((struct train_rank *)arg)->all->hooks;
    return hooks->evaluate(hooks->arg, model, scores, error);
}

static int epoch_done(void *arg, const struct epoch_report *report, struct error *error)
{
    const struct trainer_hooks *hooks = ((struct train_rank *)arg)->all->hooks;
    return hooks->epoch_done(hooks->arg, report, error);
}

static void step_done(void *arg, uint32_t epoch, uint64_t step, double loss)
{
    const struct trainer_hooks *hooks = ((struct train_rank *)arg)->all->hooks;
    hooks->step_done(hooks->arg, epoch, step, loss);
}

static uint64_t now_ns(void *arg)
{
    const struct trainer_hooks *hooks = ((struct train_rank *)arg)->all->hooks;
    return hooks->now_ns(hooks->arg);
}

static int keep_best(void *arg, struct model *model, const float *weights, struct error *error)
{
    const struct trainer_hooks *hooks = ((struct train_rank *)arg)->all->hooks;
    return hooks->keep_best(hooks->arg, model, weights, error);
}

static int rank_keep(void *arg, struct error *error)
{
    const struct trainer_hooks *hooks = ((struct train_rank *)arg)->all->hooks;
    return hooks->keep(hooks->arg, error);
}

static int rank_test(void *arg, struct error *error)
{
    const struct trainer_hooks *hooks = ((struct train_rank *)arg)->all->hooks;
    return hooks->test(hooks->arg, error);
}

static int rank_kept(void *arg, const struct trainer_result *result, struct error *error)
{
    const struct trainer_hooks *hooks = ((struct train_rank *)arg)->all->hooks;
    return hooks->kept(hooks->arg, result, error);
}

static void rank_refused(void *arg, enum training_operation operation, uint64_t left_ns,
                         bool given_up, struct error *error)
{
    struct train_ranks *all = ((struct train_rank *)arg)->all;
    pthread_mutex_lock(&all->refusing);
    all->hooks->refused(all->hooks->arg, operation, left_ns, given_up, error);
    pthread_mutex_unlock(&all->refusing);
}

static void rank_computing(void *arg, bool begins)
{
    struct train_rank *r = arg;
    if (begins)
        watchdog_enter(&r->all->watchdog, &r->watched);
    else
        watchdog_leave(&r->all->watchdog, &r->watched);
}

static bool wait_some(void *arg, uint64_t ns)
{
    for (uint64_t waited = 0; waited < ns && !rank_cancelled(arg); waited += LOOK_NS)
        nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
    return !rank_cancelled(arg);
}

static int rank_restore(void *arg, const void **bytes, size_t *count, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct train_rank *r = arg;
    struct tr_checkpoint checkpoint = TR_CHECKPOINT_INIT;
    /* What this rank was to leave is over, and the next era may be that of another launcher, whose
     * job is not to end because this process is to. */
    if (r->all->leave != NULL && cancel_asked(r->all->leave))
        return error_set(error, TR_ECANCELED, "training: cancelled");
    /* The era that this rank was taken into has seen one sum, by which the shape was heard. */
    if (r->entry != NULL && r->entry->entered) {
        r->entry->entered = false;
        r->sums = SUM_SHAPE;
        *bytes = r->entry->bytes;
        *count = r->entry->count;
        return 0;
    }
    r->sums = 0;
    if (!r->met)
        atomic_fetch_add(&r->all->idle, 1);
    r->met = false;
    int rv = r->group == NULL ? 0 : tr_group_restore(r->group, TR_WAIT_FOREVER, &checkpoint, &why);
    atomic_fetch_sub(&r->all->idle, 1);
    if (rv == 0 && r->all->leave != NULL && cancel_asked(r->all->leave))
        return error_set(error, TR_ECANCELED, "training: cancelled");
    *bytes = checkpoint.bytes;
    *count = checkpoint.count;
    if (rv == 0 && r->rank == 0 && checkpoint.bytes != NULL)
        r->all->has_checkpoint = true;
    if (rv == 0 && r->rank == 0 && r->group != NULL && r->all->restored != NULL)
        r->all->restored(r->all->hooks->arg, checkpoint.step);
    return rv == 0 ? 0 : session_failed(&why, rv, error);
}

static int rank_meet(void *arg, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct train_rank *r = arg;
    /* From here on a process whose launcher has gone ends at once: the end of a job that its launcher
     * does not see would be missed by the processes of the next one. */
    if (r->all->finishes && !r->met) {
        r->met = true;
        atomic_fetch_add(&r->all->idle, 1);
    }
    int rv = r->group == NULL ? 0 : tr_group_barrier(r->group, "trained", TR_WAIT_FOREVER, &why);
    return rv == 0 ? 0 : session_failed(&why, rv, error);
}

/* The trainers here have done all that the job wants of them; the others may still need this
 * process's servers and samplers. Rank 0 may have much to do before it comes, and has then written
 * the job's result: that ends the job, whichever process dies. */
static int rank_finish(void *arg, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct train_rank *r = arg;
    int rv = r->rank == 0 ? tr_group_complete(r->group, TR_WAIT_FOREVER, &why)
                          : tr_group_done(r->group, TR_WAIT_FOREVER, &why);
    /* These are the loop's to judge (training_loop.c), a rollback above all: the job has not ended
     * then. */
    if (rv == 0 || rv == TR_ETIMEDOUT || rv == TR_EROLLBACK)
        return rv;
    /* The actors may be gone before the answer is here. A signal in that time ends a process that
     * has done its work. */
    if (tr_graph_wait_end(r->all->job->graph, 0, NULL) == 0 || cancel_asked(r->all->cancel))
        return 0;
    return session_failed(&why, rv, error);
}

static struct trainer_hooks hooks_of(struct train_rank *r)
{
    const struct train_ranks *all = r->all;
    struct trainer_hooks hooks = { .arg = r,
                                   .restore = rank_restore,
                                   .left = rank_left,
                                   /* All know of the evaluation, rank 0 does it. */
                                   .evaluate = all->hooks->evaluate == NULL ? NULL : rank_evaluate,
                                   .meet = rank_meet,
                                   .finish = all->finishes ? rank_finish : NULL,
                                   .refused = rank_refused,
                                   .computing = rank_computing,
                                   .cancelled = rank_cancelled,
                                   .wait = wait_some,
                                   .now_ns = now_ns,
                                   .rewind = rewind_run };
    if (all->world > 1)
        hooks.reduce = rank_reduce;
    if (all->leave != NULL)
        hooks.wish = rank_wish;
    if (all->save_every > 0 || all->leave != NULL || all->finishes) {
        hooks.save = rank_save;
        hooks.mark = rank_mark;
    }
    if (r->rank == all->first) /* the progress of the process is that of its first trainer */
        hooks.step_done = step_done;
    if (r->rank == 0) {
        hooks.epoch_done = epoch_done;
        hooks.keep_best = keep_best;
        hooks.keep = rank_keep;
        hooks.test = all->hooks->test == NULL ? NULL : rank_test;
        hooks.kept = rank_kept;
    }
    return hooks;
}

static void rank_train(struct train_rank *r)
{
    const struct train_ranks *all = r->all;
    if (all->job->watched)
        thread_take_stack_signal();
    const struct run_config *config = all->job->config;
    const struct trainer_hooks hooks = hooks_of(r);
    const struct trainer_plan plan = {
        .epochs = config->model.epochs,
        .patience = config->patience,
        .evaluate_every = config->evaluate_every,
        .rank = r->rank,
        .world = all->world,
        .save_every = all->save_every,
        .patience_ns = all->patience_ns,
        .grouped = r->group != NULL,
        .job = all->run_hash,
    };
    r->code = trainer_run(r->model, &r->split.source.base, &plan, &hooks, &r->result, &r->error);
    /* One that was started again, or went back with its group, may find that rank 0 has ended the
     * job without it. */
    if (r->code == TR_ECLOSED && all->finishes && tr_graph_wait_end(all->job->graph, 0, NULL) == 0)
        r->code = 0;
    /* This stands behind the lines above, which may make a success of it: the flag ends all
     * trainers. */
    if (r->code != 0)
        atomic_store_explicit(&r->all->failed, true, memory_order_relaxed);
}

static void *run_thread(void *arg)
{
    struct train_rank *r = arg;
    rank_train(r);
    atomic_store(&r->ended, true);
    return NULL;
}

static int open_rank(struct train_rank *r, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct train_ranks *all = r->all;
    int rv = 0;
    if (r->rank == all->first)
        r->model = all->job->model;
    else
        rv = run_job_replica(all->job, &r->parallel, &r->model, error);
    if (rv == 0)
        rv = run_job_split_train(all->job, all->deal, r->rank, all->world, &r->split, error);
    if (rv != 0)
        return rv;
    r->split.source.cancel = &all->stop;
    all->deal_hash = all->deal == NULL ? 0 : tr_nodes_deal_hash(r->split.nodes);
    /* The group may be opened in any order with the loader: it sends nothing before its first
     * call. */
    if (all->entries != NULL) {
        r->entry = &all->entries[r->rank - all->first];
        r->group = r->entry->group;
        r->entry->group = NULL;
    } else if (all->grouped) {
        rv = tr_group_open(all->job->graph, r->rank, &r->group, &why);
        rv = rv == 0 ? 0 : session_failed(&why, rv, error);
    }
    return rv;
}

int train_ranks_open(struct train_ranks *ranks, struct error *error)
{
    atomic_init(&ranks->failed, false);
    pthread_mutex_init(&ranks->refusing, NULL);
    atomic_init(&ranks->idle, 0);
    ranks->stop = (struct cancel){ .asked = is_over, .arg = ranks };
    ranks->ranks = calloc(ranks->count, sizeof *ranks->ranks);
    ranks->watched = calloc(ranks->count, sizeof(struct watched *));
    if (ranks->ranks == NULL || ranks->watched == NULL)
        return error_set(error, TR_ENOMEM, "no memory for %u trainers", ranks->count);
    int rv = 0;
    for (uint32_t i = 0; i < ranks->count && rv == 0; i++) {
        ranks->ranks[i] = (struct train_rank){ .all = ranks, .rank = ranks->first + i };
        atomic_init(&ranks->ranks[i].ended, false);
        ranks->ranks[i].watched.rank = ranks->first + i;
        ranks->watched[i] = &ranks->ranks[i].watched;
        rv = open_rank(&ranks->ranks[i], error);
    }
    return rv;
}

struct tr_loader *train_ranks_loader(const struct train_ranks *ranks)
{
    return ranks->ranks[0].split.loader;
}

static bool all_ended(struct train_ranks *ranks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!atomic_load(&ranks->ranks[i].ended))
            return false;
    return true;
}

/* Waits for the first `count` trainers, and wakes them from their groups when all are to stop. */
static void wait_for(struct train_ranks *ranks, uint32_t count)
{
    bool shut = false;
    while (!all_ended(ranks, count)) {
        nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
        /* The groups are shut once: a rank that was woken ends by itself. */
        if (shut || !is_over(ranks))
            continue;
        shut = true;
        for (uint32_t i = 0; i < count; i++)
            if (ranks->ranks[i].group != NULL)
                tr_group_shut(ranks->ranks[i].group);
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_join(ranks->ranks[i].thread, NULL);
}

/* Finds what ended the run: the cause, not that others were then woken. */
static int find_cause(const struct train_ranks *ranks, uint32_t count, struct error *error)
{
    int rv = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct train_rank *r = &ranks->ranks[i];
        bool woken = r->code == TR_ECANCELED || r->code == TR_ECLOSED;
        if (r->code == 0 || (rv != 0 && woken))
            continue;
        if (rv == 0 || rv == TR_ECANCELED || rv == TR_ECLOSED) {
            rv = r->code;
            *error = r->error;
        }
    }
    return rv;
}

/* Trains on a thread for each trainer, which all wait for each other. */
static int run_all(struct train_ranks *ranks, struct error *error)
{
    uint32_t started = 0;
    int rv = 0;
    while (started < ranks->count && rv == 0) {
        struct train_rank *r = &ranks->ranks[started];
        atomic_store(&r->ended, false);
        rv = thread_create(&r->thread, "tr-trainer", run_thread, r);
        started += rv == 0;
    }
    /* The flag is set before the wait: the trainers that run would wait for the missing one for
     * ever. */
    if (rv != 0)
        atomic_store(&ranks->failed, true);
    wait_for(ranks, started);
    if (rv != 0)
        return error_set(error, TR_ENOMEM, "no thread for trainer %u", ranks->first + started);
    return find_cause(ranks, ranks->count, error);
}

int train_ranks_run(struct train_ranks *ranks, struct trainer_result *result, struct error *error)
{
    /* A step that does not end is not waited for, behind which a checkpoint would be. */
    ranks->watchdog.cancel = ranks->leave != NULL ? ranks->leave : ranks->cancel;
    ranks->watchdog.watched = ranks->watched;
    ranks->watchdog.count = ranks->count;
    /* The watchdog runs from before the first trainer to behind the last: it looks at their
     * places. */
    int rv = watchdog_start(&ranks->watchdog, error);
    if (rv != 0)
        return rv;
    if (ranks->grouped) {
        rv = run_all(ranks, error);
    } else {
        rank_train(&ranks->ranks[0]);
        rv = find_cause(ranks, ranks->count, error);
    }
    watchdog_stop(&ranks->watchdog);
    *result = ranks->ranks[0].result;
    return rv;
}

void train_ranks_close(struct train_ranks *ranks)
{
    for (uint32_t i = 0; i < ranks->count && ranks->ranks != NULL; i++) {
        struct train_rank *r = &ranks->ranks[i];
        tr_group_close(r->group);
        run_job_split_close(&r->split);
        /* The model goes before the threads that it computes on. */
        if (r->parallel != NULL) {
            model_destroy(r->model);
            crew_parallel_destroy(r->parallel);
        }
    }
    if (ranks->ranks != NULL) /* it was opened */
        pthread_mutex_destroy(&ranks->refusing);
    free(ranks->ranks);
    free(ranks->watched);
    ranks->ranks = NULL;
    ranks->watched = NULL;
}
