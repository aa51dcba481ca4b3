/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a long piece of work is: a bar with rate, elapsed time and time left on a terminal, plain
 * lines at a bounded rate elsewhere (a log must not fill up), nothing when quiet. On stderr, so
 * that results can be piped.
 *
 * Work whose count stands still is shown too, with the time that it takes: the callers call
 * progress_update() or progress_step() several times a second, whether or not the count has moved.
 *
 * Thread rules: one thread at a time.
 */
#ifndef CLI_LIB_PROGRESS_H
#define CLI_LIB_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
    FILE *out;
    bool quiet;
    bool terminal;
    char label[48];
    char unit[16];
    uint64_t total; /* 0: not known */
    uint64_t done;
    uint64_t begin_ns;
    uint64_t shown_ns;   /* 0: nothing shown of this piece yet */
    uint64_t shown_done; /* what was done when it was shown last */
    bool running;
};

void progress_init(struct progress *progress, bool quiet);

/* Begins a piece of work; one that runs is ended first. */
void progress_begin(struct progress *progress, const char *label, const char *unit, uint64_t total);
void progress_update(struct progress *progress, uint64_t done);

/* Ends the line of the bar; a piece that took no time shows nothing. */
void progress_end(struct progress *progress);

/* As progress_begin/update in one, for callbacks that name the piece in each call. */
void progress_step(struct progress *progress, const char *label, const char *unit, uint64_t done,
                   uint64_t total);

#endif
