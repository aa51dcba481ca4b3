/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing NAME.json. jansson leaves out what it has no memory for, so each value is put into the
 * document through book_put() or book_append(), which remember that one is missing; then nothing is
 * written.
 */
#include "partition/store/book_json.h"

#include <assert.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/atomic_dir.h"
#include "runtime/base/json_text.h"

/* The document under way. */
struct making {
    const struct book_file *file;
    bool incomplete; /* memory ended, or a name is not UTF-8 */
};

/* Both take the value over. NULL: there was no memory to make it. */
static void book_put(struct making *making, json_t *object, const char *key, json_t *value)
{
    making->incomplete |= json_object_set_new(object, key, value) != 0;
}

static void book_append(struct making *making, json_t *array, json_t *value)
{
    making->incomplete |= json_array_append_new(array, value) != 0;
}

/* Homogeneous IDs count partition by partition, in each type by type: where a (part, type)
 * begins. */
static json_t *make_ranges(struct making *making, struct extent *const *extents, uint32_t num_types,
                           uint32_t num_parts, uint32_t type)
{
    json_t *ranges = json_array();
    uint64_t begin = 0;
    for (uint32_t part = 0; part < num_parts; part++) {
        for (uint32_t t = 0; t < num_types; t++) {
            uint64_t end = begin + (extents[t][part].end - extents[t][part].begin);
            if (t == type)
                book_append(making, ranges, json_pack("[I,I]", (json_int_t)begin, (json_int_t)end));
            begin = end;
        }
    }
    return ranges;
}

static uint64_t book_sum(const uint64_t *counts, uint32_t count)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += counts[i];
    return total;
}

/* The name of a type of either kind; edge types need room for three names. */
static char *type_name(const struct graph_types *types, bool edges, uint32_t type)
{
    if (!edges)
        return strdup(types->ntypes[type]);
    int length = graph_types_canonical(types, type, NULL, 0);
    char *text = malloc((size_t)length + 1);
    if (text != NULL)
        graph_types_canonical(types, type, text, (size_t)length + 1);
    return text;
}

static void set_types(struct making *making, json_t *maps, json_t *numbers, bool edges)
{
    const struct book *book = &making->file->book;
    uint32_t count = edges ? book->types.num_etypes : book->types.num_ntypes;
    struct extent **extents = edges ? book->edge_extents : book->node_extents;
    for (uint32_t type = 0; type < count; type++) {
        char *name = type_name(&book->types, edges, type);
        /* A key that is NULL is refused, which book_put() remembers. */
        book_put(making, maps, name, make_ranges(making, extents, count, book->num_parts, type));
        book_put(making, numbers, name, json_integer(type));
        free(name);
    }
}

/* Of a sparse table, beside its type and shape. */
static json_t *make_csr_format(struct making *making, const struct book_table *table)
{
    json_t *elements = json_array();
    for (uint32_t p = 0; p < making->file->book.num_parts; p++)
        book_append(making, elements, json_integer((json_int_t)table->nnz[p]));
    return json_pack("{s:s,s:b,s:I,s:o}", "name", "csr", "values", (int)table->has_values,
                     "row_max", (json_int_t)table->row_nnz_max, "elements", elements);
}

/* {TYPE: {NAME: {"dtype": ..., "shape": [...], "format": ...}}} of the tables on nodes or on edges. */
static json_t *make_tables(struct making *making, bool edges)
{
    const struct book_file *file = making->file;
    json_t *types = json_object();
    for (uint32_t i = 0; i < file->num_tables; i++) {
        const struct book_table *table = &file->tables[i];
        if (table->on_edges != edges)
            continue;
        char *name = type_name(&file->book.types, edges, table->type);
        json_t *of_type = json_object_get(types, name);
        if (of_type == NULL) {
            of_type = json_object();
            book_put(making, types, name, of_type);
        }
        json_t *shape = json_array();
        for (uint32_t d = 0; d < table->ndim; d++)
            book_append(making, shape, json_integer((json_int_t)table->shape[d]));
        json_t *entry = json_pack("{s:s,s:o}", "dtype", tr_dtype_name(table->dtype), "shape",
                                  shape);
        if (table->form == TABLE_CSR)
            book_put(making, entry, "format", make_csr_format(making, table));
        book_put(making, of_type, table->name, entry);
        free(name);
    }
    return types;
}

static const char *const rank_sets[] = {
    [RANKS_ALL] = "all", [RANKS_MASK] = "mask", [RANKS_DEAL] = "deal"
};

/* [{"set": ..., "ntype": ..., "count": ...}, ...]: their order is their numbers. */
static json_t *make_ranks(struct making *making)
{
    const struct book *book = &making->file->book;
    json_t *list = json_array();
    for (uint32_t i = 0; i < book->num_ranks; i++) {
        const struct rank_table *table = &book->ranks[i];
        json_t *entry = json_pack("{s:s,s:s,s:I,s:b}", "set", rank_sets[table->set], "ntype",
                                  book->types.ntypes[table->ntype], "count",
                                  (json_int_t)table->num_ranks, "stored", (int)table->stored);
        if (table->set == RANKS_MASK)
            book_put(making, entry, "mask", json_string(table->mask));
        /* JSON numbers end at 2^63: a hash does not. */
        char hash[32];
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)table->deal_hash);
        if (table->set == RANKS_DEAL)
            book_put(making, entry, "hash", json_string(hash));
        book_append(making, list, entry);
    }
    return list;
}

/* [{"of": ..., "ntype": ..., "count": ..., "table": ...}, ...] */
static json_t *make_names(struct making *making)
{
    const struct book_file *file = making->file;
    json_t *list = json_array();
    for (uint32_t i = 0; i < file->num_names; i++) {
        const struct book_names *names = &file->names[i];
        json_t *entry = json_pack("{s:s,s:s,s:I}", "of", names_of_word(names->key.of), "ntype",
                                  file->book.types.ntypes[names->key.ntype], "count",
                                  (json_int_t)names->count);
        if (names->key.table != NULL)
            book_put(making, entry, "table", json_string(names->key.table));
        book_append(making, list, entry);
    }
    return list;
}

/* {TYPE: [out-edges of each partition, ...]} */
static json_t *make_out_edges(struct making *making)
{
    const struct book *book = &making->file->book;
    json_t *types = json_object();
    for (uint32_t e = 0; e < book->types.num_etypes; e++) {
        json_t *counts = json_array();
        for (uint32_t p = 0; p < book->num_parts; p++) {
            const struct extent *extent = &book->out_extents[e][p];
            book_append(making, counts, json_integer((json_int_t)(extent->end - extent->begin)));
        }
        char *name = type_name(&book->types, true, e);
        book_put(making, types, name, counts);
        free(name);
    }
    return types;
}

static json_t *make_own(struct making *making)
{
    const struct book_file *file = making->file;
    json_t *own = json_object(), *columns = json_array();
    book_put(making, own, "format", json_integer(BOOK_FORMAT_VERSION));
    /* JSON numbers end at 2^63: a seed does not. */
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)file->seed);
    book_put(making, own, "seed", json_string(seed));
    if (file->first_id > 0)
        book_put(making, own, "first_id", json_integer((json_int_t)file->first_id));
    book_put(making, own, "num_trainers", json_integer(file->num_trainers));
    if (file->train_mask != NULL)
        book_put(making, own, "train_mask", json_string(file->train_mask));
    book_put(making, own, "original_edge_ids", json_boolean(file->original_edge_ids));
    for (uint32_t i = 0; i < file->book.types.num_etypes; i++) {
        if (file->column_tables == NULL || !file->column_tables[i])
            continue;
        char *name = type_name(&file->book.types, true, i);
        book_append(making, columns, json_string(name));
        free(name);
    }
    book_put(making, own, "column_tables", columns);
    book_put(making, own, "node_data", make_tables(making, false));
    book_put(making, own, "edge_data", make_tables(making, true));
    if (file->num_names > 0)
        book_put(making, own, "names", make_names(making));
    if (file->book.num_ranks > 0)
        book_put(making, own, "ranks", make_ranks(making));
    if (file->book.edge_runs)
        book_put(making, own, "edge_runs", json_true());
    if (file->book.out_extents != NULL)
        book_put(making, own, "out_edges", make_out_edges(making));
    if (checksums_known(&file->checksums))
        making->incomplete |= checksums_put(&file->checksums, own) != 0;
    return own;
}

static json_t *make_root(struct making *making)
{
    const struct book_file *file = making->file;
    const struct book *book = &file->book;
    json_t *node_map = json_object(), *edge_map = json_object();
    json_t *ntypes = json_object(), *etypes = json_object();
    set_types(making, node_map, ntypes, false);
    set_types(making, edge_map, etypes, true);
    json_t *root = json_pack(
        "{s:s,s:I,s:I,s:s,s:I,s:I,s:o,s:o,s:o,s:o}", "graph_name", book->graph_name, "num_nodes",
        (json_int_t)book_sum(book->num_nodes, book->types.num_ntypes), "num_edges",
        (json_int_t)book_sum(book->num_edges, book->types.num_etypes), "part_method",
        book->part_method, "num_parts", (json_int_t)book->num_parts, "halo_hops",
        (json_int_t)book->halo_hops, "node_map", node_map, "edge_map", edge_map, "ntypes", ntypes,
        "etypes", etypes);
    for (uint32_t part = 0; part < book->num_parts; part++) {
        char key[32];
        const char *folder = file->part_folders[part];
        snprintf(key, sizeof key, "part-%u", part);
        book_put(making, root, key,
                 json_pack("{s:s,s:s,s:s}", "node_feats", folder, "edge_feats", folder,
                           "part_graph", folder));
    }
    book_put(making, root, "troupe", make_own(making));
    return root;
}

int book_file_write(const struct book_file *file, struct files *files, const char *path,
                    struct error *error)
{
    struct making making = { .file = file };
    json_t *root = make_root(&making);
    char *text = making.incomplete ? NULL : json_write_text(root, JSON_INDENT(4));
    if (text != NULL && checksums_known(&file->checksums)) {
        bool sealed = checksums_seal(text, strlen(text));
        assert(sealed);
        (void)sealed;
    }
    int rv = text == NULL ? error_set(error, TR_ENOMEM,
                                      "%s: no memory to write it, or a name "
                                      "that is not UTF-8",
                                      path)
                          : files_write_atomic(files, path, text, strlen(text), error);
    free(text);
    json_decref(root);
    return rv;
}
