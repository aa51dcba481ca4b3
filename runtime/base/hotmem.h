/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for hot tables: anonymous, aligned to 64 bytes, advised to use huge pages.
 *
 * Random access to a gigabyte misses the TLB at every touch on 4 KiB pages; huge pages
 * gave 1.3 times the sampling and 1.5 times the gather on the machine this was built on.
 * Allocations below HOTMEM_HUGE_BYTES come from the heap, since a huge page would waste
 * most of itself.
 *
 * Thread rules: any thread; a block may be freed by another thread than allocated it.
 */
#ifndef RUNTIME_BASE_HOTMEM_H
#define RUNTIME_BASE_HOTMEM_H

#include <stddef.h>

/* The size of a huge page on x86-64 and arm64 with 4 KiB base pages. */
#define HOTMEM_HUGE_BYTES ((size_t)2 << 20)

/* Zeroed memory of at least bytes (0 gives a valid block too); NULL when there is none. */
void *hotmem_alloc(size_t bytes);

/* Frees what hotmem_alloc(bytes) returned; bytes must be the same number. NULL is ignored. */
void hotmem_free(void *block, size_t bytes);

#endif
