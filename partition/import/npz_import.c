/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/npz_import.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/import/reverse_pairs.h"
#include "partition/raw/duplicates.h"
#include "partition/raw/npz.h"

/* Rows at a time fill about this many bytes. */
#define PIECE_BYTES ((size_t)1 << 20)
#define EDGES_AT_ONCE 8192
#define SPARSE_NAME_MAX 64
#define MASKS 3
/* Longer rows are those of a damaged header: 16 million columns train nothing. */
#define ROW_BYTES_MAX ((uint64_t)1 << 26)

/* Arrays that mean one thing, by the names that publishers give them; the first that there is
 * counts. */
static const char *const SPARSE_EDGES[] = { "adj", "adj_matrix", NULL };
static const char *const EDGES[] = { "edges", "edge_index", "edge_list", NULL };
static const char *const SPARSE_FEATURES[] = { "attr", "attr_matrix", NULL };
static const char *const FEATURES[] = { "attr_matrix", "node_features", "features", "node_feat",
                                        "feat",        "feats",         "x",        NULL };
static const char *const SPARSE_LABELS[] = { "labels", NULL };
static const char *const LABELS[] = { "labels", "node_labels", "label", "node_label",
                                      "y",      "target",      NULL };
static const char *const MASK_NAMES[MASKS][5] = {
    { "train_masks", "train_mask", NULL },
    { "val_masks", "val_mask", "valid_masks", "valid_mask", NULL },
    { "test_masks", "test_mask", NULL },
};
static const char *const TABLES[MASKS] = { "train_mask", "val_mask", "test_mask" };

/* Compressed sparse rows. */
struct sparse {
    struct npz_array data, indices, indptr;
    bool has_data;
    uint64_t rows, columns;
};

struct npz_job {
    struct npz npz;
    const struct npz_import_options *options;
    struct npz_facts *facts;
    bool *read; /* [npz.count] */
    struct pairs pairs;
    float *weights; /* [pairs.count] of the archive's edges; NULL: all are 1 */
    uint64_t num_nodes;
    struct raw_writer *writer;
    const char *path;
    struct error *error;
};

void npz_facts_fini(struct npz_facts *facts)
{
    free(facts->unread);
    *facts = (struct npz_facts){ 0 };
}

static void mark_read(struct npz_job *job, const char *name)
{
    for (uint32_t i = 0; i < job->npz.count; i++)
        job->read[i] |= strcmp(job->npz.names[i], name) == 0;
}

/* The array of the first of these names, as the caller's list spells it; NULL: there is none. */
static const char *find_array(struct npz_job *job, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (npz_has(&job->npz, *names)) {
            mark_read(job, *names);
            return *names;
        }
    }
    return NULL;
}

/* "attr_indptr", or "attr_matrix.indptr" as an older style has it. */
static bool sparse_part(struct npz_job *job, const char *prefix, const char *part, char *name)
{
    snprintf(name, SPARSE_NAME_MAX, "%s_%s", prefix, part);
    if (!npz_has(&job->npz, name))
        snprintf(name, SPARSE_NAME_MAX, "%s.%s", prefix, part);
    if (!npz_has(&job->npz, name))
        return false;
    mark_read(job, name);
    return true;
}

static const char *find_sparse(struct npz_job *job, const char *const *prefixes)
{
    char name[SPARSE_NAME_MAX];
    while (*prefixes != NULL && !sparse_part(job, *prefixes, "indptr", name))
        prefixes++;
    return *prefixes;
}

static void sparse_fini(struct sparse *sparse)
{
    npz_array_fini(&sparse->data);
    npz_array_fini(&sparse->indices);
    npz_array_fini(&sparse->indptr);
}

static int load_part(struct npz_job *job, const char *prefix, const char *part,
                     struct npz_array *array)
{
    char name[SPARSE_NAME_MAX];
    if (!sparse_part(job, prefix, part, name))
        return error_set(job->error, TR_EFORMAT,
                         "%s: holds %s_indptr but no %s_%s; sparse rows need both", job->npz.path,
                         prefix, prefix, part);
    int rv = npz_load(array, &job->npz, name, job->error);
    if (rv == 0 && array->header.ndim != 1)
        rv = error_set(job->error, TR_EFORMAT, "%s: has %u dimensions; sparse rows need 1",
                       array->place, array->header.ndim);
    return rv;
}

static int load_shape(struct npz_job *job, const char *prefix, struct sparse *sparse)
{
    struct npz_array shape = { 0 };
    int rv = load_part(job, prefix, "shape", &shape);
    if (rv == 0 && shape.header.num_items != 2)
        rv = error_set(job->error, TR_EFORMAT, "%s: has %" PRIu64 " elements; 2 are needed",
                       shape.place, shape.header.num_items);
    if (rv == 0)
        rv = npz_id(&shape, 0, &sparse->rows, job->error);
    if (rv == 0)
        rv = npz_id(&shape, 1, &sparse->columns, job->error);
    npz_array_fini(&shape);
    return rv;
}

/* Row i is elements [*begin, *end). The whole was checked once. */
static void sparse_row(const struct sparse *sparse, uint64_t i, uint64_t *begin, uint64_t *end)
{
    *begin = *end = 0;
    (void)npz_id(&sparse->indptr, i, begin, NULL);
    (void)npz_id(&sparse->indptr, i + 1, end, NULL);
}

static int check_rows(const struct npz_job *job, const struct sparse *sparse)
{
    uint64_t items = sparse->indices.header.num_items, last = 0, next = 0;
    if (sparse->indptr.header.num_items == 0 || sparse->indptr.header.num_items - 1 != sparse->rows)
        return error_set(job->error, TR_EFORMAT,
                         "%s: has %" PRIu64 " elements; %" PRIu64 " rows need one more than rows",
                         sparse->indptr.place, sparse->indptr.header.num_items, sparse->rows);
    for (uint64_t i = 0; i <= sparse->rows; i++) {
        int rv = npz_id(&sparse->indptr, i, &next, job->error);
        if (rv != 0)
            return rv;
        if (next < last || next > items || (i == 0 && next != 0) ||
            (i == sparse->rows && next != items))
            return error_set(job->error, TR_EFORMAT,
                             "%s: element %" PRIu64 " is %" PRIu64 "; they rise from 0 to the "
                             "%" PRIu64 " entries",
                             sparse->indptr.place, i, next, items);
        last = next;
    }
    for (uint64_t i = 0; i < items; i++) {
        int rv = npz_id(&sparse->indices, i, &next, job->error);
        if (rv != 0)
            return rv;
        if (next >= sparse->columns)
            return error_set(job->error, TR_ERANGE,
                             "%s: element %" PRIu64 " is %" PRIu64 "; there are %" PRIu64
                             " columns, numbered from 0",
                             sparse->indices.place, i, next, sparse->columns);
    }
    return 0;
}

static int check_data(const struct npz_job *job, const struct sparse *sparse)
{
    const struct npy_header *header = &sparse->data.header;
    if (header->num_items != sparse->indices.header.num_items)
        return error_set(job->error, TR_EFORMAT,
                         "%s: has %" PRIu64 " elements for %" PRIu64 " entries", sparse->data.place,
                         header->num_items, sparse->indices.header.num_items);
    if (header->kind == 'f' && header->item_bytes == 2)
        return error_set(job->error, TR_EUNSUPPORTED,
                         "%s: is float16; save it with .astype('float32')", sparse->data.place);
    for (uint64_t i = 0; i < header->num_items; i++) {
        float value = (float)npz_number(&sparse->data, i);
        if (raw_find_not_finite(TR_F32, &value, 1) == 0)
            return error_set(job->error, TR_EFORMAT,
                             "%s: element %" PRIu64 " is no finite number of float32; replace it",
                             sparse->data.place, i);
    }
    return 0;
}

/* Everything that is checked once and relied upon afterwards. */
static int load_sparse(struct npz_job *job, const char *prefix, struct sparse *sparse)
{
    char name[SPARSE_NAME_MAX];
    *sparse = (struct sparse){ 0 };
    sparse->has_data = sparse_part(job, prefix, "data", name);
    int rv = load_shape(job, prefix, sparse);
    if (rv == 0)
        rv = load_part(job, prefix, "indptr", &sparse->indptr);
    if (rv == 0)
        rv = load_part(job, prefix, "indices", &sparse->indices);
    if (rv == 0)
        rv = check_rows(job, sparse);
    if (rv == 0 && sparse->has_data)
        rv = load_part(job, prefix, "data", &sparse->data);
    if (rv == 0 && sparse->has_data)
        rv = check_data(job, sparse);
    if (rv != 0)
        sparse_fini(sparse);
    return rv;
}

static int no_memory(const struct npz_job *job, const char *what)
{
    return error_set(job->error, TR_ENOMEM, "%s: no memory for its %s", job->npz.path, what);
}

static int add_pair(struct npz_job *job, uint64_t src, uint64_t dst)
{
    if (src >= RAW_NODES_MAX || dst >= RAW_NODES_MAX)
        return error_set(job->error, TR_ERANGE,
                         "%s: edge %" PRIu64 ": ID %" PRIu64 "; IDs must be below %" PRIu64,
                         job->npz.path, job->pairs.count, src > dst ? src : dst, RAW_NODES_MAX);
    return pairs_add(&job->pairs, src, dst) != 0 ? no_memory(job, "edges") : 0;
}

/* Other weights than 1 are kept. */
static int keep_weights(struct npz_job *job, const struct sparse *sparse)
{
    uint64_t count = sparse->has_data ? sparse->data.header.num_items : 0, i = 0;
    while (i < count && npz_number(&sparse->data, i) == 1)
        i++;
    if (i == count)
        return 0;
    if (job->options->duplicates == RAW_DUPLICATES_MERGE)
        return error_set(job->error, TR_EUNSUPPORTED,
                         "%s: edges have weights, so \"duplicates\" cannot merge them; keep them",
                         sparse->data.place);
    job->weights = malloc((size_t)count * sizeof *job->weights);
    if (job->weights == NULL)
        return no_memory(job, "weights");
    for (i = 0; i < count; i++)
        job->weights[i] = (float)npz_number(&sparse->data, i);
    return 0;
}

static int read_sparse_edges(struct npz_job *job, const char *prefix)
{
    struct sparse sparse;
    int rv = load_sparse(job, prefix, &sparse);
    if (rv != 0)
        return rv;
    if (sparse.rows != sparse.columns)
        rv = error_set(job->error, TR_EFORMAT,
                       "%s: is %" PRIu64 " by %" PRIu64 "; an adjacency matrix is square",
                       sparse.indptr.place, sparse.rows, sparse.columns);
    job->num_nodes = sparse.rows;
    for (uint64_t row = 0; rv == 0 && row < sparse.rows; row++) {
        uint64_t begin, end, column = 0;
        sparse_row(&sparse, row, &begin, &end);
        for (uint64_t i = begin; rv == 0 && i < end; i++) {
            (void)npz_id(&sparse.indices, i, &column, NULL);
            rv = add_pair(job, row, column);
        }
    }
    if (rv == 0)
        rv = keep_weights(job, &sparse);
    sparse_fini(&sparse);
    return rv;
}

static int read_listed_edges(struct npz_job *job, const char *name)
{
    struct npz_array edges;
    int rv = npz_load(&edges, &job->npz, name, job->error);
    if (rv != 0)
        return rv;
    const struct npy_header *header = &edges.header;
    bool rows = header->ndim == 2 && header->shape[1] == 2;
    if (header->ndim != 2 || (!rows && header->shape[0] != 2))
        rv = error_set(job->error, TR_EFORMAT, "%s: shape: edges are needed as [E, 2] or [2, E]",
                       edges.place);
    uint64_t count = header->num_items / 2;
    /* [E, 2] in Fortran's order has the bytes of [2, E]. */
    bool together = rows != header->fortran;
    for (uint64_t i = 0; rv == 0 && i < count; i++) {
        uint64_t src = 0, dst = 0;
        rv = npz_id(&edges, together ? 2 * i : i, &src, job->error);
        if (rv == 0)
            rv = npz_id(&edges, together ? 2 * i + 1 : count + i, &dst, job->error);
        if (rv == 0)
            rv = add_pair(job, src, dst);
    }
    npz_array_fini(&edges);
    return rv;
}

/* The rows that an array of nodes has; unchanged where the number of nodes is known. */
static int count_rows(struct npz_job *job, const char *name)
{
    struct npz_stream stream;
    if (name == NULL || job->num_nodes > 0)
        return 0;
    int rv = npz_open(&stream, &job->npz, name, job->error);
    if (rv == 0)
        job->num_nodes = stream.header.ndim > 0 ? stream.header.shape[0] : 0;
    npz_close(&stream);
    return rv;
}

static int find_edges(struct npz_job *job)
{
    const char *prefix = find_sparse(job, SPARSE_EDGES);
    if (prefix != NULL) {
        job->facts->edges_name = prefix;
        return read_sparse_edges(job, prefix);
    }
    job->facts->edges_name = find_array(job, EDGES);
    if (job->facts->edges_name != NULL)
        return read_listed_edges(job, job->facts->edges_name);
    return error_set(job->error, TR_EFORMAT,
                     "%s: holds no edges: neither adj_indptr and adj_indices nor an array 'edges'; "
                     "its first array is '%.100s'",
                     job->npz.path, job->npz.count > 0 ? job->npz.names[0] : "");
}

/* What is done to the edges, in the order of `troupe import edges`: self-loops, reverses,
 * duplicates. Weights go with their edges. */
static int arrange_edges(struct npz_job *job)
{
    struct pairs from = job->pairs;
    struct reverse_pairs reverse;
    float *weights = job->weights;
    const bool undirected = job->options->undirected;
    memset(&job->pairs, 0, sizeof job->pairs);
    job->weights = weights != NULL ? malloc((size_t)from.count * 2 * sizeof *weights) : NULL;
    int rv = reverse_pairs_init(&reverse);
    if (rv != 0 || (weights != NULL && job->weights == NULL))
        rv = no_memory(job, "edges");
    for (uint64_t i = 0; rv == 0 && i < from.count; i++) {
        uint64_t src, dst, at = job->pairs.count;
        pairs_read(&from, i, 1, &src, &dst);
        reverse_pairs_add(&reverse, src, dst);
        job->facts->self_loops += src == dst;
        if (src == dst && job->options->loops == RAW_LOOPS_ERROR)
            rv = error_set(job->error, TR_EFORMAT,
                           "%s: edge %" PRIu64 " leads from node %" PRIu64
                           " to itself, and \"loops\" refuses that",
                           job->npz.path, i, src);
        if (src == dst && job->options->loops == RAW_LOOPS_DROP)
            continue;
        if (rv == 0)
            rv = add_pair(job, src, dst);
        if (rv == 0 && undirected && src != dst)
            rv = add_pair(job, dst, src);
        for (; weights != NULL && at < job->pairs.count; at++)
            job->weights[at] = weights[i];
    }
    if (rv == 0)
        reverse_pairs_count(&reverse, &job->facts->pairs_seen, &job->facts->pairs_mutual);
    reverse_pairs_fini(&reverse);
    pairs_fini(&from);
    free(weights);
    return rv;
}

static int look_for_duplicates(struct npz_job *job)
{
    const enum raw_duplicates rule = job->options->duplicates;
    struct duplicate one;
    if (rule == RAW_DUPLICATES_KEEP)
        return 0;
    int rv = duplicates_find(&job->pairs, rule == RAW_DUPLICATES_MERGE, job->npz.cancel,
                             &job->facts->duplicates, &one, NULL);
    if (rv != 0)
        return error_set(job->error, rv, "%s: %s", job->npz.path,
                         rv == TR_ENOMEM ? "no memory to look for duplicates"
                                         : "interrupted among duplicates");
    if (job->facts->duplicates == 0 || rule != RAW_DUPLICATES_ERROR)
        return 0;
    return error_set(job->error, TR_EFORMAT,
                     "%s: the edge from %" PRIu64 " to %" PRIu64 " is there more than once, as are "
                     "%" PRIu64 " edges in all, and \"duplicates\" refuses that",
                     job->npz.path, one.src, one.dst, job->facts->duplicates);
}

/* The number of nodes, where no matrix of edges said it: the rows of what each node has one of. */
static int find_num_nodes(struct npz_job *job, const char *features, const char *labels)
{
    int rv = count_rows(job, features);
    if (rv == 0)
        rv = count_rows(job, labels);
    if (rv == 0 && job->num_nodes == 0 && job->pairs.count > 0)
        job->num_nodes = job->pairs.largest + 1;
    if (rv != 0)
        return rv;
    if (job->pairs.count == 0)
        return error_set(job->error, TR_EFORMAT, "%s: holds no edge%s", job->npz.path,
                         job->facts->self_loops > 0 ? " but self-loops, which \"loops\" drops"
                                                    : "");
    if (job->num_nodes > RAW_NODES_MAX)
        return error_set(job->error, TR_ERANGE,
                         "%s: has %" PRIu64 " nodes; at most %" PRIu64 " are read", job->npz.path,
                         job->num_nodes, RAW_NODES_MAX);
    if (job->pairs.largest < job->num_nodes)
        return 0;
    return error_set(job->error, TR_ERANGE,
                     "%s: %s: ID %" PRIu64 " is not a node: there are %" PRIu64
                     " rows of nodes, numbered from 0",
                     job->npz.path, job->facts->edges_name, job->pairs.largest, job->num_nodes);
}

static int write_edges(struct npz_job *job)
{
    uint64_t src[EDGES_AT_ONCE], dst[EDGES_AT_ONCE];
    int rv = 0;
    for (uint64_t done = 0; rv == 0 && done < job->pairs.count;) {
        uint64_t some = job->pairs.count - done;
        some = some < EDGES_AT_ONCE ? some : EDGES_AT_ONCE;
        pairs_read(&job->pairs, done, some, src, dst);
        rv = raw_writer_edges(job->writer, 0, some, src, dst, job->error);
        done += some;
    }
    if (rv != 0 || job->weights == NULL)
        return rv;
    uint32_t table;
    rv = raw_writer_add_table(job->writer, "weight", true, 0, TR_F32, 0, NULL, &table, job->error);
    return rv == 0 ? raw_writer_rows(job->writer, table, job->pairs.count, job->weights, job->error)
                   : rv;
}

static int check_nodes(const struct npz_job *job, const char *place, uint64_t rows)
{
    if (rows == job->num_nodes)
        return 0;
    return error_set(job->error, TR_EMISMATCH,
                     "%s: shape: %" PRIu64 " rows for %" PRIu64 " nodes; one row a node is needed",
                     place, rows, job->num_nodes);
}

/* Begins a table of the array's rows. A last extent of 1 says no more than none. */
static int add_table(struct npz_job *job, const char *name, const struct npy_header *header,
                     const char *place, uint32_t *table, enum tr_dtype *dtype)
{
    uint32_t ndim = header->ndim > 0 ? header->ndim - 1 : 0;
    int rv = npz_dtype(header, place, dtype, job->error);
    if (rv == 0)
        rv = check_nodes(job, place, header->ndim > 0 ? header->shape[0] : 0);
    if (rv == 0 && strcmp(name, "label") == 0 && ndim == 1 && header->shape[1] == 1)
        ndim = 0;
    return rv == 0 ? raw_writer_add_table(job->writer, name, false, 0, *dtype, ndim,
                                          header->shape + 1, table, job->error)
                   : rv;
}

static int write_rows(struct npz_job *job, uint32_t table, const char *name, const char *place,
                      enum tr_dtype dtype, uint64_t first, uint64_t count, uint64_t row_items,
                      const void *rows)
{
    uint64_t items = count * row_items;
    uint64_t bad = strcmp(name, "label") == 0 ? items : raw_find_not_finite(dtype, rows, items);
    if (bad < items)
        return error_set(job->error, TR_EFORMAT,
                         "%s: row %" PRIu64 ", column %" PRIu64 ": is not finite; replace it",
                         place, first + bad / row_items, bad % row_items);
    return raw_writer_rows(job->writer, table, count, rows, job->error);
}

/* An array whose rows follow each other: as a stream, whatever its size. */
static int stream_table(struct npz_job *job, const char *name, struct npz_stream *stream)
{
    uint32_t table;
    enum tr_dtype dtype;
    int rv = add_table(job, name, &stream->header, stream->place, &table, &dtype);
    if (rv != 0)
        return rv;
    uint64_t rows = stream->header.shape[0];
    uint64_t row_items = rows > 0 ? stream->header.num_items / rows : 0;
    uint64_t row_bytes = row_items * stream->header.item_bytes;
    if (row_bytes > ROW_BYTES_MAX)
        return error_set(job->error, TR_ETOOBIG,
                         "%s: has rows of %" PRIu64 " bytes; at most %" PRIu64 " are read",
                         stream->place, row_bytes, ROW_BYTES_MAX);
    uint64_t at_once = row_bytes == 0 ? rows : PIECE_BYTES / row_bytes;
    at_once = at_once == 0 ? 1 : at_once < rows ? at_once : rows;
    uint8_t *piece = malloc((size_t)(at_once * row_bytes) + 1);
    if (piece == NULL)
        return error_set(job->error, TR_ENOMEM, "%s: no memory to read it", stream->place);
    for (uint64_t done = 0; rv == 0 && done < rows;) {
        uint64_t some = rows - done < at_once ? rows - done : at_once;
        rv = npz_read(stream, piece, (size_t)(some * row_bytes), job->error);
        if (rv == 0)
            rv = write_rows(job, table, name, stream->place, dtype, done, some, row_items, piece);
        done += some;
    }
    free(piece);
    return rv == 0 ? npz_finish(stream, job->error) : rv;
}

/* A matrix in Fortran's order: held whole, since each of its rows is spread over all of it. */
static int turn_table(struct npz_job *job, const char *name, const char *array_name)
{
    struct npz_array array;
    uint32_t table;
    enum tr_dtype dtype;
    int rv = npz_load(&array, &job->npz, array_name, job->error);
    if (rv != 0)
        return rv;
    const struct npy_header *header = &array.header;
    if (header->ndim != 2)
        rv = error_set(job->error, TR_EUNSUPPORTED,
                       "%s: has %u dimensions in Fortran's order; save numpy.ascontiguousarray of "
                       "it",
                       array.place, header->ndim);
    if (rv == 0)
        rv = add_table(job, name, header, array.place, &table, &dtype);
    uint64_t rows = header->shape[0], columns = header->shape[1], item = header->item_bytes;
    uint8_t *row = rv == 0 ? malloc((size_t)(columns * item) + 1) : NULL;
    if (rv == 0 && row == NULL)
        rv = error_set(job->error, TR_ENOMEM, "%s: no memory to read it", array.place);
    for (uint64_t i = 0; rv == 0 && i < rows; i++) {
        for (uint64_t c = 0; c < columns; c++)
            memcpy(row + c * item, array.data + (c * rows + i) * item, item);
        rv = write_rows(job, table, name, array.place, dtype, i, 1, columns, row);
    }
    free(row);
    npz_array_fini(&array);
    return rv;
}

static int copy_table(struct npz_job *job, const char *name, const char *array_name)
{
    struct npz_stream stream;
    int rv = npz_open(&stream, &job->npz, array_name, job->error);
    if (rv != 0)
        return rv;
    bool fortran = stream.header.fortran;
    if (!fortran)
        rv = stream_table(job, name, &stream);
    npz_close(&stream);
    return rv == 0 && fortran ? turn_table(job, name, array_name) : rv;
}

static int check_widened(const struct npz_job *job, const struct sparse *sparse)
{
    uint64_t items, bytes;
    if (sparse->columns <= ROW_BYTES_MAX / sizeof(float) &&
        !__builtin_mul_overflow(sparse->rows, sparse->columns, &items) &&
        !__builtin_mul_overflow(items, (uint64_t)sizeof(float), &bytes) &&
        bytes <= NPZ_WIDENED_BYTES_MAX)
        return 0;
    return error_set(job->error, TR_ETOOBIG,
                     "%s: %" PRIu64 " by %" PRIu64 " sparse numbers are stored with their zeroes, "
                     "in at most %" PRIu64 " bytes; save fewer columns, those of the most frequent "
                     "words or of a projection (TruncatedSVD)",
                     sparse->indptr.place, sparse->rows, sparse->columns, NPZ_WIDENED_BYTES_MAX);
}

/* Rows with their zeroes, one at a time; an entry that is there twice counts twice, as in SciPy. */
static int widen_table(struct npz_job *job, const char *name, const char *prefix)
{
    struct sparse sparse;
    uint32_t table;
    int rv = load_sparse(job, prefix, &sparse);
    if (rv != 0)
        return rv;
    job->facts->sparse_items += sparse.indices.header.num_items;
    rv = check_nodes(job, sparse.indptr.place, sparse.rows);
    if (rv == 0)
        rv = check_widened(job, &sparse);
    if (rv == 0)
        rv = raw_writer_add_table(job->writer, name, false, 0, TR_F32, 1, &sparse.columns, &table,
                                  job->error);
    float *row = rv == 0 ? malloc((size_t)sparse.columns * sizeof *row + 1) : NULL;
    if (rv == 0 && row == NULL)
        rv = no_memory(job, "features");
    for (uint64_t i = 0; rv == 0 && i < sparse.rows; i++) {
        uint64_t begin, end, column = 0;
        sparse_row(&sparse, i, &begin, &end);
        memset(row, 0, (size_t)sparse.columns * sizeof *row);
        for (uint64_t at = begin; at < end; at++) {
            (void)npz_id(&sparse.indices, at, &column, NULL);
            row[column] += sparse.has_data ? (float)npz_number(&sparse.data, at) : 1;
        }
        rv = raw_writer_rows(job->writer, table, 1, row, job->error);
    }
    free(row);
    sparse_fini(&sparse);
    return rv;
}

/* Which elements of a mask are the nodes of the split: element first + i * step. They stay where
 * there is one split. */
static int place_split(struct npz_job *job, const struct npz_array *mask, uint64_t *first,
                       uint64_t *step)
{
    const struct npy_header *header = &mask->header;
    const uint64_t *shape = header->shape, nodes = job->num_nodes;
    uint64_t splits = 1;
    bool fits = header->ndim == 1 && shape[0] == nodes;
    if (header->ndim == 2 && (shape[1] == nodes || shape[0] == nodes)) {
        /* Both ways are published; [splits, N] counts where both would fit. */
        bool by_split = shape[1] == nodes;
        splits = by_split ? shape[0] : shape[1];
        bool together = by_split != header->fortran;
        *first = together ? job->options->split * nodes : job->options->split;
        *step = together ? 1 : splits;
        fits = true;
    }
    if (!fits)
        return error_set(job->error, TR_EMISMATCH,
                         "%s: shape: a mask of %" PRIu64 " nodes is [N], [splits, N] or [N, "
                         "splits]",
                         mask->place, nodes);
    /* One mask beside several splits of another is that of each of them. */
    if (header->ndim == 2 && job->options->split >= splits)
        return error_set(job->error, TR_EINVAL,
                         "%s: has %" PRIu64 " splits, numbered from 0; there is no \"split\" %u",
                         mask->place, splits, job->options->split);
    splits = splits < UINT32_MAX ? splits : UINT32_MAX;
    if (splits > job->facts->num_splits)
        job->facts->num_splits = (uint32_t)splits;
    return 0;
}

static int write_mask(struct npz_job *job, const char *name, const char *array_name)
{
    struct npz_array mask;
    uint64_t first = 0, step = 1, value = 0;
    uint32_t table;
    int rv = npz_load(&mask, &job->npz, array_name, job->error);
    if (rv != 0)
        return rv;
    rv = place_split(job, &mask, &first, &step);
    /* The array has as many elements: this is no more memory than was unpacked. */
    uint8_t *bits = rv == 0 ? malloc((size_t)job->num_nodes + 1) : NULL;
    if (rv == 0 && bits == NULL)
        rv = no_memory(job, "masks");
    if (mask.header.kind == 'b')
        mask.header.kind = 'u';
    if (rv == 0 && mask.header.kind == 'f')
        rv = error_set(job->error, TR_EFORMAT, "%s: holds floats; a mask is bool or of integers",
                       mask.place);
    for (uint64_t i = 0; rv == 0 && i < job->num_nodes; i++) {
        rv = npz_id(&mask, first + i * step, &value, job->error);
        if (rv == 0 && value > 1)
            rv = error_set(job->error, TR_EFORMAT,
                           "%s: node %" PRIu64 " has %" PRIu64 "; a mask holds 0 and 1", mask.place,
                           i, value);
        bits[i] = (uint8_t)value;
    }
    if (rv == 0)
        rv = raw_writer_add_table(job->writer, name, false, 0, TR_U8, 0, NULL, &table, job->error);
    if (rv == 0)
        rv = raw_writer_rows(job->writer, table, job->num_nodes, bits, job->error);
    free(bits);
    npz_array_fini(&mask);
    return rv;
}

static int write_masks(struct npz_job *job)
{
    int rv = 0;
    for (int i = 0; rv == 0 && i < MASKS; i++) {
        const char *name = find_array(job, MASK_NAMES[i]);
        if (name != NULL)
            rv = write_mask(job, TABLES[i], name);
    }
    if (rv == 0 && job->options->split > 0 && job->options->split >= job->facts->num_splits)
        rv = error_set(job->error, TR_EINVAL,
                       "%s: has %u splits, numbered from 0; there is no \"split\" %u",
                       job->npz.path, job->facts->num_splits, job->options->split);
    return rv;
}

/* Says which arrays nobody looked at, so that nothing is left out in silence. */
static int list_unread(struct npz_job *job)
{
    size_t size = 1;
    for (uint32_t i = 0; i < job->npz.count; i++)
        size += job->read[i] ? 0 : strlen(job->npz.names[i]) + 2;
    if (size == 1)
        return 0;
    char *text = calloc(size, 1), *at = text;
    if (text == NULL)
        return no_memory(job, "report");
    for (uint32_t i = 0; i < job->npz.count; i++) {
        if (!job->read[i])
            at += sprintf(at, "%s%s", at > text ? ", " : "", job->npz.names[i]);
    }
    for (char *c = text; *c != '\0'; c++)
        *c = *c >= ' ' && *c < 127 ? *c : '?';
    job->facts->unread = text;
    return 0;
}

static int write_tables(struct npz_job *job, const char *sparse_features, const char *sparse_labels)
{
    const struct npz_facts *facts = job->facts;
    int rv = 0;
    if (facts->features_name != NULL)
        rv = sparse_features != NULL ? widen_table(job, "feat", sparse_features)
                                     : copy_table(job, "feat", facts->features_name);
    if (rv == 0 && facts->labels_name != NULL)
        rv = sparse_labels != NULL ? widen_table(job, "label", sparse_labels)
                                   : copy_table(job, "label", facts->labels_name);
    return rv == 0 ? write_masks(job) : rv;
}

static int open_writer(struct npz_job *job, const struct raw_write_options *write)
{
    struct graph_types types;
    char *name = raw_name_of(job->npz.path);
    int rv = name == NULL ? TR_ENOMEM : graph_types_init_homogeneous(&types);
    if (rv != 0) {
        free(name);
        return no_memory(job, "graph");
    }
    rv = raw_writer_open(job->path, write, name, &types, &job->num_nodes, &job->writer, job->error);
    graph_types_fini(&types);
    free(name);
    return rv;
}

static int read_and_write(struct npz_job *job, const struct raw_write_options *write)
{
    struct npz_facts *facts = job->facts;
    int rv = find_edges(job);
    if (rv == 0)
        rv = arrange_edges(job);
    if (rv == 0)
        rv = look_for_duplicates(job);
    if (rv != 0)
        return rv;
    const char *sparse_features = find_sparse(job, SPARSE_FEATURES);
    const char *sparse_labels = find_sparse(job, SPARSE_LABELS);
    facts->features_name = sparse_features != NULL ? sparse_features : find_array(job, FEATURES);
    facts->labels_name = sparse_labels != NULL ? sparse_labels : find_array(job, LABELS);
    rv = find_num_nodes(job, sparse_features != NULL ? NULL : facts->features_name,
                        sparse_labels != NULL ? NULL : facts->labels_name);
    if (rv == 0)
        rv = open_writer(job, write);
    if (rv == 0)
        rv = write_edges(job);
    if (rv == 0)
        rv = write_tables(job, sparse_features, sparse_labels);
    if (rv == 0)
        rv = list_unread(job);
    if (rv == 0) {
        rv = raw_writer_commit(job->writer, job->error);
        job->writer = NULL;
    }
    return rv;
}

int npz_import(const char *from, const struct npz_import_options *options, const char *path,
               const struct raw_write_options *write, struct npz_facts *facts, struct error *error)
{
    struct npz_job job = { .options = options, .facts = facts, .path = path, .error = error };
    struct files *files = write->files != NULL ? write->files : files_posix;
    *facts = (struct npz_facts){ 0 };
    int rv = npz_init(&job.npz, files, from, write->cancel, error);
    if (rv != 0)
        return rv;
    job.read = calloc(job.npz.count + 1, sizeof *job.read);
    rv = job.read == NULL ? no_memory(&job, "list") : read_and_write(&job, write);
    raw_writer_abort(job.writer);
    pairs_fini(&job.pairs);
    free(job.weights);
    free(job.read);
    npz_fini(&job.npz);
    if (rv != 0)
        npz_facts_fini(facts);
    return rv;
}
