/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the live page knows of a job's past: a row of figures each second of the last hour, what
 * happened to its processes, and what of both is newer than what a page has.
 *
 * All of it is in memory that does not grow: LIVE_ROWS rows of about a hundred bytes, LIVE_NOTICES
 * notices of some hundred. Row and notice have the number of the look that made them, from 1 on,
 * by which a page that lost its connection goes on where it was.
 *
 * Ownership: live_history_destroy frees. Thread rules: one thread at a time.
 */
#ifndef LAUNCH_WEB_LIVE_HISTORY_H
#define LAUNCH_WEB_LIVE_HISTORY_H

#include <stdint.h>
#include <stdio.h>

#include <troupe/observe.h>

#define LIVE_ROWS 3600u
#define LIVE_NOTICES 256u

struct live_history;

/* NULL: no memory. */
struct live_history *live_history_create(void);
void live_history_destroy(struct live_history *history); /* NULL is ignored */

/* Adds what was seen: the job, and job->num_processes processes of it, as many each time. time_ms
 * is the wall clock's. TR_ENOMEM: nothing was added. */
int live_history_add(struct live_history *history, const struct tr_job_status *job,
                     const struct tr_process_status *processes, uint64_t time_ms);

/* How the job has ended, for whoever reads what its launcher wrote: "complete", "failed" or "stopped",
 * static; NULL: it has not, as far as that is known. It is noticed once, but for what the first look
 * finds, which happened before; then it is noticed no more that nobody answers. */
void live_history_outcome(struct live_history *history, uint64_t time_ms, const char *outcome);

/* The number of the last look; 0: there was none. */
uint64_t live_history_last(const struct live_history *history);

/* Writes `"columns":[..],"rows":[[..]..],"notices":[..]`, members of a JSON object: what came behind
 * look `seen`. A number beyond the last look is of another server: everything is new to it. */
void live_history_write(const struct live_history *history, uint64_t seen, FILE *out);

#endif
