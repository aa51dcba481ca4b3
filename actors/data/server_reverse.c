/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds in-edges of owned nodes by original ID and source, a bounded number a slice: each is a
 * search through the edges of its node, which stand in the order of original IDs. Where any edge from
 * the source will do, all of them are looked at until there is one, a bounded number a slice too.
 */
#include <inttypes.h>

#include "actors/data/server_work.h"
#include "graph/local_rows.h"
#include "graph/reverse_edges.h"
#include "schemas/body.h"

/* Each may miss caches some twenty times, 2 us: these take 4 ms. */
#define SLICE_EDGES 2048u
/* These follow one another in memory, and take 2 ms. */
#define SLICE_SCANNED (UINT64_C(1) << 20)

struct reverse_work {
    struct server_work work;
    struct reverse_questions asked;
    uint64_t *edge_ids; /* of the reply, made when its turn comes */
    uint32_t done;
    struct edge_scan scan;
};

/* Original IDs are needed where one is asked for. */
static bool asks_originals(const struct reverse_questions *asked, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (asked->originals[i] != REVERSE_ANY_EDGE)
            return true;
    return false;
}

static int reverse_begin(struct actor *self, struct server_work *work, struct error *error)
{
    (void)self;
    struct reverse_work *state = (struct reverse_work *)work;
    const struct msg_reverse_request *head = message_head(work->request);
    int rv = server_pin(work, head->part, head->version, error);
    if (rv != 0)
        return rv;
    reverse_request_read(head, message_body(work->request), &state->asked);
    return asks_originals(&state->asked, head->count)
               ? local_edge_originals_check(work->part, head->etype, error)
               : local_etype_check(work->part, head->etype, error);
}

static int answer_slice(struct reverse_work *state, uint32_t end, struct error *error)
{
    const struct msg_reverse_request *head = message_head(state->work.request);
    const struct edge_part *edges = &state->work.part->edges[head->etype];
    state->scan.left = SLICE_SCANNED;
    for (; state->done < end; state->done++) {
        const struct reverse_question asked = { .original = state->asked.originals[state->done],
                                                .source = state->asked.sources[state->done],
                                                .row = state->asked.rows[state->done] };
        if (asked.row >= edges->csc.num_rows)
            return error_set(error, TR_ERANGE,
                             "partition %" PRIu32 ": in-edges of row %" PRIu32
                             " asked for, it has %" PRIu64 " rows",
                             head->part, asked.row, edges->csc.num_rows);
        uint64_t *found = &state->edge_ids[state->done];
        if (asked.original != REVERSE_ANY_EDGE)
            *found = reverse_edge_find(edges, &asked);
        else if (edge_scan_find(edges, &asked, &state->scan, found) != 0)
            return 0;
    }
    return 0;
}

static int reverse_step(struct actor *self, struct server_work *work, struct error *error)
{
    struct reverse_work *state = (struct reverse_work *)work;
    const struct msg_reverse_request *head = message_head(work->request);
    void *body;
    if (work->reply == NULL) {
        int rv = server_make_body(self, work, MSG_REVERSE_REPLY, head->count * sizeof(uint64_t),
                                  &body, error);
        if (rv != 0)
            return rv;
        state->edge_ids = body;
        ((struct msg_reverse_reply *)message_head(work->reply))->count = head->count;
    }
    uint32_t left = head->count - state->done;
    int rv = answer_slice(state, state->done + (left < SLICE_EDGES ? left : SLICE_EDGES), error);
    return rv != 0 ? rv : state->done < head->count ? WORK_MORE : WORK_DONE;
}
_Static_assert(MSG_NO_EDGE == REVERSE_NO_EDGE && MSG_ANY_EDGE == REVERSE_ANY_EDGE,
               "no edge is the same everywhere, and any");

const struct work_ops server_reverse_ops = {
    .kind = MSG_REVERSE_REQUEST,
    .state_bytes = sizeof(struct reverse_work),
    .begin = reverse_begin,
    .step = reverse_step,
};
