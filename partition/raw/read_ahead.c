/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants, with blocks numbered in the order of the file:
 *  - kept <= taken <= begun <= filled <= kept + num_blocks. Blocks below kept were given back;
 *    [kept, taken) is the caller's one, or none; [taken, begun) are being parsed or have been;
 *    [begun, filled) wait for that. So the block that is filled is never one that somebody reads.
 *  - While `filling`, one thread writes block `filled`, and nobody else does. Blocks are filled in
 *    order, by one thread at a time, so that each comes from behind the one before it.
 *  - A block has one thread that parses it, the one that moved `begun` past it. It is ready from
 *    then on until it is given back.
 *  - After `ended` nothing is filled. The blocks before a failure are given first: the caller sees
 *    the failure where a reader without threads would.
 */
#include "partition/raw/read_ahead.h"

#include <stdlib.h>

#include "runtime/base/thread.h"

static struct ahead_block *block_of(const struct read_ahead *ahead, uint64_t number)
{
    return &ahead->blocks[number % ahead->num_blocks];
}

static bool may_fill(const struct read_ahead *ahead)
{
    return !ahead->filling && !ahead->ended && ahead->filled < ahead->kept + ahead->num_blocks;
}

/* Under the lock, which is given up meanwhile. */
static void fill_next(struct read_ahead *ahead)
{
    struct ahead_block *block = block_of(ahead, ahead->filled);
    struct error error = { 0 };
    size_t got = 0;
    ahead->filling = true;
    pthread_mutex_unlock(&ahead->lock);
    int rv = ahead->source.fill(ahead->source.arg, block->bytes, ahead->block_bytes, &got, &error);
    pthread_mutex_lock(&ahead->lock);
    ahead->filling = false;
    ahead->ended = rv != 0 || got < ahead->block_bytes;
    ahead->rv = rv;
    ahead->error = error;
    if (rv == 0 && got > 0) {
        block->got = got;
        block->ready = ahead->parser == NULL;
        ahead->filled++;
        if (ahead->parser == NULL)
            ahead->begun = ahead->filled;
    }
    pthread_cond_broadcast(&ahead->moved);
}

/* Under the lock, which is given up meanwhile. */
static void parse_next(struct read_ahead *ahead)
{
    struct ahead_block *block = block_of(ahead, ahead->begun++);
    const struct block_parser *parser = ahead->parser;
    pthread_mutex_unlock(&ahead->lock);
    parser->parse(parser->arg, block->bytes, block->got, block->parsed);
    pthread_mutex_lock(&ahead->lock);
    block->ready = true;
    pthread_cond_broadcast(&ahead->moved);
}

/* Does what is next, if there is anything to do. What is slow to fill is filled first, as all others
 * wait for it; else a block is filled by the thread that then parses it, in whose cache it is. */
static bool work_once(struct read_ahead *ahead)
{
    const bool fills = may_fill(ahead), parses = ahead->begun < ahead->filled;
    if (fills && (ahead->source.slow || !parses))
        fill_next(ahead);
    else if (parses)
        parse_next(ahead);
    return fills || parses;
}

static void *work_ahead(void *arg)
{
    struct read_ahead *ahead = arg;
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->stopping && !(ahead->ended && ahead->begun == ahead->filled)) {
        if (!work_once(ahead))
            pthread_cond_wait(&ahead->moved, &ahead->lock);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

static void free_blocks(struct read_ahead *ahead)
{
    for (uint32_t i = 0; ahead->blocks != NULL && i < ahead->num_blocks; i++) {
        free(ahead->blocks[i].bytes);
        if (ahead->blocks[i].parsed != NULL)
            ahead->parser->destroy(ahead->blocks[i].parsed);
    }
    free(ahead->blocks);
}

static int make_blocks(struct read_ahead *ahead)
{
    ahead->blocks = calloc(ahead->num_blocks, sizeof *ahead->blocks);
    if (ahead->blocks == NULL)
        return TR_ENOMEM;
    for (uint32_t i = 0; i < ahead->num_blocks; i++) {
        struct ahead_block *block = &ahead->blocks[i];
        block->bytes = malloc(ahead->block_bytes);
        if (ahead->parser != NULL)
            block->parsed = ahead->parser->create(ahead->parser->arg);
        if (block->bytes == NULL || (ahead->parser != NULL && block->parsed == NULL))
            return TR_ENOMEM;
    }
    return 0;
}

int read_ahead_start(struct read_ahead *ahead, const struct block_source *source,
                     const struct block_parser *parser, size_t block_bytes, uint32_t threads,
                     struct error *error)
{
    if (threads > READ_AHEAD_THREADS_MAX)
        threads = READ_AHEAD_THREADS_MAX;
    *ahead = (struct read_ahead){ .source = *source,
                                  .parser = parser,
                                  .block_bytes = block_bytes,
                                  /* Without a parser nothing is gained by more than two. */
                                  .num_blocks = parser != NULL ? 2 * threads + 3 : 2 };
    if (make_blocks(ahead) != 0)
        goto no_memory;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->moved, NULL);
    while (ahead->num_threads < threads &&
           thread_create(&ahead->threads[ahead->num_threads], "read ahead", work_ahead, ahead) == 0)
        ahead->num_threads++;
    if (ahead->num_threads > 0)
        return 0;
    pthread_cond_destroy(&ahead->moved);
    pthread_mutex_destroy(&ahead->lock);
no_memory:
    free_blocks(ahead);
    return error_set(error, TR_ENOMEM, "no memory to read ahead");
}

int read_ahead_next(struct read_ahead *ahead, const uint8_t **block, size_t *got,
                    const void **parsed, struct error *error)
{
    *got = 0;
    *parsed = NULL;
    pthread_mutex_lock(&ahead->lock);
    /* The block before is given back first: it may be the one that the others wait for. */
    ahead->kept = ahead->taken;
    pthread_cond_broadcast(&ahead->moved);
    for (;;) {
        bool next_ready = ahead->taken < ahead->begun && block_of(ahead, ahead->taken)->ready;
        if (next_ready || (ahead->ended && ahead->taken == ahead->filled))
            break;
        /* Without a parser there is nothing to share out. */
        if (ahead->parser == NULL || !work_once(ahead))
            pthread_cond_wait(&ahead->moved, &ahead->lock);
    }
    int rv = 0;
    if (ahead->taken < ahead->filled) {
        struct ahead_block *next = block_of(ahead, ahead->taken++);
        next->ready = false;
        *block = next->bytes;
        *got = next->got;
        *parsed = next->parsed;
    } else {
        rv = ahead->rv;
        if (rv != 0 && error != NULL)
            *error = ahead->error;
    }
    pthread_mutex_unlock(&ahead->lock);
    return rv;
}

void read_ahead_stop(struct read_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->stopping = true;
    pthread_cond_broadcast(&ahead->moved);
    pthread_mutex_unlock(&ahead->lock);
    for (uint32_t i = 0; i < ahead->num_threads; i++)
        pthread_join(ahead->threads[i], NULL);
    pthread_cond_destroy(&ahead->moved);
    pthread_mutex_destroy(&ahead->lock);
    free_blocks(ahead);
}
