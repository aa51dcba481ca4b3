/* SPDX-License-Identifier: Apache-2.0 */
/* The oracles of simulated jobs: each is silent where its promise is kept, at its bound too, and says
 * what was not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/fleet_oracles.h"
#include "sim/oracles.h"

#define PROCESSES 3u
#define LOOKED_AT 1u /* the process that runs */
#define WINDOW_BYTES 1000u
#define LINK_BYTES (18u * WINDOW_BYTES) /* of one link, as fleet_oracles.c has it */
#define REPLY_BYTES 300u
#define BATCH_BYTES 4000u
#define MESSAGE_BYTES_MAX ((size_t)4 << 30)

/* The linker gives these the questions to the node (tests.mk). */
static struct links_status links[2];
static struct account messages;
static int failure;

uint32_t __wrap_links_status(struct node *node, struct links_status *status, uint32_t most);
struct account *__wrap_node_message_account(struct node *node);
int __wrap_node_failure(const struct node *node);

int __wrap_node_failure(const struct node *node)
{
    (void)node;
    return failure;
}

uint32_t __wrap_links_status(struct node *node, struct links_status *status, uint32_t most)
{
    (void)node;
    assert_true(most >= 2);
    memcpy(status, links, sizeof links);
    return 2;
}

struct account *__wrap_node_message_account(struct node *node)
{
    (void)node;
    return &messages;
}

static struct fleet *begin(void)
{
    struct fleet *fleet = calloc(1, sizeof *fleet);
    assert_non_null(fleet);
    struct fleet_process *process = &fleet->processes[LOOKED_AT];
    fleet->plan.plan.num_processes = PROCESSES;
    fleet->plan.window_bytes = WINDOW_BYTES;
    fleet->plan.replies_bytes_max = REPLY_BYTES;
    fleet->plan.batch_bytes_max = BATCH_BYTES;
    process->number = LOOKED_AT;
    process->node = (struct node *)(void *)fleet;
    account_init(&process->actors.replies, "replies", SIZE_MAX);
    process->store = batch_store_create(SIZE_MAX / 2);
    assert_non_null(process->store);
    assert_int_equal(batch_store_open_loader(process->store, 1, BATCH_BYTES), 0);
    assert_int_equal(batch_store_reserve(process->store, 1, 0, 0), 0);
    account_init(&messages, "messages", MESSAGE_BYTES_MAX);
    memset(links, 0, sizeof links);
    links[0].queued_bytes = LINK_BYTES;
    links[1] = (struct links_status){ .node = 2,
                                      .queued_bytes = 1,
                                      .retained_bytes = LINK_BYTES - 1 };
    assert_int_equal(account_reserve(&process->actors.replies, REPLY_BYTES, NULL), 0);
    assert_int_equal(account_reserve(&messages, 1000, NULL), 0);
    return fleet;
}

/* says NULL: nothing is wrong. */
static void look(struct fleet *fleet, const char *says)
{
    struct fleet_process *process = &fleet->processes[LOOKED_AT];
    fleet_oracles_look(fleet);
    if (says == NULL ? fleet->error.code != 0
                     : fleet->error.code != TR_EMISMATCH || strcmp(fleet->error.text, says) != 0)
        fail_msg("\"%s\" instead of \"%s\"", fleet->error.text, says != NULL ? says : "");
    account_release(&process->actors.replies, account_used(&process->actors.replies));
    account_fini(&process->actors.replies);
    account_release(&messages, account_used(&messages));
    account_fini(&messages);
    batch_store_close(process->store);
    batch_store_release(process->store);
    free(fleet);
}

static void bounds_that_are_kept_are_right(void **state)
{
    struct fleet *fleet = begin();
    (void)state;
    messages.bound_bytes = 1000;
    look(fleet, NULL);
    /* Nobody is asked who does not run. */
    fleet = begin();
    fleet->processes[LOOKED_AT].node = NULL;
    links[0].queued_bytes++;
    look(fleet, NULL);
}

static void a_link_that_holds_too_much_is_named(void **state)
{
    (void)state;
    struct fleet *fleet = begin();
    links[1].retained_bytes++;
    look(fleet, "the link from process 1 to 2 holds 1 + 18000 of 18000 bytes");
    fleet = begin();
    links[0].queued_bytes++;
    look(fleet, "the link from process 1 to 0 holds 18001 + 0 of 18000 bytes");
}

static void accounts_beyond_their_bounds_are_named(void **state)
{
    (void)state;
    struct fleet *fleet = begin();
    messages.bound_bytes = 999;
    look(fleet, "process 1: the account of messages holds 1000 of 999 bytes");
    fleet = begin();
    messages.bound_bytes = MESSAGE_BYTES_MAX + 1;
    look(fleet, "process 1: the account of messages holds 1000 of 4294967297 bytes");
    fleet = begin();
    assert_int_equal(account_reserve(&fleet->processes[LOOKED_AT].actors.replies, 1, NULL), 0);
    look(fleet, "process 1: replies of 301 bytes are on their way, 300 may be");
    fleet = begin();
    assert_int_equal(batch_store_open_loader(fleet->processes[LOOKED_AT].store, 2, 1), 0);
    assert_int_equal(batch_store_reserve(fleet->processes[LOOKED_AT].store, 2, 0, 0), 0);
    look(fleet, "process 1: account \"batches\" holds 4001 bytes");
}

/* How a run of a node ended, as env_sim_run() says it. */
static void each_bad_end_has_its_words(void **state)
{
    static const struct {
        int rc, failure;
        const char *says;
    } ends[] = {
        { 0, 0, "" },
        { TR_ETIMEDOUT, 0, "2 of 3 trainers finished in " },
        { TR_EEND, 0, "deadlock: 2 of 3 trainers finished, and nothing can happen any more" },
        { TR_ERANGE, 0, "livelock: 0 steps, 2 of 3 trainers finished" },
        { TR_EIO, 0, "the run ended with " },
        { TR_ETIMEDOUT, TR_ENOMEM, "the node failed: " },
    };
    struct env *env;
    (void)state;
    assert_int_equal(env_sim_create(1, NULL, &env), 0);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct world *world = calloc(1, sizeof *world);
        assert_non_null(world);
        world->env = env;
        world->finished = 2;
        world->scenario.clients = 3;
        failure = ends[i].failure;
        oracles_ended(world, ends[i].rc);
        assert_int_equal(world->error.code, i == 0 ? 0 : TR_EMISMATCH);
        if (strncmp(world->error.text, ends[i].says, strlen(ends[i].says)) != 0)
            fail_msg("\"%s\" instead of \"%s\"", world->error.text, ends[i].says);
        free(world);
    }
    env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_that_are_kept_are_right),
        cmocka_unit_test(a_link_that_holds_too_much_is_named),
        cmocka_unit_test(accounts_beyond_their_bounds_are_named),
        cmocka_unit_test(each_bad_end_has_its_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
