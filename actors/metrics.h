/*
 * The counters of a process as OpenMetrics text, over plain HTTP: what Prometheus and the like
 * come and ask for.
 *
 *     GET /metrics HTTP/1.0
 *
 * The address is this host's loopback unless somebody says otherwise: nothing here is secret, but
 * neither is it anybody's business. A request is at most METRICS_REQUEST_MAX bytes within
 * METRICS_NS, and at most METRICS_OPEN_MAX are served at once; others are closed.
 *
 * The text format: https://github.com/OpenObservability/OpenMetrics, version 1.0.
 *
 * Ownership: the options outlive the actor. Thread rules: an actor's; metrics_text on any thread.
 */
#ifndef ACTORS_METRICS_H
#define ACTORS_METRICS_H

#include "actors/status.h"
#include "runtime/endpoint.h"

#define METRICS_REQUEST_MAX 4096u /* a browser's headers */
#define METRICS_NS UINT64_C(2000000000)
#define METRICS_OPEN_MAX 16u /* more than a site has scrapers */

struct metrics_options {
    const struct status_options *status;
    struct endpoint listen;
    /* May be NULL: told on the actor's loop where it listens (port filled in), or why it can't. */
    void (*listening)(void *arg, const struct endpoint *endpoint, const struct error *error);
    void *arg;
};

/* arg: struct metrics_options. It ends when it cannot listen. */
extern const struct actor_ops metrics_ops;

/* "9464", "host:9464", "[::1]:9464"; a port alone is on the loopback. */
int metrics_address(const char *text, struct endpoint *endpoint, struct error *error);

/* The text, to be freed, or NULL: memory is out. */
char *metrics_text(const struct status_options *options, struct node *node, uint64_t now_ns);

#endif
