/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a process listens: a unix socket or a TCP port.
 *
 *     unix:/run/troupe/0.sock     tcp:host:7000     tcp:10.0.0.1:7000     tcp:[::1]:7000
 *
 * A host name is looked up when it is connected to, every time: addresses change when a process is
 * moved. Plain values. Thread rules: any thread.
 */
#ifndef RUNTIME_CORE_ENDPOINT_H
#define RUNTIME_CORE_ENDPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/error.h"

#define ENDPOINT_HOST_MAX 256u /* RFC 1035: 253 characters; a unix path has 107 */
#define ENDPOINT_TEXT_MAX (ENDPOINT_HOST_MAX + 16u)

enum endpoint_kind { ENDPOINT_NONE, ENDPOINT_UNIX, ENDPOINT_TCP };

struct endpoint {
    enum endpoint_kind kind;
    uint16_t port;                /* of TCP; 0: any, to listen on */
    char host[ENDPOINT_HOST_MAX]; /* a name or an address without brackets; of unix: the path */
};

/* TR_EINVAL says what is wrong with the text and shows the forms. */
int endpoint_parse(const char *text, struct endpoint *endpoint, struct error *error);

/* Writes the text form; always ends with a zero. */
void endpoint_format(const struct endpoint *endpoint, char *text, size_t text_size);

#endif
