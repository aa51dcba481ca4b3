/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of a run's job as its files have it, events.1.jsonl and events.jsonl (troupe-events(5)).
 *
 * Lines that are no events are passed over: a writer may have been killed within one, and a later
 * version may write others. Names of events are kept, whichever these are.
 *
 * Ownership: run_history_read fills it, run_history_fini frees all. Thread rules: one thread at a time.
 */
#ifndef MODEL_RUN_HISTORY_H
#define MODEL_RUN_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/run.h>

#include "runtime/base/files.h"

/* Of a history that is too long the first events are kept: more than two files have. */
#define RUN_EVENTS_MAX 250000u

struct run_event {
    char *texts; /* owns those of event */
    struct tr_run_event event;
};

struct run_history {
    size_t count, room;
    struct run_event *events;
};

/* No file: no events. TR_ENOMEM; TR_EIO and the like: a file that is there cannot be read. */
int run_history_read(struct run_history *history, struct files *files, const char *folder,
                     struct error *error);
void run_history_fini(struct run_history *history);

#endif
