/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* asprintf, dup3 */

#include "cli/lib/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/lib/json_shown.h"
#include "cli/lib/tame.h"

/* RFC 3339 in UTC with milliseconds. */
#define TIME_MAX 48

static int open_path(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
}

int log_file_open(struct log_file *file, const char *path, bool json, struct tr_error *error)
{
    *file = (struct log_file){ .path = path, .json = json, .fd = open_path(path) };
    if (file->fd >= 0)
        return 0;
    file->path = NULL;
    return tr_error_set(error, TR_EIO, "--log %s: %s", path, strerror(errno));
}

void log_file_close(struct log_file *file)
{
    if (file->path != NULL)
        close(file->fd);
    *file = (struct log_file){ .path = NULL };
}

void log_file_name_process(struct log_file *file, const char *host, const char *role,
                           uint32_t process)
{
    snprintf(file->host, sizeof file->host, "%s", host);
    file->role = role;
    file->process = process;
}

void log_file_reopen(struct log_file *file)
{
    if (file->path == NULL)
        return;
    int fd = open_path(file->path);
    /* The new file takes the number of the old one in one step, so that other threads write to one
     * of them, and to none that is closed. */
    bool reopened = fd >= 0 && dup3(fd, file->fd, O_CLOEXEC) >= 0;
    if (!reopened) {
        char text[512];
        int length = snprintf(text, sizeof text, "%s cannot be opened again: %s", file->path,
                              strerror(errno));
        const struct log_line line = { .level = "error",
                                       .text = text,
                                       .text_bytes = (size_t)length < sizeof text
                                                         ? (size_t)length
                                                         : sizeof text - 1 };
        log_file_write(file, &line);
    }
    if (fd >= 0)
        close(fd);
}

static void write_now(char text[TIME_MAX])
{
    struct timespec now;
    struct tm utc;
    char date[32] = "";
    clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &utc) != NULL)
        (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text, TIME_MAX, "%s.%03dZ", date, (int)(now.tv_nsec / 1000000));
}

/* A text that is no UTF-8 keeps its ASCII. */
static json_t *text_value(const char *text, size_t bytes)
{
    json_t *value = json_stringn(text, bytes);
    char *copy = value == NULL ? malloc(bytes + 1) : NULL;
    for (size_t i = 0; copy != NULL && i < bytes; i++)
        copy[i] = (char)((unsigned char)text[i] < 0x80 ? text[i] : '?');
    if (copy != NULL)
        value = json_stringn(copy, bytes);
    free(copy);
    return value;
}

static char *json_line(const struct log_line *line, const char *now)
{
    json_t *object = json_pack("{s:s, s:s}", "time", now, "level", line->level);
    bool whole = object != NULL;
    if (whole && line->host != NULL)
        whole = json_object_set_new(object, "process", json_integer(line->process)) == 0 &&
                json_object_set_new(object, "host", text_value(line->host, strlen(line->host))) ==
                    0 &&
                json_object_set_new(object, "role",
                                    json_string(line->role != NULL ? line->role : "")) == 0;
    if (whole && line->stream != 0)
        whole = json_object_set_new(object, "stream",
                                    json_string(line->stream == 1 ? "stdout" : "stderr")) == 0;
    whole = whole &&
            json_object_set_new(object, "message", text_value(line->text, line->text_bytes)) == 0;
    char *text = whole ? json_shown(object, JSON_COMPACT) : NULL, *ended = NULL;
    json_decref(object);
    if (text != NULL && asprintf(&ended, "%s\n", text) < 0)
        ended = NULL;
    free(text);
    return ended;
}

/* Bytes behind a NUL are left out, and what steers a terminal does not reach one. */
static char *text_line(const struct log_line *line, const char *now)
{
    char *text = NULL;
    int length = line->host != NULL
                     ? asprintf(&text, "%s %s [%s/%s %" PRIu32 "] %s\n", now, line->level,
                                line->host, line->role != NULL ? line->role : "", line->process,
                                line->text)
                     : asprintf(&text, "%s %s %s\n", now, line->level, line->text);
    if (length < 0)
        return NULL;
    tame_line(text, (size_t)length - 1);
    return text;
}

void log_file_write(const struct log_file *file, const struct log_line *said)
{
    char now[TIME_MAX];
    struct log_line line = *said;
    if (file->path == NULL)
        return;
    if (line.host == NULL && file->role != NULL) {
        line.host = file->host;
        line.role = file->role;
        line.process = file->process;
    }
    write_now(now);
    char *text = file->json ? json_line(&line, now) : text_line(&line, now);
    size_t left = text != NULL ? strlen(text) : 0;
    for (const char *at = text; left > 0;) {
        ssize_t written = write(file->fd, at, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        at += written;
        left -= (size_t)written;
    }
    free(text);
}
