#include "cli/lib/line_reader.h"

#include <string.h>

void lines_init(struct lines *lines, void (*line)(void *arg, char *line, size_t length), void *arg)
{
    lines->line = line;
    lines->arg = arg;
    lines->used = 0;
}

static void give(struct lines *lines, char *line, size_t length)
{
    if (length > 0 && line[length - 1] == '\r')
        length--;
    line[length] = '\0';
    lines->line(lines->arg, line, length);
}

char *lines_room(struct lines *lines, size_t *room)
{
    *room = LINES_BYTES_MAX - lines->used;
    return lines->bytes + lines->used;
}

void lines_grew(struct lines *lines, size_t count)
{
    char *begin = lines->bytes, *end = lines->bytes + lines->used + count, *newline;
    while ((newline = memchr(begin, '\n', (size_t)(end - begin))) != NULL) {
        give(lines, begin, (size_t)(newline - begin));
        begin = newline + 1;
    }
    lines->used = (size_t)(end - begin);
    memmove(lines->bytes, begin, lines->used);
    if (lines->used == LINES_BYTES_MAX) {
        give(lines, lines->bytes, lines->used);
        lines->used = 0;
    }
}

void lines_end(struct lines *lines)
{
    if (lines->used > 0)
        give(lines, lines->bytes, lines->used);
    lines->used = 0;
}

void lines_tame(char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)line[i];
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
            line[i] = '?';
    }
}
