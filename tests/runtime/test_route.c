/* SPDX-License-Identifier: Apache-2.0 */
/* Mail: bounds of mailboxes and bodies, the codec inside a process, buffers that go home, dumps. */
#include "tests/runtime/support.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/core/dump.h"
#include "runtime/core/log.h"

/* Kinds */

static void kinds_out_of_bounds_are_refused(void **state)
{
    (void)state;
    struct kinds kinds = { 0 };
    struct error error = { 0 };
    struct kind kind = { .id = 63, .name = "low" };
    assert_int_equal(kinds_add(&kinds, &kind, &error), TR_EINVAL);
    assert_non_null(strstr(error.text, "63"));
    kind.id = KINDS_MAX;
    assert_int_equal(kinds_add(&kinds, &kind, &error), TR_EINVAL);
    kind = (struct kind){ .id = 64, .name = "big", .head_bytes = KIND_HEAD_BYTES_MAX + 1 };
    assert_int_equal(kinds_add(&kinds, &kind, &error), TR_EINVAL);
    kind = (struct kind){ .id = 64 };
    assert_int_equal(kinds_add(&kinds, &kind, &error), TR_EINVAL);
    struct kind first = { .id = 64, .name = "first" };
    struct kind second = { .id = 64, .name = "second" };
    assert_int_equal(kinds_add(&kinds, &first, &error), 0);
    assert_int_equal(kinds_add(&kinds, &second, &error), TR_EEXIST);
    assert_string_equal(error.text, "kind second: id 64 belongs to first");
    assert_null(kinds_find(&kinds, KINDS_MAX));
}

static int encode_nothing(const void *head, void *out, size_t capacity)
{
    (void)head, (void)out, (void)capacity;
    return 0;
}

static int verify_nothing(const void *bytes, size_t count)
{
    (void)bytes, (void)count;
    return 0;
}

static int decode_nothing(const void *bytes, size_t count, void *head)
{
    (void)bytes, (void)count, (void)head;
    return 0;
}

static void kinds_are_taken_up_to_their_bounds(void **state)
{
    static const struct {
        struct kind kind;
        const char *said; /* NULL: it is taken */
    } cases[] = {
        { { .id = KIND_ROOMS_FIRST, .name = "k" }, NULL },
        { { .id = KINDS_MAX - 1, .name = "k" }, NULL },
        { { .id = KIND_ROOMS_FIRST - 1, .name = "k" }, "kind k: id 63 is not within 64.." },
        { { .id = KINDS_MAX, .name = "k" }, "is not within 64.." },
        { { .id = 70, .name = "k", .head_bytes = KIND_HEAD_BYTES_MAX }, NULL },
        { { .id = 70, .name = "k", .head_bytes = KIND_HEAD_BYTES_MAX + 1 },
          "kind k: a head of 4097 bytes is over 4096" },
        { { .id = 70, .name = "k", .lane = KIND_DATA, .class = KIND_ONCE }, NULL },
        { { .id = 70, .name = "k", .lane = KIND_DATA + 1 },
          "kind k (70): name, lane or class is not set" },
        { { .id = 70, .name = "k", .class = KIND_ONCE + 1 },
          "kind k (70): name, lane or class is not set" },
        { { .id = 70 }, "kind (unnamed) (70): name, lane or class is not set" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kinds kinds = { 0 };
        struct error error = { 0 };
        assert_int_equal(kinds_add(&kinds, &cases[i].kind, &error), cases[i].said ? TR_EINVAL : 0);
        if (cases[i].said != NULL)
            assert_non_null(strstr(error.text, cases[i].said));
        else
            assert_ptr_equal(kinds_find(&kinds, cases[i].kind.id), &cases[i].kind);
    }
    for (int some = 0; some < 8; some++) { /* all three functions of an encoding, or none */
        struct kinds kinds = { 0 };
        struct error error = { 0 };
        struct kind kind = { .id = 70, .name = "k" };
        kind.encode = some & 1 ? encode_nothing : NULL;
        kind.verify = some & 2 ? verify_nothing : NULL;
        kind.decode = some & 4 ? decode_nothing : NULL;
        bool whole = some == 0 || some == 7;
        assert_int_equal(kinds_add(&kinds, &kind, &error), whole ? 0 : TR_EINVAL);
        if (!whole)
            assert_string_equal(error.text, "kind k: encode, verify and decode come together");
    }
}

/* An encoding that flips bits and can lie. */

static int encode(const void *head, void *out, size_t capacity)
{
    if (capacity < sizeof(struct number))
        return TR_ETOOBIG;
    for (size_t i = 0; i < sizeof(struct number); i++)
        ((unsigned char *)out)[i] = (unsigned char)~((const unsigned char *)head)[i];
    return (int)sizeof(struct number);
}

static int verify(const void *bytes, size_t count)
{
    struct number number;
    if (count != sizeof number)
        return TR_EFORMAT;
    memcpy(&number, bytes, sizeof number);
    return ~number.value == 13 ? TR_EFORMAT : 0;
}

static int decode(const void *bytes, size_t count, void *head)
{
    for (size_t i = 0; i < count; i++)
        ((unsigned char *)head)[i] = (unsigned char)~((const unsigned char *)bytes)[i];
    return 0;
}

static const struct kind coded = {
    .id = 100,
    .name = "coded",
    .lane = KIND_DATA,
    .head_bytes = sizeof(struct number),
    .body_bytes_max = 4096,
    .encode = encode,
    .verify = verify,
    .decode = decode,
};

static struct kinds *mail_kinds(void)
{
    static struct kinds kinds;
    kinds = *support_kinds();
    kinds.by_id[coded.id] = &coded;
    return &kinds;
}

struct post_office {
    struct address slow;
    uint32_t received, refused, answered;
    uint64_t sum;
    int send_lie, send_large, call_lie;
    char lines[200][LOG_LINE_MAX];
    uint32_t num_lines;
};

static int slow_receive(struct actor *self, struct message *message)
{
    struct post_office *office = actor_state(self);
    const struct number *number = message_head(message);
    const unsigned char *body = message_body(message);
    office->received++;
    office->sum += number->value;
    for (uint64_t i = 0; i < message->frame.body_bytes; i++)
        office->sum += body[i] == (number->value & 0xff) ? 0 : 1000000;
    if (message->frame.flags & MESSAGE_REQUEST)
        return actor_reply(self, message, message_copy(self, message));
    message_release(self, message);
    return 0;
}

static int start(struct actor *self, const void *arg)
{
    actor_set_state(self, (void *)(uintptr_t)arg);
    return 0;
}

static const struct actor_ops slow_ops = { "slow", start, slow_receive, NULL, NULL };

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct post_office *office = arg;
    office->answered += status == 0;
    office->refused += status == TR_EFULL;
    message_release(self, reply);
}

static struct message *filled(struct actor *self, uint32_t kind, uint64_t value, size_t bytes)
{
    struct message *message = message_create(self, kind);
    assert_non_null(message);
    ((struct number *)message_head(message))->value = value;
    void *body = message_body_alloc(self, message, bytes);
    assert_non_null(body);
    assert_int_equal((uintptr_t)body % BUFFER_ALIGN, 0);
    memset(body, (int)(value & 0xff), bytes);
    return message;
}

/* 50 plain messages and 50 calls of 1 KiB at once, against a mailbox of 10 KiB. */
static int flood_start(struct actor *self, const void *arg)
{
    struct post_office *office = (void *)(uintptr_t)arg;
    for (uint64_t i = 0; i < 50; i++) {
        actor_send(self, office->slow, filled(self, KIND_BULK, i, 1024));
        assert_int_equal(actor_call(self, office->slow, filled(self, KIND_ASK, i, 1024),
                                    actor_now_ns(self) + ENV_SECOND_NS, answered, office, NULL),
                         0);
    }
    return 0;
}

static const struct actor_ops flood_ops = { "flood", flood_start, support_discard, NULL, NULL };

static void sink_line(void *arg, enum log_level level, const char *component, const char *line)
{
    struct post_office *office = arg;
    (void)level;
    if (office->num_lines < 200)
        snprintf(office->lines[office->num_lines++], LOG_LINE_MAX, "%s: %s", component, line);
}

static bool says(const struct post_office *office, const char *text)
{
    for (uint32_t i = 0; i < office->num_lines; i++)
        if (strstr(office->lines[i], text) != NULL)
            return true;
    return false;
}

static void run(uint64_t seed, struct post_office *office, const struct actor_ops *ops,
                struct node_counters *counters)
{
    struct env *env = NULL;
    struct node *node = NULL;
    struct address address;
    assert_int_equal(env_sim_create(seed, NULL, &env), 0);
    struct node_options options = { .loops = 2,
                                    .kinds = mail_kinds(),
                                    .codec = true,
                                    .log = { sink_line, office, LOG_LEVEL_INFO } };
    assert_int_equal(node_create(env, &options, &node, NULL), 0);
    struct actor_options slow = {
        .ops = &slow_ops, .arg = office, .loop = 1, .mailbox_bytes_max = 10240
    };
    struct actor_options other = { .ops = ops, .arg = office };
    assert_int_equal(node_spawn(node, &slow, &office->slow), 0);
    assert_int_equal(node_spawn(node, &other, &address), 0);
    assert_int_equal(node_start(node), 0);
    env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + ENV_SECOND_NS / 2);
    node_dump_request(node);
    struct actor_options again = { .ops = &slow_ops, .arg = office, .name = "noise" };
    assert_int_equal(node_spawn(node, &again, &address), 0);
    env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + 2 * ENV_SECOND_NS);
    node_counters(node, counters);
    support_sim_finish(env, node);
    env_destroy(env);
}

static void a_full_mailbox_refuses_and_tells(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct post_office *office = calloc(1, sizeof *office);
        struct node_counters counters;
        assert_non_null(office);
        run(seed, office, &flood_ops, &counters);
        assert_true(office->refused > 0);
        assert_int_equal(office->answered + office->refused, 50);
        assert_true(counters.dropped_full > 0);
        assert_int_equal(office->received, 100 - counters.dropped_full - office->refused);
        assert_true(office->sum < 1000000);
        assert_true(says(office, "actor slow: mailbox is full"));
        /* Told at the 1st, 2nd, 4th ... alone: the log stays small. */
        static const uint32_t told[] = { 1, 2, 4, 8, 16, 32 };
        for (uint32_t i = 1, next = 0; i <= counters.dropped_full; i++) {
            char text[64];
            bool is_told = next < 6 && told[next] == i;
            next += is_told;
            snprintf(text, sizeof text, "bytes); %u messages dropped on loop 1", i);
            assert_int_equal(says(office, text), is_told);
        }
        assert_true(says(office, "dump: loop 0 actor flood"));
        assert_true(says(office, "dump: account messages"));
        free(office);
    }
}

static int send_five(struct actor *self, const void *arg)
{
    struct post_office *office = (void *)(uintptr_t)arg;
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(actor_call(self, office->slow, filled(self, KIND_ASK, i, 1024),
                                    actor_now_ns(self) + ENV_SECOND_NS, answered, office, NULL),
                         0);
    return 0;
}

static const struct actor_ops five_ops = { "five", send_five, support_discard, NULL, NULL };

/* How many of five calls that come at once find room. */
static uint32_t fitting(size_t mailbox_bytes_max)
{
    struct post_office *office = calloc(1, sizeof *office);
    struct env *env = NULL;
    struct node *node = NULL;
    struct address address;
    struct node_options options = { .loops = 1, .kinds = mail_kinds() };
    struct actor_options slow = { .ops = &slow_ops,
                                  .arg = office,
                                  .mailbox_bytes_max = mailbox_bytes_max };
    struct actor_options five = { .ops = &five_ops, .arg = office };
    assert_non_null(office);
    assert_int_equal(env_sim_create(1, NULL, &env), 0);
    assert_int_equal(node_create(env, &options, &node, NULL), 0);
    assert_int_equal(node_spawn(node, &slow, &office->slow), 0);
    assert_int_equal(node_spawn(node, &five, &address), 0);
    assert_int_equal(node_start(node), 0);
    env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + 2 * ENV_SECOND_NS);
    uint32_t answered_calls = office->answered;
    assert_int_equal(answered_calls + office->refused, 5);
    support_sim_finish(env, node);
    env_destroy(env);
    free(office);
    return answered_calls;
}

/* The bound counts the message that is to come: at it, one below, one above. One always fits. */
static void a_mailbox_holds_exactly_its_bound(void **state)
{
    (void)state;
    size_t cost = sizeof(struct message) + sizeof(struct number) + 1024;
    assert_int_equal(fitting(3 * cost), 3);
    assert_int_equal(fitting(3 * cost - 1), 2);
    assert_int_equal(fitting(3 * cost + 1), 3);
    assert_int_equal(fitting(1), 1);
    assert_int_equal(fitting(5 * cost), 5);
}

/* Lines above the level are not written; of refusals the 1st, 2nd, 4th ... are. */
static void the_log_stays_small(void **state)
{
    (void)state;
    struct post_office *office = calloc(1, sizeof *office);
    struct env *env = NULL;
    struct node *node = NULL;
    assert_non_null(office);
    assert_int_equal(env_sim_create(1, NULL, &env), 0);
    struct node_options options = {
        .id = 3, .loops = 1, .message_bytes_max = 5000, .log = { sink_line, office, LOG_LEVEL_WARN }
    };
    assert_int_equal(node_create(env, &options, &node, NULL), 0);
    office->num_lines = 0;
    log_write(node, LOG_LEVEL_INFO, "test", "quiet");
    log_write(node, LOG_LEVEL_WARN, "test", "loud %d", 1);
    log_write(node, LOG_LEVEL_ERROR, "test", "loud %d", 2);
    assert_int_equal(office->num_lines, 2);
    assert_string_equal(office->lines[0], "test: loud 1");
    assert_string_equal(office->lines[1], "test: loud 2");
    office->num_lines = 0;
    size_t used = account_used(node_message_account(node));
    for (size_t i = 1; i <= 9; i++)
        log_refusal(node, "body", i);
    assert_int_equal(office->num_lines, 4);
    for (uint32_t i = 0; i < 4; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "memory: node 3: no memory for a body of %u bytes: account \"messages\" has %zu "
                 "of 5000 bytes in use",
                 1u << i, used);
        assert_string_equal(office->lines[i], text);
    }
    node_destroy(node);
    env_destroy(env);
    free(office);
}

static int asks_twice(struct actor *self, const void *arg)
{
    struct post_office *office = (void *)(uintptr_t)arg;
    for (uint64_t i = 0; i < 2; i++)
        assert_int_equal(actor_call(self, office->slow, filled(self, KIND_ASK, i, 100),
                                    actor_now_ns(self) + 30 * ENV_SECOND_NS, answered, office,
                                    NULL),
                         0);
    return 0;
}

/* It answers nothing: the requests are given back at its end. */
static int keep_receive(struct actor *self, struct message *message)
{
    message->next = actor_state(self);
    actor_set_state(self, message);
    return 0;
}

static void keep_fini(struct actor *self)
{
    for (struct message *at = actor_state(self), *next; at != NULL; at = next) {
        next = at->next;
        message_release(self, at);
    }
}

static int keep_start(struct actor *self, const void *arg)
{
    (void)self, (void)arg;
    return 0;
}

static const struct actor_ops asks_ops = { "asks", asks_twice, support_discard, NULL, NULL };
static const struct actor_ops keep_ops = { "keeps", keep_start, keep_receive, NULL, keep_fini };

/* The line of an actor in a dump, to the letter, and that of an account. */
static void a_dump_says_what_each_actor_waits_for(void **state)
{
    (void)state;
    struct post_office *office = calloc(1, sizeof *office);
    struct env *env = NULL;
    struct node *node = NULL;
    struct address asks_address;
    char text[300];
    assert_non_null(office);
    assert_int_equal(env_sim_create(1, NULL, &env), 0);
    struct node_options options = { .id = 3,
                                    .loops = 2,
                                    .kinds = support_kinds(),
                                    .message_bytes_max = 1 << 20,
                                    .log = { sink_line, office, LOG_LEVEL_INFO } };
    assert_int_equal(node_create(env, &options, &node, NULL), 0);
    struct actor_options keeps = {
        .ops = &keep_ops, .arg = office, .loop = 1, .mailbox_bytes_max = 9000
    };
    struct actor_options asks = { .ops = &asks_ops, .arg = office, .name = "asks/1" };
    assert_int_equal(node_spawn(node, &keeps, &office->slow), 0);
    assert_int_equal(node_spawn(node, &asks, &asks_address), 0);
    assert_int_equal(node_start(node), 0);
    env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + ENV_SECOND_NS);
    struct account *account = node_message_account(node);
    size_t used = account_used(account);
    assert_int_equal(account_reserve(account, 1 << 20, NULL), TR_EFULL);
    node_dump_request(node);
    for (uint32_t loop = 0; loop < 2; loop++) { /* a turn for each loop */
        struct actor_options again = { .ops = &keep_ops, .name = "noise", .loop = loop };
        struct address address;
        assert_int_equal(node_spawn(node, &again, &address), 0);
    }
    env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + ENV_SECOND_NS);
    snprintf(text, sizeof text,
             "dump: loop 1 actor keeps slot %u generation 1 running: mailbox 0 control, 0 data "
             "(0 of 9000 bytes), 0 calls open, 2 received",
             address_index(office->slow));
    assert_true(says(office, text));
    snprintf(text, sizeof text,
             "dump: loop 0 actor asks/1 slot %u generation 1 running: mailbox 0 control, 0 data "
             "(0 of %zu bytes), 2 calls open, 0 received",
             address_index(asks_address), (size_t)ACTOR_MAILBOX_BYTES);
    assert_true(says(office, text));
    snprintf(text, sizeof text, "dump: account messages: %zu of %u bytes, %zu at its peak, 1 times",
             used, 1u << 20, account->peak_bytes);
    assert_true(says(office, text));
    assert_true(says(office, "dump: node 3 loop 0: "));
    assert_true(says(office, "dump: node 3 loop 1: "));
    assert_true(says(office, " 2 messages and 2 bodies taken and not back, 0 turns too long"));
    support_sim_finish(env, node);
    env_destroy(env);
    free(office);
}

static int liar_start(struct actor *self, const void *arg)
{
    struct post_office *office = (void *)(uintptr_t)arg;
    office->send_lie = actor_send(self, office->slow, filled(self, coded.id, 13, 10));
    office->send_large = actor_send(self, office->slow, filled(self, coded.id, 1, 4097));
    office->call_lie = actor_call(self, office->slow, filled(self, coded.id, 13, 10),
                                  actor_now_ns(self) + ENV_SECOND_NS, answered, office, NULL);
    return actor_send(self, office->slow, filled(self, coded.id, 5, 4096));
}

static const struct actor_ops liar_ops = { "liar", liar_start, support_discard, NULL, NULL };

static void what_cannot_be_verified_does_not_travel(void **state)
{
    (void)state;
    struct post_office *office = calloc(1, sizeof *office);
    struct node_counters counters;
    assert_non_null(office);
    run(1, office, &liar_ops, &counters);
    assert_int_equal(office->send_lie, TR_EFORMAT);
    assert_int_equal(office->send_large, TR_ETOOBIG);
    assert_int_equal(office->call_lie, TR_EFORMAT);
    assert_int_equal(office->answered, 0);
    assert_int_equal(office->received, 1);
    assert_int_equal(office->sum, 5);
    free(office);
}

static void a_bound_on_memory_is_an_error_not_a_crash(void **state)
{
    (void)state;
    struct buffer *buffer = buffer_create_any(NULL, 100);
    assert_non_null(buffer);
    assert_int_equal((uintptr_t)buffer->data % BUFFER_ALIGN, 0);
    buffer_acquire(buffer);
    buffer_release_any(buffer);
    memset(buffer->data, 1, 100);
    buffer_release_any(buffer);
    assert_null(buffer_create_any(NULL, BUFFER_BYTES_MAX + 1));
}

static int hungry_start(struct actor *self, const void *arg)
{
    struct post_office *office = (void *)(uintptr_t)arg;
    struct buffer *kept[64];
    uint32_t count = 0;
    while (count < 64 && (kept[count] = buffer_create(self, 100000)) != NULL)
        count++;
    office->received = count;
    while (count > 0)
        buffer_release(self, kept[--count]);
    /* Idle buffers make room for another size. */
    struct buffer *large = buffer_create(self, 900000);
    office->answered = large != NULL;
    buffer_release(self, large);
    return 0;
}

static const struct actor_ops hungry_ops = { "hungry", hungry_start, support_discard, NULL, NULL };

static void bodies_are_charged_to_the_nodes_account(void **state)
{
    (void)state;
    struct post_office *office = calloc(1, sizeof *office);
    struct env *env = NULL;
    struct node *node = NULL;
    struct address address;
    assert_non_null(office);
    assert_int_equal(env_sim_create(1, NULL, &env), 0);
    struct node_options options = { .loops = 1, .message_bytes_max = 2 << 20 };
    struct actor_options hungry = { .ops = &hungry_ops, .arg = office };
    assert_int_equal(node_create(env, &options, &node, NULL), 0);
    assert_int_equal(node_spawn(node, &hungry, &address), 0);
    assert_int_equal(node_start(node), 0);
    env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + ENV_SECOND_NS);
    assert_in_range(office->received, 8, 16);
    assert_int_equal(office->answered, 1);
    support_sim_finish(env, node);
    env_destroy(env);
    free(office);
}

#define CROWD 7u

/* What waits for actors before an actor sends to another one of its loop, and behind that. */
struct crowd {
    struct address quiet;
    struct node_counters alone, crowded;
};

static int crowd_start(struct actor *self, const void *arg)
{
    struct crowd *crowd = (void *)(uintptr_t)arg;
    node_counters(actor_node(self), &crowd->alone);
    for (uint64_t i = 0; i < CROWD; i++) {
        assert_int_equal(support_send(self, crowd->quiet, KIND_NUMBER, i), 0);
        assert_int_equal(support_send(self, crowd->quiet, KIND_URGENT, i), 0);
    }
    node_counters(actor_node(self), &crowd->crowded);
    return 0;
}

/* Both lanes count, while only that of data has a bound in bytes; and the most that waited is
 * remembered when nothing waits any more. */
static void what_waits_in_mailboxes_is_counted(void **state)
{
    static const struct actor_ops quiet_ops = { "quiet", NULL, support_discard, NULL, NULL };
    static const struct actor_ops crowd_ops = { "crowd", crowd_start, support_discard, NULL, NULL };
    struct crowd crowd = { .quiet = ADDRESS_NONE };
    struct node_counters after;
    struct address address;
    struct env *env = NULL;
    (void)state;
    assert_int_equal(env_sim_create(1, NULL, &env), 0);
    struct node *node = support_sim_node(env, 0, 1);
    const struct actor_options quiet = { .ops = &quiet_ops };
    const struct actor_options sender = { .ops = &crowd_ops, .arg = &crowd };
    assert_int_equal(node_spawn(node, &quiet, &crowd.quiet), 0);
    assert_int_equal(node_start(node), 0);
    env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + ENV_SECOND_NS);
    assert_int_equal(node_spawn(node, &sender, &address), 0);
    env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + ENV_SECOND_NS);
    node_counters(node, &after);
    assert_int_equal(crowd.crowded.mailbox_messages - crowd.alone.mailbox_messages, 2 * CROWD);
    uint64_t bytes = crowd.crowded.mailbox_bytes - crowd.alone.mailbox_bytes;
    assert_int_equal(bytes % CROWD, 0);
    assert_true(bytes / CROWD > sizeof(struct number));
    assert_int_equal(after.mailbox_messages, 0);
    assert_int_equal(after.mailbox_bytes, 0);
    assert_true(crowd.alone.mailbox_messages_max < 2 * CROWD);
    assert_int_equal(after.mailbox_messages_max, 2 * CROWD);
    support_sim_finish(env, node);
    env_destroy(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_out_of_bounds_are_refused),
        cmocka_unit_test(kinds_are_taken_up_to_their_bounds),
        cmocka_unit_test(the_log_stays_small),
        cmocka_unit_test(a_dump_says_what_each_actor_waits_for),
        cmocka_unit_test(what_cannot_be_verified_does_not_travel),
        cmocka_unit_test(a_full_mailbox_refuses_and_tells),
        cmocka_unit_test(a_mailbox_holds_exactly_its_bound),
        cmocka_unit_test(what_waits_in_mailboxes_is_counted),
        cmocka_unit_test(a_bound_on_memory_is_an_error_not_a_crash),
        cmocka_unit_test(bodies_are_charged_to_the_nodes_account),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
