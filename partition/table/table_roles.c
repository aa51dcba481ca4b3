/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strsep */
#include "partition/table/table_roles.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "partition/table/table_values.h"

/* What people call such columns, small and without anything but letters. */
static const char *const ID_NAMES[] = { "id", "nodeid", "node", NULL };
/* Where none is called so, and the first column is not called as "user_id" is. */
static const char *const OTHER_ID_NAMES[] = { "key", "uuid", "name", NULL };
static const char *const LABEL_NAMES[] = { "label", "labels", "class", NULL };
static const char *const GRAPH_NAMES[] = { "graphid", "graphindex", "graphidx", NULL };
static const char *const SPLIT_NAMES[] = { "split", NULL };
static const char *const MASK_NAMES[VALUE_MASKS][5] = {
    { "train", "trainmask", "istrain", NULL },
    { "val", "valmask", "validation", "validationmask", NULL },
    { "test", "testmask", "istest", NULL },
};

static bool is_called(const char *name, const char *wanted)
{
    for (; *name != '\0'; name++) {
        if (!isalnum((unsigned char)*name))
            continue;
        if (tolower((unsigned char)*name) != *wanted++)
            return false;
    }
    return *wanted == '\0';
}

/* The column of the first of these names that one column alone has; 0: none. */
static uint32_t find_called(const struct column_names *names, const char *const *wanted)
{
    for (; *wanted != NULL; wanted++) {
        uint32_t found = 0, column = 0;
        for (uint32_t i = 0; i < names->count; i++) {
            if (is_called(names->names[i], *wanted) && found++ == 0)
                column = i + 1;
        }
        if (found == 1)
            return column;
    }
    return 0;
}

/* "user_id", "User ID" and "userId", but not "paid": the last word of the name is "id". */
static bool ends_in_id(const char *name)
{
    size_t length = strlen(name);
    if (length < 3 || strcasecmp(name + length - 2, "id") != 0)
        return false;
    char before = name[length - 3];
    return !isalnum((unsigned char)before) ||
           (name[length - 2] == 'I' && islower((unsigned char)before));
}

/* "personId:ID" and ":ID(Person)", as Neo4j writes them. */
static bool is_typed_id(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon != NULL && strncasecmp(colon, ":ID", 3) == 0 &&
           (colon[3] == '\0' || colon[3] == '(');
}

/* The column of IDs by what it is called; 0: none is. */
static uint32_t find_id(const struct column_names *names)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < names->count && found == 0; i++)
        found = is_typed_id(names->names[i]) ? i + 1 : 0;
    if (found == 0)
        found = find_called(names, ID_NAMES);
    /* Elsewhere than in front it may be the ID of something else. */
    if (found == 0 && names->count > 0 && ends_in_id(names->names[0]))
        found = 1;
    return found != 0 ? found : find_called(names, OTHER_ID_NAMES);
}

static bool is_named(const struct column_names *names, const char *wanted)
{
    uint32_t column;
    /* A number names no column here: any row has a column of that number. */
    return wanted != NULL && strspn(wanted, "0123456789") != strlen(wanted) &&
           column_find(names, true, wanted, &column, NULL) == 0;
}

/* Takes the comment for the header where it alone has names that are known. first: whether the
 * first line has some. Returns whether the header has. */
static bool roles_look_at_comment(struct table_roles *roles, struct table_reader *reader,
                                  enum table_header header, bool first, bool comment)
{
    bool first_is_header = first && (reader->looks_like_header || header == TABLE_HEADER_YES);
    roles->in_comment = comment && !first_is_header && header != TABLE_HEADER_NO;
    if (roles->in_comment)
        table_reader_take_comment(reader);
    return first || roles->in_comment;
}

/* Whether the first line is a header. known: it has names that say so. also: what the
 * message asks for beside "header". */
static int roles_find_header(struct table_roles *roles, struct table_reader *reader,
                             enum table_header header, bool known, const char *also)
{
    roles->header = reader->json || header == TABLE_HEADER_YES ||
                    (header == TABLE_HEADER_FIND && reader->looks_like_header &&
                     (known || reader->names_over_numbers));
    if (reader->names.count == 0)
        return table_reader_fail(reader, TR_EFORMAT, "the table has no row");
    if (roles->header || header == TABLE_HEADER_NO || !reader->looks_like_header)
        return 0;
    struct table_field first = { reader->names.names[0], (uint32_t)strlen(reader->names.names[0]) };
    char shown[VALUE_SHOWN];
    return table_reader_fail(
        reader, TR_EFORMAT,
        "begins with '%s', which may be the name of a column or of a node; say "
        "\"header\" yes%s, or \"header\" no where it is a row",
        value_show(&first, shown), also);
}

static int roles_begin(struct table_roles *roles, struct table_reader *reader)
{
    roles->count = reader->names.count;
    roles->roles = calloc(roles->count + 1, sizeof *roles->roles);
    return roles->roles != NULL ? 0 : table_reader_fail(reader, TR_ENOMEM, "no memory for it");
}

/* Gives the column a role that it has alone. */
static int roles_give(struct table_roles *roles, struct table_reader *reader, uint32_t column,
                      enum table_role role)
{
    char shown[COLUMN_SHOWN];
    if (column == 0)
        return 0;
    if (roles->roles[column - 1] != TABLE_DROPPED)
        return table_reader_fail(reader, TR_EINVAL, "%s is asked for twice",
                                 column_show(reader->json, column,
                                             roles->header ? reader->names.names[column - 1] : NULL,
                                             shown));
    roles->roles[column - 1] = role;
    return 0;
}

/* The column that the user names, or *column as it was where nobody does. */
static int roles_choose(const struct table_roles *roles, struct table_reader *reader,
                        const char *wanted, uint32_t *column)
{
    struct error inner = { 0 };
    if (wanted == NULL)
        return 0;
    int rv = column_find(&reader->names, roles->header, wanted, column, &inner);
    return rv != 0 ? table_reader_fail(reader, rv, "%s", inner.text) : 0;
}

/* The column that says of which graph a row is, unless it has another role. */
static void roles_find_graph(struct table_roles *roles, const struct table_reader *reader)
{
    roles->graph = roles->header ? find_called(&reader->names, GRAPH_NAMES) : 0;
    if (roles->graph != 0 && roles->roles[roles->graph - 1] != TABLE_DROPPED)
        roles->graph = 0;
    if (roles->graph != 0)
        roles->roles[roles->graph - 1] = TABLE_GRAPH;
}

/* Names that people give are those that are found among three columns or more; two columns of any
 * names are the ends of an edge. */
static bool ends_are_known(const struct column_names *columns, const struct table_edge_names *names)
{
    return (columns->count >= 2 && edge_columns_are_named(columns)) ||
           is_named(columns, names->source) || is_named(columns, names->target) ||
           is_named(columns, names->weight) || is_named(columns, names->time);
}

int table_roles_of_edges(struct table_roles *roles, struct table_reader *reader,
                         enum table_header header, const struct table_edge_names *names)
{
    struct edge_columns ends;
    struct error inner = { 0 };
    *roles = (struct table_roles){ 0 };
    bool known = roles_look_at_comment(roles, reader, header, ends_are_known(&reader->names, names),
                                       ends_are_known(&reader->comment, names));
    int rv = roles_find_header(roles, reader, header, known,
                               reader->names.count == 2
                                   ? ""
                                   : ", and by \"source\" and \"target\" which columns are meant");
    if (rv == 0)
        rv = roles_begin(roles, reader);
    if (rv != 0)
        goto fail;
    rv = edge_columns_choose(&reader->names, roles->header, names->source, names->target,
                             "name them by \"source\" and \"target\"", &ends, &inner);
    if (rv != 0) {
        rv = table_reader_fail(reader, rv, "%s", inner.text);
        goto fail;
    }
    roles->source = ends.source;
    roles->target = ends.target;
    rv = roles_choose(roles, reader, names->weight, &roles->weight);
    if (rv == 0)
        rv = roles_choose(roles, reader, names->time, &roles->time);
    if (rv == 0)
        rv = roles_give(roles, reader, roles->source, TABLE_SOURCE);
    if (rv == 0)
        rv = roles_give(roles, reader, roles->target, TABLE_TARGET);
    if (rv == 0)
        rv = roles_give(roles, reader, roles->weight, TABLE_WEIGHT);
    if (rv == 0)
        rv = roles_give(roles, reader, roles->time, TABLE_TIME);
    if (rv == 0) {
        roles_find_graph(roles, reader);
        return 0;
    }
fail:
    table_roles_fini(roles);
    return rv;
}

/* Gives the role to the columns of a list with commas. */
static int roles_give_listed(struct table_roles *roles, struct table_reader *reader,
                             const char *list, enum table_role role)
{
    char *copy = strdup(list), *rest = copy, *name;
    int rv = copy != NULL ? 0 : table_reader_fail(reader, TR_ENOMEM, "no memory for it");
    while (rv == 0 && (name = strsep(&rest, ",")) != NULL && *list != '\0') {
        uint32_t column = 0;
        rv = roles_choose(roles, reader, name, &column);
        if (rv == 0)
            rv = roles_give(roles, reader, column, role);
    }
    free(copy);
    return rv;
}

/* The column of row numbers that pandas writes in front, whose name is empty, or as pandas reads it:
 * "Unnamed: 0". */
static bool is_row_number(const char *name)
{
    return name[0] == '\0' || strncmp(name, "Unnamed: ", 9) == 0;
}

static int roles_give_features(struct table_roles *roles, struct table_reader *reader,
                               const char *list)
{
    if (list != NULL) {
        int rv = roles_give_listed(roles, reader, list, TABLE_NUMBERS);
        if (rv == 0)
            roles_find_graph(roles, reader);
        return rv;
    }
    roles_find_graph(roles, reader);
    for (uint32_t i = 0; i < roles->count; i++) {
        if (roles->roles[i] == TABLE_DROPPED &&
            !(roles->header && is_row_number(reader->names.names[i])))
            roles->roles[i] = TABLE_NUMBERS;
    }
    return 0;
}

/* The first of a list, or a name with a comma. */
static bool is_first_named(const struct column_names *columns, const char *list)
{
    char first[200];
    if (list == NULL)
        return false;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(list, ","), list);
    return is_named(columns, first) || is_named(columns, list);
}

static bool names_are_known(const struct column_names *columns,
                            const struct table_node_names *names)
{
    return find_id(columns) != 0 || find_called(columns, LABEL_NAMES) != 0 ||
           find_called(columns, SPLIT_NAMES) != 0 || is_named(columns, names->id) ||
           is_first_named(columns, names->labels) || is_named(columns, names->split) ||
           is_first_named(columns, names->features) || is_first_named(columns, names->categories);
}

static int roles_find_id(struct table_roles *roles, struct table_reader *reader, const char *id)
{
    roles->id = roles->header ? find_id(&reader->names) : 1;
    int rv = roles_choose(roles, reader, id, &roles->id);
    if (rv != 0 || roles->id != 0)
        return rv;
    return table_reader_fail(reader, TR_EFORMAT,
                             "no column is called as IDs are (id, node, key, name ...); name it by "
                             "\"id\"");
}

/* Several columns are listed; one may be called with a comma. */
static bool are_label_flags(const struct table_roles *roles, const struct table_reader *reader,
                            const char *labels)
{
    uint32_t column;
    return labels != NULL && strchr(labels, ',') != NULL &&
           column_find(&reader->names, roles->header, labels, &column, NULL) != 0;
}

int table_roles_of_nodes(struct table_roles *roles, struct table_reader *reader,
                         enum table_header header, const struct table_node_names *names,
                         bool label_sets)
{
    *roles = (struct table_roles){ 0 };
    bool known = roles_look_at_comment(roles, reader, header,
                                       names_are_known(&reader->names, names),
                                       names_are_known(&reader->comment, names));
    int rv = roles_find_header(roles, reader, header, known,
                               ", and by \"id\" which column has the IDs");
    if (rv == 0)
        rv = roles_begin(roles, reader);
    if (rv == 0)
        rv = roles_find_id(roles, reader, names->id);
    if (rv != 0)
        goto fail;
    if (roles->header) {
        roles->labels = find_called(&reader->names, LABEL_NAMES);
        roles->split = find_called(&reader->names, SPLIT_NAMES);
    }
    const bool flags = are_label_flags(roles, reader, names->labels);
    if (flags)
        roles->labels = 0;
    else
        rv = roles_choose(roles, reader, names->labels, &roles->labels);
    if (rv == 0 && label_sets && (flags || roles->labels == 0))
        rv = table_reader_fail(reader, TR_EINVAL,
                               "a separator of labels is for one column of labels; name it by "
                               "\"labels\"");
    if (rv == 0)
        rv = roles_choose(roles, reader, names->split, &roles->split);
    if (rv == 0)
        rv = roles_give(roles, reader, roles->id, TABLE_ID);
    if (rv == 0)
        rv = flags ? roles_give_listed(roles, reader, names->labels, TABLE_LABEL_FLAG)
                   : roles_give(roles, reader, roles->labels,
                                label_sets ? TABLE_LABEL_SETS : TABLE_LABELS);
    if (rv == 0)
        rv = roles_give(roles, reader, roles->split, TABLE_SPLIT);
    /* Masks are those of the split, where there is one: then other columns are what they are. */
    for (int i = 0; rv == 0 && i < VALUE_MASKS && roles->header && roles->split == 0; i++) {
        roles->masks[i] = find_called(&reader->names, MASK_NAMES[i]);
        rv = roles_give(roles, reader, roles->masks[i], TABLE_MASK);
    }
    if (rv == 0 && names->categories != NULL)
        rv = roles_give_listed(roles, reader, names->categories, TABLE_KINDS);
    if (rv == 0)
        rv = roles_give_features(roles, reader, names->features);
    if (rv == 0)
        return 0;
fail:
    table_roles_fini(roles);
    return rv;
}

void table_roles_fini(struct table_roles *roles)
{
    free(roles->roles);
    *roles = (struct table_roles){ 0 };
}
