/* SPDX-License-Identifier: Apache-2.0 */
/* The places of values in a JSON document, for tests that change it: a value may be put into the
 * place of another. */
#ifndef TESTS_JSON_SPOTS_H
#define TESTS_JSON_SPOTS_H

#include <jansson.h>

#define JSON_SPOTS_MAX 512 /* more than the documents of the tests have */

/* All borrowed from the document. */
struct json_spot {
    json_t *in, *value;
    const char *key; /* NULL: the index-th of an array */
    size_t index;
};

/* The places below the root, at most JSON_SPOTS_MAX; returns their number. */
size_t json_spots_find(json_t *root, struct json_spot spots[JSON_SPOTS_MAX]);
/* Takes the value; what stood there is released. */
void json_spot_put(const struct json_spot *spot, json_t *value);

#endif
