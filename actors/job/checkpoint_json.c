/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "actors/job/checkpoint_json.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "runtime/base/json_field.h"
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

/* A field that must be an integer from 0 to most. */
static int read_number(const struct json_field *object, const char *key, uint64_t most,
                       uint64_t *out, struct error *error)
{
    struct json_field field;
    int rv = json_get(object, key, JSON_INTEGER, &field, error);
    if (rv == 0)
        rv = json_count(&field, out, error);
    if (rv == 0 && *out > most)
        rv = json_fail(&field, error, TR_EFORMAT, "%" PRIu64 " is above %" PRIu64, *out, most);
    return rv;
}

static int read_part(const struct json_field *parts, uint32_t rank, struct checkpoint_part *part,
                     struct error *error)
{
    uint64_t number, bytes, crc;
    struct json_field item;
    int rv = json_at(parts, rank, JSON_OBJECT, &item, error);
    if (rv == 0)
        rv = read_number(&item, "rank", CHECKPOINT_WORLD_MAX - 1, &number, error);
    if (rv == 0)
        rv = read_number(&item, "bytes", INT64_MAX, &bytes, error);
    if (rv == 0)
        rv = read_number(&item, "crc32c", UINT32_MAX, &crc, error);
    if (rv != 0)
        return rv;
    if (number != rank)
        return json_fail(&item, error, TR_EFORMAT, "is not a part of rank %u", rank);
    *part = (struct checkpoint_part){ bytes, (uint32_t)crc };
    return 0;
}

static int read_root(const struct json_field *root, struct checkpoint_manifest *manifest,
                     struct error *error)
{
    uint64_t step, era, world;
    struct json_field parts;
    int rv = read_number(root, "step", INT64_MAX, &step, error);
    if (rv == 0)
        rv = read_number(root, "era", UINT32_MAX - 1, &era, error);
    if (rv == 0)
        rv = read_number(root, "world", CHECKPOINT_WORLD_MAX, &world, error);
    if (rv == 0)
        rv = json_get(root, "parts", JSON_ARRAY, &parts, error);
    if (rv != 0)
        return rv;
    if (world == 0 || json_array_size(parts.value) != world)
        return json_fail(&parts, error, TR_EFORMAT,
                         "has %zu parts for a world of %" PRIu64
                         " ranks; one for each of 1 or more is needed",
                         json_array_size(parts.value), world);
    *manifest = (struct checkpoint_manifest){ step, (uint32_t)era, (uint32_t)world,
                                              calloc((size_t)world, sizeof *manifest->parts) };
    if (manifest->parts == NULL)
        return json_fail(root, error, TR_ENOMEM, "no memory");
    for (uint32_t rank = 0; rank < manifest->world && rv == 0; rank++)
        rv = read_part(&parts, rank, &manifest->parts[rank], error);
    if (rv != 0)
        checkpoint_manifest_fini(manifest);
    return rv;
}

int checkpoint_from_json(const char *path, const char *text, size_t size,
                         struct checkpoint_manifest *manifest, struct error *error)
{
    *manifest = (struct checkpoint_manifest){ 0 };
    json_t *document;
    struct json_field root;
    int rv = json_parse_document(path, text, size, &document, &root, error);
    if (rv != 0)
        return rv;
    rv = read_root(&root, manifest, error);
    json_decref(document);
    return rv;
}
