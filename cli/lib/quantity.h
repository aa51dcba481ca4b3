/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as people read them: 63.7 k, 2.4 GiB, 1 min 20 s.
 *
 * Thread rules: pure.
 */
#ifndef CLI_LIB_QUANTITY_H
#define CLI_LIB_QUANTITY_H

#include <stdint.h>

#define QUANTITY_TEXT_MAX 40

/* Each writes into text, [QUANTITY_TEXT_MAX], and returns it. */
char *quantity_count(char *text, double count);   /* three digits and k, M, G, T */
char *quantity_whole(char *text, uint64_t count); /* all digits, in groups: 342,600 */
char *quantity_bytes(char *text, uint64_t bytes); /* binary units */
char *quantity_seconds(char *text, double seconds);

#endif
