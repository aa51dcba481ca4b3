/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of edges and of nodes, "e.csv" and behind "@@ n.csv" the other one; the first two bytes
 * choose how they are read.
 */
#include "partition/table/node_values.h"
#include "partition/table/table_edges.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

static void use_nodes(const struct table_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct node_column *column = &nodes->columns[i];
        if (column->values != NULL)
            fuzz_touch(column->values, nodes->rows * column->width * sizeof *column->values);
        uint64_t codes = column->role == TABLE_LABEL_SETS ? column->num_codes : nodes->rows;
        int32_t values = column->role == TABLE_LABEL_FLAG ? 2 : (int32_t)column->num_values;
        for (uint64_t c = 0; column->codes != NULL && c < codes; c++)
            assert(column->codes[c] >= NODE_NO_CODE &&
                   (column->prose || column->codes[c] < values));
        for (uint64_t row = 0; column->set_ends != NULL && row < nodes->rows; row++)
            assert(column->set_ends[row] <= codes &&
                   (row == 0 || column->set_ends[row] >= column->set_ends[row - 1]));
        for (uint32_t v = 0; v < column->num_values; v++) {
            struct id_text text = node_values_text(nodes, column, v);
            fuzz_touch(text.at, text.length);
        }
    }
}

static void use_edges(const struct table_edges *edges, const struct id_map *ids)
{
    for (uint64_t i = 0; i < edges->pairs.count; i++) {
        uint64_t src, dst;
        pairs_read(&edges->pairs, i, 1, &src, &dst);
        assert(src < ids->count && dst < ids->count);
    }
    for (uint64_t i = 0; i < ids->count; i++)
        assert(id_map_text(ids, i).length > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char delimiters[] = { '\0', ',', ' ', '\t' };
    struct fuzz_bytes bytes = { data, size };
    uint8_t choice = fuzz_byte(&bytes), more = fuzz_byte(&bytes);
    struct memory_files files;
    struct table_options options = {
        .edges = FUZZ_FOLDER "/e.csv",
        .delimiter = delimiters[choice & 3],
        .header = (enum table_header)((choice >> 2 & 3) % 3),
        .undirected = choice & 16,
        .edge_names = { .weight = choice & 32 ? "weight" : NULL, .time = choice & 64 ? "4" : NULL },
        .node_names = { .labels = choice & 128 ? "2" : NULL, .features = more & 1 ? "3,x" : NULL },
        .missing = (enum table_missing)((more >> 1 & 3) % 3),
        .unknown = (enum table_unknown)(more >> 3 & 1),
        .loops = more & 16 ? RAW_LOOPS_DROP : RAW_LOOPS_KEEP,
        .duplicates = more & 32 ? RAW_DUPLICATES_MERGE : RAW_DUPLICATES_COUNT,
        .label_separator = more & 64 ? ';' : '\0',
    };
    if (more & 128)
        options.node_names.labels = "2,3";
    options.no_value = choice & 8 ? "-, unknown" : NULL;
    struct table_found found = { 0 };
    struct table_edges edges = { 0 };
    struct table_nodes nodes = { 0 };
    struct id_map ids = { 0 };
    struct error error = { 0 };
    int rv = 0;
    memory_files_init(&files, "e.csv", bytes.at, bytes.left);
    options.files = &files.base;
    if (files.count > 1) {
        options.nodes = FUZZ_FOLDER "/n.csv";
        rv = table_nodes_read(&nodes, &options, &ids, &found, &error);
    }
    if (rv == 0 && options.nodes != NULL)
        use_nodes(&nodes);
    if (rv == 0)
        rv = table_edges_read(&edges, &options, &ids, &found, &error);
    fuzz_check(rv, &error);
    if (rv == 0)
        use_edges(&edges, &ids);
    table_nodes_fini(&nodes);
    table_edges_fini(&edges);
    id_map_fini(&ids);
    table_found_fini(&found);
    memory_files_fini(&files);
    return 0;
}
