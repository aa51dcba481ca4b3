/*
 * The memory of one mini-batch: everything a batch points to, taken and given back at once.
 *
 * Allocation moves a pointer in a pooled chunk of hot memory. After the first batches one chunk is
 * as large as a whole batch, so that a steady state allocates nothing and its huge pages stay.
 *
 * Ownership: whoever holds the batch holds its arena. One thread at a time; any thread may reset or
 * free it. All zeros is a valid, empty arena without a limit.
 */
#ifndef GRAPH_ARENA_H
#define GRAPH_ARENA_H

#include <stddef.h>

/* Chunks double, so this many are beyond any address space. */
#define ARENA_CHUNKS_MAX 48

/* Below this a chunk costs more to take than to keep. */
#define ARENA_CHUNK_BYTES_MIN ((size_t)256 << 10)

struct arena_chunk {
    char *memory;
    size_t bytes;
};

struct batch_arena {
    struct arena_chunk chunks[ARENA_CHUNKS_MAX]; /* the last is the one in use */
    unsigned num_chunks;
    size_t used;        /* of the last chunk */
    size_t bytes;       /* of all chunks: what its owner is charged for */
    size_t bytes_hint;  /* what the batch before needed */
    size_t bytes_limit; /* 0: none */
};

void arena_fini(struct batch_arena *arena);

/* Gives back everything that was allocated; the memory is kept for the next batch. */
void arena_reset(struct batch_arena *arena);

/* count * size bytes, 64-byte aligned, undefined content. NULL in *block unless 0 is returned:
 * TR_EFULL at bytes_limit, TR_ENOMEM. A count of 0 gives a valid block. */
int arena_alloc(struct batch_arena *arena, size_t count, size_t size, void *block);

#endif
