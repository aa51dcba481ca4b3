/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A greeting: the handshake of the transport, then one record out and one record in.
 *
 * Invariants:
 *   - Nothing is written or read before the handshake is done (`secured`), so nobody gets or gives
 *     a word in the clear on a connection that should be encrypted.
 *   - One record is read and never a byte behind it: those belong to the link that takes the
 *     connection over.
 *   - The length in a header is trusted only after the header was checked, which bounds it by the
 *     size of `in`. All that a greeting costs is GREETING_BYTES, charged while it exists.
 *   - A greeting is over when its record is written and the other one is read whole and verified.
 */
#include "runtime/net/greeting.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/crc32c.h"
#include "runtime/net/tls.h"

struct greeting *greeting_create(struct transport *transport, struct account *account)
{
    struct greeting *greeting = NULL;
    /* The account is asked before memory: at its bound nothing is allocated. */
    if (account_reserve(account, GREETING_BYTES, NULL) < 0)
        goto err_after_transport;
    greeting = calloc(1, sizeof *greeting);
    if (greeting == NULL)
        goto err_after_account;
    greeting->transport = transport;
    greeting->account = account;
    return greeting;

err_after_account:
    account_release(account, GREETING_BYTES);
err_after_transport:
    transport_destroy(transport);
    return NULL;
}

void greeting_destroy(struct greeting *greeting)
{
    if (greeting == NULL)
        return;
    transport_destroy(greeting->transport);
    account_release(greeting->account, GREETING_BYTES);
    free(greeting);
}

struct transport *greeting_take(struct greeting *greeting)
{
    struct transport *transport = greeting->transport;
    greeting->transport = NULL;
    return transport;
}

uint32_t greeting_record(uint8_t type, const struct wire_hello *hello, uint32_t refusal,
                         unsigned char *out)
{
    unsigned char *payload = out + WIRE_HEADER_BYTES;
    int bytes = hello != NULL ? hello_encode(hello, payload, HELLO_CODEC_BYTES_MAX)
                              : refuse_encode(refusal, payload, HELLO_CODEC_BYTES_MAX);
    assert(bytes > 0);
    struct wire_header header = { .bytes = (uint32_t)bytes, .type = type };
    header.crc = crc32c(wire_crc_begin(&header), payload, header.bytes);
    memcpy(out, &header, sizeof header);
    return WIRE_HEADER_BYTES + header.bytes;
}

void greeting_say(struct greeting *greeting, uint8_t type, const struct wire_hello *hello)
{
    greeting->out_at = 0;
    greeting->out_bytes = greeting_record(type, hello, 0, greeting->out);
}

void greeting_refuse(struct greeting *greeting, uint32_t refusal)
{
    greeting->out_at = 0;
    greeting->out_bytes = greeting_record(WIRE_REFUSE, NULL, refusal, greeting->out);
}

static struct wire_header header_of(const struct greeting *greeting)
{
    struct wire_header header;
    memcpy(&header, greeting->in, sizeof header);
    return header;
}

int greeting_write(struct greeting *greeting)
{
    while (greeting->out_at < greeting->out_bytes) {
        struct iovec part = { greeting->out + greeting->out_at,
                              greeting->out_bytes - greeting->out_at };
        ssize_t n = transport_writev(greeting->transport, &part, 1);
        if (n <= 0)
            return (int)n;
        greeting->out_at += (uint32_t)n;
    }
    return 1;
}

/* Exactly one record is read, never a byte behind it: that belongs to the link that takes the
 * connection. */
static int read_to(struct greeting *greeting, uint32_t bytes)
{
    while (greeting->in_bytes < bytes) {
        struct iovec part = { greeting->in + greeting->in_bytes, bytes - greeting->in_bytes };
        ssize_t n = transport_readv(greeting->transport, &part, 1);
        if (n <= 0)
            return (int)n;
        greeting->in_bytes += (uint32_t)n;
    }
    return 1;
}

static int read_in(struct greeting *greeting)
{
    int rc = read_to(greeting, WIRE_HEADER_BYTES);
    if (rc <= 0)
        return rc;
    struct wire_header header = header_of(greeting);
    /* The header is checked before the rest is read: its length is only now known to fit `in`. */
    if (wire_check_header(&header, true) < 0)
        return TR_EFORMAT;
    rc = read_to(greeting, WIRE_HEADER_BYTES + header.bytes);
    if (rc <= 0)
        return rc;
    uint32_t crc = crc32c(wire_crc_begin(&header), greeting->in + WIRE_HEADER_BYTES, header.bytes);
    return crc == header.crc ? 1 : TR_EFORMAT;
}

int greeting_step(struct greeting *greeting, struct error *error)
{
    if (!greeting->secured) {
        int rc = transport_handshake(greeting->transport, error);
        if (rc > 0)
            transport_want(greeting->transport, STREAM_READABLE);
        if (rc != 0)
            return rc < 0 ? rc : 0;
        greeting->secured = true;
    }
    /* Write before reading, and read although writing would block: neither side waits for the other
     * to begin. */
    int written = greeting_write(greeting);
    int read = written < 0 ? written : read_in(greeting);
    transport_want(greeting->transport,
                   STREAM_READABLE | (written == 0 ? (unsigned)STREAM_WRITABLE : 0u));
    /* This stands before the general errors: it is the one cause of a strange record that has a
     * remedy. */
    if (read == TR_EFORMAT && tls_looks_like_record(greeting->in, greeting->in_bytes))
        return error_set(error, read, "the peer speaks TLS, and this process does not");
    const struct error *why = transport_error(greeting->transport);
    if (read < 0)
        return error_set(error, read, "%s",
                         why->code != 0 ? why->text
                         : read == TR_EFORMAT
                             ? "the peer did not send Troupe's greeting; it may be another program"
                         : read == TR_EEND ? "the peer closed the connection"
                                           : tr_strerror(read));
    return written > 0 && read > 0 ? 1 : 0;
}

/* A process of our user on a unix socket has proved its identity before it speaks, but it may not
 * hold a place in silence either. */
enum admission_stage greeting_stage(const struct greeting *greeting)
{
    const struct transport *transport = greeting->transport;
    /* Silence is asked for first: a unix socket of our user is trusted from the beginning. */
    if (greeting->in_bytes == 0 && !transport_has_heard(transport))
        return ADMISSION_SILENT;
    if (greeting->secured && transport_is_trusted(transport))
        return ADMISSION_PROVED;
    return transport_has_answered(transport) ? ADMISSION_ANSWERED : ADMISSION_SPOKE;
}

uint8_t greeting_type(const struct greeting *greeting)
{
    return header_of(greeting).type;
}

int greeting_hello(const struct greeting *greeting, struct wire_hello *hello)
{
    struct wire_header header = header_of(greeting);
    if (header.type == WIRE_REFUSE)
        return TR_EFORMAT;
    return hello_decode(greeting->in + WIRE_HEADER_BYTES, header.bytes, hello);
}

int greeting_refusal(const struct greeting *greeting, uint32_t *refusal)
{
    struct wire_header header = header_of(greeting);
    if (header.type != WIRE_REFUSE)
        return TR_EFORMAT;
    return refuse_decode(greeting->in + WIRE_HEADER_BYTES, header.bytes, refusal);
}
