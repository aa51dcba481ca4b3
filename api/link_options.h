/* SPDX-License-Identifier: Apache-2.0 */
/* What the options of link prediction become in messages, of a loader and of a single draw. */
#ifndef API_LINK_OPTIONS_H
#define API_LINK_OPTIONS_H

#include <stdint.h>

#include <troupe/link_prediction.h>

struct msg_seed_segment;
struct tr_graph;
struct tr_nodes;

/* Fields of struct msg_loader_open and struct msg_draw_request. */
struct link_fields {
    uint32_t flags; /* MSG_LOADER_* */
    uint32_t num_negatives;
    uint32_t negative_ends;
};

/* links NULL: all 0. seeds NULL: they are no set. batch_pairs: that a batch may have, of all edge
 * types. segments[nodes_num_parts(seeds)]: of each type; sets what links say of it. */
int link_options_read(const struct tr_graph *graph, const struct tr_nodes *seeds,
                      uint64_t batch_pairs, const struct tr_link_options *links,
                      struct link_fields *out, struct msg_seed_segment *segments,
                      struct tr_error *error);

#endif
