/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/table_nodes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "partition/table/node_ids.h"
#include "partition/table/node_values.h"
#include "partition/table/row_graph.h"
#include "runtime/base/crc32c.h"

void table_nodes_fini(struct table_nodes *nodes)
{
    for (uint32_t i = 0; nodes->columns != NULL && i < nodes->count; i++)
        node_column_fini(&nodes->columns[i]);
    free(nodes->columns);
    free(nodes->masks);
    value_reader_fini(&nodes->values);
    table_roles_fini(&nodes->roles);
    id_map_fini(&nodes->texts);
    *nodes = (struct table_nodes){ 0 };
}

static int nodes_changed(struct table_reader *reader)
{
    return table_reader_fail(reader, TR_EMISMATCH,
                             "changed while it was read; import it again when nothing writes it");
}

static uint32_t checksum_text(uint32_t checksum, const char *at, uint32_t length)
{
    return crc32c(crc32c(checksum, &length, sizeof length), at, length);
}

static uint32_t checksum_header(const struct table_reader *reader)
{
    uint32_t checksum = 0;
    for (uint32_t i = 0; i < reader->names.count; i++) {
        const char *name = reader->names.names[i];
        checksum = checksum_text(checksum, name, (uint32_t)strlen(name));
    }
    return checksum;
}

static uint32_t checksum_row(uint32_t checksum, const struct table_reader *reader)
{
    for (uint32_t i = 0; i < reader->names.count; i++)
        checksum = checksum_text(checksum, reader->fields[i].at, reader->fields[i].length);
    return checksum;
}

static int nodes_open(struct table_nodes *nodes, struct table_reader *reader, struct error *error)
{
    const struct table_options *options = nodes->options;
    int rv = table_reader_open(reader, options->files, options->nodes, options->delimiter,
                               options->cancel, error);
    reader->lists = rv == 0;
    if (rv == 0 && reader->names.count == 0) {
        rv = error_set(error, TR_EFORMAT, "%s: holds no node", options->nodes);
        table_reader_close(reader);
    }
    return rv;
}

static int nodes_begin(struct table_nodes *nodes, struct table_reader *reader,
                       struct table_found *found)
{
    int rv = table_roles_of_nodes(&nodes->roles, reader, nodes->options->header,
                                  &nodes->options->node_names,
                                  nodes->options->label_separator != '\0');
    if (rv != 0)
        return rv;
    nodes->count = nodes->roles.count;
    nodes->keys = reader->json;
    nodes->columns = calloc(nodes->count + 1, sizeof *nodes->columns);
    if (nodes->columns == NULL ||
        value_reader_init(&nodes->values, nodes->options->no_value) != 0 ||
        table_found_add(found, true, &reader->names, &nodes->roles) != 0)
        return table_reader_fail(reader, TR_ENOMEM, "no memory for its columns");
    for (uint32_t i = 0; i < nodes->count; i++) {
        nodes->columns[i].role = nodes->roles.roles[i];
        nodes->columns[i].numbers = true;
        nodes->num_flags += nodes->roles.roles[i] == TABLE_LABEL_FLAG;
    }
    rv = nodes->roles.header ? table_reader_skip_header(reader) : 0;
    found->nodes_header_line = reader->header_line;
    return rv;
}

static bool is_wanted(const struct table_nodes *nodes, const struct table_reader *reader)
{
    return row_graph_is_wanted(reader->fields, nodes->roles.graph, nodes->options->graph);
}

/* Whether a pass over all rows has to say what the column holds. */
static bool is_surveyed(const struct node_column *column)
{
    return column->role == TABLE_NUMBERS || column->role == TABLE_LABELS ||
           column->role == TABLE_KINDS;
}

static int survey_rows(struct table_nodes *nodes, struct table_reader *reader,
                       struct node_ids *waiting)
{
    int rv;
    nodes->checksum = checksum_header(reader);
    while ((rv = table_reader_next(reader)) == 0) {
        nodes->checksum = checksum_row(nodes->checksum, reader);
        rv = table_reader_refuse_header(reader, reader->fields);
        if (rv != 0)
            return rv;
        if (!is_wanted(nodes, reader))
            continue;
        waiting->of_graphs = nodes->roles.graph != 0 && nodes->options->graph == NULL;
        rv = node_ids_take(waiting, reader, &reader->fields[nodes->roles.id - 1]);
        if (rv != 0)
            return rv;
        for (uint32_t i = 0; i < nodes->count; i++) {
            struct node_column *column = &nodes->columns[i];
            if (is_surveyed(column) &&
                node_column_survey(column, &nodes->values, &reader->fields[i], reader->line) != 0)
                return table_reader_fail(reader, TR_ENOMEM, "no memory for its lists of numbers");
            if (column->role == TABLE_LABEL_FLAG || column->role == TABLE_LABEL_SETS)
                node_column_survey_labels(column, &nodes->values, &reader->fields[i], reader->line);
        }
        nodes->rows++;
    }
    return rv == TR_EEND ? node_ids_flush(waiting, reader) : rv;
}

static int nodes_survey(struct table_nodes *nodes, struct id_map *ids, struct table_found *found,
                        struct error *error)
{
    struct table_reader reader;
    struct node_ids *waiting = malloc(sizeof *waiting);
    if (waiting == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to read it", nodes->options->nodes);
    waiting->ids = ids;
    waiting->first = ids->count;
    waiting->count = 0;
    int rv = nodes_open(nodes, &reader, error);
    if (rv == 0) {
        rv = nodes_begin(nodes, &reader, found);
        if (rv == 0)
            rv = survey_rows(nodes, &reader, waiting);
        for (uint32_t i = 0; rv == 0 && i < nodes->count; i++)
            rv = node_column_decide(&nodes->columns[i], i, &reader);
        table_reader_close(&reader);
    }
    free(waiting);
    if (rv == 0 && nodes->rows == 0 && nodes->options->graph != NULL)
        rv = error_set(error, TR_EFORMAT, "%s: no node is of graph '%s'", nodes->options->nodes,
                       nodes->options->graph);
    if (rv == 0 && nodes->rows == 0)
        rv = error_set(error, TR_EFORMAT, "%s: holds no node, only a header",
                       nodes->options->nodes);
    return rv;
}

static int alloc_values(struct table_nodes *nodes, struct error *error)
{
    bool masked = nodes->roles.split != 0;
    for (int i = 0; i < VALUE_MASKS; i++)
        masked = masked || nodes->roles.masks[i] != 0;
    bool failed = false;
    for (uint32_t i = 0; i < nodes->count; i++) {
        struct node_column *column = &nodes->columns[i];
        if (node_column_has_numbers(column)) {
            column->values = nodes->rows > SIZE_MAX / sizeof *column->values / column->width
                                 ? NULL
                                 : malloc(nodes->rows * column->width * sizeof *column->values);
            failed = failed || column->values == NULL;
        } else if (column->role == TABLE_LABEL_SETS) {
            column->set_ends = malloc(nodes->rows * sizeof *column->set_ends);
            failed = failed || column->set_ends == NULL;
        } else if (node_values_has_codes(column)) {
            column->codes = malloc(nodes->rows * sizeof *column->codes);
            failed = failed || column->codes == NULL;
        }
    }
    nodes->masks = masked ? calloc(nodes->rows, 1) : NULL;
    if (!failed && (!masked || nodes->masks != NULL))
        return 0;
    return error_set(error, TR_ENOMEM, "%s: no memory for the values of %" PRIu64 " nodes",
                     nodes->options->nodes, nodes->rows);
}

static int take_numbers(const struct table_nodes *nodes, struct table_reader *reader, uint32_t i,
                        uint64_t row_number)
{
    struct node_column *column = &nodes->columns[i];
    bool too_large;
    if (!node_column_numbers(column, &nodes->values, &reader->fields[i], nodes->options->missing,
                             &column->values[row_number * column->width], &too_large))
        return nodes_changed(reader);
    char shown[COLUMN_SHOWN];
    return !too_large ? 0
                      : table_reader_fail(reader, TR_ERANGE,
                                          "%s has a number that is too large for a feature; leave "
                                          "the column out, or write its logarithm",
                                          table_reader_show_column(reader, i + 1, shown));
}

static int take_masks(struct table_nodes *nodes, struct table_reader *reader, uint64_t row_number)
{
    char shown[VALUE_SHOWN];
    if (nodes->roles.split != 0) {
        const struct table_field *field = &reader->fields[nodes->roles.split - 1];
        enum value_mask mask;
        if (value_is_missing(&nodes->values, field))
            return 0;
        if (!value_is_split(field, &mask))
            return table_reader_fail(reader, TR_EFORMAT, "the split '%s' is not train, val or test",
                                     value_show(field, shown));
        nodes->masks[row_number] = (uint8_t)(1u << mask);
        nodes->has_masks[mask] = true;
        return 0;
    }
    for (int i = 0; i < VALUE_MASKS; i++) {
        if (nodes->roles.masks[i] == 0)
            continue;
        const struct table_field *field = &reader->fields[nodes->roles.masks[i] - 1];
        bool set = false;
        nodes->has_masks[i] = true;
        if (!value_is_missing(&nodes->values, field) && !value_is_flag(field, &set))
            return table_reader_fail(
                reader, TR_EFORMAT,
                "'%s' does not say whether the node is in the mask; write 0 or 1",
                value_show(field, shown));
        nodes->masks[row_number] |= (uint8_t)((unsigned)set << i);
    }
    return 0;
}

static int take_rows(struct table_nodes *nodes, struct table_reader *reader,
                     struct node_values *values)
{
    uint32_t checksum = checksum_header(reader);
    uint64_t at = 0;
    int rv;
    while ((rv = table_reader_next(reader)) == 0) {
        checksum = checksum_row(checksum, reader);
        if (!is_wanted(nodes, reader))
            continue;
        if (at == nodes->rows)
            return nodes_changed(reader);
        for (uint32_t i = 0; rv == 0 && i < nodes->count; i++) {
            if (node_column_has_numbers(&nodes->columns[i]))
                rv = take_numbers(nodes, reader, i, at);
        }
        if (rv == 0)
            rv = node_values_take(values, reader, at);
        if (rv == TR_EMISMATCH)
            return nodes_changed(reader);
        if (rv == 0 && nodes->masks != NULL)
            rv = take_masks(nodes, reader, at);
        if (rv != 0)
            return rv;
        at++;
    }
    if (rv != TR_EEND)
        return rv;
    return at == nodes->rows && checksum == nodes->checksum ? 0 : nodes_changed(reader);
}

static int nodes_take(struct table_nodes *nodes, struct error *error)
{
    struct table_reader reader;
    struct node_values values;
    int rv = node_values_init(&values, nodes) != 0
                 ? error_set(error, TR_ENOMEM, "%s: no memory to read it", nodes->options->nodes)
                 : nodes_open(nodes, &reader, error);
    if (rv == 0) {
        if (reader.names.count != nodes->count)
            rv = nodes_changed(&reader);
        if (rv == 0 && nodes->roles.in_comment && reader.comment.count == 0)
            rv = nodes_changed(&reader);
        if (rv == 0 && nodes->roles.in_comment)
            table_reader_take_comment(&reader);
        if (rv == 0 && nodes->roles.header)
            rv = table_reader_skip_header(&reader);
        if (rv == 0)
            rv = take_rows(nodes, &reader, &values);
        table_reader_close(&reader);
    }
    node_values_fini(&values);
    return rv;
}

static bool nodes_have_labels(const struct table_nodes *nodes)
{
    bool labels = false;
    for (uint32_t i = 0; i < nodes->count; i++)
        labels = labels || nodes->columns[i].role == TABLE_LABELS ||
                 nodes->columns[i].role == TABLE_LABEL_SETS ||
                 nodes->columns[i].role == TABLE_LABEL_FLAG;
    return labels;
}

/* A column that is a feature has a value in each row, unless the rule says what stands for it. */
static int check_missing(const struct table_nodes *nodes, const struct table_found *found,
                         struct error *error)
{
    const struct table_column *columns = found->columns + (found->num_columns - nodes->count);
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct node_column *column = &nodes->columns[i];
        if (column->missing == 0 || nodes->options->missing != TABLE_MISSING_ERROR ||
            (!node_column_has_numbers(column) && column->role != TABLE_CATEGORIES &&
             column->role != TABLE_CODES))
            continue;
        const char *text = column->missing_text;
        char shown[COLUMN_SHOWN];
        return error_set(error, TR_EFORMAT,
                         "%s: line %" PRIu64 ": %s has no value%s%s%s, as in %" PRIu64
                         " row%s; say what stands for one by \"missing\": mean or zero%s",
                         nodes->options->nodes, column->missing_line,
                         column_show(nodes->keys, i + 1, columns[i].name, shown),
                         text[0] != '\0' ? " but '" : "", text, text[0] != '\0' ? "'" : "",
                         column->missing, column->missing == 1 ? "" : "s",
                         nodes_have_labels(nodes)
                             ? ""
                             : "; where the column has the labels, name it by \"labels\"");
    }
    return 0;
}

/* Tells what became of the columns. */
static void report_columns(const struct table_nodes *nodes, struct table_found *found)
{
    struct table_column *told = found->columns + (found->num_columns - nodes->count);
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct node_column *column = &nodes->columns[i];
        told[i].role = column->role;
        told[i].missing = column->missing;
        told[i].prose = column->role == TABLE_DROPPED && column->prose;
        told[i].text_lists = node_column_is_text_lists(column);
        told[i].amounts = column->amounts;
        told[i].odd_line = node_column_odd_line(column);
        told[i].doubted_line = column->doubted_line;
        told[i].doubted_rows = column->doubted_rows;
        told[i].separator = column->separator;
        memcpy(told[i].several, column->several, sizeof told[i].several);
        memcpy(told[i].alike, column->alike, sizeof told[i].alike);
        memcpy(told[i].doubted, column->doubted, sizeof told[i].doubted);
        told[i].values = column->role == TABLE_VECTORS   ? column->width
                         : column->role == TABLE_NUMBERS ? node_column_kinds(column)
                                                         : column->num_values;
        told[i].scaled = node_column_is_scaled(column);
        if (column->role == TABLE_LABELS || column->role == TABLE_LABEL_SETS)
            found->num_classes = column->num_values;
    }
    if (nodes->num_flags > 0)
        found->num_classes = nodes->num_flags;
    found->node_rows = nodes->rows;
}

int table_nodes_read(struct table_nodes *nodes, const struct table_options *options,
                     struct id_map *ids, struct table_found *found, struct error *error)
{
    *nodes = (struct table_nodes){ .options = options, .ids = ids };
    int rv = nodes_survey(nodes, ids, found, error);
    if (rv == 0)
        rv = alloc_values(nodes, error);
    if (rv == 0)
        rv = nodes_take(nodes, error);
    if (rv == 0 && node_values_sort(nodes) != 0)
        rv = error_set(error, TR_ENOMEM, "%s: no memory to sort its values", options->nodes);
    if (rv == 0)
        rv = check_missing(nodes, found, error);
    if (rv == 0)
        report_columns(nodes, found);
    return rv;
}
