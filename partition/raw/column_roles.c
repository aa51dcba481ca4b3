/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/column_roles.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A name in a message, and a name that is compared with those below. */
#define NAME_SHOWN 40
#define PLAIN_MAX 32

/* What people call the two ends of an edge, without what plain_name() takes off. */
static const char *const END_NAMES[][2] = {
    { "src", "dst" },
    { "source", "target" },
    { "source", "destination" },
    { "src", "dest" },
    { "from", "to" },
    { "u", "v" },
    { "node1", "node2" },
    { "id1", "id2" },
    { "citing", "cited" },
    { "follower", "followee" },
    { "head", "tail" },
    { "start", "end" },
    { "parent", "child" },
    { "sender", "receiver" },
    { "sender", "recipient" },
    { "caller", "callee" },
    { "buyer", "seller" },
    { "subject", "object" },
    { "origin", "destination" },
    { "origin", "dest" },
};

/* Ends that are two kinds of things. */
static const char *const KIND_NAMES[][2] = {
    { "user", "item" },
    { "user", "movie" },
    { "user", "product" },
    { "customer", "product" },
};

/* Ends of one kind with those that have them: "user_id" and "friend_id". */
static const char *const SAME_KINDS[] = { "friend", "neighbor", "neighbour", "contact", "peer" };

/* What the ends are, beside the words of END_NAMES: "from_address" and "to_address". */
static const char *const END_KINDS[] = {
    "account", "acct",    "addr",     "address", "airport", "author", "bank",   "city",
    "company", "country", "customer", "email",   "entity",  "host",   "ip",     "name",
    "page",    "paper",   "person",   "station", "stop",    "user",   "wallet", "zone",
};

static bool is_blank(char c, char delimiter)
{
    return c == ' ' || c == '\r' || (c == '\t' && delimiter != '\t');
}

/* Each byte that ends a name is passed as a blank or as the delimiter. */
static bool ends_name(char c, char delimiter)
{
    if (delimiter == '\0')
        return is_blank(c, delimiter) || c == ',' || c == ';';
    return c == delimiter || (delimiter == ' ' && is_blank(c, delimiter));
}

/* Whether '|' stands between columns: no blank does, but for those beside one, so that "a|b c|d",
 * which may be two names, is none. */
static bool bars_delimit(const char *line, size_t length)
{
    char last = '|'; /* that is no blank */
    bool quoted = false, blank = false, found = false;
    for (size_t i = 0; i < length; i++) {
        quoted ^= line[i] == '"';
        if (!quoted && is_blank(line[i], '|')) {
            blank = true;
            continue;
        }
        if (blank && last != '|' && line[i] != '|')
            return false;
        blank = false;
        found = found || (!quoted && line[i] == '|');
        last = line[i];
    }
    return found;
}

/* "1 2<tab>0.5": a tab is a blank like others where blanks stand between numbers. */
static bool is_row_of_figures(const char *line, size_t length)
{
    bool between = false;
    for (size_t i = 0; i < length; i++) {
        if (strchr("0123456789.+-eE \t\r", line[i]) == NULL)
            return false;
        between = between || (line[i] == ' ' && i > 0 && isdigit((unsigned char)line[i - 1]) &&
                              i + 1 < length && isdigit((unsigned char)line[i + 1]));
    }
    return between;
}

/* The delimiter that stands outside of quotes. */
static char find_delimiter(const char *line, size_t length)
{
    static const char tried[] = { ',', ';', '\t' };
    for (size_t d = 0; d < sizeof tried; d++) {
        bool quoted = false;
        for (size_t i = 0; i < length; i++) {
            quoted ^= line[i] == '"';
            if (!quoted && line[i] == tried[d])
                return tried[d] == '\t' && is_row_of_figures(line, length) ? '\0' : tried[d];
        }
    }
    return bars_delimit(line, length) ? '|' : '\0';
}

/* Copies one name to `out`; returns where it ends in the line. */
static size_t take_name(const char *line, size_t length, size_t at, char delimiter, char **out)
{
    char *begin = *out, *end = begin;
    if (at < length && line[at] == '"') {
        for (at++; at < length && (line[at] != '"' || (at + 1 < length && line[at + 1] == '"'));
             at++) {
            at += line[at] == '"';
            *end++ = line[at];
        }
        at += at < length;
        while (at < length && !ends_name(line[at], delimiter))
            at++;
    } else {
        while (at < length && !ends_name(line[at], delimiter))
            *end++ = line[at++];
        while (end > begin && is_blank(end[-1], delimiter))
            end--;
    }
    *end = '\0';
    *out = end + 1;
    return at;
}

static size_t skip_blanks(const char *line, size_t length, size_t at, char delimiter)
{
    while (at < length && is_blank(line[at], delimiter))
        at++;
    return at;
}

int column_names_split(struct column_names *columns, const char *line, size_t length,
                       char delimiter)
{
    *columns = (struct column_names){ .delimiter = delimiter };
    if (delimiter == '\0')
        columns->delimiter = delimiter = find_delimiter(line, length);
    /* A name has a byte or a delimiter beside it, and each an end in the arena. */
    columns->arena = malloc(2 * length + 2);
    if (columns->arena == NULL)
        return TR_ENOMEM;
    char *out = columns->arena;
    size_t at = skip_blanks(line, length, 0, delimiter);
    uint32_t room = 0;
    for (bool more = true; more;) {
        if (columns->count == COLUMNS_MAX) {
            column_names_fini(columns);
            return TR_ETOOBIG;
        }
        if (columns->count == room) {
            room = room == 0 ? 16 : 2 * room;
            char **grown = realloc(columns->names, room * sizeof *grown);
            if (grown == NULL) {
                column_names_fini(columns);
                return TR_ENOMEM;
            }
            columns->names = grown;
        }
        columns->names[columns->count++] = out;
        size_t begin = at;
        at = take_name(line, length, at, delimiter, &out);
        at = skip_blanks(line, length, at, delimiter);
        bool delimited = at < length && (delimiter != '\0' ? line[at] == delimiter
                                                           : line[at] == ',' || line[at] == ';');
        at = skip_blanks(line, length, at + delimited, delimiter);
        /* The arena has room for rounds that advance. */
        more = at > begin && (delimited || at < length);
    }
    return 0;
}

void column_names_fini(struct column_names *columns)
{
    free(columns->names);
    free(columns->arena);
    *columns = (struct column_names){ 0 };
}

/* Signs may stand before a word, as in ":START_ID" and "~from", or be bytes of a letter that is not
 * ASCII. Those before a digit are what was left of a row. */
static bool begins_as_name(const char *name)
{
    if (strchr("+-.", *name) != NULL)
        return false;
    while (*name != '\0' && !isalnum((unsigned char)*name))
        name++;
    return isalpha((unsigned char)*name);
}

bool column_names_are_header(const struct column_names *columns)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        if (columns->names[i][0] != '\0')
            return columns->names[i][0] == '_' || begins_as_name(columns->names[i]);
    }
    return false;
}

/* Neo4j writes "name:START_ID(group)" where the others say what the column is alone. */
static const char *without_property(const char *name)
{
    const char *colon = strrchr(name, ':');
    bool kind = colon != NULL &&
                (strncasecmp(colon, ":START_ID", 9) == 0 || strncasecmp(colon, ":END_ID", 7) == 0);
    return kind ? colon : name;
}

/* "fromnode" for "From_Node-ID (key)": letters and digits, small, without "id" and "node" at the end
 * and without what stands in brackets behind it. */
static void plain_name(const char *name, char plain[PLAIN_MAX])
{
    static const char *const endings[] = { "id", "ids", "node", "index", "idx" };
    size_t length = 0;
    name = without_property(name);
    const char *end = name + strcspn(name, "(");
    for (; name < end && length < PLAIN_MAX - 1; name++) {
        if (isalnum((unsigned char)*name))
            plain[length++] = (char)tolower((unsigned char)*name);
    }
    plain[name == end ? length : 0] = '\0';
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
            size_t ending = strlen(endings[i]);
            length = strlen(plain);
            if (length > ending && strcmp(plain + length - ending, endings[i]) == 0)
                plain[length - ending] = '\0';
        }
    }
}

/* The number of columns that people call so; *column is the first. */
static uint32_t find_plain(const struct column_names *columns, const char *wanted, uint32_t *column)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < columns->count; i++) {
        char plain[PLAIN_MAX];
        plain_name(columns->names[i], plain);
        if (strcmp(plain, wanted) == 0 && found++ == 0)
            *column = i + 1;
    }
    return found;
}

/* "'a', 'b' and 3 more" */
static void list_names(const struct column_names *columns, char text[8 * NAME_SHOWN])
{
    size_t at = 0;
    uint32_t shown = columns->count < 5 ? columns->count : 5;
    for (uint32_t i = 0; i < shown; i++)
        at += (size_t)snprintf(text + at, 8 * NAME_SHOWN - at, "%s'%.*s'", i > 0 ? ", " : "",
                               NAME_SHOWN, columns->names[i]);
    if (shown < columns->count)
        snprintf(text + at, 8 * NAME_SHOWN - at, " and %u more", columns->count - shown);
}

/* TR_EEND: the text is no number of a column. */
static int column_number(const struct column_names *columns, const char *wanted, uint32_t *column)
{
    uint64_t number = 0;
    size_t length = strlen(wanted);
    if (length == 0 || length > 9 || strspn(wanted, "0123456789") != length)
        return TR_EEND;
    number = strtoull(wanted, NULL, 10);
    if (number == 0 || number > columns->count)
        return TR_EEND;
    *column = (uint32_t)number;
    return 0;
}

int column_find(const struct column_names *columns, bool header, const char *wanted,
                uint32_t *column, struct error *error)
{
    char names[8 * NAME_SHOWN];
    uint32_t same = 0, alike = 0, first_alike = 0;
    for (uint32_t i = 0; header && i < columns->count; i++) {
        if (strcmp(columns->names[i], wanted) == 0 && same++ == 0)
            *column = i + 1;
        if (strcasecmp(columns->names[i], wanted) == 0 && alike++ == 0)
            first_alike = i + 1;
    }
    if (same == 1)
        return 0;
    if (same == 0 && alike == 1) {
        *column = first_alike;
        return 0;
    }
    if (same > 1 || alike > 1)
        return error_set(error, TR_EINVAL,
                         "%u columns are named '%.*s'; give the number of one, from 1",
                         same > 1 ? same : alike, NAME_SHOWN, wanted);
    if (column_number(columns, wanted, column) == 0)
        return 0;
    if (!header)
        return error_set(error, TR_EINVAL,
                         "there is no header, so '%.*s' names no column; give a number from 1 to "
                         "%u",
                         NAME_SHOWN, wanted, columns->count);
    list_names(columns, names);
    return error_set(error, TR_EINVAL, "no column is named '%.*s'; there are %s", NAME_SHOWN,
                     wanted, names);
}

static int fail_unknown(const struct column_names *columns, const char *remedy, struct error *error)
{
    char names[8 * NAME_SHOWN];
    list_names(columns, names);
    return error_set(error, TR_EFORMAT,
                     "which of the columns %s are the ends of an edge is not known; %s", names,
                     remedy);
}

/* Takes columns of this pair of names for the ends. false: it is not known which of several. */
static bool choose_pair(const struct column_names *columns, const char *source, const char *target,
                        struct edge_columns *chosen, uint32_t *found)
{
    struct edge_columns pair = { 0 };
    uint32_t sources = find_plain(columns, source, &pair.source);
    uint32_t targets = find_plain(columns, target, &pair.target);
    if (sources == 0 || targets == 0)
        return true;
    if (sources > 1 || targets > 1 || *found > 0)
        return false;
    *chosen = pair;
    *found = 1;
    return true;
}

/* By "from_address" and "to_address", or "address_from" and "address_to". */
static bool choose_by_kinds(const struct column_names *columns, struct edge_columns *chosen,
                            uint32_t *found)
{
    for (size_t i = 0; i < sizeof END_NAMES / sizeof *END_NAMES; i++) {
        const char *const *ends = END_NAMES[i];
        for (size_t k = 0; k < sizeof END_KINDS / sizeof *END_KINDS; k++) {
            char source[2 * PLAIN_MAX], target[2 * PLAIN_MAX];
            snprintf(source, sizeof source, "%s%s", ends[0], END_KINDS[k]);
            snprintf(target, sizeof target, "%s%s", ends[1], END_KINDS[k]);
            if (!choose_pair(columns, source, target, chosen, found))
                return false;
            snprintf(source, sizeof source, "%s%s", END_KINDS[k], ends[0]);
            snprintf(target, sizeof target, "%s%s", END_KINDS[k], ends[1]);
            if (!choose_pair(columns, source, target, chosen, found))
                return false;
        }
    }
    return true;
}

/* Whether the name is the word and one of these signs behind it. */
static bool is_counted(const char *plain, const char *word, size_t length, const char *signs)
{
    return strlen(plain) == length + 1 && memcmp(plain, word, length) == 0 &&
           strchr(signs, plain[length]) != NULL;
}

/* By "txId1" and "txId2", or "interactor A" and "interactor B", where these come first: a word and
 * no single letter, and without a third one, which would make them features. */
static bool choose_by_count(const struct column_names *columns, struct edge_columns *chosen,
                            uint32_t *found)
{
    char plain[2][PLAIN_MAX];
    if (columns->count < 2)
        return true;
    for (int end = 0; end < 2; end++)
        plain_name(columns->names[end], plain[end]);
    const size_t length = strlen(plain[0]);
    if (length < 3 || strlen(plain[1]) != length || memcmp(plain[0], plain[1], length - 1) != 0)
        return true;
    const char last[] = { plain[0][length - 1], plain[1][length - 1], '\0' };
    if (strcmp(last, "12") != 0 && strcmp(last, "ab") != 0)
        return true;
    for (uint32_t i = 2; i < columns->count; i++) {
        char other[PLAIN_MAX];
        plain_name(columns->names[i], other);
        if (is_counted(other, plain[0], length - 1, last[0] == '1' ? "03" : "c"))
            return true;
    }
    *chosen = (struct edge_columns){ 1, 2 };
    *found = 1;
    return true;
}

/* By the names that people give. *found: how many pairs of columns it may be. */
static int choose_by_names(const struct column_names *columns, const char *remedy,
                           struct edge_columns *chosen, uint32_t *found, struct error *error)
{
    bool known = true;
    *found = 0;
    for (size_t i = 0; known && i < sizeof END_NAMES / sizeof *END_NAMES; i++)
        known = choose_pair(columns, END_NAMES[i][0], END_NAMES[i][1], chosen, found);
    for (size_t i = 0; known && *found == 0 && i < sizeof KIND_NAMES / sizeof *KIND_NAMES; i++)
        known = choose_pair(columns, KIND_NAMES[i][0], KIND_NAMES[i][1], chosen, found);
    if (known && *found == 0)
        known = choose_by_kinds(columns, chosen, found);
    if (known && *found == 0)
        known = choose_by_count(columns, chosen, found);
    if (known)
        return 0;
    *found = 0;
    return fail_unknown(columns, remedy, error);
}

bool edge_columns_are_named(const struct column_names *columns)
{
    struct edge_columns chosen;
    uint32_t found;
    return choose_by_names(columns, "", &chosen, &found, NULL) != 0 || found > 0;
}

/* What is left of a name that ends in "id" without that, or what is known as one of two kinds; empty
 * where it is neither. */
static void plain_owner(const char *name, char plain[PLAIN_MAX])
{
    size_t length = strcspn(name, "(");
    while (length > 0 && !isalnum((unsigned char)name[length - 1]))
        length--;
    bool ends_in_id = length > 2 && strncasecmp(name + length - 2, "id", 2) == 0;
    plain_name(name, plain);
    for (size_t i = 0; !ends_in_id && i < sizeof KIND_NAMES / sizeof *KIND_NAMES; i++)
        ends_in_id = strcmp(plain, KIND_NAMES[i][0]) == 0 || strcmp(plain, KIND_NAMES[i][1]) == 0;
    plain[ends_in_id ? strlen(plain) : 0] = '\0';
}

bool edge_columns_are_two_kinds(const struct column_names *columns, struct edge_columns ends)
{
    char source[PLAIN_MAX], target[PLAIN_MAX];
    plain_owner(columns->names[ends.source - 1], source);
    plain_owner(columns->names[ends.target - 1], target);
    if (source[0] == '\0' || target[0] == '\0' || strcmp(source, target) == 0)
        return false;
    for (size_t i = 0; i < sizeof END_NAMES / sizeof *END_NAMES; i++) {
        for (int end = 0; end < 2; end++) {
            if (strcmp(source, END_NAMES[i][end]) == 0 || strcmp(target, END_NAMES[i][end]) == 0)
                return false;
        }
    }
    for (size_t i = 0; i < sizeof SAME_KINDS / sizeof *SAME_KINDS; i++) {
        if (strcmp(source, SAME_KINDS[i]) == 0 || strcmp(target, SAME_KINDS[i]) == 0)
            return false;
    }
    return true;
}

static bool begins_with(const char *line, size_t length, const char *banner)
{
    const size_t bytes = strlen(banner);
    return length >= bytes && strncasecmp(line, banner, bytes) == 0 &&
           (length == bytes || line[bytes] == ' ' || line[bytes] == '\r');
}

bool edge_banner_is_bipartite(const char *line, size_t length)
{
    return begins_with(line, length, "% bip");
}

bool edge_banner_is_undirected(const char *line, size_t length)
{
    return begins_with(line, length, "% sym") || begins_with(line, length, "# undirected");
}

int edge_columns_choose(const struct column_names *columns, bool header, const char *source,
                        const char *target, const char *remedy, struct edge_columns *chosen,
                        struct error *error)
{
    uint32_t found = 0;
    int rv = 0;
    *chosen = (struct edge_columns){ 1, 2 };
    if (columns->count < 2)
        return error_set(error, TR_EFORMAT,
                         "has one column; an edge needs two, with blanks, a comma, a semicolon, "
                         "a bar or the \"delimiter\" that is given between them; make one "
                         "character of two, such as '::', before (sed 's/::/,/g')");
    if (header && (source == NULL || target == NULL))
        rv = choose_by_names(columns, remedy, chosen, &found,
                             (source == NULL && target == NULL) ? error : NULL);
    if (source == NULL && target == NULL) {
        /* Two columns of other names are the ends; with more of them it is not known which. */
        return rv != 0 || !header || found == 1 || columns->count == 2
                   ? rv
                   : fail_unknown(columns, remedy, error);
    }
    if ((source == NULL || target == NULL) && found == 0)
        return error_set(error, TR_EINVAL,
                         "\"%s\" is given alone, and the other end's column is not known; give "
                         "\"%s\" too",
                         source != NULL ? "source" : "target",
                         source != NULL ? "target" : "source");
    rv = source != NULL ? column_find(columns, header, source, &chosen->source, error) : 0;
    if (rv == 0 && target != NULL)
        rv = column_find(columns, header, target, &chosen->target, error);
    if (rv == 0 && chosen->source == chosen->target)
        rv = error_set(error, TR_EINVAL,
                       "\"source\" and \"target\" are the same column, %u; an edge has two ends",
                       chosen->source);
    return rv;
}
