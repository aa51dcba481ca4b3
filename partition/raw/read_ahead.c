/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants: taken <= filled <= taken + 1. The thread fills a block only while filled == taken,
 * so that the caller's block is never the one that is being written; the caller takes one only
 * while filled == taken + 1. A failure, or a block that is not full, is the last one.
 */
#include "partition/raw/read_ahead.h"

#include <stdlib.h>

#include "runtime/base/thread.h"

static bool is_last(const struct read_ahead *ahead)
{
    return ahead->filled > 0 && (ahead->rv != 0 || ahead->got < ahead->block_bytes);
}

static void *fill_blocks(void *arg)
{
    struct read_ahead *ahead = arg;
    pthread_mutex_lock(&ahead->lock);
    while (!is_last(ahead)) {
        while (ahead->filled != ahead->taken && !ahead->stopping)
            pthread_cond_wait(&ahead->moved, &ahead->lock);
        if (ahead->stopping)
            break;
        uint8_t *block = ahead->blocks[ahead->filled % 2];
        struct error error = { 0 };
        size_t got = 0;
        pthread_mutex_unlock(&ahead->lock);
        int rv = ahead->from->read(ahead->from, block, ahead->block_bytes, &got, &error);
        pthread_mutex_lock(&ahead->lock);
        ahead->rv = rv;
        ahead->got = got;
        ahead->error = error;
        ahead->filled++;
        pthread_cond_signal(&ahead->moved);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

int read_ahead_start(struct read_ahead *ahead, struct unpack *from, size_t block_bytes,
                     struct error *error)
{
    *ahead = (struct read_ahead){ .from = from, .block_bytes = block_bytes };
    ahead->blocks[0] = malloc(block_bytes);
    ahead->blocks[1] = malloc(block_bytes);
    if (ahead->blocks[0] == NULL || ahead->blocks[1] == NULL)
        goto no_memory;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->moved, NULL);
    if (thread_create(&ahead->thread, "unpack", fill_blocks, ahead) == 0)
        return 0;
    pthread_cond_destroy(&ahead->moved);
    pthread_mutex_destroy(&ahead->lock);
no_memory:
    free(ahead->blocks[0]);
    free(ahead->blocks[1]);
    return error_set(error, TR_ENOMEM, "no memory to unpack ahead");
}

int read_ahead_next(struct read_ahead *ahead, const uint8_t **block, size_t *got,
                    struct error *error)
{
    *got = 0;
    pthread_mutex_lock(&ahead->lock);
    if (ahead->filled == ahead->taken && is_last(ahead)) {
        pthread_mutex_unlock(&ahead->lock);
        return 0;
    }
    while (ahead->filled == ahead->taken)
        pthread_cond_wait(&ahead->moved, &ahead->lock);
    int rv = ahead->rv;
    if (rv != 0 && error != NULL)
        *error = ahead->error;
    *block = ahead->blocks[ahead->taken % 2];
    *got = rv == 0 ? ahead->got : 0;
    ahead->taken++;
    pthread_cond_signal(&ahead->moved);
    pthread_mutex_unlock(&ahead->lock);
    return rv;
}

void read_ahead_stop(struct read_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->stopping = true;
    pthread_cond_signal(&ahead->moved);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    pthread_cond_destroy(&ahead->moved);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead->blocks[0]);
    free(ahead->blocks[1]);
}
