/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: line n, counted from 0, lies at n % LIVE_LINES, as a JSON text. */
#include "launch/web/live_lines.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "launch/web/live_tail.h"
#include "runtime/base/json_text.h"
#include "runtime/base/printable.h"

struct live_line {
    uint64_t look;
    char *json;
};

struct live_lines {
    struct live_tail tail;
    uint64_t num_lines;
    struct live_line kept[LIVE_LINES];
};

/* A line that there is no memory for is left out. */
static void keep_line(void *arg, char *line, uint64_t look)
{
    struct live_lines *lines = arg;
    /* A carriage return before the end is of the end; others are within a line, which is whole. */
    size_t length = strlen(line);
    if (length > 0 && line[length - 1] == '\r')
        line[length - 1] = '\0';
    make_printable(line);
    json_t *text = json_string(line);
    char *json = json_write_text(text, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    json_decref(text);
    if (json == NULL)
        return;
    struct live_line *at = &lines->kept[lines->num_lines++ % LIVE_LINES];
    free(at->json);
    *at = (struct live_line){ look, json };
}

struct live_lines *live_lines_create(const char *path)
{
    struct live_lines *lines = calloc(1, sizeof *lines);
    const struct live_tail_options options = { .path = path,
                                               .line_max = LIVE_LINE_MAX,
                                               .read_max = LIVE_LINES_READ,
                                               .take = keep_line,
                                               .arg = lines };
    if (lines == NULL || live_tail_init(&lines->tail, &options) != 0) {
        free(lines);
        return NULL;
    }
    return lines;
}

void live_lines_destroy(struct live_lines *lines)
{
    if (lines == NULL)
        return;
    for (uint32_t i = 0; i < LIVE_LINES; i++)
        free(lines->kept[i].json);
    live_tail_fini(&lines->tail);
    free(lines);
}

void live_lines_take(struct live_lines *lines, const char *bytes, size_t size, uint64_t look)
{
    live_tail_take(&lines->tail, bytes, size, look);
}

void live_lines_look(struct live_lines *lines, uint64_t look)
{
    live_tail_look(&lines->tail, look);
}

void live_lines_write(const struct live_lines *lines, uint64_t seen, FILE *out)
{
    const char *between = "";
    fputs("\"lines\":[", out);
    uint64_t oldest = lines->num_lines > LIVE_LINES ? lines->num_lines - LIVE_LINES : 0;
    for (uint64_t n = oldest; n < lines->num_lines; n++) {
        const struct live_line *line = &lines->kept[n % LIVE_LINES];
        if (line->look <= seen)
            continue;
        fprintf(out, "%s%s", between, line->json);
        between = ",";
    }
    fputc(']', out);
}
