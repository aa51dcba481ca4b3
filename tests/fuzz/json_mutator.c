/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutates the JSON document that an input begins with (after a byte of choices, or not) by its
 * values rather than its bytes: what is one type becomes another, numbers become their bounds,
 * values take each other's places, fields go. Bytes behind the document stay.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/json_spots.h"
#include "tests/schemas/random.h"

static json_t *make_value(uint64_t *state, const json_t *other)
{
    static const json_int_t bounds[] = {
        0,
        1,
        -1,
        2,
        255,
        65535,
        65536,
        1 << 20,
        INT32_MAX,
        UINT32_MAX,
        (json_int_t)UINT32_MAX + 1,
        INT64_C(1) << 40,
        INT64_MAX,
        INT64_MIN,
    };
    static const char *const texts[] = { "", ".", "..", "/", "a/b", "_N", "a:b:c", "::", "%s%n" };
    switch (random_below(state, 8)) {
    case 0:
        return json_boolean(random_below(state, 2));
    case 1:
        return json_null();
    case 2:
        return json_string(texts[random_below(state, sizeof texts / sizeof *texts)]);
    case 3:
        return random_below(state, 2) ? json_array() : json_object();
    case 4:
        return json_real(random_below(state, 2) ? 1e308 : -0.5);
    case 5:
        return json_deep_copy(other);
    default:
        return json_integer(bounds[random_below(state, sizeof bounds / sizeof *bounds)]);
    }
}

static void change(json_t *root, uint64_t *state)
{
    struct json_spot *spots = malloc(JSON_SPOTS_MAX * sizeof *spots);
    assert(spots != NULL);
    size_t count = json_spots_find(root, spots);
    if (count > 0) {
        struct json_spot one = spots[random_below(state, count)];
        json_t *other = spots[random_below(state, count)].value;
        uint64_t way = random_below(state, 8);
        if (way == 0 && one.key != NULL)
            json_object_del(one.in, one.key);
        else if (way == 0)
            json_array_remove(one.in, one.index);
        else if (way == 1 && one.key == NULL)
            json_array_insert_new(one.in, one.index, make_value(state, other));
        else
            json_spot_put(&one, make_value(state, other));
    }
    free(spots);
}

/* The document at the input's beginning, and where it stands. */
static json_t *load(const uint8_t *data, size_t size, size_t *begin, size_t *end)
{
    for (*begin = 0; *begin < 2 && *begin < size; ++*begin) {
        json_error_t why;
        json_t *root = json_loadb((const char *)data + *begin, size - *begin,
                                  JSON_DISABLE_EOF_CHECK, &why);
        if (root != NULL) {
            *end = *begin + (size_t)why.position;
            return root;
        }
    }
    return NULL;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    uint64_t state = seed;
    size_t begin, end, length;
    json_t *root = seed % 4 == 0 ? NULL : load(data, size, &begin, &end);
    if (root == NULL)
        return LLVMFuzzerMutate(data, size, max_size);
    random_next(&state);
    change(root, &state);
    char *text = json_dumps(root, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(root);
    length = text != NULL ? strlen(text) : 0;
    if (text == NULL || end > size || begin + length + (size - end) > max_size) {
        free(text);
        return LLVMFuzzerMutate(data, size, max_size);
    }
    memmove(data + begin + length, data + end, size - end);
    memcpy(data + begin, text, length);
    free(text);
    return begin + length + (size - end);
}
