/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named tensors in a safetensors file: 8 bytes of little-endian header length, a JSON header,
 * the data. https://github.com/huggingface/safetensors has the format.
 *
 * Equal tensors give equal bytes: names are sorted, the metadata is fixed, and the header is
 * padded with spaces so that data starts at a multiple of 8. A file appears whole or not at
 * all. A reader trusts nothing: header length, shapes, types and offsets are checked, and the
 * tensors must cover the data without gap or overlap.
 *
 * Ownership: a struct safetensors owns the mapped file its tensors point into.
 * Thread rules: read-only once open.
 */
#ifndef MODEL_SAFETENSORS_H
#define MODEL_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/types.h>

#include "runtime/base/files.h"

/* The bound of the reference implementation; a header of ours has 100 bytes a tensor. */
#define SAFETENSORS_HEADER_MAX ((uint64_t)100 << 20)
#define SAFETENSORS_NDIM_MAX 8

struct safetensor {
    const char *name;
    enum tr_dtype dtype;
    uint32_t ndim;
    uint64_t shape[SAFETENSORS_NDIM_MAX];
    const void *data; /* a reader may find it unaligned */
    uint64_t bytes;
};

struct safetensors {
    struct file file;
    void *header;               /* parsed JSON; names point into it */
    struct safetensor *tensors; /* [count], by offset in the file */
    size_t count;
};

/* Elements times element size, or TR_ETOOBIG. */
int safetensor_bytes(const struct safetensor *tensor, uint64_t *bytes);

/* Names must differ; bytes is computed. TR_EINVAL, TR_ENOMEM, or what the files say. */
int safetensors_write(struct files *files, const char *path, const struct safetensor *tensors,
                      size_t count, struct error *error);

int safetensors_open(struct safetensors *tensors, struct files *files, const char *path,
                     struct error *error);
void safetensors_close(struct safetensors *tensors);

/* The tensor of that name, or NULL. */
const struct safetensor *safetensors_find(const struct safetensors *tensors, const char *name);

#endif
