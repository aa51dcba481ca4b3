/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/launch/launch_show.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/lib/json_shown.h"
#include "cli/lib/tame.h"

/* How much of a host's name a person reads in each line. */
#define PREFIX_MAX 160u

/* Those that are readable on light and dark terminals. */
static const int COLOURS[] = { 32, 33, 34, 35, 36 };
#define NUM_COLOURS (sizeof COLOURS / sizeof COLOURS[0])

void launch_show_init(struct launch_show *show, bool json, bool quiet)
{
    *show = (struct launch_show){ .json = json, .quiet = quiet };
    for (int fd = 1; fd <= 2; fd++)
        show->colour[fd] = isatty(fd) == 1 && getenv("NO_COLOR") == NULL;
}

static const char *name_of(enum tr_launch_event_kind kind)
{
    switch (kind) {
    case TR_LAUNCH_LINE:
        return "line";
    case TR_LAUNCH_STARTED:
        return "started";
    case TR_LAUNCH_FAILED:
        return "failed";
    case TR_LAUNCH_KERNELS:
        return "kernels";
    case TR_LAUNCH_STOPPING:
        return "stopping";
    case TR_LAUNCH_KILLED:
        return "killed";
    case TR_LAUNCH_ENDED:
        return "ended";
    case TR_LAUNCH_HELPER:
    case TR_LAUNCH_NOTE:
        break;
    }
    return "note";
}

static void print_json(const struct tr_launch_event *event)
{
    json_t *object = json_object();
    json_t *value = json_stringn(event->text, event->text_bytes);
    if (value == NULL) /* not UTF-8 */
        value = json_string("?");
    json_object_set_new(object, "event", json_string(name_of(event->kind)));
    json_object_set_new(object, "process", json_integer(event->process));
    json_object_set_new(object, "host", json_string(event->host));
    json_object_set_new(object, "role", json_string(event->role));
    if (event->stream != 0)
        json_object_set_new(object, "stream",
                            json_string(event->stream == 1 ? "stdout" : "stderr"));
    json_object_set_new(object, "text", value);
    char *line = json_shown(object, JSON_COMPACT);
    if (line != NULL)
        puts(line);
    fflush(stdout);
    free(line);
    json_decref(object);
}

static void print_text(const struct launch_show *show, const struct tr_launch_event *event, int fd)
{
    FILE *out = fd == 1 ? stdout : stderr;
    char prefix[PREFIX_MAX], *line = strdup(event->text);
    if (line == NULL)
        return;
    if (show->colour[fd])
        tame_line(line, strlen(line));
    snprintf(prefix, sizeof prefix, "[%.120s/%s %" PRIu32 "]", event->host, event->role,
             event->process);
    if (show->colour[fd])
        fprintf(out, "\033[%dm%s\033[0m %s\n", COLOURS[event->process % NUM_COLOURS], prefix, line);
    else
        fprintf(out, "%s %s\n", prefix, line);
    fflush(out);
    free(line);
}

void launch_show_event(const struct launch_show *show, const struct tr_launch_event *event)
{
    /* The order matters: what is no event of a process stays text, also beside JSON; then what a
     * process printed is shown where events are not (--quiet). */
    if (show->log != NULL)
        (void)tr_log_file_write_event(show->log, event, NULL);
    else if (event->kind == TR_LAUNCH_NOTE) {
        fprintf(stderr, "troupe launch: %s\n", event->text);
    } else if (event->kind == TR_LAUNCH_HELPER) {
        FILE *out = event->stream == 1 && !show->json ? stdout : stderr;
        fprintf(out, "%s\n", event->text);
        fflush(out);
    } else if (show->json) {
        print_json(event);
    } else if (event->kind == TR_LAUNCH_LINE) {
        print_text(show, event, event->stream);
    } else if (!show->quiet) {
        print_text(show, event, 2);
    }
}
