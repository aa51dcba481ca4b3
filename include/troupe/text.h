/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words that people type, and numbers as they read them: 63.7 k, 2.4 GiB, 1 min 20 s.
 *
 * Thread rules: any thread.
 */
#ifndef TROUPE_TEXT_H
#define TROUPE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name among names [count] that word [length] was probably meant to be, or NULL when none is
 * near enough to suggest: what messages of the library and the command line name. The result is one
 * of the caller's texts. */
TR_API const char *tr_text_nearest(const char *const *names, size_t count, const char *word,
                                   size_t length);

/* Bytes of a number as text, with its end. */
#define TR_TEXT_QUANTITY_MAX 40

/* Each writes into text, [TR_TEXT_QUANTITY_MAX], and returns it. */
TR_API char *tr_text_count(char *text, double count);   /* three digits and k, M, G, T */
TR_API char *tr_text_whole(char *text, uint64_t count); /* all digits, in groups: 342,600 */
TR_API char *tr_text_bytes(char *text, uint64_t bytes); /* binary units */
TR_API char *tr_text_seconds(char *text, double seconds);

#ifdef __cplusplus
}
#endif

#endif
