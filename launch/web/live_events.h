/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of a job for the live page: events.jsonl of its run (troupe-events(5)), followed as its
 * writer appends to it.
 *
 * The last LIVE_EVENTS events are kept, of which a page gets each once. Of checkpoints in a row the
 * last one stays. Lines that are no events are passed over, and of the others all keys but those
 * whose values are texts, numbers or truth values.
 *
 * Ownership: live_events_destroy frees. Thread rules: one thread at a time; reading the file may
 * wait for its disk.
 */
#ifndef LAUNCH_WEB_LIVE_EVENTS_H
#define LAUNCH_WEB_LIVE_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LIVE_EVENTS 500u
/* So much of the file is read a look, the first one included; of more that came meanwhile the end.
 * It is some ten thousand events. */
#define LIVE_EVENTS_READ ((size_t)1 << 20)

/* How the job ended, as its last event says. */
enum live_outcome { LIVE_RUNS, LIVE_COMPLETE, LIVE_FAILED, LIVE_STOPPED };

struct live_events;

/* Reads the history of the run in that folder, which need not be there yet. NULL: no memory. */
struct live_events *live_events_create(const char *folder);
void live_events_destroy(struct live_events *events); /* NULL is ignored */

/* Takes the events that are new, for look number `look`, 1 or more. */
void live_events_look(struct live_events *events, uint64_t look);

/* The part of a look that is no file: bytes that follow those before. */
void live_events_take(struct live_events *events, const char *bytes, size_t size, uint64_t look);

enum live_outcome live_events_outcome(const struct live_events *events);

/* Writes `"events":[{..}..]`, a member of a JSON object: those that looks after `seen` found. */
void live_events_write(const struct live_events *events, uint64_t seen, FILE *out);

#endif
