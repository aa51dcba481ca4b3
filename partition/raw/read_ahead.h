/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacking beside parsing: a thread fills one block while the caller reads the one before it.
 *
 * Ownership: read_ahead_start borrows the stream, which belongs to the thread until
 * read_ahead_stop; a block is the caller's to read until the next call. Thread rules: one thread
 * calls; the thread of its own takes no lock of the caller's but the one in here.
 */
#ifndef PARTITION_RAW_READ_AHEAD_H
#define PARTITION_RAW_READ_AHEAD_H

#include <pthread.h>

#include "partition/raw/unpack.h"

struct read_ahead {
    struct unpack *from;
    size_t block_bytes;
    uint8_t *blocks[2];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    /* Under the lock. Block `filled % 2` is the thread's, the other one the caller's. */
    uint64_t filled; /* blocks that the thread has filled */
    uint64_t taken;  /* blocks that the caller has got */
    size_t got;      /* bytes of the last one filled */
    int rv;          /* of the last one filled; the thread ends after a failure */
    struct error error;
    bool stopping;
};

/* Begins to fill. TR_ENOMEM: there is no memory, or no thread; then nothing is to be stopped. */
int read_ahead_start(struct read_ahead *ahead, struct unpack *from, size_t block_bytes,
                     struct error *error);
/* The next block, of *got bytes: fewer than block_bytes only at the end, and none after it. */
int read_ahead_next(struct read_ahead *ahead, const uint8_t **block, size_t *got,
                    struct error *error);
void read_ahead_stop(struct read_ahead *ahead);

#endif
