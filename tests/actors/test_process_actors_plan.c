/* SPDX-License-Identifier: Apache-2.0 */
/* The actors of a job in several nodes with links between them: whichever roles are where, and
 * whichever actor dies meanwhile, the batches are those of one node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/error_reply.h"
#include "graph/digest.h"
#include "runtime/core/port.h"
#include "runtime/event/env_event.h"
#include "tests/actors/cluster_fixture.h"

#define EPOCHS 2u
#define STEPS_MAX 64u
#define WAIT_NS (60 * CLUSTER_FIXTURE_SECOND)

struct digests {
    uint32_t count;
    uint64_t of[EPOCHS * STEPS_MAX];
};

struct world {
    struct cluster_fixture fixture;
    struct port *ports[CLUSTER_FIXTURE_TRAINERS_MAX];
    struct address proxies[CLUSTER_FIXTURE_TRAINERS_MAX];
    struct digests digests[CLUSTER_FIXTURE_TRAINERS_MAX];
};

static void check(int rv, const struct error *error)
{
    if (rv != 0)
        fail_msg("%s: %s", tr_error_name(rv), error->text);
}

static struct message *make_open(struct world *world, struct port *port, uint32_t trainer)
{
    struct message *request = port_message(port, MSG_LOADER_OPEN);
    uint64_t *body = port_body_alloc(port, request, cluster_fixture_open_bytes(&world->fixture));
    assert_non_null(body);
    cluster_fixture_fill_open(&world->fixture, trainer, message_head(request), body);
    return request;
}

static uint64_t soon(struct port *port)
{
    return port_now_ns(port) + WAIT_NS;
}

static uint64_t open_loader(struct world *world, uint32_t trainer)
{
    uint32_t process = plan_trainer_node(&world->fixture.plan, trainer);
    char name[DIRECTORY_NAME_MAX];
    struct message *reply;
    assert_int_equal(port_open(world->fixture.parties[process].node, 0, &world->ports[trainer]), 0);
    struct port *port = world->ports[trainer];
    proxy_name(trainer, name);
    assert_int_equal(port_find(port, name, soon(port), &world->proxies[trainer]), 0);
    assert_int_equal(port_call(port, world->proxies[trainer], make_open(world, port, trainer),
                               soon(port), &reply),
                     0);
    assert_int_equal(reply->frame.kind, MSG_LOADER_OPENED);
    uint64_t steps = ((const struct msg_loader_opened *)message_head(reply))->num_batches;
    port_release(port, reply);
    assert_true(steps > 4 && steps < STEPS_MAX);
    return steps;
}

static void ask(struct world *world, uint32_t trainer, uint32_t epoch, uint64_t step)
{
    struct port *port = world->ports[trainer];
    struct message *request = port_message(port, MSG_BATCH_REQUEST), *reply;
    struct error error = { 0 };
    *(struct msg_batch_request *)message_head(request) = (struct msg_batch_request){
        .loader = cluster_fixture_loader(&world->fixture, trainer), .batch = step, .epoch = epoch
    };
    int rv = port_call(port, world->proxies[trainer], request, soon(port), &reply);
    if (rv != 0)
        fail_msg("trainer %u, batch %u of epoch %u: %s", trainer, (unsigned)step, epoch,
                 tr_strerror(rv));
    rv = error_reply_read(reply, &error);
    port_release(port, reply);
    check(rv, &error);
}

static void take(struct world *world, uint32_t trainer, uint32_t epoch, uint64_t step)
{
    struct batch_store *store = cluster_fixture_store(&world->fixture, trainer);
    struct digests *digests = &world->digests[trainer];
    uint64_t loader = cluster_fixture_loader(&world->fixture, trainer);
    struct sampled_batch *batch = batch_store_collect(store, loader, epoch, step);
    for (; batch == NULL; batch = batch_store_collect(store, loader, epoch, step))
        ask(world, trainer, epoch, step);
    assert_int_equal(batch_digest(&batch->space.batch, &digests->of[digests->count++]), 0);
    sampled_batch_release(batch);
}

/* strike is called in the middle of the first epoch, with the batches that are on their way. */
static void run(const struct cluster_fixture_layout *layout, void (*strike)(struct world *world),
                struct digests digests[CLUSTER_FIXTURE_TRAINERS_MAX])
{
    struct world *world = calloc(1, sizeof *world);
    uint64_t steps = 0;
    struct env *env;
    assert_non_null(world);
    assert_int_equal(env_event_create(1, &env, NULL), 0);
    cluster_fixture_open(&world->fixture, layout, env, false);
    for (uint32_t t = 0; t < layout->trainers; t++)
        steps = open_loader(world, t);
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++)
        for (uint64_t step = 0; step < steps; step++) {
            if (strike != NULL && epoch == 0 && step == steps / 2)
                strike(world);
            for (uint32_t t = 0; t < layout->trainers; t++)
                take(world, t, epoch, step);
        }
    memcpy(digests, world->digests, sizeof world->digests);
    for (uint32_t t = 0; t < layout->trainers; t++) {
        port_close(world->ports[t]);
        port_destroy(world->ports[t]);
    }
    cluster_fixture_close(&world->fixture);
    free(world);
}

static void compare(const struct cluster_fixture_layout *alone,
                    const struct cluster_fixture_layout *fixture,
                    void (*strike)(struct world *world))
{
    struct digests wanted[CLUSTER_FIXTURE_TRAINERS_MAX] = { { 0 } },
                   got[CLUSTER_FIXTURE_TRAINERS_MAX] = { { 0 } };
    run(alone, NULL, wanted);
    run(fixture, strike, got);
    for (uint32_t t = 0; t < alone->trainers; t++) {
        assert_true(wanted[t].count > 8 && wanted[t].of[0] != wanted[t].of[1]);
        assert_int_equal(got[t].count, wanted[t].count);
        assert_memory_equal(got[t].of, wanted[t].of, wanted[t].count * sizeof wanted[t].of[0]);
    }
}

static void servers_apart(void **state)
{
    static const struct cluster_fixture_layout layout = {
        .num_processes = 2,
        .samplers = 1,
        .trainers = 1,
        .direct = true,
        .processes = { { 1, { 0 }, { 0, 1 }, { 0, 1 } }, { 1, { 1 }, { 1, 0 }, { 1, 0 } } },
    };
    (void)state;
    compare(&cluster_fixture_one, &layout, NULL);
}

static void samplers_apart_from_trainers(void **state)
{
    static const struct cluster_fixture_layout layout = {
        .num_processes = 3,
        .samplers = 2,
        .trainers = 1,
        .coordinator = 2,
        .direct = true,
        .at_once_bytes = 1,
        .processes = { { 2, { 0, 1 }, { 0, 0 }, { 0, 0 } },
                       { 0, { 0 }, { 0, 2 }, { 0, 0 } },
                       { 0, { 0 }, { 2, 0 }, { 0, 1 } } },
    };
    (void)state;
    compare(&cluster_fixture_one, &layout, NULL);
}

static void two_trainers_apart(void **state)
{
    static const struct cluster_fixture_layout layout = {
        .num_processes = 2,
        .samplers = 2,
        .trainers = 2,
        .direct = true,
        .processes = { { 1, { 0 }, { 0, 1 }, { 0, 1 } }, { 1, { 1 }, { 1, 1 }, { 1, 1 } } },
    };
    /* One has no sampler of its own. */
    static const struct cluster_fixture_layout borrowed = {
        .num_processes = 2,
        .samplers = 1,
        .trainers = 2,
        .coordinator = 1,
        .processes = { { 1, { 1 }, { 0, 1 }, { 0, 1 } }, { 1, { 0 }, { 1, 0 }, { 1, 1 } } },
    };
    (void)state;
    compare(&cluster_fixture_one_of_two, &layout, NULL);
    compare(&cluster_fixture_one_of_two, &borrowed, NULL);
}

/* Each process counts its loaders by itself: what one calls a loader of its own would have the seeds
 * of another process's. */
static void a_list_of_another_process_is_refused(void **state)
{
    static const struct cluster_fixture_layout layout = {
        .num_processes = 2,
        .samplers = 2,
        .trainers = 2,
        .direct = true,
        .processes = { { 1, { 0 }, { 0, 1 }, { 0, 1 } }, { 1, { 1 }, { 1, 1 }, { 1, 1 } } },
    };
    const uint64_t loader = 77;
    struct world *world = calloc(1, sizeof *world);
    struct seed_list *list = seed_list_create(CLUSTER_FIXTURE_SEEDS);
    struct error error = { 0 };
    struct message *reply;
    struct env *env;
    (void)state;
    assert_true(world != NULL && list != NULL);
    assert_int_equal(env_event_create(1, &env, NULL), 0);
    cluster_fixture_open(&world->fixture, &layout, env, false);
    for (uint32_t t = 0; t < layout.trainers; t++)
        (void)open_loader(world, t);
    assert_int_equal(seed_lists_put(world->fixture.parties[0].lists, loader, &list, 1), 0);
    /* Trainer 0's proxy is asked by both processes; its own is the second, and finds the list. */
    for (uint32_t process = 2; process-- > 0;) {
        struct port *port = world->ports[process];
        struct message *request = make_open(world, port, 0);
        ((struct msg_loader_open *)message_head(request))->loader = loader;
        assert_int_equal(port_call(port, world->proxies[0], request, soon(port), &reply), 0);
        assert_int_equal(error_reply_read(reply, &error), process == 0 ? 0 : TR_EUNSUPPORTED);
        port_release(port, reply);
        assert_int_equal(atomic_load(&list->references), process == 0 ? 3 : 2);
    }
    assert_string_equal(error.text, "loader 77: its seeds are a list in process 1; open it in "
                                    "process 0, which this trainer-proxy is in");
    for (uint32_t t = 0; t < layout.trainers; t++) {
        port_close(world->ports[t]);
        port_destroy(world->ports[t]);
    }
    cluster_fixture_close(&world->fixture);
    assert_int_equal(atomic_load(&list->references), 1);
    seed_list_release(list);
    free(world);
}

static void kill_first(struct world *world)
{
    cluster_fixture_stop(&world->fixture, 0, 0);
    cluster_fixture_start(&world->fixture, 0);
}

static void a_server_dies_and_comes_back(void **state)
{
    static const struct cluster_fixture_layout layout = {
        .num_processes = 2,
        .samplers = 1,
        .trainers = 1,
        .coordinator = 1,
        .processes = { { 2, { 0, 1 }, { 0, 0 }, { 0, 0 } }, { 0, { 0 }, { 0, 1 }, { 0, 1 } } },
    };
    (void)state;
    compare(&cluster_fixture_one, &layout, kill_first);
}

/* Its replica, or the other sampler, does all from then on. */
static void leave_first_dead(struct world *world)
{
    cluster_fixture_stop(&world->fixture, 0, 0);
}

static void a_replica_takes_over(void **state)
{
    static const struct cluster_fixture_layout layout = {
        .num_processes = 3,
        .samplers = 1,
        .trainers = 1,
        .coordinator = 2,
        .processes = { { 2, { 0, 1 }, { 0, 0 }, { 0, 0 } },
                       { 2, { 0, 1 }, { 0, 0 }, { 0, 0 } },
                       { 0, { 0 }, { 0, 1 }, { 0, 1 } } },
    };
    (void)state;
    compare(&cluster_fixture_one, &layout, NULL);
    compare(&cluster_fixture_one, &layout, leave_first_dead);
}

static void another_sampler_takes_over(void **state)
{
    static const struct cluster_fixture_layout layout = {
        .num_processes = 3,
        .samplers = 2,
        .trainers = 1,
        .coordinator = 2,
        .processes = { { 0, { 0 }, { 0, 1 }, { 0, 0 } },
                       { 1, { 1 }, { 1, 1 }, { 0, 0 } },
                       { 1, { 0 }, { 2, 0 }, { 0, 1 } } },
    };
    (void)state;
    compare(&cluster_fixture_one, &layout, leave_first_dead);
    compare(&cluster_fixture_one, &layout, kill_first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_apart),
        cmocka_unit_test(samplers_apart_from_trainers),
        cmocka_unit_test(two_trainers_apart),
        cmocka_unit_test(a_server_dies_and_comes_back),
        cmocka_unit_test(a_replica_takes_over),
        cmocka_unit_test(another_sampler_takes_over),
        cmocka_unit_test(a_list_of_another_process_is_refused),
    };
    return cmocka_run_group_tests_name("process_actors_plan", tests, NULL, NULL);
}
