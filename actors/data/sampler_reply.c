/* SPDX-License-Identifier: Apache-2.0 */
/* What proxies ask of a sampler, of loaders and for single draws alike, and how it answers them. */
#include "actors/common/error_reply.h"
#include "actors/data/sampler_state.h"

const uint64_t *sampler_given(const struct message *request, uint32_t *num_ids)
{
    const struct msg_draw_request *draw = (const void *)request->head;
    const uint64_t *ids;
    uint64_t count;
    *num_ids = ((const struct msg_batch_request *)(const void *)request->head)->num_seeds;
    if (request->frame.kind != MSG_DRAW_REQUEST)
        return message_body(request);
    int rv = draw_request_ids(draw, message_body(request), request->frame.body_bytes, &ids, &count);
    *num_ids = rv == 0 ? (uint32_t)count : 0;
    return rv == 0 ? ids : NULL;
}

struct msg_batch_request sampler_asked(const struct message *request)
{
    const struct msg_draw_request *draw = (const void *)request->head;
    if (request->frame.kind == MSG_DRAW_REQUEST)
        return (struct msg_batch_request){ .loader = draw->draw };
    return *(const struct msg_batch_request *)(const void *)request->head;
}

void sampler_fail_request(struct sampler *s, struct message *request, int code, const char *text)
{
    struct error error;
    error_set(&error, code, "%s", text);
    error_reply_send(s->self, request, &error);
}

static void send_reply(struct sampler *s, struct message *request, uint64_t bytes, bool full)
{
    const struct msg_batch_request asked = sampler_asked(request);
    struct message *reply = message_create(s->self, MSG_BATCH_REPLY);
    if (reply == NULL) {
        sampler_fail_request(s, request, TR_ENOMEM, "no memory for a reply");
        return;
    }
    *(struct msg_batch_reply *)message_head(reply) = (struct msg_batch_reply){
        .loader = asked.loader,
        .batch = asked.batch,
        .bytes = bytes,
        .epoch = asked.epoch,
        .full = full,
    };
    actor_reply(s->self, request, reply);
}

void sampler_answer(struct sampler *s, struct message *request, uint64_t bytes)
{
    send_reply(s, request, bytes, false);
}

void sampler_answer_full(struct sampler *s, struct message *request, uint64_t bytes)
{
    send_reply(s, request, bytes, true);
}
