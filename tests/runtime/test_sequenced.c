/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequenced requests: whatever a client repeats, the work is done once and each of its requests
 * gets the first answer, joins the first attempt or is refused; what is kept is bounded.
 */
#include "tests/runtime/support.h"

#include "runtime/base/error.h"
#include "runtime/core/account.h"
#include "runtime/core/monitor.h"
#include "runtime/core/sequenced.h"

#define CLIENTS_MAX 100u
#define ACCOUNT_BYTES 20000u /* of all clients' entries, and of most of their replies */
#define MS UINT64_C(1000000)

/* The wishes of the test to the owner while it runs as an actor. */
enum wish { FINISH, RELEASE, END_ERAS };

/* The owner answers with how often it has begun work: two answers to one work are equal. */
struct owner {
    struct sequenced table;
    struct account account;
    struct sequenced_id id; /* of the next request */
    bool at_once;           /* answers in the turn of the request */
    bool forgets;           /* clients that are DOWN */
    uint64_t begun;
    int taken; /* what the table said last */
    enum wish wish;
    struct address address;
};

struct test {
    struct env *env;
    struct node *node;
    struct owner owner;
};

/* One request, and what became of it. */
struct question {
    struct owner *owner;
    bool leaves; /* the client is DOWN after its answer */
    bool answered;
    int status;
    uint64_t value;
};

static void answer(struct actor *self, struct owner *owner, const struct sequenced_id *id)
{
    struct message *reply = message_create(self, KIND_ANSWER);
    assert_non_null(reply);
    ((struct number *)message_head(reply))->value = owner->begun;
    sequenced_answer(&owner->table, self, id, reply);
}

static void down(struct actor *self, void *arg, struct address who, int reason)
{
    struct owner *owner = arg;
    (void)reason;
    if (owner->forgets)
        sequenced_forget(&owner->table, self, who);
}

static void obey(struct actor *self, struct owner *owner)
{
    if (owner->wish == FINISH)
        answer(self, owner, &owner->id);
    else if (owner->wish == END_ERAS)
        sequenced_end_eras(&owner->table, self, owner->id.era, TR_EROLLBACK);
    else
        actor_refuse(self, sequenced_release(&owner->table, &owner->id), TR_EIO);
}

static int receive(struct actor *self, struct message *message)
{
    struct owner *owner = actor_state(self);
    struct error error = { 0 };
    if (message->frame.kind == KIND_NUMBER) {
        message_release(self, message);
        obey(self, owner);
        return 0;
    }
    assert_int_equal(actor_monitor(self, message->frame.from, down, owner, NULL), 0);
    owner->taken = sequenced_take(&owner->table, self, &owner->id, message, &error);
    owner->begun += owner->taken == SEQUENCED_NEW;
    if (owner->taken < 0) {
        assert_int_equal(error.code, owner->taken);
        assert_true(error.text[0] != '\0');
        actor_refuse(self, message, owner->taken);
    } else if (owner->at_once && owner->taken != SEQUENCED_ANSWERED) {
        answer(self, owner, &owner->id);
    }
    return 0;
}

static int start(struct actor *self, const void *arg)
{
    struct owner *owner = (struct owner *)(uintptr_t)arg;
    actor_set_state(self, owner);
    account_init(&owner->account, "sequenced", ACCOUNT_BYTES);
    sequenced_init(&owner->table, &owner->account, CLIENTS_MAX);
    return 0;
}

static void fini(struct actor *self)
{
    struct owner *owner = actor_state(self);
    sequenced_fini(&owner->table, self);
    account_fini(&owner->account); /* asserts that all was given back */
}

static const struct actor_ops owner_ops = {
    .name = "owner", .start = start, .receive = receive, .fini = fini
};

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct question *question = arg;
    question->answered = true;
    question->status = status;
    if (reply != NULL)
        question->value = ((const struct number *)message_head(reply))->value;
    message_release(self, reply);
    if (question->leaves)
        actor_exit(self, 0);
}

static int start_question(struct actor *self, const void *arg)
{
    struct question *question = (struct question *)(uintptr_t)arg;
    struct message *request = message_create(self, KIND_ORDER);
    assert_non_null(request);
    return actor_call(self, question->owner->address, request,
                      actor_now_ns(self) + 3600 * ENV_SECOND_NS, answered, question, NULL);
}

static const struct actor_ops question_ops = { .name = "question",
                                               .start = start_question,
                                               .receive = support_discard };

static int start_wish(struct actor *self, const void *arg)
{
    const struct owner *owner = arg;
    assert_int_equal(support_send(self, owner->address, KIND_NUMBER, 0), 0);
    actor_exit(self, 0);
    return 0;
}

static const struct actor_ops wish_ops = { .name = "wish",
                                           .start = start_wish,
                                           .receive = support_discard };

static struct address spawn(struct test *test, const struct actor_ops *ops, const void *arg)
{
    const struct actor_options options = { .ops = ops, .arg = arg };
    struct address address;
    assert_int_equal(node_spawn(test->node, &options, &address), 0);
    return address;
}

static void run(struct test *test)
{
    (void)env_sim_run(test->env, NULL, NULL, env_sim_now_ns(test->env) + 100 * MS);
}

static void set_up(struct test *test)
{
    memset(test, 0, sizeof *test);
    assert_int_equal(env_sim_create(3, NULL, &test->env), 0);
    test->node = support_sim_node(test->env, 1, 1);
    assert_int_equal(node_start(test->node), 0);
    test->owner.id = (struct sequenced_id){ { KIND_ORDER, 4, 9 }, 1, 1 };
    test->owner.address = spawn(test, &owner_ops, &test->owner);
    run(test);
}

static void take_down(struct test *test)
{
    support_sim_finish(test->env, test->node);
    env_destroy(test->env);
}

/* Asks with the owner's present id. */
static void ask(struct test *test, struct question *question)
{
    *question = (struct question){ .owner = &test->owner, .leaves = test->owner.forgets };
    (void)spawn(test, &question_ops, question);
    run(test);
}

static void wish(struct test *test, enum wish what)
{
    test->owner.wish = what;
    (void)spawn(test, &wish_ops, &test->owner);
    run(test);
}

static void assert_answer(const struct question *question, uint64_t value)
{
    assert_true(question->answered);
    assert_int_equal(question->status, 0);
    assert_int_equal(question->value, value);
}

static void assert_refusal(const struct question *question, int status)
{
    assert_true(question->answered);
    assert_int_equal(question->status, status);
}

static void a_repeat_gets_the_first_answer(void **state)
{
    struct test test;
    struct question first, again, next, old;
    (void)state;
    set_up(&test);
    test.owner.at_once = true;
    ask(&test, &first);
    ask(&test, &again);
    assert_int_equal(test.owner.taken, SEQUENCED_ANSWERED);
    assert_answer(&first, 1);
    assert_answer(&again, 1);
    test.owner.id.sequence = 2;
    ask(&test, &next);
    assert_answer(&next, 2);
    /* The client is past it, and its answer is not kept any more. */
    test.owner.id.sequence = 1;
    ask(&test, &old);
    assert_refusal(&old, TR_ECANCELED);
    assert_int_equal(test.owner.begun, 2);
    test.owner.id.sequence = 2;
    ask(&test, &again);
    assert_answer(&again, 2);
    take_down(&test);
}

static void a_repeat_joins_what_is_under_way(void **state)
{
    struct test test;
    struct question first, again, next;
    (void)state;
    set_up(&test);
    ask(&test, &first);
    assert_false(first.answered);
    ask(&test, &again);
    assert_int_equal(test.owner.taken, SEQUENCED_JOINED);
    assert_refusal(&first, TR_ECANCELED);
    assert_false(again.answered);
    wish(&test, FINISH);
    assert_answer(&again, 1);
    /* A client that goes on does not wait for what it asked before; that answer goes nowhere. */
    test.owner.id.sequence = 2;
    ask(&test, &first);
    test.owner.id.sequence = 3;
    ask(&test, &next);
    assert_int_equal(test.owner.taken, SEQUENCED_NEW);
    assert_refusal(&first, TR_ECANCELED);
    test.owner.id.sequence = 2;
    wish(&test, FINISH);
    assert_false(next.answered);
    test.owner.id.sequence = 3;
    wish(&test, FINISH);
    assert_answer(&next, 3);
    take_down(&test);
}

static void what_failed_may_be_done_again(void **state)
{
    struct test test;
    struct question first, again;
    (void)state;
    set_up(&test);
    ask(&test, &first);
    wish(&test, RELEASE);
    assert_refusal(&first, TR_EIO);
    ask(&test, &again);
    assert_int_equal(test.owner.taken, SEQUENCED_NEW);
    wish(&test, FINISH);
    assert_answer(&again, 2);
    take_down(&test);
}

static void clients_are_apart(void **state)
{
    struct test test;
    struct question question;
    (void)state;
    set_up(&test);
    test.owner.at_once = true;
    for (uint32_t i = 0; i < 27; i++) {
        test.owner.id.client = (struct sequenced_client){ KIND_ORDER + i % 3, i / 3 % 3, i / 9 };
        ask(&test, &question);
        assert_answer(&question, i + 1);
    }
    for (uint32_t i = 0; i < 27; i++) {
        test.owner.id.client = (struct sequenced_client){ KIND_ORDER + i % 3, i / 3 % 3, i / 9 };
        ask(&test, &question);
        assert_answer(&question, i + 1);
        assert_int_equal(test.owner.taken, SEQUENCED_ANSWERED);
    }
    take_down(&test);
}

static void an_era_ends_what_is_of_those_before(void **state)
{
    struct test test;
    struct question waiting, kept, none, late;
    (void)state;
    set_up(&test);
    ask(&test, &waiting);
    test.owner.at_once = true;
    test.owner.id.client.rank = 5;
    ask(&test, &kept);
    test.owner.id.client.rank = 6;
    test.owner.id.era = 0;
    ask(&test, &none);
    test.owner.id.era = 2;
    wish(&test, END_ERAS);
    assert_refusal(&waiting, TR_EROLLBACK);
    assert_int_equal(test.owner.table.count, 1); /* that of no era */
    /* The next era begins with its sequences anew, and refuses what comes late of the last. */
    test.owner.id.client.rank = 5;
    ask(&test, &kept);
    assert_answer(&kept, 4);
    test.owner.id.era = 1;
    test.owner.id.sequence = 7;
    ask(&test, &late);
    assert_refusal(&late, TR_EROLLBACK);
    take_down(&test);
}

static void a_client_that_is_down_is_forgotten(void **state)
{
    struct test test;
    struct question first, again;
    (void)state;
    set_up(&test);
    test.owner.at_once = test.owner.forgets = true;
    test.owner.id.sequence = 8;
    ask(&test, &first);
    assert_answer(&first, 1);
    assert_int_equal(test.owner.table.count, 0);
    /* The next life of it counts from the start. */
    test.owner.id.sequence = 1;
    ask(&test, &again);
    assert_answer(&again, 2);
    take_down(&test);
}

/* Fills it, drains it and fills it again. */
static void what_is_kept_is_bounded(void **state)
{
    struct test test;
    struct question question;
    (void)state;
    set_up(&test);
    test.owner.at_once = true;
    for (uint32_t round = 1; round <= 3; round++) {
        uint32_t served = 0;
        test.owner.id.era = round;
        for (uint32_t rank = 0; rank < 2 * CLIENTS_MAX; rank++) {
            test.owner.id.client.rank = rank;
            ask(&test, &question);
            assert_true(question.answered);
            assert_true(question.status == 0 || question.status == TR_EFULL);
            served += question.status == 0;
        }
        assert_int_equal(served, CLIENTS_MAX);
        assert_int_equal(test.owner.table.count, CLIENTS_MAX);
        assert_true(account_used(&test.owner.account) <= ACCOUNT_BYTES);
        test.owner.id.era = round + 1;
        wish(&test, END_ERAS);
        assert_int_equal(test.owner.table.count, 0);
        assert_int_equal(account_used(&test.owner.account), 0);
    }
    take_down(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_repeat_gets_the_first_answer),
        cmocka_unit_test(a_repeat_joins_what_is_under_way),
        cmocka_unit_test(what_failed_may_be_done_again),
        cmocka_unit_test(clients_are_apart),
        cmocka_unit_test(an_era_ends_what_is_of_those_before),
        cmocka_unit_test(a_client_that_is_down_is_forgotten),
        cmocka_unit_test(what_is_kept_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
