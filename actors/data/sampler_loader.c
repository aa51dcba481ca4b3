/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loaders that are open at a sampler, and the orders of their epochs.
 *
 * Invariants: a loader is known by its number and the process of its opener, so a proxy that was
 * started again there finds its own. Its versions of the partitions are chosen when it is added,
 * and held until it is removed. One whose opener lives in another process has a monitor on it,
 * whose end removes it; one of this process has none. A single draw is a loader from its request
 * until its batch was handed over, and counts in `num_draws` as well.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "actors/data/sampler_state.h"
#include "actors/data/seed_set.h"
#include "graph/samplers.h"
#include "runtime/core/monitor.h"
#include "schemas/body.h"

struct loader_state *sampler_find_loader(struct sampler *s, struct address opener, uint64_t loader)
{
    struct loader_state *l = s->loaders;
    while (l != NULL && (l->open.loader != loader || l->opener.node != opener.node ||
                         l->opener.incarnation != opener.incarnation))
        l = l->next;
    return l;
}

static void opener_down(struct actor *self, void *arg, struct address who, int reason)
{
    struct loader_state *l = arg;
    (void)self, (void)who;
    /* The monitor is forgotten first: it is over, and the loader's removal ends one that is not. */
    l->down = (struct call_id){ 0 };
    if (reason != TR_ECANCELED) /* the sampler itself ends */
        sampler_close_loader(l);
}

/* A proxy in another process may be gone without a word. One of ours opens its loaders again when
 * it was started again. */
static int sampler_loader_watch(struct sampler *s, struct loader_state *l, struct address opener)
{
    if (opener.node == actor_address(s->self).node || address_equal(opener, l->opener)) {
        l->opener = opener;
        return 0;
    }
    struct call_id down;
    int rv = actor_monitor(s->self, opener, opener_down, l, &down);
    if (rv != 0)
        return rv;
    /* The new monitor starts before the old one goes: without memory for it the loader stays
     * watched. */
    if (l->down.id != 0)
        actor_demonitor(s->self, l->down);
    l->down = down;
    l->opener = opener;
    return 0;
}

static int check_unlisted(const struct msg_loader_open *open, const struct message *message,
                          struct error *error)
{
    struct seed_set set;
    int rv = seed_set_init(&set, open, message_body(message), message->frame.body_bytes);
    if (rv != 0)
        error_set(error, rv, "no memory for the seeds of a loader");
    else if (seed_set_is_listed(&set))
        rv = error_set(error, TR_EUNSUPPORTED,
                       "loader: a list of seeds; requests for batches are to give theirs");
    seed_set_fini(&set);
    return rv;
}

static int check_open(const struct sampler *s, const struct msg_loader_open *open,
                      const struct message *message, struct error *error)
{
    struct epoch_plan epochs;
    struct sample_spec spec;
    int rv = seed_set_check(s->options->book, open, message_body(message),
                            message->frame.body_bytes, error);
    if (rv == 0)
        rv = check_unlisted(open, message, error);
    if (rv != 0)
        return rv;
    if (loader_open_spec(open, message_body(message), message->frame.body_bytes, &spec) != 0)
        return error_set(error, TR_EFORMAT, "loader: what to sample is not described");
    rv = sample_spec_check(&spec, &s->options->book->types, "loader", error);
    if (rv == 0)
        rv = sample_tables_check(&spec, s->options->meta, "loader", error);
    if (rv == 0)
        rv = epoch_plan_init(&epochs, open, error);
    if (rv != 0)
        return rv;
    /* The count is checked after the faults above, which stay: a proxy asks again after
     * TR_EFULL, and would do so for a loader that can never be opened. */
    if (s->num_loaders == SAMPLER_LOADERS_MAX)
        return error_set(error, TR_EFULL, "%u loaders are open; close some", SAMPLER_LOADERS_MAX);
    return 0;
}

static struct message *sampler_loader_opened(struct sampler *s, const struct loader_state *l)
{
    struct message *reply = message_create(s->self, MSG_LOADER_OPENED);
    if (reply == NULL)
        return NULL;
    struct msg_loader_opened *head = message_head(reply);
    head->loader = l->open.loader;
    head->num_batches = epoch_plan_steps(&l->epochs);
    return reply;
}

static bool has_flag(const struct msg_loader_open *open, uint32_t flag)
{
    return (open->flags & flag) != 0;
}

static bool has_edge_tables(const struct sample_spec *spec)
{
    for (uint32_t i = 0; i < spec->num_tables; i++)
        if (spec->tables[i].of == SAMPLE_OF_EDGES)
            return true;
    return false;
}

/* A loader that mixed versions would draw other batches on another placement: what is replaced
 * while it is open stays until it closes. */
static int pin_versions(struct loader_state *l)
{
    struct snapshots *set = l->sampler->options->snapshots;
    const struct book *book = l->sampler->options->book;
    l->versions = calloc(book->num_parts + (size_t)1, sizeof *l->versions);
    l->pinned = calloc(book->num_parts + (size_t)1, sizeof *l->pinned);
    if (l->versions == NULL || l->pinned == NULL)
        return TR_ENOMEM;
    for (uint32_t p = 0; p < book->num_parts; p++) {
        /* The version is chosen once and pinned as chosen: a newer one that comes in between is
         * not mixed in. */
        l->versions[p] = book_part_version(book, p);
        l->pinned[p] = set == NULL ? NULL : snapshot_acquire(set, p, l->versions[p]);
    }
    return 0;
}

static void unpin_versions(struct loader_state *l)
{
    for (uint32_t p = 0; l->pinned != NULL && p < l->sampler->options->book->num_parts; p++)
        snapshot_release(l->pinned[p]);
    free(l->pinned);
    free(l->versions);
}

/* Keeps a copy of the request for its spec (which the copy shares). NULL: no memory. */
static struct loader_state *add_loader(struct sampler *s, const struct msg_loader_open *open,
                                       struct message *request)
{
    struct loader_state *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    struct message *message = message_copy(s->self, request);
    /* The sampler is set before the versions: pinning and unpinning read the book by it. */
    l->sampler = s;
    if (message == NULL || pin_versions(l) != 0 ||
        seed_set_init(&l->seeds, open, message_body(message), message->frame.body_bytes) != 0 ||
        (l->negatives = calloc(l->seeds.num_segments, 2 * sizeof *l->negatives)) == NULL) {
        message_release(s->self, message);
        seed_set_fini(&l->seeds);
        unpin_versions(l);
        free(l);
        return NULL;
    }
    l->open = *open;
    l->message = message;
    /* These two cannot fail: check_open() made both of the same request. The spec comes before the
     * plan, which asks it for tables of edges. */
    epoch_plan_init(&l->epochs, open, NULL);
    loader_open_spec(open, message_body(message), message->frame.body_bytes, &l->spec);
    l->plan = (struct batch_builder_plan){
        .spec = &l->spec,
        /* The rows of edges are found by these. */
        .edge_ids = has_flag(open, MSG_LOADER_EDGE_IDS) || has_edge_tables(&l->spec),
        .original_ids = has_flag(open, MSG_LOADER_ORIGINAL_IDS),
        .degrees = has_flag(open, MSG_LOADER_DEGREES),
        .features = open->features,
        .labels = open->labels,
        .label_ntype = open->seeds == MSG_SEEDS_SEVERAL || seed_kind_is_pair(open->seeds)
                           ? BATCH_BUILDER_EVERY_TYPE
                           : open->ntype,
        .ends_once = has_flag(open, MSG_LOADER_ENDS_ONCE),
        .negatives = seed_set_negatives_rule(open),
    };
    for (uint32_t i = 0; i < 2 * l->seeds.num_segments && open->num_negatives > 0; i++)
        l->negatives[i] = seed_set_negatives(s->options->book, open, &l->seeds.segments[i / 2],
                                             i % 2);
    /* The loader is listed last, when nothing can fail any more: the failure above frees one that
     * no list has. */
    l->next = s->loaders;
    s->loaders = l;
    s->num_loaders++;
    return l;
}
_Static_assert(MSG_MASK_ALL == BATCH_BUILDER_NO_TABLE, "no table is the same number");

void sampler_open_loader(struct sampler *s, struct message *request)
{
    const struct msg_loader_open *open = message_head(request);
    struct loader_state *l = sampler_find_loader(s, request->frame.from, open->loader);
    struct error error = { 0 };
    if (l == NULL) {
        int rv = check_open(s, open, request, &error);
        l = rv != 0 ? NULL : add_loader(s, open, request);
        if (l == NULL) {
            sampler_fail_request(s, request, rv != 0 ? rv : TR_ENOMEM,
                                 rv != 0 ? error.text : "no memory");
            return;
        }
    }
    int rv = sampler_loader_watch(s, l, request->frame.from);
    /* A new one alone is removed: one that was open before is watched as it was. */
    if (rv != 0 && address_is_none(l->opener))
        sampler_remove_loader(s, l);
    struct message *reply = rv == 0 ? sampler_loader_opened(s, l) : NULL;
    if (reply == NULL)
        actor_refuse(s->self, request, TR_ENOMEM);
    else
        actor_reply(s->self, request, reply);
}

int sampler_open_draw(struct sampler *s, struct message *request, struct loader_state **out,
                      struct error *error)
{
    const struct msg_loader_open open = draw_as_loader(message_head(request));
    struct loader_state *l = sampler_find_loader(s, request->frame.from, open.loader);
    if (l != NULL) {
        *out = l;
        return 0;
    }
    int rv = check_open(s, &open, request, error);
    if (rv != 0)
        return rv;
    l = add_loader(s, &open, request);
    if (l == NULL)
        return error_set(error, TR_ENOMEM, "no memory for a draw from %" PRIu64 " seeds",
                         open.num_seeds);
    /* The loader counts as a draw before it is watched: its removal takes both back. */
    l->once = true;
    s->num_draws++;
    rv = sampler_loader_watch(s, l, request->frame.from);
    if (rv != 0) {
        sampler_remove_loader(s, l);
        return error_set(error, rv, "no memory to monitor the process that draws");
    }
    *out = l;
    return 0;
}

static bool is_worked_on(const struct sampler *s, const struct loader_state *l)
{
    for (uint32_t i = 0; i < SAMPLER_DRAFTS_MAX; i++)
        if (s->tasks[i].request != NULL && s->tasks[i].loader == l)
            return true;
    return false;
}

/* This is not done where a batch is handed over: what ends a task may be walking over tasks and
 * loaders. */
void sampler_forget_draws(struct sampler *s)
{
    struct loader_state *next;
    for (struct loader_state *l = s->num_draws > 0 ? s->loaders : NULL; l != NULL; l = next) {
        next = l->next;
        if (l->once && l->kept == NULL && !is_worked_on(s, l))
            sampler_remove_loader(s, l);
    }
}

static void free_loader(struct loader_state *l)
{
    epoch_orders_fini(&l->orders);
    message_release(l->sampler->self, l->message);
    seed_set_fini(&l->seeds);
    free(l->negatives);
    unpin_versions(l);
    free(l);
}

void sampler_remove_loader(struct sampler *s, struct loader_state *loader)
{
    struct loader_state **link = &s->loaders;
    while (*link != loader)
        link = &(*link)->next;
    *link = loader->next;
    s->num_loaders--;
    s->num_draws -= loader->once;
    /* The monitor ends before the memory goes, which its callback is given. */
    if (loader->down.id != 0)
        actor_demonitor(s->self, loader->down);
    free_loader(loader);
}

void sampler_free_loaders(struct sampler *s)
{
    while (s->loaders != NULL) {
        struct loader_state *l = s->loaders;
        s->loaders = l->next;
        /* No job runs any more, so what is kept is freed at once, while its sampler and the
         * account are there. */
        sampler_drop_kept(l);
        free_loader(l);
    }
}
