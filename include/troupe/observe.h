/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching processes of a job: their counters, over HTTP.
 *
 * Thread rules: any thread.
 */
#ifndef TROUPE_OBSERVE_H
#define TROUPE_OBSERVE_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of an address as text, with its end. */
#define TR_ADDRESS_TEXT_MAX 320

/* Serves the counters of this process as OpenMetrics text at http://ADDRESS/metrics until the graph
 * is closed. address: "9464" (this host alone), "host:9464", "[::1]:9464"; port 0: any. at: where it
 * listens ("tcp:127.0.0.1:9464"); [at_bytes], may be NULL. TR_EINVAL: that is no address; TR_EEXIST:
 * somebody listens there; TR_EIO: it cannot be listened there. */
TR_API int tr_graph_serve_metrics(struct tr_graph *graph, const char *address, int64_t timeout_ns,
                                  char *at, size_t at_bytes, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
