/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of one test, files in it, and checks on errors. Used by the tests of the readers. */
#ifndef TESTS_PARTITION_RAW_UTIL_H
#define TESTS_PARTITION_RAW_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/base/files.h"
#include "tests/scratch.h"

struct scratch {
    char folder[64];
    char path[256];
};

static inline int scratch_setup(void **state)
{
    struct scratch *scratch = calloc(1, sizeof *scratch);
    if (scratch_folder(scratch->folder, sizeof scratch->folder, "test") == NULL)
        return -1;
    *state = scratch;
    return 0;
}

static inline int scratch_teardown(void **state)
{
    struct scratch *scratch = *state;
    int rv = files_remove_tree(files_posix, scratch->folder, NULL);
    free(scratch);
    return rv;
}

/* The path of a name in the scratch folder; valid until the next call. */
static inline const char *at(struct scratch *scratch, const char *name)
{
    snprintf(scratch->path, sizeof scratch->path, "%s/%s", scratch->folder, name);
    return scratch->path;
}

static inline void put(struct scratch *scratch, const char *name, const void *data, size_t size)
{
    FILE *file = fopen(at(scratch, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void put_text(struct scratch *scratch, const char *name, const char *text)
{
    put(scratch, name, text, strlen(text));
}

/* A row in which the numbers stand for the first and the second @. */
static inline void put_row(FILE *file, const char *pattern, unsigned first, unsigned second)
{
    unsigned number = first;
    for (const char *c = pattern; *c != '\0'; c++) {
        if (*c != '@') {
            fputc(*c, file);
            continue;
        }
        fprintf(file, "%u", number);
        number = second;
    }
}

/* Names in the scratch folder, hidden ones included. */
static inline int count_name(void *arg, const char *name)
{
    (void)name;
    ++*(int *)arg;
    return 0;
}

static inline int count_names(struct scratch *scratch)
{
    int count = 0;
    assert_int_equal(files_posix->list(files_posix, scratch->folder, count_name, &count), 0);
    return count;
}

/* The message must hold each of the words: file, field, value, remedy. */
static inline void assert_says(const struct error *error, int code, const char *word)
{
    if (error->code != code || strstr(error->text, word) == NULL)
        fail_msg("'%s' (%d) does not say '%s' (%d)", error->text, error->code, word, code);
}

#endif
