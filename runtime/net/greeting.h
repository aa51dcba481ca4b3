/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first words on a connection: the transport's handshake, one record out, one record in.
 *
 * The listener and the link that dials both use it. It holds all that a peer may cost before it is
 * known: GREETING_BYTES of an account, until its deadline, which is its owner's matter.
 *
 * Ownership: it has the transport until greeting_take. Thread rules: as for the transport.
 */
#ifndef RUNTIME_NET_GREETING_H
#define RUNTIME_NET_GREETING_H

#include "runtime/core/account.h"
#include "runtime/net/admission.h"
#include "runtime/net/hello_codec.h"
#include "runtime/net/transport.h"
#include "runtime/net/wire.h"

struct greeting {
    struct transport *transport;
    struct account *account;
    bool secured;
    uint32_t out_at, out_bytes;
    uint32_t in_bytes;
    unsigned char out[WIRE_HEADER_BYTES + HELLO_CODEC_BYTES_MAX];
    unsigned char in[WIRE_HEADER_BYTES + LINKS_HELLO_BYTES_MAX];
};

#define GREETING_BYTES (sizeof(struct greeting) + TRANSPORT_BYTES)

/* Charged to the account, which outlives it. NULL: out of memory, or the account is full; the
 * transport is destroyed. */
struct greeting *greeting_create(struct transport *transport, struct account *account);

/* Ends the connection, if it is still ours. NULL is ignored. */
void greeting_destroy(struct greeting *greeting);

/* The connection is the caller's from here on. */
struct transport *greeting_take(struct greeting *greeting);

/* The record to write, one of the two. */
void greeting_say(struct greeting *greeting, uint8_t type, const struct wire_hello *hello);
void greeting_refuse(struct greeting *greeting, uint32_t refusal);

/* Goes on. 1: the other side's record is here and ours is written; 0: later;
 * TR_E*: the connection is of no use. */
int greeting_step(struct greeting *greeting, struct error *error);

/* Only its writing, of a connection that is secured: 1: all is written; 0: later; TR_E*. */
int greeting_write(struct greeting *greeting);

/* Has all been written that was to be? */
static inline bool greeting_is_written(const struct greeting *greeting)
{
    return greeting->secured && greeting->out_at == greeting->out_bytes;
}

/* How far the other side came. */
enum admission_stage greeting_stage(const struct greeting *greeting);

/* Reads the record that came: its type, and what it says. TR_EFORMAT. */
uint8_t greeting_type(const struct greeting *greeting);
int greeting_hello(const struct greeting *greeting, struct wire_hello *hello);
int greeting_refusal(const struct greeting *greeting, uint32_t *refusal);

/* A whole record; out has room for a header and HELLO_CODEC_BYTES_MAX. Returns its bytes. */
uint32_t greeting_record(uint8_t type, const struct wire_hello *hello, uint32_t refusal,
                         unsigned char *out);

#endif
