/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/table_import.h"

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

int table_import(const struct table_options *given, const char *out,
                 const struct raw_write_options *write, struct table_found *found,
                 struct error *error)
{
    struct table_options options = *given;
    struct id_map ids = { 0 };
    struct table_edges edges = { 0 };
    struct table_nodes nodes = { 0 };
    char *name = raw_name_of(options.edges);
    options.files = options.files != NULL ? options.files : files_posix;
    *found = (struct table_found){ 0 };
    int rv = name != NULL ? 0 : error_set(error, TR_ENOMEM, "%s: no memory", options.edges);
    /* The nodes come first: their rows are the first numbers. */
    if (rv == 0 && options.nodes != NULL)
        rv = table_nodes_read(&nodes, &options, &ids, found, error);
    if (rv == 0)
        rv = table_edges_read(&edges, &options, &ids, found, error);
    if (rv == 0) {
        found->added_nodes = options.nodes != NULL ? ids.count - nodes.rows : 0;
        rv = table_write(out, write, name, &ids, &edges, options.nodes != NULL ? &nodes : NULL,
                         found, error);
    }
    table_nodes_fini(&nodes);
    table_edges_fini(&edges);
    id_map_fini(&ids);
    free(name);
    if (rv != 0)
        table_found_fini(found);
    return rv;
}
