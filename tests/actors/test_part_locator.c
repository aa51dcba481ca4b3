/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for the server of a partition: all that wait for it are notified once, in their order,
 * when it is found or the first one's deadline has come; and which loss of a server forgets it, and
 * looks for another one first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/part_locator.h"
#include "runtime/base/error.h"
#include "tests/actors/asker.h"

#define MS UINT64_C(1000000)
#define PARTS 3u
#define PART 2u /* looked for */
#define WAITS 4u
#define OWN_NODE 1u /* the asker's */

struct stage;

struct note {
    struct stage *stage;
    struct part_locator_wait wait;
    bool notified;
    int status;
    uint64_t at_ns;
};

struct stage {
    struct asker asker;
    struct part_locator locator;
    const struct plan *plan;
    uint64_t server_after_ns; /* the server comes up then; 0: never */
    uint64_t deadlines_ns[WAITS];
    struct note notes[WAITS];
    uint32_t order[WAITS], notified;
    struct address server;
    struct timer timer;
};

static int drop(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static int start_server(struct actor *self, const void *arg)
{
    char name[DIRECTORY_NAME_MAX];
    (void)arg;
    server_part_name(PART, name);
    assert_string_equal(name, "part/2");
    return directory_register(self, name, NULL, NULL);
}

static const struct actor_ops server_ops = { .name = "server",
                                             .start = start_server,
                                             .receive = drop };

static void come_up(struct actor *self, void *arg)
{
    struct stage *stage = arg;
    const struct actor_options options = { .ops = &server_ops };
    assert_int_equal(actor_spawn(self, &options, &stage->server), 0);
}

static void found(struct part_locator_wait *wait, int status)
{
    struct note *note = wait->arg;
    struct stage *stage = note->stage;
    assert_false(note->notified);
    note->notified = true;
    note->status = status;
    note->at_ns = env_sim_now_ns(stage->asker.env);
    stage->order[stage->notified++] = (uint32_t)(note - stage->notes);
    /* The address is there before anyone hears of it. */
    assert_int_equal(address_is_none(part_locator_address(&stage->locator, PART)), status != 0);
    if (note == &stage->notes[0]) /* the first to hear stops another one */
        part_locator_wait_stop(&stage->notes[2].wait);
}

static int start_seeker(struct actor *self, const void *arg)
{
    struct stage *stage = (struct stage *)(uintptr_t)arg;
    actor_set_state(self, stage);
    assert_int_equal(part_locator_init(&stage->locator, self, stage->plan, PARTS), 0);
    if (stage->server_after_ns != 0)
        timer_start(self, &stage->timer, actor_now_ns(self) + stage->server_after_ns, come_up,
                    stage);
    for (uint32_t i = 0; i < WAITS; i++) {
        struct note *note = &stage->notes[i];
        *note = (struct note){ .stage = stage, .wait = { .found = found, .arg = note } };
        part_locator_find(&stage->locator, PART, actor_now_ns(self) + stage->deadlines_ns[i],
                          &note->wait);
        assert_false(note->notified);
    }
    part_locator_wait_stop(&stage->notes[1].wait);
    part_locator_wait_stop(&stage->notes[1].wait); /* it waits no more: nothing */
    return 0;
}

static void end_seeker(struct actor *self)
{
    part_locator_fini(&((struct stage *)actor_state(self))->locator);
}

static const struct actor_ops seeker_ops = {
    .name = "seeker", .start = start_seeker, .receive = drop, .fini = end_seeker
};

static void run_for(struct stage *stage, uint64_t ns)
{
    struct env *env = stage->asker.env;
    (void)env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + ns);
}

/* All processes serve the partitions, each on a host of its own. */
static void serve_all(struct plan *plan, struct plan_process *processes, uint32_t *parts,
                      uint32_t count)
{
    *plan = (struct plan){
        .num_parts = PARTS, .num_processes = count, .num_hosts = count, .processes = processes
    };
    for (uint32_t i = 0; i < PARTS; i++)
        parts[i] = i;
    for (uint32_t p = 0; p < count; p++)
        processes[p] = (struct plan_process){
            .host = p, .servers = 1, .parts = parts, .num_parts = PARTS
        };
}

static void open_stage(struct stage *stage)
{
    const struct actor_options options = { .ops = &seeker_ops, .arg = stage };
    struct address ignored;
    asker_open(&stage->asker, 1, true);
    assert_int_equal(node_spawn(stage->asker.node, &options, &ignored), 0);
}

static void a_search_notifies_all_that_wait_once(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t processes; /* 0: no plan */
        uint64_t server_after_ns;
        int status;
        uint64_t from_ns, to_ns;
    } cases[] = {
        { 0, 700 * MS, 0, 700 * MS, 701 * MS },
        { 0, 0, TR_ETIMEDOUT, 3000 * MS, 3050 * MS },
        /* With others beside it the search comes back to this one every other time. */
        { 3, 100 * MS, 0, 100 * MS, 101 * MS },
        { 3, 700 * MS, 0, 700 * MS, 720 * MS },
        { 3, 0, TR_ETIMEDOUT, 3000 * MS, 3050 * MS },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan plan;
        struct plan_process processes[3];
        uint32_t parts[PARTS];
        struct stage stage = { .server_after_ns = cases[i].server_after_ns,
                               /* that of the search is the first one's */
                               .deadlines_ns = { 3000 * MS, 100 * MS, 200 * MS, 9000 * MS } };
        serve_all(&plan, processes, parts, cases[i].processes);
        stage.plan = cases[i].processes > 0 ? &plan : NULL;
        open_stage(&stage);
        uint64_t begin_ns = env_sim_now_ns(stage.asker.env);
        run_for(&stage, 10 * ENV_SECOND_NS);
        assert_int_equal(stage.notified, 2);
        assert_int_equal(stage.order[0], 0);
        assert_int_equal(stage.order[1], 3);
        for (uint32_t w = 0; w < WAITS; w += 3) {
            assert_int_equal(stage.notes[w].status, cases[i].status);
            assert_in_range(stage.notes[w].at_ns - begin_ns, cases[i].from_ns, cases[i].to_ns);
        }
        struct address address = part_locator_address(&stage.locator, PART);
        assert_true(address_equal(address, cases[i].status == 0 ? stage.server : ADDRESS_NONE));
        for (uint32_t part = 0; part < PART; part++)
            assert_true(address_is_none(part_locator_address(&stage.locator, part)));
        assert_false(stage.locator.parts[PART].finding);
        asker_close(&stage.asker);
    }
}

/* A server that did not answer in time is kept where there is no other. The next search begins
 * with another one, but with the own process's where its server has only died. */
static void a_loss_forgets_the_server_that_was_lost(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t processes, node;
        int status;
        bool other, lost; /* an address that is not the known one; it is forgotten */
        uint32_t turn;    /* from 1 of 3 */
    } cases[] = {
        { 0, OWN_NODE, TR_EPEERDOWN, false, true, 1 },
        { 0, OWN_NODE, TR_ETIMEDOUT, false, false, 1 },
        { 3, OWN_NODE, TR_EPEERDOWN, false, true, 1 },
        { 3, OWN_NODE, TR_ETIMEDOUT, false, true, 2 },
        { 3, 0, TR_EPEERDOWN, false, true, 2 },
        { 3, 0, TR_ETIMEDOUT, false, true, 2 },
        { 3, 2, TR_EPEERDOWN, true, false, 1 },
        { 3, 2, TR_EFULL, false, false, 1 },
        { 3, 2, TR_ENOMEM, false, false, 1 },
        { 2, 0, TR_EPEERDOWN, false, true, 0 }, /* behind the last is the first */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan plan;
        struct plan_process processes[3];
        uint32_t parts[PARTS];
        struct stage stage = { .deadlines_ns = { MS, MS, MS, MS } };
        serve_all(&plan, processes, parts, cases[i].processes);
        stage.plan = cases[i].processes > 0 ? &plan : NULL;
        open_stage(&stage);
        run_for(&stage, ENV_SECOND_NS);
        struct part_location *location = &stage.locator.parts[PART];
        struct address known = location->address, who;
        assert_true(address_is_none(known));
        known = (struct address){
            .node = cases[i].node, .incarnation = 1, .slot = 7, .generation = 1
        };
        who = known;
        who.slot += cases[i].other;
        location->address = known;
        location->turn = 1;
        part_locator_lost(&stage.locator, PART, who, cases[i].status);
        assert_int_equal(address_is_none(location->address), cases[i].lost);
        assert_int_equal(location->turn, cases[i].turn);
        asker_close(&stage.asker);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_notifies_all_that_wait_once),
        cmocka_unit_test(a_loss_forgets_the_server_that_was_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
