/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request that asks a partition which of its edges a slice is about: of each row one question, as
 * reverses (sampler_reverse.c) and negatives (sampler_negatives.c) put it.
 */
#include "actors/data/sampler_state.h"
#include "graph/reverse_edges.h"
#include "schemas/body.h"

int sampler_make_questions(const struct ask *ask, uint32_t etype, sampler_question *question,
                           struct message **out)
{
    const struct task *task = ask->task;
    struct actor *self = task->sampler->self;
    const uint32_t first = task->seed_starts[ask->part],
                   count = task->seed_starts[ask->part + 1] - first;
    struct message *request = message_create(self, MSG_REVERSE_REQUEST);
    uint64_t *originals = request == NULL
                              ? NULL
                              : message_body_alloc(self, request, count * REVERSE_QUESTION_BYTES);
    if (originals == NULL) {
        message_release(self, request);
        return TR_ENOMEM;
    }
    uint64_t *sources = originals + count;
    uint32_t *rows = (uint32_t *)(sources + count);
    for (uint32_t i = 0; i < count; i++) {
        const struct reverse_question asked = question(task, first + i);
        originals[i] = asked.original;
        sources[i] = asked.source;
        rows[i] = asked.row;
    }
    *(struct msg_reverse_request *)message_head(request) = (struct msg_reverse_request){
        .part = ask->part,
        .version = task->loader->versions[ask->part],
        .etype = etype,
        .count = count,
    };
    *out = request;
    return 0;
}
