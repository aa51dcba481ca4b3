/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables that come to a folder in DGL's chunked format.
 *
 * Invariants:
 *   - metadata.json names only files that are whole and synced: it is replaced after they are.
 *   - A file that metadata.json names is never written again, only replaced by another name.
 *   - What was replaced is removed after metadata.json without it is synced.
 */
#include "config.h" /* O_DIRECTORY */

#include "partition/raw/raw_amend.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/raw/raw_source.h"
#include "partition/store/npy.h"
#include "runtime/base/atomic_dir.h"
#include "runtime/base/folder_lock.h"
#include "runtime/base/json_field.h"
#include "runtime/base/json_text.h"

#define AMEND_NAME_MAX 1200
/* Files of one name that killed processes left: nobody leaves more. */
#define AMEND_TRIES_MAX 1000

struct amend_table {
    struct amend_rows_of of;
    char *name;
    char *folder;    /* of its file */
    char *aside;     /* the path that it is written at; NULL: it has its name, or was removed */
    char *path;      /* the path that it gets; NULL: it has none yet */
    char *file_name; /* that path below the graph's folder */
    struct npy_writer npy;
    json_t *replaced; /* the names of the files that it takes the place of, or NULL */
};

struct raw_amend {
    struct files *files;
    const struct cancel *cancel;
    char *path;
    char *metadata; /* the path of metadata.json */
    struct folder_lock lock;
    json_t *document;
    struct raw_graph *graph;
    uint32_t num_tables;
    struct amend_table *tables;
};

static int no_memory(const struct raw_amend *amend, struct error *error)
{
    return error_set(error, TR_ENOMEM, "%s: no memory to add to it", amend->path);
}

static int amend_lock(struct raw_amend *amend, struct error *error)
{
    bool busy;
    int rv = folder_lock_take(&amend->lock, amend->files, amend->path, &busy, error);
    return busy ? error_set(error, rv,
                            "%s: another process adds to this graph; begin again when it has ended",
                            amend->path)
                : rv;
}

static int amend_begin(struct raw_amend *amend, struct error *error)
{
    struct json_field root;
    const struct raw_options options = { .files = amend->files, .cancel = amend->cancel };
    if (!files_exists(amend->files, amend->path))
        return error_set(error, TR_ENOENT, "%s: no such folder", amend->path);
    if (!files_exists(amend->files, amend->metadata))
        return error_set(error, TR_EUNSUPPORTED,
                         "%s: has no metadata.json, so nothing can be added to it; make a folder "
                         "of it with `troupe import edges %s --out RAW` and name that",
                         amend->path, amend->path);
    /* The folder is locked before it is read: the document that is written back is the one that no
     * other process has changed since. */
    int rv = amend_lock(amend, error);
    if (rv == 0)
        rv = json_load_document(amend->files, amend->metadata, &amend->document, &root, error);
    if (rv == 0)
        rv = raw_open(amend->path, &options, &amend->graph, error);
    return rv;
}

int raw_amend_open(const char *path, struct files *files, const struct cancel *cancel,
                   struct raw_amend **out, struct error *error)
{
    struct raw_amend *amend = calloc(1, sizeof *amend);
    *out = NULL;
    if (amend == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to add to it", path);
    amend->files = files != NULL ? files : files_posix;
    amend->cancel = cancel;
    amend->path = strdup(path);
    amend->metadata = files_join(path, "metadata.json");
    int rv = amend->path == NULL || amend->metadata == NULL
                 ? error_set(error, TR_ENOMEM, "%s: no memory to add to it", path)
                 : amend_begin(amend, error);
    if (rv != 0) {
        raw_amend_abort(amend);
        return rv;
    }
    *out = amend;
    return 0;
}

struct raw_graph *raw_amend_graph(struct raw_amend *amend)
{
    return amend->graph;
}

/* The type's name, as metadata.json has it. */
static void name_type(const struct raw_amend *amend, struct amend_rows_of of, char *text,
                      size_t size)
{
    if (of.edges)
        graph_types_canonical(&amend->graph->types, of.type, text, size);
    else
        snprintf(text, size, "%s", amend->graph->types.ntypes[of.type]);
}

static const char *list_types(const struct raw_amend *amend, bool edges, char *text, size_t size)
{
    const struct graph_types *types = &amend->graph->types;
    const uint32_t count = edges ? types->num_etypes : types->num_ntypes;
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count && length < size; i++) {
        char name[AMEND_NAME_MAX];
        name_type(amend, (struct amend_rows_of){ edges, i }, name, sizeof name);
        length += (size_t)snprintf(text + length, size - length, "%s'%s'", i > 0 ? ", " : "", name);
    }
    return text;
}

int raw_amend_find_type(struct raw_amend *amend, bool edges, const char *name,
                        struct amend_rows_of *of, struct error *error)
{
    const struct graph_types *types = &amend->graph->types;
    const char *option = edges ? "etype" : "ntype", *kind = edges ? "edge" : "node";
    const uint32_t count = edges ? types->num_etypes : types->num_ntypes;
    char names[400];
    int found = name == NULL ? 0
                : edges      ? graph_types_find_etype(types, name)
                             : graph_types_find_ntype(types, name);
    if (found < 0)
        return error_set(error, TR_ENOENT, "%s: %s '%s': there is no %s %s type; it has %s",
                         amend->path, option, name, edges ? "one such" : "such", kind,
                         list_types(amend, edges, names, sizeof names));
    if (name == NULL && count != 1)
        return error_set(error, TR_EINVAL, "%s: has %u %s types; say by %s which one is meant: %s",
                         amend->path, count, kind, option,
                         list_types(amend, edges, names, sizeof names));
    *of = (struct amend_rows_of){ edges, (uint32_t)found };
    return 0;
}

/* The folder below the graph's that the type's tables lie in. */
static void name_folder(const struct raw_amend *amend, struct amend_rows_of of, char *text,
                        size_t size)
{
    char type[AMEND_NAME_MAX];
    name_type(amend, of, type, sizeof type);
    snprintf(text, size, "%s/%.900s", of.edges ? "edge_data" : "node_data", type);
}

/* The object's member of that key, made where there is none; NULL: no memory, or no object. */
static json_t *amend_member(json_t *object, const char *key)
{
    json_t *member = json_object_get(object, key);
    if (member == NULL && json_object_set_new(object, key, json_object()) == 0)
        member = json_object_get(object, key);
    return member;
}

static json_t *of_type(const struct raw_amend *amend, struct amend_rows_of of)
{
    char type[AMEND_NAME_MAX];
    json_t *all = amend_member(amend->document, of.edges ? "edge_data" : "node_data");
    name_type(amend, of, type, sizeof type);
    return all != NULL ? amend_member(all, type) : NULL;
}

static bool is_added(const struct raw_amend *amend, struct amend_rows_of of, const char *name)
{
    for (uint32_t i = 0; i < amend->num_tables; i++) {
        const struct amend_table *table = &amend->tables[i];
        if (table->of.edges == of.edges && table->of.type == of.type &&
            strcmp(table->name, name) == 0)
            return true;
    }
    return false;
}

static int amend_check(const struct raw_amend *amend, struct amend_rows_of of, const char *name,
                       bool replace, struct error *error)
{
    bool there = raw_find_table(amend->graph, of.edges, of.type, name) >= 0;
    char type[AMEND_NAME_MAX];
    int rv = raw_check_name(name, error);
    if (rv != 0 || (!is_added(amend, of, name) && (!there || replace)))
        return rv;
    name_type(amend, of, type, sizeof type);
    return error_set(error, TR_EEXIST,
                     "%s: %s type '%.300s' has '%s' already; give \"replace\" to make it again",
                     amend->path, of.edges ? "edge" : "node", type, name);
}

static int amend_create(struct raw_amend *amend, struct amend_table *table, enum tr_dtype dtype,
                        uint64_t width, struct error *error)
{
    char text[AMEND_NAME_MAX];
    const struct raw_graph *graph = amend->graph;
    const struct amend_rows_of of = table->of;
    const uint64_t shape[] = { of.edges ? graph->num_edges[of.type] : graph->num_nodes[of.type],
                               width };
    name_folder(amend, of, text, sizeof text);
    table->folder = files_join(amend->path, text);
    snprintf(text, sizeof text, ".%s.npy.adding", table->name);
    table->aside = table->folder != NULL ? files_join(table->folder, text) : NULL;
    if (table->aside == NULL)
        return no_memory(amend, error);
    int rv = files_make_folders(amend->files, table->folder, error);
    /* What a killed process left under the hidden name is nobody's: the folder is locked. */
    if (rv == 0)
        rv = files_remove_tree(amend->files, table->aside, error);
    if (rv == 0)
        rv = npy_create(&table->npy, amend->files, table->aside, npy_descr(dtype),
                        width > 0 ? 2 : 1, shape, error);
    return rv;
}

int raw_amend_add_table(struct raw_amend *amend, struct amend_rows_of of, const char *name,
                        bool replace, enum tr_dtype dtype, uint64_t width, uint32_t *table,
                        struct error *error)
{
    int rv = amend_check(amend, of, name, replace, error);
    if (rv != 0)
        return rv;
    struct amend_table *grown = realloc(amend->tables, (amend->num_tables + 1) * sizeof *grown);
    if (grown == NULL)
        return no_memory(amend, error);
    amend->tables = grown;
    struct amend_table *added = &grown[amend->num_tables];
    *added = (struct amend_table){ .of = of, .name = strdup(name) };
    if (added->name == NULL)
        return no_memory(amend, error);
    /* The table counts before it is whole: raw_amend_abort() removes what there is of it. */
    *table = amend->num_tables++;
    return amend_create(amend, added, dtype, width, error);
}

static int check_cancel(const struct raw_amend *amend, struct error *error)
{
    if (!cancel_asked(amend->cancel))
        return 0;
    return error_set(error, TR_ECANCELED, "%s: interrupted; nothing was added", amend->path);
}

int raw_amend_rows(struct raw_amend *amend, uint32_t table, uint64_t count, const void *rows,
                   struct error *error)
{
    struct npy_writer *npy = &amend->tables[table].npy;
    int rv = check_cancel(amend, error);
    return rv == 0 ? npy_append(npy, rows, (size_t)(count * npy->row_bytes), error) : rv;
}

/* A name for the table's file that no file has: NAME.npy, NAME-2.npy ... */
static int amend_choose(struct raw_amend *amend, struct amend_table *table, struct error *error)
{
    char text[AMEND_NAME_MAX], folder[AMEND_NAME_MAX];
    name_folder(amend, table->of, folder, sizeof folder);
    for (int i = 1; i <= AMEND_TRIES_MAX; i++) {
        char number[16] = "";
        if (i > 1)
            snprintf(number, sizeof number, "-%d", i);
        snprintf(text, sizeof text, "%.920s/%.250s%s.npy", folder, table->name, number);
        char *path = files_join(amend->path, text);
        if (path == NULL)
            return no_memory(amend, error);
        if (!files_exists(amend->files, path)) {
            table->file_name = strdup(text);
            table->path = path;
            return table->file_name != NULL ? 0 : no_memory(amend, error);
        }
        free(path);
    }
    return error_set(
        error, TR_EEXIST,
        "%s: %d files are named as '%s'; remove those that metadata.json does not name",
        table->folder, AMEND_TRIES_MAX, table->name);
}

static int amend_finish(struct raw_amend *amend, struct amend_table *table, struct error *error)
{
    /* The bytes are on the disk before the file has its name. */
    int rv = npy_finish(&table->npy, error);
    if (rv == 0)
        rv = file_sync(&table->npy.file, error);
    npy_writer_close(&table->npy);
    if (rv == 0)
        rv = amend_choose(amend, table, error);
    if (rv == 0)
        rv = files_rename(amend->files, table->aside, table->path, error);
    if (rv != 0)
        return rv;
    free(table->aside);
    table->aside = NULL;
    return files_sync_folder(amend->files, table->folder, error);
}

static int amend_describe(struct raw_amend *amend, struct amend_table *table, struct error *error)
{
    json_t *type = of_type(amend, table->of);
    json_t *entry = json_pack("{s:{s:s}, s:[s]}", "format", "name", "numpy", "data",
                              table->file_name);
    table->replaced = json_incref(json_object_get(json_object_get(type, table->name), "data"));
    if (entry == NULL || json_object_set_new(type, table->name, entry) != 0)
        return no_memory(amend, error);
    return 0;
}

/* Whether a document has that text anywhere. */
static bool has_text(const json_t *value, const char *text)
{
    const char *key;
    json_t *item;
    size_t i;
    if (json_is_string(value))
        return strcmp(json_string_value(value), text) == 0;
    json_array_foreach(value, i, item)
    {
        if (has_text(item, text))
            return true;
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        if (has_text(item, text))
            return true;
    }
    return false;
}

/* Removes the file of a replaced table, if no other table names it and it lies where writers of
 * this format put such files: a file elsewhere may be its owner's only copy. */
static void remove_replaced(const struct raw_amend *amend, const struct amend_table *table,
                            const char *name)
{
    char folder[AMEND_NAME_MAX], prefix[AMEND_NAME_MAX];
    name_folder(amend, table->of, folder, sizeof folder);
    int length = snprintf(prefix, sizeof prefix, "%.920s/", folder);
    if (strncmp(name, prefix, (size_t)length) != 0 || strchr(name + length, '/') != NULL ||
        has_text(amend->document, name))
        return;
    char *path = files_join(amend->path, name);
    if (path != NULL)
        (void)amend->files->unlink(amend->files, path);
    free(path);
}

static void remove_all_replaced(const struct raw_amend *amend)
{
    for (uint32_t t = 0; t < amend->num_tables; t++) {
        const json_t *names = amend->tables[t].replaced;
        for (size_t i = 0; i < json_array_size(names); i++) {
            const char *name = json_string_value(json_array_get(names, i));
            if (name != NULL)
                remove_replaced(amend, &amend->tables[t], name);
        }
    }
}

/* Whether metadata.json is that text: then its tables are in the graph, also after a failed sync of
 * the folder. What cannot be read counts as such, so that no file is removed that a graph names. */
static bool is_written(const struct raw_amend *amend, const char *text)
{
    char *now = NULL;
    size_t size = 0;
    int rv = files_read_all(amend->files, amend->metadata, JSON_FILE_BYTES_MAX, &now, &size, NULL);
    bool same = rv != 0 || (size == strlen(text) && memcmp(now, text, size) == 0);
    free(now);
    return same;
}

/* The files stay, whatever else happens. */
static void keep_files(struct raw_amend *amend)
{
    for (uint32_t i = 0; i < amend->num_tables; i++) {
        free(amend->tables[i].path);
        amend->tables[i].path = NULL;
    }
}

static int amend_write(struct raw_amend *amend, struct error *error)
{
    char *text = json_write_text(amend->document, JSON_INDENT(2));
    if (text == NULL)
        return no_memory(amend, error);
    int rv = 0;
    if (!folder_lock_is_in_place(&amend->lock, amend->path))
        rv = error_set(error, TR_EEXIST, "%s: was replaced by another graph meanwhile; begin again",
                       amend->path);
    if (rv == 0)
        rv = check_cancel(amend, error);
    if (rv == 0) {
        rv = files_write_atomic(amend->files, amend->metadata, text, strlen(text), error);
        if (rv == 0 || is_written(amend, text))
            keep_files(amend);
    }
    free(text);
    return rv;
}

int raw_amend_commit(struct raw_amend *amend, struct error *error)
{
    int rv = 0;
    for (uint32_t i = 0; rv == 0 && i < amend->num_tables; i++)
        rv = amend_finish(amend, &amend->tables[i], error);
    for (uint32_t i = 0; rv == 0 && i < amend->num_tables; i++)
        rv = amend_describe(amend, &amend->tables[i], error);
    if (rv == 0)
        rv = amend_write(amend, error);
    if (rv == 0)
        remove_all_replaced(amend);
    raw_amend_abort(amend);
    return rv;
}

static void amend_drop(struct raw_amend *amend, struct amend_table *table)
{
    npy_writer_close(&table->npy);
    if (table->aside != NULL)
        (void)amend->files->unlink(amend->files, table->aside);
    if (table->path != NULL)
        (void)amend->files->unlink(amend->files, table->path);
    /* A folder that this made is empty again; any other one stays. */
    if (table->folder != NULL) {
        char *parent = files_parent(table->folder);
        (void)amend->files->rmdir(amend->files, table->folder);
        if (parent != NULL)
            (void)amend->files->rmdir(amend->files, parent);
        free(parent);
    }
    json_decref(table->replaced);
    free(table->name);
    free(table->folder);
    free(table->aside);
    free(table->path);
    free(table->file_name);
}

void raw_amend_abort(struct raw_amend *amend)
{
    if (amend == NULL)
        return;
    for (uint32_t i = 0; i < amend->num_tables; i++)
        amend_drop(amend, &amend->tables[i]);
    /* The lock is given up last: what is removed here has names that others may take. */
    folder_lock_release(&amend->lock);
    raw_close(amend->graph);
    json_decref(amend->document);
    free(amend->tables);
    free(amend->metadata);
    free(amend->path);
    free(amend);
}
