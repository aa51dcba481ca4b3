/* SPDX-License-Identifier: Apache-2.0 */
/* Transports: every byte arrives once and in order however the stream cuts them, and nobody gets
 * in a peer that does not prove itself; each refusal says why. */
#include "tests/runtime/wires.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/net/security_impl.h"
#include "runtime/net/tls.h"

#define ROUNDS_MAX 100000
#define DAY_S 86400

/* Two transports over wires. */
struct line {
    struct wires wires;
    struct transport *client, *server;
    int client_rc, server_rc; /* of the handshakes */
    struct error client_error, server_error;
};

struct house {
    char folder[64], other[64];
    struct security *alpha, *beta, *stranger, *shared, *other_shared;
};

static void connect_line(struct line *line, const struct security *client,
                         const struct security *server, const char *host, uint64_t seed)
{
    memset(line, 0, sizeof *line);
    wires_init(&line->wires, seed);
    assert_int_equal(
        transport_create(wires_stream(&line->wires, true), client, true, host, &line->client, NULL),
        0);
    assert_int_equal(transport_create(wires_stream(&line->wires, false), server, false, NULL,
                                      &line->server, NULL),
                     0);
    line->client_rc = line->server_rc = 1;
}

static void step(struct transport *transport, int *rc, struct error *error)
{
    if (transport == NULL)
        return;
    if (*rc == 1)
        *rc = transport_handshake(transport, error);
    transport_want(transport, STREAM_READABLE);
}

/* A side that fails closes its end, as links do. */
static void close_failed(struct transport **transport, int rc)
{
    if (rc < 0 && *transport != NULL) {
        for (int i = 0; i < 100; i++)
            transport_want(*transport, 0);
        transport_destroy(*transport);
        *transport = NULL;
    }
}

static void shake_hands(struct line *line)
{
    for (int i = 0; i < 1000 && (line->client_rc == 1 || line->server_rc == 1); i++) {
        step(line->client, &line->client_rc, &line->client_error);
        close_failed(&line->client, line->client_rc);
        step(line->server, &line->server_rc, &line->server_error);
        close_failed(&line->server, line->server_rc);
    }
}

static void expect_through(const struct line *line)
{
    if (line->client_rc != 0 || line->server_rc != 0)
        fail_msg("%s; %s", line->client_error.text, line->server_error.text);
}

static void disconnect_line(struct line *line)
{
    transport_destroy(line->client);
    transport_destroy(line->server);
}

/* The byte at a place of the stream that is sent. */
static unsigned char byte_at(uint64_t place)
{
    return (unsigned char)((place * 2654435761u) >> 13);
}

/* Up to eight parts of random sizes, some of them empty. */
static int cut(struct wires *wires, unsigned char *bytes, size_t size, struct iovec parts[8])
{
    int count = 0;
    size_t at = 0;
    while (count < 8 && at < size) {
        size_t most = wires_random(wires, 3) == 0 ? 30 : 60000;
        size_t take = wires_random(wires, most);
        take = take < size - at ? take : size - at;
        parts[count++] = (struct iovec){ bytes + at, take };
        at += take;
    }
    return count;
}

static uint64_t put_some(struct line *line, struct transport *from, uint64_t place, uint64_t end)
{
    static unsigned char bytes[400000];
    struct iovec parts[8];
    size_t size = end - place < sizeof bytes ? (size_t)(end - place) : sizeof bytes;
    for (size_t i = 0; i < size; i++)
        bytes[i] = byte_at(place + i);
    int count = cut(&line->wires, bytes, size, parts);
    ssize_t put = transport_writev(from, parts, count);
    assert_true(put >= 0);
    return place + (uint64_t)put;
}

/* Reads as a user of events does: when there is something to read, or something is pending. */
static uint64_t take_some(struct line *line, struct transport *to, const struct wire *wire,
                          uint64_t place)
{
    static unsigned char bytes[400000];
    struct iovec parts[8];
    if (!wire_is_readable(wire) && !transport_pending(to))
        return place;
    memset(bytes, 0, sizeof bytes);
    int count = cut(&line->wires, bytes, sizeof bytes, parts);
    ssize_t got = transport_readv(to, parts, count);
    assert_true(got >= 0);
    if (got == 0 && count > 0 && parts[count - 1].iov_len > 0)
        assert_false(transport_pending(to));
    for (ssize_t i = 0; i < got; i++)
        if (bytes[i] != byte_at(place + (uint64_t)i))
            fail_msg("byte %llu is wrong", (unsigned long long)place + (unsigned long long)i);
    return place + (uint64_t)got;
}

static void exchange(struct line *line, uint64_t up_end, uint64_t down_end)
{
    uint64_t up_put = 0, up_got = 0, down_put = 0, down_got = 0;
    for (int i = 0; i < ROUNDS_MAX && (up_got < up_end || down_got < down_end); i++) {
        up_put = put_some(line, line->client, up_put, up_end);
        down_got = take_some(line, line->client, &line->wires.down, down_got);
        transport_want(line->client, STREAM_READABLE);
        down_put = put_some(line, line->server, down_put, down_end);
        up_got = take_some(line, line->server, &line->wires.up, up_got);
        transport_want(line->server, STREAM_READABLE);
    }
    assert_int_equal(up_got, up_end);
    assert_int_equal(down_got, down_end);
}

static void bytes_arrive_whole(void **state)
{
    struct house *house = *state;
    const struct security *pairs[][2] = { { NULL, NULL },
                                          { house->alpha, house->beta },
                                          { house->shared, house->shared } };
    for (int i = 0; i < 3; i++) {
        for (uint64_t seed = 1; seed <= 6; seed++) {
            struct line line;
            connect_line(&line, pairs[i][0], pairs[i][1], "beta", seed);
            shake_hands(&line);
            expect_through(&line);
            exchange(&line, 3000000, seed * 100001);
            disconnect_line(&line);
        }
    }
}

static void both_sides_know_who_it_is(void **state)
{
    struct house *house = *state;
    char identity[TRANSPORT_IDENTITY_MAX];
    struct line line;
    connect_line(&line, house->alpha, house->beta, "beta", 1);
    transport_identity(line.server, identity);
    assert_string_equal(identity, "not authenticated");
    assert_false(transport_is_trusted(line.server));
    assert_false(transport_names(line.server, "alpha"));
    shake_hands(&line);
    transport_identity(line.server, identity);
    assert_string_equal(identity, "CN=alpha");
    assert_true(transport_is_trusted(line.server));
    assert_true(transport_names(line.server, "alpha"));
    assert_false(transport_names(line.server, "beta"));
    assert_false(transport_names(line.server, "127.0.0.1"));
    disconnect_line(&line);
    connect_line(&line, house->shared, house->shared, "any", 1);
    shake_hands(&line);
    transport_identity(line.client, identity);
    assert_string_equal(identity, "shared key");
    assert_true(transport_names(line.client, "any"));
    disconnect_line(&line);
    connect_line(&line, NULL, NULL, NULL, 1);
    transport_identity(line.client, identity);
    assert_string_equal(identity, "not authenticated");
    assert_false(transport_is_trusted(line.client));
    disconnect_line(&line);
}

/* An address is a name too. */
static void an_address_is_proved(void **state)
{
    struct house *house = *state;
    struct security *address = keys_security(house->folder, "127.0.0.1");
    struct line line;
    connect_line(&line, house->alpha, address, "127.0.0.1", 1);
    shake_hands(&line);
    assert_int_equal(line.client_rc, 0);
    disconnect_line(&line);
    connect_line(&line, house->alpha, address, "127.0.0.2", 1);
    shake_hands(&line);
    assert_int_equal(line.client_rc, TR_EPERM);
    disconnect_line(&line);
    security_destroy(address);
}

static void expect_text(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in '%s'", part, text);
}

/* Neither side gets through, and these two messages say why. A client that ends its
 * handshake first hears of the refusal when it reads. */
static void expect_refusal(const struct security *client, const struct security *server,
                           const char *host, const char *client_says, const char *server_says)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct line line;
        unsigned char byte;
        struct iovec part = { &byte, 1 };
        connect_line(&line, client, server, host, seed);
        shake_hands(&line);
        assert_int_not_equal(line.server_rc, 0);
        if (line.client_rc == 0) {
            ssize_t got = 0;
            for (int i = 0; i < 1000 && got == 0; i++)
                got = transport_readv(line.client, &part, 1);
            assert_true(got < 0);
            assert_true(transport_readv(line.client, &part, 1) == got);
            line.client_error = *transport_error(line.client);
        }
        expect_text(line.client_error.text, client_says);
        expect_text(line.server_error.text, server_says);
        disconnect_line(&line);
    }
}

static void strangers_are_refused(void **state)
{
    struct house *house = *state;
    expect_refusal(house->stranger, house->beta, NULL, "is issued by another CA than ours",
                   "the peer does not trust our certificate (issued by another CA)");
    expect_refusal(house->alpha, house->beta, "gamma", "(CN=beta) is not that of host gamma",
                   "TLS handshake failed: ");
    expect_refusal(house->shared, house->other_shared, NULL, "key is another than ours",
                   "shared key is another than ours");
    expect_refusal(house->shared, house->beta, NULL, "this one has a shared key",
                   "TLS handshake failed: ");
    expect_refusal(house->alpha, house->shared, NULL, "one may have a shared key",
                   "does not have our shared key");
}

static void set_clock(struct security *security, int64_t days)
{
    X509_VERIFY_PARAM *param = SSL_CTX_get0_param(security->context);
    X509_VERIFY_PARAM_set_time(param, time(NULL) + days * DAY_S);
}

/* Where a key is shared, a handshake that ends well without it is worth nothing: neither side takes
 * the other's certificate instead. */
static void a_shared_key_must_have_been_used(void **state)
{
    struct house *house = *state;
    struct security *keyed = keys_security(house->folder, "beta");
    keyed->has_shared_key = true; /* and all the rest is for certificates */
    for (int server = 0; server < 2; server++) {
        struct line line;
        connect_line(&line, server ? house->alpha : keyed, server ? keyed : house->alpha, NULL, 1);
        shake_hands(&line);
        assert_int_equal(server ? line.server_rc : line.client_rc, TR_EPERM);
        assert_non_null(strstr((server ? line.server_error : line.client_error).text,
                               "does not have our shared key"));
        disconnect_line(&line);
    }
    security_destroy(keyed);
}

static void certificates_out_of_their_time_are_refused(void **state)
{
    struct house *house = *state;
    struct security *late = keys_security(house->folder, "alpha");
    set_clock(late, 60);
    expect_refusal(late, house->beta, NULL, "(CN=beta) has expired", "TLS handshake failed: ");
    expect_refusal(house->beta, late, NULL, "TLS handshake failed: our certificate has expired",
                   "(CN=beta) has expired");
    set_clock(late, -60);
    expect_refusal(late, house->beta, NULL, "not yet valid; compare the clocks",
                   "TLS handshake failed: ");
    security_destroy(late);
}

/* The answer of a server to bytes of a stranger: the rc of its handshake. */
static int answer(const struct security *security, const void *bytes, size_t size, bool ends,
                  struct error *error)
{
    struct line line;
    size_t at = 0;
    connect_line(&line, NULL, security, NULL, size);
    for (int i = 0; i < 2000 && line.server_rc == 1; i++) {
        at += wire_put(&line.wires.up, (const char *)bytes + at, size - at);
        line.wires.up.ended = ends && at == size;
        step(line.server, &line.server_rc, error);
        line.wires.down.at = line.wires.down.end;
    }
    assert_true(line.wires.up.carried - (line.wires.up.end - line.wires.up.at) <=
                TRANSPORT_HANDSHAKE_BYTES_MAX);
    int rc = line.server_rc;
    disconnect_line(&line);
    return rc;
}

static void plain_text_is_told_from_tls(void **state)
{
    struct house *house = *state;
    struct error error;
    const char *texts[] = { "GET / HTTP/1.1\r\nHost: troupe\r\n\r\n", "TRPE............",
                            "SSH-2.0-OpenSSH_9.2\r\n" };
    for (int i = 0; i < 3; i++) {
        assert_int_equal(answer(house->alpha, texts[i], strlen(texts[i]), false, &error),
                         TR_EFORMAT);
        expect_text(error.text, "the peer does not speak TLS");
    }
    assert_int_equal(answer(house->alpha, "", 0, false, &error), 1);
    assert_int_equal(answer(house->alpha, "", 0, true, &error), TR_EEND);
    expect_text(error.text, "may not speak TLS");
}

static void a_client_of_tls_on_a_plain_port_hears_that(void **state)
{
    struct house *house = *state;
    struct line line;
    unsigned char bytes[3];
    struct iovec part = { bytes, sizeof bytes };
    connect_line(&line, house->alpha, NULL, NULL, 2);
    for (int i = 0; i < 100; i++)
        step(line.client, &line.client_rc, &line.client_error);
    while (transport_readv(line.server, &part, 1) == 0)
        continue;
    assert_true(tls_looks_like_record(bytes, sizeof bytes));
    assert_false(tls_looks_like_record("GET", 3));
    assert_false(tls_looks_like_record("\x16\x03", 2));
    assert_int_equal(line.client_rc, 1);
    transport_destroy(line.server);
    line.server = NULL;
    shake_hands(&line);
    assert_int_equal(line.client_rc, TR_EEND);
    expect_text(line.client_error.text, "may not speak TLS");
    disconnect_line(&line);
    connect_line(&line, house->alpha, NULL, NULL, 2);
    assert_int_equal(wire_put(&line.wires.down, "hello there", 11), 11);
    line.server_rc = 0;
    shake_hands(&line);
    assert_int_equal(line.client_rc, TR_EFORMAT);
    expect_text(line.client_error.text, "the peer does not speak TLS");
    disconnect_line(&line);
}

static void older_versions_are_refused(void **state)
{
    struct house *house = *state;
    char hello[4096];
    struct error error;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    assert_int_equal(SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION), 1);
    SSL *ssl = SSL_new(context);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl, in, out);
    SSL_connect(ssl);
    int size = BIO_read(out, hello, sizeof hello);
    assert_true(size > 0);
    assert_int_equal(answer(house->alpha, hello, (size_t)size, false, &error), TR_EPERM);
    expect_text(error.text, "the peer does not speak TLS 1.3");
    SSL_free(ssl);
    SSL_CTX_free(context);
}

/* A ClientHello that says it is 100 KiB long, in records of 1 KiB that all look well. */
static void a_long_handshake_is_cut_off(void **state)
{
    struct house *house = *state;
    size_t size = 17 * (1024 + 5);
    unsigned char *bytes = calloc(1, size);
    struct error error;
    assert_non_null(bytes);
    for (size_t at = 0; at < size; at += 1024 + 5)
        memcpy(bytes + at, "\x16\x03\x01\x04\x00", 5);
    memcpy(bytes + 5, "\x01\x01\x90\x00\x03\x03", 6);
    int rc = answer(house->alpha, bytes, size, false, &error);
    assert_int_equal(rc, TR_ETOOBIG);
    expect_text(error.text, "16384 bytes");
    free(bytes);
}

static void garbage_never_gets_in(void **state)
{
    struct house *house = *state;
    struct wires wires;
    unsigned char bytes[2000];
    struct error error;
    wires_init(&wires, 7);
    for (int i = 0; i < 300; i++) {
        size_t size = wires_random(&wires, sizeof bytes);
        for (size_t j = 0; j < size; j++)
            bytes[j] = (unsigned char)wires_random(&wires, 256);
        if (i % 2 == 0 && size > 5)
            memcpy(bytes, "\x16\x03\x01\x00", 4);
        int rc = answer(i % 4 < 2 ? house->alpha : house->shared, bytes, size, true, &error);
        assert_true(rc < 0);
    }
}

/* One bit turned over anywhere: what arrives is a beginning of what was sent, and then an end. */
static void a_changed_bit_is_found(void **state)
{
    struct house *house = *state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct line line;
        unsigned char sent[4000], got[4000];
        struct iovec put = { sent, sizeof sent };
        size_t total = 0;
        ssize_t now = 0;
        memset(sent, (int)seed, sizeof sent);
        connect_line(&line, house->alpha, house->beta, "beta", seed);
        line.wires.up.damage_at = wires_random(&line.wires, 6500);
        shake_hands(&line);
        if (line.client_rc == 0 && line.server_rc == 0) {
            assert_int_equal(transport_writev(line.client, &put, 1), sizeof sent);
            for (int i = 0; i < 500 && now >= 0; i++) {
                struct iovec part = { got + total, sizeof got - total };
                transport_want(line.client, STREAM_READABLE);
                now = transport_readv(line.server, &part, 1);
                total += now > 0 ? (size_t)now : 0;
            }
            assert_memory_equal(got, sent, total);
            /* A changed length may also have the reader wait for the rest. */
            if (line.wires.up.damage_at < line.wires.up.carried)
                assert_true(total < sizeof sent);
            else
                assert_int_equal(total, sizeof sent);
        } else {
            assert_true(line.wires.up.damage_at < line.wires.up.carried);
        }
        disconnect_line(&line);
    }
}

/* After a short write the caller may go on with other bytes than it offered. */
static void what_was_not_taken_may_be_changed(void **state)
{
    struct house *house = *state;
    static unsigned char first[2000000], second[1000], got[2001000];
    struct line line;
    size_t total = 0, taken = 0;
    memset(first, 'a', sizeof first);
    memset(second, 'b', sizeof second);
    connect_line(&line, house->alpha, house->beta, "beta", 3);
    shake_hands(&line);
    /* Until nothing more fits into the wire and the transport. */
    for (int i = 0; i < 100; i++) {
        struct iovec part = { first, sizeof first };
        ssize_t put = transport_writev(line.client, &part, 1);
        assert_true(put >= 0);
        taken += (size_t)put;
    }
    assert_true(taken < sizeof first);
    size_t expected = taken;
    for (int i = 0; i < ROUNDS_MAX && total < taken + sizeof second; i++) {
        struct iovec part = { second + (expected - taken), sizeof second - (expected - taken) };
        ssize_t put = transport_writev(line.client, &part, 1);
        assert_true(put >= 0);
        expected += (size_t)put;
        struct iovec room = { got + total, sizeof got - total };
        ssize_t now = transport_readv(line.server, &room, 1);
        assert_true(now >= 0);
        total += (size_t)now;
    }
    assert_int_equal(total, taken + sizeof second);
    for (size_t i = 0; i < total; i++)
        assert_int_equal(got[i], i < taken ? 'a' : 'b');
    disconnect_line(&line);
}

/* An orderly end arrives after all that was written before it. */
static void the_end_comes_last(void **state)
{
    struct house *house = *state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct line line;
        unsigned char sent[20000] = { 1 }, got[20001];
        struct iovec part = { sent, sizeof sent };
        size_t total = 0;
        ssize_t now = 0;
        connect_line(&line, house->shared, house->shared, NULL, seed);
        shake_hands(&line);
        assert_int_equal(transport_writev(line.client, &part, 1), sizeof sent);
        for (int i = 0; i < 100; i++)
            transport_want(line.client, STREAM_READABLE);
        transport_destroy(line.client);
        line.client = NULL;
        for (int i = 0; i < 1000 && now >= 0; i++) {
            struct iovec room = { got + total, sizeof got - total };
            now = transport_readv(line.server, &room, 1);
            total += now > 0 ? (size_t)now : 0;
        }
        assert_int_equal(now, TR_EEND);
        assert_int_equal(total, sizeof sent);
        assert_false(transport_pending(line.server));
        disconnect_line(&line);
    }
}

static int set_up(void **state)
{
    static const char *const HOSTS[] = { "alpha", "beta", "127.0.0.1" };
    struct house *house = calloc(1, sizeof *house);
    char path[128];
    assert_non_null(house);
    keys_folder_make(house->folder, HOSTS, 3, 0);
    keys_folder_make(house->other, HOSTS, 1, 0);
    house->alpha = keys_security(house->folder, "alpha");
    house->beta = keys_security(house->folder, "beta");
    house->stranger = keys_security(house->other, "alpha");
    snprintf(path, sizeof path, "%s/shared", house->folder);
    keys_file_write(path, "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n",
                    0600);
    house->shared = keys_shared(path);
    snprintf(path, sizeof path, "%s/other", house->folder);
    keys_file_write(path, "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n", 0600);
    house->other_shared = keys_shared(path);
    *state = house;
    return 0;
}

static int tear_down(void **state)
{
    struct house *house = *state;
    security_destroy(house->alpha);
    security_destroy(house->beta);
    security_destroy(house->stranger);
    security_destroy(house->shared);
    security_destroy(house->other_shared);
    keys_folder_remove(house->folder);
    keys_folder_remove(house->other);
    free(house);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_arrive_whole),
        cmocka_unit_test(both_sides_know_who_it_is),
        cmocka_unit_test(an_address_is_proved),
        cmocka_unit_test(strangers_are_refused),
        cmocka_unit_test(a_shared_key_must_have_been_used),
        cmocka_unit_test(certificates_out_of_their_time_are_refused),
        cmocka_unit_test(plain_text_is_told_from_tls),
        cmocka_unit_test(a_client_of_tls_on_a_plain_port_hears_that),
        cmocka_unit_test(older_versions_are_refused),
        cmocka_unit_test(a_long_handshake_is_cut_off),
        cmocka_unit_test(garbage_never_gets_in),
        cmocka_unit_test(a_changed_bit_is_found),
        cmocka_unit_test(what_was_not_taken_may_be_changed),
        cmocka_unit_test(the_end_comes_last),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
