/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader as the trainer's source of batches.
 *
 * Ownership: borrows session and loader; holds at most one batch, which release gives back, and the
 * memory of its view, which loader_source_fini() frees.
 * Thread rules: the thread that trains.
 */
#ifndef MODEL_LOADER_SOURCE_H
#define MODEL_LOADER_SOURCE_H

#include <troupe/troupe.h>

#include "model/batch_view.h"
#include "model/link_filter.h"
#include "model/trainer.h"
#include "runtime/base/cancel.h"

struct loader_source {
    struct batch_source base;
    struct tr_session *session; /* its texts say what failed */
    struct tr_loader *loader;
    const struct cancel *cancel; /* asked while it waits; may be NULL */
    struct tr_batch *batch;      /* the one that the trainer has */
    struct batch_view view;      /* of it */
    /* The number of the loader's table of weights of edges; BATCH_VIEW_NO_TABLE, as
     * loader_source_init() leaves it: none. */
    uint32_t weights;
    const struct model_types *types; /* of the graph; NULL: one of each */
    /* Whose edges that are held out, and those of the pairs themselves, are taken out of each batch;
     * NULL, as loader_source_init() leaves it: none are. */
    const struct link_split *links;
    struct link_filter filter;
};

/* Gives back the batch that the trainer has, and frees the memory. */
void loader_source_fini(struct loader_source *source);

void loader_source_init(struct loader_source *source, struct tr_session *session,
                        struct tr_loader *loader, const struct cancel *cancel);

/* Puts the message about a failed call into error; returns code. */
int session_failed(const struct tr_error *why, int code, struct error *error);

#endif
