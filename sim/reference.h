/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The batch that has to come: computed plainly, in one thread, from one partition, by the sampling
 * kernel and a walk of its own that looks nodes up in a table of all nodes.
 *
 * No actor, builder, message, partition book or placement is involved, so whatever faults a run
 * saw, its batches are compared with what nothing could disturb. The check goes through everything
 * in a batch: the walk, the rows, the degrees, the names of its edges.
 *
 * Ownership: the struct owns its placement and scratch memory, borrows the raw graph.
 */
#ifndef SIM_REFERENCE_H
#define SIM_REFERENCE_H

#include "actors/data/seed_lists.h"
#include "graph/batch_space.h"
#include "graph/on_demand.h"
#include "graph/sample.h"
#include "runtime/base/error.h"
#include "schemas/messages.h"
#include "sim/sim_partitions.h"

/* Runs of seeds from here on have loaders of pairs and of edges: it is above all seeds that were
 * remembered without them, whose runs are to stay what they were. */
#define WANTED_PAIRS_FROM UINT64_C(1795390000000000)

/* And those from here on ranges of edges by rank. */
#define WANTED_RANGES_FROM UINT64_C(1795396000000000)

/* And those from here on draw by masks, by weights and by LABOR. */
#define WANTED_SAMPLERS_FROM UINT64_C(1795732800000000)

/* And in those from here on half of the single draws leave edges out. */
#define WANTED_EXCLUSIONS_FROM UINT64_C(1795743600000000)

/* And in those from here on most loaders of pairs and edges have negatives, or leave their edges
 * out. */
#define WANTED_LINKS_FROM UINT64_C(1795755600000000)

/* And in those from here on graphs have reverses of edges, which most loaders that leave their edges
 * out leave out too. */
#define WANTED_REVERSES_FROM UINT64_C(1795766400000000)

/* And in those from here on the negatives of most loaders that have some have other sources, or ends
 * of other pairs. */
#define WANTED_CORRUPTIONS_FROM UINT64_C(1795816800000000)

/* And in those from here on half of the loaders whose pairs have negatives of their own draw those
 * again that are edges. */
#define WANTED_NO_EDGES_FROM UINT64_C(1795818000000000)

/* And in those from here on half of the loaders whose negatives are no ends of other pairs draw them by
 * degree. */
#define WANTED_DEGREES_FROM UINT64_C(1795819200000000)

/* And in those from here on terms of loaders that draw evenly, and by no mask, draw along
 * out-edges, one of three. */
#define WANTED_OUT_FROM UINT64_C(1795834800000000)

/* And in those from here on most loaders of pairs or edges have those of several edge types. */
#define WANTED_PAIR_TYPES_FROM UINT64_C(1795836600000000)

/* And in those from here on half of the loaders that leave their edges out, leave out what a list
 * says of each edge too, in the place of the reverses that there are. */
#define WANTED_LISTED_FROM UINT64_C(1795838400000000)

/* And in those from here on half of the layers of such terms alone draw over all edge types
 * together. */
#define WANTED_TOTALS_FROM UINT64_C(1795840200000000)

/* The nodes of a type that the walk has met, in that order. */
struct reference_nodes {
    uint64_t *ids;       /* [room] */
    size_t room;         /* nodes of the type, and as often again as a batch's seeds name one */
    uint32_t *positions; /* [nodes of the type]; UINT32_MAX: not met */
    uint32_t count;
};

struct reference {
    struct sim_partitions partitions; /* one partition */
    struct reference_nodes *nodes;    /* [num_ntypes] */
    struct batch_space batch;         /* the one built last */
    struct sample_space space;
    struct on_demand *on_demand; /* of its partition */
};

/* The batches of one trainer. */
struct wanted_loader {
    struct msg_loader_open open;
    struct sample_spec spec;
    uint64_t *seeds; /* [open.num_seeds], original IDs, in order, each at most twice */
    struct msg_seed_segment *segments; /* [open.num_segments], where they are of several types */
    /* Original IDs of both ends [2 * open.num_seeds], where these and not `seeds` are its seeds. */
    uint64_t *pairs;
    uint64_t *edges; /* [open.num_seeds], original IDs, where these pairs are the ends of edges */
    uint64_t listed_reverses; /* what the lists of its edges' reverses are drawn by */
    bool excludes;            /* a third of all edges, by the loader's seed */
    bool excludes_in_draw;    /* half of the single draws that are made of it do */
};

/* The edges that it leaves out, by their IDs of a placement; returns how many. excluded NULL: they
 * are counted alone. */
uint32_t wanted_loader_excluded(const struct wanted_loader *loader,
                                const struct sim_partitions *partitions,
                                struct msg_excluded_edge *excluded);

/* Bytes of the body of the message that opens it, and that body: its segments, its spec. Sets
 * head->spec_bytes. */
size_t wanted_loader_bytes(const struct wanted_loader *loader);
void wanted_loader_write(const struct wanted_loader *loader, struct msg_loader_open *head,
                         void *body);
/* Puts the seeds that it lists, by their global IDs of a placement, into the lists of a process
 * under the number that it has there, as api/loader_request.c does. */
void wanted_loader_put(const struct wanted_loader *loader, const struct sim_partitions *partitions,
                       struct seed_lists *lists, uint64_t number);
/* The seeds of a list alone, [2 * open.num_seeds] at most; returns where they end. */
uint64_t *wanted_loader_write_seeds(const struct wanted_loader *loader,
                                    const struct sim_partitions *partitions, uint64_t *ids);
/* Half of the loaders, by their seed, draw by another sampler than the uniform one, and some of the
 * terms by a mask. After the fanouts. */
void wanted_loader_sample(struct wanted_loader *loader);
/* Some of the terms that draw evenly draw along out-edges, by their loader's seed. After that. */
void wanted_loader_turn(struct wanted_loader *loader);
/* Some layers draw in total. After that. */
void wanted_loader_total(struct wanted_loader *loader);
/* Other node types join the seeds, which are drawn, where the loader's seed says so. */
void wanted_loader_join(struct wanted_loader *loader, const struct sim_graph *raw);
/* The seeds become as many pairs, or edges, which are drawn, of an edge type, where the loader's
 * seed says so. */
void wanted_loader_pair(struct wanted_loader *loader, const struct sim_graph *raw);
/* Half of those of edges, by the loader's seed, have a range of ranks then, which may be shorter
 * than what was drawn. */
void wanted_loader_range(struct wanted_loader *loader, const struct sim_graph *raw);
/* Most loaders of pairs or edges, by their seed, get negatives then, and edges to be left out;
 * where their ends are one seed each, all do. wanted_loader_rank() finds what they are drawn by. */
void wanted_loader_link(struct wanted_loader *loader);
/* By the loader's seed: which ends of its negatives are drawn, and of what; before
 * wanted_loader_rank(). */
void wanted_loader_corrupt(struct wanted_loader *loader);
/* By the loader's seed: whether negatives that are edges are drawn again. */
void wanted_loader_redraw(struct wanted_loader *loader);
/* By the loader's seed: whether negatives are drawn by degree. */
void wanted_loader_weigh(struct wanted_loader *loader, const struct sim_graph *raw);
/* Most of those that leave their edges out, by their seed, leave reverses out too then, where an edge
 * type has swapped ends. */
void wanted_loader_reverse(struct wanted_loader *loader, const struct sim_graph *raw);
/* Pairs or edges of other edge types join those of most loaders, by their seed; after all that says
 * what its links are. */
void wanted_loader_mix(struct wanted_loader *loader, const struct sim_graph *raw);
/* By the loader's seed: its edges that are listed bring their reverses; after wanted_loader_mix(). */
void wanted_loader_list_reverses(struct wanted_loader *loader);
/* The same loader with the seeds of the first of its types that has any; owns nothing. */
struct wanted_loader wanted_loader_first(const struct wanted_loader *loader);
/* Edge types differ: half of the specs, by the loader's seed, get other fanouts and ways to draw
 * for some of their terms; the rest draw all with replacement or none. */
void wanted_loader_vary(struct wanted_loader *loader, bool replace);
/* The loader names its seeds by ranks, of a table that the placement gets, where its seed says
 * so; else it lists them. */
void wanted_loader_rank(struct wanted_loader *loader, struct sim_partitions *partitions);
/* Half of the loaders, by their seeds, bring labels of some nodes along, and of some edges. */
void wanted_loader_list(struct wanted_loader *loader, const struct sim_partitions *partitions);
void wanted_loader_fini(struct wanted_loader *loader);

/* Neighbours of any one node, along any edge type in any direction in which a run of that seed
 * draws. */
uint32_t reference_max_degree(uint64_t seed, const struct sim_graph *raw);
/* What a reply takes that has any one node's row alone, along any edge type. */
uint64_t reference_row_bytes(uint64_t seed, const struct sim_graph *raw);

void reference_init(struct reference *reference, const struct sim_graph *raw);
void reference_fini(struct reference *reference);

/* How many batches an epoch has. */
uint64_t reference_steps(const struct msg_loader_open *open);

/* The batch with everything but rows and degrees, in original IDs; until the next one is built. */
void reference_build(struct reference *reference, const struct wanted_loader *loader,
                     uint32_t epoch, uint64_t step, struct mini_batch *batch);

/* Compares a batch that came, whose IDs are those of a placement: 0, or TR_EMISMATCH with a
 * message that says where it is wrong. */
int reference_check(struct reference *reference, const struct sim_partitions *partitions,
                    const struct wanted_loader *loader, uint32_t epoch, uint64_t step,
                    const struct mini_batch *batch, struct error *error);

#endif
