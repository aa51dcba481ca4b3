/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* le64toh */
#include "partition/raw/edge_lines.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

/* Two IDs of 18 digits, which 64 bits hold, a separator and the end of the line fit. */
#define PLAIN_DIGITS_MAX 18
#define PLAIN_LINE_MAX 40

static const struct edge_remedies REMEDIES[] = {
    [RAW_REMEDY_OPTIONS] = { "name them by \"source\" and \"target\"",
                             "name other columns by \"source\" and \"target\"", "set first_id",
                             "`troupe import table` reads names and numbers them",
                             "import them by `troupe import table --source-prefix u`, or say "
                             "that they are one kind by \"source\" 1 and \"target\" 2",
                             "say which are the ends by \"source\" 1 and \"target\" 3, or 2" },
    [RAW_REMEDY_IMPORT] = { "import it first: troupe import edges FILE --source NAME --target NAME",
                            "import other columns: troupe import edges FILE --source NAME --target "
                            "NAME",
                            "import it first: troupe import edges FILE --first-id 1",
                            "import names first: troupe import table --edges FILE",
                            "import it first: troupe import table --edges FILE --source-prefix u, "
                            "or, where they are one kind, troupe import edges FILE --source 1 "
                            "--target 2",
                            "import it first: troupe import edges FILE --source 1 --target 3, or "
                            "2" },
    [RAW_REMEDY_FILE] = { "leave the two columns of IDs alone in the file",
                          "leave the two columns of IDs alone in the file", "number them from 0",
                          "number the nodes from 0", "number all of them together, from 0",
                          "leave the two columns of IDs alone in the file" },
};

const struct edge_remedies *edge_remedies_of(enum raw_remedy remedy)
{
    return &REMEDIES[remedy];
}

/* The gap between two columns. */
enum gap { GAP_NONE, GAP_BLANKS, GAP_DELIMITER };

static bool is_blank(int c, char delimiter)
{
    return c == ' ' || c == '\r' || (c == '\t' && delimiter != '\t');
}

static bool is_delimiter(int c, char delimiter)
{
    return c != TEXT_END && (delimiter != '\0' ? c == delimiter : c == ',' || c == ';');
}

/* Blanks, at most one delimiter, blanks. */
static enum gap skip_gap(struct text *text, char delimiter)
{
    enum gap gap = GAP_NONE;
    for (; is_blank(text_peek(text), delimiter); text->at++)
        gap = GAP_BLANKS;
    if (is_delimiter(text_peek(text), delimiter)) {
        text->at++;
        gap = GAP_DELIMITER;
        while (is_blank(text_peek(text), delimiter))
            text->at++;
    }
    return gap;
}

/* Blanks, empty lines and comments. */
void edge_lines_skip(struct text *text, char delimiter)
{
    for (;;) {
        int c = text_peek(text);
        if (is_blank(c, delimiter))
            text->at++;
        else if (c == '\n')
            text_skip(text);
        else if (c == '#' || c == '%')
            text_skip_line(text);
        else
            return;
    }
}

/* A field that is not read. One delimiter that is no blank lets blanks stand in it. */
static int skip_field(struct text *text, char delimiter)
{
    int c = text_peek(text);
    if (c == '"') {
        int rv = text_skip_quoted(text);
        if (rv != 0)
            return rv;
    }
    bool blanks_part = delimiter == '\0' || delimiter == ' ';
    while ((c = text_peek(text)) != TEXT_END && c != '\n' && !is_delimiter(c, delimiter) &&
           !(blanks_part && is_blank(c, delimiter)))
        text->at++;
    return text->rv;
}

/* Skips a third column, and notes the whole number in it. */
static int note_third(struct edge_lines *lines)
{
    struct text *text = lines->text;
    uint64_t number = 0;
    uint32_t digits = 0;
    for (int c; digits < PLAIN_DIGITS_MAX && (c = text_peek(text)) >= '0' && c <= '9'; digits++) {
        number = number * 10 + (uint64_t)(c - '0');
        text->at++;
    }
    const int c = text_peek(text);
    if (digits > 0 && (c == TEXT_END || c == '\n' || is_blank(c, lines->delimiter) ||
                       is_delimiter(c, lines->delimiter))) {
        lines->tally.thirds++;
        id_range_add(&lines->tally.third, number, number);
    }
    return skip_field(text, lines->delimiter);
}

/* Whether the message has '1.0' or so in it. */
static bool names_whole_fraction(const char *message)
{
    const char *at = strchr(message, '\'');
    if (at == NULL)
        return false;
    at += 1 + strspn(at + 1, "0123456789");
    return *at == '.' && at[1 + strspn(at + 1, "0")] == '\'';
}

/* The message stands already; where there is an ID at all, it may be a name. */
static int fail_id(struct edge_lines *lines, int code, int begin)
{
    struct error *error = lines->text->error;
    if (error == NULL || (code != TR_EFORMAT && code != TR_ERANGE) || begin == TEXT_END ||
        begin == '\n' || begin == '"' || is_delimiter(begin, lines->delimiter))
        return code;
    const struct error inner = *error;
    /* Tables take no such names either. */
    if (names_whole_fraction(inner.text))
        return error_set(error, code,
                         "%s; write IDs without a fraction, as pandas does after "
                         "astype(\"int64\")",
                         inner.text);
    return error_set(error, code, "%s; %s", inner.text, REMEDIES[lines->options->remedy].names);
}

static int parse_id(struct edge_lines *lines, bool source, uint64_t *id)
{
    struct text *text = lines->text;
    const char *what = source ? "the source ID" : "the destination ID";
    uint64_t first = lines->options->first_id, value;
    bool quoted = text_peek(text) == '"';
    if (quoted)
        text->at++;
    const int begin = text_peek(text);
    int rv = text_number(text, RAW_NODES_MAX, what, &value);
    if (rv != 0)
        return fail_id(lines, rv, begin);
    if (quoted && text_peek(text) != '"')
        return text_fail(text, TR_EFORMAT, "%s has a quotation mark that is not closed", what);
    if (quoted)
        text->at++;
    if (value < first)
        return text_fail(text, TR_ERANGE, "%s is %" PRIu64 ", but first_id is %" PRIu64, what,
                         value, first);
    *id = value - first;
    if (*id < lines->num_nodes)
        return 0;
    bool hint = first == 0 && value == lines->num_nodes;
    return text_fail(text, TR_ERANGE, "%s is %" PRIu64 ", it must be below %" PRIu64 "%s%s", what,
                     value, first + lines->num_nodes, hint ? "; where IDs begin at 1, " : "",
                     hint ? REMEDIES[lines->options->remedy].first : "");
}

void edge_tally_add(struct edge_tally *tally, const struct edge_tally *more)
{
    tally->lines += more->lines;
    tally->self_loops += more->self_loops;
    tally->thirds += more->thirds;
    id_range_add(&tally->third, more->third.least, more->third.most);
    for (int i = 0; i < 2; i++)
        id_range_add(&tally->ends[i], more->ends[i].least, more->ends[i].most);
}

/* 0, TR_ENOMEM, or TR_EFORMAT where a self-loop is not allowed; then the line does not count. */
static inline int add_edge(const struct edge_lines *lines, struct edge_tally *tally, uint64_t src,
                           uint64_t dst)
{
    struct pairs *pairs = lines->pairs;
    const bool loop = __builtin_expect(src == dst, 0);
    if (loop && lines->options->loops == RAW_LOOPS_ERROR)
        return TR_EFORMAT;
    if (!loop || lines->options->loops == RAW_LOOPS_KEEP) {
        int rv = pairs_add(pairs, src, dst);
        if (rv == 0 && lines->options->undirected && !loop) {
            rv = pairs_add(pairs, dst, src);
            pairs->count -= rv != 0;
        }
        if (rv != 0)
            return rv;
    }
    id_range_add(&tally->ends[0], src, src);
    id_range_add(&tally->ends[1], dst, dst);
    tally->self_loops += loop;
    tally->lines++;
    return 0;
}

static int fail_memory(struct edge_lines *lines, int rv)
{
    return text_fail(lines->text, rv, "no memory for %" PRIu64 " edges", lines->pairs->count);
}

static int parse_line(struct edge_lines *lines)
{
    struct text *text = lines->text;
    uint64_t line = text->line, ids[2] = { 0, 0 };
    uint32_t count = 0;
    for (bool more = true; more;) {
        count++;
        int rv = count == lines->columns.source   ? parse_id(lines, true, &ids[0])
                 : count == lines->columns.target ? parse_id(lines, false, &ids[1])
                 : count == 3 && lines->guessed   ? note_third(lines)
                                                  : skip_field(text, lines->delimiter);
        if (rv != 0)
            return rv;
        enum gap gap = skip_gap(text, lines->delimiter);
        int c = text_peek(text);
        more = c != '\n' && c != TEXT_END;
        if (more && gap == GAP_NONE)
            return text_fail(text, TR_EFORMAT, "'%c' follows a column where a delimiter is needed",
                             c >= 32 && c < 127 ? c : '?');
        if (!more && count < lines->columns.source)
            return text_fail(text, TR_EFORMAT, "the source ID is missing");
        if (!more && count < lines->columns.target)
            return text_fail(text, TR_EFORMAT, "the destination ID is missing");
        /* A delimiter at the end of the line stands before an empty column. */
        count += !more && gap == GAP_DELIMITER;
    }
    if (text->rv != 0)
        return text->rv;
    if (lines->num_columns == 0)
        lines->num_columns = count;
    const bool fits = count == lines->num_columns;
    int rv = fits ? add_edge(lines, &lines->tally, ids[0], ids[1]) : TR_EFORMAT;
    text->line = rv != 0 ? line : text->line;
    if (!fits)
        return text_fail(text, rv, "has %u columns, the %s has %u", count,
                         lines->header ? "header" : "first edge", lines->num_columns);
    if (rv == TR_ENOMEM)
        return fail_memory(lines, rv);
    if (rv != 0)
        return text_fail(text, rv, "%" PRIu64 " leads to itself, and \"loops\" refuses that",
                         ids[0] + lines->options->first_id);
    if (text_peek(text) == '\n')
        text_skip(text);
    return text->rv;
}

/* Up to PLAIN_DIGITS_MAX digits; returns where they end. Eight bytes can be read.
 *
 * Eight characters are looked at as one number, since a branch at the end of each ID, whose length
 * no processor guesses, costs more than all of its digits. The first of them is the lowest byte. A
 * byte less '0' is a digit where adding 0x76 does not reach 0x80; a carry out of one that is none
 * only reaches those behind it. Digits are moved to the end of the number, so that zeroes come
 * before them, and neighbours are put together three times: to numbers of 2, 4 and 8 digits. */
static inline const uint8_t *take_digits(const uint8_t *c, uint64_t *value)
{
    const uint8_t *most = c + PLAIN_DIGITS_MAX;
    uint64_t number;
    memcpy(&number, c, sizeof number);
    number = le64toh(number) ^ UINT64_C(0x3030303030303030);
    const uint64_t others = ((number + UINT64_C(0x7676767676767676)) | number) &
                            UINT64_C(0x8080808080808080);
    const unsigned count = others == 0 ? 8 : (unsigned)__builtin_ctzll(others) / 8;
    *value = 0;
    if (count == 0)
        return c;
    number <<= 64 - 8 * count;
    number = (number * 10 + (number >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    number = (number * 100 + (number >> 16)) & UINT64_C(0x0000ffff0000ffff);
    number = (number * 10000 + (number >> 32)) & UINT32_MAX;
    c += count;
    unsigned digit;
    for (; count == 8 && c < most && (digit = (unsigned)*c - '0') <= 9; c++)
        number = number * 10 + digit;
    *value = number;
    return c;
}

/*
 * The lines of two columns and nothing else that are whole in the block, which are nearly all
 * lines of nearly all files. Ends at the first that is not such a line, or is wrong; parse_line
 * then says what is wrong.
 */
static int take_plain_lines(struct edge_lines *lines)
{
    struct text *text = lines->text;
    const uint64_t first = lines->options->first_id, num_nodes = lines->num_nodes;
    const char delimiter = lines->delimiter;
    const uint8_t *at = text->at, *end = text->end;
    struct edge_tally tally = EDGE_TALLY_NONE;
    int rv = 0;
    while (end - at >= PLAIN_LINE_MAX) {
        uint64_t src, dst;
        const uint8_t *c = take_digits(at, &src);
        if (c == at || (!is_delimiter(*c, delimiter) && *c != ' ' && *c != '\t'))
            break;
        const uint8_t *second = c + 1;
        c = take_digits(second, &dst);
        bool empty = c == second;
        c += *c == '\r';
        if (empty || *c != '\n' || src < first || dst < first || src - first >= num_nodes ||
            dst - first >= num_nodes)
            break;
        if (src == dst && lines->options->loops == RAW_LOOPS_ERROR)
            break;
        rv = add_edge(lines, &tally, src - first, dst - first);
        if (rv != 0)
            break;
        at = c + 1;
    }
    text->at = at;
    text->line += tally.lines;
    edge_tally_add(&lines->tally, &tally);
    return rv == 0 ? 0 : fail_memory(lines, rv);
}

int edge_lines_take(struct edge_lines *lines)
{
    const uint8_t *at = lines->text->at;
    const bool plain = lines->num_columns == 2 && lines->columns.source == 1 &&
                       lines->columns.target == 2;
    if (plain) {
        int rv = take_plain_lines(lines);
        if (rv != 0 || lines->text->at != at)
            return rv;
    }
    return parse_line(lines);
}
