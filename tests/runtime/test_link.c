/* Links between nodes of one process, over real sockets. */
#include "tests/runtime/support.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/directory.h"
#include "runtime/links.h"
#include "runtime/monitor.h"
#include "runtime/timer.h"
#include "tests/runtime/link_support.h"

#define CALLS 1000

struct caller {
    struct cluster *cluster;
    uint32_t made, done;
    int failure;
};

static void call_next(struct actor *self, struct caller *caller);

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct caller *caller = arg;
    if (status != 0)
        caller->failure = status;
    else if (((struct number *)message_head(reply))->value != caller->done)
        caller->failure = TR_EINTERNAL;
    message_release(self, reply);
    caller->done++;
    call_next(self, caller);
}

static struct address echo_address;

static void call_next(struct actor *self, struct caller *caller)
{
    if (caller->made == CALLS || caller->failure < 0) {
        cluster_done(caller->cluster);
        return;
    }
    struct message *request = message_create(self, KIND_ASK);
    ((struct number *)message_head(request))->value = caller->made++;
    if (actor_call(self, echo_address, request, actor_now_ns(self) + 10 * ENV_SECOND_NS, answered,
                   caller, NULL) < 0)
        abort();
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct caller *caller = arg;
    assert_int_equal(status, 0);
    assert_int_equal(address.node, 0);
    echo_address = address;
    call_next(self, caller);
}

static int caller_start(struct actor *self, const void *arg)
{
    struct caller *caller = (void *)(uintptr_t)arg;
    return directory_wait_at(self, 0, "echo", actor_now_ns(self) + 10 * ENV_SECOND_NS, found,
                             caller);
}

static int discard(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops caller_ops = { "caller", caller_start, discard, NULL, NULL };

static void calls_are_answered(enum endpoint_kind kind, uint32_t loops)
{
    struct cluster cluster;
    cluster_open(&cluster, 2, loops, kind);
    struct caller caller = { .cluster = &cluster };
    cluster_spawn(&cluster, 0, &echo_ops, NULL, loops - 1);
    cluster_spawn(&cluster, 1, &caller_ops, &caller, 0);
    cluster_start(&cluster);
    cluster_wait(&cluster, 1);
    cluster_close(&cluster);
    assert_int_equal(caller.failure, 0);
    assert_int_equal(caller.done, CALLS);
}

static void calls_are_answered_over_unix_sockets(void **state)
{
    (void)state;
    calls_are_answered(ENDPOINT_UNIX, 1);
    calls_are_answered(ENDPOINT_UNIX, 3);
}

static void calls_are_answered_over_tcp(void **state)
{
    (void)state;
    calls_are_answered(ENDPOINT_TCP, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_answered_over_unix_sockets),
        cmocka_unit_test(calls_are_answered_over_tcp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
