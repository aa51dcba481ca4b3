/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks that the trainers of a process give each trainer's run, with the run and the group put
 * on by this test: what each answer of the group means, what rank 0 does for all, and whose failure
 * is that of the process.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <troupe/graph.h>
#include <troupe/group.h>

#include "model/train_ranks.h"

#define WORLD 3u
#define LOOK_NS UINT64_C(20000000)
#define DIGITS 8u /* a hash is summed as so many floats */

/* The questions to the group, the graph and the clock, and their answers. */
static struct {
    int code;         /* of each call of the group */
    int end;          /* of tr_graph_wait_end() */
    int codes[WORLD]; /* of the runs */
    uint32_t completes, dones, barriers, restores, reduces, saves, skips;
    atomic_uint sleeps;    /* of the watchdog's thread too */
    uint32_t cancel_after; /* sleeps; 0: never */
    int64_t timeout_ns;    /* of the last call */
    int skip_code;
    uint64_t step;
    char barrier[32];
    uint32_t other; /* the rank whose digit `digit` differs; 0: none */
    uint32_t digit;
    uint32_t other_reduce; /* in this of the sums, from 1 */
    size_t count;          /* of the last sums */
    float number;          /* of the last sum of one number */
    uint32_t fail_reduce;  /* this of the sums times out, from 1; 0: none */
    bool cancelled;
    struct trainer_hooks hooks[WORLD];
    struct trainer_plan plans[WORLD];
} play;

static const struct tr_checkpoint saved = {
    .size = sizeof saved, .step = 12, .bytes = "bytes", .count = 5
};

/* The linker's --wrap leads here. */
int __wrap_trainer_run(struct model *model, struct batch_source *source,
                       const struct trainer_plan *plan, const struct trainer_hooks *hooks,
                       struct trainer_result *result, struct error *error);
int __wrap_run_job_split_train(struct run_job *job, const char *deal, uint32_t rank, uint32_t world,
                               struct run_job_split *split, struct error *error);
void __wrap_run_job_split_close(struct run_job_split *split);
int __wrap_run_job_replica(const struct run_job *job, struct parallel **parallel,
                           struct model **model, struct error *error);
int __wrap_tr_group_open(struct tr_graph *graph, uint32_t rank, struct tr_group **out,
                         struct tr_error *error);
void __wrap_tr_group_close(struct tr_group *group);
void __wrap_tr_group_shut(struct tr_group *group);
int __wrap_tr_group_reduce(struct tr_group *group, float *values, size_t count, int64_t timeout_ns,
                           struct tr_error *error);
int __wrap_tr_group_barrier(struct tr_group *group, const char *name, int64_t timeout_ns,
                            struct tr_error *error);
int __wrap_tr_group_save(struct tr_group *group, uint64_t step, const void *bytes, size_t count,
                         int64_t timeout_ns, struct tr_error *error);
int __wrap_tr_group_skip_save(struct tr_group *group, uint64_t step, int code, int64_t timeout_ns,
                              struct tr_error *error);
int __wrap_tr_group_restore(struct tr_group *group, int64_t timeout_ns,
                            struct tr_checkpoint *checkpoint, struct tr_error *error);
int __wrap_tr_group_done(struct tr_group *group, int64_t timeout_ns, struct tr_error *error);
int __wrap_tr_group_complete(struct tr_group *group, int64_t timeout_ns, struct tr_error *error);
int __wrap_tr_graph_wait_end(struct tr_graph *graph, int64_t timeout_ns, struct tr_error *error);
uint64_t __wrap_tr_nodes_deal_hash(const struct tr_nodes *nodes);
const char *__wrap_model_kernels_text(const struct model *model);
int __wrap_run_folder_sync(struct run_folder *folder, struct error *error);
uint64_t __wrap_run_folder_mark(struct run_folder *folder);
int __wrap_nanosleep(const struct timespec *wanted, struct timespec *left);
int __real_nanosleep(const struct timespec *wanted, struct timespec *left);

/* A group is the number of its rank, and one. */
static uint32_t rank_of(const struct tr_group *group)
{
    return (uint32_t)(uintptr_t)group - 1;
}

static int group_says(struct tr_error *error, int64_t timeout_ns)
{
    play.timeout_ns = timeout_ns;
    if (play.code != 0)
        snprintf(error->message, sizeof error->message, "the group says %d", play.code);
    return play.code;
}

int __wrap_trainer_run(struct model *model, struct batch_source *source,
                       const struct trainer_plan *plan, const struct trainer_hooks *hooks,
                       struct trainer_result *result, struct error *error)
{
    (void)model, (void)source;
    play.hooks[plan->rank] = *hooks;
    play.plans[plan->rank] = *plan;
    result->epochs_run = 40 + plan->rank;
    if (play.codes[plan->rank] != 0)
        error_set(error, play.codes[plan->rank], "of rank %" PRIu32, plan->rank);
    return play.codes[plan->rank];
}

int __wrap_run_job_split_train(struct run_job *job, const char *deal, uint32_t rank, uint32_t world,
                               struct run_job_split *split, struct error *error)
{
    (void)job, (void)deal, (void)rank, (void)split, (void)error;
    assert_int_equal(world, WORLD);
    return 0;
}

void __wrap_run_job_split_close(struct run_job_split *split)
{
    (void)split;
}

int __wrap_run_job_replica(const struct run_job *job, struct parallel **parallel,
                           struct model **model, struct error *error)
{
    (void)job, (void)error;
    *parallel = NULL;
    *model = NULL;
    return 0;
}

int __wrap_tr_group_open(struct tr_graph *graph, uint32_t rank, struct tr_group **out,
                         struct tr_error *error)
{
    (void)graph, (void)error;
    *out = (struct tr_group *)(uintptr_t)(rank + 1);
    return 0;
}

void __wrap_tr_group_close(struct tr_group *group)
{
    (void)group;
}

void __wrap_tr_group_shut(struct tr_group *group)
{
    (void)group;
}

/* The others have the same numbers as this rank; the one that differs has one more in a digit. */
int __wrap_tr_group_reduce(struct tr_group *group, float *values, size_t count, int64_t timeout_ns,
                           struct tr_error *error)
{
    uint32_t rank = rank_of(group);
    play.reduces++;
    play.count = count;
    play.number = count == 1 ? *values : play.number;
    if (play.fail_reduce != 0 && play.fail_reduce == play.reduces)
        return TR_ETIMEDOUT;
    for (uint32_t r = 0; r < WORLD && count == WORLD * DIGITS; r++)
        for (uint32_t i = 0; i < DIGITS && r != rank; i++) {
            assert_true(values[r * DIGITS + i] == 0);
            values[r * DIGITS + i] = values[rank * DIGITS + i];
        }
    if (play.other != 0 && play.other_reduce == play.reduces)
        values[play.other * DIGITS + play.digit]++;
    return group_says(error, timeout_ns);
}

int __wrap_tr_group_barrier(struct tr_group *group, const char *name, int64_t timeout_ns,
                            struct tr_error *error)
{
    struct tr_error unwanted = TR_ERROR_INIT;
    (void)group;
    play.barriers++;
    snprintf(play.barrier, sizeof play.barrier, "%s", name);
    return group_says(error != NULL ? error : &unwanted, timeout_ns);
}

int __wrap_tr_group_save(struct tr_group *group, uint64_t step, const void *bytes, size_t count,
                         int64_t timeout_ns, struct tr_error *error)
{
    (void)group;
    play.saves++;
    play.step = step;
    play.count = count;
    assert_string_equal(bytes, "kept");
    return group_says(error, timeout_ns);
}

int __wrap_tr_group_skip_save(struct tr_group *group, uint64_t step, int code, int64_t timeout_ns,
                              struct tr_error *error)
{
    (void)group;
    play.skips++;
    play.step = step;
    play.skip_code = code;
    return group_says(error, timeout_ns);
}

int __wrap_tr_group_restore(struct tr_group *group, int64_t timeout_ns,
                            struct tr_checkpoint *checkpoint, struct tr_error *error)
{
    (void)group;
    play.restores++;
    if (play.code == 0)
        *checkpoint = saved;
    return group_says(error, timeout_ns);
}

int __wrap_tr_group_done(struct tr_group *group, int64_t timeout_ns, struct tr_error *error)
{
    (void)group;
    play.dones++;
    return group_says(error, timeout_ns);
}

int __wrap_tr_group_complete(struct tr_group *group, int64_t timeout_ns, struct tr_error *error)
{
    (void)group;
    play.completes++;
    return group_says(error, timeout_ns);
}

int __wrap_tr_graph_wait_end(struct tr_graph *graph, int64_t timeout_ns, struct tr_error *error)
{
    (void)graph, (void)error;
    assert_int_equal(timeout_ns, 0);
    return play.end;
}

uint64_t __wrap_tr_nodes_deal_hash(const struct tr_nodes *nodes)
{
    (void)nodes;
    return 77;
}

const char *__wrap_model_kernels_text(const struct model *model)
{
    (void)model;
    return "plain";
}

/* The folder is a number: the code of a sync. */
int __wrap_run_folder_sync(struct run_folder *folder, struct error *error)
{
    int code = -(int)(intptr_t)folder;
    return code == 0 ? 0 : error_set(error, code, "the folder says %d", code);
}

uint64_t __wrap_run_folder_mark(struct run_folder *folder)
{
    (void)folder;
    return 99;
}

int __wrap_nanosleep(const struct timespec *wanted, struct timespec *left)
{
    play.sleeps++;
    if (play.cancel_after != 0 && play.sleeps >= play.cancel_after)
        play.cancelled = true;
    return __real_nanosleep(&(struct timespec){ .tv_nsec = wanted->tv_nsec / 1000 }, left);
}

/* The hooks of the process, which are rank 0's. */
static struct {
    uint64_t rewound, saved, refused;
    int code;
    bool orphaned;
} own;

static int own_rewind(void *arg, uint64_t mark, struct error *error)
{
    assert_ptr_equal(arg, &own);
    own.rewound = mark;
    return own.code == 0 ? 0 : error_set(error, own.code, "it is not rewound");
}

static int own_evaluate(void *arg, struct model *model, struct scores *scores, struct error *error)
{
    (void)model, (void)scores, (void)error;
    assert_ptr_equal(arg, &own);
    return 31;
}

static int own_epoch(void *arg, const struct epoch_report *report, struct error *error)
{
    (void)report, (void)error;
    assert_ptr_equal(arg, &own);
    return 32;
}

static int own_best(void *arg, struct model *model, const float *weights, struct error *error)
{
    (void)model, (void)weights, (void)error;
    assert_ptr_equal(arg, &own);
    return 33;
}

static int own_keep(void *arg, struct error *error)
{
    (void)error;
    assert_ptr_equal(arg, &own);
    return 34;
}

static int own_test(void *arg, struct error *error)
{
    (void)error;
    assert_ptr_equal(arg, &own);
    return 36;
}

static int own_kept(void *arg, const struct trainer_result *result, struct error *error)
{
    (void)result, (void)error;
    assert_ptr_equal(arg, &own);
    return 37;
}

static uint64_t own_now(void *arg)
{
    assert_ptr_equal(arg, &own);
    return 35;
}

static void own_step(void *arg, uint32_t epoch, uint64_t step, double loss)
{
    (void)loss;
    assert_ptr_equal(arg, &own);
    play.step = epoch * 1000 + step;
}

static void own_refused(void *arg, enum training_operation operation, uint64_t left_ns,
                        bool given_up, struct error *error)
{
    (void)error;
    assert_ptr_equal(arg, &own);
    own.refused = (uint64_t)operation + left_ns + given_up;
}

static void own_saved(void *arg, uint64_t steps)
{
    assert_ptr_equal(arg, &own);
    own.saved = steps;
}

static bool is_cancelled(void *arg)
{
    (void)arg;
    return play.cancelled;
}

static const struct cancel cancel = { .asked = is_cancelled };

/* Ranks of a process, whose runs have ended; their hooks are the test's to call. */
struct fixture {
    struct run_config config;
    struct run_job job;
    struct trainer_hooks hooks;
    struct train_ranks ranks;
    struct trainer_result result;
    struct error error;
};

static int run_ranks(struct fixture *f, uint32_t first, uint32_t count, bool evaluates)
{
    f->config = (struct run_config){ .model = { .epochs = 6 }, .patience = 4, .evaluate_every = 2 };
    f->job.config = &f->config;
    f->hooks = (struct trainer_hooks){ .arg = &own,
                                       .rewind = own_rewind,
                                       .evaluate = evaluates ? own_evaluate : NULL,
                                       .epoch_done = own_epoch,
                                       .keep_best = own_best,
                                       .keep = own_keep,
                                       .test = evaluates ? own_test : NULL,
                                       .kept = own_kept,
                                       .now_ns = own_now,
                                       .step_done = own_step,
                                       .refused = own_refused };
    f->ranks.job = &f->job;
    f->ranks.first = first;
    f->ranks.count = count;
    f->ranks.deal = "affinity";
    f->ranks.world = f->ranks.world != 0 ? f->ranks.world : WORLD;
    f->ranks.grouped = true;
    f->ranks.hooks = &f->hooks;
    f->ranks.saved = own_saved;
    f->ranks.cancel = &cancel;
    if (train_ranks_open(&f->ranks, &f->error) != 0)
        fail_msg("%s", f->error.text);
    assert_int_equal(f->ranks.deal_hash, 77);
    int rv = train_ranks_run(&f->ranks, &f->result, &f->error);
    play.sleeps = 0;
    return rv;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    memset(&play, 0, sizeof play);
    memset(&own, 0, sizeof own);
    play.end = TR_ETIMEDOUT;
    *state = f;
    return f == NULL;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    train_ranks_close(&f->ranks);
    free(f);
    return 0;
}

static void each_rank_has_the_hooks_that_are_its_business(void **state)
{
    struct fixture *f = *state;
    f->ranks.save_every = 5;
    f->ranks.finishes = true;
    f->ranks.patience_ns = 8;
    f->ranks.run_hash = 9;
    assert_int_equal(run_ranks(f, 0, WORLD, true), 0);
    assert_int_equal(f->result.epochs_run, 40); /* of the first rank here */
    for (uint32_t r = 0; r < WORLD; r++) {
        const struct trainer_hooks *hooks = &play.hooks[r];
        const struct trainer_plan *plan = &play.plans[r];
        struct error error = { 0 };
        assert_true(hooks->restore != NULL && hooks->meet != NULL && hooks->finish != NULL);
        assert_true(hooks->reduce != NULL && hooks->save != NULL && hooks->rewind != NULL);
        assert_true(hooks->cancelled != NULL && hooks->wait != NULL);
        assert_int_equal(hooks->evaluate(hooks->arg, NULL, NULL, &error), 31);
        assert_int_equal(hooks->now_ns(hooks->arg), 35);
        assert_int_equal(hooks->mark(hooks->arg), r == 0 ? 99 : 0);
        hooks->refused(hooks->arg, TRAINING_SAVE, 50 * r, true, &error);
        assert_int_equal(own.refused, (uint64_t)TRAINING_SAVE + 50 * r + 1);
        if (r == 0) {
            hooks->step_done(hooks->arg, 3, 7, 0.5);
            assert_int_equal(play.step, 3007);
            assert_int_equal(hooks->epoch_done(hooks->arg, NULL, &error), 32);
            assert_int_equal(hooks->keep_best(hooks->arg, NULL, NULL, &error), 33);
            assert_int_equal(hooks->keep(hooks->arg, &error), 34);
            assert_int_equal(hooks->test(hooks->arg, &error), 36);
            assert_int_equal(hooks->kept(hooks->arg, NULL, &error), 37);
        } else {
            assert_true(hooks->step_done == NULL && hooks->epoch_done == NULL);
            assert_true(hooks->keep_best == NULL && hooks->keep == NULL);
            assert_true(hooks->test == NULL && hooks->kept == NULL);
        }
        assert_int_equal(plan->epochs, 6);
        assert_int_equal(plan->patience, 4);
        assert_int_equal(plan->evaluate_every, 2);
        assert_int_equal(plan->rank, r);
        assert_int_equal(plan->world, WORLD);
        assert_int_equal(plan->save_every, 5);
        assert_int_equal(plan->patience_ns, 8);
        assert_int_equal(plan->job, 9);
        assert_true(plan->grouped);
    }
}

/* Progress is that of the first trainer of a process, whichever it is. */
static void what_is_not_wanted_is_not_there(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(run_ranks(f, 1, 2, false), 0);
    assert_int_equal(f->result.epochs_run, 41);
    for (uint32_t r = 1; r < WORLD; r++) {
        const struct trainer_hooks *hooks = &play.hooks[r];
        assert_true(hooks->evaluate == NULL && hooks->save == NULL && hooks->mark == NULL);
        assert_true(hooks->finish == NULL && hooks->keep == NULL);
        assert_int_equal(hooks->step_done != NULL, r == 1);
    }
}

/* Rank 0 has written the result; the others have nothing more to do. A rollback and a time that is
 * over are the run's to judge; other failures are none where the job has ended meanwhile, or where
 * the run was cancelled. */
static void each_answer_to_the_end_means_something(void **state)
{
    static const struct {
        int code, end;
        bool cancelled;
        int wanted;
    } cases[] = {
        { 0, TR_ETIMEDOUT, false, 0 },
        { TR_ETIMEDOUT, 0, true, TR_ETIMEDOUT },
        { TR_EROLLBACK, 0, true, TR_EROLLBACK },
        { TR_EROLLBACK, TR_ETIMEDOUT, false, TR_EROLLBACK },
        { TR_EPEERDOWN, 0, false, 0 },
        { TR_EPEERDOWN, TR_ETIMEDOUT, true, 0 },
        { TR_EPEERDOWN, TR_ETIMEDOUT, false, TR_EPEERDOWN },
        { TR_ECANCELED, TR_ETIMEDOUT, false, TR_ECANCELED },
    };
    struct fixture *f = *state;
    f->ranks.finishes = true;
    assert_int_equal(run_ranks(f, 0, 2, true), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t r = 0; r < 2; r++) {
            struct error error = { 0 };
            char text[64];
            play.code = cases[i].code;
            play.end = cases[i].end;
            play.cancelled = cases[i].cancelled;
            play.completes = play.dones = 0;
            int rv = play.hooks[r].finish(play.hooks[r].arg, &error);
            assert_int_equal(rv, cases[i].wanted);
            assert_int_equal(play.completes, r == 0);
            assert_int_equal(play.dones, r != 0);
            assert_int_equal(play.timeout_ns, TR_WAIT_FOREVER);
            snprintf(text, sizeof text, "the group says %d", cases[i].code);
            if (rv == TR_EPEERDOWN || rv == TR_ECANCELED)
                assert_string_equal(error.text, text);
        }
}

static void a_rank_meets_restores_and_reduces_with_its_group(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(run_ranks(f, 0, 1, true), 0);
    const struct trainer_hooks *hooks = &play.hooks[0];
    const int codes[] = { 0, TR_EROLLBACK };
    for (size_t i = 0; i < 2; i++) {
        struct error errors[3] = { { 0 } };
        const void *bytes = "none";
        size_t count = 9;
        float value = 4;
        play.code = codes[i];
        assert_int_equal(hooks->restore(hooks->arg, &bytes, &count, &errors[0]), codes[i]);
        assert_int_equal(hooks->meet(hooks->arg, &errors[1]), codes[i]);
        assert_int_equal(hooks->reduce(hooks->arg, &value, 1, &errors[2]), codes[i]);
        assert_string_equal(play.barrier, "trained");
        assert_int_equal(play.timeout_ns, TR_WAIT_FOREVER);
        assert_int_equal(play.count, 1);
        assert_ptr_equal(bytes, i == 0 ? saved.bytes : NULL);
        assert_int_equal(count, i == 0 ? 5 : 0);
        for (int e = 0; e < 3; e++) {
            assert_int_equal(errors[e].code, codes[i]);
            assert_int_equal(errors[e].text[0] == '\0', i == 0);
        }
    }
    assert_int_equal(play.restores + play.barriers + play.reduces, 6);
}

/* A folder that cannot be synced: the rank has no part, says so, and the run gets the folder's
 * failure; a group that fails gives its own. */
static void a_checkpoint_waits_for_the_folder(void **state)
{
    static const struct {
        uint32_t rank;
        int sync, code, wanted; /* code: of the group */
        bool skips;
        uint64_t saved;
    } cases[] = {
        { 0, 0, 0, 0, false, 17 },
        { 1, 0, 0, 0, false, 0 },
        { 1, TR_EIO, 0, 0, false, 0 }, /* rank 0's folder is no business of this one */
        { 0, 0, TR_EROLLBACK, TR_EROLLBACK, false, 0 },
        { 0, TR_EIO, TR_EIO, TR_EIO, true, 0 },
        { 0, TR_EIO, TR_EROLLBACK, TR_EROLLBACK, true, 0 },
    };
    struct fixture *f = *state;
    f->ranks.save_every = 5;
    assert_int_equal(run_ranks(f, 0, 2, true), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct trainer_hooks *hooks = &play.hooks[cases[i].rank];
        struct error error = { 0 };
        char text[64];
        f->ranks.folder = (struct run_folder *)(uintptr_t)-cases[i].sync;
        play.code = cases[i].code;
        play.saves = play.skips = 0;
        own.saved = 0;
        assert_int_equal(hooks->save(hooks->arg, 17, "kept", 4, &error), cases[i].wanted);
        assert_int_equal(play.saves, !cases[i].skips);
        assert_int_equal(play.skips, cases[i].skips);
        assert_int_equal(play.step, 17);
        if (cases[i].skips)
            assert_int_equal(play.skip_code, cases[i].sync);
        assert_int_equal(own.saved, cases[i].saved);
        assert_int_equal(error.code, cases[i].wanted);
        snprintf(text, sizeof text, "the %s says %d", i == 4 ? "folder" : "group", cases[i].wanted);
        if (cases[i].wanted != 0)
            assert_string_equal(error.text, text);
    }
}

/* As every rewind follows a restore. */
static int rewind_restored(uint32_t rank, uint64_t mark, struct error *error)
{
    const struct trainer_hooks *hooks = &play.hooks[rank];
    const void *bytes;
    size_t count;
    const int code = play.code;
    play.code = 0;
    assert_int_equal(hooks->restore(hooks->arg, &bytes, &count, error), 0);
    play.code = code;
    return hooks->rewind(hooks->arg, mark, error);
}

/* All trainers compare what their checkpoints belong to before they go on, and their kernels where
 * the job is to be the same on any placement. */
static void trainers_of_another_job_are_told_apart(void **state)
{
    struct fixture *f = *state;
    f->ranks.job_hash = UINT64_C(0x0123456789abcdef);
    f->ranks.reproducible = true;
    assert_int_equal(run_ranks(f, 0, 2, true), 0);
    for (uint32_t r = 0; r < 2; r++) {
        struct error error = { 0 };
        play.reduces = play.barriers = 0;
        own.rewound = 0;
        assert_int_equal(rewind_restored(r, 55, &error), 0);
        assert_int_equal(own.rewound, r == 0 ? 55 : 0);
        assert_int_equal(play.reduces, 2);
        assert_int_equal(play.count, WORLD * DIGITS);
        assert_int_equal(play.barriers, 0);
    }
    for (uint32_t sum = 1; sum <= 2; sum++)
        for (uint32_t other = 1; other < WORLD; other++)
            for (uint32_t digit = 0; digit < DIGITS; digit++) {
                struct error error = { 0 };
                char text[300];
                play.reduces = play.barriers = 0;
                play.other = other;
                play.digit = digit;
                play.other_reduce = sum;
                snprintf(text, sizeof text,
                         sum == 1
                             ? "trainer %u has other options, another deal or another graph than "
                               "trainer 0; start all trainers with the same"
                             : "trainer %u computes with other kernels than trainer 0 ('plain' "
                               "here): their results differ; leave options.reproducible out to "
                               "train all the same",
                         other);
                assert_int_equal(rewind_restored(0, 55, &error), TR_EMISMATCH);
                assert_string_equal(error.text, text);
                assert_int_equal(play.reduces, sum);
                assert_int_equal(play.barriers, 1);
                assert_string_equal(play.barrier, "differ");
                assert_in_range(play.timeout_ns, 1, 60 * INT64_C(1000000000));
            }
    /* Where the folder does not go back, or the sums fail, nothing is compared. */
    struct error error = { 0 };
    play.other = play.reduces = play.barriers = 0;
    own.code = TR_EIO;
    assert_int_equal(rewind_restored(0, 55, &error), TR_EIO);
    assert_int_equal(play.reduces, 0);
    own.code = 0;
    play.code = TR_EROLLBACK;
    assert_int_equal(rewind_restored(0, 55, &error), TR_EROLLBACK);
    assert_int_equal(play.reduces, 1);
    assert_int_equal(play.barriers, 0);
    /* Kernels are compared where that was asked for, and nothing where a trainer is alone. */
    play.code = 0;
    f->ranks.reproducible = false;
    assert_int_equal(rewind_restored(0, 55, &error), 0);
    assert_int_equal(play.reduces, 2);
    f->ranks.world = 1;
    f->ranks.reproducible = true;
    assert_int_equal(rewind_restored(0, 56, &error), 0);
    assert_int_equal(own.rewound, 56);
    assert_int_equal(play.reduces, 2);
}

/* Of several processes all ranks hear first which shape rank 0 trains, and each sum is made once in an
 * era: the others make it once. */
static void the_shape_is_announced_before_all_other_sums(void **state)
{
    struct fixture *f = *state;
    f->ranks.reproducible = f->ranks.finishes = true;
    assert_int_equal(run_ranks(f, 0, 2, true), 0);
    f->config.tried = (struct run_tried){ .any = true, .chosen = RUN_SHAPE_GCN };
    for (uint32_t r = 0; r < 2; r++) {
        struct error error = { 0 };
        play.reduces = 0;
        play.code = TR_ETIMEDOUT;
        assert_int_equal(rewind_restored(r, 55, &error), TR_ETIMEDOUT);
        assert_int_equal(play.reduces, 1);
        assert_int_equal(play.count, 1);
        assert_true(play.number == (r == 0 ? 3 : 0));
        play.code = 0;
        play.fail_reduce = 3;
        assert_int_equal(play.hooks[r].rewind(play.hooks[r].arg, 55, &error), TR_ETIMEDOUT);
        assert_int_equal(play.reduces, 3); /* the shape; and the jobs, in vain */
        play.fail_reduce = 0;
        assert_int_equal(play.hooks[r].rewind(play.hooks[r].arg, 55, &error), 0);
        assert_int_equal(play.reduces, 5); /* the jobs, and the kernels */
        assert_int_equal(play.hooks[r].rewind(play.hooks[r].arg, 55, &error), 0);
        assert_int_equal(play.reduces, 5);
        assert_int_equal(rewind_restored(r, 55, &error), 0);
        assert_int_equal(play.reduces, 8);
    }
}

/* A rank that entered the group to hear of the shape begins with what it was given there. */
static void a_rank_that_entered_early_trains_in_that_era(void **state)
{
    struct fixture *f = *state;
    char part[] = "part";
    struct shape_entry entries[] = {
        { .group = (struct tr_group *)(uintptr_t)2, .entered = true, .bytes = part, .count = 4 },
        { .group = (struct tr_group *)(uintptr_t)3 }
    };
    f->ranks.finishes = true;
    f->ranks.entries = entries;
    assert_int_equal(run_ranks(f, 1, 2, true), 0);
    for (uint32_t r = 1; r < WORLD; r++) {
        const struct trainer_hooks *hooks = &play.hooks[r];
        struct error error = { 0 };
        const void *bytes;
        size_t count;
        assert_null(entries[r - 1].group);
        play.restores = play.reduces = 0;
        assert_int_equal(hooks->restore(hooks->arg, &bytes, &count, &error), 0);
        assert_int_equal(play.restores, r == 1 ? 0 : 1);
        assert_string_equal(bytes, r == 1 ? "part" : "bytes");
        assert_int_equal(count, r == 1 ? 4 : 5);
        assert_int_equal(hooks->rewind(hooks->arg, 0, &error), 0);
        assert_int_equal(play.reduces, r == 1 ? 1 : 2);
        assert_int_equal(hooks->restore(hooks->arg, &bytes, &count, &error), 0);
        assert_string_equal(bytes, "bytes");
        assert_int_equal(hooks->rewind(hooks->arg, 0, &error), 0);
        assert_int_equal(play.reduces, r == 1 ? 3 : 4);
    }
}

/* In looks of 20 ms, between which it may be cancelled. */
static void waiting_takes_its_time_or_is_cancelled(void **state)
{
    static const struct {
        uint64_t ns;
        uint32_t cancel_after;
        bool cancelled;
        uint32_t sleeps;
    } cases[] = {
        { 0, 0, false, 0 },           { 1, 0, false, 1 },           { LOOK_NS, 0, false, 1 },
        { LOOK_NS + 1, 0, false, 2 }, { 3 * LOOK_NS, 0, false, 3 }, { 3 * LOOK_NS, 2, false, 2 },
        { 3 * LOOK_NS, 0, true, 0 },
    };
    struct fixture *f = *state;
    assert_int_equal(run_ranks(f, 0, 1, true), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        play.cancelled = cases[i].cancelled;
        play.cancel_after = cases[i].cancel_after;
        play.sleeps = 0;
        bool waited = play.hooks[0].wait(play.hooks[0].arg, cases[i].ns);
        assert_int_equal(play.sleeps, cases[i].sleeps);
        assert_int_equal(waited, !cases[i].cancelled && cases[i].cancel_after == 0);
        assert_int_equal(play.hooks[0].cancelled(play.hooks[0].arg), !waited);
    }
}

static bool is_wanted(void *arg)
{
    return *(bool *)arg;
}

static bool own_orphaned(void *arg)
{
    assert_ptr_equal(arg, &own);
    return own.orphaned;
}

/* Each says for itself whether it is to leave; the sums of the step bring all to it. */
static void all_may_be_asked_to_leave(void **state)
{
    struct fixture *f = *state;
    bool wanted = false;
    const struct cancel leave = { .asked = is_wanted, .arg = &wanted };
    f->ranks.leave = &leave;
    assert_int_equal(run_ranks(f, 0, WORLD, true), 0);
    assert_non_null(play.hooks[1].save); /* though no steps were named for it */
    for (uint32_t r = 0; r < WORLD; r++)
        assert_int_equal(play.hooks[r].wish(play.hooks[r].arg), TRAINING_GOES_ON);
    wanted = true;
    for (uint32_t r = 0; r < WORLD; r++)
        assert_int_equal(play.hooks[r].wish(play.hooks[r].arg), TRAINING_ASKED);
    f->ranks.orphaned = own_orphaned;
    for (uint32_t orphaned = 0; orphaned < 2; orphaned++) {
        own.orphaned = orphaned != 0;
        for (uint32_t r = 0; r < WORLD; r++)
            assert_int_equal(play.hooks[r].wish(play.hooks[r].arg),
                             orphaned != 0 ? TRAINING_ORPHANED : TRAINING_ASKED);
    }
    wanted = false; /* what its process has lost is no wish of its own */
    assert_int_equal(play.hooks[0].wish(play.hooks[0].arg), TRAINING_GOES_ON);
}

/* Trainers that were woken because another failed are not the cause. */
static void a_failure_is_that_of_its_cause(void **state)
{
    static const struct {
        int codes[WORLD];
        bool finishes;
        int end, wanted;
        uint32_t rank; /* whose text is given */
    } cases[] = {
        { { TR_EIO, TR_ECANCELED, 0 }, false, TR_ETIMEDOUT, TR_EIO, 0 },
        { { TR_ECANCELED, TR_EIO, TR_ECLOSED }, false, TR_ETIMEDOUT, TR_EIO, 1 },
        { { TR_ECLOSED, TR_ECANCELED, TR_ENOSPC }, false, TR_ETIMEDOUT, TR_ENOSPC, 2 },
        { { 0, TR_ECLOSED, TR_ECANCELED }, false, TR_ETIMEDOUT, TR_ECLOSED, 1 },
        { { 0, TR_EIO, TR_ENOSPC }, false, TR_ETIMEDOUT, TR_EIO, 1 },
        { { 0, TR_ECLOSED, 0 }, true, TR_ETIMEDOUT, TR_ECLOSED, 1 },
        { { 0, TR_ECLOSED, 0 }, false, 0, TR_ECLOSED, 1 },
        { { 0, TR_ECLOSED, 0 }, true, 0, 0, 0 }, /* rank 0 has ended the job without it */
        { { 0, TR_EIO, 0 }, true, 0, TR_EIO, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *f = *state;
        char text[32];
        memset(f, 0, sizeof *f);
        memcpy(play.codes, cases[i].codes, sizeof play.codes);
        play.end = cases[i].end;
        f->ranks.finishes = cases[i].finishes;
        int rv = run_ranks(f, 0, WORLD, false);
        if (rv != cases[i].wanted)
            fail_msg("case %zu: %s", i, tr_error_name(rv));
        snprintf(text, sizeof text, "of rank %" PRIu32, cases[i].rank);
        if (rv != 0)
            assert_string_equal(f->error.text, text);
        /* One failure ends them all. */
        assert_int_equal(play.hooks[0].cancelled(play.hooks[0].arg), rv != 0);
        train_ranks_close(&f->ranks);
    }
}

int main(void)
{
#define RANKS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        RANKS(each_rank_has_the_hooks_that_are_its_business),
        RANKS(what_is_not_wanted_is_not_there),
        RANKS(each_answer_to_the_end_means_something),
        RANKS(a_rank_meets_restores_and_reduces_with_its_group),
        RANKS(a_checkpoint_waits_for_the_folder),
        RANKS(trainers_of_another_job_are_told_apart),
        RANKS(the_shape_is_announced_before_all_other_sums),
        RANKS(a_rank_that_entered_early_trains_in_that_era),
        RANKS(waiting_takes_its_time_or_is_cancelled),
        RANKS(all_may_be_asked_to_leave),
        RANKS(a_failure_is_that_of_its_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
