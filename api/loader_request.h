/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request that opens a loader at its proxy: the caller's options and seeds, checked.
 *
 * Thread rules: pure but for the number of the loader, which the session counts.
 */
#ifndef API_LOADER_REQUEST_H
#define API_LOADER_REQUEST_H

#include "api/internal.h"
#include "schemas/sample_spec.h"

/* The seeds of a set of one type, without what links say of them. */
struct msg_seed_segment loader_segment(const struct tr_nodes *part);

/* Every type of the seeds has the table `number`, which is called so; MSG_MASK_ALL: no table is
 * wanted. TR_ENOENT. */
int loader_check_labels(const struct tr_graph *graph, const struct tr_nodes *nodes, uint32_t number,
                        const char *name, struct tr_error *error);

/* The head of the request, and the trainer of this process whose proxy brings the batches.
 * *segments[nodes_num_parts(nodes)]: of the body where the seeds are of several types; to be freed,
 * after a failure too. */
int loader_fill_open(struct tr_graph *graph, const struct tr_nodes *nodes,
                     const struct tr_loader_options *options, uint32_t *trainer,
                     struct msg_loader_open *open, struct msg_seed_segment **segments,
                     struct tr_error *error);

/* The spec of the draws, which sample_spec_free() takes, after a failure too. Every edge type draws
 * alike, unless the options have a spec, which says more. */
int loader_fill_spec(struct tr_graph *graph, const struct tr_loader_options *options,
                     struct sample_spec *spec, struct tr_error *error);

/* Puts the lists that its seeds have, if any, into those of the session under the number that
 * loader_fill_open() gave it, before the proxy is asked to open it; seed_lists_drop() takes them
 * out again, also where there were none. TR_ENOMEM. */
int loader_put_lists(const struct tr_graph *graph, const struct tr_nodes *nodes, uint64_t loader,
                     struct tr_error *error);

/* NULL: no memory. */
struct message *loader_make_open(const struct msg_loader_open *open, const struct sample_spec *spec,
                                 const struct msg_seed_segment *segments, struct port *port);

#endif
