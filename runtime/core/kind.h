/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of message that exist: the table that rooms below register theirs in.
 *
 * The runtime knows nothing of what a message means. It asks this table how large the head is,
 * how large a body may be, which lane the kind travels in, what may be repeated, and how the head
 * becomes bytes and back when a message leaves the process (or "codec" forces it to).
 *
 * A head is a plain C struct of head_bytes, without pointers if the kind has an encoding. What
 * varies in length (rows, ID arrays, names) is the body.
 *
 * Ownership: struct kind and its strings are the registrant's and outlive the node.
 * Thread rules: register before node_start; the table is read-only afterwards.
 */
#ifndef RUNTIME_CORE_KIND_H
#define RUNTIME_CORE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

struct actor;
struct loop;
struct message;

#define KINDS_MAX 1024u           /* ids are below this; a table of pointers */
#define KIND_ROOMS_FIRST 64u      /* 1..63 are the runtime's own */
#define KIND_HEAD_BYTES_MAX 4096u /* a head is a handful of numbers; arrays are bodies */

enum kind_lane {
    KIND_CONTROL, /* replies, credits, starts and stops: never refused, handled first */
    KIND_DATA,    /* charged to the receiver's mailbox bound */
};

enum kind_class {
    KIND_PURE,      /* may be repeated: its effect is none, or the same each time */
    KIND_SEQUENCED, /* numbered by its sender: a repeat has no second effect (sequenced.h) */
    KIND_ONCE,      /* never repeated */
};

struct kind {
    uint16_t id; /* KIND_ROOMS_FIRST .. KINDS_MAX - 1 */
    uint8_t lane;
    uint8_t class;
    bool observer;           /* observers may send it (address.h) */
    uint32_t head_bytes;     /* exactly; at most KIND_HEAD_BYTES_MAX */
    uint64_t body_bytes_max; /* 0: no body */
    const char *name;
    /* The encoding; all three NULL for a kind that never leaves its process.
     * encode writes the head into out[capacity] and returns the bytes written, or TR_ETOOBIG.
     * verify proves that decode may read bytes[count]; 0 or TR_EFORMAT.
     * decode fills head (head_bytes of zeroes) from verified bytes; 0 or TR_E*. */
    int (*encode)(const void *head, void *out, size_t capacity);
    int (*verify)(const void *bytes, size_t count);
    int (*decode)(const void *bytes, size_t count, void *head);
    /* May be NULL. Proves a decoded head's counts by the body (NULL: none): 0 or TR_EFORMAT. */
    int (*check)(const void *head, const void *body, uint64_t body_bytes);
    /* The runtime's own kinds alone have this: it takes the message where it is delivered, past the
     * mailbox of the actor that it is for. Consumes. NULL: the actor receives it. */
    void (*handle)(struct loop *loop, struct actor *actor, struct message *message);
};

/* Room for the encoding of any head. */
#define KIND_ENCODED_BYTES_MAX (2 * KIND_HEAD_BYTES_MAX)

struct kinds {
    const struct kind *by_id[KINDS_MAX];
};

/* TR_EEXIST when the id is taken, TR_EINVAL when a field is out of its bounds. */
int kinds_add(struct kinds *kinds, const struct kind *kind, struct error *error);

/* The kind of that id, or NULL. */
static inline const struct kind *kinds_find(const struct kinds *kinds, uint32_t id)
{
    return id < KINDS_MAX ? kinds->by_id[id] : NULL;
}

#endif
