/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people read them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <troupe/text.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* number in the largest unit of `base` that leaves at least 1. */
static char *scale(char *text, double number, double base, const char *const *units, size_t count)
{
    size_t unit = 0;
    for (; unit + 1 < count && number >= base; unit++)
        number /= base;
    int decimals = unit == 0 || number >= 100 ? 0 : number >= 10 ? 1 : 2;
    snprintf(text, TR_TEXT_QUANTITY_MAX, "%.*f%s", decimals, number, units[unit]);
    return text;
}

char *tr_text_count(char *text, double count)
{
    static const char *const UNITS[] = { "", " k", " M", " G", " T" };
    return scale(text, count, 1000, UNITS, LENGTH(UNITS));
}

char *tr_text_bytes(char *text, uint64_t bytes)
{
    static const char *const UNITS[] = { " B", " KiB", " MiB", " GiB", " TiB", " PiB" };
    return scale(text, (double)bytes, 1024, UNITS, LENGTH(UNITS));
}

char *tr_text_whole(char *text, uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *at = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    *at = '\0';
    return text;
}

char *tr_text_seconds(char *text, double seconds)
{
    if (seconds < 100)
        snprintf(text, TR_TEXT_QUANTITY_MAX, "%.*f s", seconds < 10 ? 2 : 1, seconds);
    else if (seconds < 3600)
        snprintf(text, TR_TEXT_QUANTITY_MAX, "%d min %02d s", (int)seconds / 60, (int)seconds % 60);
    else if (seconds < INT32_MAX)
        snprintf(text, TR_TEXT_QUANTITY_MAX, "%d h %02d min", (int)(seconds / 3600),
                 (int)seconds / 60 % 60);
    else /* 68 years, which only somebody else can have said, or no number at all */
        snprintf(text, TR_TEXT_QUANTITY_MAX, "%.3g h", seconds / 3600);
    return text;
}
