/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group under deaths: trainers that reduce, wait at barriers and save, while reducers and the
 * coordinator are killed. Whatever happens, every sum is that of the ranks in their order, bit for
 * bit, all ranks end with what an undisturbed run ends with, and nothing of an era that is over
 * is mixed into the next.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/error_reply.h"
#include "actors/common/process_member.h"
#include "actors/job/checkpoint.h"
#include "actors/job/coordinator.h"
#include "actors/job/reducer.h"
#include "runtime/base/files.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/monitor.h"
#include "runtime/core/timer.h"
#include "schemas/messages.h"
#include "tests/actors/asker.h"
#include "tests/schemas/random.h"
#include "tests/scratch.h"

#define SEEDS 120
#define RANKS_MAX 5
#define STEPS 12
#define EVERY 3 /* steps between checkpoints */
#define MS UINT64_C(1000000)
#define VALUES_MAX 20000u

struct world;

enum stage { FIND, RESTORE, REDUCE, BARRIER, SAVE, FINISH, DONE };

/* The numbers that a trainer keeps from step to step; its part of a checkpoint. */
struct memory {
    uint64_t step;
    uint64_t digest; /* of all sums so far */
};

struct trainer {
    struct world *world;
    uint32_t rank;
    struct address reducer;
    struct timer timer;
    enum stage stage;
    struct memory memory;
};

struct world {
    struct asker asker;
    struct coordinator_options coordinator;
    struct reducer_options reducers[RANKS_MAX];
    struct trainer trainers[RANKS_MAX];
    struct address addresses[RANKS_MAX], coordinator_address, parent;
    uint64_t state;
    uint32_t world, kills, rollbacks, restored, failed_saves;
    uint32_t alloc_fail_ppm;
    bool finishes;        /* the job ends when all have said that they are done */
    bool forgoes;         /* a checkpoint that failed: goes on with the next step */
    bool spares_reducers; /* only the coordinator is killed */
    int saves[STEPS + 1]; /* forgoes: the first rank's answer, 1: nothing yet */
    uint32_t taken_back;  /* that they had said */
    struct timer timer;
    char folder[64];
    struct files files;
    uint64_t syncs;
    uint32_t sync_fails; /* one of so many; 0: none */
    uint32_t failures;   /* operations whose failure trainers heard of, but for rollbacks */
};

/* The next reducers to start refuse pieces of others before that; a test sets it. */
static uint64_t busy_until_ns;
static uint32_t refusals;

/* The values of a rank in a step: of all sizes, so that order matters to the last bit. */
static uint32_t count_of(uint64_t step)
{
    uint64_t state = step * 77 + 5;
    return step % 4 == 0 ? (uint32_t)random_below(&state, 3)
                         : 1 + (uint32_t)random_below(&state, VALUES_MAX);
}

static float value_of(uint64_t step, uint32_t rank, uint32_t i)
{
    uint64_t state = (step << 40) ^ ((uint64_t)rank << 32) ^ i;
    double scale = (double)(UINT64_C(1) << random_below(&state, 30));
    return (float)((double)(int64_t)(random_below(&state, 2001) - 1000) / 7.0 * scale);
}

static float sum_of(uint64_t step, uint32_t world, uint32_t i)
{
    float sum = value_of(step, 0, i);
    for (uint32_t rank = 1; rank < world; rank++)
        sum += value_of(step, rank, i);
    return sum;
}

static uint64_t digest(uint64_t seed, const float *sums, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &sums[i], sizeof bits);
        seed = (seed ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
        seed ^= seed >> 29;
    }
    return seed;
}

static void go_on(struct actor *self, void *arg);

static void later(struct actor *self, struct trainer *t, uint64_t most)
{
    timer_start(self, &t->timer, actor_now_ns(self) + 1 + random_below(&t->world->state, most),
                go_on, t);
}

static void check_sums(const struct trainer *t, const struct message *reply)
{
    uint32_t count = count_of(t->memory.step);
    const float *sums = message_body(reply);
    assert_int_equal(reply->frame.body_bytes, count * sizeof *sums);
    for (uint32_t i = 0; i < count; i++) {
        float wanted = sum_of(t->memory.step, t->world->world, i);
        assert_memory_equal(&sums[i], &wanted, sizeof wanted);
    }
}

static enum stage after_save(const struct trainer *t)
{
    return t->memory.step != STEPS ? REDUCE : t->world->finishes ? FINISH : DONE;
}

static void take(struct trainer *t, const struct message *reply)
{
    const struct msg_group_reply *head = (const void *)reply->head;
    struct memory before = t->memory;
    switch (t->stage) {
    case RESTORE:
        t->memory = (struct memory){ 0 };
        if (head->found != 0) {
            assert_int_equal(reply->frame.body_bytes, sizeof t->memory);
            memcpy(&t->memory, message_body(reply), sizeof t->memory);
            assert_int_equal(head->step, t->memory.step);
            /* At most what happened since the last save is lost. */
            t->world->restored += t->memory.step > 0;
        }
        assert_true(t->memory.step + EVERY >= before.step || t->world->sync_fails != 0);
        t->stage = after_save(t);
        break;
    case REDUCE:
        check_sums(t, reply);
        t->memory.digest = digest(t->memory.digest, message_body(reply), count_of(t->memory.step));
        t->memory.step++;
        t->stage = t->memory.step % EVERY == 0 ? SAVE : t->memory.step % 2 == 0 ? BARRIER : REDUCE;
        break;
    case SAVE:
        assert_int_equal(head->step, t->memory.step);
        t->stage = after_save(t);
        break;
    case FINISH:
        t->stage = DONE;
        break;
    default:
        t->stage = REDUCE;
    }
}

/* A checkpoint is there for all ranks or for none. */
static void check_save(const struct trainer *t, int status, uint64_t step)
{
    int *told = &t->world->saves[step];
    if (*told == 1)
        *told = status;
    assert_int_equal(*told, status);
}

static void fail_save(struct trainer *t)
{
    t->world->failed_saves++;
    if (t->world->forgoes)
        t->stage = after_save(t);
}

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct trainer *t = arg;
    uint64_t before = t->memory.step;
    bool saved = t->stage == SAVE;
    if (status == 0)
        status = error_reply_read(reply, NULL);
    if (status == 0)
        take(t, reply);
    if (saved && t->world->forgoes && (status == 0 || status == TR_EIO))
        check_save(t, status, before);
    t->world->failures += status != 0 && status != TR_EROLLBACK;
    t->world->rollbacks += status == TR_EROLLBACK;
    t->world->taken_back += status == TR_EROLLBACK && t->stage == FINISH;
    if (status == TR_EROLLBACK)
        t->stage = RESTORE;
    else if (status == TR_EPEERDOWN)
        t->stage = FIND;
    else if (status == TR_EIO)
        fail_save(t);
    else if (status != 0)
        assert_true(status == TR_EFULL || status == TR_ENOMEM || status == TR_ECANCELED);
    message_release(self, reply);
    if (t->stage != DONE && status != TR_ECANCELED)
        later(self, t, 3 * MS);
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct trainer *t = arg;
    t->reducer = address;
    t->stage = status == 0 ? RESTORE : FIND;
    if (status != TR_ECANCELED)
        later(self, t, MS);
}

static int ask(struct actor *self, struct trainer *t)
{
    static const uint32_t operations[] = { [RESTORE] = MSG_GROUP_RESTORE,
                                           [REDUCE] = MSG_GROUP_REDUCE,
                                           [BARRIER] = MSG_GROUP_BARRIER,
                                           [SAVE] = MSG_GROUP_SAVE,
                                           [FINISH] = MSG_GROUP_FINISH };
    struct message *request = message_create(self, MSG_GROUP_REQUEST);
    if (request == NULL)
        return TR_ENOMEM;
    struct msg_group_request *head = message_head(request);
    *head = (struct msg_group_request){ .operation = operations[t->stage],
                                        .value = t->stage == SAVE      ? t->memory.step
                                                 : t->stage == BARRIER ? 99
                                                                       : 0,
                                        .timeout_ns = 600 * ENV_SECOND_NS };
    size_t size = t->stage == SAVE ? sizeof t->memory : 0;
    if (t->stage == REDUCE)
        size = count_of(t->memory.step) * sizeof(float);
    head->count = t->stage == REDUCE ? size / sizeof(float) : size;
    void *body = size == 0 ? NULL : message_body_alloc(self, request, size);
    if (size != 0 && body == NULL) {
        message_release(self, request);
        return TR_ENOMEM;
    }
    if (t->stage == SAVE)
        memcpy(body, &t->memory, sizeof t->memory);
    for (uint32_t i = 0; t->stage == REDUCE && i < head->count; i++)
        ((float *)body)[i] = value_of(t->memory.step, t->rank, i);
    return actor_call(self, t->reducer, request, actor_now_ns(self) + 601 * ENV_SECOND_NS, answered,
                      t, NULL);
}

static void go_on(struct actor *self, void *arg)
{
    struct trainer *t = arg;
    char name[DIRECTORY_NAME_MAX];
    reducer_name(t->rank, name, sizeof name);
    int rv = t->stage == FIND
                 ? directory_wait(self, name, actor_now_ns(self) + 600 * ENV_SECOND_NS, found, t)
                 : ask(self, t);
    if (rv != 0)
        later(self, t, MS);
}

static int start_trainer(struct actor *self, const void *arg)
{
    struct trainer *t = (struct trainer *)(uintptr_t)arg;
    later(self, t, MS);
    return 0;
}

static int drop(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops trainer_ops = { .name = "trainer",
                                              .start = start_trainer,
                                              .receive = drop };

static void strike(struct actor *self, void *arg);

static void aim(struct actor *self, struct world *w)
{
    if (w->kills > 0)
        timer_start(self, &w->timer, actor_now_ns(self) + random_below(&w->state, 60 * MS), strike,
                    w);
}

static void killed(struct actor *self, void *arg, int status, struct address address)
{
    struct world *w = arg;
    if (status == 0)
        actor_kill(self, address, TR_ECHILD);
    aim(self, w);
}

static void strike(struct actor *self, void *arg)
{
    struct world *w = arg;
    char name[DIRECTORY_NAME_MAX] = COORDINATOR_NAME;
    uint32_t victim = w->spares_reducers ? w->world
                                         : (uint32_t)random_below(&w->state, w->world + 1);
    if (victim < w->world)
        reducer_name(victim, name, sizeof name);
    w->kills--;
    if (directory_lookup(self, name, killed, w) != 0)
        aim(self, w);
}

static int start_striker(struct actor *self, const void *arg)
{
    aim(self, (struct world *)(uintptr_t)arg);
    return 0;
}

static const struct actor_ops striker_ops = { .name = "striker",
                                              .start = start_striker,
                                              .receive = drop };

static int start_busy(struct actor *self, const void *arg)
{
    return reducer_ops.start(self, arg);
}

static int receive_busy(struct actor *self, struct message *message)
{
    struct error error = { 0 };
    if (message->frame.kind != MSG_REDUCE || actor_now_ns(self) >= busy_until_ns)
        return reducer_ops.receive(self, message);
    error_set(&error, refusals % 3 == 0 ? TR_ENOMEM : TR_EFULL, "the reducer is busy");
    if (refusals++ % 2 == 0)
        actor_refuse(self, message, error.code);
    else
        error_reply_send(self, message, &error);
    return 0;
}

static void fini_busy(struct actor *self)
{
    reducer_ops.fini(self);
}

static void stop_busy(struct actor *self)
{
    reducer_ops.stop(self);
}

static const struct actor_ops busy_ops = { .name = "busy",
                                           .start = start_busy,
                                           .receive = receive_busy,
                                           .stop = stop_busy,
                                           .fini = fini_busy };

/* Where they finish together, the first that hears of it says that all are done: one whose reducer
 * dies then hears nothing more, for the job is over. */
static bool all_done(void *arg)
{
    const struct world *w = arg;
    for (uint32_t rank = 0; rank < w->world && w->finishes; rank++)
        if (w->trainers[rank].stage == DONE)
            return w->kills == 0;
    for (uint32_t rank = 0; rank < w->world; rank++)
        if (w->trainers[rank].stage != DONE)
            return false;
    return w->kills == 0;
}

static int sync_maybe(struct files *self, int fd)
{
    struct world *w = (struct world *)((char *)self - offsetof(struct world, files));
    (void)fd;
    return w->sync_fails != 0 && ++w->syncs % w->sync_fails == 0 ? -EIO : 0;
}

static void spawn(struct world *w, const struct actor_ops *ops, const void *arg, bool again)
{
    struct actor_options options = {
        .ops = ops,
        .arg = arg,
        .loop = (uint32_t)random_below(&w->state, 2),
        .restart = again ? ACTOR_RESTART_ON_FAILURE : ACTOR_RESTART_NEVER,
    };
    struct address ignored;
    assert_int_equal(node_spawn(w->asker.node, &options, &ignored), 0);
}

static void open_world(struct world *w, uint64_t seed, uint32_t world, uint32_t kills)
{
    *w = (struct world){ .state = seed * 31 + 7, .kills = kills, .world = world };
    assert_non_null(scratch_folder(w->folder, sizeof w->folder, "reducer"));
    w->files = *files_posix;
    w->files.fsync = sync_maybe;
    w->files.syncfs = NULL;
    w->coordinator = (struct coordinator_options){ .files = &w->files };
    asker_open(&w->asker, seed, seed % 2 != 0);
    for (uint32_t rank = 0; rank < world; rank++) {
        w->reducers[rank] = (struct reducer_options){
            .rank = rank, .world = world, .files = &w->files, .checkpoints = w->folder
        };
        w->trainers[rank] = (struct trainer){ .world = w, .rank = rank };
    }
    spawn(w, &coordinator_ops, &w->coordinator, true);
    for (uint32_t rank = 0; rank < world; rank++)
        spawn(w, busy_until_ns != 0 ? &busy_ops : &reducer_ops, &w->reducers[rank], true);
    for (uint32_t rank = 0; rank < world; rank++)
        spawn(w, &trainer_ops, &w->trainers[rank], false);
    spawn(w, &striker_ops, w, false);
}

static void close_world(struct world *w)
{
    asker_close(&w->asker);
    assert_int_equal(files_remove_tree(files_posix, w->folder, NULL), 0);
}

static uint64_t digest_of_all(uint32_t world)
{
    uint64_t all = 0;
    float *sums = malloc(VALUES_MAX * sizeof *sums);
    assert_non_null(sums);
    for (uint64_t step = 0; step < STEPS; step++) {
        for (uint32_t i = 0; i < count_of(step); i++)
            sums[i] = sum_of(step, world, i);
        all = digest(all, sums, count_of(step));
    }
    free(sums);
    return all;
}

static void run(struct world *w)
{
    int rv = env_sim_run(w->asker.env, all_done, w, 3000 * ENV_SECOND_NS);
    env_sim_set_alloc_fail(w->asker.env, 0);
    if (rv != 0)
        for (uint32_t rank = 0; rank < w->world; rank++)
            print_message("# rank %u: stage %d, step %llu\n", rank, (int)w->trainers[rank].stage,
                          (unsigned long long)w->trainers[rank].memory.step);
    assert_int_equal(rv, 0);
    uint64_t wanted = digest_of_all(w->world);
    for (uint32_t rank = 0; rank < w->world; rank++)
        assert_true(w->trainers[rank].memory.digest == wanted);
}

static void sums_are_those_of_an_undisturbed_run(void **unused)
{
    (void)unused;
    uint32_t rollbacks = 0, restored = 0, failed_saves = 0, taken_back = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world w;
        bool short_of_memory = seed % 4 == 1;
        /* The node restarts five actors in its period: what runs out of memory needs some. */
        uint32_t kills = (uint32_t)seed % (short_of_memory ? 4 : 7);
        open_world(&w, seed, 1 + (uint32_t)seed % RANKS_MAX, seed % 3 == 0 ? 0 : kills);
        w.sync_fails = seed % 4 == 2 ? 37 : 0;
        w.finishes = seed % 5 != 0;
        w.coordinator.trainers = w.finishes ? w.world : 0;
        env_sim_set_alloc_fail(w.asker.env, short_of_memory ? 2000 : 0);
        run(&w);
        rollbacks += w.rollbacks;
        restored += w.restored;
        failed_saves += w.failed_saves;
        taken_back += w.taken_back;
        close_world(&w);
    }
    assert_true(rollbacks > SEEDS / 4); /* the faults were put to the test */
    assert_true(restored > SEEDS / 4);
    assert_true(failed_saves > 0);
    assert_true(taken_back > 0);
}

/* Disks fail under some of the parts, and the coordinator dies in between: each rank goes on
 * without the checkpoint that failed, none waits for a part that will not come, and all know
 * the same. */
static void a_save_that_failed_failed_for_all(void **unused)
{
    (void)unused;
    uint32_t failed_saves = 0, both = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world w;
        open_world(&w, seed, 1 + (uint32_t)seed % RANKS_MAX, (uint32_t)seed % 7);
        w.sync_fails = 3 + (uint32_t)seed % 11;
        w.forgoes = w.spares_reducers = true;
        for (uint32_t step = 0; step <= STEPS; step++)
            w.saves[step] = 1;
        run(&w);
        assert_int_equal(w.rollbacks, 0);
        failed_saves += w.failed_saves;
        both += w.saves[EVERY] != w.saves[2 * EVERY];
        close_world(&w);
    }
    assert_true(failed_saves > SEEDS);
    assert_true(both > SEEDS / 8); /* some were made, some were not */
}

/* A second job in the same folder begins where the first ended. */
static void a_new_job_begins_at_the_last_checkpoint(void **unused)
{
    (void)unused;
    struct world w, again;
    open_world(&w, 5, 3, 0);
    run(&w);
    asker_close(&w.asker);
    open_world(&again, 6, 3, 0);
    for (uint32_t rank = 0; rank < 3; rank++)
        again.reducers[rank].checkpoints = w.folder;
    /* Damaged, it begins at the one before, and nobody is harmed. */
    char path[128];
    snprintf(path, sizeof path, "%s/checkpoint-%d/part1", w.folder, STEPS);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    fputc('x', file);
    fclose(file);
    run(&again);
    assert_int_equal(again.restored, 3);
    close_world(&again);
    assert_int_equal(files_remove_tree(files_posix, w.folder, NULL), 0);
}

static void what_belongs_to_no_era_is_refused(void **unused)
{
    (void)unused;
    struct world w;
    open_world(&w, 8, 2, 0);
    run(&w);
    w.asker.to = w.trainers[0].reducer;
    float values[3] = { 1, 2, 3 };
    struct msg_reduce head = { .sequence = 1000,
                               .total = 3,
                               .piece_values = REDUCER_PIECE_MIN,
                               .count = 3,
                               .era = 9,
                               .rank = 1,
                               .world = 2 };
    /* A message of an era that this rank has not heard of: again, later. */
    assert_int_equal(asker_ask(&w.asker, MSG_REDUCE, &head, sizeof head, values, sizeof values),
                     TR_EFULL);
    head.era = 0;
    assert_int_equal(asker_ask(&w.asker, MSG_REDUCE, &head, sizeof head, values, sizeof values),
                     TR_EROLLBACK);
    head.era = 1;
    head.world = 3;
    assert_int_equal(asker_ask(&w.asker, MSG_REDUCE, &head, sizeof head, values, sizeof values), 0);
    assert_int_equal(w.asker.reply_kind, MSG_ERROR_REPLY);
    head.world = 2;
    head.piece = 1; /* not its own */
    assert_int_equal(asker_ask(&w.asker, MSG_REDUCE, &head, sizeof head, values, sizeof values), 0);
    assert_int_equal(w.asker.reply_kind, MSG_ERROR_REPLY);
    /* A repeat of the last reduction gets the first answer, whatever it brings. */
    uint32_t count = count_of(STEPS - 1) < REDUCER_PIECE_MIN ? count_of(STEPS - 1)
                                                             : REDUCER_PIECE_MIN;
    uint32_t each = reducer_piece_values(count_of(STEPS - 1), 2);
    count = count_of(STEPS - 1) < each ? count_of(STEPS - 1) : each;
    float *zeroes = calloc(count, sizeof *zeroes);
    assert_non_null(zeroes);
    head = (struct msg_reduce){ .sequence = STEPS,
                                .total = count_of(STEPS - 1),
                                .piece_values = each,
                                .count = count,
                                .era = 1,
                                .rank = 1,
                                .world = 2 };
    assert_int_equal(
        asker_ask(&w.asker, MSG_REDUCE, &head, sizeof head, zeroes, count * sizeof *zeroes), 0);
    assert_int_equal(w.asker.reply_kind, MSG_REDUCED);
    for (uint32_t i = 0; i < count; i++) {
        float wanted = sum_of(STEPS - 1, 2, i);
        assert_memory_equal(w.asker.reply + i * sizeof wanted, &wanted, sizeof wanted);
    }
    free(zeroes);
    close_world(&w);
}

static void expect_refusal(const struct asker *asker, int code, const char *text)
{
    const struct msg_error_reply *reply = (const void *)asker->reply_head;
    assert_int_equal(asker->reply_kind, MSG_ERROR_REPLY);
    assert_int_equal(reply->code, code);
    assert_true(asker->reply_bytes >= strlen(text));
    if (text[0] != '\0')
        assert_memory_equal(asker->reply, text, strlen(text));
}

/* Calls that no state of the group makes good: each refusal says what is missing. */
static void calls_that_cannot_be_are_refused(void **unused)
{
    static char long_path[MSG_PATH_BYTES_MAX + 2];
    static const struct {
        uint32_t operation;
        const char *folder;
        bool restored; /* asked after a restore */
        int code;
        const char *text;
    } cases[] = {
        { MSG_GROUP_REDUCE, NULL, false, TR_EROLLBACK,
          "trainer 0 is not in an era of its group; call tr_group_restore()" },
        { MSG_GROUP_BARRIER, NULL, false, TR_EROLLBACK,
          "trainer 0 is not in an era of its group; call tr_group_restore()" },
        { MSG_GROUP_SAVE, NULL, true, TR_EINVAL, "no folder for checkpoints was set" },
        { MSG_GROUP_SKIP, NULL, true, TR_EINVAL, "no folder for checkpoints was set" },
        { MSG_GROUP_RESTORE, long_path, false, TR_ETOOBIG,
          "the path of the checkpoints' folder has more than " },
    };
    (void)unused;
    memset(long_path, 'p', sizeof long_path - 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct coordinator_options coordinator = { .trainers = 1, .files = files_posix };
        const struct reducer_options reducer = {
            .rank = 0, .world = 1, .files = files_posix, .checkpoints = cases[i].folder
        };
        struct asker asker;
        asker_open(&asker, i, true);
        asker_spawn(&asker, &coordinator_ops, &coordinator);
        asker_spawn(&asker, &reducer_ops, &reducer);
        struct msg_group_request head = { .operation = MSG_GROUP_RESTORE,
                                          .timeout_ns = 10 * ENV_SECOND_NS };
        if (cases[i].restored)
            assert_int_equal(asker_ask(&asker, MSG_GROUP_REQUEST, &head, sizeof head, NULL, 0), 0);
        head.operation = cases[i].operation;
        assert_int_equal(asker_ask(&asker, MSG_GROUP_REQUEST, &head, sizeof head, NULL, 0), 0);
        expect_refusal(&asker, cases[i].code, cases[i].text);
        asker_close(&asker);
    }
}

/* A rank without a part says why; a reason that is none is a mistake of ours. */
static void a_rank_without_a_part_says_why(void **unused)
{
    static const struct {
        int32_t reason;
        int status;
    } cases[] = {
        { TR_ENOSPC, TR_ENOSPC }, { -1, TR_EINVAL }, { 0, TR_EINTERNAL }, { 1, TR_EINTERNAL }
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128], folder[64];
        assert_non_null(scratch_folder(folder, sizeof folder, "skips"));
        const struct coordinator_options coordinator = { .trainers = 1, .files = files_posix };
        const struct reducer_options reducer = {
            .rank = 0, .world = 1, .files = files_posix, .checkpoints = folder
        };
        struct asker asker;
        asker_open(&asker, i, true);
        asker_spawn(&asker, &coordinator_ops, &coordinator);
        asker_spawn(&asker, &reducer_ops, &reducer);
        struct msg_group_request head = { .operation = MSG_GROUP_RESTORE,
                                          .timeout_ns = 10 * ENV_SECOND_NS };
        assert_int_equal(asker_ask(&asker, MSG_GROUP_REQUEST, &head, sizeof head, NULL, 0), 0);
        head = (struct msg_group_request){ .operation = MSG_GROUP_SKIP,
                                           .value = 7,
                                           .count = (uint64_t)(int64_t)cases[i].reason,
                                           .timeout_ns = 10 * ENV_SECOND_NS };
        assert_int_equal(asker_ask(&asker, MSG_GROUP_REQUEST, &head, sizeof head, NULL, 0), 0);
        assert_int_equal(asker.reply_kind, MSG_ERROR_REPLY);
        const struct msg_error_reply *reply = (const void *)asker.reply_head;
        assert_int_equal(reply->code, cases[i].status);
        snprintf(text, sizeof text, "trainer 0 saves no part of the checkpoint of step 7: %s",
                 tr_strerror(cases[i].reason));
        assert_true(asker.reply_bytes >= strlen(text));
        assert_memory_equal(asker.reply, text, strlen(text));
        asker_close(&asker);
        assert_int_equal(files_remove_tree(files_posix, folder, NULL), 0);
    }
}

/* A rank that answers its piece with sums of something else. */
enum lie { NO_LIE, OTHER_ERA, OTHER_SEQUENCE, OTHER_PIECE, LIES };

struct liar {
    enum lie lie;
    struct process_member member;
};

static void liar_restored(struct actor *self, void *arg, int status, struct message *reply)
{
    (void)arg;
    assert_true(status == 0 || status == TR_ECANCELED);
    message_release(self, reply);
}

static void liar_joined(struct actor *self, struct process_member *member)
{
    struct message *request = message_create(self, MSG_RESTORE);
    *(struct msg_restore *)message_head(request) = (struct msg_restore){ .rank = 1, .world = 2 };
    assert_int_equal(actor_call(self, member->coordinator, request,
                                actor_now_ns(self) + 600 * ENV_SECOND_NS, liar_restored, NULL,
                                NULL),
                     0);
}

static int start_liar(struct actor *self, const void *arg)
{
    struct liar *liar = (struct liar *)(uintptr_t)arg;
    actor_set_state(self, liar);
    liar->member = (struct process_member){ .role = MSG_ROLE_REDUCER,
                                            .rank = 1,
                                            .joined = liar_joined };
    return process_member_join(self, &liar->member);
}

static int answer_with_a_lie(struct actor *self, struct message *request)
{
    const struct liar *liar = actor_state(self);
    if (request->frame.kind != MSG_REDUCE)
        return drop(self, request);
    const struct msg_reduce *head = message_head(request);
    struct message *reply = message_create(self, MSG_REDUCED);
    *(struct msg_reduced *)message_head(reply) = (struct msg_reduced){
        .sequence = head->sequence + (liar->lie == OTHER_SEQUENCE),
        .piece = head->piece + 2 * (liar->lie == OTHER_PIECE),
        .count = head->count,
        .era = head->era + (liar->lie == OTHER_ERA),
    };
    memset(message_body_alloc(self, reply, head->count * sizeof(float)), 0,
           head->count * sizeof(float));
    actor_reply(self, request, reply);
    return 0;
}

static const struct actor_ops liar_ops = { .name = "liar",
                                           .start = start_liar,
                                           .receive = answer_with_a_lie };

static void sums_of_something_else_are_not_taken(void **unused)
{
    (void)unused;
    const struct coordinator_options coordinator = { .trainers = 2 };
    const struct reducer_options reducer = { .rank = 0, .world = 2 };
    static float values[2 * REDUCER_PIECE_MIN]; /* a piece for each rank */
    for (enum lie lie = NO_LIE; lie < LIES; lie++) {
        struct liar liar = { .lie = lie };
        struct asker asker;
        asker_open(&asker, lie, true);
        asker_spawn(&asker, &coordinator_ops, &coordinator);
        asker_spawn(&asker, &liar_ops, &liar);
        asker_spawn(&asker, &reducer_ops, &reducer);
        struct msg_group_request head = { .operation = MSG_GROUP_RESTORE,
                                          .timeout_ns = 10 * ENV_SECOND_NS };
        assert_int_equal(asker_ask(&asker, MSG_GROUP_REQUEST, &head, sizeof head, NULL, 0), 0);
        head = (struct msg_group_request){ .operation = MSG_GROUP_REDUCE,
                                           .value = 1,
                                           .count = 2 * REDUCER_PIECE_MIN,
                                           .timeout_ns = ENV_SECOND_NS };
        /* The truth would do for that piece; the other one waits for this rank's values. */
        assert_int_equal(
            asker_ask(&asker, MSG_GROUP_REQUEST, &head, sizeof head, values, sizeof values),
            lie == NO_LIE ? TR_ETIMEDOUT : TR_EFORMAT);
        if (lie == NO_LIE) {
            /* The same call again waits for the same answer; another one is not it. */
            assert_int_equal(
                asker_ask(&asker, MSG_GROUP_REQUEST, &head, sizeof head, values, sizeof values),
                TR_ETIMEDOUT);
            head.value = 2;
            assert_int_equal(
                asker_ask(&asker, MSG_GROUP_REQUEST, &head, sizeof head, values, sizeof values), 0);
            expect_refusal(&asker, TR_EINVAL, "");
        }
        asker_close(&asker);
    }
}

/* For twenty seconds no rank has room for the others' pieces: no reduction fails, and none asks
 * more often than pauses allow. */
static void no_reduction_fails_by_owners_that_are_full_for_a_while(void **unused)
{
    (void)unused;
    for (uint32_t world = 2; world <= RANKS_MAX; world++) {
        struct world w;
        refusals = 0;
        busy_until_ns = 1; /* the node's clock is known when it runs */
        open_world(&w, world, world, 0);
        busy_until_ns = env_sim_now_ns(w.asker.env) + 20 * ENV_SECOND_NS;
        run(&w);
        assert_true(env_sim_now_ns(w.asker.env) > busy_until_ns);
        busy_until_ns = 0;
        assert_int_equal(w.failures, 0);
        assert_in_range(refusals, 50, 200 * REDUCER_WINDOW * world);
        close_world(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_something_else_are_not_taken),
        cmocka_unit_test(what_belongs_to_no_era_is_refused),
        cmocka_unit_test(calls_that_cannot_be_are_refused),
        cmocka_unit_test(a_rank_without_a_part_says_why),
        cmocka_unit_test(a_new_job_begins_at_the_last_checkpoint),
        cmocka_unit_test(a_save_that_failed_failed_for_all),
        cmocka_unit_test(no_reduction_fails_by_owners_that_are_full_for_a_while),
        cmocka_unit_test(sums_are_those_of_an_undisturbed_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
