/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a safetensors file: a header of the tensors sorted by name, then their data in the same
 * order. The file is written beside its path and gets its name when its bytes are on the disk.
 */
#include "model/safetensors.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/safetensors_dtype.h"
#include "runtime/base/json_text.h"

#define SUFFIX ".part" /* of the file while it is written */

static int by_name(const void *a, const void *b)
{
    const struct safetensor *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static json_t *describe(const struct safetensor *tensor, uint64_t begin, uint64_t end)
{
    json_t *shape = json_array();
    for (uint32_t i = 0; i < tensor->ndim; i++)
        json_array_append_new(shape, json_integer((json_int_t)tensor->shape[i]));
    return json_pack("{s:s, s:o, s:[I,I]}", "dtype", safetensors_dtype_name(tensor->dtype), "shape",
                     shape, "data_offsets", (json_int_t)begin, (json_int_t)end);
}

/* The header as text, padded; tensors are sorted by name. */
static int make_header(const struct safetensor **sorted, size_t count, char **text,
                       struct error *error)
{
    json_t *root = json_pack("{s:{s:s}}", "__metadata__", "format", "pt");
    int rc = root == NULL ? TR_ENOMEM : 0;
    uint64_t offset = 0, bytes;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = safetensor_bytes(sorted[i], &bytes);
        if (rc == 0 && json_object_get(root, sorted[i]->name) != NULL)
            rc = TR_EINVAL;
        if (rc == 0 && json_object_set_new(root, sorted[i]->name,
                                           describe(sorted[i], offset, offset + bytes)) != 0)
            rc = TR_ENOMEM;
        offset += rc == 0 ? bytes : 0;
    }
    *text = rc == 0 ? json_write_text(root, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_decref(root);
    if (*text != NULL)
        return 0;
    return error_set(error, rc == 0 ? TR_ENOMEM : rc,
                     "safetensors: the header of %zu tensors cannot be made (%s)", count,
                     tr_strerror(rc == 0 ? TR_ENOMEM : rc));
}

static int append_header(struct file *file, const char *text, struct error *error)
{
    static const char spaces[8] = "        ";
    size_t length = strlen(text), padding = (8 - length % 8) % 8;
    unsigned char prefix[8];
    for (size_t i = 0; i < 8; i++)
        prefix[i] = (unsigned char)((uint64_t)(length + padding) >> (8 * i));
    int rc = file_append(file, prefix, sizeof prefix, error);
    if (rc == 0)
        rc = file_append(file, text, length, error);
    if (rc == 0)
        rc = file_append(file, spaces, padding, error);
    return rc;
}

static int write_file(struct files *files, const char *path, const char *header,
                      const struct safetensor **sorted, size_t count, struct error *error)
{
    struct file file = { 0 };
    int rc = files_remove_tree(files, path, error); /* Left by a writer that died. */
    if (rc != 0)
        return rc;
    rc = file_create(&file, files, path, error);
    if (rc == 0)
        rc = append_header(&file, header, error);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        uint64_t bytes = 0;
        rc = safetensor_bytes(sorted[i], &bytes);
        if (rc == 0)
            rc = file_append(&file, sorted[i]->data, bytes, error);
    }
    if (rc == 0)
        rc = file_sync(&file, error);
    file_close(&file);
    if (rc != 0)
        files_remove_tree(files, path, NULL);
    return rc;
}

static int publish(struct files *files, const char *from, const char *path, struct error *error)
{
    char *folder = files_parent(path);
    if (folder == NULL)
        return error_set(error, TR_ENOMEM, "%s: out of memory", path);
    /* The bytes are on the disk before the file has its name (write_file), and the name is there
     * for good when this returns. */
    int rc = files_rename(files, from, path, error);
    if (rc == 0)
        rc = files_sync_folder(files, folder, error);
    free(folder);
    return rc;
}

int safetensors_write(struct files *files, const char *path, const struct safetensor *tensors,
                      size_t count, struct error *error)
{
    size_t size = strlen(path) + sizeof SUFFIX;
    char *header = NULL, *aside = malloc(size);
    const struct safetensor **sorted = calloc(count + 1, sizeof *sorted);
    int rc;
    if (sorted == NULL || aside == NULL) {
        rc = error_set(error, TR_ENOMEM, "%s: out of memory", path);
        goto done;
    }
    snprintf(aside, size, "%s%s", path, SUFFIX);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &tensors[i];
    qsort(sorted, count, sizeof *sorted, by_name);
    rc = make_header(sorted, count, &header, error);
    if (rc == 0)
        rc = write_file(files, aside, header, sorted, count, error);
    if (rc == 0)
        rc = publish(files, aside, path, error);
done:
    free(header);
    free(aside);
    free(sorted);
    return rc;
}
