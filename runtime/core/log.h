/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: lines with a level, handed to a sink that the node's owner provides.
 *
 * Nothing below cli/ prints; without a sink lines go nowhere. A line names actors, files and
 * numbers, never payload.
 *
 * Thread rules: any thread; the sink is called from many and serialises itself.
 */
#ifndef RUNTIME_CORE_LOG_H
#define RUNTIME_CORE_LOG_H

#include <stddef.h>

struct node;

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

#define LOG_LINE_MAX 512 /* longer lines are cut */

struct log_sink {
    void (*write)(void *arg, enum log_level level, const char *component, const char *line);
    void *arg;
    enum log_level level; /* lines above it are not even formatted */
};

/* component: what speaks ("actors", "links", "job"), of static storage; <troupe/log.h> lists
 * them. */
void log_write(struct node *node, enum log_level level, const char *component, const char *format,
               ...) __attribute__((format(printf, 4, 5)));

/* The node's account of messages had no memory for this: some of these refusals are logged. */
void log_refusal(struct node *node, const char *what, size_t bytes);

#endif
