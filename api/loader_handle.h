/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handle of a loader, which the files that open it and take batches from it share.
 *
 * Ownership: a loader holds its graph and its seeds by references. Thread rules: open, spec and
 * trainer are set before the handle is given out; epoch, next and told belong to the thread inside
 * (`waiting`), or to the one that has the mutex while none is.
 */
#ifndef API_LOADER_HANDLE_H
#define API_LOADER_HANDLE_H

#include "api/internal.h"
#include "schemas/sample_spec.h"

struct tr_loader {
    struct tr_graph *graph; /* a reference */
    struct tr_nodes *nodes; /* a reference: the seeds, should the proxy start again */
    struct msg_loader_open open;
    struct msg_seed_segment *segments; /* of its types, as above */
    struct sample_spec spec;           /* what to draw, should the proxy start again */
    uint64_t num_batches;
    uint32_t trainer;      /* whose proxy brings the batches */
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t left;
    bool waiting;
    bool cancelled;
    bool closed;
    bool told; /* the proxy knows where this loader stands */
    struct address proxy;
    uint32_t epoch;
    uint64_t next;
};

/* loader_open.c: opens it at the proxy, again after the proxy was started again. first: nobody has
 * the loader yet, and the proxy is noted before it is asked: it may open the loader after the call
 * has ended, and is then to close it. Where a loader is opened again the dead proxy stays noted
 * until another one has answered, since requests to it lead here again. */
int loader_open_at_proxy(struct tr_loader *loader, struct port *port, bool first,
                         uint64_t deadline_ns, struct error *error);
/* The proxy that was noted. */
struct address loader_proxy(struct tr_loader *loader);
/* Whether it was cancelled or closed. */
bool loader_is_cancelled(struct tr_loader *loader);
/* Before another attempt. False: there is none. */
bool loader_pause_before(struct tr_loader *loader, struct port *port, uint64_t deadline_ns);

#endif
