/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brutal malloc: the allocation of a number fails, and those before and behind it do not. A test
 * repeats a call with 0, 1, 2 ... until it succeeds. For programs linked with --wrap=malloc,
 * --wrap=calloc, --wrap=realloc, --wrap=strdup and --wrap=strndup, of one thread.
 */
#ifndef TESTS_SHORT_MEMORY_H
#define TESTS_SHORT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

static int allocations_left = -1; /* -1: no allocation fails */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);

static bool is_refused(void)
{
    return allocations_left >= 0 && allocations_left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return is_refused() ? NULL : __real_realloc(block, size);
}

char *__wrap_strdup(const char *text)
{
    return is_refused() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size)
{
    return is_refused() ? NULL : __real_strndup(text, size);
}

#endif
