/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the standard input and succeeds when it is what --json promises: one or more lines, each
 * one whole JSON object, and nothing else. Prints the number of lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static int check_line(const char *line, size_t length, unsigned number)
{
    json_error_t error;
    if (length == 0 || line[length - 1] != '\n') {
        fprintf(stderr, "line %u does not end\n", number);
        return -1;
    }
    json_t *value = json_loadb(line, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    int rv = json_is_object(value) ? 0 : -1;
    if (value == NULL)
        fprintf(stderr, "line %u, column %d: %s\n", number, error.column, error.text);
    else if (rv != 0)
        fprintf(stderr, "line %u is JSON but no object\n", number);
    json_decref(value);
    return rv;
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    unsigned lines = 0;
    int rv = 0;
    while (rv == 0 && (length = getline(&line, &room, stdin)) > 0)
        rv = check_line(line, (size_t)length, ++lines);
    free(line);
    printf("%u\n", lines);
    return rv == 0 && lines > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
