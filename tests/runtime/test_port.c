/* SPDX-License-Identifier: Apache-2.0 */
/* Ports: threads that are no loops call actors with deadlines, and are woken by a close. */
#include "tests/runtime/support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "runtime/core/directory.h"
#include "runtime/core/port.h"
#include "runtime/event/env_event.h"

#define MS UINT64_C(1000000)

/* How many more allocations of this thread succeed; negative: all. */
static _Thread_local int allowed = -1;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
    if (allowed == 0)
        return NULL;
    allowed -= allowed > 0;
    return __real_calloc(count, size);
}

/* Echoes, but keeps what has an odd value, so that its caller waits. */
struct keeper {
    struct message *kept[64];
    uint32_t count;
};

static int start(struct actor *self, const void *arg)
{
    (void)arg;
    struct keeper *keeper = calloc(1, sizeof *keeper);
    actor_set_state(self, keeper);
    return keeper != NULL ? directory_register(self, "echo", NULL, NULL) : TR_ENOMEM;
}

static int receive(struct actor *self, struct message *message)
{
    struct keeper *keeper = actor_state(self);
    uint64_t value = ((struct number *)message_head(message))->value;
    if (value % 2 == 1 && keeper->count < 64) {
        keeper->kept[keeper->count++] = message;
        return 0;
    }
    struct message *reply = message_create(self, KIND_ANSWER);
    if (reply == NULL)
        return TR_ENOMEM;
    ((struct number *)message_head(reply))->value = value;
    unsigned char *body = message_body_alloc(self, reply, 1000);
    if (body != NULL)
        memset(body, (int)(value & 0xff), 1000);
    return actor_reply(self, message, reply);
}

static void fini(struct actor *self)
{
    struct keeper *keeper = actor_state(self);
    for (uint32_t i = 0; keeper != NULL && i < keeper->count; i++)
        message_release(self, keeper->kept[i]);
    free(keeper);
}

static const struct actor_ops echo_ops = { "echo", start, receive, NULL, fini };

struct house {
    struct env *env;
    struct node *node;
    struct address echo;
};

static int set_up(void **state)
{
    struct house *house = calloc(1, sizeof *house);
    struct node_options options = { .id = 1, .loops = 2, .kinds = support_kinds() };
    struct actor_options echo = { .ops = &echo_ops, .loop = 1 };
    assert_non_null(house);
    assert_int_equal(env_event_create(1, &house->env, NULL), 0);
    assert_int_equal(node_create(house->env, &options, &house->node, NULL), 0);
    assert_int_equal(node_spawn(house->node, &echo, &house->echo), 0);
    assert_int_equal(node_start(house->node), 0);
    *state = house;
    return 0;
}

static int tear_down(void **state)
{
    struct house *house = *state;
    if (house->node != NULL)
        support_finish(house->node);
    env_destroy(house->env);
    free(house);
    return 0;
}

static int ask(struct port *port, struct address to, uint64_t value, uint64_t wait_ns,
               struct message **reply)
{
    struct message *request = port_message(port, KIND_ASK);
    assert_non_null(request);
    ((struct number *)message_head(request))->value = value;
    return port_call(port, to, request, port_now_ns(port) + wait_ns, reply);
}

static void a_silent_callee_times_out_and_its_late_answer_is_released(void **state)
{
    struct house *house = *state;
    struct port *port = NULL;
    struct message *reply = NULL;
    assert_int_equal(port_open(house->node, 0, &port), 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(ask(port, house->echo, 1, 2 * MS, &reply), TR_ETIMEDOUT);
    assert_null(reply);
    assert_int_equal(ask(port, house->echo, 2, 60000 * MS, &reply), 0);
    port_release(port, reply);
    port_destroy(port);
}

static struct port_errand *begin(struct port *port, struct address to, uint64_t value)
{
    struct port_errand *errand = NULL;
    struct message *request = port_message(port, KIND_ASK);
    assert_non_null(request);
    ((struct number *)message_head(request))->value = value;
    assert_int_equal(port_begin(port, to, request, port_now_ns(port) + 60000 * MS, &errand), 0);
    return errand;
}

static void several_calls_are_awaited_in_any_order_and_the_rest_given_up(void **state)
{
    enum { CALLS = 8 };
    struct house *house = *state;
    struct port *port = NULL;
    assert_int_equal(port_open(house->node, 0, &port), 0);
    for (int round = 0; round < 20; round++) {
        struct port_errand *errands[CALLS];
        for (uint64_t i = 0; i < CALLS; i++)
            errands[i] = begin(port, house->echo, 2 * i);
        struct port_errand *silent = round % 10 == 0 ? begin(port, house->echo, 1) : NULL;
        for (uint64_t i = CALLS; i-- > 2;) {
            struct message *reply;
            assert_int_equal(port_wait(port, errands[i], port_now_ns(port) + 60000 * MS, &reply),
                             0);
            assert_int_equal(((struct number *)message_head(reply))->value, 2 * i);
            port_release(port, reply);
        }
        port_abandon(port, errands[0]);
        port_abandon(port, errands[1]);
        if (silent != NULL)
            port_abandon(port, silent);
    }
    port_destroy(port);
}

static void a_dead_address_is_peer_down(void **state)
{
    struct house *house = *state;
    struct port *port = NULL;
    struct message *reply = NULL;
    struct address stale = house->echo;
    stale.generation++;
    assert_int_equal(port_open(house->node, 0, &port), 0);
    assert_int_equal(ask(port, stale, 2, 60000 * MS, &reply), TR_EPEERDOWN);
    assert_int_equal(ask(port, ADDRESS_NONE, 2, 60000 * MS, &reply), TR_EPEERDOWN);
    port_destroy(port);
}

struct closer {
    struct port *port;
    uint64_t after_ns;
};

static void *close_later(void *arg)
{
    struct closer *closer = arg;
    nanosleep(&(struct timespec){ 0, (long)closer->after_ns }, NULL);
    port_close(closer->port);
    port_close(closer->port);
    return NULL;
}

static void a_close_from_another_thread_wakes_the_waiter(void **state)
{
    struct house *house = *state;
    for (uint64_t i = 0; i < 20; i++) {
        struct port *port = NULL;
        struct message *reply = NULL;
        pthread_t thread;
        assert_int_equal(port_open(house->node, (uint32_t)(i % 2), &port), 0);
        struct closer closer = { port, i * 50000 };
        pthread_create(&thread, NULL, close_later, &closer);
        assert_int_equal(ask(port, house->echo, 1, 60000 * MS, &reply), TR_ECLOSED);
        pthread_join(thread, NULL);
        assert_int_equal(ask(port, house->echo, 2, 60000 * MS, &reply), TR_ECLOSED);
        struct message *plain = port_message(port, KIND_NUMBER);
        assert_int_equal(port_send(port, house->echo, plain), TR_ECLOSED);
        port_destroy(port);
    }
}

static void a_stopping_node_wakes_the_waiter(void **state)
{
    struct house *house = *state;
    struct port *port = NULL;
    struct message *reply = NULL;
    assert_int_equal(port_open(house->node, 0, &port), 0);
    node_stop(house->node, env_now_ns(house->env) + 60000 * MS);
    int rc = ask(port, house->echo, 1, 60000 * MS, &reply);
    assert_true(rc == TR_ECLOSED || rc == TR_EPEERDOWN);
    assert_int_equal(node_join(house->node), 0);
    assert_int_equal(ask(port, house->echo, 2, 60000 * MS, &reply), TR_ECLOSED);
    port_destroy(port);
    node_destroy(house->node);
    house->node = NULL;
}

static void answers_and_bodies_come_whole(void **state)
{
    struct house *house = *state;
    struct port *port = NULL;
    struct address found;
    assert_int_equal(port_open(house->node, 0, &port), 0);
    assert_int_equal(port_find(port, "echo", port_now_ns(port) + 60000 * MS, &found), 0);
    assert_true(address_equal(found, house->echo));
    assert_int_equal(port_find(port, "nobody", port_now_ns(port) + 2 * MS, &found), TR_ETIMEDOUT);
    assert_int_equal(port_find(port, "", port_now_ns(port) + 2 * MS, &found), TR_EINVAL);
    for (uint64_t i = 0; i < 500; i++) {
        struct message *reply = NULL;
        assert_int_equal(ask(port, found, 2 * i, 60000 * MS, &reply), 0);
        assert_int_equal(((struct number *)message_head(reply))->value, 2 * i);
        assert_int_equal(reply->frame.body_bytes, 1000);
        assert_int_equal(((unsigned char *)message_body(reply))[999], (2 * i) & 0xff);
        port_release(port, reply);
    }
    port_destroy(port);
}

/* Holds its loop until it is let go. */
struct stall {
    atomic_bool stalled, go;
};

static int stall_start(struct actor *self, const void *arg)
{
    struct stall *stall = (void *)(uintptr_t)arg;
    (void)self;
    atomic_store(&stall->stalled, true);
    while (!atomic_load(&stall->go))
        nanosleep(&(struct timespec){ 0, 100000 }, NULL);
    return 0;
}

static const struct actor_ops stall_ops = { "stall", stall_start, NULL, NULL, NULL };

static void a_thread_that_polls_cannot_outrun_a_loop(void **state)
{
    struct house *house = *state;
    struct account *account = node_message_account(house->node);
    struct port *port = NULL;
    struct message *reply = NULL;
    struct stall stall = { false, false };
    struct actor_options options = { .ops = &stall_ops, .arg = &stall };
    struct address address;
    assert_int_equal(port_open(house->node, 0, &port), 0);
    assert_int_equal(ask(port, house->echo, 2, 60000 * MS, &reply), 0);
    port_release(port, reply);
    assert_int_equal(node_spawn(house->node, &options, &address), 0);
    while (!atomic_load(&stall.stalled))
        nanosleep(&(struct timespec){ 0, 100000 }, NULL);
    size_t before = account_used(account);
    for (int i = 0; i < 2000; i++)
        assert_int_equal(ask(port, house->echo, 2, 0, &reply), TR_ETIMEDOUT);
    size_t waiting = account_used(account) - before;
    assert_true(waiting > 0);
    assert_true(waiting <= PORT_ERRANDS_MAX * 1024);
    atomic_store(&stall.go, true);
    /* A send waits for its turn rather than being lost. */
    for (int i = 0; i < 200; i++)
        assert_int_equal(port_send(port, house->echo, port_message(port, KIND_NUMBER)), 0);
    assert_int_equal(ask(port, house->echo, 2, 60000 * MS, &reply), 0);
    port_release(port, reply);
    port_destroy(port);
}

static atomic_uint refusals;

static void note_line(void *arg, enum log_level level, const char *component, const char *line)
{
    (void)component;
    (void)arg;
    if (level == LOG_LEVEL_WARN && strstr(line, "account \"messages\"") != NULL)
        atomic_fetch_add(&refusals, 1);
}

static void what_a_port_sends_is_charged_and_a_full_account_is_named(void **state)
{
    struct house *house = *state;
    struct node_options options = {
        .id = 2, .loops = 1, .kinds = support_kinds(), .message_bytes_max = 1 << 20
    };
    struct node *node = NULL;
    struct port *port = NULL;
    options.log = (struct log_sink){ note_line, NULL, LOG_LEVEL_INFO };
    assert_int_equal(node_create(house->env, &options, &node, NULL), 0);
    assert_int_equal(node_start(node), 0);
    assert_int_equal(port_open(node, 0, &port), 0);
    struct account *account = node_message_account(node);
    size_t before = account_used(account);
    struct message *message = port_message(port, KIND_NUMBER);
    assert_non_null(message);
    assert_true(account_used(account) > before);
    size_t with_head = account_used(account);
    assert_non_null(port_body_alloc(port, message, 300000));
    assert_true(account_used(account) >= with_head + 300000);
    struct message *other = port_message(port, KIND_NUMBER);
    atomic_store(&refusals, 0);
    assert_null(port_body_alloc(port, other, 900000));
    assert_null(port_body_alloc(port, other, BUFFER_BYTES_MAX + 1));
    assert_null(port_body_alloc(port, other, 900000));
    assert_int_equal(atomic_load(&refusals), 2); /* the first and the second, not every one */
    port_release(port, other);
    port_release(port, message);
    assert_int_equal(account_used(account), before);
    port_destroy(port);
    support_finish(node);
}

/* Nobody gave this node a bound: it has one all the same, well below what the machine has, and at
 * it a sender gets an error. */
static void a_node_without_a_bound_does_not_take_all_memory(void **state)
{
    struct house *house = *state;
    struct node_options options = { .id = 2, .loops = 1, .kinds = support_kinds() };
    struct node *node = NULL;
    struct port *port = NULL;
    assert_int_equal(node_create(house->env, &options, &node, NULL), 0);
    assert_int_equal(node_start(node), 0);
    assert_int_equal(port_open(node, 0, &port), 0);
    struct account *account = node_message_account(node);
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_true(account->bound_bytes >= (size_t)64 << 20);
    assert_true(account->bound_bytes <= machine / 2 || account->bound_bytes == (size_t)64 << 20);
    struct message *message = port_message(port, KIND_NUMBER);
    assert_non_null(message);
    size_t rest = account->bound_bytes - account_used(account);
    assert_int_equal(account_reserve(account, rest, NULL), 0);
    assert_null(port_message(port, KIND_NUMBER));
    assert_null(port_body_alloc(port, message, 1));
    account_release(account, rest);
    assert_non_null(port_body_alloc(port, message, 1));
    port_release(port, message);
    port_destroy(port);
    support_finish(node);
}

/* Processes of one machine that all pile up messages have no more together than one alone. */
static void processes_of_one_machine_share_the_bound(void **state)
{
    struct house *house = *state;
    size_t alone = 0;
    for (uint32_t sharers = 0; sharers <= 8; sharers++) {
        struct node_options options = {
            .id = 2, .loops = 1, .kinds = support_kinds(), .sharers = sharers
        };
        struct node *node = NULL;
        assert_int_equal(node_create(house->env, &options, &node, NULL), 0);
        size_t bound = node_message_account(node)->bound_bytes;
        if (sharers <= 1)
            alone = bound;
        assert_true(bound == (size_t)64 << 20 || bound <= alone / (sharers != 0 ? sharers : 1));
        assert_true(bound >= (size_t)64 << 20 && bound <= alone);
        assert_int_equal(node_start(node), 0);
        support_finish(node);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* A port needs memory, and says so where there is none. */
static void a_port_without_memory_is_refused(void **state)
{
    struct house *house = *state;
    struct port *port = NULL;
    int rv = TR_ENOMEM, tries = 0;
    for (; rv != 0 && tries < 100; tries++) {
        allowed = tries;
        rv = port_open(house->node, 0, &port);
        allowed = -1;
        assert_true(rv == 0 || (rv == TR_ENOMEM && port == NULL));
    }
    assert_int_equal(rv, 0);
    assert_true(tries > 1);
    port_destroy(port);
    assert_int_equal(port_open(house->node, 2, &port), TR_ERANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(several_calls_are_awaited_in_any_order_and_the_rest_given_up),
        TEST(a_dead_address_is_peer_down),
        TEST(a_port_without_memory_is_refused),
        TEST(a_silent_callee_times_out_and_its_late_answer_is_released),
        TEST(a_close_from_another_thread_wakes_the_waiter),
        TEST(a_stopping_node_wakes_the_waiter),
        TEST(answers_and_bodies_come_whole),
        TEST(a_thread_that_polls_cannot_outrun_a_loop),
        TEST(what_a_port_sends_is_charged_and_a_full_account_is_named),
        TEST(processes_of_one_machine_share_the_bound),
        TEST(a_node_without_a_bound_does_not_take_all_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
