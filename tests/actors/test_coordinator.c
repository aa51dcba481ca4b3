/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinator under random order, deaths, restarts and deadlines: the members are those that
 * live, a barrier ends in one way for all and not before all came, and the end of the job ends
 * everybody.
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
#include "actors/job/checkpoint_paths.h"
#include "actors/job/checkpoint_store_state.h"
#include "actors/job/coordinator.h"
#include "runtime/base/files.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/timer.h"
#include "schemas/messages.h"
#include "tests/actors/asker.h"
#include "tests/schemas/random.h"
#include "tests/scratch.h"

#define SEEDS 200
#define RANKS_MAX 6
#define ROUNDS 8
#define BARRIER 77
#define MS UINT64_C(1000000)

enum fate {
    ALL_LIVE,
    ONE_DIES,
    ONE_IS_RESTARTED,
    SHORT_DEADLINES,
    COORDINATOR_IS_RESTARTED,
    FATES
};

struct world;

struct rank {
    struct world *world;
    uint32_t rank;
    uint32_t round; /* the sequence it comes to next */
    struct address address;
    struct process_member member;
    struct timer timer;
    bool finished;
    int results[ROUNDS];
};

struct world {
    struct asker asker;
    struct coordinator_options options;
    enum fate fate;
    uint64_t state;
    uint32_t num_ranks;
    struct rank ranks[RANKS_MAX];
    uint32_t came[ROUNDS]; /* bit of each rank that sent its request */
    uint32_t doomed;       /* rank */
    uint32_t joins, ends;
    struct timer timer;
};

static void come(struct actor *self, void *arg);

static void wait_a_little(struct actor *self, struct rank *rank)
{
    uint64_t ns = random_below(&rank->world->state, 20 * MS);
    timer_start(self, &rank->timer, actor_now_ns(self) + ns, come, rank);
}

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct rank *rank = arg;
    struct world *world = rank->world;
    if (status == TR_ECANCELED && rank->world->fate != ALL_LIVE)
        return; /* it is being killed */
    if (status == 0) {
        const struct msg_barrier_done *head = message_head(reply);
        assert_int_equal(reply->frame.kind, MSG_BARRIER_DONE);
        status = head->status;
        if (status == 0) {
            assert_int_equal(head->sequence, rank->round);
            assert_int_equal(world->came[rank->round], (1u << world->num_ranks) - 1);
        } else {
            assert_int_equal(status, TR_ETIMEDOUT);
            assert_true(head->sequence > rank->round);
        }
    }
    message_release(self, reply);
    if (status == TR_EPEERDOWN && world->fate == COORDINATOR_IS_RESTARTED) {
        wait_a_little(self, rank); /* and come again */
        return;
    }
    rank->results[rank->round++] = status;
    rank->finished = rank->round == ROUNDS;
    if (!rank->finished)
        wait_a_little(self, rank);
}

static void come(struct actor *self, void *arg)
{
    struct rank *rank = arg;
    struct world *world = rank->world;
    uint64_t timeout_ns = world->fate == SHORT_DEADLINES ? 12 * MS
                          : world->fate == ONE_DIES      ? 200 * MS
                                                         : 600 * ENV_SECOND_NS;
    struct message *request = message_create(self, MSG_BARRIER);
    *(struct msg_barrier *)message_head(request) = (struct msg_barrier){
        .name = BARRIER, .sequence = rank->round, .rank = rank->rank, .count = world->num_ranks
    };
    world->came[rank->round] |= 1u << rank->rank;
    struct address to = rank->member.coordinator;
    assert_int_equal(
        actor_call(self, to, request, actor_now_ns(self) + timeout_ns, answered, rank, NULL), 0);
}

static void joined(struct actor *self, struct process_member *member)
{
    struct rank *rank = actor_state(self);
    rank->world->joins++;
    (void)member;
    if (!rank->finished && !timer_is_started(&rank->timer))
        wait_a_little(self, rank);
}

static int start_rank(struct actor *self, const void *arg)
{
    struct rank *rank = (struct rank *)(uintptr_t)arg;
    actor_set_state(self, rank);
    rank->address = actor_address(self);
    memset(&rank->timer, 0, sizeof rank->timer);
    rank->member = (struct process_member){ .role = MSG_ROLE_TRAINER,
                                            .rank = rank->rank,
                                            .joined = joined };
    return process_member_join(self, &rank->member);
}

static int drop(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static void end_rank(struct actor *self)
{
    ((struct rank *)actor_state(self))->world->ends++;
}

static const struct actor_ops rank_ops = {
    .name = "rank", .start = start_rank, .receive = drop, .fini = end_rank
};

static void strike(struct actor *self, void *arg)
{
    struct world *world = arg;
    if (world->fate == COORDINATOR_IS_RESTARTED)
        actor_kill(self, world->ranks[0].member.coordinator, TR_ECHILD);
    else
        actor_kill(self, world->ranks[world->doomed].address, TR_ECHILD);
}

/* The parent of all ranks, so that the failure of one concerns nobody else. */
static int start_stage(struct actor *self, const void *arg)
{
    struct world *world = (struct world *)(uintptr_t)arg;
    int rv = 0;
    for (uint32_t i = 0; i < world->num_ranks && rv == 0; i++) {
        struct actor_options options = {
            .ops = &rank_ops,
            .arg = &world->ranks[i],
            .loop = (uint32_t)random_below(&world->state, 2),
            .restart = world->fate == ONE_IS_RESTARTED ? ACTOR_RESTART_ON_FAILURE
                                                       : ACTOR_RESTART_NEVER,
        };
        rv = actor_spawn(self, &options, &world->ranks[i].address);
    }
    if (world->fate == ONE_DIES || world->fate == ONE_IS_RESTARTED ||
        world->fate == COORDINATOR_IS_RESTARTED)
        timer_start(self, &world->timer, actor_now_ns(self) + random_below(&world->state, 100 * MS),
                    strike, world);
    return rv;
}

static const struct actor_ops stage_ops = { .name = "stage",
                                            .start = start_stage,
                                            .receive = drop };

static bool is_doomed(const struct world *world, uint32_t rank)
{
    return world->fate == ONE_DIES && rank == world->doomed;
}

static bool all_finished(void *arg)
{
    const struct world *world = arg;
    for (uint32_t i = 0; i < world->num_ranks; i++)
        if (!world->ranks[i].finished && !is_doomed(world, i))
            return false;
    return !timer_is_started(&world->timer);
}

static void open_world(struct world *world, uint64_t seed, enum fate fate)
{
    *world = (struct world){ .fate = fate, .state = seed };
    world->num_ranks = 2 + (uint32_t)random_below(&world->state, RANKS_MAX - 1);
    world->doomed = (uint32_t)random_below(&world->state, world->num_ranks);
    world->options = (struct coordinator_options){ .trainers = world->num_ranks };
    for (uint32_t i = 0; i < world->num_ranks; i++)
        world->ranks[i] = (struct rank){ .world = world, .rank = i };
    asker_open(&world->asker, seed, seed % 2 != 0);
    struct actor_options coordinator = { .ops = &coordinator_ops,
                                         .arg = &world->options,
                                         .restart = ACTOR_RESTART_ON_FAILURE };
    struct actor_options stage = { .ops = &stage_ops, .arg = world };
    struct address ignored;
    assert_int_equal(node_spawn(world->asker.node, &coordinator, &world->asker.to), 0);
    assert_int_equal(node_spawn(world->asker.node, &stage, &ignored), 0);
}

static void settle(struct world *world)
{
    env_sim_run(world->asker.env, NULL, NULL, env_sim_now_ns(world->asker.env) + ENV_SECOND_NS);
}

/* Ranks whose place is taken: a rank that joins a free one here leaves it with the answer. */
static uint32_t count_members(struct world *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->num_ranks; i++) {
        const struct msg_join head = { .role = MSG_ROLE_TRAINER, .rank = i };
        assert_int_equal(asker_ask(&world->asker, MSG_JOIN, &head, sizeof head, NULL, 0), 0);
        const struct msg_error_reply *failed = (const void *)world->asker.reply_head;
        bool taken = world->asker.reply_kind == MSG_ERROR_REPLY;
        assert_int_equal(taken ? failed->code : TR_EEXIST, TR_EEXIST);
        count += taken;
    }
    return count;
}

static const struct msg_barrier_done *barrier_done(const struct asker *asker)
{
    assert_int_equal(asker->reply_kind, MSG_BARRIER_DONE);
    return (const struct msg_barrier_done *)(const void *)asker->reply_head;
}

/* The answer to a late repeat of a rank. */
static int repeat(struct world *world, uint32_t rank, uint32_t round)
{
    struct msg_barrier head = {
        .name = BARRIER, .sequence = round, .rank = rank, .count = world->num_ranks
    };
    int rv = asker_ask(&world->asker, MSG_BARRIER, &head, sizeof head, NULL, 0);
    if (rv != 0)
        return rv;
    /* A rank that is past it gets no answer to it any more. */
    if (world->asker.reply_kind == MSG_ERROR_REPLY) {
        assert_true(round < world->ranks[rank].round - 1);
        return ((const struct msg_error_reply *)(const void *)world->asker.reply_head)->code;
    }
    return barrier_done(&world->asker)->status;
}

static void check_rounds(struct world *world)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        int outcome = TR_ETIMEDOUT;
        for (uint32_t i = 0; i < world->num_ranks; i++) {
            int heard = repeat(world, i, round);
            /* The last is repeated to all alike; those before it to nobody that is past them. */
            if (round == ROUNDS - 1 && i > 0)
                assert_int_equal(heard, outcome);
            else if (round == ROUNDS - 1)
                outcome = heard;
            else
                assert_true(heard == TR_ECANCELED || heard == TR_ETIMEDOUT || heard == 0);
            if (world->ranks[i].results[round] == 0 && !is_doomed(world, i))
                outcome = 0;
        }
        assert_true(outcome == 0 || outcome == TR_ETIMEDOUT);
        for (uint32_t i = 0; i < world->num_ranks; i++) {
            int result = world->ranks[i].results[round];
            if (is_doomed(world, i))
                continue;
            if (result == 0)
                assert_int_equal(outcome, 0);
            else
                assert_int_equal(result, TR_ETIMEDOUT);
            if (world->fate == ALL_LIVE || world->fate == ONE_IS_RESTARTED)
                assert_int_equal(result, 0);
        }
        if (world->came[round] != (1u << world->num_ranks) - 1)
            assert_int_equal(outcome, TR_ETIMEDOUT);
    }
}

static void barriers_hold_whatever_happens(void **unused)
{
    (void)unused;
    uint32_t timed_out = 0, joined_again = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world world;
        open_world(&world, seed, seed % (FATES - 1));
        assert_int_equal(env_sim_run(world.asker.env, all_finished, &world, 60 * ENV_SECOND_NS), 0);
        settle(&world);
        assert_int_equal(count_members(&world), world.num_ranks - (world.fate == ONE_DIES));
        check_rounds(&world);
        joined_again += world.joins > world.num_ranks;
        for (uint32_t i = 0; i < world.num_ranks; i++)
            for (uint32_t round = 0; round < ROUNDS; round++)
                timed_out += world.ranks[i].results[round] != 0;
        asker_close(&world.asker);
    }
    assert_true(timed_out > SEEDS / 4); /* deadlines were put to the test */
    assert_true(joined_again > SEEDS / 8);
}

static void members_find_a_restarted_coordinator(void **unused)
{
    (void)unused;
    uint32_t joined_again = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct world world;
        open_world(&world, seed, COORDINATOR_IS_RESTARTED);
        assert_int_equal(env_sim_run(world.asker.env, all_finished, &world, 600 * ENV_SECOND_NS),
                         0);
        settle(&world);
        world.asker.to = world.ranks[0].member.coordinator;
        assert_int_equal(count_members(&world), world.num_ranks);
        joined_again += world.joins > world.num_ranks;
        asker_close(&world.asker);
    }
    assert_true(joined_again > 20);
}

static void the_end_of_the_job_ends_everybody_once(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct world world;
        struct msg_job_done done = { .rank = 0 };
        open_world(&world, seed, ALL_LIVE);
        assert_int_equal(env_sim_run(world.asker.env, all_finished, &world, 60 * ENV_SECOND_NS), 0);
        if (seed % 2 == 0) {
            world.asker.timeout_ns = MS;
            for (uint32_t i = 0; i + 1 < world.num_ranks * 2; i++) {
                assert_int_equal(world.ends, 0);
                done.rank = i / 2; /* each says it twice, but the last: they wait for all others */
                assert_int_equal(asker_ask(&world.asker, MSG_JOB_DONE, &done, sizeof done, NULL, 0),
                                 i + 2 < world.num_ranks * 2 ? TR_ETIMEDOUT : 0);
            }
            world.asker.timeout_ns = 0;
        } else {
            done.code = TR_EIO;
            asker_ask(&world.asker, MSG_JOB_DONE, &done, sizeof done, NULL, 0);
        }
        assert_int_equal(world.asker.status, 0);
        assert_int_equal(world.asker.reply_kind, MSG_JOB_DONE);
        /* A member that does not say that it knows of a good end is given the time in which members
         * look for a coordinator. */
        for (int i = 0; i < 40 && (i == 0 || seed % 2 == 0); i++)
            settle(&world);
        assert_int_equal(world.ends, world.num_ranks);
        assert_int_equal(asker_ask(&world.asker, MSG_JOB_DONE, &done, sizeof done, NULL, 0),
                         TR_EPEERDOWN);
        asker_close(&world.asker);
    }
}

/* Nobody else has to say that it is done, nor is a rank let in that would begin again. */
static void the_result_that_is_written_ends_the_job(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct world world;
        const struct msg_job_done done = { .rank = 0, .complete = 1 };
        const struct msg_join join = { .role = MSG_ROLE_REDUCER, .rank = 1 };
        open_world(&world, seed, ALL_LIVE);
        assert_int_equal(env_sim_run(world.asker.env, all_finished, &world, 60 * ENV_SECOND_NS), 0);
        assert_int_equal(asker_ask(&world.asker, MSG_JOB_DONE, &done, sizeof done, NULL, 0), 0);
        assert_int_equal(world.asker.status, 0);
        assert_int_equal(world.asker.reply_kind, MSG_JOB_DONE);
        asker_ask(&world.asker, MSG_JOIN, &join, sizeof join, NULL, 0);
        assert_int_equal(world.asker.reply_kind, MSG_ERROR_REPLY);
        assert_int_equal(
            ((const struct msg_error_reply *)(const void *)world.asker.reply_head)->code, TR_EEND);
        /* The others have yet to hear of it: they are given the time to ask. It ends once all
         * did. */
        bool all_know = seed % 2 != 0;
        for (uint32_t rank = 0; rank < world.num_ranks && all_know; rank++) {
            const struct msg_join again = { .role = MSG_ROLE_REDUCER, .rank = rank };
            assert_int_equal(world.ends, 0);
            asker_ask(&world.asker, MSG_JOIN, &again, sizeof again, NULL, 0);
            assert_int_equal(world.asker.reply_kind, MSG_ERROR_REPLY);
        }
        for (int i = 0; i < 40; i++) {
            settle(&world);
            assert_true(all_know || i >= 25 || world.ends == 0);
            assert_true(!all_know || i < 10 || world.ends == world.num_ranks);
        }
        assert_int_equal(world.ends, world.num_ranks);
        asker_close(&world.asker);
    }
}

static void assert_refused(struct asker *asker, int code)
{
    assert_int_equal(asker->status, 0);
    assert_int_equal(asker->reply_kind, MSG_ERROR_REPLY);
    assert_int_equal(((const struct msg_error_reply *)(const void *)asker->reply_head)->code, code);
}

static void assert_refused_with(struct asker *asker, int code, const char *says)
{
    char text[ERROR_TEXT_MAX] = "";
    assert_refused(asker, code);
    assert_true(asker->reply_bytes < sizeof text);
    memcpy(text, asker->reply, asker->reply_bytes);
    if (strstr(text, says) == NULL)
        fail_msg("\"%s\" says nothing of \"%s\"", text, says);
}

static void what_cannot_be_is_refused(void **unused)
{
    (void)unused;
    struct world world;
    open_world(&world, 3, ALL_LIVE);
    assert_int_equal(env_sim_run(world.asker.env, all_finished, &world, 60 * ENV_SECOND_NS), 0);
    struct asker *asker = &world.asker;
    struct msg_join join = { .role = MSG_ROLE_TRAINER, .rank = 0 };
    asker_ask(asker, MSG_JOIN, &join, sizeof join, NULL, 0);
    assert_refused(asker, TR_EEXIST);
    join.rank = RANKS_MAX;
    join.graph = 7; /* another than the coordinator's */
    asker_ask(asker, MSG_JOIN, &join, sizeof join, NULL, 0);
    assert_refused(asker, TR_EMISMATCH);
    join.graph = 0;
    join.plan = 7;
    asker_ask(asker, MSG_JOIN, &join, sizeof join, NULL, 0);
    assert_refused(asker, TR_EMISMATCH);
    join.role = MSG_ROLE_PROCESS + 1;
    asker_ask(asker, MSG_JOIN, &join, sizeof join, NULL, 0);
    assert_refused(asker, TR_EINVAL);
    struct msg_barrier barrier = { .name = 1, .rank = 2, .count = 2 };
    asker_ask(asker, MSG_BARRIER, &barrier, sizeof barrier, NULL, 0);
    assert_refused(asker, TR_ERANGE);
    barrier.count = UINT32_MAX;
    asker_ask(asker, MSG_BARRIER, &barrier, sizeof barrier, NULL, 0);
    assert_refused(asker, TR_ERANGE);
    barrier.count = 3;
    asker->timeout_ns = MS; /* alone it can only time out, and stays so */
    assert_int_equal(asker_ask(asker, MSG_BARRIER, &barrier, sizeof barrier, NULL, 0),
                     TR_ETIMEDOUT);
    asker->timeout_ns = 0;
    assert_int_equal(asker_ask(asker, MSG_BARRIER, &barrier, sizeof barrier, NULL, 0),
                     TR_ETIMEDOUT);
    struct msg_job_done done = { .rank = 1000 };
    asker_ask(asker, MSG_JOB_DONE, &done, sizeof done, NULL, 0);
    assert_refused(asker, TR_ERANGE);
    asker_close(asker);
}

/* One that comes to barriers that the others gave up learns of all of them at once: it would be
 * slower one by one than they are. */
static void who_is_behind_learns_how_far(void **unused)
{
    (void)unused;
    struct world world;
    open_world(&world, 3, ALL_LIVE);
    assert_int_equal(env_sim_run(world.asker.env, all_finished, &world, 60 * ENV_SECOND_NS), 0);
    struct asker *asker = &world.asker;
    struct msg_barrier barrier = { .name = 1, .rank = 0, .count = 2 };
    asker->timeout_ns = MS;
    for (barrier.sequence = 1; barrier.sequence <= 100; barrier.sequence++)
        assert_int_equal(asker_ask(asker, MSG_BARRIER, &barrier, sizeof barrier, NULL, 0),
                         TR_ETIMEDOUT);
    asker->timeout_ns = 0;
    barrier.rank = 1;
    for (barrier.sequence = 1; barrier.sequence < 100; barrier.sequence++) {
        assert_int_equal(asker_ask(asker, MSG_BARRIER, &barrier, sizeof barrier, NULL, 0), 0);
        assert_int_equal(barrier_done(asker)->status, TR_ETIMEDOUT);
        assert_int_equal(barrier_done(asker)->sequence, 100);
    }
    assert_int_equal(asker_ask(asker, MSG_BARRIER, &barrier, sizeof barrier, NULL, 0),
                     TR_ETIMEDOUT);
    asker_close(asker);
}

static void join_era(struct asker *asker, struct msg_join head)
{
    head.role = MSG_ROLE_REDUCER;
    head.era = head.seen = head.era != 0 ? head.era : 1;
    asker->stays = true;
    assert_int_equal(asker_ask(asker, MSG_JOIN, &head, sizeof head, NULL, 0), 0);
    asker->stays = false;
    assert_int_equal(asker->reply_kind, MSG_JOINED);
}

/* 0, or what the barrier ended with, for that rank. */
static int come_to(struct asker *asker, uint32_t rank, uint64_t name, uint64_t sequence)
{
    const struct msg_barrier head = {
        .name = name, .sequence = sequence, .rank = rank, .count = 2, .era = 1
    };
    int rv = asker_ask(asker, MSG_BARRIER, &head, sizeof head, NULL, 0);
    return rv != 0 ? rv : barrier_done(asker)->status;
}

/* A rank passed a barrier, and the answer to the other died with the coordinator. The next
 * coordinator knows nothing of it, so a deadline decides nothing before both have joined. */
static void a_restarted_coordinator_gives_up_nothing_that_was_passed(void **unused)
{
    (void)unused;
    const struct coordinator_options options = { .trainers = 2 };
    for (uint32_t seed = 0; seed < 20; seed++) {
        struct asker asker;
        asker_open(&asker, seed, seed % 2 != 0);
        asker_spawn(&asker, &coordinator_ops, &options);
        join_era(&asker, (struct msg_join){ .rank = 0 });
        asker.timeout_ns = MS;
        for (uint32_t i = 0; i < seed % 3 + 1; i++)
            assert_int_equal(come_to(&asker, 0, 7, 1), TR_ETIMEDOUT);
        asker.timeout_ns = 100 * MS;
        /* The first also gave up the next one since, of another name. */
        join_era(&asker, (struct msg_join){ .rank = 1,
                                            .passed_name = 7,
                                            .passed_sequence = 1,
                                            .over_name = 8,
                                            .over_sequence = 2 });
        assert_int_equal(come_to(&asker, 0, 7, 1), 0);
        assert_int_equal(come_to(&asker, 0, 8, 2), TR_ETIMEDOUT);
        /* With all there a deadline decides. */
        asker.timeout_ns = MS;
        assert_int_equal(come_to(&asker, 0, 9, 3), TR_ETIMEDOUT);
        env_sim_run(asker.env, NULL, NULL, env_sim_now_ns(asker.env) + ENV_SECOND_NS);
        asker.timeout_ns = 600 * ENV_SECOND_NS;
        assert_int_equal(come_to(&asker, 1, 9, 3), TR_ETIMEDOUT);
        asker_close(&asker);
    }
}

#define SAVED_STEP 5u

/* Both ranks' parts of a checkpoint in a folder of its own, as an era saved them. */
struct saved {
    char folder[64];
    struct checkpoint_part parts[2];
};

static void save_parts(struct saved *saved, uint32_t era)
{
    assert_non_null(scratch_folder(saved->folder, sizeof saved->folder, "coordinator"));
    for (uint32_t rank = 0; rank < 2; rank++)
        assert_int_equal(checkpoint_write_part(files_posix, saved->folder, SAVED_STEP, era, rank,
                                               "weights", 4 + rank, &saved->parts[rank], NULL),
                         0);
}

static void remove_saved(const struct saved *saved)
{
    assert_int_equal(files_remove_tree(files_posix, saved->folder, NULL), 0);
}

static struct msg_checkpoint_part report_of(const struct saved *saved, uint32_t era, uint32_t rank)
{
    return (struct msg_checkpoint_part){ .step = SAVED_STEP,
                                         .bytes = saved->parts[rank].bytes,
                                         .sequence = 1,
                                         .crc32c = saved->parts[rank].crc32c,
                                         .era = era,
                                         .rank = rank,
                                         .world = 2,
                                         .path_bytes = (uint32_t)strlen(saved->folder) };
}

/* The folder may have a checkpoint of the same step that was saved in an era that is over: to a
 * rank that reports its part in the present one it is not the answer. One of the present era is: a
 * coordinator before this one made it. */
static void only_a_checkpoint_of_the_present_era_counts_as_made(void **unused)
{
    (void)unused;
    const struct coordinator_options options = { .trainers = 2 };
    for (uint32_t saved_in = 1; saved_in <= 2; saved_in++) {
        struct saved saved;
        struct asker asker;
        save_parts(&saved, saved_in);
        const struct checkpoint_manifest manifest = { SAVED_STEP, saved_in, 2, saved.parts };
        assert_int_equal(checkpoint_commit(files_posix, saved.folder, &manifest, 2, NULL), 0);
        asker_open(&asker, saved_in, true);
        asker_spawn(&asker, &coordinator_ops, &options);
        for (uint32_t rank = 0; rank < 2; rank++)
            join_era(&asker, (struct msg_join){ .rank = rank, .era = 2 });
        const struct msg_checkpoint_part head = report_of(&saved, 2, 0);
        asker.timeout_ns = ENV_SECOND_NS;
        assert_int_equal(asker_ask(&asker, MSG_CHECKPOINT_PART, &head, sizeof head, saved.folder,
                                   strlen(saved.folder)),
                         saved_in == 2 ? 0 : TR_ETIMEDOUT);
        if (saved_in == 2)
            assert_int_equal(asker.reply_kind, MSG_CHECKPOINT_DONE);
        asker_close(&asker);
        remove_saved(&saved);
    }
}

/* Manifests that cannot be read so often. */
static uint32_t unreadable;

static int open_manifest(struct files *self, const char *path, int flags, int mode)
{
    (void)self;
    if (strstr(path, "/manifest.json") == NULL || unreadable == 0)
        return files_posix->open(files_posix, path, flags, mode);
    unreadable--;
    return -EIO;
}

/* A coordinator before this one made the checkpoint, and it cannot be read for a while: a rank that
 * reports its part again hears that it is made, though the others, who know, report none. A disk
 * that goes on failing fails the save. */
static void a_manifest_that_cannot_be_read_now_may_be_there(void **unused)
{
    (void)unused;
    for (uint32_t forever = 0; forever < 2; forever++) {
        struct files failing = *files_posix;
        const struct coordinator_options options = { .trainers = 2, .files = &failing };
        struct saved saved;
        struct asker asker;
        failing.open = open_manifest;
        save_parts(&saved, 1);
        const struct checkpoint_manifest manifest = { SAVED_STEP, 1, 2, saved.parts };
        assert_int_equal(checkpoint_commit(files_posix, saved.folder, &manifest, 2, NULL), 0);
        asker_open(&asker, 1, true);
        asker_spawn(&asker, &coordinator_ops, &options);
        for (uint32_t rank = 0; rank < 2; rank++)
            join_era(&asker, (struct msg_join){ .rank = rank, .era = 1 });
        const struct msg_checkpoint_part head = report_of(&saved, 1, 0);
        unreadable = forever != 0 ? UINT32_MAX : 5;
        asker.timeout_ns = 120 * ENV_SECOND_NS;
        assert_int_equal(asker_ask(&asker, MSG_CHECKPOINT_PART, &head, sizeof head, saved.folder,
                                   strlen(saved.folder)),
                         0);
        if (forever != 0)
            assert_refused_with(&asker, TR_EIO, "manifest.json");
        else
            assert_int_equal(asker.reply_kind, MSG_CHECKPOINT_DONE);
        assert_true(forever != 0 ? unreadable < UINT32_MAX - 2 : unreadable == 0);
        asker_close(&asker);
        remove_saved(&saved);
    }
}

/* Ranks that join a coordinator that was started again say which of their saves failed last. One
 * that has not had the answer to the newest says an older one, before or after the others: the
 * newest stays known, and the rank that reports its part of it gets that answer. */
static void the_newest_save_that_failed_stays_known(void **unused)
{
    (void)unused;
    const struct coordinator_options options = { .trainers = 2 };
    const struct msg_checkpoint_done newest = {
        .step = SAVED_STEP, .sequence = 8, .era = 1, .status = TR_ENOSPC
    };
    const struct msg_checkpoint_done before = {
        .step = SAVED_STEP - 2, .sequence = 7, .era = 1, .status = TR_EIO
    };
    for (uint32_t seed = 0; seed < 4; seed++) {
        struct saved saved;
        struct asker asker;
        save_parts(&saved, 1);
        asker_open(&asker, seed, seed % 2 != 0);
        asker_spawn(&asker, &coordinator_ops, &options);
        for (uint32_t rank = 0; rank < 2; rank++)
            join_era(&asker, (struct msg_join){ .rank = rank });
        asker.timeout_ns = ENV_SECOND_NS;
        for (uint32_t i = 0; i < 2; i++) /* a notice: nothing is answered to it */
            asker_ask(&asker, MSG_CHECKPOINT_DONE, i == seed / 2 ? &newest : &before, sizeof newest,
                      NULL, 0);
        struct msg_checkpoint_part head = report_of(&saved, 1, 0);
        head.sequence = 8;
        assert_int_equal(asker_ask(&asker, MSG_CHECKPOINT_PART, &head, sizeof head, saved.folder,
                                   strlen(saved.folder)),
                         0);
        assert_refused(&asker, TR_ENOSPC);
        asker_close(&asker);
        remove_saved(&saved);
    }
}

/* Reports both parts, and the first again with other bytes, in one turn: at last, when the manifest
 * is under way, or between them. */
struct reporter {
    struct saved saved;
    bool between;
    struct address coordinator;
    uint32_t answers;
    int statuses[3];
    uint32_t kinds[3];
};

struct report {
    struct reporter *reporter;
    uint32_t number;
};

static void reported(struct actor *self, void *arg, int status, struct message *reply)
{
    struct report *report = arg;
    report->reporter->statuses[report->number] = status;
    report->reporter->kinds[report->number] = reply != NULL ? reply->frame.kind : 0;
    report->reporter->answers++;
    message_release(self, reply);
    free(report);
}

static int start_reporter(struct actor *self, const void *arg)
{
    struct reporter *reporter = (struct reporter *)(uintptr_t)arg;
    const char *folder = reporter->saved.folder;
    for (uint32_t i = 0; i < 3; i++) {
        struct report *report = malloc(sizeof *report);
        struct message *request = message_create(self, MSG_CHECKPOINT_PART);
        assert_true(report != NULL && request != NULL);
        *report = (struct report){ reporter, i };
        uint32_t again = reporter->between ? 1 : 2;
        struct msg_checkpoint_part head = report_of(&reporter->saved, 1, i == 3 - again);
        head.bytes += i == again;
        *(struct msg_checkpoint_part *)message_head(request) = head;
        memcpy(message_body_alloc(self, request, strlen(folder)), folder, strlen(folder));
        assert_int_equal(actor_call(self, reporter->coordinator, request,
                                    actor_now_ns(self) + 60 * ENV_SECOND_NS, reported, report,
                                    NULL),
                         0);
    }
    return 0;
}

static const struct actor_ops reporter_ops = { .name = "reporter",
                                               .start = start_reporter,
                                               .receive = drop };

static bool all_reported(void *arg)
{
    return ((const struct reporter *)arg)->answers == 3;
}

static void what_a_rank_reports_first_is_written(void **unused)
{
    (void)unused;
    const struct coordinator_options options = { .trainers = 2 };
    for (uint32_t seed = 0; seed < 20; seed++) {
        struct reporter reporter = { .between = seed % 4 >= 2 };
        struct asker asker;
        save_parts(&reporter.saved, 1);
        asker_open(&asker, seed, seed % 2 != 0);
        asker_spawn(&asker, &coordinator_ops, &options);
        for (uint32_t rank = 0; rank < 2; rank++)
            join_era(&asker, (struct msg_join){ .rank = rank });
        reporter.coordinator = asker.to;
        const struct actor_options spawned = { .ops = &reporter_ops, .arg = &reporter };
        struct address ignored;
        assert_int_equal(node_spawn(asker.node, &spawned, &ignored), 0);
        assert_int_equal(env_sim_run(asker.env, all_reported, &reporter,
                                     env_sim_now_ns(asker.env) + 60 * ENV_SECOND_NS),
                         0);
        /* The first attempt of rank 0 does not wait any more; its repeat has the answer. */
        assert_int_equal(reporter.statuses[0], TR_ECANCELED);
        for (uint32_t i = 1; i < 3; i++) {
            assert_int_equal(reporter.statuses[i], 0);
            assert_int_equal(reporter.kinds[i], MSG_CHECKPOINT_DONE);
        }
        struct checkpoint_manifest manifest = { 0 };
        assert_int_equal(
            checkpoint_find(files_posix, reporter.saved.folder, SAVED_STEP, &manifest, NULL), 0);
        for (uint32_t rank = 0; rank < 2; rank++) {
            assert_int_equal(manifest.parts[rank].bytes, reporter.saved.parts[rank].bytes);
            assert_int_equal(manifest.parts[rank].crc32c, reporter.saved.parts[rank].crc32c);
        }
        checkpoint_manifest_fini(&manifest);
        asker_close(&asker);
        remove_saved(&reporter.saved);
    }
}

/* The store of the second host: takes the manifest. */
struct second_host {
    struct checkpoint_manifest manifest;
};

static int start_second_host(struct actor *self, const void *arg)
{
    actor_set_state(self, (void *)(uintptr_t)arg);
    return directory_register(self, CHECKPOINT_STORE_NAME, NULL, NULL);
}

static int take_manifest(struct actor *self, struct message *request)
{
    struct second_host *host = actor_state(self);
    if (request->frame.kind != MSG_CHECKPOINT_COMMIT)
        return drop(self, request);
    checkpoint_manifest_fini(&host->manifest);
    assert_int_equal(checkpoint_store_read_commit(request, &host->manifest), 0);
    actor_reply(self, request, message_create(self, MSG_CHECKPOINT_DONE));
    return 0;
}

static const struct actor_ops second_host_ops = { .name = "second host",
                                                  .start = start_second_host,
                                                  .receive = take_manifest };

/* A coordinator before this one made the checkpoint, so all its parts are there: a rank that cannot
 * write its own again reports a failure, and changes nothing of what the second host gets. */
static void a_report_changes_no_part_of_what_was_made(void **unused)
{
    (void)unused;
    struct plan_process processes[2] = { { .host = 0 }, { .host = 1 } };
    const struct plan plan = {
        .num_processes = 2, .num_hosts = 2, .trainers = 2, .processes = processes
    };
    const struct coordinator_options options = { .trainers = 2, .plan = &plan };
    struct second_host host = { .manifest = { 0 } };
    struct saved saved;
    struct asker asker;
    save_parts(&saved, 1);
    const struct checkpoint_manifest manifest = { SAVED_STEP, 1, 2, saved.parts };
    assert_int_equal(checkpoint_commit(files_posix, saved.folder, &manifest, 2, NULL), 0);
    asker_open(&asker, 4, true); /* its node is that of process 1 */
    asker_spawn(&asker, &coordinator_ops, &options);
    asker.timeout_ns = ENV_SECOND_NS;
    for (uint32_t rank = 0; rank < 2; rank++)
        join_era(&asker, (struct msg_join){ .rank = rank });
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct msg_checkpoint_part head = report_of(&saved, 1, rank);
        if (rank == 1)
            head = (struct msg_checkpoint_part){ .step = SAVED_STEP,
                                                 .sequence = 1,
                                                 .era = 1,
                                                 .rank = 1,
                                                 .world = 2,
                                                 .path_bytes = head.path_bytes,
                                                 .status = TR_ENOSPC };
        assert_int_equal(asker_ask(&asker, MSG_CHECKPOINT_PART, &head, sizeof head, saved.folder,
                                   strlen(saved.folder)),
                         TR_ETIMEDOUT);
    }
    /* The second host comes up when the first manifest that was sent to it has been given up. */
    env_sim_run(asker.env, NULL, NULL, env_sim_now_ns(asker.env) + 30 * ENV_SECOND_NS);
    const struct actor_options spawned = { .ops = &second_host_ops, .arg = &host };
    struct address ignored;
    assert_int_equal(node_spawn(asker.node, &spawned, &ignored), 0);
    env_sim_run(asker.env, NULL, NULL, env_sim_now_ns(asker.env) + 30 * ENV_SECOND_NS);
    assert_int_equal(host.manifest.world, 2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        assert_int_equal(host.manifest.parts[rank].bytes, saved.parts[rank].bytes);
        assert_int_equal(host.manifest.parts[rank].crc32c, saved.parts[rank].crc32c);
    }
    checkpoint_manifest_fini(&host.manifest);
    asker_close(&asker);
    remove_saved(&saved);
}

/* The store of a second host that has no room for a manifest. */
static int refuse_manifest(struct actor *self, struct message *request)
{
    struct error error = { 0 };
    if (request->frame.kind != MSG_CHECKPOINT_COMMIT)
        return drop(self, request);
    error_set(&error, TR_ENOSPC, "no room for a manifest");
    error_reply_send(self, request, &error);
    return 0;
}

static const struct actor_ops full_host_ops = { .name = "full host",
                                                .start = start_second_host,
                                                .receive = refuse_manifest };

/* The disk takes no writes: what is to be removed stays. */
static bool read_only;

static int unlink_unless_read_only(struct files *self, const char *path)
{
    (void)self;
    return read_only ? -EROFS : files_posix->unlink(files_posix, path);
}

/* As a second host without room for a manifest, where this one's disk becomes read-only meanwhile. */
static int refuse_manifest_read_only(struct actor *self, struct message *request)
{
    read_only |= request->frame.kind == MSG_CHECKPOINT_COMMIT;
    return refuse_manifest(self, request);
}

static const struct actor_ops read_only_ops = { .name = "full host",
                                                .start = start_second_host,
                                                .receive = refuse_manifest_read_only };

/* The manifest that the second host refused is taken back; what it would have taken the place of,
 * with one checkpoint to keep, is there as before. One that cannot be taken back, since no file can
 * be removed any more, is made: it would be found, and the ranks that drop their parts of it would
 * take them from a checkpoint. */
static void a_manifest_that_is_refused_takes_no_checkpoint_away(void **unused)
{
    (void)unused;
    struct plan_process processes[2] = { { .host = 0 }, { .host = 1 } };
    const struct plan plan = {
        .num_processes = 2, .num_hosts = 2, .trainers = 2, .processes = processes
    };
    for (uint32_t seed = 0; seed < 8; seed++) {
        bool stays = seed >= 4;
        struct files files = *files_posix;
        const struct coordinator_options options = { .trainers = 2,
                                                     .plan = &plan,
                                                     .files = &files };
        struct checkpoint_part parts[2];
        struct saved saved;
        struct asker asker;
        files.unlink = unlink_unless_read_only;
        read_only = false;
        save_parts(&saved, 1);
        for (uint32_t rank = 0; rank < 2; rank++)
            assert_int_equal(checkpoint_write_part(files_posix, saved.folder, SAVED_STEP - 1, 1,
                                                   rank, "before", 3 + rank, &parts[rank], NULL),
                             0);
        const struct checkpoint_manifest before = { SAVED_STEP - 1, 1, 2, parts };
        assert_int_equal(checkpoint_commit(files_posix, saved.folder, &before, 1, NULL), 0);
        asker_open(&asker, seed, seed % 2 != 0); /* its node is that of process 1 */
        asker_spawn(&asker, &coordinator_ops, &options);
        const struct actor_options spawned = { .ops = stays ? &read_only_ops : &full_host_ops };
        struct address ignored;
        assert_int_equal(node_spawn(asker.node, &spawned, &ignored), 0);
        for (uint32_t rank = 0; rank < 2; rank++)
            join_era(&asker, (struct msg_join){ .rank = rank });
        for (uint32_t rank = 0; rank < 2; rank++) {
            struct msg_checkpoint_part head = report_of(&saved, 1, rank);
            head.keep = 1;
            asker.timeout_ns = rank == 0 ? ENV_SECOND_NS : 60 * ENV_SECOND_NS;
            (void)asker_ask(&asker, MSG_CHECKPOINT_PART, &head, sizeof head, saved.folder,
                            strlen(saved.folder));
        }
        if (stays)
            assert_int_equal(asker.reply_kind, MSG_CHECKPOINT_DONE);
        else
            assert_refused_with(&asker, TR_ENOSPC, "no room for a manifest");
        struct checkpoint_manifest manifest;
        int found = checkpoint_find(files_posix, saved.folder, SAVED_STEP, &manifest, NULL);
        assert_int_equal(found, stays ? 0 : TR_ENOENT);
        if (stays)
            checkpoint_manifest_fini(&manifest);
        assert_int_equal(
            checkpoint_find(files_posix, saved.folder, SAVED_STEP - 1, &manifest, NULL), 0);
        assert_int_equal(checkpoint_verify(files_posix, saved.folder, &manifest, NULL), 0);
        checkpoint_manifest_fini(&manifest);
        asker_close(&asker);
        remove_saved(&saved);
    }
}

static void ask_barrier(struct asker *asker, struct msg_barrier head)
{
    asker_ask(asker, MSG_BARRIER, &head, sizeof head, NULL, 0);
}

/* Each bound of a barrier: the last value is taken, the next one is not. */
static void barriers_are_taken_up_to_their_bounds(void **unused)
{
    (void)unused;
    const struct coordinator_options options = { .trainers = 2 };
    struct asker asker;
    asker_open(&asker, 5, true);
    asker_spawn(&asker, &coordinator_ops, &options);
    asker.timeout_ns = 10 * MS;
    ask_barrier(&asker, (struct msg_barrier){ .name = 1, .sequence = 1, .count = 0 });
    assert_refused_with(&asker, TR_ERANGE, "rank 0 of 0 cannot enter a barrier");
    ask_barrier(&asker, (struct msg_barrier){ .name = 1, .sequence = 1, .rank = 1, .count = 1 });
    assert_refused_with(&asker, TR_ERANGE, "rank 1 of 1 cannot");
    ask_barrier(&asker, (struct msg_barrier){ .name = 1, .sequence = 1, .count = 65537 });
    assert_refused_with(&asker, TR_ERANGE, "rank 0 of 65537 cannot");
    ask_barrier(&asker,
                (struct msg_barrier){ .name = 1, .sequence = 1, .rank = 65535, .count = 65536 });
    assert_int_equal(asker.status, TR_ETIMEDOUT);
    ask_barrier(&asker, (struct msg_barrier){ .name = 1, .sequence = 2, .count = 1, .era = 9 });
    assert_refused_with(&asker, TR_EROLLBACK, "era 9 is over");

    /* A name that ended is in use still, and can be used again when there is no other. */
    for (uint64_t name = 2; name <= COORDINATOR_BARRIERS_MAX; name++) {
        ask_barrier(&asker, (struct msg_barrier){ .name = name, .sequence = 1, .count = 1 });
        assert_int_equal(asker.status, 0);
        assert_int_equal(barrier_done(&asker)->status, 0);
        assert_int_equal(barrier_done(&asker)->name, name);
        assert_int_equal(barrier_done(&asker)->sequence, 1);
    }
    ask_barrier(&asker, (struct msg_barrier){ .name = 5000, .sequence = 1, .count = 1 });
    assert_refused_with(&asker, TR_EFULL, "1024 names of barriers are in use");
    ask_barrier(&asker, (struct msg_barrier){ .name = 2, .sequence = 2, .count = 1 });
    assert_int_equal(barrier_done(&asker)->status, 0);
    asker_close(&asker);

    /* In an era whose ranks are not all here no deadline decides: instances stay open. */
    asker_open(&asker, 6, false);
    asker_spawn(&asker, &coordinator_ops, &options);
    join_era(&asker, (struct msg_join){ .rank = 0 });
    asker.timeout_ns = 10 * MS;
    for (uint64_t sequence = 1; sequence <= 16; sequence++)
        assert_int_equal(come_to(&asker, 0, 7, sequence), TR_ETIMEDOUT);
    ask_barrier(&asker, (struct msg_barrier){ .name = 7, .sequence = 17, .count = 2, .era = 1 });
    assert_refused_with(&asker, TR_EFULL, "16 barriers of one name are open");
    ask_barrier(&asker,
                (struct msg_barrier){ .name = 7, .sequence = 16, .rank = 1, .count = 3, .era = 1 });
    assert_refused_with(&asker, TR_EMISMATCH,
                        "rank 1 waits for 3 ranks at a barrier, and others wait for 2");
    asker.timeout_ns = 600 * ENV_SECOND_NS;
    assert_int_equal(come_to(&asker, 1, 7, 16), 0);
    ask_barrier(&asker,
                (struct msg_barrier){ .name = 7, .sequence = 17, .rank = 1, .count = 2, .era = 2 });
    assert_refused_with(&asker, TR_EROLLBACK, "era 2 is over");
    asker_close(&asker);
}

static void ask_part(struct asker *asker, struct msg_checkpoint_part head, const char *folder)
{
    head.path_bytes = (uint32_t)strlen(folder);
    asker_ask(asker, MSG_CHECKPOINT_PART, &head, sizeof head, folder, strlen(folder));
}

/* Requests of a rank for what its job cannot have, each by its code and what it says. */
static void requests_that_fit_no_job_are_refused(void **unused)
{
    (void)unused;
    const struct coordinator_options options = { .trainers = 2 };
    struct saved saved;
    struct asker asker;
    save_parts(&saved, 1);
    asker_open(&asker, 7, true);
    asker_spawn(&asker, &coordinator_ops, &options);
    for (uint32_t rank = 0; rank < 2; rank++)
        join_era(&asker, (struct msg_join){ .rank = rank });
    asker.timeout_ns = ENV_SECOND_NS;

    struct msg_restore restore = { .world = 3 };
    asker_ask(&asker, MSG_RESTORE, &restore, sizeof restore, NULL, 0);
    assert_refused_with(&asker, TR_EMISMATCH, "a trainer expects 3 trainers, the job has 2");
    for (uint32_t rank = 0; rank < 3; rank += 2) { /* another's rank, and none */
        restore = (struct msg_restore){ .world = 2, .rank = rank };
        asker_ask(&asker, MSG_RESTORE, &restore, sizeof restore, NULL, 0);
        assert_refused_with(&asker, TR_EINVAL, rank == 0 ? "rank 0 asks" : "rank 2 asks");
    }
    struct msg_job_done done = { .rank = 2 };
    asker_ask(&asker, MSG_JOB_DONE, &done, sizeof done, NULL, 0);
    assert_refused(&asker, TR_ERANGE);
    assert_int_equal(asker_ask(&asker, MSG_STATUS_REQUEST, NULL, 0, NULL, 0), TR_EUNSUPPORTED);

    const struct msg_checkpoint_part part = report_of(&saved, 1, 0);
    struct msg_checkpoint_part head = part;
    ask_part(&asker, head, "");
    assert_refused_with(&asker, TR_EINVAL, "no folder for checkpoints was set");
    for (uint32_t era = 0; era <= 2; era += 2) {
        head = part;
        head.era = era;
        ask_part(&asker, head, saved.folder);
        assert_refused_with(&asker, TR_EROLLBACK, "is over");
    }
    head = part;
    head.sequence = 0;
    ask_part(&asker, head, saved.folder);
    assert_refused_with(&asker, TR_ERANGE, "rank 0 of 2 saves a part, its save 0");
    static const uint32_t worlds[][2] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 0, 65537 } };
    for (uint32_t i = 0; i < 4; i++) {
        head = part;
        head.rank = worlds[i][0];
        head.world = worlds[i][1];
        ask_part(&asker, head, saved.folder);
        assert_refused(&asker, TR_ERANGE);
    }
    ask_part(&asker, part, "/another");
    char text[128];
    snprintf(text, sizeof text, "keeps checkpoints in /another, others in %s", saved.folder);
    assert_refused_with(&asker, TR_EMISMATCH, text);
    /* One is under way: nobody saves another step, or for other trainers. */
    ask_part(&asker, part, saved.folder);
    assert_int_equal(asker.status, TR_ETIMEDOUT);
    head = report_of(&saved, 1, 1);
    head.step++;
    ask_part(&asker, head, saved.folder);
    assert_refused_with(&asker, TR_EMISMATCH,
                        "rank 1 saves step 6 of 2 trainers while others save step 5 of 2");
    head = report_of(&saved, 1, 1);
    head.world = 3;
    ask_part(&asker, head, saved.folder);
    assert_refused_with(&asker, TR_EMISMATCH,
                        "rank 1 saves step 5 of 3 trainers while others save step 5 of 2");
    ask_part(&asker, report_of(&saved, 1, 1), saved.folder);
    assert_int_equal(asker.status, 0);
    assert_int_equal(asker.reply_kind, MSG_CHECKPOINT_DONE);
    asker_close(&asker);
    remove_saved(&saved);
}

/* A rank that could not write its part fails the save for all, with what it said first; a status
 * that would have ranks ask again is no answer, and the next save is tried anew. */
static void a_part_that_could_not_be_written_fails_the_save(void **unused)
{
    static const int statuses[][2] = { { TR_ENOSPC, TR_ENOSPC }, { TR_EIO, TR_EIO },
                                       { TR_EINVAL, TR_EINVAL }, { TR_EROLLBACK, TR_EIO },
                                       { TR_ETIMEDOUT, TR_EIO }, { TR_EPEERDOWN, TR_EIO } };
    (void)unused;
    const struct coordinator_options options = { .trainers = 2 };
    for (uint32_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        struct saved saved;
        struct asker asker;
        save_parts(&saved, 1);
        asker_open(&asker, i, i % 2 != 0);
        asker_spawn(&asker, &coordinator_ops, &options);
        for (uint32_t rank = 0; rank < 2; rank++)
            join_era(&asker, (struct msg_join){ .rank = rank });
        asker.timeout_ns = ENV_SECOND_NS;
        struct msg_checkpoint_part head = report_of(&saved, 1, 1);
        head.status = statuses[i][0];
        ask_part(&asker, head, saved.folder);
        assert_int_equal(asker.status, TR_ETIMEDOUT);
        ask_part(&asker, report_of(&saved, 1, 0), saved.folder);
        assert_refused_with(&asker, statuses[i][1],
                            "trainer 1 could not write its part of the checkpoint of step 5: ");
        ask_part(&asker, head, saved.folder); /* a repeat has the same answer */
        assert_refused(&asker, statuses[i][1]);
        struct checkpoint_manifest none = { 0 };
        assert_int_equal(checkpoint_find(files_posix, saved.folder, SAVED_STEP, &none, NULL),
                         TR_ENOENT);
        for (uint32_t rank = 0; rank < 2; rank++) {
            head = report_of(&saved, 1, rank);
            head.sequence = 2;
            ask_part(&asker, head, saved.folder);
            assert_int_equal(asker.status, rank == 0 ? TR_ETIMEDOUT : 0);
        }
        assert_int_equal(asker.reply_kind, MSG_CHECKPOINT_DONE);
        asker_close(&asker);
        remove_saved(&saved);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_changes_no_part_of_what_was_made),
        cmocka_unit_test(a_manifest_that_is_refused_takes_no_checkpoint_away),
        cmocka_unit_test(only_a_checkpoint_of_the_present_era_counts_as_made),
        cmocka_unit_test(a_manifest_that_cannot_be_read_now_may_be_there),
        cmocka_unit_test(the_newest_save_that_failed_stays_known),
        cmocka_unit_test(what_a_rank_reports_first_is_written),
        cmocka_unit_test(a_restarted_coordinator_gives_up_nothing_that_was_passed),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(who_is_behind_learns_how_far),
        cmocka_unit_test(the_end_of_the_job_ends_everybody_once),
        cmocka_unit_test(the_result_that_is_written_ends_the_job),
        cmocka_unit_test(members_find_a_restarted_coordinator),
        cmocka_unit_test(barriers_hold_whatever_happens),
        cmocka_unit_test(barriers_are_taken_up_to_their_bounds),
        cmocka_unit_test(requests_that_fit_no_job_are_refused),
        cmocka_unit_test(a_part_that_could_not_be_written_fails_the_save),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
