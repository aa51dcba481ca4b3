/* SPDX-License-Identifier: Apache-2.0 */
/* Loaders over parts of a graph's nodes, as a run's configuration says. */
#include <stdlib.h>
#include <string.h>

#include "model/run_hash.h"
#include "model/run_job_inside.h"
#include "model/run_task.h"

void run_job_loader_options(const struct run_job *job, bool shuffle,
                            struct tr_loader_options *options)
{
    const struct run_config *config = job->config;
    tr_loader_options_init(options);
    options->num_layers = config->model.layers;
    memcpy(options->fanout, config->fanout, sizeof options->fanout);
    options->batch_size = config->batch_size;
    options->replace = config->replace;
    options->shuffle = shuffle;
    options->drop_last = shuffle && config->drop_last;
    options->degrees = config->model.kind == MODEL_GCN;
    /* Learned rows are by original ID, and so are edges that are held out. */
    options->original_ids = config->model.types != NULL || job->whole.links != NULL;
    options->features = job->has_features ? config->features : NULL;
    options->labels = job->task->predicts_nodes ? config->labels : NULL;
}

int run_job_open_loader(struct run_job *job, struct tr_nodes *nodes,
                        struct tr_loader_options *options, struct run_job_split *split,
                        struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_sample_spec *spec = NULL;
    bool weighted = job->config->edge_weight != NULL;
    int rv = run_job_specify_draws(job, &spec, &why);
    options->spec = spec;
    if (rv == 0)
        rv = tr_loader_open(job->graph, nodes, options, TR_WAIT_FOREVER, &split->loader, &why);
    tr_sample_spec_destroy(spec);
    if (rv != 0) {
        session_failed(&why, rv, error);
        run_job_split_close(split);
        return rv;
    }
    loader_source_init(&split->source, job->session, split->loader, job->hooks.cancel);
    split->source.types = job->config->model.types;
    split->source.links = job->whole.links;
    if (weighted)
        split->source.weights = 0;
    return 0;
}

/* mask NULL: all nodes. */
static int open_split(struct run_job *job, uint32_t ntype, const char *mask,
                      struct run_job_split *split, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    *split = (struct run_job_split){ 0 };
    struct tr_loader_options options;
    run_job_loader_options(job, false, &options);
    options.world = 1;
    int rv = mask == NULL
                 ? tr_nodes_all(job->graph, ntype, TR_WAIT_FOREVER, &split->nodes, &why)
                 : tr_nodes_masked(job->graph, ntype, mask, TR_WAIT_FOREVER, &split->nodes, &why);
    if (rv != 0)
        return session_failed(&why, rv, error);
    return run_job_open_loader(job, split->nodes, &options, split, error);
}

int run_job_split_open(struct run_job *job, const char *mask, struct run_job_split *split,
                       struct error *error)
{
    return open_split(job, job->ntype, mask, split, error);
}

int run_job_split_open_all(struct run_job *job, uint32_t ntype, struct run_job_split *split,
                           struct error *error)
{
    return open_split(job, ntype, NULL, split, error);
}

static const char *mask_of(const struct run_config *config, enum tr_split part)
{
    return part == TR_SPLIT_TRAIN        ? config->train_mask
           : part == TR_SPLIT_VALIDATION ? config->val_mask
                                         : config->test_mask;
}

bool run_nodes_hold_out(const struct run_config *config, enum tr_split part)
{
    return mask_of(config, part)[0] != '\0';
}

/* So many IDs of a set are read, in pieces from all over it. Where two sets are of as many nodes
 * and one has a node that the other lacks, all nodes between that one and the one in its place have
 * other ranks. */
#define HASHED_IDS 65536u
#define HASHED_PIECES 64u

static int hash_set(struct tr_nodes *set, uint64_t *hash, struct tr_error *why)
{
    const uint64_t count = tr_nodes_count(set);
    const uint64_t pieces = count <= HASHED_IDS ? 1 : HASHED_PIECES;
    const uint64_t length = pieces == 1 ? count : HASHED_IDS / HASHED_PIECES;
    uint64_t *ids = calloc(length + 1, sizeof *ids);
    int rv = ids == NULL ? tr_error_set(why, TR_ENOMEM, "no memory for IDs of nodes") : 0;
    *hash = run_hash_bytes(RUN_HASH_BEGIN, &count, sizeof count);
    for (uint64_t i = 0; i < pieces && rv == 0; i++) {
        uint64_t first = pieces == 1 ? 0 : (count - length) / (pieces - 1) * i;
        rv = tr_nodes_original_ids(set, first, length, TR_WAIT_FOREVER, ids, why);
        *hash = run_hash_bytes(*hash, ids, length * sizeof *ids);
    }
    free(ids);
    return rv;
}

int run_nodes_hash_part(struct run_job *job, enum tr_split part, uint64_t *hash,
                        struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_nodes *set = NULL;
    int rv = tr_nodes_masked(job->graph, job->ntype, mask_of(job->config, part), TR_WAIT_FOREVER,
                             &set, &why);
    if (rv == 0)
        rv = hash_set(set, hash, &why);
    tr_nodes_close(set);
    return rv == 0 ? 0 : session_failed(&why, rv, error);
}

int run_nodes_split_held(struct run_job *job, enum tr_split part, struct run_job_split *split,
                         struct error *error)
{
    return open_split(job, job->ntype, mask_of(job->config, part), split, error);
}

int run_job_check_batches(const struct run_job *job, uint32_t world, const char *seeds,
                          struct run_job_split *split, struct error *error)
{
    if (tr_loader_num_batches(split->loader) > 0)
        return 0;
    error_set(error, TR_EINVAL,
              "options.drop_last leaves nothing to train on: a step takes %llu %s, and there are "
              "fewer; give a smaller options.batch_size, or leave out options.drop_last",
              (unsigned long long)job->config->batch_size * world, seeds);
    run_job_split_close(split);
    return TR_EINVAL;
}

int run_nodes_split_train(struct run_job *job, const char *deal, uint32_t rank, uint32_t world,
                          struct run_job_split *split, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    *split = (struct run_job_split){ 0 };
    struct tr_loader_options options;
    struct tr_nodes *all = NULL;
    run_job_loader_options(job, true, &options);
    options.rank = rank;
    options.world = world;
    int rv = tr_nodes_masked(job->graph, job->ntype, job->config->train_mask, TR_WAIT_FOREVER, &all,
                             &why);
    /* An empty set is refused before a deal is read for it, which would not say why. */
    if (rv == 0 && tr_nodes_count(all) == 0) {
        rv = error_set(error, TR_EINVAL, "mask '%s' marks no node: nothing to train on",
                       job->config->train_mask);
        tr_nodes_close(all);
        return rv;
    }
    if (rv == 0 && deal != NULL) {
        const char *file = strcmp(deal, "affinity") == 0 ? NULL : deal;
        rv = tr_nodes_deal(all, file, rank, world, TR_WAIT_FOREVER, &split->nodes, &why);
        tr_nodes_close(all);
    } else {
        split->nodes = all;
    }
    if (rv != 0)
        return session_failed(&why, rv, error);
    rv = run_job_open_loader(job, split->nodes, &options, split, error);
    return rv == 0 ? run_job_check_batches(job, world, "nodes", split, error) : rv;
}

int run_job_split_train(struct run_job *job, const char *deal, uint32_t rank, uint32_t world,
                        struct run_job_split *split, struct error *error)
{
    return job->task->split_train(job, deal, rank, world, split, error);
}

bool run_job_holds_out(const struct run_job *job, enum tr_split part)
{
    const struct run_config *config = job->config;
    return config->evaluation != RUN_EVALUATE_NONE && job->task->holds_out(config, part);
}

int run_job_split_held(struct run_job *job, enum tr_split part, struct run_job_split *split,
                       struct error *error)
{
    return job->task->split_held(job, part, split, error);
}

void run_job_split_close(struct run_job_split *split)
{
    loader_source_fini(&split->source);
    tr_loader_close(split->loader);
    tr_nodes_close(split->nodes);
    *split = (struct run_job_split){ 0 };
}
