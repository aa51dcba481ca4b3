/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP server of an actor: answers GET requests with texts that are made at once.
 *
 * HTTP is libmicrohttpd's matter, connections included; it has no thread, and runs in turns of the
 * actor's loop when its descriptors or its timers have something for it (see stream_watch). Nobody
 * has to authenticate, so what a stranger may cost is bounded: HTTP_OPEN_MAX connections, of which
 * the oldest ends when one more comes, each with HTTP_REQUEST_MAX bytes of headers and HTTP_NS from
 * its beginning to its end.
 *
 * This is the one place of the runtime where a library does its own reading and writing. The
 * simulator has no descriptors, and refuses it (TR_EUNSUPPORTED): nothing of a job depends on it.
 *
 * Ownership: http_close frees; an actor closes its servers in its fini at the latest.
 * Thread rules: on self's loop, inside one of its callbacks.
 */
#ifndef RUNTIME_NET_HTTP_H
#define RUNTIME_NET_HTTP_H

#include "runtime/core/actor.h"
#include "runtime/core/endpoint.h"

#define HTTP_REQUEST_MAX 4096u /* a browser's headers */
#define HTTP_NS UINT64_C(2000000000)
#define HTTP_OPEN_MAX 16u /* more than a site has scrapers and people who look */

struct http;

struct http_answer {
    unsigned status;  /* 200, 404 ... */
    const char *type; /* static: "text/plain" */
    char *body;       /* text from malloc, taken; NULL: memory is out (a 503) */
};

/* Answers for this path (without its query). */
typedef void http_asked(struct actor *self, void *arg, const char *path,
                        struct http_answer *answer);

/* *at: where it listens, its port filled in. As stream_listen; TR_EUNSUPPORTED in the simulator. */
int http_listen(struct actor *self, const struct endpoint *endpoint, http_asked *asked, void *arg,
                struct http **http, struct endpoint *at, struct error *error);

/* Ends all connections; NULL is ignored. */
void http_close(struct http *http);

#endif
