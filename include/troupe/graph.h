/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A partitioned graph opened in a session, node sets of it, and features by ID.
 *
 * IDs are per node type and global: partitioning assigned them so that each partition
 * owns one range. tr_graph_original_ids() gives the user's own IDs.
 *
 * Thread rules and ownership: as for the session.
 */
#ifndef TROUPE_GRAPH_H
#define TROUPE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_session;
struct tr_graph;
struct tr_nodes;

/* A feature of a node type. */
struct tr_feature_info {
    size_t size;
    const char *name; /* valid while the graph is open */
    enum tr_dtype dtype;
    uint64_t width;   /* elements a row */
    size_t row_bytes; /* width * tr_dtype_size(dtype) */
    bool sparse; /* partitions keep the elements that are not 0; rows that are read are dense */
    unsigned char reserved[7];
};
#define TR_FEATURE_INFO_INIT                                          \
    {                                                                 \
        sizeof(struct tr_feature_info), NULL, TR_F32, 0, 0, false, "" \
    }

/* path: the DIR/NAME.json that `troupe partition` wrote; NULL: the one that the session's cluster
 * file names. Reads the partitions that this process serves and starts its actors; in a cluster it
 * joins the job, and waits up to 30 seconds, with a warning in the log, while another process still
 * listens at its address. All of that ends after timeout_ns, or with an interrupt. TR_ETIMEDOUT (it
 * names such an address), TR_ECANCELED: nothing is left open. TR_ENOENT, TR_EIO
 * and TR_EFORMAT name a file, TR_EMISMATCH what does not belong together (files, or this process
 * and its job). *out is NULL after a failure. */
TR_API int tr_graph_open(struct tr_session *session, const char *path, int64_t timeout_ns,
                         struct tr_graph **out, struct tr_error *error);
/* NULL is ignored, here and in every other close. */
TR_API void tr_graph_close(struct tr_graph *graph);
/* The path that it was opened by, given or from the cluster file: tr_book_open() reads there what is
 * not said here. Valid while the graph is open. */
TR_API const char *tr_graph_path(const struct tr_graph *graph);

/* Where this process stands in the job whose graph it opened. */
struct tr_graph_place {
    size_t size;
    uint32_t process; /* its number in the cluster file's plan; 0 without one */
    uint32_t num_processes;
    const char
        *host_name; /* in the cluster file, valid while the graph is open; NULL without one */
    uint32_t first_trainer, num_trainers; /* ranks here */
    uint32_t world;                       /* ranks of the job */
    bool first_with_trainers;             /* of the processes of its host that have some */
    unsigned char reserved[3];
};
#define TR_GRAPH_PLACE_INIT                                           \
    {                                                                 \
        sizeof(struct tr_graph_place), 0, 0, NULL, 0, 0, 0, false, "" \
    }
TR_API int tr_graph_place(const struct tr_graph *graph, struct tr_graph_place *place,
                          struct tr_error *error);

/* Waits until the job has ended, which ends the actors of this process, or until this process
 * cannot go on: the reason. TR_ETIMEDOUT: neither; a call with timeout 0 only looks, and is not
 * interrupted. */
TR_API int tr_graph_wait_end(struct tr_graph *graph, int64_t timeout_ns, struct tr_error *error);

/* From now on observers of this process see that its trainers are to make so many epochs. */
TR_API void tr_graph_note_epochs(struct tr_graph *graph, uint32_t epochs);
/* And what they have come to: the loss of late, and the last score of a validation by its name,
 * such as "accuracy"; of several trainers here the last that notes. Cheap enough for each batch.
 * NULL is "", a name is cut at 31 bytes, and what is not finite is not known. */
TR_API void tr_graph_note_loss(struct tr_graph *graph, double loss);
TR_API void tr_graph_note_score(struct tr_graph *graph, const char *name, double score);

TR_API uint32_t tr_graph_num_ntypes(const struct tr_graph *graph);
TR_API uint32_t tr_graph_num_etypes(const struct tr_graph *graph);
TR_API uint32_t tr_graph_num_parts(const struct tr_graph *graph);

/* Names are NULL for a number that names no type, and valid while the graph is open; counts are
 * 0. */
TR_API const char *tr_graph_ntype_name(const struct tr_graph *graph, uint32_t ntype);
TR_API const char *tr_graph_etype_name(const struct tr_graph *graph, uint32_t etype);
TR_API uint64_t tr_graph_num_nodes(const struct tr_graph *graph, uint32_t ntype);
TR_API uint64_t tr_graph_num_edges(const struct tr_graph *graph, uint32_t etype);

/* The features of a node type: [0, tr_graph_num_features). TR_ERANGE for another number. */
TR_API uint32_t tr_graph_num_features(const struct tr_graph *graph, uint32_t ntype);
TR_API int tr_graph_feature(const struct tr_graph *graph, uint32_t ntype, uint32_t feature,
                            struct tr_feature_info *info, struct tr_error *error);
/* TR_ENOENT when the type has no feature of that name. */
TR_API int tr_graph_find_feature(const struct tr_graph *graph, uint32_t ntype, const char *name,
                                 struct tr_feature_info *info, struct tr_error *error);

/* The features of an edge type: data and weights of its edges, by the edges' per-type global IDs.
 * The same failures. */
TR_API uint32_t tr_graph_num_edge_features(const struct tr_graph *graph, uint32_t etype);
TR_API int tr_graph_edge_feature(const struct tr_graph *graph, uint32_t etype, uint32_t feature,
                                 struct tr_feature_info *info, struct tr_error *error);
TR_API int tr_graph_find_edge_feature(const struct tr_graph *graph, uint32_t etype,
                                      const char *name, struct tr_feature_info *info,
                                      struct tr_error *error);

/* Rows of a feature for nodes in any order, repeats allowed, into rows: [count * row_bytes].
 * TR_ENOENT: no such feature; TR_ERANGE names the first ID that is none; TR_ETIMEDOUT. After a
 * failure rows may hold some of them. The next three fail alike. */
TR_API int tr_graph_fetch(struct tr_graph *graph, uint32_t ntype, const char *feature,
                          const uint64_t *ids, size_t count, int64_t timeout_ns, void *rows,
                          struct tr_error *error);

/* The same of a feature of an edge type, for edges by their per-type global IDs (those that batches,
 * partitions and tr_edges_ids() have). TR_ETOOBIG names an edge beyond the first 2^32 that its
 * partition has of the type. */
TR_API int tr_graph_fetch_edges(struct tr_graph *graph, uint32_t etype, const char *feature,
                                const uint64_t *edge_ids, size_t count, int64_t timeout_ns,
                                void *rows, struct tr_error *error);

/* The user's IDs of nodes: original_ids [count]. */
TR_API int tr_graph_original_ids(struct tr_graph *graph, uint32_t ntype, const uint64_t *ids,
                                 size_t count, int64_t timeout_ns, uint64_t *original_ids,
                                 struct tr_error *error);

/* In- and out-degrees in the whole graph over all edge types: [count] each; either may be NULL. */
TR_API int tr_graph_degrees(struct tr_graph *graph, uint32_t ntype, const uint64_t *ids,
                            size_t count, int64_t timeout_ns, uint32_t *in_degrees,
                            uint32_t *out_degrees, struct tr_error *error);

/*
 * A node set: what a loader takes its seeds from, in the order of original IDs. It does not change,
 * and holds the graph alive. All nodes, those of a mask and a trainer's share of the graph's own
 * deal are ranges of ranks: making one asks nobody, and takes no memory however many nodes it has
 * (a loader takes 2^40). For graphs that an older version partitioned they are lists of 16 bytes a
 * node, which the servers are asked for until the session's recovery deadline. TR_ERANGE: no such
 * node type. *out is NULL after a failure.
 */

/* Nodes whose row of a one-element mask feature (bool or u8, e.g. "train_mask") is not 0.
 * TR_ENOENT: no such feature; TR_EINVAL: it is no mask. */
TR_API int tr_nodes_masked(struct tr_graph *graph, uint32_t ntype, const char *mask,
                           int64_t timeout_ns, struct tr_nodes **out, struct tr_error *error);
/* All nodes of a type. */
TR_API int tr_nodes_all(struct tr_graph *graph, uint32_t ntype, int64_t timeout_ns,
                        struct tr_nodes **out, struct tr_error *error);
/* The nodes listed, ids [count], in 16 bytes a node, which all loaders over the set share. One that
 * is listed several times is as many seeds: each has its own place in the batch and draws by
 * itself. TR_ERANGE names one that there is not; TR_ETOOBIG: more than TR_LISTED_MAX. */
TR_API int tr_nodes_listed(struct tr_graph *graph, uint32_t ntype, const uint64_t *ids,
                           size_t count, int64_t timeout_ns, struct tr_nodes **out,
                           struct tr_error *error);
/* The nodes [first, first + count) of a set, in the order of original IDs, for programs that split
 * a set by a rule of their own. A range of a set of ranks is one too, a list is copied; nobody is
 * asked, and the set may be closed. TR_ERANGE: the set ends before that; TR_EINVAL: it has several
 * node types (join ranges instead), edges or pairs, or is a trainer's group. */
TR_API int tr_nodes_range(const struct tr_nodes *nodes, uint64_t first, size_t count,
                          struct tr_nodes **out, struct tr_error *error);
/*
 * One trainer's group of a set, in the order of original IDs: those nodes that a deal gives to
 * trainer `rank` of `world`. deal: a .npy file with a trainer number for each node of the type by
 * original ID; or NULL: the one that `troupe partition --trainers` wrote beside the graph. The deal
 * must name a trainer for each node of the set, and their numbers may differ by 1 at most
 * (TR_EMISMATCH). TR_ENOENT: there is no deal for that world; TR_ERANGE: no such rank; TR_EINVAL:
 * the set is a group already. Where deal is a file, the servers are asked for the IDs of the whole
 * set, which timeout_ns bounds (TR_ETIMEDOUT). Open the loader of the group with the same rank and
 * world: its epochs permute the group alone, and have as many steps on every rank as the whole set
 * has.
 */
TR_API int tr_nodes_deal(struct tr_nodes *nodes, const char *deal, uint32_t rank, uint32_t world,
                         int64_t timeout_ns, struct tr_nodes **out, struct tr_error *error);
/* A hash that equal deals share; 0: the set is no trainer's group. */
TR_API uint64_t tr_nodes_deal_hash(const struct tr_nodes *nodes);
/* The number of trainers for which a deal lies beside the graph; 0: there is none. */
TR_API uint32_t tr_graph_deal_trainers(const struct tr_graph *graph);
/* Whether the folder has checksums of its files: those of older versions load unchecked. */
TR_API int tr_graph_has_checksums(const struct tr_graph *graph);
/*
 * One set of several node types: the sets [num_sets] of one graph one after the other, each of a
 * type of its own; they may be closed. Nothing is copied. A loader shuffles all of its nodes
 * together, so a batch has of each type what its part of the epoch's order brings:
 * tr_batch_num_seeds() says how many. TR_EINVAL: no set, a type twice, a set that has several types
 * already, or a trainer's group; TR_EMISMATCH: sets of different graphs; TR_ETOOBIG: more than 2^40
 * nodes.
 */
TR_API int tr_nodes_join(struct tr_nodes *const *sets, uint32_t num_sets, struct tr_nodes **out,
                         struct tr_error *error);
/* Bounds of what is listed: those of all seeds. Memory ends before, 8 or 16 bytes a seed. */
#define TR_LISTED_MAX (UINT64_C(1) << 40) /* nodes, or edges */
#define TR_PAIRS_MAX (UINT64_C(1) << 40)
/*
 * A set of pairs of nodes, as link prediction takes them: pair i goes from sources[i], of the edge
 * type's source type, to destinations[i], of its destination type, whether the graph has such an
 * edge or not. A seed is a pair then: batches, steps and counts are of pairs, and an epoch without
 * shuffling has them in the order given here. Both ends of each are seeds with places of their own
 * in a batch, where tr_batch_pairs() says which are whose; an end that comes again, in this pair or
 * another one, draws again, but for loaders with links (troupe/link_prediction.h). The IDs are
 * copied: 16 bytes a pair, in this process alone, which all loaders over the set share. Nobody is
 * asked. TR_ERANGE: no such edge type, or the first ID that is no node of its type; TR_ETOOBIG:
 * more than TR_PAIRS_MAX pairs; TR_ENOMEM. Such a set cannot be dealt, and is joined by
 * tr_pairs_join().
 */
TR_API int tr_pairs_listed(struct tr_graph *graph, uint32_t etype, const uint64_t *sources,
                           const uint64_t *destinations, size_t count, struct tr_nodes **out,
                           struct tr_error *error);
/*
 * A set of edges of a type, by their per-type global IDs (those that batches and partitions have),
 * in the order given here: a set of pairs, whose ends are asked of the edges' owners, a batch at a
 * time, ahead of need. tr_batch_pairs() has the edges' IDs too. 8 bytes an edge, as above; an edge
 * that comes several times is as many seeds. The same failures; TR_ETOOBIG: more than TR_LISTED_MAX
 * edges. Only the first 2^32 edges that a partition has of a type may be seeds: tr_loader_next()
 * and tr_sample() give TR_ETOOBIG for one beyond, and name it.
 */
TR_API int tr_edges_listed(struct tr_graph *graph, uint32_t etype, const uint64_t *edge_ids,
                           size_t count, struct tr_nodes **out, struct tr_error *error);
/*
 * Edges with the reverse of each, for loaders that leave reverses out by such a list
 * (TR_REVERSE_LISTED, troupe/link_prediction.h): reverse_ids[i] is the edge of the same type that
 * reverses edge_ids[i], whatever its ends are, or TR_NO_EDGE. The edges of a batch and their
 * reverses travel to its sampler, which asks nobody for them. 16 bytes an edge. Else as
 * tr_edges_listed(), and TR_ERANGE names a reverse too.
 */
#define TR_NO_EDGE UINT64_MAX
TR_API int tr_edges_with_reverses(struct tr_graph *graph, uint32_t etype, const uint64_t *edge_ids,
                                  const uint64_t *reverse_ids, size_t count, struct tr_nodes **out,
                                  struct tr_error *error);
/*
 * All edges of a type, or those of the ranks [first, first + count), as such a set without a list,
 * however many they are. Ranks are in the order of (original ID of the destination, original edge
 * ID), so rank r is the same edge on every placement. Nobody is asked yet: samplers ask which edges
 * have the ranks of a batch, and then for their ends, ahead of need. TR_ERANGE: no such edge type,
 * or no such ranks; TR_EUNSUPPORTED: the partitions were written by a version that did not say
 * which edge has a rank: partition again, or list edges; TR_ETOOBIG: the type has more than 2^40
 * edges, or than 2^32 for each partition; TR_ENOMEM. To be closed by tr_nodes_close(), as all sets
 * are.
 */
TR_API int tr_edges_all(struct tr_graph *graph, uint32_t etype, struct tr_nodes **out,
                        struct tr_error *error);
TR_API int tr_edges_range(struct tr_graph *graph, uint32_t etype, uint64_t first, size_t count,
                          struct tr_nodes **out, struct tr_error *error);
/*
 * One set of several edge types: the sets [num_sets] of one graph one after the other, all of edges or
 * all of pairs, each of an edge type of its own; they may be closed. Nothing is copied. A loader
 * shuffles all of its edges together, so a batch has of each type what its part of the epoch's order
 * brings: tr_batch_pairs_of() has those of a type, tr_batch_negatives_of() their negatives, which end
 * in nodes of the types that the edges end in. TR_EINVAL: no set, a type twice, edges beside pairs,
 * nodes, or a set that has several types already; TR_EMISMATCH: sets of different graphs; TR_ETOOBIG:
 * more than 2^40 seeds, or 2^15 types.
 */
TR_API int tr_pairs_join(struct tr_nodes *const *sets, uint32_t num_sets, struct tr_nodes **out,
                         struct tr_error *error);
/* The edges [offset, offset + count) of a set of edges: edge_ids [count], of several types part by
 * part, each numbered within its type. Those of ranks are asked for, which timeout_ns bounds
 * (TR_ETIMEDOUT); others are known. TR_ERANGE: the set ends before that; TR_EINVAL: its seeds are no
 * edges. */
TR_API int tr_edges_ids(const struct tr_nodes *edges, uint64_t offset, size_t count,
                        int64_t timeout_ns, uint64_t *edge_ids, struct tr_error *error);
/* The edge type of a set of edges or pairs; TR_ETYPE_NONE: its seeds are nodes; TR_ETYPE_SEVERAL:
 * they are of several types. */
#define TR_ETYPE_NONE UINT32_MAX
#define TR_ETYPE_SEVERAL (UINT32_MAX - 1)
TR_API uint32_t tr_pairs_etype(const struct tr_nodes *pairs);
/* The parts of a set of edges or pairs, one for each edge type: its type and its place, [*offset,
 * *offset + *count) of the set. Nodes have none. TR_ERANGE: there is no part of that number. */
TR_API uint32_t tr_pairs_num_parts(const struct tr_nodes *pairs);
TR_API int tr_pairs_part(const struct tr_nodes *pairs, uint32_t part, uint32_t *etype,
                         uint64_t *offset, uint64_t *count, struct tr_error *error);
/* The pairs [offset, offset + count) of a set: sources [count], destinations [count], of several
 * types as above. TR_ERANGE: the set ends before that; TR_EINVAL: its seeds are nodes, or edges. */
TR_API int tr_pairs_ids(const struct tr_nodes *pairs, uint64_t offset, size_t count,
                        uint64_t *sources, uint64_t *destinations, struct tr_error *error);
TR_API void tr_nodes_close(struct tr_nodes *nodes);
/* TR_NTYPE_SEVERAL: its nodes are of several types. TR_NTYPE_PAIRS: its seeds are pairs of nodes,
 * or edges. */
#define TR_NTYPE_SEVERAL UINT32_MAX
#define TR_NTYPE_PAIRS (UINT32_MAX - 1)
TR_API uint32_t tr_nodes_ntype(const struct tr_nodes *nodes);
TR_API size_t tr_nodes_count(const struct tr_nodes *nodes);
/* The parts of a set, one for each node type: its type and its place, [*offset, *offset + *count)
 * of the set. Pairs have no parts. TR_ERANGE: there is no part of that number. */
TR_API uint32_t tr_nodes_num_parts(const struct tr_nodes *nodes);
TR_API int tr_nodes_part(const struct tr_nodes *nodes, uint32_t part, uint32_t *ntype,
                         uint64_t *offset, uint64_t *count, struct tr_error *error);
/* The nodes [offset, offset + count) of the set, in the order of original IDs (those of several
 * types part by part, each numbered within its type): their global IDs, and the user's IDs. A set
 * may be larger than memory, so it is read in pieces; servers may be asked. ids [count]. TR_ERANGE:
 * the set ends before that; TR_EINVAL: it has pairs. */
TR_API int tr_nodes_ids(struct tr_nodes *nodes, uint64_t offset, size_t count, int64_t timeout_ns,
                        uint64_t *ids, struct tr_error *error);
TR_API int tr_nodes_original_ids(struct tr_nodes *nodes, uint64_t offset, size_t count,
                                 int64_t timeout_ns, uint64_t *ids, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
