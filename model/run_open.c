/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run_open.h"

#include <stddef.h>
#include <string.h>

/* In the order of the bits. */
static const char *const NAMES[] = { "epochs",        "patience",  "evaluate_every",
                                     "input_dropout", "l2",        "normalise",
                                     "standardise",   "kind",      "layers",
                                     "norm",          "hidden",    "metric",
                                     "val_mask",      "test_mask", "deal" };
#define NAMES_COUNT (sizeof NAMES / sizeof *NAMES)

json_t *run_open_to_json(uint32_t open)
{
    json_t *list = json_array();
    for (size_t i = 0; i < NAMES_COUNT && list != NULL; i++) {
        if ((open >> i & 1) == 0 || json_array_append_new(list, json_string(NAMES[i])) == 0)
            continue;
        json_decref(list);
        list = NULL;
    }
    return list;
}

void run_open_read(const json_t *root, uint32_t *open, bool *known)
{
    const json_t *list = json_object_get(root, RUN_OPEN_KEY);
    *open = 0;
    *known = json_is_array(list);
    for (size_t at = 0; at < json_array_size(list); at++) {
        const char *name = json_string_value(json_array_get(list, at));
        for (size_t i = 0; i < NAMES_COUNT && name != NULL; i++)
            *open |= strcmp(name, NAMES[i]) == 0 ? UINT32_C(1) << i : 0;
    }
}
