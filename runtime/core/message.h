/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message: a fixed 64-byte frame, a head (a plain C struct) and a body (a counted buffer).
 *
 * In a process the pointer travels and nothing is encoded. A link writes the frame and the encoded
 * head, then the body as it lies. The frame has the shape it has on the wire, with one difference:
 * here `deadline_ns` is a time of the node's clock; on the wire it is what remains of it.
 *
 * Ownership: the holder of the pointer owns it, alone. Sending consumes, whatever the result; so do
 * replying and releasing. Releasing a request that nobody answered answers it with TR_EPEERDOWN.
 * Thread rules: on the loop of `self`. Messages return to the loop they came from in batches.
 */
#ifndef RUNTIME_CORE_MESSAGE_H
#define RUNTIME_CORE_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/core/address.h"
#include "runtime/core/buffer.h"
#include "runtime/core/kind.h"

enum message_flags {
    MESSAGE_REQUEST = 1, /* frame.call waits for one reply */
    MESSAGE_REPLY = 2,   /* answers frame.call; frame.status is 0 or TR_E* */
    MESSAGE_DATA = 4,    /* the data lane; else the control lane */
    MESSAGE_CREDIT =
        8, /* charged to a link's window or control lanes, or to observers, until it leaves
                          * the mailbox */
};

struct frame {
    struct address to;
    struct address from;
    uint64_t call;        /* the caller's call, 0 for a plain message */
    uint64_t deadline_ns; /* of the work asked for; 0: none */
    uint16_t kind;
    uint8_t flags;
    int8_t status; /* of a reply: 0 or TR_E* */
    uint32_t head_bytes;
    uint64_t body_bytes;
};
_Static_assert(sizeof(struct frame) == 64, "the frame is one cache line, here and on the wire");
_Static_assert(TR_EFORKED >= INT8_MIN, "statuses fit a frame");

struct message {
    struct frame frame;
    struct message *next; /* the list that holds it: mailbox, inbox, outbox, free list */
    struct loop *home;    /* NULL: made by a port, freed by its last release */
    struct buffer *body;  /* or NULL; frame.body_bytes of it count */
    uint32_t size_class;
    uint32_t body_offset; /* where the body starts in its buffer, a multiple of 64 */
    _Alignas(16) unsigned char head[];
};

/* A message of that kind with a head of zeroes and no body; NULL when memory is out.
 * The kind must be registered. */
struct message *message_create(struct actor *self, uint32_t kind);

/* The head as its struct; head_bytes of it are the kind's. */
static inline void *message_head(struct message *message)
{
    return message->head;
}

/* Allocates a body of bytes and returns where to write it (a valid pointer for 0 bytes too); NULL
 * when memory is out. The message must have none yet. */
void *message_body_alloc(struct actor *self, struct message *message, size_t bytes);

/* Attaches the first bytes of buffer as the body; takes over one reference. */
void message_body_attach(struct message *message, struct buffer *buffer, size_t bytes);

/* The body, or NULL when there is none. */
static inline void *message_body(const struct message *message)
{
    if (message->body == NULL)
        return NULL;
    return (unsigned char *)message->body->data + message->body_offset;
}

/* Takes the body's reference out of the message, which then has no body. NULL if it had none. */
struct buffer *message_body_detach(struct message *message);

/* A second message with an equal head and the same (then immutable) body; NULL: memory is out. */
struct message *message_copy(struct actor *self, const struct message *message);

/* Gives the message up. An unanswered request is answered with TR_EPEERDOWN. NULL is ignored. */
void message_release(struct actor *self, struct message *message);

#endif
