/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/printable.h"

#include <stdbool.h>
#include <stddef.h>

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
    return too_small || too_large ? 0 : length;
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
