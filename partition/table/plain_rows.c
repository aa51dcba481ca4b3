/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/plain_rows.h"

#include <endian.h>
#include <string.h>

#define WORD_BYTES sizeof(uint64_t)
/* The byte, eight times. */
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The highest bit of each byte that is zero, and maybe of some behind the first of these. */
static inline uint64_t zero_bytes(uint64_t word)
{
    return (word - EACH(1)) & ~word & EACH(0x80);
}

/* Up to the first byte that ends a field or a plain row.
 *
 * Eight characters are looked at as one number, the first as its lowest byte, since a branch at the
 * end of each field, whose length no processor guesses, costs more than its characters. Carries go
 * to bytes behind one that ends the field, which do not count. */
static inline const char *skip_plain(const char *at, const char *end, char delimiter)
{
    const uint64_t delimiters = EACH((unsigned char)delimiter);
    while ((size_t)(end - at) >= WORD_BYTES) {
        uint64_t word;
        memcpy(&word, at, WORD_BYTES);
        word = le64toh(word);
        const uint64_t below = (word - EACH(' ')) & ~word & EACH(0x80);
        const uint64_t above = (word | (word + EACH(1))) & EACH(0x80);
        const uint64_t ends = below | above | zero_bytes(word ^ EACH('"')) |
                              zero_bytes(word ^ delimiters);
        if (ends != 0)
            return at + __builtin_ctzll(ends) / 8;
        at += WORD_BYTES;
    }
    while (at < end && *at >= ' ' && *at < 0x7f && *at != '"' && *at != delimiter)
        at++;
    return at;
}

/* The fields of the row that begins at at, and its line end; NULL: it is not plain, or not whole. */
static inline const char *split_plain(const char *at, const char *end, char delimiter,
                                      struct table_field *fields, uint32_t columns)
{
    for (uint32_t i = 0; i < columns; i++) {
        const char *begin = at;
        at = skip_plain(at, end, delimiter);
        if (at == end || (at > begin && (*begin == ' ' || at[-1] == ' ')))
            return NULL;
        /* The whole row may be empty. */
        if (i == 0 && at == begin)
            return NULL;
        fields[i] = (struct table_field){ begin, (uint32_t)(at - begin) };
        if (i + 1 < columns && *at++ != delimiter)
            return NULL;
    }
    at += *at == '\r' && at + 1 < end;
    return *at == '\n' ? at : NULL;
}

uint32_t plain_rows_take(const struct plain_rows *rows, struct text *text, char delimiter,
                         uint64_t *first_line)
{
    const char *at = (const char *)text->at, *end = (const char *)text->end;
    /* The text stands at the end of the row before, or at the begin of the first one. */
    uint64_t line = text->line;
    uint32_t taken = 0;
    for (; taken < rows->rows_max && at < end; taken++) {
        const char *begin = at + (*at == '\n');
        const char *next = split_plain(begin, end, delimiter,
                                       rows->fields + (size_t)taken * rows->columns, rows->columns);
        if (next == NULL)
            break;
        line += *at == '\n';
        if (taken == 0)
            *first_line = line;
        at = next;
    }
    text->at = (const uint8_t *)at;
    text->line = line;
    return taken;
}
