/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heads of the runtime's own kinds as FlatBuffers (runtime.fbs), behind a C header.
 *
 * Nothing is allocated. Bytes that were not verified are not decoded. Thread rules: all pure.
 */
#ifndef RUNTIME_CORE_RUNTIME_CODEC_H
#define RUNTIME_CORE_RUNTIME_CODEC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RUNTIME_CODEC_BYTES_MAX 1024 /* the largest, a lookup, takes an eighth of it */

/* Heads of enum runtime_kind: see struct kind for the results. */
int runtime_encode(uint32_t kind, const void *head, void *out, size_t capacity);
int runtime_verify(uint32_t kind, const void *bytes, size_t count);
int runtime_decode(uint32_t kind, const void *bytes, size_t count, void *head);

#ifdef __cplusplus
}
#endif

#endif
