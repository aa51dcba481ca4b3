/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "actors/job/checkpoint_json.h"

#include <jansson.h>
#include <stdlib.h>

#include "runtime/base/json_text.h"

static json_t *part_to_json(uint32_t rank, const struct checkpoint_part *part)
{
    return json_pack("{s:I, s:I, s:I}", "rank", (json_int_t)rank, "bytes", (json_int_t)part->bytes,
                     "crc32c", (json_int_t)part->crc32c);
}

char *checkpoint_to_json(const struct checkpoint_manifest *manifest)
{
    json_t *parts = json_array();
    for (uint32_t rank = 0; rank < manifest->world; rank++)
        if (json_array_append_new(parts, part_to_json(rank, &manifest->parts[rank])) != 0) {
            json_decref(parts);
            return NULL;
        }
    json_t *root = json_pack("{s:s, s:I, s:I, s:I, s:o}", "troupe", PACKAGE_VERSION, "step",
                             (json_int_t)manifest->step, "era", (json_int_t)manifest->era, "world",
                             (json_int_t)manifest->world, "parts", parts);
    char *text = json_write_text(root, JSON_INDENT(1));
    json_decref(root);
    return text;
}

static int read_part(const char *path, uint32_t rank, json_t *item, struct checkpoint_part *part,
                     struct error *error)
{
    json_int_t number = -1, bytes = -1, crc = -1;
    json_error_t why;
    if (json_unpack_ex(item, &why, 0, "{s:I, s:I, s:I}", "rank", &number, "bytes", &bytes, "crc32c",
                       &crc) != 0)
        return error_set(error, TR_EFORMAT, "%s: parts[%u]: %s", path, rank, why.text);
    if (number != rank || bytes < 0 || crc < 0 || crc > UINT32_MAX)
        return error_set(error, TR_EFORMAT, "%s: parts[%u] is no part of rank %u", path, rank,
                         rank);
    *part = (struct checkpoint_part){ (uint64_t)bytes, (uint32_t)crc };
    return 0;
}

static int read_root(const char *path, json_t *root, struct checkpoint_manifest *manifest,
                     struct error *error)
{
    json_int_t step = -1, era = -1, world = -1;
    json_t *parts = NULL;
    json_error_t why;
    if (json_unpack_ex(root, &why, 0, "{s:I, s:I, s:I, s:o}", "step", &step, "era", &era, "world",
                       &world, "parts", &parts) != 0)
        return error_set(error, TR_EFORMAT, "%s: %s", path, why.text);
    if (step < 0 || era < 0 || era >= UINT32_MAX || world < 1 || world > CHECKPOINT_WORLD_MAX)
        return error_set(error, TR_EFORMAT, "%s: one of step, era and world is out of range", path);
    if (!json_is_array(parts) || json_array_size(parts) != (size_t)world)
        return error_set(error, TR_EFORMAT, "%s: parts: not one for each of %d ranks", path,
                         (int)world);
    *manifest = (struct checkpoint_manifest){ (uint64_t)step, (uint32_t)era, (uint32_t)world,
                                              calloc((size_t)world, sizeof *manifest->parts) };
    if (manifest->parts == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory", path);
    int rv = 0;
    for (uint32_t rank = 0; rank < manifest->world && rv == 0; rank++)
        rv = read_part(path, rank, json_array_get(parts, rank), &manifest->parts[rank], error);
    if (rv != 0)
        checkpoint_manifest_fini(manifest);
    return rv;
}

int checkpoint_from_json(const char *path, const char *text, size_t size,
                         struct checkpoint_manifest *manifest, struct error *error)
{
    *manifest = (struct checkpoint_manifest){ 0 };
    json_t *root;
    int rv = json_read_text(path, text, size, JSON_REJECT_DUPLICATES, &root, error);
    if (rv != 0)
        return rv;
    rv = read_root(path, root, manifest, error);
    json_decref(root);
    return rv;
}
