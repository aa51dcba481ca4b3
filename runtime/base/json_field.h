/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking fields out of a JSON document that somebody else wrote.
 *
 * Each function checks the type and fails with the path of the field: "metadata.json:
 * edges[\"a:b:c\"].data[1]: a string is needed, not an integer". A struct json_field is a value
 * with its path; it borrows the document. Thread rules: that of the document.
 */
#ifndef RUNTIME_BASE_JSON_FIELD_H
#define RUNTIME_BASE_JSON_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/base/files.h"

/* A path is cut beyond this; documents that we read are four levels deep. */
#define JSON_PATH_MAX 400
/* Metadata of a graph of thousands of types and chunks is far below this. */
#define JSON_FILE_BYTES_MAX ((size_t)256 << 20)

struct json_field {
    json_t *value;
    char path[JSON_PATH_MAX];
};

/* Parses a file into a document (json_decref it) and its root. Repeated keys are refused; a
 * failure leaves no document. */
int json_load_document(struct files *files, const char *path, json_t **document,
                       struct json_field *root, struct error *error);
/* The same of a text that was read from path. */
int json_parse_document(const char *path, const char *text, size_t size, json_t **document,
                        struct json_field *root, struct error *error);

/* field[key], of any type; absent gives value NULL. For what may have one of several types. */
void json_find(const struct json_field *field, const char *key, struct json_field *out);
/* Fails with what is needed in place of the field's value, or where it has none. */
int json_fail_type(const struct json_field *field, const char *needed, struct error *error);

/* field[key] or field[index], of a type. optional: absent gives value NULL and 0. */
int json_get(const struct json_field *field, const char *key, json_type type,
             struct json_field *out, struct error *error);
int json_get_optional(const struct json_field *field, const char *key, json_type type,
                      struct json_field *out, struct error *error);
int json_at(const struct json_field *field, size_t index, json_type type, struct json_field *out,
            struct error *error);
/* The value of an iterator over an object. */
int json_iterate(const struct json_field *field, void *iterator, json_type type,
                 struct json_field *out, struct error *error);

/* A count: an integer >= 0. */
int json_count(const struct json_field *field, uint64_t *count, struct error *error);
/* field[key] where it is there; *out stays as it is where it is not. A count is at most `most`, a
 * text is a copy (free it). */
int json_take_bool(const struct json_field *field, const char *key, bool *out, struct error *error);
int json_take_count(const struct json_field *field, const char *key, uint64_t most, uint64_t *out,
                    struct error *error);
int json_take_text(const struct json_field *field, const char *key, char **out,
                   struct error *error);

/* Refuses an object with a key that is none of names[count], and says which was probably meant. */
int json_check_keys(const struct json_field *field, const char *const *names, int count,
                    struct error *error);

/* The sum of an array of counts, checked for overflow. */
int json_sum(const struct json_field *field, uint64_t *sum, struct error *error);

/* Fails with the field's path before the message. */
int json_fail(const struct json_field *field, struct error *error, int code, const char *format,
              ...) __attribute__((format(printf, 4, 5)));

#endif
