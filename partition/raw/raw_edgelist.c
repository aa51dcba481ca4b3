/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edge lists as text: a source and a destination a line, plain or packed.
 *
 *  - IDs are whole numbers from first_id on, also in quotation marks; between them blanks or tabs,
 *    and one ',' or ';' (or the delimiter that was asked for, or that the header has).
 *  - Lines that are empty or begin with '#' or '%' are skipped, and so is a header: a first line
 *    whose first name begins as a word does.
 *  - The two columns are found by column_roles.h; without a header and a word of the user's they
 *    are the first and the second. Other columns are not read, but every line has as many as the
 *    first one.
 *  - undirected: each line also stands for its reverse, right after it, unless both ends are one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "partition/raw/column_roles.h"
#include "partition/raw/duplicates.h"
#include "partition/raw/raw_memory.h"
#include "partition/raw/text.h"
#include "runtime/base/printable.h"

/* Two IDs of 18 digits, which 64 bits hold, a separator and the end of the line fit. */
#define PLAIN_DIGITS_MAX 18
#define PLAIN_LINE_MAX 40

/* A graph most of whose nodes have no edge is a mistake, unless it is small or that is said: such
 * IDs are times, hashes or codes. An edge has two ends, so that 16 nodes for each mean 14 without
 * one. */
#define SPARSE_NODES_MIN ((uint64_t)1 << 20)
#define SPARSE_NODES_PER_EDGE 16

/* What to do about a text that is not understood, by those who read it. */
static const struct remedies {
    const char *unknown, *times, *first, *names;
} REMEDIES[] = {
    [RAW_REMEDY_OPTIONS] = { "name them by \"source\" and \"target\"",
                             "name other columns by \"source\" and \"target\"", "set first_id",
                             "`troupe import table` reads names and numbers them" },
    [RAW_REMEDY_IMPORT] = { "import it first: troupe import edges FILE --source NAME --target NAME",
                            "import other columns: troupe import edges FILE --source NAME --target "
                            "NAME",
                            "import it first: troupe import edges FILE --first-id 1",
                            "import names first: troupe import table --edges FILE" },
    [RAW_REMEDY_FILE] = { "leave the two columns of IDs alone in the file",
                          "leave the two columns of IDs alone in the file", "number them from 0",
                          "number the nodes from 0" },
};

/* The smallest and the largest number of a column, each less first_id. */
struct id_range {
    uint64_t least, most;
};

struct edge_list {
    struct text text;
    const struct raw_options *options;
    struct pairs *pairs;
    struct raw_edges_found *found;
    struct edge_columns columns;
    char delimiter;
    uint64_t num_nodes; /* IDs less first_id are below */
    uint64_t lines;     /* with an edge */
    struct id_range ends[2];
};

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
static void skip_to_line(struct text *text, char delimiter)
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

/* The message stands already; where there is an ID at all, it may be a name. */
static int fail_id(struct edge_list *list, int code, int begin)
{
    struct error *error = list->text.error;
    if (error == NULL || (code != TR_EFORMAT && code != TR_ERANGE) || begin == TEXT_END ||
        begin == '\n' || begin == '"' || is_delimiter(begin, list->delimiter))
        return code;
    const struct error inner = *error;
    return error_set(error, code, "%s; %s", inner.text, REMEDIES[list->options->remedy].names);
}

static int parse_id(struct edge_list *list, bool source, uint64_t *id)
{
    struct text *text = &list->text;
    const char *what = source ? "the source ID" : "the destination ID";
    uint64_t first = list->options->first_id, value;
    bool quoted = text_peek(text) == '"';
    if (quoted)
        text->at++;
    const int begin = text_peek(text);
    int rv = text_number(text, RAW_NODES_MAX, what, &value);
    if (rv != 0)
        return fail_id(list, rv, begin);
    if (quoted && text_peek(text) != '"')
        return text_fail(text, TR_EFORMAT, "%s has a quotation mark that is not closed", what);
    if (quoted)
        text->at++;
    if (value < first)
        return text_fail(text, TR_ERANGE, "%s is %" PRIu64 ", but first_id is %" PRIu64, what,
                         value, first);
    *id = value - first;
    if (*id < list->num_nodes)
        return 0;
    bool hint = first == 0 && value == list->num_nodes;
    return text_fail(text, TR_ERANGE, "%s is %" PRIu64 ", it must be below %" PRIu64 "%s%s", what,
                     value, first + list->num_nodes, hint ? "; where IDs begin at 1, " : "",
                     hint ? REMEDIES[list->options->remedy].first : "");
}

/* 0, TR_ENOMEM, or TR_EFORMAT where a self-loop is not allowed. */
static inline int add_edge(struct edge_list *list, uint64_t src, uint64_t dst)
{
    struct id_range *ends = list->ends;
    ends[0].least = src < ends[0].least ? src : ends[0].least;
    ends[0].most = src > ends[0].most ? src : ends[0].most;
    ends[1].least = dst < ends[1].least ? dst : ends[1].least;
    ends[1].most = dst > ends[1].most ? dst : ends[1].most;
    list->lines++;
    if (__builtin_expect(src == dst, 0)) {
        list->found->self_loops++;
        if (list->options->loops != RAW_LOOPS_KEEP)
            return list->options->loops == RAW_LOOPS_DROP ? 0 : TR_EFORMAT;
    }
    int rv = pairs_add(list->pairs, src, dst);
    if (rv == 0 && list->options->undirected && src != dst)
        rv = pairs_add(list->pairs, dst, src);
    return rv;
}

static int parse_line(struct edge_list *list)
{
    struct text *text = &list->text;
    uint64_t line = text->line, ids[2] = { 0, 0 };
    uint32_t count = 0;
    for (bool more = true; more;) {
        count++;
        int rv = count == list->columns.source   ? parse_id(list, true, &ids[0])
                 : count == list->columns.target ? parse_id(list, false, &ids[1])
                                                 : skip_field(text, list->delimiter);
        if (rv != 0)
            return rv;
        enum gap gap = skip_gap(text, list->delimiter);
        int c = text_peek(text);
        more = c != '\n' && c != TEXT_END;
        if (more && gap == GAP_NONE)
            return text_fail(text, TR_EFORMAT, "'%c' follows a column where a delimiter is needed",
                             c >= 32 && c < 127 ? c : '?');
        if (!more && count < list->columns.source)
            return text_fail(text, TR_EFORMAT, "the source ID is missing");
        if (!more && count < list->columns.target)
            return text_fail(text, TR_EFORMAT, "the destination ID is missing");
        /* A delimiter at the end of the line stands before an empty column. */
        count += !more && gap == GAP_DELIMITER;
    }
    if (text->rv != 0)
        return text->rv;
    if (list->found->num_columns == 0)
        list->found->num_columns = count;
    int rv = add_edge(list, ids[0], ids[1]);
    text->line = count != list->found->num_columns || rv != 0 ? line : text->line;
    if (count != list->found->num_columns)
        return text_fail(text, TR_EFORMAT, "has %u columns, the %s has %u", count,
                         list->found->header_line != 0 ? "header" : "first edge",
                         list->found->num_columns);
    if (rv == TR_ENOMEM)
        return text_fail(text, rv, "no memory for %" PRIu64 " edges", list->pairs->count);
    if (rv != 0)
        return text_fail(text, rv, "%" PRIu64 " leads to itself, and \"loops\" refuses that",
                         ids[0] + list->options->first_id);
    if (text_peek(text) == '\n')
        text_skip(text);
    return text->rv;
}

/* Up to PLAIN_DIGITS_MAX digits; returns where they end. */
static inline const uint8_t *take_digits(const uint8_t *c, uint64_t *value)
{
    const uint8_t *most = c + PLAIN_DIGITS_MAX;
    uint64_t number = 0;
    unsigned digit;
    for (; c < most && (digit = (unsigned)*c - '0') <= 9; c++)
        number = number * 10 + digit;
    *value = number;
    return c;
}

/*
 * The lines of two columns and nothing else that are whole in the block, which are nearly all
 * lines of nearly all files. Ends at the first that is not such a line, or is wrong; parse_line
 * then says what is wrong.
 */
static int take_plain_lines(struct edge_list *list)
{
    struct text *text = &list->text;
    const uint64_t first = list->options->first_id, num_nodes = list->num_nodes;
    const char delimiter = list->delimiter;
    const uint8_t *at = text->at, *end = text->end;
    uint64_t lines = 0;
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
        if (src == dst && list->options->loops == RAW_LOOPS_ERROR)
            break;
        rv = add_edge(list, src - first, dst - first);
        if (rv != 0)
            break;
        at = c + 1;
        lines++;
    }
    text->at = at;
    text->line += lines;
    return rv == 0 ? 0 : text_fail(text, rv, "no memory for %" PRIu64 " edges", list->pairs->count);
}

/* Fails with the line before the message. */
static int fail_columns(struct edge_list *list, int rv, const struct error *inner)
{
    return text_fail(&list->text, rv, "%s", inner->text);
}

/* Names are kept to be shown. */
static int keep_names(struct edge_list *list, const struct column_names *names)
{
    struct raw_edges_found *found = list->found;
    found->source_name = strdup(names->names[list->columns.source - 1]);
    found->target_name = strdup(names->names[list->columns.target - 1]);
    if (found->source_name == NULL || found->target_name == NULL)
        return text_fail(&list->text, TR_ENOMEM, "no memory for its columns");
    make_printable(found->source_name);
    make_printable(found->target_name);
    return 0;
}

static int choose_columns(struct edge_list *list, const struct column_names *names, bool header)
{
    const struct raw_options *options = list->options;
    struct error inner = { 0 };
    list->columns = (struct edge_columns){ 1, 2 };
    if (!header && options->source == NULL && options->target == NULL)
        return 0;
    int rv = edge_columns_choose(names, header, options->source, options->target,
                                 REMEDIES[options->remedy].unknown, &list->columns, &inner);
    if (rv != 0)
        return fail_columns(list, rv, &inner);
    list->delimiter = names->delimiter;
    if (!header)
        return 0;
    list->found->num_columns = names->count;
    list->found->two_kinds = list->found->two_kinds ||
                             edge_columns_are_two_kinds(names, list->columns);
    return keep_names(list, names);
}

/* Looks at the first line that is no comment, and skips it where it is a header. */
static int parse_first_line(struct edge_list *list)
{
    struct text *text = &list->text;
    struct column_names names;
    const char *line;
    size_t length;
    int c = text_peek(text);
    if (c == '{' || c == '[')
        return text_fail(
            text, TR_EFORMAT,
            "looks like JSON, not like edges; name the folder of a raw graph or a file "
            "with two IDs a line; `troupe import table` reads an object a line");
    int rv = text_look_line(text, &line, &length);
    if (rv != 0)
        return rv;
    rv = column_names_split(&names, line, length, list->options->delimiter);
    if (rv != 0)
        return text_fail(text, rv,
                         rv == TR_ENOMEM ? "no memory for its columns" : "has too many columns");
    bool header = column_names_are_header(&names);
    rv = choose_columns(list, &names, header);
    column_names_fini(&names);
    if (rv != 0 || !header)
        return rv;
    list->found->header_line = text->line;
    text_skip_line(text);
    return text->rv;
}

/* A Matrix Market file begins with what is a comment here, and its sizes look like an edge. Others
 * say in it that they are bipartite. */
static int look_at_banner(struct edge_list *list)
{
    struct text *text = &list->text;
    static const char BANNER[] = "%%MatrixMarket";
    const char *line;
    size_t length;
    if (text_peek(text) != '%')
        return text->rv;
    int rv = text_look_line(text, &line, &length);
    if (rv == 0 && length >= sizeof BANNER - 1 && memcmp(line, BANNER, sizeof BANNER - 1) == 0)
        rv = text_fail(text, TR_EFORMAT,
                       "is that of a Matrix Market file; give its name the end .mtx");
    list->found->two_kinds = rv == 0 && edge_banner_is_bipartite(line, length);
    return rv;
}

static int parse_lines(struct edge_list *list)
{
    struct text *text = &list->text;
    int rv = look_at_banner(list);
    skip_to_line(text, list->options->delimiter);
    if (rv == 0 && text_peek(text) != TEXT_END)
        rv = parse_first_line(list);
    bool plain = list->columns.source == 1 && list->columns.target == 2;
    while (rv == 0) {
        if (plain && list->found->num_columns == 2 && take_plain_lines(list) != 0)
            break;
        skip_to_line(text, list->delimiter);
        if (text_peek(text) == TEXT_END)
            break;
        rv = parse_line(list);
    }
    return text->rv;
}

/* Nodes that cannot have an edge: between the end of one column's numbers and the begin of the
 * other's. */
static uint64_t gap_between(const struct id_range *low, const struct id_range *high)
{
    return high->least > low->most ? high->least - low->most - 1 : 0;
}

/* The largest number and 1; also of a self-loop that was dropped. */
static uint64_t count_nodes(const struct edge_list *list)
{
    const struct id_range *ends = list->ends;
    return list->lines == 0 ? 0 : (ends[0].most > ends[1].most ? ends[0].most : ends[1].most) + 1;
}

/* What nobody means is refused, unless the number of nodes was said. */
static int check_ids(const struct edge_list *list, struct error *error)
{
    const struct id_range *source = &list->ends[0], *target = &list->ends[1];
    const uint64_t nodes = count_nodes(list), first = list->options->first_id;
    const char *path = list->text.path;
    if (list->lines == 0)
        return error_set(error, TR_EFORMAT, "%s: holds no edge%s", path,
                         list->found->header_line != 0 ? ", only a header" : "");
    if (list->pairs->count == 0)
        return error_set(error, TR_EFORMAT,
                         "%s: holds no edge but self-loops, which \"loops\" drops", path);
    if (list->options->num_nodes > 0 || nodes <= SPARSE_NODES_MIN)
        return 0;
    bool sparse = nodes / SPARSE_NODES_PER_EDGE > list->lines;
    if (!sparse && gap_between(source, target) <= nodes / 2 &&
        gap_between(target, source) <= nodes / 2)
        return 0;
    return error_set(
        error, TR_ERANGE,
        "%s: column %u runs from %" PRIu64 " to %" PRIu64 ", column %u from %" PRIu64 " to %" PRIu64
        ", in %" PRIu64 " edges, so that most nodes had none; if these "
        "are times, %s; number the nodes from 0, or set num_nodes if the IDs are meant",
        path, list->columns.source, source->least + first, source->most + first,
        list->columns.target, target->least + first, target->most + first, list->lines,
        REMEDIES[list->options->remedy].times);
}

/* Fills found in and forgets duplicates, where that was asked for. */
static int finish_edges(struct edge_list *list, struct error *error)
{
    struct raw_edges_found *found = list->found;
    const struct id_range *ends = list->ends;
    const uint64_t first = list->options->first_id;
    found->source_column = list->columns.source;
    found->target_column = list->columns.target;
    if (list->lines > 0) {
        found->smallest_id = (ends[0].least < ends[1].least ? ends[0].least : ends[1].least) +
                             first;
        found->largest_id = count_nodes(list) - 1 + first;
    }
    /* Numbers that one column alone has are of one kind. */
    found->two_kinds = found->two_kinds && ends[0].least <= ends[1].most &&
                       ends[1].least <= ends[0].most;
    if (list->options->duplicates == RAW_DUPLICATES_KEEP)
        return 0;
    struct duplicate one;
    int rv = duplicates_find(list->pairs, list->options->duplicates == RAW_DUPLICATES_MERGE,
                             list->options->cancel, &found->duplicates, &one, NULL);
    if (rv == TR_ECANCELED)
        return error_set(error, rv, "%s: interrupted among duplicates", list->text.path);
    if (rv != 0)
        return error_set(error, rv, "%s: no memory to look for duplicates", list->text.path);
    if (found->duplicates == 0 || list->options->duplicates != RAW_DUPLICATES_ERROR)
        return 0;
    return error_set(error, TR_EFORMAT,
                     "%s: the edge from %" PRIu64 " to %" PRIu64 " is there more than once, as are "
                     "%" PRIu64 " edges in all, and \"duplicates\" refuses that",
                     list->text.path, one.src + first, one.dst + first, found->duplicates);
}

/* checked: what nobody means is refused too. */
static int parse_edges(const char *path, const struct raw_options *options, struct pairs *pairs,
                       struct raw_edges_found *found, bool checked, struct error *error)
{
    struct edge_list list = { .options = options, .pairs = pairs, .found = found };
    *found = (struct raw_edges_found){ 0 };
    int rv = text_open(&list.text, options->files, path, options->cancel, error);
    if (rv != 0)
        return rv;
    list.text.delimiter = list.delimiter = options->delimiter;
    list.num_nodes = options->num_nodes > 0 ? options->num_nodes
                                            : RAW_NODES_MAX - options->first_id;
    list.columns = (struct edge_columns){ 1, 2 };
    list.ends[0] = list.ends[1] = (struct id_range){ UINT64_MAX, 0 };
    rv = parse_lines(&list);
    if (rv == 0 && checked)
        rv = check_ids(&list, error);
    if (rv == 0)
        rv = finish_edges(&list, error);
    text_close(&list.text);
    if (rv != 0)
        raw_edges_found_fini(found);
    return rv;
}

int raw_parse_edgelist(const char *path, const struct raw_options *options, struct pairs *pairs,
                       struct raw_edges_found *found, struct error *error)
{
    return parse_edges(path, options, pairs, found, false, error);
}

int raw_open_edgelist(const char *path, const struct raw_options *options, struct raw_graph **out,
                      struct error *error)
{
    struct pairs pairs = { 0 };
    struct raw_edges_found found;
    if (options->first_id >= RAW_NODES_MAX)
        return error_set(error, TR_EINVAL, "%s: first_id %" PRIu64 " is not below %" PRIu64, path,
                         options->first_id, RAW_NODES_MAX);
    int rv = parse_edges(path, options, &pairs, &found, true, error);
    if (rv != 0) {
        pairs_fini(&pairs);
        return rv;
    }
    uint64_t num_nodes = options->num_nodes > 0 ? options->num_nodes
                                                : found.largest_id - options->first_id + 1;
    rv = raw_memory_graph(path, &pairs, num_nodes, out, error);
    if (rv == 0)
        (*out)->found = found;
    else
        raw_edges_found_fini(&found);
    return rv;
}
