/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words that people type.
 *
 * Thread rules: any thread.
 */
#ifndef TROUPE_TEXT_H
#define TROUPE_TEXT_H

#include <stddef.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name among names [count] that word [length] was probably meant to be, or NULL when none is
 * near enough to suggest: what messages of the library and the command line name. The result is one
 * of the caller's texts. */
TR_API const char *tr_text_nearest(const char *const *names, size_t count, const char *word,
                                   size_t length);

#ifdef __cplusplus
}
#endif

#endif
