/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first words on a connection as FlatBuffers (hello.fbs), behind a C header.
 *
 * Nothing is allocated. Bytes that were not verified are not decoded. Thread rules: all pure.
 */
#ifndef RUNTIME_NET_HELLO_CODEC_H
#define RUNTIME_NET_HELLO_CODEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wire_hello;

#define HELLO_CODEC_BYTES_MAX 1024 /* a hello takes a third of it */

/* Bytes written, or TR_ETOOBIG. */
int hello_encode(const struct wire_hello *hello, void *out, size_t capacity);
int refuse_encode(uint32_t refusal, void *out, size_t capacity);

/* Verify and decode: 0 or TR_EFORMAT. */
int hello_decode(const void *bytes, size_t count, struct wire_hello *hello);
int refuse_decode(const void *bytes, size_t count, uint32_t *refusal);

#ifdef __cplusplus
}
#endif

#endif
