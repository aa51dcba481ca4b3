/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a safetensors file, of which nothing is trusted: the header's length is checked before it
 * is parsed, shape and type of a tensor before its offsets, and at last that the tensors, in the
 * order of their offsets, cover the data. A struct safetensors is complete or, after a failure,
 * closed.
 */
#include "model/safetensors.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "model/safetensors_dtype.h"
#include "runtime/base/json_text.h"

#define PREFIX 8

struct reading {
    const char *path;
    const unsigned char *data; /* behind the header */
    uint64_t data_bytes;
    struct error *error;
};

static int bad(const struct reading *reading, const char *name, const char *what)
{
    return error_set(reading->error, TR_EFORMAT,
                     "%s: tensor '%s': %s; the file is damaged or not safetensors: write it again",
                     reading->path, name, what);
}

static int read_shape(const struct reading *reading, json_t *shape, struct safetensor *tensor)
{
    if (!json_is_array(shape) || json_array_size(shape) > SAFETENSORS_NDIM_MAX)
        return bad(reading, tensor->name, "shape is not a list of at most 8 numbers");
    tensor->ndim = (uint32_t)json_array_size(shape);
    for (uint32_t i = 0; i < tensor->ndim; i++) {
        json_t *size = json_array_get(shape, i);
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return bad(reading, tensor->name, "shape has an entry that is not a size");
        tensor->shape[i] = (uint64_t)json_integer_value(size);
    }
    if (safetensor_bytes(tensor, &tensor->bytes) != 0)
        return bad(reading, tensor->name, "shape is too large");
    return 0;
}

static int read_offsets(const struct reading *reading, json_t *offsets, struct safetensor *tensor)
{
    json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end) ||
        json_integer_value(begin) < 0 || json_integer_value(end) < json_integer_value(begin))
        return bad(reading, tensor->name, "data_offsets is not [begin, end]");
    uint64_t from = (uint64_t)json_integer_value(begin), to = (uint64_t)json_integer_value(end);
    if (to > reading->data_bytes)
        return bad(reading, tensor->name, "data_offsets go beyond the end of the file");
    if (to - from != tensor->bytes)
        return bad(reading, tensor->name, "data_offsets differ from what shape and dtype need");
    tensor->data = reading->data + from;
    return 0;
}

static int read_tensor(const struct reading *reading, const char *name, json_t *entry,
                       struct safetensor *tensor)
{
    *tensor = (struct safetensor){ .name = name };
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (dtype == NULL || json_object_size(entry) != 3)
        return bad(reading, name, "not an object of dtype, shape and data_offsets");
    int number = safetensors_dtype_parse(dtype);
    if (number < 0)
        return bad(reading, name, "dtype is not one that is read here");
    tensor->dtype = (enum tr_dtype)number;
    int rc = read_shape(reading, json_object_get(entry, "shape"), tensor);
    if (rc == 0)
        rc = read_offsets(reading, json_object_get(entry, "data_offsets"), tensor);
    return rc;
}

static int by_place(const void *a, const void *b)
{
    const struct safetensor *x = a, *y = b;
    const unsigned char *p = x->data, *q = y->data;
    if (p != q)
        return p < q ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes); /* Empty ones first. */
}

/* The reference reader refuses holes, since two programs could see different things in them. */
static int check_cover(const struct reading *reading, struct safetensors *tensors)
{
    if (tensors->count > 0)
        qsort(tensors->tensors, tensors->count, sizeof *tensors->tensors, by_place);
    const unsigned char *next = reading->data;
    for (size_t i = 0; i < tensors->count; i++) {
        const struct safetensor *tensor = &tensors->tensors[i];
        if (tensor->data != next)
            return bad(reading, tensor->name, "its data overlaps another's or leaves a gap");
        next += tensor->bytes;
    }
    if (next != reading->data + reading->data_bytes)
        return error_set(reading->error, TR_EFORMAT, "%s: data behind the last tensor",
                         reading->path);
    return 0;
}

static int check_metadata(const struct reading *reading, json_t *metadata)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        return bad(reading, "__metadata__", "not an object");
    json_object_foreach(metadata, key, value)
    {
        if (!json_is_string(value))
            return bad(reading, "__metadata__", "has a value that is not a string");
    }
    return 0;
}

static int read_header(const struct reading *reading, struct safetensors *tensors)
{
    const char *name;
    json_t *entry;
    tensors->tensors = calloc(json_object_size(tensors->header) + 1, sizeof *tensors->tensors);
    if (tensors->tensors == NULL)
        return error_set(reading->error, TR_ENOMEM, "%s: out of memory", reading->path);
    json_object_foreach((json_t *)tensors->header, name, entry)
    {
        int rc = strcmp(name, "__metadata__") == 0
                     ? check_metadata(reading, entry)
                     : read_tensor(reading, name, entry, &tensors->tensors[tensors->count++]);
        if (rc != 0)
            return rc;
    }
    return check_cover(reading, tensors);
}

static int parse(struct safetensors *tensors, struct reading *reading)
{
    const void *map;
    uint64_t size = tensors->file.size, length = 0;
    if (size < PREFIX)
        return error_set(reading->error, TR_EFORMAT,
                         "%s: %" PRIu64 " bytes, too short for a "
                         "safetensors file",
                         reading->path, size);
    int rc = file_map(&tensors->file, &map, reading->error);
    if (rc != 0)
        return rc;
    const unsigned char *bytes = map;
    for (size_t i = 0; i < PREFIX; i++)
        length |= (uint64_t)bytes[i] << (8 * i);
    if (length > SAFETENSORS_HEADER_MAX || length > size - PREFIX)
        return error_set(reading->error, TR_EFORMAT,
                         "%s: claims a header of %" PRIu64 " bytes in a file of %" PRIu64,
                         reading->path, length, size);
    char place[ERROR_TEXT_MAX];
    if (length == 0 || bytes[PREFIX] != '{')
        return error_set(reading->error, TR_EFORMAT, "%s: the header is not a JSON object",
                         reading->path);
    snprintf(place, sizeof place, "%s: header", reading->path);
    json_t *header;
    int rv = json_read_text(place, (const char *)bytes + PREFIX, length, JSON_REJECT_DUPLICATES,
                            &header, reading->error);
    if (rv != 0)
        return rv;
    tensors->header = header;
    reading->data = bytes + PREFIX + length;
    reading->data_bytes = size - PREFIX - length;
    return read_header(reading, tensors);
}

int safetensors_open(struct safetensors *tensors, struct files *files, const char *path,
                     struct error *error)
{
    *tensors = (struct safetensors){ 0 };
    struct reading reading = { .path = path, .error = error };
    int rc = file_open(&tensors->file, files, path, error);
    if (rc != 0)
        return rc;
    rc = parse(tensors, &reading);
    if (rc != 0)
        safetensors_close(tensors);
    return rc;
}

void safetensors_close(struct safetensors *tensors)
{
    free(tensors->tensors);
    json_decref(tensors->header);
    file_close(&tensors->file);
    *tensors = (struct safetensors){ 0 };
}
