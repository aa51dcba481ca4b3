/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/hotmem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HOTMEM_ALIGN ((size_t)64)

static size_t round_up(size_t bytes, size_t unit)
{
    return bytes + (unit - bytes % unit) % unit;
}

static void *alloc_small(size_t bytes)
{
    size_t size = round_up(bytes == 0 ? 1 : bytes, HOTMEM_ALIGN);
    void *block = aligned_alloc(HOTMEM_ALIGN, size);
    if (block != NULL)
        memset(block, 0, size);
    return block;
}

/* mmap aligns to base pages only, so map one huge page more and give back both ends. */
static void *alloc_huge(size_t bytes)
{
    size_t size = round_up(bytes, HOTMEM_HUGE_BYTES);
    size_t mapped = size + HOTMEM_HUGE_BYTES;
    char *base = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    size_t head = round_up((uintptr_t)base, HOTMEM_HUGE_BYTES) - (uintptr_t)base;
    size_t tail = HOTMEM_HUGE_BYTES - head;
    if (head > 0)
        munmap(base, head);
    if (tail > 0)
        munmap(base + head + size, tail);
    /* Only advice: without huge pages the memory works, slower. */
    (void)madvise(base + head, size, MADV_HUGEPAGE);
    return base + head;
}

void *hotmem_alloc(size_t bytes)
{
    if (bytes > SIZE_MAX - 2 * HOTMEM_HUGE_BYTES)
        return NULL;
    return bytes < HOTMEM_HUGE_BYTES ? alloc_small(bytes) : alloc_huge(bytes);
}

void hotmem_free(void *block, size_t bytes)
{
    if (block == NULL)
        return;
    if (bytes < HOTMEM_HUGE_BYTES)
        free(block);
    else
        munmap(block, round_up(bytes, HOTMEM_HUGE_BYTES));
}
