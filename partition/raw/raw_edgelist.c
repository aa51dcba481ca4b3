/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edge lists as text: "source destination" a line, plain or gzip.
 *
 *  - IDs are whole numbers from 0; between them blanks or tabs, and one ',' or ';' (or the
 *    delimiter that was asked for).
 *  - Lines that are empty or begin with '#' or '%' are skipped, and so is a header: a first line
 *    that begins with a letter, '_' or '"'.
 *  - Columns after the second are not read, but every line must have as many as the first.
 *  - undirected: each line also stands for its reverse, right after it, unless both ends are one.
 */
#include <inttypes.h>

#include "partition/raw/raw_memory.h"
#include "partition/raw/text.h"

static bool begins_header(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '"';
}

/* The gap between two columns. */
enum gap { GAP_NONE, GAP_BLANKS, GAP_DELIMITER };

/* Blanks, at most one delimiter, blanks. */
static enum gap skip_delimiter(struct text *text, char delimiter)
{
    int c = text_peek(text);
    bool blanks = c == ' ' || c == '\t' || c == '\r';
    text_skip_blanks(text);
    c = text_peek(text);
    if (c != TEXT_END && (delimiter != '\0' ? c == delimiter : c == ',' || c == ';')) {
        text->at++;
        text_skip_blanks(text);
        return GAP_DELIMITER;
    }
    return blanks ? GAP_BLANKS : GAP_NONE;
}

/* Counts the columns that are left on the line, and ends it. */
static uint32_t skip_columns(struct text *text, char delimiter)
{
    uint32_t columns = 0;
    for (;;) {
        enum gap gap = skip_delimiter(text, delimiter);
        int c = text_peek(text);
        bool ended = c == '\n' || c == TEXT_END;
        /* A delimiter at the end of the line stands before an empty column. */
        columns += ended ? gap == GAP_DELIMITER : gap != GAP_NONE;
        if (c == '\n')
            text_skip(text);
        if (ended)
            return columns;
        while ((c = text_peek(text)) != TEXT_END && c != '\n' && c != ' ' && c != '\t' &&
               c != '\r' && (delimiter != '\0' ? c != delimiter : c != ',' && c != ';'))
            text->at++;
        /* Where two delimiters have nothing between them, the next round takes the second. */
    }
}

static int parse_line(struct text *text, const struct raw_options *options, struct pairs *pairs,
                      uint32_t *columns)
{
    uint64_t bound = options->num_nodes > 0 ? options->num_nodes : RAW_NODES_MAX, src, dst;
    uint64_t line = text->line;
    int rv = text_number(text, bound, "the source ID", &src);
    if (rv != 0)
        return rv;
    if (skip_delimiter(text, options->delimiter) == GAP_NONE && text->rv == 0 &&
        text_peek(text) != '\n' && text_peek(text) != TEXT_END)
        return text_fail(text, TR_EFORMAT, "'%c' stands between IDs, the delimiter is '%c'",
                         text_peek(text), options->delimiter);
    rv = text_number(text, bound, "the destination ID", &dst);
    if (rv != 0)
        return rv;
    uint32_t extra = skip_columns(text, options->delimiter);
    if (text->rv != 0)
        return text->rv;
    if (*columns == UINT32_MAX)
        *columns = extra;
    if (extra != *columns) {
        text->line = line;
        return text_fail(text, TR_EFORMAT, "has %u columns, the first edge has %u", extra + 2,
                         *columns + 2);
    }
    rv = pairs_add(pairs, src, dst);
    if (rv == 0 && options->undirected && src != dst)
        rv = pairs_add(pairs, dst, src);
    return rv == 0 ? 0 : text_fail(text, rv, "no memory for %" PRIu64 " edges", pairs->count);
}

int raw_parse_edgelist(const char *path, const struct raw_options *options, struct pairs *pairs,
                       uint64_t *header_line, struct error *error)
{
    struct text text;
    uint32_t columns = UINT32_MAX;
    int rv = text_open(&text, options->files, path, options->cancel, error);
    if (rv != 0)
        return rv;
    text.delimiter = options->delimiter;
    text_skip_comments(&text, true);
    *header_line = begins_header(text_peek(&text)) ? text.line : 0;
    if (*header_line != 0)
        text_skip_line(&text);
    text_skip_comments(&text, true);
    while (rv == 0 && text_peek(&text) != TEXT_END) {
        rv = parse_line(&text, options, pairs, &columns);
        text_skip_comments(&text, true);
    }
    rv = text.rv;
    text_close(&text);
    return rv;
}

int raw_open_edgelist(const char *path, const struct raw_options *options, struct raw_graph **out,
                      struct error *error)
{
    struct pairs pairs = { 0 };
    uint64_t header_line = 0;
    int rv = raw_parse_edgelist(path, options, &pairs, &header_line, error);
    if (rv != 0) {
        pairs_fini(&pairs);
        return rv;
    }
    uint64_t num_nodes = pairs.count > 0 ? pairs.largest + 1 : 0;
    if (options->num_nodes > num_nodes)
        num_nodes = options->num_nodes;
    rv = raw_memory_graph(path, &pairs, num_nodes, out, error);
    if (rv == 0)
        (*out)->header_line = header_line;
    return rv;
}
