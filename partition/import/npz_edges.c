/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/npz_edges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "partition/import/npz_sparse.h"
#include "partition/raw/reverse_pairs.h"

#define EDGES_AT_ONCE 8192

/* By the names that publishers give them; the first that there is counts. */
static const char *const SPARSE_EDGES[] = { "adj", "adj_matrix", NULL };
static const char *const EDGES[] = { "edges", "edge_index", "edge_list", NULL };

static int add_pair(struct npz_job *job, uint64_t src, uint64_t dst)
{
    if (src >= RAW_NODES_MAX || dst >= RAW_NODES_MAX)
        return error_set(job->error, TR_ERANGE,
                         "%s: edge %" PRIu64 ": ID %" PRIu64 "; IDs must be below %" PRIu64,
                         job->npz.path, job->pairs.count, src > dst ? src : dst, RAW_NODES_MAX);
    return pairs_add(&job->pairs, src, dst) != 0 ? npz_job_no_memory(job, "edges") : 0;
}

/* Other weights than 1 are kept. */
static int keep_weights(struct npz_job *job, const struct npz_csr *sparse)
{
    uint64_t count = sparse->has_data ? sparse->data.header.num_items : 0, i = 0;
    while (i < count && npz_number(&sparse->data, i) == 1)
        i++;
    if (i == count)
        return 0;
    job->weights = malloc((size_t)count * sizeof *job->weights);
    if (job->weights == NULL)
        return npz_job_no_memory(job, "weights");
    for (i = 0; i < count; i++)
        job->weights[i] = (float)npz_number(&sparse->data, i);
    return 0;
}

static int read_sparse_edges(struct npz_job *job, const char *prefix)
{
    struct npz_csr sparse;
    int rv = npz_sparse_load(job, prefix, &sparse);
    if (rv != 0)
        return rv;
    if (sparse.rows != sparse.columns)
        rv = error_set(job->error, TR_EFORMAT,
                       "%s: is %" PRIu64 " by %" PRIu64 "; an adjacency matrix is square",
                       sparse.indptr.place, sparse.rows, sparse.columns);
    job->num_nodes = sparse.rows;
    for (uint64_t row = 0; rv == 0 && row < sparse.rows; row++) {
        uint64_t begin, end, column = 0;
        npz_csr_row(&sparse, row, &begin, &end);
        for (uint64_t i = begin; rv == 0 && i < end; i++) {
            (void)npz_id(&sparse.indices, i, &column, NULL);
            rv = add_pair(job, row, column);
        }
    }
    if (rv == 0)
        rv = keep_weights(job, &sparse);
    npz_csr_fini(&sparse);
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

/* Splits of published graphs are archives of their own, of masks or of nodes. */
static bool is_of_split(const char *name)
{
    return strncmp(name, "train", 5) == 0 || strncmp(name, "idx_train", 9) == 0;
}

int npz_edges_find(struct npz_job *job)
{
    const char *prefix = npz_sparse_find(job, SPARSE_EDGES);
    if (prefix != NULL) {
        job->facts->edges_name = prefix;
        return read_sparse_edges(job, prefix);
    }
    job->facts->edges_name = npz_job_find(job, EDGES);
    if (job->facts->edges_name != NULL)
        return read_listed_edges(job, job->facts->edges_name);
    if (npz_has(&job->npz, "format") && npz_has(&job->npz, "shape") && npz_has(&job->npz, "data"))
        return error_set(
            job->error, TR_EUNSUPPORTED,
            "%s: is a SciPy matrix alone, of edges or of features. Of edges: python3 -c "
            "'import numpy, scipy.sparse as s; m = s.load_npz(\"FILE.npz\").tocsr(); "
            "numpy.savez(\"graph.npz\", adj_data=m.data, adj_indices=m.indices, "
            "adj_indptr=m.indptr, adj_shape=m.shape)', and import graph.npz; features "
            "come beside an edge list (`troupe import edges EDGES --node-features FILE.npz`)",
            job->npz.path);
    for (uint32_t i = 0; i < job->npz.count; i++) {
        if (is_of_split(job->npz.names[i]))
            return error_set(job->error, TR_EFORMAT,
                             "%s: holds a split ('%.60s') and no edges: import the archive of its "
                             "graph, save each mask of the split as .npy in that folder, and list "
                             "them in its metadata.json (man troupe-raw)",
                             job->npz.path, job->npz.names[i]);
    }
    return error_set(job->error, TR_EFORMAT,
                     "%s: holds no edges: neither adj_indptr and adj_indices nor an array 'edges'; "
                     "its first array is '%.100s'",
                     job->npz.path, job->npz.count > 0 ? job->npz.names[0] : "");
}

/* What is done to the edges, in the order of `troupe import edges`: self-loops, reverses,
 * duplicates. Weights go with their edges. */
int npz_edges_arrange(struct npz_job *job)
{
    struct pairs from = job->pairs;
    struct reverse_pairs reverse;
    float *weights = job->weights;
    const bool undirected = job->options->undirected;
    memset(&job->pairs, 0, sizeof job->pairs);
    job->weights = weights != NULL ? malloc((size_t)from.count * 2 * sizeof *weights) : NULL;
    int rv = reverse_pairs_init(&reverse);
    if (rv != 0 || (weights != NULL && job->weights == NULL))
        rv = npz_job_no_memory(job, "edges");
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

/* The weights of edges that were merged into an earlier one, whose own stays. */
static void take_out_weights(struct npz_job *job, const uint8_t *repeated, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++) {
        job->weights[kept] = job->weights[i];
        kept += (repeated[i / 8] >> i % 8 & 1) == 0;
    }
}

int npz_edges_look_for_duplicates(struct npz_job *job)
{
    const enum raw_duplicates rule = job->options->duplicates;
    const uint64_t count = job->pairs.count;
    struct duplicate one;
    uint8_t *repeated = NULL;
    if (rule == RAW_DUPLICATES_KEEP)
        return 0;
    int rv = duplicates_find(&job->pairs, rule == RAW_DUPLICATES_MERGE, job->npz.cancel,
                             &job->facts->duplicates, &one, &repeated);
    if (rv == 0 && rule == RAW_DUPLICATES_MERGE && job->weights != NULL)
        take_out_weights(job, repeated, count);
    free(repeated);
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

int npz_edges_write(struct npz_job *job)
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
