/* SPDX-License-Identifier: Apache-2.0 */
/* A singly linked list of messages, spliced in one step. Belongs to its holder. */
#ifndef RUNTIME_CORE_RUNTIME_MESSAGES_H
#define RUNTIME_CORE_RUNTIME_MESSAGES_H

#include <stddef.h>

#include "runtime/core/message.h"

struct messages {
    struct message *first, *last;
    size_t count;
};

static inline void messages_push(struct messages *list, struct message *message)
{
    message->next = NULL;
    if (list->first == NULL)
        list->first = message;
    else
        list->last->next = message;
    list->last = message;
    list->count++;
}

static inline struct message *messages_pop(struct messages *list)
{
    struct message *message = list->first;
    if (message != NULL) {
        list->first = message->next;
        list->count--;
    }
    return message;
}

/* Moves all of `from` behind what `to` has. */
static inline void messages_splice(struct messages *to, struct messages *from)
{
    if (from->first == NULL)
        return;
    if (to->first == NULL)
        to->first = from->first;
    else
        to->last->next = from->first;
    to->last = from->last;
    to->count += from->count;
    *from = (struct messages){ 0 };
}

#endif
