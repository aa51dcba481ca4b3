/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of a process as text, over plain HTTP (runtime/net/http.h): what
 * Prometheus and the like come and ask for at /metrics.
 *
 * The address is this host's loopback unless somebody says otherwise: nothing here is secret, but
 * neither is it anybody's business.
 *
 * A client that accepts OpenMetrics (https://github.com/OpenObservability/OpenMetrics, version 1.0)
 * gets it. Any other client gets the older text format, which has no units, no infos and no end:
 * https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4.
 *
 * Ownership: the options outlive the actor. Thread rules: an actor's; metrics_text on any thread.
 */
#ifndef ACTORS_REPORT_METRICS_H
#define ACTORS_REPORT_METRICS_H

#include "actors/report/status.h"
#include "runtime/core/endpoint.h"

struct metrics_options {
    const struct status_options *status;
    struct endpoint listen;
    /* May be NULL: notified on the actor's loop where it listens (port filled in), or why not. */
    void (*listening)(void *arg, const struct endpoint *endpoint, const struct error *error);
    void *arg;
};

/* arg: struct metrics_options. It ends when it cannot listen. */
extern const struct actor_ops metrics_ops;

/* "9464", "host:9464", "[::1]:9464"; a port alone is on the loopback. */
int metrics_address(const char *text, struct endpoint *endpoint, struct error *error);

/* OpenMetrics text, to be freed, or NULL: memory is out. */
char *metrics_text(const struct status_options *options, struct node *node, uint64_t now_ns);
/* The same in the format before; takes the text. NULL: memory is out. */
char *metrics_plain(char *open_metrics);

#endif
