/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first record of a connection, and the runtime's own words: HELLO, WELCOME, REFUSE and the
 * heads of the runtime's kinds; or a whole greeting, whose record gets a checksum that is right.
 * The first byte chooses which. A greeting that decodes encodes to bytes that decode to the same.
 */
#include "runtime/base/crc32c.h"
#include "runtime/core/kind.h"
#include "runtime/core/runtime_kinds.h"
#include "runtime/net/greeting.h"
#include "runtime/net/hello_codec.h"
#include "runtime/net/wire.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_stream.h"

#define CHOICE_GREETING 15

static void use_hello(const uint8_t *bytes, size_t count)
{
    struct wire_hello hello, back;
    uint8_t once[HELLO_CODEC_BYTES_MAX], again[HELLO_CODEC_BYTES_MAX];
    if (hello_decode(bytes, count, &hello) != 0)
        return;
    assert(memchr(hello.cluster, '\0', sizeof hello.cluster) != NULL);
    int size = hello_encode(&hello, once, sizeof once);
    assert(size > 0 && (uint32_t)size <= LINKS_HELLO_BYTES_MAX);
    assert(hello_decode(once, (size_t)size, &back) == 0);
    assert(hello_encode(&back, again, sizeof again) == size);
    assert(memcmp(once, again, (size_t)size) == 0);
}

static void use_refuse(const uint8_t *bytes, size_t count)
{
    uint32_t refusal, back;
    uint8_t again[HELLO_CODEC_BYTES_MAX];
    if (refuse_decode(bytes, count, &refusal) != 0)
        return;
    assert(wire_refusal_text(refusal) != NULL);
    int size = refuse_encode(refusal, again, sizeof again);
    assert(size > 0 && refuse_decode(again, (size_t)size, &back) == 0 && back == refusal);
}

static void use_kind(uint32_t id, const uint8_t *bytes, size_t count)
{
    static struct kinds kinds;
    uint8_t once[KIND_ENCODED_BYTES_MAX], again[KIND_ENCODED_BYTES_MAX];
    if (kinds_find(&kinds, RUNTIME_STOP) == NULL)
        runtime_kinds_add(&kinds);
    const struct kind *kind = kinds_find(&kinds, id);
    if (kind == NULL || kind->encode == NULL || kind->verify(bytes, count) != 0)
        return;
    /* A head of no bytes is legal. */
    void *head = calloc(1, kind->head_bytes + 1), *back = calloc(1, kind->head_bytes + 1);
    assert(head != NULL && back != NULL);
    if (kind->decode(bytes, count, head) == 0) {
        int size = kind->encode(head, once, sizeof once);
        assert(size >= 0 && kind->verify(once, (size_t)size) == 0);
        assert(kind->decode(once, (size_t)size, back) == 0);
        assert(kind->encode(back, again, sizeof again) == size);
        assert(memcmp(once, again, (size_t)size) == 0);
    }
    free(head);
    free(back);
}

/* A header, and a payload of as many bytes as it says. */
static void use_header(const uint8_t *bytes, size_t count)
{
    struct wire_header header;
    if (count < sizeof header)
        return;
    memcpy(&header, bytes, sizeof header);
    for (int greeting = 0; greeting < 2; greeting++)
        if (wire_check_header(&header, greeting) == 0)
            assert(header.bytes <= WIRE_RECORD_BYTES_MAX && header.lane < WIRE_LANES);
    (void)wire_crc_begin(&header);
}

/* Steps until it is done with the other side; at the end of the input that is gone. */
static int run_greeting(struct greeting *greeting)
{
    struct error error = { 0 };
    int rv = 0;
    for (int i = 0; rv == 0 && i < 1000; i++)
        rv = greeting_step(greeting, &error);
    assert(rv != 0 && (rv > 0 || error.text[0] != '\0'));
    return rv;
}

static void use_greeting(const uint8_t *bytes, size_t count)
{
    struct fuzz_bytes input = { bytes, count };
    uint8_t record[WIRE_HEADER_BYTES + LINKS_HELLO_BYTES_MAX];
    struct wire_header header = { .type = fuzz_byte(&input) };
    const struct wire_hello hello = { .cluster = "job" };
    struct transport *transport;
    struct wire_hello theirs;
    uint32_t refusal, open = 0;
    size_t piece = fuzz_byte(&input);
    if (input.left > LINKS_HELLO_BYTES_MAX)
        return;
    header.bytes = (uint32_t)input.left;
    header.crc = crc32c(wire_crc_begin(&header), input.at, input.left);
    memcpy(record, &header, sizeof header);
    memcpy(record + sizeof header, input.at, input.left);
    struct stream *stream = memory_stream_create(record, sizeof header + input.left, piece, false,
                                                 &open);
    assert(stream != NULL && transport_create(stream, NULL, false, NULL, &transport, NULL) == 0);
    struct account account;
    account_init(&account, "fuzz", GREETING_BYTES);
    struct greeting *greeting = greeting_create(transport, &account);
    assert(greeting != NULL);
    greeting_say(greeting, WIRE_WELCOME, &hello);
    if (run_greeting(greeting) > 0) {
        assert(greeting_is_written(greeting) && greeting_type(greeting) == header.type);
        bool is_hello = greeting_hello(greeting, &theirs) == 0;
        assert(greeting_refusal(greeting, &refusal) != 0 || !is_hello);
    }
    greeting_destroy(greeting);
    account_fini(&account);
    assert(open == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = { data, size };
    uint8_t choice = fuzz_byte(&bytes) % 16;
    uint8_t *block = malloc(bytes.left > 0 ? bytes.left : 1); /* unaligned or not, as it comes */
    assert(block != NULL);
    if (bytes.left > 0)
        memcpy(block, bytes.at, bytes.left);
    if (choice == CHOICE_GREETING)
        use_greeting(block, bytes.left);
    else if (choice == 0)
        use_hello(block, bytes.left);
    else if (choice == 1)
        use_refuse(block, bytes.left);
    else if (choice == 2)
        use_header(block, bytes.left);
    else
        use_kind(choice - 2u, block, bytes.left);
    free(block);
    return 0;
}
