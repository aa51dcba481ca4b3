/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pooled memory for message bodies: aligned to 64 bytes, counted, given back to where it came from.
 *
 * Sizes are rounded up to classes (powers of two from 256 bytes to 64 MiB); each loop keeps free
 * buffers of each class, up to a bound. Large ones are hot memory (huge pages). Bytes allocated on
 * one thread and freed on another are what malloc is worst at, so the last release on another
 * loop hands the buffer back in that loop's next batch of returns.
 *
 * Ownership: counted references; buffer_create gives the first. Contents may be written only
 * while there is one reference; shared buffers are immutable.
 * Thread rules: create, acquire and release on a loop (self's); *_any on any thread.
 */
#ifndef RUNTIME_CORE_BUFFER_H
#define RUNTIME_CORE_BUFFER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFER_ALIGN 64                    /* a cache line, and what Arrow asks of columns */
#define BUFFER_BYTES_MAX ((size_t)1 << 34) /* a length above this is a mistake, not a body */

struct account;
struct actor;
struct loop;

struct buffer {
    struct buffer *next;     /* free list, or a batch of returns */
    struct loop *home;       /* NULL: belongs to no loop, freed by its last release */
    struct account *account; /* of one without a home: charged until it is freed; or NULL */
    void *data;              /* BUFFER_ALIGN-aligned */
    size_t capacity;
    atomic_uint references;
    uint32_t size_class;
};

/* At least bytes of uninitialised memory from self's loop; NULL when there is none
 * (or the loop's account is full). */
struct buffer *buffer_create(struct actor *self, size_t bytes);

/* One that belongs to no loop and may be released by any thread. It is charged to the account,
 * which outlives it, until then; NULL: to none. */
struct buffer *buffer_create_any(struct account *account, size_t bytes);

/* One more reference; any thread that holds one. */
struct buffer *buffer_acquire(struct buffer *buffer);

/* Gives up a reference on self's loop. NULL is ignored. */
void buffer_release(struct actor *self, struct buffer *buffer);

/* Gives up a reference on any thread (a port's). The node must still exist if it has a home. */
void buffer_release_any(struct buffer *buffer);

#endif
