/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection whose other side is one input: what is read is the input in pieces of a size, then
 * its end; what is written is taken.
 *
 * Ownership: the input is borrowed until the stream is closed. *open counts streams.
 */
#ifndef TESTS_FUZZ_MEMORY_STREAM_H
#define TESTS_FUZZ_MEMORY_STREAM_H

#include "runtime/core/stream.h"

/* piece 0: all at once. trusted: a unix socket of our own user. */
struct stream *memory_stream_create(const uint8_t *data, size_t size, size_t piece, bool trusted,
                                    uint32_t *open);

#endif
