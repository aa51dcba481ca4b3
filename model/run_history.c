/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* timegm */

#include "model/run_history.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/history_file.h"
#include "runtime/base/printable.h"

/* A file is turned when it has this many bytes, and one write more; others are not a history. */
#define FILE_BYTES_MAX ((size_t)HISTORY_BYTES_MAX + HISTORY_WAITING_MAX + HISTORY_LINE_MAX)

static bool is_between(int value, int least, int most)
{
    return value >= least && value <= most;
}

/* As history_file_add() writes it. */
static bool read_time(const char *text, int64_t *time_ns)
{
    struct tm utc = { 0 };
    int ms, end = 0;
    if (text == NULL ||
        sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &utc.tm_year, &utc.tm_mon, &utc.tm_mday,
               &utc.tm_hour, &utc.tm_min, &utc.tm_sec, &ms, &end) != 7)
        return false;
    /* 1970 to 9999: the bound of years keeps nanoseconds in their type. */
    if (end != 24 || text[end] != '\0' || !is_between(utc.tm_year, 1970, 2200) ||
        !is_between(utc.tm_mon, 1, 12) || !is_between(utc.tm_mday, 1, 31) ||
        !is_between(utc.tm_hour, 0, 23) || !is_between(utc.tm_min, 0, 59) ||
        !is_between(utc.tm_sec, 0, 60) || ms < 0)
        return false;
    utc.tm_year -= 1900;
    utc.tm_mon -= 1;
    *time_ns = ((int64_t)timegm(&utc) * 1000 + ms) * 1000000;
    return true;
}

/* A count that is not said, or is none, is the fallback. */
static int64_t number_of(const json_t *line, const char *key, int64_t most, int64_t fallback)
{
    const json_t *value = json_object_get(line, key);
    json_int_t number = json_integer_value(value);
    return json_is_integer(value) && number >= 0 && number <= most ? number : fallback;
}

static const char *text_of(const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));
    return text == NULL ? "" : text;
}

static const char *put_text(char **at, const char *text)
{
    const char *put = *at;
    size_t bytes = strlen(text) + 1;
    memcpy(*at, text, bytes);
    make_printable(*at);
    *at += bytes;
    return put;
}

/* What a person reads of an event beside its process and step. */
static const char *words_of(const json_t *line, const char *event)
{
    return text_of(line, strcmp(event, "begun") == 0 ? "by" : "text");
}

static int take_event(struct run_event *event, const json_t *line)
{
    const char *name = text_of(line, "event"), *host = text_of(line, "host"),
               *role = text_of(line, "role"), *text = words_of(line, name),
               *outcome = text_of(line, "outcome");
    *event = (struct run_event){ .texts = malloc(strlen(name) + strlen(host) + strlen(role) +
                                                 strlen(text) + strlen(outcome) + 5) };
    char *at = event->texts;
    if (at == NULL)
        return TR_ENOMEM;
    event->event = (struct tr_run_event){
        .size = sizeof event->event,
        .event = put_text(&at, name),
        .host = put_text(&at, host),
        .role = put_text(&at, role),
        .text = put_text(&at, text),
        .outcome = put_text(&at, outcome),
        .process = (uint32_t)number_of(line, "process", UINT32_MAX, UINT32_MAX),
        .step = (uint64_t)number_of(line, "step", INT64_MAX, 0),
        .pid = number_of(line, "pid", INT64_MAX, 0),
        .exit_code = (int)number_of(line, "exit_code", INT_MAX, 0),
        .signal = (int)number_of(line, "signal", INT_MAX, 0),
        .lost = (uint64_t)number_of(line, "lost", INT64_MAX, 0),
    };
    return 0;
}

static int add_event(struct run_history *history, const json_t *line)
{
    int64_t time_ns;
    if (text_of(line, "event")[0] == '\0' || !read_time(text_of(line, "time"), &time_ns) ||
        history->count == RUN_EVENTS_MAX)
        return 0;
    if (history->count == history->room) {
        size_t room = history->room == 0 ? 64 : history->room * 2;
        struct run_event *events = realloc(history->events, room * sizeof *events);
        if (events == NULL)
            return TR_ENOMEM;
        history->events = events;
        history->room = room;
    }
    int rv = take_event(&history->events[history->count], line);
    if (rv == 0)
        history->events[history->count++].event.time_ns = time_ns;
    return rv;
}

static int take_lines(struct run_history *history, const char *text, size_t size)
{
    const char *end;
    int rv = 0;
    for (; rv == 0 && (end = memchr(text, '\n', size)) != NULL; text = end + 1) {
        size_t length = (size_t)(end - text);
        json_t *line = length < HISTORY_LINE_MAX ? json_loadb(text, length, 0, NULL) : NULL;
        rv = add_event(history, line);
        json_decref(line);
        size -= length + 1;
    }
    return rv;
}

static int read_file(struct run_history *history, struct files *files, const char *folder,
                     const char *name, struct error *error)
{
    char *path = files_join(folder, name), *text = NULL;
    size_t size = 0;
    struct file_facts facts;
    if (path == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory for its history", folder);
    /* Whatever else has the name is not waited for. */
    int rv = files->stat(files, path, &facts) < 0 || !facts.is_regular
                 ? TR_ENOENT
                 : files_read_all(files, path, FILE_BYTES_MAX, &text, &size, error);
    /* A writer may turn the files meanwhile. */
    if (rv == TR_ENOENT)
        rv = 0;
    else if (rv == 0)
        rv = take_lines(history, text, size);
    if (rv == TR_ENOMEM)
        rv = error_set(error, rv, "%s: no memory for its events", path);
    free(text);
    free(path);
    return rv;
}

int run_history_read(struct run_history *history, struct files *files, const char *folder,
                     struct error *error)
{
    *history = (struct run_history){ 0 };
    int rv = read_file(history, files, folder, HISTORY_OLDER_NAME, error);
    if (rv == 0)
        rv = read_file(history, files, folder, HISTORY_NAME, error);
    if (rv != 0)
        run_history_fini(history);
    return rv;
}

void run_history_fini(struct run_history *history)
{
    for (size_t i = 0; i < history->count; i++)
        free(history->events[i].texts);
    free(history->events);
    *history = (struct run_history){ 0 };
}
