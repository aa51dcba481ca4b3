/*
 * The runtime's own words as FlatBuffers (runtime.fbs), behind a C header.
 *
 * Nothing is allocated. What was not verified is not decoded. Thread rules: all pure.
 */
#ifndef RUNTIME_CORE_RUNTIME_CODEC_H
#define RUNTIME_CORE_RUNTIME_CODEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wire_hello;

#define RUNTIME_CODEC_BYTES_MAX 1024 /* the largest, a hello, takes a third of it */

/* Heads of enum runtime_kind: see struct kind for the results. */
int runtime_encode(uint32_t kind, const void *head, void *out, size_t capacity);
int runtime_verify(uint32_t kind, const void *bytes, size_t count);
int runtime_decode(uint32_t kind, const void *bytes, size_t count, void *head);

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
