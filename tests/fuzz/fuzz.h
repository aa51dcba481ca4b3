/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz targets: each reads one kind of input that comes from outside, whatever its bytes are.
 *
 * A target is one file with LLVMFuzzerTestOneInput. It is linked twice: with replay.c into a test
 * that runs its corpus and mutations of it, with every compiler; and by `make fuzz` with libFuzzer,
 * which looks for new inputs. Input that is refused is fine, with a message; a crash, a leak, a
 * failed assertion or much memory for few bytes is not.
 *
 * Thread rules: one thread. A target keeps nothing from one input to the next that it reads.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A target may have a way of its own to change inputs (json_mutator.c); the driver has the other,
 * which changes bytes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* The first bytes of an input choose what is done with the rest. 0 where there are none left. */
struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
};

static inline uint8_t fuzz_byte(struct fuzz_bytes *bytes)
{
    return bytes->left > 0 ? (bytes->left--, *bytes->at++) : 0;
}

static inline uint32_t fuzz_u16(struct fuzz_bytes *bytes)
{
    uint32_t low = fuzz_byte(bytes);
    return low | (uint32_t)fuzz_byte(bytes) << 8;
}

/* A block of exactly that size, so that a read beyond it is seen; free it. */
static inline void *fuzz_block(const void *from, size_t size)
{
    void *block = NULL;
    int rv = posix_memalign(&block, 64, size > 0 ? size : 1);
    assert(rv == 0);
    if (size > 0)
        memcpy(block, from, size);
    return block;
}

/* Input that is refused is refused with a message. */
static inline void fuzz_check(int rv, const struct error *error)
{
    assert(rv <= 0);
    assert(rv == 0 || (error->code == rv && error->text[0] != '\0'));
}

/* As assert(), which says what does not hold in words. */
static inline void fuzz_hold(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

/* Reads all of some memory, for the sanitizers to see. */
static inline void fuzz_touch(const void *data, uint64_t bytes)
{
    const volatile uint8_t *at = data;
    for (uint64_t i = 0; i < bytes; i++)
        (void)at[i];
}

#endif
