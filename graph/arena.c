#include "graph/arena.h"

#include <stdint.h>
#include <string.h>

#include <troupe/error.h>

#include "runtime/hotmem.h"

#define ALIGN ((size_t)64)

static void free_chunks(struct batch_arena *arena)
{
    for (unsigned i = 0; i < arena->num_chunks; i++)
        hotmem_free(arena->chunks[i].memory, arena->chunks[i].bytes);
    arena->num_chunks = 0;
    arena->used = 0;
    arena->bytes = 0;
}

void arena_fini(struct batch_arena *arena)
{
    free_chunks(arena);
    *arena = (struct batch_arena){ 0 };
}

void arena_reset(struct batch_arena *arena)
{
    arena->used = 0;
    if (arena->num_chunks <= 1)
        return;
    /* The next batch gets one chunk of the size of all. */
    arena->bytes_hint = arena->bytes;
    free_chunks(arena);
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static int add_chunk(struct batch_arena *arena, size_t needed)
{
    size_t limit = arena->bytes_limit == 0 ? SIZE_MAX : arena->bytes_limit;
    size_t room = limit > arena->bytes ? limit - arena->bytes : 0;
    if (needed > room)
        return TR_EFULL;
    if (arena->num_chunks == ARENA_CHUNKS_MAX)
        return TR_ETOOBIG;
    size_t bytes = max_size(max_size(arena->bytes, ARENA_CHUNK_BYTES_MIN), needed);
    if (arena->num_chunks == 0)
        bytes = max_size(bytes, arena->bytes_hint);
    if (bytes > room)
        bytes = needed;
    char *memory = hotmem_alloc(bytes);
    if (memory == NULL)
        return TR_ENOMEM;
    arena->chunks[arena->num_chunks++] = (struct arena_chunk){ memory, bytes };
    arena->bytes += bytes;
    arena->used = 0;
    return 0;
}

int arena_alloc(struct batch_arena *arena, size_t count, size_t size, void *block)
{
    void *none = NULL;
    memcpy(block, &none, sizeof none);
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return TR_ENOMEM;
    bytes = max_size((bytes + ALIGN - 1) & ~(ALIGN - 1), ALIGN);
    size_t room =
        arena->num_chunks == 0 ? 0 : arena->chunks[arena->num_chunks - 1].bytes - arena->used;
    if (bytes > room) {
        int rv = add_chunk(arena, bytes);
        if (rv != 0)
            return rv;
    }
    void *found = arena->chunks[arena->num_chunks - 1].memory + arena->used;
    arena->used += bytes;
    memcpy(block, &found, sizeof found);
    return 0;
}
