/* SPDX-License-Identifier: Apache-2.0 */
/* Optional fields of documents that people write by hand. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/text.h>

#include "runtime/base/json_field.h"

int json_take_bool(const struct json_field *field, const char *key, bool *out, struct error *error)
{
    struct json_field found;
    if (json_get_optional(field, key, JSON_TRUE, &found, NULL) != 0 &&
        json_get_optional(field, key, JSON_FALSE, &found, NULL) != 0)
        return json_fail(&found, error, TR_EFORMAT, "true or false is needed");
    if (found.value != NULL)
        *out = json_is_true(found.value);
    return 0;
}

int json_take_count(const struct json_field *field, const char *key, uint64_t most, uint64_t *out,
                    struct error *error)
{
    struct json_field found;
    uint64_t count;
    int rv = json_get_optional(field, key, JSON_INTEGER, &found, error);
    if (rv != 0 || found.value == NULL)
        return rv;
    rv = json_count(&found, &count, error);
    if (rv == 0 && count > most)
        rv = json_fail(&found, error, TR_ERANGE,
                       "%" PRIu64 " is above %" PRIu64 ", the most that "
                       "is possible",
                       count, most);
    if (rv == 0)
        *out = count;
    return rv;
}

int json_take_text(const struct json_field *field, const char *key, char **out, struct error *error)
{
    struct json_field found;
    int rv = json_get_optional(field, key, JSON_STRING, &found, error);
    if (rv != 0 || found.value == NULL)
        return rv;
    const char *text = json_string_value(found.value);
    if (text[0] == '\0' || strlen(text) != json_string_length(found.value))
        return json_fail(&found, error, TR_EFORMAT, "the text is empty, or contains a zero byte");
    /* The text is copied before the old one is freed: a failure leaves *out as it was. */
    char *copy = strdup(text);
    if (copy == NULL)
        return json_fail(&found, error, TR_ENOMEM, "no memory");
    free(*out);
    *out = copy;
    return 0;
}

static int refuse_key(const struct json_field *field, const char *key, const char *const *names,
                      int count, struct error *error)
{
    struct json_field unknown;
    const char *meant = tr_text_nearest(names, count, key, strlen(key));
    json_get_optional(field, key, json_typeof(json_object_get(field->value, key)), &unknown, NULL);
    if (meant != NULL)
        return json_fail(&unknown, error, TR_EFORMAT, "there is no such field; \"%s\" is one",
                         meant);
    return json_fail(&unknown, error, TR_EFORMAT, "there is no such field; take it out");
}

int json_check_keys(const struct json_field *field, const char *const *names, int count,
                    struct error *error)
{
    for (void *i = json_object_iter(field->value); i != NULL;
         i = json_object_iter_next(field->value, i)) {
        const char *key = json_object_iter_key(i);
        int n = 0;
        while (n < count && strcmp(names[n], key) != 0)
            n++;
        if (n == count)
            return refuse_key(field, key, names, count, error);
    }
    return 0;
}
