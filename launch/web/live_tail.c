/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/web/live_tail.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <troupe/error.h>

int live_tail_init(struct live_tail *tail, const struct live_tail_options *options)
{
    char *path = strdup(options->path), *begun = malloc(options->line_max + 1);
    *tail = (struct live_tail){ .options = *options, .begun = begun };
    tail->options.path = path;
    if (path != NULL && begun != NULL)
        return 0;
    live_tail_fini(tail);
    return TR_ENOMEM;
}

void live_tail_fini(struct live_tail *tail)
{
    free((char *)(uintptr_t)tail->options.path);
    free(tail->begun);
    *tail = (struct live_tail){ 0 };
}

static void end_line(struct live_tail *tail, uint64_t look)
{
    tail->begun[tail->begun_bytes] = '\0';
    tail->begun_bytes = 0;
    tail->options.take(tail->options.arg, tail->begun, look);
}

void live_tail_take(struct live_tail *tail, const char *bytes, size_t size, uint64_t look)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '\n' && tail->skips)
            tail->skips = false;
        else if (bytes[i] == '\n')
            end_line(tail, look);
        else if (!tail->skips && tail->begun_bytes < tail->options.line_max)
            tail->begun[tail->begun_bytes++] = bytes[i];
    }
}

/* Where to read on: behind what was read, at the beginning of another file, and never more than the
 * bound before the end. Returns how much there is to read. */
static size_t find_place(struct live_tail *tail, const struct stat *file)
{
    bool other = file->st_dev != tail->device || file->st_ino != tail->inode;
    if (other || file->st_size < tail->at) {
        tail->device = file->st_dev;
        tail->inode = file->st_ino;
        tail->at = 0;
        tail->skips = false;
        tail->begun_bytes = 0;
    }
    if (file->st_size - tail->at > (off_t)tail->options.read_max) {
        tail->at = file->st_size - (off_t)tail->options.read_max;
        tail->skips = true;
        tail->begun_bytes = 0;
    }
    return (size_t)(file->st_size - tail->at);
}

void live_tail_look(struct live_tail *tail, uint64_t look)
{
    struct stat file;
    if (tail->options.path == NULL)
        return;
    /* Not waiting for a writer, where it is a pipe: nothing but a plain file is read. */
    int fd = open(tail->options.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    bool plain = fstat(fd, &file) == 0 && S_ISREG(file.st_mode);
    size_t size = plain ? find_place(tail, &file) : 0;
    char *bytes = size > 0 ? malloc(size) : NULL;
    ssize_t got = bytes != NULL ? pread(fd, bytes, size, tail->at) : 0;
    if (got > 0) {
        live_tail_take(tail, bytes, (size_t)got, look);
        tail->at += got;
    }
    free(bytes);
    close(fd);
}
