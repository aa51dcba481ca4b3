/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/history_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/json_text.h"
#include "runtime/base/printable.h"

/* Names of hosts and messages: two of them leave a line below its bound, however they are escaped. */
#define TEXT_MAX 1024u

int history_file_init(struct history_file *history, struct files *files, const char *folder)
{
    *history = (struct history_file){ .files = files, .fd = -1 };
    history->folder = strdup(folder);
    history->path = files_join(folder, HISTORY_NAME);
    history->older_path = files_join(folder, HISTORY_OLDER_NAME);
    if (history->folder != NULL && history->path != NULL && history->older_path != NULL)
        return 0;
    history_file_fini(history);
    return TR_ENOMEM;
}

static void history_close(struct history_file *history)
{
    if (history->files != NULL && history->fd >= 0)
        history->files->close(history->files, history->fd);
    history->fd = -1;
}

void history_file_fini(struct history_file *history)
{
    history_close(history);
    free(history->folder);
    free(history->path);
    free(history->older_path);
    free(history->waiting);
    *history = (struct history_file){ .fd = -1 };
}

/* The file may be one that another writer was killed in the middle of. */
static bool history_open(struct history_file *history)
{
    struct file_facts facts;
    char last = '\n';
    if (history->fd >= 0)
        return true;
    history->fd = history->files->open(history->files, history->path,
                                       O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666);
    if (history->fd < 0)
        return false;
    if (history->files->fstat(history->files, history->fd, &facts) < 0 || !facts.is_regular) {
        history_close(history);
        return false;
    }
    history->size = facts.size;
    history->made = facts.size == 0;
    if (facts.size > 0 &&
        history->files->pread(history->files, history->fd, &last, 1, facts.size - 1) != 1)
        last = '\0';
    history->torn = last != '\n';
    return true;
}

/* A reader that has the file open keeps it, and finds the new one by its name. */
static bool history_turn(struct history_file *history)
{
    if (history->size < HISTORY_BYTES_MAX || history->within)
        return true;
    history_close(history);
    return files_rename(history->files, history->path, history->older_path, NULL) == 0 &&
           history_open(history);
}

/* What a disk took of a line is no reason to write it again: the next write goes on there. */
static void history_wrote(struct history_file *history, size_t bytes)
{
    if (bytes == 0)
        return;
    history->size += bytes;
    history->within = history->waiting[bytes - 1] != '\n';
    history->waiting_bytes -= bytes;
    memmove(history->waiting, history->waiting + bytes, history->waiting_bytes);
}

static void history_flush(struct history_file *history)
{
    if (!history->begun || history->waiting_bytes == 0 || !history_open(history) ||
        !history_turn(history))
        return;
    if (history->torn && !history->within) {
        if (history->files->pwrite(history->files, history->fd, "\n", 1, history->size) != 1)
            return;
        history->size++;
        history->torn = false;
    }
    ssize_t written = history->files->pwrite(history->files, history->fd, history->waiting,
                                             history->waiting_bytes, history->size);
    history_wrote(history, written > 0 ? (size_t)written : 0);
}

void history_file_begin(struct history_file *history)
{
    if (history->files == NULL || history->begun)
        return;
    history->begun = true;
    (void)files_make_folders(history->files, history->folder, NULL);
    history_flush(history);
}

void history_file_forget(struct history_file *history)
{
    bool made = history->fd >= 0 && history->made;
    history_close(history);
    if (made)
        history->files->unlink(history->files, history->path);
    history->begun = false;
}

/* RFC 3339 with milliseconds. */
static json_t *history_now(void)
{
    struct timespec now;
    struct tm utc;
    char date[32], text[48];
    clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &utc) == NULL ||
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc) == 0)
        return NULL;
    snprintf(text, sizeof text, "%s.%03dZ", date, (int)(now.tv_nsec / 1000000));
    return json_string(text);
}

/* The fields stand behind what every line begins with. */
static char *history_line(struct history_file *history, const char *event, json_t *fields)
{
    json_t *line = json_object();
    bool whole = json_object_set_new(line, "time", history_now()) == 0 &&
                 json_object_set_new(line, "event", json_string(event)) == 0 &&
                 (history->lost == 0 ||
                  json_object_set_new(line, "lost", json_integer((json_int_t)history->lost)) ==
                      0) &&
                 fields != NULL && json_object_update(line, fields) == 0;
    char *text = whole ? json_write_text(line, JSON_COMPACT) : NULL;
    json_decref(line);
    return text;
}

static bool history_keep(struct history_file *history, const char *text)
{
    size_t length = strlen(text) + 1, before = history->waiting_bytes;
    if (length > HISTORY_LINE_MAX || before + length > HISTORY_WAITING_MAX)
        return false;
    char *waiting = realloc(history->waiting, before + length);
    if (waiting == NULL)
        return false;
    memcpy(waiting + before, text, length - 1);
    waiting[before + length - 1] = '\n';
    history->waiting = waiting;
    history->waiting_bytes = before + length;
    return true;
}

void history_file_add(struct history_file *history, const char *event, json_t *fields)
{
    if (history->files != NULL) {
        char *text = history_line(history, event, fields);
        bool kept = text != NULL && history_keep(history, text);
        history->lost = kept ? 0 : history->lost + 1;
        free(text);
        history_flush(history);
    }
    json_decref(fields);
}

json_t *history_text(const char *text)
{
    char *copy = strndup(text, TEXT_MAX);
    if (copy == NULL)
        return NULL;
    make_printable(copy);
    json_t *value = json_string(copy);
    free(copy);
    return value;
}
