/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/json_spots.h"

static size_t collect(json_t *in, struct json_spot *spots, size_t count)
{
    const char *key;
    json_t *value;
    size_t index;
    json_object_foreach(in, key, value)
    {
        if (count < JSON_SPOTS_MAX)
            spots[count++] = (struct json_spot){ in, value, key, 0 };
        count = collect(value, spots, count);
    }
    json_array_foreach(in, index, value)
    {
        if (count < JSON_SPOTS_MAX)
            spots[count++] = (struct json_spot){ in, value, NULL, index };
        count = collect(value, spots, count);
    }
    return count;
}

size_t json_spots_find(json_t *root, struct json_spot spots[JSON_SPOTS_MAX])
{
    return collect(root, spots, 0);
}

void json_spot_put(const struct json_spot *spot, json_t *value)
{
    if (spot->key != NULL)
        json_object_set_new(spot->in, spot->key, value);
    else
        json_array_set_new(spot->in, spot->index, value);
}
