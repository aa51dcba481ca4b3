/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may see the live page: who was given its URL.
 *
 * The URL has a token of 128 random bits. Whoever brings it gets a cookie, and everything else asks
 * for that. A browser that was led here under another name is refused whatever it brings: a page of
 * a stranger's may have its own name point to the loopback (DNS rebinding), and then asks as itself.
 *
 * Names of hosts are compared, ports are not: a tunnel of ssh has another one.
 *
 * Ownership: a plain value. Thread rules: any thread, one at a time.
 */
#ifndef LAUNCH_WEB_LIVE_GUARD_H
#define LAUNCH_WEB_LIVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/core/endpoint.h"

#define LIVE_TOKEN_TEXT 33 /* 128 bits in hex, with the end */

struct live_guard {
    char token[LIVE_TOKEN_TEXT];
    char cookie[24]; /* its name, random too: cookies of one host are those of all its ports */
    char host[ENDPOINT_HOST_MAX];
};

/* TR_EUNSUPPORTED: the system gives no random numbers. */
int live_guard_init(struct live_guard *guard, struct error *error);

/* Whether only programs of this host reach that address. "localhost" is taken for the loopback. */
bool live_guard_is_loopback(const struct endpoint *endpoint);

/* host: the request's field, NULL where it has none. Loopback names and guard->host are ours. */
bool live_guard_knows_host(const struct live_guard *guard, const char *host);

/* NULL is wrong. The time that it takes does not depend on where they differ. */
bool live_guard_knows_token(const struct live_guard *guard, const char *token);

/* The value of Set-Cookie. */
void live_guard_cookie(const struct live_guard *guard, char *text, size_t size);

#endif
