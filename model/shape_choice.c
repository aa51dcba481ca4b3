/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants:
 *   - Each thread enters one rank, and makes no call of the group but restores, each followed by the
 *     sum.
 *   - A rank that hears the choice may be followed by the end of the era before another of this
 *     process has heard it. That one must not wait for a new era: the rank that heard enters that
 *     one only as a trainer, when all here have heard. So waits to enter are short, and end with the
 *     choice.
 */
#include "model/shape_choice.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/group.h>

#include "model/loader_source.h"
#include "runtime/base/thread.h"

/* How often a rank that waits looks whether it is to go on waiting. */
#define LOOK_NS INT64_C(500000000)

/* The announced numbers: small ones, which floats add up without rounding. */
enum shape_number { SHAPE_NOT_TRIED = 1, SHAPE_TRIED = 2 };

static float number_of(const struct run_tried *tried)
{
    return tried->any ? (float)(SHAPE_TRIED + (int)tried->chosen) : (float)SHAPE_NOT_TRIED;
}

int shape_choice_announce(struct tr_group *group, uint32_t rank, const struct run_tried *tried,
                          int64_t timeout_ns, struct run_tried *heard, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    float number = rank == 0 ? number_of(tried) : 0;
    int rv = tr_group_reduce(group, &number, 1, timeout_ns, &why);
    if (rv != 0)
        return session_failed(&why, rv, error);
    *heard = (struct run_tried){ .any = number >= SHAPE_TRIED };
    for (int shape = 0; shape < RUN_SHAPES; shape++) {
        heard->scores[shape] = (double)NAN;
        if (number == (float)(SHAPE_TRIED + shape))
            heard->chosen = (enum run_shape)shape;
    }
    return 0;
}

struct waiting {
    const struct cancel *cancel;
    atomic_bool failed, known; /* one of the ranks has failed, has heard the choice */
};

struct waiting_rank {
    struct waiting *all;
    struct shape_entry *entry;
    struct run_tried heard;
    bool has_heard;
    int code;
    struct error error;
    pthread_t thread;
};

static bool is_over(const struct waiting *all)
{
    /* Relaxed: a flag alone; what the other rank found is read when its thread has ended. */
    return atomic_load_explicit(&all->failed, memory_order_relaxed) || cancel_asked(all->cancel);
}

/* The part is kept, since the group's next call takes it back. */
static int enter(struct waiting_rank *r)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_checkpoint from = TR_CHECKPOINT_INIT;
    struct shape_entry *entry = r->entry;
    int rv = tr_group_restore(entry->group, LOOK_NS, &from, &why);
    if (rv != 0)
        return session_failed(&why, rv, &r->error);
    free(entry->bytes);
    entry->bytes = NULL;
    entry->count = from.count;
    if (from.bytes == NULL)
        return 0;
    entry->bytes = malloc(from.count + 1);
    if (entry->bytes == NULL)
        return error_set(&r->error, TR_ENOMEM, "no memory for a trainer's part of a checkpoint");
    memcpy(entry->bytes, from.bytes, from.count);
    return 0;
}

/* Rank 0 may still try, or look for its checkpoint: the sum of all that entered comes for sure, or
 * the end of the era. */
static int hear(struct waiting_rank *r)
{
    int rv = TR_ETIMEDOUT;
    while (rv == TR_ETIMEDOUT && !is_over(r->all))
        rv = shape_choice_announce(r->entry->group, UINT32_MAX, NULL, LOOK_NS, &r->heard,
                                   &r->error);
    return rv;
}

static void wait_to_hear(struct waiting_rank *r)
{
    int rv = TR_ETIMEDOUT;
    /* A restore that is left behind is joined by the trainer's, which comes next. */
    while ((rv == TR_ETIMEDOUT || rv == TR_EROLLBACK) && !is_over(r->all) &&
           !atomic_load(&r->all->known)) {
        rv = enter(r);
        if (rv == 0)
            rv = hear(r);
    }
    r->entry->entered = r->has_heard = rv == 0;
    if (rv == 0)
        atomic_store(&r->all->known, true);
    else if (rv != TR_ETIMEDOUT && rv != TR_EROLLBACK)
        atomic_store(&r->all->failed, true);
    r->code = rv == TR_ETIMEDOUT || rv == TR_EROLLBACK ? 0 : rv;
}

static void *waiting_thread(void *arg)
{
    wait_to_hear(arg);
    return NULL;
}

/* The first rank waits on the calling thread. */
static int wait_all(struct waiting_rank *ranks, uint32_t count, struct error *error)
{
    uint32_t started = 1;
    int rv = 0;
    for (; started < count && rv == 0; started += rv == 0)
        rv = thread_create(&ranks[started].thread, "tr-trainer", waiting_thread, &ranks[started]);
    if (rv != 0) {
        atomic_store(&ranks[0].all->failed, true);
        error_set(error, rv, "no thread for a trainer");
    }
    wait_to_hear(&ranks[0]);
    for (uint32_t i = 1; i < started; i++)
        pthread_join(ranks[i].thread, NULL);
    return rv;
}

/* Finds what one of them heard, or why none did. */
static int settle(const struct waiting_rank *ranks, uint32_t count, struct run_tried *heard,
                  struct error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ranks[i].code == 0)
            continue;
        *error = ranks[i].error;
        return ranks[i].code;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!ranks[i].has_heard)
            continue;
        *heard = ranks[i].heard;
        return 0;
    }
    return error_set(error, TR_ECANCELED, "training: cancelled");
}

int shape_choice_await(struct tr_graph *graph, uint32_t first, uint32_t count,
                       const struct cancel *cancel, struct shape_entry *entries,
                       struct run_tried *heard, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct waiting all = { .cancel = cancel };
    struct waiting_rank *ranks = calloc(count, sizeof *ranks);
    if (ranks == NULL)
        return error_set(error, TR_ENOMEM, "no memory for %u trainers", count);
    atomic_init(&all.failed, false);
    atomic_init(&all.known, false);
    int rv = 0;
    for (uint32_t i = 0; i < count && rv == 0; i++) {
        ranks[i].all = &all;
        ranks[i].entry = &entries[i];
        rv = tr_group_open(graph, first + i, &entries[i].group, &why);
        rv = rv == 0 ? 0 : session_failed(&why, rv, error);
    }
    if (rv == 0)
        rv = wait_all(ranks, count, error);
    if (rv == 0)
        rv = settle(ranks, count, heard, error);
    free(ranks);
    return rv;
}

void shape_entry_fini(struct shape_entry *entry)
{
    tr_group_close(entry->group);
    free(entry->bytes);
    *entry = (struct shape_entry){ 0 };
}
