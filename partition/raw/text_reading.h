/* SPDX-License-Identifier: Apache-2.0 */
/* How a text is read, for those who have options to pass it on. */
#ifndef PARTITION_RAW_TEXT_READING_H
#define PARTITION_RAW_TEXT_READING_H

#include <stddef.h>
#include <stdint.h>

/* A read: its cost vanishes beside that of parsing it, and it stays in a core's cache meanwhile. */
#define TEXT_BLOCK_BYTES ((size_t)1 << 20)

/* All 0: as suits the machine. Neither changes what is read. */
struct text_reading {
    /* That unpack and parse ahead, the caller's among them (read_ahead.h); 0: as many as there are
     * CPUs. */
    uint32_t threads;
    size_t block_bytes; /* 0: TEXT_BLOCK_BYTES */
};

#endif
