/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "runtime/core/node_impl.h"

void log_write(struct node *node, enum log_level level, const char *component, const char *format,
               ...)
{
    const struct log_sink *sink = &node->log;
    if (sink->write == NULL || level > sink->level)
        return;
    char line[LOG_LINE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    sink->write(sink->arg, level, component, line);
}

/* The 1st, 2nd, 4th, 8th ... refusal is logged. */
void log_refusal(struct node *node, const char *what, size_t bytes)
{
    struct account *account = &node->message_account;
    unsigned before = atomic_fetch_add_explicit(&node->refusals, 1, memory_order_relaxed);
    if ((before & (before + 1)) != 0)
        return;
    log_write(node, LOG_LEVEL_WARN, "memory",
              "node %u: no memory for a %s of %zu bytes: account \"%s\" has %zu of %zu bytes in "
              "use",
              node->id, what, bytes, account->name, account_used(account), account->bound_bytes);
}
