/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a file, filled and parsed by threads ahead of the thread that reads them.
 *
 * Blocks are filled one at a time, in order, and parsed several at a time, where a parser was given,
 * also by the caller while the block that it needs is not ready. So what reading, unpacking and
 * parsing cost together is shared out over the threads, whichever of them costs most. What a parser
 * makes of a block depends on the block alone, so the number of threads
 * changes nothing that the caller sees.
 *
 * Ownership: read_ahead_start borrows source and parser until read_ahead_stop; a block, and what was
 * parsed of it, is the caller's to read until the next call. Memory: READ_AHEAD_BLOCKS_MAX blocks at
 * most, each with what was parsed of it. Thread rules: one thread calls; source->fill is called by
 * one thread at a time, and takes no lock of the caller's.
 */
#ifndef PARTITION_RAW_READ_AHEAD_H
#define PARTITION_RAW_READ_AHEAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

/* Beside the caller's. More threads would wait for the one that takes what they parsed. */
#define READ_AHEAD_THREADS_MAX 7u
/* A thread may be a block ahead of what it works on, and the caller has one. */
#define READ_AHEAD_BLOCKS_MAX (2 * READ_AHEAD_THREADS_MAX + 3)

/* Where the bytes come from. */
struct block_source {
    /* Fills data: *got < size only at the end. After that, or a failure, it is not called again. */
    int (*fill)(void *arg, void *data, size_t size, size_t *got, struct error *error);
    void *arg;
    bool slow; /* filling takes longer than parsing, as unpacking does */
};

/* What is made of a block before it is read: on any thread, of several blocks at the same time. */
struct block_parser {
    /* Room for what is made of a block, used again for later ones; NULL: no memory. */
    void *(*create)(void *arg);
    void (*parse)(void *arg, const uint8_t *block, size_t size, void *parsed);
    void (*destroy)(void *parsed);
    void *arg;
};

struct ahead_block {
    uint8_t *bytes;
    size_t got;
    void *parsed; /* NULL: there is no parser */
    bool ready;   /* parsed, or only filled where there is no parser */
};

struct read_ahead {
    struct block_source source;
    const struct block_parser *parser; /* NULL: none */
    size_t block_bytes;
    uint32_t num_blocks;
    struct ahead_block *blocks; /* [num_blocks]; block n is number n % num_blocks */
    uint32_t num_threads;
    pthread_t threads[READ_AHEAD_THREADS_MAX];
    pthread_mutex_t lock;
    pthread_cond_t moved;
    /* Under the lock. Numbers of blocks, see read_ahead.c. */
    uint64_t filled, begun, taken, kept;
    bool filling; /* a thread fills block `filled` */
    bool ended;   /* no block follows those that are filled */
    int rv;       /* why they end there; 0: the file does */
    struct error error;
    bool stopping;
};

/* Begins to fill, with so many threads, or fewer where there are no more; parser may be NULL.
 * TR_ENOMEM: there is no memory, or no thread at all; then nothing is to be stopped. */
int read_ahead_start(struct read_ahead *ahead, const struct block_source *source,
                     const struct block_parser *parser, size_t block_bytes, uint32_t threads,
                     struct error *error);
/* The next block, of *got bytes: fewer than block_bytes only at the end, and none after it.
 * *parsed: what the parser made of it. */
int read_ahead_next(struct read_ahead *ahead, const uint8_t **block, size_t *got,
                    const void **parsed, struct error *error);
/* Returns when the threads have ended, which takes no longer than the block that each has. */
void read_ahead_stop(struct read_ahead *ahead);

#endif
