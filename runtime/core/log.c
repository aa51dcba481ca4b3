/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "runtime/core/node_impl.h"

void log_write(struct node *node, enum log_level level, const char *format, ...)
{
    const struct log_sink *sink = &node->log;
    if (sink->write == NULL || level > sink->level)
        return;
    char line[LOG_LINE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    sink->write(sink->arg, level, line);
}
