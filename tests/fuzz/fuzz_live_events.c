/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A history that the live page follows, in pieces of any size: what is written of it is JSON, plain
 * objects with a time and a name, no more and no longer than their bounds.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/web/live_events.h"
#include "runtime/base/history_file.h"
#include "tests/fuzz/fuzz.h"

static json_t *written(const struct live_events *events, uint64_t seen)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fuzz_hold(out != NULL, "no memory");
    fputc('{', out);
    live_events_write(events, seen, out);
    fputc('}', out);
    fuzz_hold(fclose(out) == 0, "no memory");
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    fuzz_hold(root != NULL, "what is written is no JSON");
    fuzz_hold(size <= (size_t)(HISTORY_LINE_MAX + 1) * (LIVE_EVENTS + 1),
              "it is longer than its bound");
    free(text);
    return root;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct live_events *events = live_events_create("/nowhere");
    size_t piece = size > 0 ? 1 + bytes[0] % 64u : 1, i;
    uint64_t looks = 0;
    const char *key;
    json_t *event, *value;
    fuzz_hold(events != NULL, "no memory");
    for (size_t at = 0; at < size; at += piece)
        live_events_take(events, (const char *)bytes + at, size - at < piece ? size - at : piece,
                         ++looks);
    json_t *root = written(events, 0);
    json_t *all = json_object_get(root, "events");
    fuzz_hold(json_array_size(all) <= LIVE_EVENTS, "there are more than are kept");
    json_array_foreach(all, i, event)
    {
        fuzz_hold(json_is_string(json_object_get(event, "event")) &&
                      json_is_string(json_object_get(event, "time")),
                  "an event has no name or time");
        json_object_foreach(event, key, value) fuzz_hold(
            !json_is_object(value) && !json_is_array(value), "an event is no plain object");
    }
    json_decref(root);
    root = written(events, looks);
    fuzz_hold(json_array_size(json_object_get(root, "events")) == 0, "a look is shown twice");
    json_decref(root);
    live_events_destroy(events);
    return 0;
}
