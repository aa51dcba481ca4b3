/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/launch/launch_show.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/lib/line_reader.h"

/* Those that are readable on light and dark terminals. */
static const int COLOURS[] = { 32, 33, 34, 35, 36 };
#define NUM_COLOURS (sizeof COLOURS / sizeof COLOURS[0])

void launch_show_init(struct launch_show *show, bool json, bool quiet)
{
    *show = (struct launch_show){ .json = json, .quiet = quiet };
    for (int fd = 1; fd <= 2; fd++)
        show->colour[fd] = isatty(fd) == 1 && getenv("NO_COLOR") == NULL;
}

static void print_json(const struct launch_who *who, const char *event, const char *key,
                       const char *text, size_t length, int fd)
{
    json_t *object = json_object();
    json_t *value = json_stringn(text, length);
    if (value == NULL) /* not UTF-8 */
        value = json_string("?");
    json_object_set_new(object, "event", json_string(event));
    json_object_set_new(object, "process", json_integer(who->process));
    json_object_set_new(object, "host", json_string(who->host));
    json_object_set_new(object, "role", json_string(who->role));
    if (fd != 0)
        json_object_set_new(object, "stream", json_string(fd == 1 ? "stdout" : "stderr"));
    json_object_set_new(object, key, value);
    char *line = json_dumps(object, JSON_COMPACT);
    if (line != NULL)
        puts(line);
    fflush(stdout);
    free(line);
    json_decref(object);
}

static void print_text(const struct launch_show *show, const struct launch_who *who, int fd,
                       const char *line)
{
    FILE *out = fd == 1 ? stdout : stderr;
    if (show->colour[fd])
        fprintf(out, "\033[%dm%s\033[0m %s\n", COLOURS[who->process % NUM_COLOURS], who->prefix,
                line);
    else
        fprintf(out, "%s %s\n", who->prefix, line);
    fflush(out);
}

void launch_show_line(const struct launch_show *show, const struct launch_who *who, int fd,
                      char *line, uint64_t length)
{
    if (show->json) {
        print_json(who, "line", "text", line, length, fd);
        return;
    }
    if (show->colour[fd])
        line_reader_tame(line, length);
    print_text(show, who, fd, line);
}

void launch_show_event(const struct launch_show *show, const struct launch_who *who,
                       const char *event, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (show->json)
        print_json(who, event, "text", text, strlen(text), 0);
    else if (!show->quiet)
        print_text(show, who, 2, text);
}
