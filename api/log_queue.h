/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the nodes of a session write: the queue of the program's log.
 *
 * Thread rules: any thread; the sink is written to from all loops.
 */
#ifndef API_LOG_QUEUE_H
#define API_LOG_QUEUE_H

#include <troupe/log.h>

#include "runtime/core/log.h"

/* NULL is ignored. */
void log_acquire(struct tr_log *log);
void log_release(struct tr_log *log);

/* Adds a line before there is a node, or without one. NULL is ignored. */
void log_add(struct tr_log *log, enum log_level level, const char *component, const char *line);

/* Valid while a reference is held; NULL: lines go nowhere. */
struct log_sink log_sink_of(struct tr_log *log);

#endif
