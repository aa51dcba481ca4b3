/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run_tried.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const SHAPES[RUN_SHAPES] = { "sage", "gcn", "deep" };

#define KEY_BYTES 32
#define CHOSEN "tried_chosen"

const char *run_shape_name(enum run_shape shape)
{
    return SHAPES[shape];
}

static const char *key_of(int shape, char text[KEY_BYTES])
{
    snprintf(text, KEY_BYTES, "tried_%s", SHAPES[shape]);
    return text;
}

json_t *run_tried_to_json(const struct run_tried *tried)
{
    char key[KEY_BYTES];
    json_t *object = json_object();
    int rv = json_object_set_new(object, CHOSEN, json_string(SHAPES[tried->chosen]));
    for (int i = 0; i < RUN_SHAPES; i++)
        if (isfinite(tried->scores[i]))
            rv |= json_object_set_new(object, key_of(i, key), json_real(tried->scores[i]));
    if (rv == 0)
        return object;
    json_decref(object);
    return NULL;
}

void run_tried_read(const json_t *root, struct run_tried *tried)
{
    char key[KEY_BYTES];
    const json_t *object = json_object_get(root, "tried");
    const char *chosen = json_string_value(json_object_get(object, CHOSEN));
    *tried = (struct run_tried){ .any = json_is_object(object) };
    for (int i = 0; i < RUN_SHAPES; i++) {
        const json_t *score = json_object_get(object, key_of(i, key));
        if (chosen != NULL && strcmp(chosen, SHAPES[i]) == 0)
            tried->chosen = (enum run_shape)i;
        tried->scores[i] = json_is_number(score) ? json_number_value(score) : (double)NAN;
    }
}
