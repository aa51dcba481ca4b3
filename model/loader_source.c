/* SPDX-License-Identifier: Apache-2.0 */
#include "model/loader_source.h"

int session_failed(const struct tr_error *why, int code, struct error *error)
{
    return error_set(error, code, "%s", why->message[0] != '\0' ? why->message : tr_strerror(code));
}

/* How long a Ctrl-C may stay unseen while no batch comes. */
#define CANCEL_ASKED_EVERY_NS 100000000

static int start_epoch(struct batch_source *self, uint32_t epoch, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct loader_source *source = (struct loader_source *)self;
    int rv = tr_loader_begin(source->loader, epoch, &why);
    return rv == 0 ? 0 : session_failed(&why, rv, error);
}

static int start_at(struct batch_source *self, uint32_t epoch, uint64_t step, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct loader_source *source = (struct loader_source *)self;
    int rv = tr_loader_begin_at(source->loader, epoch, step, &why);
    return rv == 0 ? 0 : session_failed(&why, rv, error);
}

static int next(struct batch_source *self, const struct mini_batch **batch, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct loader_source *source = (struct loader_source *)self;
    int rv;
    do {
        if (cancel_asked(source->cancel))
            return error_set(error, TR_ECANCELED, "interrupted");
        rv = tr_loader_next(source->loader, CANCEL_ASKED_EVERY_NS, &source->batch, &why);
    } while (rv == TR_ETIMEDOUT);
    if (rv == TR_EEND)
        return rv;
    if (rv != 0)
        return session_failed(&why, rv, error);
    rv = batch_view_make(&source->view, source->batch, source->types, source->weights, batch,
                         error);
    /* The view is whole before edges are taken out of it. */
    if (rv == 0 && source->links != NULL)
        rv = link_filter_batch(&source->filter, source->links, &source->view, error);
    return rv;
}

static void release(struct batch_source *self, const struct mini_batch *batch)
{
    struct loader_source *source = (struct loader_source *)self;
    (void)batch;
    tr_batch_release(source->batch);
    source->batch = NULL;
}

void loader_source_fini(struct loader_source *source)
{
    tr_batch_release(source->batch);
    source->batch = NULL;
    batch_view_fini(&source->view);
    link_filter_fini(&source->filter);
}

void loader_source_init(struct loader_source *source, struct tr_session *session,
                        struct tr_loader *loader, const struct cancel *cancel)
{
    *source = (struct loader_source){
        .weights = BATCH_VIEW_NO_TABLE,
        .base = { .start_epoch = start_epoch,
                  .next = next,
                  .release = release,
                  .start_at = start_at },
        .session = session,
        .loader = loader,
        .cancel = cancel,
    };
}
