/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs over several nodes in the simulator, with connections that break, ways that clog, and nodes
 * that die, some for good: every batch is the one that a single node makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/error_reply.h"
#include "graph/digest.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/timer.h"
#include "runtime/sim/env_sim.h"
#include "tests/actors/cluster_fixture.h"
#include "tests/schemas/random.h"
#include "tests/seeds.h"

#define EPOCHS 2u
#define STEPS_MAX 64u
#define LIMIT_NS (4000 * ENV_SECOND_NS)
#define ASK_NS (5 * ENV_SECOND_NS)
#define AGAIN_NS UINT64_C(20000000)
#define THINK_NS UINT64_C(30000000) /* most time that a trainer spends on a batch */
#define STRIKES 8u

struct digests {
    uint32_t count;
    uint64_t of[EPOCHS * STEPS_MAX];
};

/* The thread that trains, as an actor beside its proxy. */
struct trainer {
    struct cluster_fixture *fixture;
    struct actor *self;
    uint32_t rank, epoch;
    uint64_t steps, next;
    struct address proxy;
    struct timer timer;
    struct digests digests;
    bool done;
};

static void find(struct actor *self, void *arg);
static void go(struct actor *self, void *arg);

static void later(struct trainer *t, uint64_t after_ns, void (*fire)(struct actor *, void *))
{
    timer_start(t->self, &t->timer, actor_now_ns(t->self) + after_ns, fire, t);
}

/* A lack that passes is asked again; all else is a failure. */
static void expect_passing(const struct trainer *t, int rv, const struct error *error)
{
    if (rv != TR_EPEERDOWN && rv != TR_ETIMEDOUT && rv != TR_EFULL && rv != TR_ENOMEM &&
        rv != TR_ECANCELED && rv != TR_ECLOSED)
        fail_msg("trainer %u, batch %u of epoch %u: %s: %s", t->rank, (unsigned)t->next, t->epoch,
                 tr_error_name(rv), error->text);
}

static void opened(struct actor *self, void *arg, int status, struct message *reply)
{
    struct trainer *t = arg;
    if (status == TR_ECANCELED)
        return;
    if (status == 0) {
        assert_int_equal(reply->frame.kind, MSG_LOADER_OPENED);
        t->steps = ((const struct msg_loader_opened *)message_head(reply))->num_batches;
        assert_true(t->steps > 4 && t->steps < STEPS_MAX);
    }
    message_release(self, reply);
    later(t, 0, status == 0 ? go : find);
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct trainer *t = arg;
    if (status == TR_ECANCELED)
        return;
    assert_int_equal(status, 0);
    t->proxy = address;
    struct message *request = message_create(self, MSG_LOADER_OPEN);
    uint64_t *body = message_body_alloc(self, request, cluster_fixture_open_bytes(t->fixture));
    cluster_fixture_fill_open(t->fixture, t->rank, message_head(request), body);
    assert_int_equal(
        actor_call(self, address, request, actor_now_ns(self) + ASK_NS, opened, t, NULL), 0);
}

static void find(struct actor *self, void *arg)
{
    struct trainer *t = arg;
    char name[DIRECTORY_NAME_MAX];
    proxy_name(t->rank, name);
    assert_int_equal(directory_wait(self, name, actor_now_ns(self) + LIMIT_NS, found, t), 0);
}

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct trainer *t = arg;
    struct error error = { 0 };
    int rv = status == 0 ? error_reply_read(reply, &error) : status;
    message_release(self, reply);
    if (rv != 0)
        expect_passing(t, rv, &error);
    later(t, rv == 0 ? 0 : AGAIN_NS, status == TR_EPEERDOWN || rv == TR_ECLOSED ? find : go);
}

static void ask(struct trainer *t)
{
    struct message *request = message_create(t->self, MSG_BATCH_REQUEST);
    *(struct msg_batch_request *)message_head(request) = (struct msg_batch_request){
        .loader = cluster_fixture_loader(t->fixture, t->rank), .batch = t->next, .epoch = t->epoch
    };
    assert_int_equal(
        actor_call(t->self, t->proxy, request, actor_now_ns(t->self) + ASK_NS, answered, t, NULL),
        0);
}

static void take(struct trainer *t, struct sampled_batch *batch)
{
    assert_int_equal(batch_digest(&batch->space.batch, &t->digests.of[t->digests.count++]), 0);
    sampled_batch_release(batch);
    t->next++;
    if (t->next == t->steps) {
        t->next = 0;
        t->epoch++;
    }
    t->done = t->epoch == EPOCHS;
}

static void go(struct actor *self, void *arg)
{
    struct trainer *t = arg;
    struct batch_store *store = cluster_fixture_store(t->fixture, t->rank);
    if (t->done)
        return;
    struct sampled_batch *batch = batch_store_collect(
        store, cluster_fixture_loader(t->fixture, t->rank), t->epoch, t->next);
    if (batch == NULL) {
        ask(t);
        return;
    }
    take(t, batch);
    later(t, actor_random(self) % THINK_NS, go);
}

static int start(struct actor *self, const void *arg)
{
    struct trainer *t = (struct trainer *)(uintptr_t)arg;
    actor_set_state(self, t);
    t->self = self;
    find(self, t);
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops trainer_ops = { .name = "trainer",
                                              .start = start,
                                              .receive = receive };

static const struct layout_case {
    struct cluster_fixture_layout layout;
    uint32_t may_stay; /* a mask of processes: one of them may stay dead */
} cases[] = {
    { { .num_processes = 2,
        .samplers = 1,
        .trainers = 1,
        .coordinator = 1,
        .direct = true,
        .processes = { { 1, { 1 }, { 0, 0 }, { 0, 0 } }, { 1, { 0 }, { 0, 1 }, { 0, 1 } } } },
      0 },
    { { .num_processes = 3,
        .samplers = 2,
        .trainers = 1,
        .coordinator = 2,
        .at_once_bytes = 1,
        .processes = { { 2, { 0, 1 }, { 0, 0 }, { 0, 0 } },
                       { 0, { 0 }, { 0, 2 }, { 0, 0 } },
                       { 0, { 0 }, { 2, 0 }, { 0, 1 } } } },
      0 },
    { { .num_processes = 4,
        .samplers = 2,
        .trainers = 1,
        .coordinator = 3,
        .direct = true,
        .processes = { { 2, { 0, 1 }, { 0, 1 }, { 0, 0 } },
                       { 2, { 0, 1 }, { 1, 1 }, { 0, 0 } },
                       { 0, { 0 }, { 2, 0 }, { 0, 0 } },
                       { 0, { 0 }, { 2, 0 }, { 0, 1 } } } },
      7 },
    { { .num_processes = 4,
        .samplers = 2,
        .trainers = 2,
        .coordinator = 0,
        .at_once_bytes = 1,
        .processes = { { 1, { 0 }, { 0, 0 }, { 0, 0 } },
                       { 1, { 1 }, { 0, 2 }, { 0, 0 } },
                       { 0, { 0 }, { 2, 0 }, { 0, 1 } },
                       { 0, { 0 }, { 2, 0 }, { 1, 1 } } } },
      0 },
};

struct run {
    struct cluster_fixture fixture;
    struct cluster_fixture_play play;
    struct trainer trainers[CLUSTER_FIXTURE_TRAINERS_MAX];
    uint64_t draws;
};

static bool is_done(const void *arg, uint32_t rank)
{
    return ((const struct run *)arg)->trainers[rank].done;
}

/* The thread of a process that is started again goes on where it stood. */
static struct actor_options trainer_of(void *arg, uint32_t rank)
{
    struct run *run = arg;
    struct trainer *t = &run->trainers[rank];
    t->fixture = &run->fixture;
    t->rank = rank;
    t->timer = (struct timer){ 0 };
    return (struct actor_options){ .ops = &trainer_ops, .arg = t };
}

/* It comes back before others noticed, or long after. */
static void strike_node(struct run *run)
{
    uint32_t process = (uint32_t)random_below(&run->draws, run->fixture.layout->num_processes);
    cluster_fixture_kill(&run->fixture, process);
    (void)cluster_fixture_play_run(&run->play, random_below(&run->draws, 2) == 0
                                                   ? CLUSTER_FIXTURE_DEAD_NS / 100
                                                   : 3 * CLUSTER_FIXTURE_DEAD_NS);
    cluster_fixture_play_start(&run->play, process);
}

static void strike(struct run *run)
{
    struct env *env = run->fixture.env;
    uint32_t n = run->fixture.layout->num_processes;
    uint64_t until_ns = env_sim_now_ns(env) +
                        random_below(&run->draws, 2 * CLUSTER_FIXTURE_DEAD_NS);
    switch (random_below(&run->draws, 4)) {
    case 0:
        (void)env_sim_net_reset(env);
        break;
    case 1:
        env_sim_net_clog(env, (uint32_t)random_below(&run->draws, n),
                         (uint32_t)random_below(&run->draws, n), until_ns);
        break;
    case 2:
        env_sim_pause(env, run->fixture.parties[random_below(&run->draws, n)].node, 0, until_ns);
        break;
    default:
        strike_node(run);
        break;
    }
}

/* One that may stay dead does: others serve and sample what it did. */
static void reap(struct run *run, const struct layout_case *c)
{
    uint32_t process = (uint32_t)random_below(&run->draws, c->layout.num_processes);
    if ((c->may_stay >> process & 1) != 0)
        cluster_fixture_kill(&run->fixture, process);
}

static void play(uint64_t seed, const struct cluster_fixture_layout *layout,
                 const struct layout_case *c, struct digests digests[CLUSTER_FIXTURE_TRAINERS_MAX])
{
    struct run *run = calloc(1, sizeof *run);
    struct env *env;
    assert_non_null(run);
    run->draws = seed;
    run->play = (struct cluster_fixture_play){ &run->fixture, trainer_of, is_done, run };
    assert_int_equal(env_sim_create(seed, NULL, &env), 0);
    cluster_fixture_open(&run->fixture, layout, env, true);
    for (uint32_t p = 0; p < layout->num_processes; p++)
        cluster_fixture_play_start_trainers(&run->play, p);
    for (uint32_t i = 0; i < STRIKES && c != NULL && !cluster_fixture_play_is_done(&run->play);
         i++) {
        (void)cluster_fixture_play_run(&run->play,
                                       random_below(&run->draws, CLUSTER_FIXTURE_SECOND / 5));
        strike(run);
    }
    if (c != NULL && c->may_stay != 0 && random_below(&run->draws, 2) == 0)
        reap(run, c);
    int rv = cluster_fixture_play_run(&run->play, LIMIT_NS);
    if (rv != 0)
        fail_msg("the batches did not come: %s", tr_error_name(rv));
    for (uint32_t i = 0; i < layout->trainers; i++)
        digests[i] = run->trainers[i].digests;
    cluster_fixture_close(&run->fixture);
    free(run);
}

static void batches_are_those_of_one_node(void **state)
{
    struct digests one[CLUSTER_FIXTURE_TRAINERS_MAX] = { { 0 } },
                   two[CLUSTER_FIXTURE_TRAINERS_MAX] = { { 0 } };
    struct seeds seeds = seeds_wanted(40);
    (void)state;
    play(1, &cluster_fixture_one, NULL, one);
    play(1, &cluster_fixture_one_of_two, NULL, two);
    assert_true(one[0].count > 8 && one[0].of[0] != one[0].of[1]);
    for (uint64_t seed = seeds.begin; seed < seeds.end; seed++) {
        const struct layout_case *c = &cases[seed % (sizeof cases / sizeof *cases)];
        const struct digests *wanted = c->layout.trainers == 1 ? one : two;
        struct digests got[CLUSTER_FIXTURE_TRAINERS_MAX] = { { 0 } };
        seeds_note(seed);
        play(seed, &c->layout, c, got);
        for (uint32_t i = 0; i < c->layout.trainers; i++) {
            assert_int_equal(got[i].count, wanted[i].count);
            assert_memory_equal(got[i].of, wanted[i].of, got[i].count * sizeof got[i].of[0]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_those_of_one_node),
    };
    return cmocka_run_group_tests_name("process_actors_sim", tests, NULL, NULL);
}
