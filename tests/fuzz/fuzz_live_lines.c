/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log that the live page follows, in pieces of any size: what is written of it is JSON, of as many
 * lines as it has or as are kept, none longer than its bound, without a character that steers.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/web/live_lines.h"
#include "tests/fuzz/fuzz.h"

static json_t *written(const struct live_lines *lines, uint64_t seen)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fuzz_hold(out != NULL, "no memory");
    fputc('{', out);
    live_lines_write(lines, seen, out);
    fputc('}', out);
    fuzz_hold(fclose(out) == 0, "no memory");
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    fuzz_hold(root != NULL, "what is written is no JSON");
    free(text);
    return root;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct live_lines *lines = live_lines_create("/nowhere");
    size_t piece = size > 0 ? 1 + bytes[0] % 64u : 1, ends = 0, i;
    uint64_t looks = 0;
    json_t *line;
    fuzz_hold(lines != NULL, "no memory");
    for (size_t at = 0; at < size; at += piece)
        live_lines_take(lines, (const char *)bytes + at, size - at < piece ? size - at : piece,
                        ++looks);
    for (size_t at = 0; at < size; at++)
        ends += bytes[at] == '\n';
    json_t *root = written(lines, 0);
    json_t *all = json_object_get(root, "lines");
    fuzz_hold(json_array_size(all) == (ends < LIVE_LINES ? ends : LIVE_LINES), "lines are missing");
    json_array_foreach(all, i, line)
    {
        const char *text = json_string_value(line);
        fuzz_hold(text != NULL && strlen(text) <= LIVE_LINE_MAX, "a line is longer than its bound");
        for (; *text != '\0'; text++)
            fuzz_hold((unsigned char)*text >= 0x20 && *text != 0x7f, "a line steers a terminal");
    }
    json_decref(root);
    root = written(lines, looks);
    fuzz_hold(json_array_size(json_object_get(root, "lines")) == 0, "a look is shown twice");
    json_decref(root);
    live_lines_destroy(lines);
    return 0;
}
