/* SPDX-License-Identifier: Apache-2.0 */
/* What the options of link prediction become in messages, of a loader and of a single draw. */
#ifndef API_LINK_OPTIONS_H
#define API_LINK_OPTIONS_H

#include <stdint.h>

#include <troupe/link_prediction.h>

struct tr_graph;
struct tr_nodes;

/* Fields of struct msg_loader_open and struct msg_draw_request. */
struct link_fields {
    uint32_t flags; /* MSG_LOADER_* */
    uint32_t num_negatives;
    uint32_t negative_ranks, negative_source_ranks;
    uint32_t negative_ends;
    uint32_t reverse_etype;
    uint32_t reverse_rule;
};

/* links NULL: all 0. seeds NULL: they are no set. batch_pairs: that a batch may have. */
int link_options_read(const struct tr_graph *graph, const struct tr_nodes *seeds,
                      uint64_t batch_pairs, const struct tr_link_options *links,
                      struct link_fields *out, struct tr_error *error);

#endif
