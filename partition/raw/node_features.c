/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/node_features.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/csr.h"
#include "partition/raw/npz_csr.h"

#define LABELS_AT_ONCE 1024
/* Of a label as a name: a whole number that a double holds. */
#define LABEL_NAME_MAX 32

/* Whether the file is an archive, whatever it is called. TR_ENOENT and others: it is not read. */
static int look_at_file(struct files *files, const char *path, bool *is_archive,
                        struct error *error)
{
    uint8_t head[FILE_KIND_BYTES];
    struct file file = { 0 };
    size_t got = 0;
    *is_archive = false;
    /* "ARCHIVE.zip/NAME" is no file but may be read as text, which says what is wrong with it. */
    if (!files_exists(files, path))
        return 0;
    int rv = file_open(&file, files, path, error);
    if (rv == 0)
        rv = file_read_some(&file, 0, head, sizeof head, &got, error);
    file_close(&file);
    if (rv != 0)
        return rv;
    const struct file_kind *kind = file_kind_of(head, got);
    size_t length = strlen(path);
    *is_archive = kind != NULL && kind->packing == PACKING_ZIP && length > 4 &&
                  strcmp(path + length - 4, ".npz") == 0;
    return 0;
}

/* SciPy's archives of other matrices have arrays of the same names. */
static int check_format(const struct npz *npz, struct error *error)
{
    struct npz_array format = { 0 };
    size_t length = 0;
    if (!npz_has(npz, "format"))
        return 0;
    int rv = npz_load_texts(&format, npz, "format", error);
    char *text = rv == 0 ? malloc(npz_text_room(&format)) : NULL;
    if (rv == 0 && text == NULL)
        rv = error_set(error, TR_ENOMEM, "%s: no memory to read it", format.place);
    if (rv == 0 && format.header.num_items != 1)
        rv = error_set(error, TR_EFORMAT, "%s: is not one text", format.place);
    if (rv == 0)
        rv = npz_text(&format, 0, text, &length, error);
    if (rv == 0 && strcmp(text, "csr") != 0)
        rv = error_set(error, TR_EUNSUPPORTED,
                       "%s: is not a matrix of compressed sparse rows; save matrix.tocsr() by "
                       "scipy.sparse.save_npz",
                       format.place);
    free(text);
    npz_array_fini(&format);
    return rv;
}

static int read_rows(const struct npz *npz, struct feature_rows *rows, struct error *error)
{
    static const struct npz_csr_names NAMES = { "shape", "indptr", "indices", "data" };
    struct npz_csr csr;
    for (int i = 0; i < 4; i++) {
        const char *name = i == 0   ? NAMES.indptr
                           : i == 1 ? NAMES.indices
                           : i == 2 ? NAMES.data
                                    : NAMES.shape;
        if (!npz_has(npz, name))
            return error_set(error, TR_EFORMAT,
                             "%s: has no array '%s'; an archive of scipy.sparse.save_npz is needed",
                             npz->path, name);
    }
    int rv = npz_csr_load(&csr, npz, &NAMES, error);
    if (rv != 0)
        return rv;
    if (csr.columns == 0 || csr.columns > CSR_WIDTH_MAX)
        rv = error_set(error, TR_ERANGE,
                       "%s: shape: has %" PRIu64 " columns; 1 to %" PRIu64 " are read", npz->path,
                       csr.columns, CSR_WIDTH_MAX);
    if (rv == 0)
        rv = npz_csr_to_rows(&csr, npz->cancel, rows, error);
    npz_csr_fini(&csr);
    return rv;
}

static int read_archive(struct node_features *features, struct files *files,
                        const struct cancel *cancel, struct error *error)
{
    struct npz npz;
    int rv = npz_init(&npz, files, features->path, cancel, error);
    if (rv != 0)
        return rv;
    rv = check_format(&npz, error);
    if (rv == 0)
        rv = read_rows(&npz, &features->read.rows, error);
    npz_fini(&npz);
    return rv;
}

int node_features_read(struct node_features *features, struct files *files, const char *path,
                       enum svmlight_base base, const struct cancel *cancel, struct error *error)
{
    bool is_archive;
    *features = (struct node_features){ .path = path };
    int rv = look_at_file(files, path, &is_archive, error);
    if (rv != 0)
        return rv;
    rv = is_archive ? read_archive(features, files, cancel, error)
                    : svmlight_read(&features->read, files, path, base, cancel, error);
    if (rv == 0)
        features->found = (struct node_features_found){ .is_read = true,
                                                        .is_text = !is_archive,
                                                        .base = features->read.base,
                                                        .rows = features->read.rows.num_rows,
                                                        .columns = features->read.rows.width,
                                                        .qid_rows = features->read.qid_rows };
    return rv;
}

/* Node 0 without an edge, and a row less than there are IDs. */
static bool counts_from_one(const struct node_features *features, const struct raw_graph *graph)
{
    return graph->found.source_column != 0 && graph->found.smallest_id == 1 &&
           features->read.rows.num_rows + 1 == graph->num_nodes[0];
}

int node_features_fit(const struct node_features *features, struct raw_graph *graph, bool may_grow,
                      struct error *error)
{
    const uint64_t rows = features->read.rows.num_rows;
    if (graph->types.num_ntypes != 1)
        return error_set(error, TR_EUNSUPPORTED,
                         "%s: features of nodes are for graphs of one type of nodes; \"%s\" has %u",
                         features->path, graph->name, graph->types.num_ntypes);
    if (raw_find_table(graph, false, 0, "feat") >= 0)
        return error_set(error, TR_EEXIST,
                         "%s: the graph \"%s\" has a feature \"feat\" of nodes already",
                         features->path, graph->name);
    /* Of an edge list alone nobody knows the nodes behind the largest ID. */
    if (may_grow && graph->found.source_column != 0 && rows > graph->num_nodes[0] &&
        rows <= RAW_NODES_MAX)
        graph->num_nodes[0] = rows;
    if (rows == graph->num_nodes[0])
        return 0;
    return error_set(error, TR_EMISMATCH,
                     "%s: has %" PRIu64 " rows for the %" PRIu64 " nodes of \"%s\"; one row a node "
                     "is needed, in the order of the IDs%s",
                     features->path, rows, graph->num_nodes[0], graph->name,
                     counts_from_one(features, graph) ? "; where IDs begin at 1, set first_id"
                                                      : "");
}

void node_features_fini(struct node_features *features)
{
    svmlight_fini(&features->read);
}

static int compare_labels(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The different labels of the file. */
struct label_set {
    double *sorted;
    uint64_t count;
    bool has_none; /* -1 stands for none; it is in no class */
    bool counting; /* the classes are 0, 1, 2 ... */
};

static int find_labels(const struct node_features *features, struct label_set *set,
                       struct error *error)
{
    const uint64_t rows = features->read.rows.num_rows;
    *set = (struct label_set){ .sorted = malloc((size_t)rows * sizeof *set->sorted) };
    if (set->sorted == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory for its labels", features->path);
    memcpy(set->sorted, features->read.labels, (size_t)rows * sizeof *set->sorted);
    qsort(set->sorted, (size_t)rows, sizeof *set->sorted, compare_labels);
    for (uint64_t i = 0; i < rows; i++) {
        if (set->count == 0 || set->sorted[set->count - 1] < set->sorted[i])
            set->sorted[set->count++] = set->sorted[i];
    }
    return 0;
}

static enum node_features_labels judge_labels(const struct node_features *features,
                                              struct label_set *set)
{
    if (features->read.fraction_line != 0)
        return NODE_LABELS_FRACTION;
    bool two = set->count == 2 && set->sorted[0] == -1 && set->sorted[1] == 1;
    set->has_none = !two && set->sorted[0] == -1;
    uint64_t first = set->has_none ? 1 : 0;
    set->counting = set->count > first && set->sorted[first] == 0 &&
                    set->sorted[set->count - 1] == (double)(set->count - first - 1);
    if (set->count - first > NODE_FEATURES_CLASSES_MAX)
        return NODE_LABELS_MANY;
    return set->count - first < 2 ? NODE_LABELS_ONE : NODE_LABELS_WRITTEN;
}

static int64_t class_of(const struct label_set *set, double label)
{
    if (set->has_none && label == -1)
        return -1;
    const double *at = bsearch(&label, set->sorted, (size_t)set->count, sizeof label,
                               compare_labels);
    return at - set->sorted - set->has_none;
}

static int write_classes(const struct node_features *features, const struct label_set *set,
                         uint64_t num_nodes, struct raw_writer *writer, struct error *error)
{
    int64_t labels[LABELS_AT_ONCE];
    uint32_t table, list;
    int rv = raw_writer_add_table(writer, "label", false, 0, TR_I64, 0, NULL, &table, error);
    for (uint64_t done = 0; rv == 0 && done < num_nodes;) {
        uint64_t left = num_nodes - done, some = left < LABELS_AT_ONCE ? left : LABELS_AT_ONCE;
        for (uint64_t i = 0; i < some; i++)
            labels[i] = done + i < features->read.rows.num_rows
                            ? class_of(set, features->read.labels[done + i])
                            : -1;
        rv = raw_writer_rows(writer, table, some, labels, error);
        done += some;
    }
    if (rv != 0 || set->counting)
        return rv;
    rv = raw_writer_add_names(writer, NAMES_VALUES, 0, "label", &list, error);
    for (uint64_t i = set->has_none; rv == 0 && i < set->count; i++) {
        char name[LABEL_NAME_MAX];
        int length = snprintf(name, sizeof name, "%.0f", set->sorted[i]);
        rv = raw_writer_name(writer, list, name, (size_t)length, error);
    }
    return rv;
}

static int write_labels(struct node_features *features, uint64_t num_nodes,
                        struct raw_writer *writer, struct error *error)
{
    struct label_set set;
    int rv = find_labels(features, &set, error);
    if (rv != 0)
        return rv;
    features->found.labels = judge_labels(features, &set);
    if (features->found.labels == NODE_LABELS_WRITTEN) {
        features->found.num_classes = set.count - set.has_none;
        rv = write_classes(features, &set, num_nodes, writer, error);
    }
    free(set.sorted);
    return rv;
}

int node_features_write(struct node_features *features, uint64_t num_nodes, bool has_labels,
                        enum raw_rows form, struct raw_writer *writer, struct error *error)
{
    int rv = feature_rows_write(&features->read.rows, num_nodes, form, features->path, writer,
                                "feat", &features->found.written, error);
    if (rv != 0 || features->read.labels == NULL)
        return rv;
    features->found.labels = NODE_LABELS_OTHER;
    return has_labels ? 0 : write_labels(features, num_nodes, writer, error);
}
