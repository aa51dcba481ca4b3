/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/end_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "partition/table/table_values.h"

/* 64 bits hold any number of so many digits. */
#define WHOLE_DIGITS_MAX 18u
/* Of so many rows one has a list, where the column has lists. */
#define ROWS_A_LIST 10u
/* Names that may be spelt in another way are looked for; so many tell enough. */
#define SPELLINGS_MAX ((uint64_t)1 << 20)

int end_names_init(struct end_names *names, bool guessed, bool header)
{
    *names = (struct end_names){ .guessed = guessed, .chosen = guessed && !header };
    for (int i = 0; i < 3; i++)
        names->columns[i] = (struct id_range)ID_RANGE_NONE;
    return names->chosen ? end_signs_init(&names->signs) : 0;
}

void end_names_fini(struct end_names *names)
{
    end_signs_fini(&names->signs);
}

/* "12.5": digits, a point, digits. */
static bool is_fraction(const struct table_field *field)
{
    uint32_t points = 0;
    for (uint32_t i = 0; i < field->length; i++) {
        points += field->at[i] == '.';
        if (!isdigit((unsigned char)field->at[i]) && field->at[i] != '.')
            return false;
    }
    return points == 1 && field->length > 1;
}

static bool is_whole(const struct table_field *field, uint64_t *number)
{
    *number = 0;
    for (uint32_t i = 0; i < field->length && i <= WHOLE_DIGITS_MAX; i++) {
        if (!isdigit((unsigned char)field->at[i]))
            return false;
        *number = *number * 10 + (uint64_t)(field->at[i] - '0');
    }
    return field->length > 0 && field->length <= WHOLE_DIGITS_MAX;
}

/* "1600000000" and "1600000000000": seconds, or thousandths of them, of the years 2001 to 2033. */
static bool is_time(const struct table_field *field)
{
    uint64_t number;
    return (field->length == 10 || field->length == 13) && is_whole(field, &number) &&
           field->at[0] == '1';
}

/* "2 3" and "[2, 3]": several numbers. */
static bool is_list(const struct table_field *field)
{
    uint32_t numbers = 0;
    bool digits = false;
    for (uint32_t i = 0; i < field->length; i++) {
        const char c = field->at[i];
        if (!isdigit((unsigned char)c) && strchr(" ,;|[]", c) == NULL)
            return false;
        numbers += isdigit((unsigned char)c) && !digits;
        digits = isdigit((unsigned char)c);
    }
    return numbers > 1;
}

static void note_end(struct end_names *names, const struct table_reader *reader,
                     const struct table_field *field, int end)
{
    uint64_t number;
    names->wholes[end] += is_whole(field, &number);
    names->times[end] += names->guessed && is_time(field);
    if (is_fraction(field) && names->fractions[end]++ == 0)
        names->fraction_lines[end] = reader->line;
    if (is_list(field) && names->lists[end]++ == 0)
        names->list_lines[end] = reader->line;
}

/* What the numbers of a row without a header tell. */
static void note_signs(struct end_names *names, const struct table_reader *reader,
                       const struct table_field *fields)
{
    uint64_t numbers[3];
    for (uint32_t i = 0; i < 3 && i < reader->names.count; i++) {
        if (!is_whole(&fields[i], &numbers[i])) {
            names->words = names->words || i < 2;
            numbers[i] = UINT64_MAX;
        }
        id_range_add(&names->columns[i], numbers[i], numbers[i]);
    }
    if (!names->words)
        end_signs_note(&names->signs, numbers[0], numbers[1]);
}

void end_names_note(struct end_names *names, const struct table_reader *reader,
                    const struct table_roles *roles, const struct table_field *fields, bool first)
{
    if (first) {
        note_end(names, reader, &fields[roles->source - 1], 0);
        note_end(names, reader, &fields[roles->target - 1], 1);
    }
    if (names->chosen && !names->words && names->signs.rows < END_SIGNS_ROWS)
        note_signs(names, reader, fields);
}

/* Names that are all fractions are no names, nor are times beside what is none, unless that is
 * said. */
int end_names_check(const struct end_names *names, struct table_reader *reader,
                    const struct table_roles *roles, uint64_t rows)
{
    const uint32_t columns[] = { roles->source, roles->target };
    const uint64_t *times = names->times;
    char shown[COLUMN_SHOWN];
    if (rows == 0)
        return 0;
    for (int end = 0; end < 2; end++) {
        if (times[end] == rows && times[!end] == 0)
            return error_set(reader->text.error, TR_EFORMAT,
                             "%s: %s holds what looks like times, no names of nodes; name "
                             "the columns of the ends by \"source\" and \"target\"",
                             reader->text.path,
                             table_reader_show_column(reader, columns[end], shown));
        if (names->lists[end] * ROWS_A_LIST >= rows &&
            names->lists[end] + names->wholes[end] == rows && names->wholes[!end] == rows) {
            reader->line = names->list_lines[end];
            return table_reader_fail(reader, TR_EFORMAT,
                                     "%s holds several IDs; write a row for each edge, as "
                                     "pandas does by str.split() and explode()",
                                     table_reader_show_column(reader, columns[end], shown));
        }
    }
    for (int end = 0; end < 2; end++) {
        if (names->fractions[end] != rows)
            continue;
        reader->line = names->fraction_lines[end];
        return table_reader_fail(reader, TR_EFORMAT,
                                 "%s holds numbers with a fraction, no names of nodes; name "
                                 "another by \"%s\", or write IDs as whole numbers, as pandas does "
                                 "after astype('int64')",
                                 table_reader_show_column(reader, columns[end], shown),
                                 end == 0 ? "source" : "target");
    }
    return 0;
}

int end_names_check_signs(const struct end_names *names, struct table_reader *reader,
                          const struct table_options *options, struct table_found *found)
{
    const struct id_range *columns = names->columns, *ends = names->signs.ends;
    const uint32_t count = reader->names.count;
    if (!names->chosen || names->words)
        return 0;
    if (count == 3 && columns[2].most < UINT64_MAX &&
        end_signs_are_triples(names->signs.rows, columns))
        return error_set(reader->text.error, TR_EFORMAT,
                         "%s: column 2 has numbers up to %" PRIu64
                         " only, columns 1 and 3 up to %" PRIu64 " and %" PRIu64
                         ": column 2 seems to be a relation between two nodes; say which are the "
                         "ends by \"source\" 1 and \"target\" 3, or 2",
                         options->edges, columns[1].most, columns[0].most, columns[2].most);
    if (options->source_prefix != NULL || options->target_prefix != NULL ||
        !end_signs_are_two_kinds(&names->signs))
        return 0;
    found->maybe_two_kinds = true;
    if (count < 3)
        return 0;
    return error_set(reader->text.error, TR_EFORMAT,
                     "%s: columns 1 and 2 seem to number two kinds of things, as users and films, "
                     "each from %" PRIu64 " on, the first to %" PRIu64 " and the second to %" PRIu64
                     ": here things of the same number would be one node; make them two by "
                     "\"source_prefix\" u, or say that they are one kind by \"source\" 1 and "
                     "\"target\" 2",
                     options->edges, ends[0].least, ends[0].most, ends[1].most);
}

/* The usual spelling of a whole number, where the name has another one: 1 of 001 and 1.0. */
static bool usual_spelling(struct id_text name, struct id_text *usual)
{
    uint32_t begin = 0, end = 0;
    while (end < name.length && isdigit((unsigned char)name.at[end]))
        end++;
    while (begin + 1 < end && name.at[begin] == '0')
        begin++;
    bool zeroes = end + 1 < name.length && name.at[end] == '.';
    for (uint32_t i = end + 1; zeroes && i < name.length; i++)
        zeroes = name.at[i] == '0';
    *usual = (struct id_text){ name.at + begin, end - begin };
    return end > 0 && (end == name.length ? begin > 0 : zeroes);
}

void end_names_find_spellings(const struct id_map *ids, uint64_t *found,
                              char pair[TABLE_DOUBTED_MAX])
{
    uint64_t looked = 0;
    *found = 0;
    for (uint64_t i = 0; i < ids->count && looked < SPELLINGS_MAX; i++) {
        const struct id_text name = id_map_text(ids, i);
        struct id_text usual;
        uint64_t number;
        if (!usual_spelling(name, &usual))
            continue;
        looked++;
        id_map_find(ids, &usual, 1, &number);
        if (number != ID_NONE && (*found)++ == 0)
            snprintf(pair, TABLE_DOUBTED_MAX, "%.*s and %.*s",
                     (int)(name.length < 24 ? name.length : 24), name.at,
                     (int)(usual.length < 24 ? usual.length : 24), usual.at);
    }
}
