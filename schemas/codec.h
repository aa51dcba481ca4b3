/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heads as FlatBuffers: what a link writes in front of a body, and reads after verifying it.
 *
 * A C header over a C++ file, since no maintained C implementation of FlatBuffers is packaged.
 * Nothing is allocated: a head is small, it is built in the caller's memory.
 *
 * Thread rules: all functions are pure.
 */
#ifndef SCHEMAS_CODEC_H
#define SCHEMAS_CODEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest encoded head takes a quarter of it. */
#define CODEC_BYTES_MAX 1024

/* Writes the head of that kind into out; returns the bytes, TR_ETOOBIG (capacity), TR_EINVAL (a
 * count beyond its array) or TR_EUNSUPPORTED (no such kind). */
int codec_encode(uint32_t kind, const void *head, void *out, size_t capacity);

/* 0, or TR_EFORMAT: bytes[count] is no head of that kind. Reads nothing outside of bytes. */
int codec_verify(uint32_t kind, const void *bytes, size_t count);

/* Fills the head's struct from bytes that were verified. 0 or TR_EFORMAT. */
int codec_decode(uint32_t kind, const void *bytes, size_t count, void *head);

/* Bytes of the kind's struct; 0 for no kind of messages.h. */
size_t codec_head_bytes(uint32_t kind);

#ifdef __cplusplus
}
#endif

#endif
