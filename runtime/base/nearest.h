/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name that a mistyped word was probably meant to be.
 *
 * Thread rules: pure.
 */
#ifndef RUNTIME_BASE_NEAREST_H
#define RUNTIME_BASE_NEAREST_H

#include <stddef.h>

/* The name nearest to word[0 .. length), or NULL when none is near enough to suggest. */
const char *nearest_name(const char *const *names, int count, const char *word, size_t length);

#endif
