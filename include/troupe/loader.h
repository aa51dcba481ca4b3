/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader: shuffled epochs of mini-batches over a node set, sampled ahead of the training thread.
 *
 * The same seed, node set and options give the same batches on any placement: number of
 * partitions, servers, samplers, loops, and whether data are read or asked for.
 *
 * Thread rules: as for the session; one thread at a time may wait in tr_loader_next() (a second
 * gets TR_EINVAL). tr_loader_cancel() and tr_loader_close() wake it with TR_ECANCELED.
 */
#ifndef TROUPE_LOADER_H
#define TROUPE_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_graph;
struct tr_nodes;
struct tr_loader;
struct tr_batch;
struct tr_sample_spec;
struct tr_link_options;

#define TR_LAYERS_MAX 16
#define TR_FANOUT_ALL (-1)
/* A batch has at most so many listed nodes or edges, or half as many listed pairs, or edges with their
 * reverses. */
#define TR_BATCH_LISTED_MAX (UINT64_C(1) << 23)

struct tr_loader_options {
    size_t size;
    uint32_t num_layers; /* 1 .. TR_LAYERS_MAX */
    /* From the input layer to the output layer, as DGL lists them: the seeds draw the last.
     * The number holds for each edge type. TR_FANOUT_ALL takes every neighbour, 0 none. */
    int32_t fanout[TR_LAYERS_MAX];
    uint32_t batch_size;  /* seeds (or pairs) a batch, for each trainer; see TR_BATCH_LISTED_MAX */
    bool replace;         /* draw with replacement */
    bool shuffle;         /* a new order each epoch */
    bool drop_last;       /* drop a last batch that is not full */
    bool edge_ids;        /* give each edge's global ID */
    bool original_ids;    /* give the user's ID of each node (tr_batch_digest needs them) */
    bool degrees;         /* give whole-graph in- and out-degrees */
    const char *features; /* feature of the input nodes to bring along, or NULL */
    const char *labels;   /* feature of the seeds, of all their types, to bring along, or NULL */
    uint32_t prefetch;    /* batches in flight or waiting; 0: 2 a sampler */
    uint32_t rank;        /* of this trainer; of a group that tr_nodes_deal() made: its own */
    uint32_t world;       /* trainers; 0: those of the session */
    uint64_t seed;        /* 0: the session's */
    /* The draws where edge types differ (troupe/sample.h), for this graph; then num_layers, fanout
     * and replace are not read. NULL: these. */
    const struct tr_sample_spec *spec;
    /* Negatives, and edges to be left out, of a set of pairs or edges (troupe/link_prediction.h);
     * each node is one seed then. NULL: none, and each end of a pair is a seed of its own. */
    const struct tr_link_options *links;
};

/* One layer of fanout 10, batch size 1024, shuffled. */
#define tr_loader_options_init(options) \
    tr_loader_options_init_sized((options), sizeof(struct tr_loader_options))
TR_API void tr_loader_options_init_sized(struct tr_loader_options *options, size_t size);

/* The options and the strings in them are needed during the call only; the node set is held, and
 * its list, where it has one, is read in place: no loader copies it. TR_ERANGE and TR_EINVAL name
 * an option, TR_ENOENT a feature; TR_EMISMATCH: the set is of another graph, or of another
 * trainer's group; TR_ETOOBIG: the set has more than 2^40 seeds; TR_EUNSUPPORTED: nobody trains in
 * this process. *out is NULL after a failure. */
TR_API int tr_loader_open(struct tr_graph *graph, struct tr_nodes *nodes,
                          const struct tr_loader_options *options, int64_t timeout_ns,
                          struct tr_loader **out, struct tr_error *error);
/* Waits until no thread is inside; batches stay. NULL is ignored. */
TR_API void tr_loader_close(struct tr_loader *loader);

/* Batches in one epoch. */
TR_API uint64_t tr_loader_num_batches(const struct tr_loader *loader);

/* Begins an epoch; batches of an epoch under way are dropped. The first call of tr_loader_next()
 * begins epoch 0 by itself. */
TR_API int tr_loader_begin(struct tr_loader *loader, uint32_t epoch, struct tr_error *error);

/* The same from a batch of the epoch on, as after a restart; after the last one the epoch is at its
 * end. TR_ERANGE: the epoch has not so many. */
TR_API int tr_loader_begin_at(struct tr_loader *loader, uint32_t epoch, uint64_t batch,
                              struct tr_error *error);

/* The next batch in order, which the caller releases; TR_EEND after the last of the epoch (the next
 * call begins the next epoch); TR_ETIMEDOUT loses nothing: the next call goes on waiting; TR_EFULL:
 * batches that the caller holds fill the session's memory bound. *out is NULL but for a batch. */
TR_API int tr_loader_next(struct tr_loader *loader, int64_t timeout_ns, struct tr_batch **out,
                          struct tr_error *error);

/* Wakes the waiting thread and drops the epoch; the loader can begin another. */
TR_API int tr_loader_cancel(struct tr_loader *loader, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
