/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants:
 * - Line n, counted from 0, lies at n % LIVE_LINES, as a JSON text.
 * - begun [begun_bytes] is the line that has not ended yet, as far as it counts.
 * - at is how far the file with that device and inode was read.
 */
#include "launch/web/live_lines.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/json_text.h"
#include "runtime/base/printable.h"

struct live_line {
    uint64_t look;
    char *json;
};

struct live_lines {
    char *path;
    dev_t device;
    ino_t inode;
    off_t at;
    bool skips; /* up to the end of a line whose beginning was not read */
    size_t begun_bytes;
    char begun[LIVE_LINE_MAX + 1];
    uint64_t num_lines;
    struct live_line kept[LIVE_LINES];
};

struct live_lines *live_lines_create(const char *path)
{
    struct live_lines *lines = calloc(1, sizeof *lines);
    if (lines == NULL)
        return NULL;
    lines->path = strdup(path);
    if (lines->path == NULL) {
        free(lines);
        return NULL;
    }
    return lines;
}

void live_lines_destroy(struct live_lines *lines)
{
    if (lines == NULL)
        return;
    for (uint32_t i = 0; i < LIVE_LINES; i++)
        free(lines->kept[i].json);
    free(lines->path);
    free(lines);
}

/* A line that there is no memory for is left out. */
static void end_line(struct live_lines *lines, uint64_t look)
{
    lines->begun[lines->begun_bytes] = '\0';
    lines->begun_bytes = 0;
    /* A carriage return before the end is of the end. */
    lines->begun[strcspn(lines->begun, "\r")] = '\0';
    make_printable(lines->begun);
    json_t *text = json_string(lines->begun);
    char *json = json_write_text(text, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    json_decref(text);
    if (json == NULL)
        return;
    struct live_line *at = &lines->kept[lines->num_lines++ % LIVE_LINES];
    free(at->json);
    *at = (struct live_line){ look, json };
}

void live_lines_take(struct live_lines *lines, const char *bytes, size_t size, uint64_t look)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '\n' && lines->skips)
            lines->skips = false;
        else if (bytes[i] == '\n')
            end_line(lines, look);
        else if (!lines->skips && lines->begun_bytes < LIVE_LINE_MAX)
            lines->begun[lines->begun_bytes++] = bytes[i];
    }
}

/* Where to read on: behind what was read, at the beginning of another file, and never more than the
 * bound before the end. */
static void find_place(struct live_lines *lines, const struct stat *file)
{
    bool other = file->st_dev != lines->device || file->st_ino != lines->inode;
    if (other || file->st_size < lines->at) {
        lines->device = file->st_dev;
        lines->inode = file->st_ino;
        lines->at = 0;
        lines->skips = false;
        lines->begun_bytes = 0;
    }
    if (file->st_size - lines->at > (off_t)LIVE_LINES_READ) {
        lines->at = file->st_size - (off_t)LIVE_LINES_READ;
        lines->skips = true;
        lines->begun_bytes = 0;
    }
}

void live_lines_look(struct live_lines *lines, uint64_t look)
{
    struct stat file;
    /* Not waiting for a writer, where it is a pipe: nothing but a plain file is read. */
    int fd = open(lines->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    char *bytes = malloc(LIVE_LINES_READ);
    if (bytes != NULL && fstat(fd, &file) == 0 && S_ISREG(file.st_mode)) {
        find_place(lines, &file);
        ssize_t got = pread(fd, bytes, LIVE_LINES_READ, lines->at);
        if (got > 0) {
            live_lines_take(lines, bytes, (size_t)got, look);
            lines->at += got;
        }
    }
    free(bytes);
    close(fd);
}

void live_lines_write(const struct live_lines *lines, uint64_t seen, FILE *out)
{
    const char *between = "";
    fputs("\"lines\":[", out);
    uint64_t oldest = lines->num_lines > LIVE_LINES ? lines->num_lines - LIVE_LINES : 0;
    for (uint64_t n = oldest; n < lines->num_lines; n++) {
        const struct live_line *line = &lines->kept[n % LIVE_LINES];
        if (line->look <= seen)
            continue;
        fprintf(out, "%s%s", between, line->json);
        between = ",";
    }
    fputc(']', out);
}
