/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error replies: an actor that cannot serve a request answers with MSG_ERROR_REPLY, a code and a
 * message, which the requester reads.
 *
 * Thread rules: an actor's.
 */
#ifndef ACTORS_COMMON_ERROR_REPLY_H
#define ACTORS_COMMON_ERROR_REPLY_H

#include "runtime/base/error.h"
#include "runtime/core/call.h"

/* Answers with the message, or where there is no memory for it with its code as the status.
 * Consumes the request. */
void error_reply_send(struct actor *self, struct message *request, const struct error *error);

/* The code of a reply that is MSG_ERROR_REPLY, with its message in error (may be NULL); 0 for any
 * other reply. */
int error_reply_read(const struct message *reply, struct error *error);

#endif
