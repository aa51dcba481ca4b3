/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/npz_import.h"

#include <inttypes.h>
#include <stdlib.h>

#include "partition/import/npz_edges.h"
#include "partition/import/npz_job.h"
#include "partition/import/npz_masks.h"
#include "partition/import/npz_names.h"
#include "partition/import/npz_sparse.h"
#include "partition/import/npz_table.h"

/* Arrays that mean one thing, by the names that publishers give them; the first that there is
 * counts. */
static const char *const SPARSE_FEATURES[] = { "attr", "attr_matrix", NULL };
static const char *const FEATURES[] = { "attr_matrix",  "node_features", "features", "feature",
                                        "node_feature", "node_feat",     "feat",     "feats",
                                        "node_attr",    "attributes",    "x",        NULL };
static const char *const SPARSE_LABELS[] = { "labels", NULL };
static const char *const LABELS[] = { "labels", "node_labels", "label",   "node_label",
                                      "y",      "target",      "targets", NULL };

void npz_facts_fini(struct npz_facts *facts)
{
    free(facts->unread);
    *facts = (struct npz_facts){ 0 };
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

static int write_tables(struct npz_job *job, const char *sparse_features, const char *sparse_labels)
{
    const struct npz_facts *facts = job->facts;
    int rv = 0;
    if (facts->features_name != NULL)
        rv = sparse_features != NULL ? npz_table_sparse(job, "feat", sparse_features, true)
                                     : npz_table_copy(job, "feat", facts->features_name);
    if (rv == 0 && facts->labels_name != NULL)
        rv = sparse_labels != NULL ? npz_table_sparse(job, "label", sparse_labels, false)
                                   : npz_labels_copy(job, facts->labels_name);
    if (rv == 0)
        rv = npz_names_write(job, job->feature_width, facts->labels_name != NULL);
    return rv == 0 ? npz_masks_write(job) : rv;
}

static int open_writer(struct npz_job *job, const struct raw_write_options *write)
{
    struct graph_types types;
    char *name = raw_name_of(job->npz.path);
    int rv = name == NULL ? TR_ENOMEM : graph_types_init_homogeneous(&types);
    if (rv != 0) {
        free(name);
        return npz_job_no_memory(job, "graph");
    }
    rv = raw_writer_open(job->path, write, name, &types, &job->num_nodes, &job->writer, job->error);
    graph_types_fini(&types);
    free(name);
    return rv;
}

static int read_and_write(struct npz_job *job, const struct raw_write_options *write)
{
    struct npz_facts *facts = job->facts;
    int rv = npz_edges_find(job);
    if (rv == 0)
        rv = npz_edges_arrange(job);
    if (rv == 0)
        rv = npz_edges_look_for_duplicates(job);
    if (rv != 0)
        return rv;
    const char *sparse_features = npz_sparse_find(job, SPARSE_FEATURES);
    const char *sparse_labels = npz_sparse_find(job, SPARSE_LABELS);
    facts->features_name = sparse_features != NULL ? sparse_features : npz_job_find(job, FEATURES);
    facts->labels_name = sparse_labels != NULL ? sparse_labels : npz_job_find(job, LABELS);
    rv = find_num_nodes(job, sparse_features != NULL ? NULL : facts->features_name,
                        sparse_labels != NULL ? NULL : facts->labels_name);
    if (rv == 0)
        rv = open_writer(job, write);
    if (rv == 0)
        rv = npz_edges_write(job);
    if (rv == 0)
        rv = write_tables(job, sparse_features, sparse_labels);
    if (rv == 0)
        rv = npz_job_list_unread(job);
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
    rv = job.read == NULL ? npz_job_no_memory(&job, "list") : read_and_write(&job, write);
    raw_writer_abort(job.writer);
    pairs_fini(&job.pairs);
    free(job.weights);
    free(job.read);
    npz_fini(&job.npz);
    if (rv != 0)
        npz_facts_fini(facts);
    return rv;
}
