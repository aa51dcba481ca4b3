/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/cluster/process_notice.h"

/* A word and a number up to that behind it, as printf writes it; moves on. */
static bool take_number(const char **at, const char *word, uint64_t most, uint64_t *number)
{
    size_t length = strlen(word);
    uint64_t value = 0;
    if (strncmp(*at, word, length) != 0)
        return false;
    const char *digit = *at + length;
    if (*digit < '0' || *digit > '9')
        return false;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        uint64_t unit = (uint64_t)(*digit - '0');
        if (value > (most - unit) / 10)
            return false;
        value = value * 10 + unit;
    }
    *at = digit;
    *number = value;
    return *digit == ' ' || *digit == '\0';
}

bool notice_silent(const char *line, uint32_t *process, uint32_t *incarnation)
{
    if (!notice_is(line, NOTICE_SILENT))
        return false;
    uint64_t numbers[2];
    line += strlen(NOTICE_SILENT);
    if (!take_number(&line, " process ", UINT32_MAX, &numbers[0]) ||
        !take_number(&line, " incarnation ", UINT32_MAX, &numbers[1]))
        return false;
    *process = (uint32_t)numbers[0];
    *incarnation = (uint32_t)numbers[1];
    return true;
}

bool notice_step(const char *line, const char *notice, uint64_t *step)
{
    if (!notice_is(line, notice))
        return false;
    line += strlen(notice);
    /* As JSON's numbers have it. */
    return take_number(&line, " ", INT64_MAX, step);
}
