/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/json_shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "\u202e" stands for two bytes or more. */
#define ESCAPED_BYTES 6

/* The bytes of such a character here, and its number; 0: it is shown as it is. jansson writes UTF-8
 * alone, and has escaped what is below U+0020. */
static size_t hidden_bytes(const unsigned char *at, unsigned *number)
{
    *number = at[0];
    if (at[0] < 0xc2)
        return at[0] == 0x7f;
    *number = (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu);
    if (at[0] < 0xe0)
        return *number < 0xa0 || *number == 0x61c ? 2 : 0;
    if (at[0] >= 0xf0)
        return 0;
    *number = (at[0] & 0x0fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
    return *number == 0x200e || *number == 0x200f || (*number >= 0x2028 && *number <= 0x202e) ||
                   (*number >= 0x2066 && *number <= 0x2069) || *number == 0xfeff
               ? 3
               : 0;
}

char *json_shown(const json_t *root, size_t flags)
{
    char *plain = root != NULL ? json_dumps(root, flags) : NULL;
    size_t hidden = 0, length = 0;
    unsigned number;
    if (plain == NULL)
        return NULL;
    for (const char *at = plain; *at != '\0'; at++)
        hidden += hidden_bytes((const unsigned char *)at, &number) > 0;
    if (hidden == 0)
        return plain;
    char *shown = malloc(strlen(plain) + hidden * ESCAPED_BYTES + 1);
    for (const char *at = plain; shown != NULL && *at != '\0';) {
        size_t bytes = hidden_bytes((const unsigned char *)at, &number);
        if (bytes > 0)
            length += (size_t)sprintf(shown + length, "\\u%04x", number);
        else
            shown[length++] = *at;
        at += bytes > 0 ? bytes : 1;
    }
    if (shown != NULL)
        shown[length] = '\0';
    free(plain);
    return shown;
}
