/* SPDX-License-Identifier: Apache-2.0 */
/* The wire: what is written is read back, and nothing else is taken. */
#include "tests/runtime/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/base/crc32c.h"
#include "runtime/core/runtime_codec.h"
#include "runtime/core/runtime_kinds.h"
#include "tests/runtime/raw_peer.h"

static void checksums_are_those_of_the_standard(void **state)
{
    (void)state;
    unsigned char bytes[10000];
    memset(bytes, 0, 32);
    assert_int_equal(crc32c(0, bytes, 32), 0x8a9136aa); /* RFC 3720, B.4 */
    memset(bytes, 0xff, 32);
    assert_int_equal(crc32c(0, bytes, 32), 0x62a8ab43);
    for (uint32_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 31 + i / 256);
    for (uint32_t i = 0; i < sizeof bytes; i += 1 + i / 100) {
        assert_int_equal(crc32c(7, bytes, i), crc32c_table(7, bytes, i));
        assert_int_equal(crc32c_words(7, bytes, i), crc32c_table(7, bytes, i));
        assert_int_equal(crc32c(crc32c(0, bytes, i), bytes + i, sizeof bytes - i),
                         crc32c(0, bytes, sizeof bytes));
        assert_int_equal(crc32c_join(crc32c(0, bytes, i), crc32c(0, bytes + i, sizeof bytes - i),
                                     sizeof bytes - i),
                         crc32c(0, bytes, sizeof bytes));
    }
}

static void headers_have_bounds(void **state)
{
    (void)state;
    struct wire_header good[] = {
        { .type = WIRE_HELLO, .bytes = LINKS_HELLO_BYTES_MAX },
        { .type = WIRE_REFUSE, .bytes = 1 },
        { .type = WIRE_MESSAGE, .bytes = sizeof(struct frame), .lane = WIRE_DATA, .sequence = 9 },
        { .type = WIRE_MESSAGE, .bytes = WIRE_RECORD_BYTES_MAX },
        { .type = WIRE_MORE, .bytes = WIRE_PART_BYTES, .lane = WIRE_BULK },
        { .type = WIRE_ACK, .bytes = sizeof(struct wire_ack) },
        { .type = WIRE_PING },
        { .type = WIRE_GOODBYE },
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(wire_check_header(&good[i], i < 2), 0);
        assert_int_equal(wire_check_header(&good[i], i >= 2), TR_EFORMAT);
    }
    struct wire_header bad[] = {
        { .type = 0 },
        { .type = WIRE_GOODBYE + 1 },
        { .type = 255 },
        { .type = WIRE_HELLO, .bytes = LINKS_HELLO_BYTES_MAX + 1 },
        { .type = WIRE_HELLO, .bytes = 0 },
        { .type = WIRE_MESSAGE, .bytes = sizeof(struct frame) - 1 },
        { .type = WIRE_MESSAGE, .bytes = WIRE_RECORD_BYTES_MAX + 1 },
        { .type = WIRE_MESSAGE, .bytes = 100, .lane = WIRE_LANES },
        { .type = WIRE_MORE, .bytes = 0 },
        { .type = WIRE_MORE, .bytes = WIRE_PART_BYTES + 1 },
        { .type = WIRE_MORE, .bytes = UINT32_MAX },
        { .type = WIRE_ACK, .bytes = sizeof(struct wire_ack) - 1 },
        { .type = WIRE_ACK, .bytes = sizeof(struct wire_ack), .sequence = 1 },
        { .type = WIRE_PING, .bytes = 1 },
        { .type = WIRE_PING, .lane = 1 },
        { .type = WIRE_PING, .reserved = 1 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(wire_check_header(&bad[i], false), TR_EFORMAT);
        assert_int_equal(wire_check_header(&bad[i], true), TR_EFORMAT);
    }
}

static struct wire_hello a_hello(void)
{
    struct wire_hello hello = {
        .protocol_first = LINKS_PROTOCOL_FIRST,
        .protocol_last = LINKS_PROTOCOL_LAST,
        .schema_hash = UINT64_C(0x1234567890abcdef),
        .cluster = "test",
        .node = 1,
        .incarnation = 7,
        .nonce = 99,
        .peer_incarnation = 5,
        .peer_fenced = 4,
        .received = { 10, 20, 30 },
        .released_bytes = UINT64_C(1) << 40,
        .window_bytes = 1 << 20,
    };
    return hello;
}

static void hellos_come_back(void **state)
{
    (void)state;
    unsigned char bytes[HELLO_CODEC_BYTES_MAX];
    struct wire_hello hello = a_hello();
    struct wire_hello back;
    memset(hello.cluster, 'x', WIRE_CLUSTER_MAX - 1);
    int count = hello_encode(&hello, bytes, sizeof bytes);
    assert_true(count > 0);
    assert_int_equal(hello_encode(&hello, bytes, (size_t)count - 1), TR_ETOOBIG);
    assert_int_equal(hello_decode(bytes, (size_t)count, &back), 0);
    assert_memory_equal(&back, &hello, sizeof hello);
    uint32_t refusal = 0;
    count = refuse_encode(LINKS_REFUSED_FENCED, bytes, sizeof bytes);
    assert_int_equal(refuse_decode(bytes, (size_t)count, &refusal), 0);
    assert_int_equal(refusal, LINKS_REFUSED_FENCED);
}

/* Each buffer has exactly its bytes, so that the sanitizer sees a read beyond them. */
static void try_hello(const unsigned char *bytes, size_t count)
{
    unsigned char *copy = malloc(count + (count == 0));
    struct wire_hello hello;
    memcpy(copy, bytes, count);
    if (hello_decode(copy, count, &hello) == 0)
        assert_non_null(memchr(hello.cluster, '\0', sizeof hello.cluster));
    free(copy);
}

static void broken_hellos_are_harmless(void **state)
{
    (void)state;
    unsigned char bytes[HELLO_CODEC_BYTES_MAX];
    struct wire_hello hello = a_hello();
    struct wire_hello back;
    size_t count = (size_t)hello_encode(&hello, bytes, sizeof bytes);
    for (size_t cut = 0; cut < count; cut++)
        try_hello(bytes, cut);
    assert_int_equal(hello_decode(bytes, 0, &back), TR_EFORMAT);
    for (size_t bit = 0; bit < 8 * count; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        try_hello(bytes, count);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}

static void heads_of_the_runtime_come_back(void **state)
{
    (void)state;
    unsigned char bytes[HELLO_CODEC_BYTES_MAX];
    struct runtime_name name = { .name = "coordinator", .wait = 1 };
    struct runtime_name name_back = { .wait = 9 };
    struct runtime_found found = { { 1, 2, 3, 4 } };
    struct runtime_found found_back;
    struct runtime_kill kill = { TR_EIO };
    int count = runtime_encode(RUNTIME_LOOKUP, &name, bytes, sizeof bytes);
    assert_int_equal(runtime_verify(RUNTIME_LOOKUP, bytes, (size_t)count), 0);
    memset(&name_back, 0, sizeof name_back);
    assert_int_equal(runtime_decode(RUNTIME_LOOKUP, bytes, (size_t)count, &name_back), 0);
    assert_memory_equal(&name, &name_back, sizeof name);
    for (int cut = 0; cut < count; cut++)
        runtime_verify(RUNTIME_LOOKUP, bytes, (size_t)cut);
    count = runtime_encode(RUNTIME_FOUND, &found, bytes, sizeof bytes);
    assert_int_equal(runtime_decode(RUNTIME_FOUND, bytes, (size_t)count, &found_back), 0);
    assert_memory_equal(&found, &found_back, sizeof found);
    count = runtime_encode(RUNTIME_KILL, &kill, bytes, sizeof bytes);
    assert_int_equal(runtime_verify(RUNTIME_KILL, bytes, (size_t)count), 0);
    kill.reason = 1; /* an end by force is a failure */
    count = runtime_encode(RUNTIME_KILL, &kill, bytes, sizeof bytes);
    assert_int_equal(runtime_verify(RUNTIME_KILL, bytes, (size_t)count), TR_EFORMAT);
    assert_int_equal(runtime_encode(RUNTIME_REGISTER, &name, bytes, sizeof bytes), TR_EUNSUPPORTED);
}

/* A peer that speaks the bytes itself. */
struct raw {
    struct cluster cluster;
    struct address sink;
    uint32_t incarnation;
};

static const struct actor_ops sink_ops = { "sink", NULL, support_discard, NULL, NULL };

static struct wire_hello next_hello(struct raw *raw)
{
    return raw_hello(1, ++raw->incarnation);
}

/* A connection that is up, as a new incarnation: the last one may be being ended still. */
static int up(struct raw *raw)
{
    for (;;) {
        struct wire_hello hello = next_hello(raw);
        int fd;
        if (raw_greet(&raw->cluster, &hello, &fd, NULL) == WIRE_WELCOME)
            return fd;
        close(fd);
        usleep(1000);
    }
}

static uint32_t a_message(const struct raw *raw, unsigned char *record)
{
    struct number number = { .value = 5 };
    struct frame frame = {
        .to = raw->sink,
        .from = { 1, raw->incarnation, 1, 1 },
        .kind = KIND_URGENT,
        .head_bytes = sizeof number,
    };
    struct wire_header header = { .type = WIRE_MESSAGE, .bytes = sizeof frame + sizeof number };
    memcpy(record, &header, sizeof header);
    memcpy(record + sizeof header, &frame, sizeof frame);
    memcpy(record + sizeof header + sizeof frame, &number, sizeof number);
    return sizeof header + header.bytes;
}

/* Sends these bytes and then nothing more; waits until the other side closed. */
static void send_last(int fd, const void *bytes, size_t count)
{
    char rest[4096];
    ssize_t n = send(fd, bytes, count, MSG_NOSIGNAL);
    (void)n;
    shutdown(fd, SHUT_WR);
    while (read(fd, rest, sizeof rest) > 0)
        ;
    close(fd);
}

static void broken_records_end_their_connection(void **state)
{
    (void)state;
    struct raw raw = { 0 };
    unsigned char record[256];
    cluster_open_for(&raw.cluster, 1, 2, 2, NULL);
    raw.sink = cluster_spawn(&raw.cluster, 0, &sink_ops, NULL, 0);
    cluster_start(&raw.cluster);
    int fd = up(&raw);
    uint32_t count = a_message(&raw, record);
    send_last(fd, record, count);
    for (uint32_t cut = 0; cut < count; cut += 5) {
        fd = up(&raw);
        count = a_message(&raw, record);
        send_last(fd, record, cut);
    }
    for (uint32_t bit = 0; bit < 8 * count; bit++) {
        fd = up(&raw);
        count = a_message(&raw, record);
        record[bit / 8] ^= (unsigned char)(1 << bit % 8);
        send_last(fd, record, count);
    }
    struct links_counters counters;
    struct links_status status;
    links_counters(raw.cluster.nodes[0], &counters);
    assert_true(counters.corrupt > 200);
    links_status(raw.cluster.nodes[0], &status, 1);
    assert_true(status.messages_received >= 1);
    cluster_close(&raw.cluster);
}

static void who_does_not_belong_is_refused(void **state)
{
    (void)state;
    struct raw raw = { 0 };
    cluster_open_for(&raw.cluster, 1, 2, 1, NULL);
    cluster_start(&raw.cluster);
    for (int i = 0; i < 7; i++) {
        struct wire_hello hello = next_hello(&raw);
        if (i == 0)
            strcpy(hello.cluster, "other");
        else if (i == 1)
            hello.schema_hash++;
        else if (i == 2)
            hello.protocol_first = hello.protocol_last = LINKS_PROTOCOL_LAST + 1;
        else if (i == 3)
            hello.node = 5;
        else if (i == 4)
            hello.peer_node = 3;
        else if (i == 5)
            hello.incarnation = 0;
        else
            hello.node = 0;
        int fd;
        assert_int_equal(raw_greet(&raw.cluster, &hello, &fd, NULL), WIRE_REFUSE);
        close(fd);
    }
    struct links_counters counters;
    links_counters(raw.cluster.nodes[0], &counters);
    assert_int_equal(counters.refused, 7);
    assert_int_equal(counters.refused_by[LINKS_REFUSED_CLUSTER], 1);
    assert_int_equal(counters.refused_by[LINKS_REFUSED_SCHEMA], 1);
    assert_int_equal(counters.refused_by[LINKS_REFUSED_PROTOCOL], 1);
    assert_int_equal(counters.refused_by[LINKS_REFUSED_UNKNOWN], 1);
    assert_int_equal(counters.refused_by[LINKS_REFUSED_WRONG_NODE], 1);
    assert_int_equal(counters.refused_by[LINKS_REFUSED_MALFORMED], 1);
    assert_int_equal(counters.refused_by[LINKS_REFUSED_DUPLICATE], 1);
    cluster_close(&raw.cluster);
}

static void a_second_process_with_the_same_number_is_refused(void **state)
{
    (void)state;
    struct raw raw = { 0 };
    cluster_open_for(&raw.cluster, 1, 2, 1, NULL);
    cluster_start(&raw.cluster);
    struct wire_hello hello = next_hello(&raw);
    int fd;
    int second;
    assert_int_equal(raw_greet(&raw.cluster, &hello, &fd, NULL), WIRE_WELCOME);
    hello.nonce++;
    assert_int_equal(raw_greet(&raw.cluster, &hello, &second, NULL), WIRE_REFUSE);
    close(second);
    close(fd);
    struct links_counters counters;
    links_counters(raw.cluster.nodes[0], &counters);
    assert_int_equal(counters.refused_by[LINKS_REFUSED_DUPLICATE], 1);
    cluster_close(&raw.cluster);
}

/* Many peers that say nothing take no more than their places. */
static void half_open_connections_are_bounded(void **state)
{
    (void)state;
    struct raw raw = { 0 };
    int fds[LINKS_HALF_OPEN_MAX + 30];
    int count = sizeof fds / sizeof *fds;
    cluster_open_for(&raw.cluster, 1, 2, 1, NULL);
    cluster_start(&raw.cluster);
    for (int i = 0; i < count; i++)
        fds[i] = raw_connect(&raw.cluster);
    struct links_counters counters;
    do {
        usleep(1000);
        links_counters(raw.cluster.nodes[0], &counters);
    } while (counters.refused_by[LINKS_REFUSED_FULL] < 30);
    struct account *account = links_connection_account(raw.cluster.nodes[0]);
    assert_int_equal(account->peak_bytes, LINKS_HALF_OPEN_MAX * GREETING_BYTES);
    char byte;
    for (int i = 0; i < count; i++) /* all are closed by the end of their time */
        assert_int_equal(read(fds[i], &byte, 1), 0);
    links_counters(raw.cluster.nodes[0], &counters);
    assert_int_equal(counters.refused_by[LINKS_REFUSED_FULL], 30);
    assert_int_equal(counters.refused_by[LINKS_REFUSED_TIMEOUT], LINKS_HALF_OPEN_MAX);
    assert_int_equal(counters.dropped_unproved, count);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    cluster_close(&raw.cluster);
}

static int no_encoding(const void *head, void *out, size_t capacity)
{
    (void)head, (void)out, (void)capacity;
    return 0;
}

/* Two builds whose kinds differ in anything that goes over the wire do not talk to each other. */
static void the_hash_of_a_schema_knows_each_field(void **state)
{
    (void)state;
    const struct kind kind = { .id = 70, .name = "k", .encode = no_encoding };
    struct kind others[9];
    struct kinds kinds = { 0 };
    uint64_t empty = wire_schema_hash(&kinds);
    for (size_t i = 0; i < 9; i++)
        others[i] = kind;
    others[0].id = 71;
    others[1].lane = KIND_DATA;
    others[2].class = KIND_ONCE;
    others[3].head_bytes = 8;
    others[4].body_bytes_max = 8;
    others[5].observer = true;
    others[6].name = "l";
    others[7].name = "kk";
    others[8].encode = NULL; /* it never leaves its process */
    kinds.by_id[70] = &kind;
    uint64_t hash = wire_schema_hash(&kinds);
    assert_true(hash != empty && hash == wire_schema_hash(&kinds));
    for (size_t i = 0; i < 9; i++) {
        struct kinds changed = { 0 };
        changed.by_id[others[i].id] = &others[i];
        assert_true(wire_schema_hash(&changed) != hash);
        assert_int_equal(wire_schema_hash(&changed) == empty, i == 8);
    }
    kinds.by_id[KINDS_MAX - 1] = &others[1]; /* the last one counts too */
    assert_true(wire_schema_hash(&kinds) != hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_are_those_of_the_standard),
        cmocka_unit_test(headers_have_bounds),
        cmocka_unit_test(the_hash_of_a_schema_knows_each_field),
        cmocka_unit_test(hellos_come_back),
        cmocka_unit_test(broken_hellos_are_harmless),
        cmocka_unit_test(heads_of_the_runtime_come_back),
        cmocka_unit_test(broken_records_end_their_connection),
        cmocka_unit_test(who_does_not_belong_is_refused),
        cmocka_unit_test(a_second_process_with_the_same_number_is_refused),
        cmocka_unit_test(half_open_connections_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
