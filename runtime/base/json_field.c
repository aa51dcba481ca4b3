/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/json_field.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json_text.h"

static const char *name_type(json_type type)
{
    switch (type) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number with a point";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        return "null";
    }
    return "a value";
}

int json_load_document(struct files *files, const char *path, json_t **document,
                       struct json_field *root, struct error *error)
{
    char *text;
    size_t size;
    int rv = files_read_all(files, path, JSON_FILE_BYTES_MAX, &text, &size, error);
    if (rv != 0)
        return rv;
    rv = json_parse_document(path, text, size, document, root, error);
    free(text);
    return rv;
}

int json_parse_document(const char *path, const char *text, size_t size, json_t **document,
                        struct json_field *root, struct error *error)
{
    struct error why = { 0 };
    int rv = json_read_text(path, text, size, JSON_REJECT_DUPLICATES, document, &why);
    if (rv != 0)
        return error_set(error, rv, "%s%s", why.text, rv == TR_EFORMAT ? "; correct the JSON" : "");
    /* The path is filled before the type is checked, since the error names it. */
    root->value = *document;
    snprintf(root->path, sizeof root->path, "%s", path);
    if (json_is_object(*document))
        return 0;
    rv = json_fail(root, error, TR_EFORMAT, "the document must be an object, not %s",
                   name_type(json_typeof(*document)));
    json_decref(*document);
    *document = NULL;
    return rv;
}

int json_fail(const struct json_field *field, struct error *error, int code, const char *format,
              ...)
{
    if (error == NULL)
        return code;
    char text[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(error, code, "%s: %s", field->path, text);
}

int json_fail_type(const struct json_field *field, const char *needed, struct error *error)
{
    return field->value == NULL
               ? json_fail(field, error, TR_EFORMAT, "is missing; %s is needed", needed)
               : json_fail(field, error, TR_EFORMAT, "%s is needed, not %s", needed,
                           name_type(json_typeof(field->value)));
}

static int check_type(const struct json_field *field, json_type type, struct error *error)
{
    return json_typeof(field->value) == type ? 0 : json_fail_type(field, name_type(type), error);
}

/* Appends to a copy of a path; a path that is too long is cut. */
static void extend(char *path, const char *base, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void extend(char *path, const char *base, const char *format, ...)
{
    size_t length = strlen(base);
    memmove(path, base, length + 1);
    va_list args;
    va_start(args, format);
    vsnprintf(path + length, JSON_PATH_MAX - length, format, args);
    va_end(args);
}

static bool is_plain(const char *key)
{
    return key[strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-")] ==
           '\0';
}

/* The first key stands after "FILE: ", the next ones after a point. */
static void extend_key(char *path, const struct json_field *field, const char *key)
{
    const char *glue = strstr(field->path, ".json: ") != NULL ? "." : ": ";
    if (is_plain(key))
        extend(path, field->path, "%s%s", glue, key);
    else
        extend(path, field->path, "[\"%s\"]", key);
}

void json_find(const struct json_field *field, const char *key, struct json_field *out)
{
    json_t *value = json_object_get(field->value, key);
    extend_key(out->path, field, key);
    out->value = value;
}

int json_get_optional(const struct json_field *field, const char *key, json_type type,
                      struct json_field *out, struct error *error)
{
    json_find(field, key, out);
    return out->value == NULL ? 0 : check_type(out, type, error);
}

int json_get(const struct json_field *field, const char *key, json_type type,
             struct json_field *out, struct error *error)
{
    int rv = json_get_optional(field, key, type, out, error);
    if (rv == 0 && out->value == NULL)
        rv = json_fail_type(out, name_type(type), error);
    return rv;
}

int json_at(const struct json_field *field, size_t index, json_type type, struct json_field *out,
            struct error *error)
{
    json_t *value = json_array_get(field->value, index);
    extend(out->path, field->path, "[%zu]", index);
    out->value = value;
    if (value == NULL)
        return json_fail_type(out, name_type(type), error);
    return check_type(out, type, error);
}

int json_iterate(const struct json_field *field, void *iterator, json_type type,
                 struct json_field *out, struct error *error)
{
    extend_key(out->path, field, json_object_iter_key(iterator));
    out->value = json_object_iter_value(iterator);
    return check_type(out, type, error);
}

int json_count(const struct json_field *field, uint64_t *count, struct error *error)
{
    json_int_t value = json_integer_value(field->value);
    if (!json_is_integer(field->value) || value < 0)
        return json_fail(field, error, TR_EFORMAT, "a count is needed, %s is not one",
                         json_is_integer(field->value) ? "a negative number"
                                                       : name_type(json_typeof(field->value)));
    *count = (uint64_t)value;
    return 0;
}

int json_sum(const struct json_field *field, uint64_t *sum, struct error *error)
{
    *sum = 0;
    for (size_t i = 0; i < json_array_size(field->value); i++) {
        struct json_field item;
        uint64_t count;
        int rv = json_at(field, i, JSON_INTEGER, &item, error);
        if (rv == 0)
            rv = json_count(&item, &count, error);
        if (rv != 0)
            return rv;
        if (__builtin_add_overflow(*sum, count, sum))
            return json_fail(&item, error, TR_EFORMAT, "the sum of the counts is above 2^64");
    }
    return 0;
}
