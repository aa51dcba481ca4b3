/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/line_reader.h"

#include <string.h>

void line_reader_init(struct line_reader *lines, void (*line)(void *arg, char *line, size_t length),
                      void *arg)
{
    lines->line = line;
    lines->arg = arg;
    lines->used = 0;
}

static void give(struct line_reader *lines, char *line, size_t length)
{
    if (length > 0 && line[length - 1] == '\r')
        length--;
    line[length] = '\0';
    lines->line(lines->arg, line, length);
}

char *line_reader_room(struct line_reader *lines, size_t *room)
{
    *room = LINE_BYTES_MAX - lines->used;
    return lines->bytes + lines->used;
}

void line_reader_grew(struct line_reader *lines, size_t count)
{
    char *begin = lines->bytes, *end = lines->bytes + lines->used + count, *newline;
    while ((newline = memchr(begin, '\n', (size_t)(end - begin))) != NULL) {
        give(lines, begin, (size_t)(newline - begin));
        begin = newline + 1;
    }
    lines->used = (size_t)(end - begin);
    memmove(lines->bytes, begin, lines->used);
    if (lines->used == LINE_BYTES_MAX) {
        give(lines, lines->bytes, lines->used);
        lines->used = 0;
    }
}

void line_reader_end(struct line_reader *lines)
{
    if (lines->used > 0)
        give(lines, lines->bytes, lines->used);
    lines->used = 0;
}
