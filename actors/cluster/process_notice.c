/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/cluster/process_notice.h"

/* A word and a number behind it, as printf writes it; moves on. */
static bool take_number(const char **at, const char *word, uint32_t *number)
{
    size_t length = strlen(word);
    uint64_t value = 0;
    if (strncmp(*at, word, length) != 0)
        return false;
    const char *digit = *at + length;
    if (*digit < '0' || *digit > '9')
        return false;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        value = value * 10 + (uint64_t)(*digit - '0');
        if (value > UINT32_MAX)
            return false;
    }
    *at = digit;
    *number = (uint32_t)value;
    return *digit == ' ' || *digit == '\0';
}

bool notice_silent(const char *line, uint32_t *process, uint32_t *incarnation)
{
    if (!notice_is(line, NOTICE_SILENT))
        return false;
    line += strlen(NOTICE_SILENT);
    return take_number(&line, " process ", process) &&
           take_number(&line, " incarnation ", incarnation);
}
