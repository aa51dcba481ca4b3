/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/table_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/raw/reverse_pairs.h"
#include "partition/table/node_values.h"
#include "runtime/base/printable.h"

#define AT_ONCE ((uint64_t)4096)
/* Of rows of labels at a time: several of the widest ones. */
#define LABELS_BYTES ((uint64_t)1 << 20)
/* A name that is shown and read by programs: "column=value". */
#define COLUMN_NAME_MAX 512
/* The tables of codes are named after their columns, which may be called anything. */
#define TABLE_NAME_MAX 120

struct table_writing {
    struct raw_writer *writer;
    const struct id_map *ids;
    const struct table_edges *edges;
    const struct table_nodes *nodes;
    struct table_found *found;
    const struct table_column *columns; /* of the nodes */
    uint64_t width;                     /* of "feat" */
    float *rows;                        /* [AT_ONCE][width] */
    struct error *error;
};

static int write_edges(struct table_writing *writing, struct reverse_pairs *reverse)
{
    const struct table_edges *edges = writing->edges;
    struct error *error = writing->error;
    uint64_t *src = malloc(2 * AT_ONCE * sizeof *src);
    uint32_t table;
    bool behind = false;
    if (src == NULL)
        return error_set(error, TR_ENOMEM, "no memory to write edges");
    int rv = 0;
    for (uint64_t done = 0; rv == 0 && done < edges->pairs.count;) {
        uint64_t left = edges->pairs.count - done, some = left < AT_ONCE ? left : AT_ONCE;
        pairs_read(&edges->pairs, done, some, src, src + AT_ONCE);
        if (reverse != NULL)
            reverse_pairs_add_doubled(reverse, some, src, src + AT_ONCE, &behind);
        rv = raw_writer_edges(writing->writer, 0, some, src, src + AT_ONCE, error);
        done += some;
    }
    free(src);
    if (rv == 0 && edges->weights != NULL) {
        rv = raw_writer_add_table(writing->writer, "weight", true, 0, TR_F32, 0, NULL, &table,
                                  error);
        if (rv == 0)
            rv = raw_writer_rows(writing->writer, table, edges->pairs.count, edges->weights, error);
    }
    if (rv == 0 && edges->times != NULL) {
        rv = raw_writer_add_table(writing->writer, "time", true, 0, TR_I64, 0, NULL, &table, error);
        if (rv == 0)
            rv = raw_writer_rows(writing->writer, table, edges->pairs.count, edges->times, error);
    }
    return rv;
}

/* Looks at edges that got their reverse; where equal ones are merged, that does no harm. */
static int write_and_look(struct table_writing *writing, const struct table_options *options)
{
    struct reverse_pairs reverse;
    if (!options->undirected || options->duplicates == RAW_DUPLICATES_MERGE)
        return write_edges(writing, NULL);
    int rv = reverse_pairs_init(&reverse) != 0
                 ? error_set(writing->error, TR_ENOMEM, "no memory to look at edges")
                 : write_edges(writing, &reverse);
    if (rv == 0)
        reverse_pairs_count(&reverse, &writing->found->pairs_seen, &writing->found->pairs_mutual);
    reverse_pairs_fini(&reverse);
    return rv;
}

static int write_node_names(struct table_writing *writing)
{
    uint32_t list;
    int rv = raw_writer_add_names(writing->writer, NAMES_NODES, 0, NULL, &list, writing->error);
    for (uint64_t i = 0; rv == 0 && i < writing->ids->count; i++) {
        struct id_text text = id_map_text(writing->ids, i);
        rv = raw_writer_name(writing->writer, list, text.at, text.length, writing->error);
    }
    return rv;
}

static uint64_t width_of(const struct node_column *column)
{
    return node_column_has_numbers(column)    ? column->width
           : column->role == TABLE_CATEGORIES ? column->num_values
                                              : 0;
}

static void fill_numbers(const struct table_writing *writing, const struct node_column *column,
                         uint64_t first, uint64_t count, float *to)
{
    for (uint64_t i = 0; i < count && first + i < writing->nodes->rows; i++)
        memcpy(to + i * writing->width, column->values + (first + i) * column->width,
               column->width * sizeof *to);
}

static void fill_categories(const struct table_writing *writing, const struct node_column *column,
                            uint64_t first, uint64_t count, float *to)
{
    for (uint64_t i = 0; i < count && first + i < writing->nodes->rows; i++) {
        if (column->codes[first + i] != NODE_NO_CODE)
            to[i * writing->width + (uint64_t)column->codes[first + i]] = 1;
    }
}

static int write_features(struct table_writing *writing)
{
    const struct table_nodes *nodes = writing->nodes;
    uint32_t table;
    int rv = raw_writer_add_table(writing->writer, "feat", false, 0, TR_F32, 1, &writing->width,
                                  &table, writing->error);
    for (uint64_t done = 0; rv == 0 && done < writing->ids->count;) {
        uint64_t left = writing->ids->count - done, some = left < AT_ONCE ? left : AT_ONCE, at = 0;
        memset(writing->rows, 0, some * writing->width * sizeof *writing->rows);
        for (uint32_t i = 0; i < nodes->count; i++) {
            const struct node_column *column = &nodes->columns[i];
            if (node_column_has_numbers(column))
                fill_numbers(writing, column, done, some, writing->rows + at);
            else if (column->role == TABLE_CATEGORIES)
                fill_categories(writing, column, done, some, writing->rows + at);
            at += width_of(column);
        }
        rv = raw_writer_rows(writing->writer, table, some, writing->rows, writing->error);
        done += some;
    }
    return rv;
}

/* What a column is called: as its header says, or by its number. */
static void name_column(const struct table_writing *writing, uint32_t i, char *text, size_t size)
{
    const char *name = writing->columns[i].name;
    if (name != NULL && name[0] != '\0')
        snprintf(text, size, "%.*s", TABLE_NAME_MAX, name);
    else
        snprintf(text, size, "column%u", i + 1);
    /* The cut may have gone through a character. */
    make_printable(text);
}

static int write_feature_names(struct table_writing *writing)
{
    const struct table_nodes *nodes = writing->nodes;
    char text[COLUMN_NAME_MAX], column_name[TABLE_NAME_MAX + 8];
    uint32_t list;
    int rv = raw_writer_add_names(writing->writer, NAMES_COLUMNS, 0, "feat", &list, writing->error);
    for (uint32_t i = 0; rv == 0 && i < nodes->count; i++) {
        const struct node_column *column = &nodes->columns[i];
        name_column(writing, i, column_name, sizeof column_name);
        if (column->role == TABLE_NUMBERS)
            rv = raw_writer_name(writing->writer, list, column_name, strlen(column_name),
                                 writing->error);
        for (uint32_t v = 0; rv == 0 && column->role == TABLE_VECTORS && v < column->width; v++) {
            snprintf(text, sizeof text, "%s[%" PRIu32 "]", column_name, v);
            rv = raw_writer_name(writing->writer, list, text, strlen(text), writing->error);
        }
        for (uint32_t v = 0; rv == 0 && column->role == TABLE_CATEGORIES && v < column->num_values;
             v++) {
            struct id_text value = node_values_text(nodes, column, v);
            snprintf(text, sizeof text, "%s=%.*s", column_name,
                     value.length < 300 ? (int)value.length : 300, value.at);
            make_printable(text);
            rv = raw_writer_name(writing->writer, list, text, strlen(text), writing->error);
        }
    }
    return rv;
}

static int write_value_names(struct table_writing *writing, const char *table,
                             const struct node_column *column)
{
    uint32_t list;
    int rv = raw_writer_add_names(writing->writer, NAMES_VALUES, 0, table, &list, writing->error);
    for (uint32_t v = 0; rv == 0 && v < column->num_values; v++) {
        struct id_text value = node_values_text(writing->nodes, column, v);
        rv = raw_writer_name(writing->writer, list, value.at, value.length, writing->error);
    }
    return rv;
}

/* A table of the numbers of values; nodes of no row have none. */
static int write_codes(struct table_writing *writing, const char *name, bool wide,
                       const struct node_column *column)
{
    int64_t rows[256];
    int32_t narrow[256];
    uint32_t table;
    int rv = raw_writer_add_table(writing->writer, name, false, 0, wide ? TR_I64 : TR_I32, 0, NULL,
                                  &table, writing->error);
    for (uint64_t done = 0; rv == 0 && done < writing->ids->count;) {
        uint64_t left = writing->ids->count - done, some = left < 256 ? left : 256;
        for (uint64_t i = 0; i < some; i++) {
            narrow[i] = done + i < writing->nodes->rows ? column->codes[done + i] : NODE_NO_CODE;
            rows[i] = narrow[i];
        }
        rv = raw_writer_rows(writing->writer, table, some, wide ? (void *)rows : narrow,
                             writing->error);
        done += some;
    }
    return rv == 0 && !column->is_counting ? write_value_names(writing, name, column) : rv;
}

/* What a row of labels has of a node: 1 for those that it has, -1 throughout where nothing is
 * known. */
static void fill_labels(const struct table_nodes *nodes, uint64_t row, int8_t *to, uint64_t width)
{
    uint32_t flag = 0;
    memset(to, NODE_NO_CODE, width);
    for (uint32_t i = 0; row < nodes->rows && i < nodes->count; i++) {
        const struct node_column *column = &nodes->columns[i];
        if (column->role == TABLE_LABEL_FLAG)
            to[flag++] = (int8_t)column->codes[row];
        if (column->role != TABLE_LABEL_SETS)
            continue;
        uint64_t begin = row == 0 ? 0 : column->set_ends[row - 1], end = column->set_ends[row];
        if (begin == end || column->codes[begin] != NODE_NO_CODE)
            memset(to, 0, width);
        for (uint64_t c = begin; c < end && column->codes[c] != NODE_NO_CODE; c++)
            to[column->codes[c]] = 1;
    }
}

static int write_label_names(struct table_writing *writing)
{
    const struct table_nodes *nodes = writing->nodes;
    char name[TABLE_NAME_MAX + 8];
    uint32_t list;
    int rv = raw_writer_add_names(writing->writer, NAMES_VALUES, 0, "label", &list, writing->error);
    for (uint32_t i = 0; rv == 0 && i < nodes->count; i++) {
        if (nodes->columns[i].role != TABLE_LABEL_FLAG)
            continue;
        name_column(writing, i, name, sizeof name);
        rv = raw_writer_name(writing->writer, list, name, strlen(name), writing->error);
    }
    return rv;
}

/* Several labels a node. */
static int write_label_rows(struct table_writing *writing, uint64_t width)
{
    uint64_t at_once = LABELS_BYTES / width, ids = writing->ids->count;
    uint32_t table;
    int8_t *rows = malloc(at_once * width);
    int rv = rows == NULL ? error_set(writing->error, TR_ENOMEM, "no memory to write labels")
                          : raw_writer_add_table(writing->writer, "label", false, 0, TR_I8, 1,
                                                 &width, &table, writing->error);
    for (uint64_t done = 0; rv == 0 && done < ids;) {
        uint64_t some = ids - done < at_once ? ids - done : at_once;
        for (uint64_t i = 0; i < some; i++)
            fill_labels(writing->nodes, done + i, rows + i * width, width);
        rv = raw_writer_rows(writing->writer, table, some, rows, writing->error);
        done += some;
    }
    free(rows);
    return rv;
}

/* is_new: no table had the name. */
static int take_table_name(struct id_map *taken, const char *name, bool *is_new)
{
    const struct id_text text = { name, (uint32_t)strlen(name) };
    uint64_t number, known = taken->count;
    int rv = id_map_add(taken, &text, 1, &number);
    *is_new = rv == 0 && number == known;
    return rv;
}

static int take_own_names(struct id_map *taken)
{
    static const char *const OWN[] = { "feat", "label", "train_mask", "val_mask", "test_mask" };
    bool is_new;
    int rv = 0;
    for (size_t i = 0; rv == 0 && i < sizeof OWN / sizeof *OWN; i++)
        rv = take_table_name(taken, OWN[i], &is_new);
    return rv;
}

/* A column's name becomes that of a file. Where another table has it, the column's number is its
 * name, with a number behind it where a column is called so too. */
static int name_table(const struct table_writing *writing, uint32_t i, struct id_map *taken,
                      char *text, size_t size)
{
    bool is_new;
    name_column(writing, i, text, size);
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '/' || *c == '~' || (*c == '.' && c == text) ? '_' : *c;
    int rv = take_table_name(taken, text, &is_new);
    /* Each round finds another name taken, and there are fewer than columns. */
    for (uint32_t round = 1; rv == 0 && !is_new; round++) {
        if (round == 1)
            snprintf(text, size, "column%u", i + 1);
        else
            snprintf(text, size, "column%u_%u", i + 1, round);
        rv = take_table_name(taken, text, &is_new);
    }
    return rv;
}

/* Columns of labels and of codes are tables of their own. */
static int write_value_tables(struct table_writing *writing)
{
    const struct table_nodes *nodes = writing->nodes;
    struct id_map taken = { 0 };
    char name[TABLE_NAME_MAX + 8];
    int rv = nodes->num_flags > 0 ? write_label_rows(writing, nodes->num_flags) : 0;
    if (rv == 0 && nodes->num_flags > 0)
        rv = write_label_names(writing);
    for (uint32_t i = 0; rv == 0 && i < nodes->count; i++) {
        const struct node_column *column = &nodes->columns[i];
        if (column->role == TABLE_LABELS)
            rv = write_codes(writing, "label", true, column);
        if (column->role == TABLE_LABEL_SETS && column->num_values > 0) {
            rv = write_label_rows(writing, column->num_values);
            rv = rv == 0 ? write_value_names(writing, "label", column) : rv;
        }
        if (column->role != TABLE_CODES)
            continue;
        rv = taken.count == 0 ? take_own_names(&taken) : 0;
        if (rv == 0)
            rv = name_table(writing, i, &taken, name, sizeof name);
        rv = rv == 0 ? write_codes(writing, name, false, column)
                     : error_set(writing->error, rv, "no memory for the names of tables");
    }
    id_map_fini(&taken);
    return rv;
}

static int write_masks(struct table_writing *writing)
{
    static const char *const NAMES[] = { "train_mask", "val_mask", "test_mask" };
    const struct table_nodes *nodes = writing->nodes;
    uint8_t rows[1024];
    int rv = 0;
    for (int mask = 0; rv == 0 && nodes->masks != NULL && mask < VALUE_MASKS; mask++) {
        uint32_t table;
        if (!nodes->has_masks[mask])
            continue;
        rv = raw_writer_add_table(writing->writer, NAMES[mask], false, 0, TR_U8, 0, NULL, &table,
                                  writing->error);
        for (uint64_t done = 0; rv == 0 && done < writing->ids->count;) {
            uint64_t left = writing->ids->count - done,
                     some = left < sizeof rows ? left : sizeof rows;
            for (uint64_t i = 0; i < some; i++)
                rows[i] = done + i < nodes->rows ? nodes->masks[done + i] >> mask & 1 : 0;
            rv = raw_writer_rows(writing->writer, table, some, rows, writing->error);
            done += some;
        }
    }
    return rv;
}

static int write_nodes(struct table_writing *writing)
{
    const struct table_nodes *nodes = writing->nodes;
    for (uint32_t i = 0; i < nodes->count; i++)
        writing->width += width_of(&nodes->columns[i]);
    writing->found->num_features = writing->width;
    int rv = 0;
    if (writing->width > 0) {
        writing->rows = malloc(AT_ONCE * writing->width * sizeof *writing->rows);
        rv = writing->rows != NULL
                 ? write_features(writing)
                 : error_set(writing->error, TR_ENOMEM,
                             "no memory for rows of %" PRIu64 " features", writing->width);
        free(writing->rows);
        if (rv == 0)
            rv = write_feature_names(writing);
    }
    if (rv == 0)
        rv = write_value_tables(writing);
    return rv == 0 ? write_masks(writing) : rv;
}

/* Features, and labels where no column has them, of a file of their own. */
static int write_file_features(struct table_writing *writing, struct node_features *features,
                               enum raw_rows form)
{
    const struct table_nodes *nodes = writing->nodes;
    struct table_found *found = writing->found;
    bool labels = false;
    for (uint32_t i = 0; i < nodes->count; i++) {
        enum table_role role = nodes->columns[i].role;
        labels = labels || role == TABLE_LABELS || role == TABLE_LABEL_FLAG ||
                 role == TABLE_LABEL_SETS;
    }
    int rv = node_features_write(features, writing->ids->count, labels, form, writing->writer,
                                 writing->error);
    found->num_features = features->found.columns;
    if (features->found.labels == NODE_LABELS_WRITTEN)
        found->num_classes = features->found.num_classes;
    return rv;
}

int table_write(const struct table_options *options, const char *out,
                const struct raw_write_options *write, const char *name, const struct id_map *ids,
                const struct table_edges *edges, const struct table_nodes *nodes,
                struct node_features *features, struct table_found *found, struct error *error)
{
    struct table_writing writing = {
        .ids = ids, .edges = edges, .nodes = nodes, .found = found, .error = error
    };
    struct graph_types types;
    int rv = graph_types_init_homogeneous(&types);
    if (rv != 0)
        return error_set(error, rv, "%s: no memory to write it", out);
    rv = raw_writer_open(out, write, name, &types, &ids->count, &writing.writer, error);
    graph_types_fini(&types);
    if (rv != 0)
        return rv;
    if (nodes != NULL)
        writing.columns = found->columns + (found->num_columns - nodes->count);
    rv = write_and_look(&writing, options);
    if (rv == 0)
        rv = write_node_names(&writing);
    if (rv == 0 && nodes != NULL)
        rv = write_nodes(&writing);
    if (rv == 0 && features != NULL)
        rv = write_file_features(&writing, features, options->rows);
    if (rv == 0)
        return raw_writer_commit(writing.writer, error);
    raw_writer_abort(writing.writer);
    return rv;
}
