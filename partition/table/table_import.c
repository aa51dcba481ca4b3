/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/table_import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "partition/table/table_write.h"
#include "runtime/base/printable.h"

int table_found_add(struct table_found *found, bool of_nodes, const struct column_names *names,
                    const struct table_roles *roles)
{
    struct table_column *grown = realloc(found->columns,
                                         (found->num_columns + names->count + 1) * sizeof *grown);
    if (grown == NULL)
        return TR_ENOMEM;
    found->columns = grown;
    /* Columns of the edges come first, whichever table was read first. */
    uint32_t at = of_nodes ? found->num_columns : 0;
    memmove(grown + at + names->count, grown + at, (found->num_columns - at) * sizeof *grown);
    memset(grown + at, 0, names->count * sizeof *grown);
    found->num_columns += names->count;
    for (uint32_t i = 0; i < names->count; i++) {
        grown[at + i] = (struct table_column){ .of_nodes = of_nodes,
                                               .column = i + 1,
                                               .role = roles->roles[i] };
        grown[at + i].name = roles->header ? strdup(names->names[i]) : NULL;
        if (roles->header && grown[at + i].name == NULL)
            return TR_ENOMEM;
        if (roles->header)
            make_printable(grown[at + i].name);
    }
    return 0;
}

void table_found_fini(struct table_found *found)
{
    for (uint32_t i = 0; i < found->num_columns; i++)
        free(found->columns[i].name);
    free(found->columns);
    *found = (struct table_found){ 0 };
}

/* The columns of the nodes table that would be features stay unread where a file has these. */
static int read_features(struct node_features *features, const struct table_options *options,
                         const struct table_nodes *nodes, struct error *error)
{
    int rv = node_features_read(features, options->files, options->node_features,
                                options->feature_base, options->cancel, error);
    if (rv != 0 || features->read.rows.num_rows == nodes->rows)
        return rv;
    return error_set(error, TR_EMISMATCH,
                     "%s: has %" PRIu64 " rows for the %" PRIu64 " nodes of %s; one row a node is "
                     "needed, in the order of that table",
                     options->node_features, features->read.rows.num_rows, nodes->rows,
                     options->nodes);
}

int table_import(const struct table_options *given, const char *out,
                 const struct raw_write_options *write, struct table_found *found,
                 struct error *error)
{
    struct table_options options = *given;
    struct id_map ids = { 0 };
    struct table_edges edges = { 0 };
    struct table_nodes nodes = { 0 };
    struct node_features features = { 0 };
    char *name = raw_name_of(options.edges);
    options.files = options.files != NULL ? options.files : files_posix;
    *found = (struct table_found){ 0 };
    if (options.node_features != NULL)
        options.node_names.features = "";
    int rv = name != NULL ? 0 : error_set(error, TR_ENOMEM, "%s: no memory", options.edges);
    /* The nodes come first: their rows are the first numbers. */
    if (rv == 0 && options.nodes != NULL)
        rv = table_nodes_read(&nodes, &options, &ids, found, error);
    if (rv == 0 && options.node_features != NULL)
        rv = read_features(&features, &options, &nodes, error);
    if (rv == 0)
        rv = table_edges_read(&edges, &options, &ids, found, error);
    if (rv == 0) {
        found->added_nodes = options.nodes != NULL ? ids.count - nodes.rows : 0;
        rv = table_write(&options, out, write, name, &ids, &edges,
                         options.nodes != NULL ? &nodes : NULL,
                         options.node_features != NULL ? &features : NULL, found, error);
    }
    found->features = features.found;
    node_features_fini(&features);
    table_nodes_fini(&nodes);
    table_edges_fini(&edges);
    id_map_fini(&ids);
    free(name);
    if (rv != 0)
        table_found_fini(found);
    return rv;
}
