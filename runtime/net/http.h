/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP server of an actor: answers GET and HEAD requests with texts that are made at once, or
 * with a stream of texts that are sent as they come to be.
 *
 * HTTP is libmicrohttpd's matter, connections included; it has no thread, and runs in turns of the
 * actor's loop when its descriptors or its timers have something for it (see stream_watch). Nobody
 * has to authenticate, so what a stranger may cost is bounded: HTTP_OPEN_MAX connections, of which
 * the oldest ends when one more comes, each with HTTP_REQUEST_MAX bytes of headers and HTTP_NS from
 * its beginning to its end. A stream has no end of its own; there are HTTP_STREAMS_MAX of them, of
 * which the oldest ends when one more begins, and one whose reader takes nothing ends within
 * seconds. Who may have a stream is the actor's to judge, before it answers with one.
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

#define HTTP_STREAMS_MAX 8u /* pages that are open at once */

struct http;
struct http_request;

/* Texts of a request, which last as long as the call that got it; NULL: it has none. The path is
 * without its query. Names of headers are compared without regard to case. */
const char *http_path(const struct http_request *request);
const char *http_argument(const struct http_request *request, const char *name);
const char *http_header(const struct http_request *request, const char *name);
const char *http_cookie(const struct http_request *request, const char *name);

/* The next text of a stream, from malloc, which is taken; NULL: there is none yet. *at is where the
 * stream is, as the actor counts. Asked again after http_wake(). */
typedef char *http_next(struct actor *self, void *arg, uint64_t *at);

struct http_answer {
    unsigned status;  /* 200, 404 ... */
    const char *type; /* static: "text/plain" */
    /* One of the three is the answer; none: memory is out (a 503). */
    char *body;                /* text from malloc, taken */
    const unsigned char *lent; /* static, lent_bytes of them */
    http_next *next;           /* a stream, which begins at from */
    size_t lent_bytes;
    uint64_t from;
    const char *const *fields; /* static: name, value, name, value ..., NULL; or NULL */
    const char *location;      /* static; NULL: none */
    char cookie[160];          /* the value of Set-Cookie; "": none */
};

typedef void http_asked(struct actor *self, void *arg, const struct http_request *request,
                        struct http_answer *answer);

/* *at: where it listens, its port filled in. As stream_listen; TR_EUNSUPPORTED in the simulator. */
int http_listen(struct actor *self, const struct endpoint *endpoint, http_asked *asked, void *arg,
                struct http **http, struct endpoint *at, struct error *error);

/* Streams have something to send: each is asked for its next text. Not inside of asked or next. */
void http_wake(struct http *http);

/* Ends all connections; NULL is ignored. */
void http_close(struct http *http);

#endif
