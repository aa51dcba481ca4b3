/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole lines of a text file that others write to, as it grows, is rotated or begins anew.
 *
 * Ownership: live_tail_fini frees; a zeroed struct has no file, and finds no line. Thread rules: one
 * thread at a time; reading the file may wait for its disk.
 */
#ifndef LAUNCH_WEB_LIVE_TAIL_H
#define LAUNCH_WEB_LIVE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct live_tail_options {
    const char *path; /* copied; the file need not be there yet */
    size_t line_max;  /* bytes of a line that count */
    size_t read_max;  /* so much of the file is read a look; of more that came meanwhile the end */
    /* Gets each line without its end, in memory that is its to change until it returns. */
    void (*take)(void *arg, char *line, uint64_t look);
    void *arg;
};

struct live_tail {
    struct live_tail_options options; /* its path is a copy */
    dev_t device;
    ino_t inode;
    off_t at;   /* how far the file with that device and inode was read */
    bool skips; /* up to the end of a line whose beginning was not read */
    char *begun;
    size_t begun_bytes; /* the line that has not ended yet, as far as it counts */
};

/* TR_ENOMEM. */
int live_tail_init(struct live_tail *tail, const struct live_tail_options *options);
void live_tail_fini(struct live_tail *tail);

/* Takes the lines that are new, for look number `look`. */
void live_tail_look(struct live_tail *tail, uint64_t look);

/* The part of a look that is no file: bytes that follow those before. */
void live_tail_take(struct live_tail *tail, const char *bytes, size_t size, uint64_t look);

#endif
