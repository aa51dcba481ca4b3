/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/printable.h"

#include <stdbool.h>
#include <stddef.h>

/* Characters that turn the direction of writing, end lines or cannot be seen: a name with one looks
 * like another name, or moves what is written around it. U+061C, U+200E and U+200F, U+2028 to
 * U+202E, U+2066 to U+2069, U+FEFF. */
static bool hides(const unsigned char *at, size_t length)
{
    if (length == 2)
        return at[0] == 0xd8 && at[1] == 0x9c;
    if (length != 3)
        return false;
    return (at[0] == 0xe2 && at[1] == 0x80 &&
            (at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae))) ||
           (at[0] == 0xe2 && at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9) ||
           (at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf);
}

/* Bytes of the character at a place in UTF-8 (RFC 3629), 0 if it is none or steers a terminal. */
static size_t measure_character(const unsigned char *at)
{
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (at[0] < 0x20 || at[0] == 0x7f || at[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    }
    bool too_small = (at[0] == 0xc2 && at[1] < 0xa0) || (at[0] == 0xe0 && at[1] < 0xa0) ||
                     (at[0] == 0xf0 && at[1] < 0x90);
    bool too_large = (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf4 && at[1] > 0x8f);
    return too_small || too_large || hides(at, length) ? 0 : length;
}

void make_printable(char *text)
{
    while (*text != '\0') {
        size_t length = measure_character((const unsigned char *)text);
        if (length == 0)
            *text = '?';
        text += length == 0 ? 1 : length;
    }
}
