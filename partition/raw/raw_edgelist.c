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

#include "partition/raw/duplicates.h"
#include "partition/raw/edge_blocks.h"
#include "runtime/base/printable.h"

/* A graph most of whose nodes have no edge is a mistake, unless it is small or that is said: such
 * IDs are times, hashes or codes. An edge has two ends, so that 16 nodes for each mean 14 without
 * one. */
#define SPARSE_NODES_MIN ((uint64_t)1 << 20)
#define SPARSE_NODES_PER_EDGE 16

/* Pairs that a sink takes at once. */
#define SUNK_AT_ONCE ((uint64_t)1 << 15)
/* Pairs that are looked at at once. */
#define SIGNS_AT_ONCE ((uint64_t)1024)

struct edge_list {
    struct text text;
    const struct raw_options *options;
    struct raw_edges_found *found;
    struct edge_lines lines;
    struct edge_blocks blocks;    /* that lie ahead */
    const struct edge_sink *sink; /* NULL: the pairs are kept */
    uint64_t sunk;                /* edges that it has taken */
    struct end_signs signs;       /* of columns that are guessed */
    bool behind;                  /* the reverse of what was noted comes next */
};

static const struct edge_remedies *remedies_of(const struct edge_list *list)
{
    return edge_remedies_of(list->options->remedy);
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
    found->source_name = strdup(names->names[list->lines.columns.source - 1]);
    found->target_name = strdup(names->names[list->lines.columns.target - 1]);
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
    list->lines.columns = (struct edge_columns){ 1, 2 };
    list->lines.guessed = !header && options->source == NULL && options->target == NULL;
    if (list->lines.guessed)
        return end_signs_init(&list->signs) == 0
                   ? 0
                   : text_fail(&list->text, TR_ENOMEM, "no memory to look at its edges");
    int rv = edge_columns_choose(names, header, options->source, options->target,
                                 remedies_of(list)->unknown, &list->lines.columns, &inner);
    if (rv != 0)
        return fail_columns(list, rv, &inner);
    list->lines.delimiter = names->delimiter;
    if (!header)
        return 0;
    list->lines.header = true;
    list->lines.num_columns = names->count;
    list->found->two_kinds = list->found->two_kinds ||
                             edge_columns_are_two_kinds(names, list->lines.columns);
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
 * say in it that they are bipartite or undirected. */
static int look_at_banner(struct edge_list *list)
{
    struct text *text = &list->text;
    static const char BANNER[] = "%%MatrixMarket";
    const char *line;
    size_t length;
    const int first = text_peek(text);
    /* A comment may be of any length: its begin says enough. */
    if (first == '#')
        list->found->says_undirected = edge_banner_is_undirected((const char *)text->at,
                                                                 (size_t)(text->end - text->at));
    if (first != '%')
        return text->rv;
    int rv = text_look_line(text, &line, &length);
    if (rv == 0 && length >= sizeof BANNER - 1 && memcmp(line, BANNER, sizeof BANNER - 1) == 0)
        rv = text_fail(text, TR_EFORMAT,
                       "is that of a Matrix Market file; give its name the end .mtx");
    list->found->two_kinds = rv == 0 && edge_banner_is_bipartite(line, length);
    list->found->says_undirected = rv == 0 && edge_banner_is_undirected(line, length);
    return rv;
}

/* Notes pairs that were not looked at. An edge's reverse stands behind it. */
static void note_signs(struct edge_list *list)
{
    const struct pairs *pairs = list->lines.pairs;
    uint64_t src[SIGNS_AT_ONCE], dst[SIGNS_AT_ONCE], at = 0;
    while (list->signs.seen[0] != NULL && at < pairs->count && list->signs.rows < END_SIGNS_ROWS) {
        const uint64_t left = pairs->count - at, some = left < SIGNS_AT_ONCE ? left : SIGNS_AT_ONCE;
        pairs_read(pairs, at, some, src, dst);
        for (uint64_t i = 0; i < some; i++) {
            list->behind = list->options->undirected && !list->behind && src[i] != dst[i];
            if (!list->options->undirected || list->behind || src[i] == dst[i])
                end_signs_note(&list->signs, src[i], dst[i]);
        }
        at += some;
    }
}

/* The sink takes pairs in pieces that a core's cache holds, the last of them at the end. */
static int sink_pairs(struct edge_list *list, bool all)
{
    struct pairs *pairs = list->lines.pairs;
    if (list->sink == NULL || pairs->count < (all ? 1 : SUNK_AT_ONCE))
        return 0;
    note_signs(list);
    int rv = list->sink->take(list->sink->arg, pairs, list->text.error);
    list->sunk += pairs->count;
    pairs->count = 0;
    return rv;
}

static int parse_lines(struct edge_list *list)
{
    struct text *text = &list->text;
    int rv = look_at_banner(list);
    edge_lines_skip(text, list->options->delimiter);
    if (rv == 0 && text_peek(text) != TEXT_END)
        rv = parse_first_line(list);
    while (rv == 0 && (rv = sink_pairs(list, false)) == 0) {
        edge_lines_skip(text, list->lines.delimiter);
        if (text_peek(text) == TEXT_END)
            break;
        if (edge_blocks_take(&list->lines))
            continue;
        rv = edge_lines_take(&list->lines);
        /* What a row looks like is known with the first one. */
        if (rv == 0 && list->blocks.like.num_columns == 0)
            edge_blocks_start(&list->blocks, &list->lines);
    }
    if (rv == 0 && text->rv == 0)
        rv = sink_pairs(list, true);
    return text->rv != 0 ? text->rv : rv;
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
    const struct id_range *ends = list->lines.tally.ends;
    return list->lines.tally.lines == 0
               ? 0
               : (ends[0].most > ends[1].most ? ends[0].most : ends[1].most) + 1;
}

/* What nobody means is refused, unless the number of nodes was said. */
static int check_ids(const struct edge_list *list, struct error *error)
{
    const struct edge_tally *tally = &list->lines.tally;
    const struct id_range *source = &tally->ends[0], *target = &tally->ends[1];
    const uint64_t nodes = count_nodes(list), first = list->options->first_id;
    const char *path = list->text.path;
    if (tally->lines == 0)
        return error_set(error, TR_EFORMAT, "%s: holds no edge%s", path,
                         list->found->header_line != 0 ? ", only a header" : "");
    if (list->sunk + list->lines.pairs->count == 0)
        return error_set(error, TR_EFORMAT,
                         "%s: holds no edge but self-loops, which \"loops\" drops", path);
    if (list->options->num_nodes > 0 || nodes <= SPARSE_NODES_MIN)
        return 0;
    bool sparse = nodes / SPARSE_NODES_PER_EDGE > tally->lines;
    if (!sparse && gap_between(source, target) <= nodes / 2 &&
        gap_between(target, source) <= nodes / 2)
        return 0;
    return error_set(
        error, TR_ERANGE,
        "%s: column %u runs from %" PRIu64 " to %" PRIu64 ", column %u from %" PRIu64 " to %" PRIu64
        ", in %" PRIu64 " edges, so that most nodes had none; if these "
        "are times, %s; number the nodes from 0, or set num_nodes if the IDs are meant",
        path, list->lines.columns.source, source->least + first, source->most + first,
        list->lines.columns.target, target->least + first, target->most + first, tally->lines,
        remedies_of(list)->times);
}

/* Numbers in columns without names that are not what two columns of nodes have. */
static int check_signs(struct edge_list *list, struct error *error)
{
    const struct edge_tally *tally = &list->lines.tally;
    const uint64_t first = list->options->first_id;
    const struct id_range *ends = list->signs.ends;
    const struct id_range columns[] = {
        { tally->ends[0].least, tally->ends[0].most },
        { tally->ends[1].least, tally->ends[1].most },
        { tally->third.least < first ? 0 : tally->third.least - first,
          tally->third.most < first ? 0 : tally->third.most - first }
    };
    if (!list->lines.guessed)
        return 0;
    if (list->sink == NULL)
        note_signs(list);
    if (list->lines.num_columns == 3 && tally->thirds == tally->lines &&
        end_signs_are_triples(tally->lines, columns))
        return error_set(error, TR_EFORMAT,
                         "%s: column 2 has numbers up to %" PRIu64
                         " only, columns 1 and 3 up to %" PRIu64 " and %" PRIu64
                         ": column 2 seems to be a relation between two nodes; %s",
                         list->text.path, columns[1].most + first, columns[0].most + first,
                         columns[2].most + first, remedies_of(list)->triples);
    if (!end_signs_are_two_kinds(&list->signs))
        return 0;
    list->found->maybe_two_kinds = true;
    if (list->lines.num_columns < 3)
        return 0;
    return error_set(error, TR_EFORMAT,
                     "%s: columns 1 and 2 seem to number two kinds of things, as users and films, "
                     "each from %" PRIu64 " on, the first to %" PRIu64 " and the second to %" PRIu64
                     ": here things of the same number would be one node; %s",
                     list->text.path, ends[0].least + first, ends[0].most + first,
                     ends[1].most + first, remedies_of(list)->two_kinds);
}

/* Fills found in and forgets duplicates, where that was asked for. */
static int finish_edges(struct edge_list *list, struct error *error)
{
    struct raw_edges_found *found = list->found;
    const struct edge_tally *tally = &list->lines.tally;
    const struct id_range *ends = tally->ends;
    const uint64_t first = list->options->first_id;
    found->source_column = list->lines.columns.source;
    found->target_column = list->lines.columns.target;
    found->num_columns = list->lines.num_columns;
    found->num_lines = tally->lines;
    found->self_loops = tally->self_loops;
    if (tally->lines > 0) {
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
    int rv = duplicates_find(list->lines.pairs, list->options->duplicates == RAW_DUPLICATES_MERGE,
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
                       const struct edge_sink *sink, struct raw_edges_found *found, bool checked,
                       struct error *error)
{
    struct edge_list list = { .options = options, .found = found, .sink = sink };
    *found = (struct raw_edges_found){ 0 };
    int rv = text_open_with(&list.text, options->files, path, &options->reading, options->cancel,
                            error);
    if (rv != 0)
        return rv;
    list.text.delimiter = options->delimiter;
    list.lines = (struct edge_lines){
        .text = &list.text,
        .options = options,
        .columns = { 1, 2 },
        .delimiter = options->delimiter,
        .num_nodes = options->num_nodes > 0 ? options->num_nodes
                                            : RAW_NODES_MAX - options->first_id,
        .pairs = pairs,
        .tally = EDGE_TALLY_NONE,
    };
    rv = parse_lines(&list);
    if (rv == 0 && checked)
        rv = check_ids(&list, error);
    if (rv == 0 && checked)
        rv = check_signs(&list, error);
    end_signs_fini(&list.signs);
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
    return parse_edges(path, options, pairs, NULL, found, false, error);
}

/* 0, or TR_EINVAL. */
static int check_first_id(const char *path, const struct raw_options *options, struct error *error)
{
    return options->first_id < RAW_NODES_MAX
               ? 0
               : error_set(error, TR_EINVAL, "%s: first_id %" PRIu64 " is not below %" PRIu64, path,
                           options->first_id, RAW_NODES_MAX);
}

int raw_stream_edgelist(const char *path, const struct raw_options *options,
                        const struct edge_sink *sink, struct raw_edges_found *found,
                        struct error *error)
{
    struct pairs pairs = { 0 };
    int rv = check_first_id(path, options, error);
    if (rv == 0)
        rv = parse_edges(path, options, &pairs, sink, found, true, error);
    pairs_fini(&pairs);
    return rv;
}

int raw_open_edgelist(const char *path, const struct raw_options *options, struct raw_graph **out,
                      struct error *error)
{
    struct pairs pairs = { 0 };
    struct raw_edges_found found;
    int rv = check_first_id(path, options, error);
    if (rv == 0)
        rv = parse_edges(path, options, &pairs, NULL, &found, true, error);
    if (rv != 0) {
        pairs_fini(&pairs);
        return rv;
    }
    uint64_t num_nodes = options->num_nodes > 0 ? options->num_nodes
                                                : found.largest_id - options->first_id + 1;
    rv = raw_memory_graph(path, &pairs, num_nodes, out, error);
    if (rv != 0) {
        raw_edges_found_fini(&found);
        return rv;
    }
    (*out)->found = found;
    (*out)->first_id = options->first_id;
    return 0;
}
