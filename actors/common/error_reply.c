/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/common/error_reply.h"

#include <string.h>

#include "schemas/messages.h"

void error_reply_send(struct actor *self, struct message *request, const struct error *error)
{
    /* The whole reply is made before the request is touched: where there is no memory for the text,
     * the request still takes the code back, for which none is needed. */
    struct message *reply = message_create(self, MSG_ERROR_REPLY);
    size_t length = strnlen(error->text, sizeof error->text);
    void *text = reply != NULL ? message_body_alloc(self, reply, length) : NULL;
    if (text == NULL) {
        message_release(self, reply);
        actor_refuse(self, request, error->code);
        return;
    }
    memcpy(text, error->text, length);
    *(struct msg_error_reply *)message_head(
        reply) = (struct msg_error_reply){ .code = error->code, .process_1 = error->process_1 };
    actor_reply(self, request, reply);
}

int error_reply_read(const struct message *reply, struct error *error)
{
    if (reply->frame.kind != MSG_ERROR_REPLY)
        return 0;
    const struct msg_error_reply *head = (const struct msg_error_reply *)reply->head;
    int code = head->code < 0 ? head->code : TR_EINTERNAL;
    size_t length = reply->frame.body_bytes < ERROR_TEXT_MAX ? reply->frame.body_bytes
                                                             : ERROR_TEXT_MAX - 1;
    const char *text = message_body(reply);
    error_set(error, code, "%.*s", text != NULL ? (int)length : 0, text != NULL ? text : "");
    if (error != NULL)
        error->process_1 = head->process_1;
    return code;
}
