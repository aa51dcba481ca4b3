/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: event n, counted from 0, lies at n % LIVE_EVENTS, as the text of a JSON object. */
#include "launch/web/live_events.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "launch/web/live_tail.h"
#include "runtime/base/files.h"
#include "runtime/base/history_file.h"
#include "runtime/base/json_text.h"
#include "runtime/base/printable.h"

struct live_event {
    uint64_t look;
    char *json;
    bool checkpoint;
};

struct live_events {
    struct live_tail tail;
    uint64_t num_events;
    enum live_outcome outcome;
    struct live_event kept[LIVE_EVENTS];
};

static enum live_outcome outcome_of(json_t *line, const char *event)
{
    static const char *const NAMES[] = {
        [LIVE_COMPLETE] = "complete", [LIVE_FAILED] = "failed", [LIVE_STOPPED] = "stopped"
    };
    const char *outcome = json_string_value(json_object_get(line, "outcome"));
    for (enum live_outcome o = LIVE_COMPLETE; outcome != NULL && o <= LIVE_STOPPED; o++)
        if (strcmp(event, "finished") == 0 && strcmp(outcome, NAMES[o]) == 0)
            return o;
    return LIVE_RUNS;
}

/* A page needs no structure within an event, and is bounded without it. Texts are made printable, as
 * their writer has done. */
static void leave_plain(json_t *line)
{
    const char *key;
    void *next;
    json_t *value;
    json_object_foreach_safe(line, next, key, value)
    {
        if (json_is_object(value) || json_is_array(value)) {
            json_object_del(line, key);
        } else if (json_is_string(value)) {
            char *text = strdup(json_string_value(value));
            if (text != NULL)
                make_printable(text);
            (void)json_string_set(value, text != NULL ? text : "");
            free(text);
        }
    }
}

/* An event that there is no memory for, or whose text is longer than a writer makes one, is left
 * out. */
static void keep_event(void *arg, char *text, uint64_t look)
{
    struct live_events *events = arg;
    json_t *line = json_loads(text, 0, NULL);
    const char *event = json_string_value(json_object_get(line, "event"));
    if (event == NULL || !json_is_string(json_object_get(line, "time"))) {
        json_decref(line);
        return;
    }
    events->outcome = outcome_of(line, event);
    const bool checkpoint = strcmp(event, "checkpoint") == 0;
    /* This comes last: it replaces the texts. */
    leave_plain(line);
    char *json = json_write_text(line, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(line);
    if (json == NULL || strlen(json) > HISTORY_LINE_MAX) {
        free(json);
        return;
    }
    /* Of checkpoints in a row the last one stays, or they would push everything else out. */
    if (checkpoint && events->num_events > 0 &&
        events->kept[(events->num_events - 1) % LIVE_EVENTS].checkpoint)
        events->num_events--;
    struct live_event *at = &events->kept[events->num_events++ % LIVE_EVENTS];
    free(at->json);
    *at = (struct live_event){ look, json, checkpoint };
}

struct live_events *live_events_create(const char *folder)
{
    struct live_events *events = calloc(1, sizeof *events);
    char *path = files_join(folder, HISTORY_NAME);
    const struct live_tail_options options = { .path = path,
                                               .line_max = HISTORY_LINE_MAX,
                                               .read_max = LIVE_EVENTS_READ,
                                               .take = keep_event,
                                               .arg = events };
    bool whole = events != NULL && path != NULL && live_tail_init(&events->tail, &options) == 0;
    free(path);
    if (whole)
        return events;
    free(events);
    return NULL;
}

void live_events_destroy(struct live_events *events)
{
    if (events == NULL)
        return;
    for (uint32_t i = 0; i < LIVE_EVENTS; i++)
        free(events->kept[i].json);
    live_tail_fini(&events->tail);
    free(events);
}

void live_events_look(struct live_events *events, uint64_t look)
{
    live_tail_look(&events->tail, look);
}

void live_events_take(struct live_events *events, const char *bytes, size_t size, uint64_t look)
{
    live_tail_take(&events->tail, bytes, size, look);
}

enum live_outcome live_events_outcome(const struct live_events *events)
{
    return events->outcome;
}

void live_events_write(const struct live_events *events, uint64_t seen, FILE *out)
{
    const char *between = "";
    uint64_t oldest = events->num_events > LIVE_EVENTS ? events->num_events - LIVE_EVENTS : 0;
    fputs("\"events\":[", out);
    for (uint64_t n = oldest; n < events->num_events; n++) {
        const struct live_event *event = &events->kept[n % LIVE_EVENTS];
        if (event->look <= seen)
            continue;
        fprintf(out, "%s%s", between, event->json);
        between = ",";
    }
    fputc(']', out);
}
