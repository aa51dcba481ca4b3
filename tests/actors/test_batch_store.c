/* SPDX-License-Identifier: Apache-2.0 */
/* The store under many hands: whatever is reserved, deposited, collected, cancelled and closed in
 * any order, no byte is charged that nobody holds, and none is charged twice. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <troupe/error.h>

#include "actors/data/batch_store.h"
#include "tests/schemas/random.h"

#define LOADERS 3u
#define HELD_MAX 40u
#define STEPS 3000
#define THREADS 4

static struct sampled_batch *make_batch(struct batch_store *store, uint64_t loader, uint32_t epoch,
                                        uint64_t index, size_t nodes)
{
    struct sampled_batch *batch = batch_store_take(store, 1, 1, 1);
    assert_non_null(batch);
    batch->loader = loader;
    batch->space.batch.epoch = epoch;
    batch->space.batch.index = index;
    assert_int_equal(vec_reserve(&batch->space.node_space[0].ids, nodes, sizeof(uint64_t), 0), 0);
    return batch;
}

static void a_batch_is_collected_once_and_charged_until_released(void **state)
{
    struct batch_store *store = batch_store_create(1 << 20);
    (void)state;
    assert_int_equal(batch_store_open_loader(store, 1, 1000), 0);
    assert_int_equal(batch_store_open_loader(store, 1, 1000), TR_ECLOSED);
    batch_store_set_epoch(store, 1, 3, 0);
    assert_int_equal(batch_store_reserve(store, 1, 3, 0), 0);
    assert_int_equal(batch_store_used(store), 1000);
    struct sampled_batch *batch = make_batch(store, 1, 3, 0, 5000);
    size_t bytes = sampled_batch_bytes(batch);
    assert_int_equal(batch_store_deposit(store, batch), 0);
    assert_int_equal(batch_store_used(store), bytes);
    /* A second one of the same step is released, with the room that was kept for it; one of another
     * epoch is not wanted. */
    assert_int_equal(batch_store_deposit(store, make_batch(store, 1, 3, 0, 10)), 0);
    size_t used = batch_store_used(store);
    assert_int_equal(batch_store_reserve(store, 1, 3, 0), 0);
    assert_int_equal(batch_store_deposit(store, make_batch(store, 1, 3, 0, 10)), 0);
    assert_int_equal(batch_store_used(store), used);
    assert_int_equal(batch_store_deposit(store, make_batch(store, 1, 2, 0, 10)), TR_ECANCELED);
    assert_int_equal(batch_store_deposit(store, make_batch(store, 9, 3, 0, 10)), TR_ECANCELED);
    assert_null(batch_store_collect(store, 1, 2, 0));
    assert_ptr_equal(batch_store_collect(store, 1, 3, 0), batch);
    assert_null(batch_store_collect(store, 1, 3, 0));
    assert_true(batch_store_is_taken(store, 1, 3, 0));
    assert_int_equal(batch_store_deposit(store, make_batch(store, 1, 3, 0, 10)), TR_ECANCELED);
    batch_store_close_loader(store, 1);
    assert_true(batch_store_used(store) >= bytes);
    batch_store_close(store);
    assert_int_equal(batch_store_used(store), bytes);
    batch_store_release(store);
    sampled_batch_release(batch); /* which takes the store with it */
}

static void one_batch_is_granted_whatever_its_size(void **state)
{
    struct batch_store *store = batch_store_create(100);
    (void)state;
    assert_int_equal(batch_store_open_loader(store, 1, 5000), 0);
    assert_int_equal(batch_store_reserve(store, 1, 0, 0), 0);
    assert_false(batch_store_is_starving(store, 1));
    assert_int_equal(batch_store_reserve(store, 1, 0, 1), TR_EFULL);
    assert_true(batch_store_is_starving(store, 1));
    assert_int_equal(batch_store_deposit(store, make_batch(store, 1, 0, 0, 5000)), TR_EFULL);
    assert_int_equal(batch_store_used(store), 0);
    batch_store_close(store);
    batch_store_release(store);
}

/* Room is taken as for the largest batch so far, and an eighth of it: what is smaller changes
 * nothing. */
static void room_grows_with_the_largest_batch(void **state)
{
    struct batch_store *store = batch_store_create(1 << 20);
    struct batch_store_counts counts;
    (void)state;
    assert_int_equal(batch_store_open_loader(store, 1, 1000), 0);
    struct sampled_batch *large = make_batch(store, 1, 0, 0, 3000);
    struct sampled_batch *small = make_batch(store, 1, 0, 1, 100);
    size_t bytes = sampled_batch_bytes(large), less = sampled_batch_bytes(small);
    assert_true(bytes > 24000 && less < bytes);
    assert_int_equal(batch_store_deposit(store, large), 0);
    assert_int_equal(batch_store_deposit(store, small), 0);
    assert_int_equal(batch_store_used(store), bytes + less);
    assert_int_equal(batch_store_reserve(store, 1, 0, 2), 0);
    assert_int_equal(batch_store_used(store), bytes + less + bytes + bytes / 8);
    /* A batch of another loader is as large as is said. */
    assert_int_equal(batch_store_open_loader(store, 2, 777), 0);
    assert_int_equal(batch_store_reserve(store, 2, 0, 0), 0);
    assert_int_equal(batch_store_used(store), bytes + less + bytes + bytes / 8 + 777);
    /* Each is given back once, of its own epoch and loader. */
    batch_store_unreserve(store, 1, 1, 2);
    batch_store_unreserve(store, 1, 0, 3);
    batch_store_unreserve(store, 3, 0, 2);
    assert_int_equal(batch_store_used(store), bytes + less + bytes + bytes / 8 + 777);
    batch_store_unreserve(store, 1, 0, 2);
    batch_store_unreserve(store, 2, 0, 0);
    assert_int_equal(batch_store_used(store), bytes + less);
    batch_store_counts(store, &counts);
    assert_true(counts.made == 0 && counts.taken == 0);
    assert_ptr_equal(batch_store_collect(store, 1, 0, 1), small);
    assert_null(batch_store_collect(store, 1, 0, 1));
    batch_store_note_made(store);
    batch_store_note_made(store);
    batch_store_counts(store, &counts);
    assert_true(counts.made == 2 && counts.taken == 1);
    sampled_batch_release(small);
    batch_store_close(store);
    assert_int_equal(batch_store_open_loader(store, 5, 1), TR_ECLOSED);
    assert_int_equal(batch_store_used(store), 0);
    batch_store_release(store);
}

/* A batch that found no room says how large it is all the same: room for it is not granted before
 * another has given way, and then it comes. */
static void a_batch_without_room_says_how_large_it_is(void **state)
{
    struct batch_store *other = batch_store_create(1 << 20);
    (void)state;
    struct sampled_batch *large = make_batch(other, 1, 0, 0, 3000);
    struct sampled_batch *small = make_batch(other, 1, 0, 1, 100);
    size_t bytes = sampled_batch_bytes(large), less = sampled_batch_bytes(small);
    sampled_batch_release(large);
    sampled_batch_release(small);
    batch_store_close(other);
    batch_store_release(other);
    struct batch_store *store = batch_store_create(bytes + less - 1);
    assert_int_equal(batch_store_open_loader(store, 1, less), 0);
    assert_int_equal(batch_store_reserve(store, 1, 0, 1), 0);
    assert_int_equal(batch_store_deposit(store, make_batch(store, 1, 0, 1, 100)), 0);
    assert_int_equal(batch_store_reserve(store, 1, 0, 0), 0);
    assert_int_equal(batch_store_deposit(store, make_batch(store, 1, 0, 0, 3000)), TR_EFULL);
    assert_int_equal(batch_store_reserve(store, 1, 0, 0), TR_EFULL);
    assert_false(batch_store_drop(store, 1, 1, 1));
    assert_false(batch_store_drop(store, 1, 0, 0));
    assert_false(batch_store_drop(store, 2, 0, 1));
    assert_true(batch_store_drop(store, 1, 0, 1));
    assert_false(batch_store_drop(store, 1, 0, 1));
    assert_int_equal(batch_store_reserve(store, 1, 0, 0), 0);
    assert_int_equal(batch_store_deposit(store, make_batch(store, 1, 0, 0, 3000)), 0);
    batch_store_close(store);
    batch_store_release(store);
}

/* A batch that a loader has passed by is not kept; one of the epoch that follows is, one of later
 * epochs is not. */
static void what_was_passed_by_is_dropped(void **state)
{
    struct batch_store *store = batch_store_create(1 << 20);
    (void)state;
    assert_int_equal(batch_store_open_loader(store, 1, 10), 0);
    assert_int_equal(batch_store_open_loader(store, 2, 10), 0);
    batch_store_set_epoch(store, 1, 4, 2);
    assert_int_equal(batch_store_deposit(store, make_batch(store, 1, 4, 1, 10)), TR_ECANCELED);
    assert_int_equal(batch_store_deposit(store, make_batch(store, 1, 6, 9, 10)), TR_ECANCELED);
    for (uint64_t i = 2; i < 6; i++) {
        assert_int_equal(batch_store_deposit(store, make_batch(store, 1, 4, i, 10)), 0);
        assert_int_equal(batch_store_deposit(store, make_batch(store, 2, 0, i, 10)), 0);
    }
    assert_int_equal(batch_store_deposit(store, make_batch(store, 1, 5, 0, 10)), 0);
    assert_true(batch_store_is_taken(store, 1, 3, 9) && batch_store_is_taken(store, 1, 4, 1));
    assert_false(batch_store_is_taken(store, 1, 4, 2) || batch_store_is_taken(store, 9, 0, 0));
    batch_store_advance(store, 1, 4, 4);
    assert_null(batch_store_collect(store, 1, 4, 3));
    batch_store_advance(store, 1, 4, 1); /* it does not go back */
    assert_true(batch_store_is_taken(store, 1, 4, 3));
    assert_false(batch_store_is_taken(store, 1, 4, 4));
    for (uint64_t i = 4; i < 6; i++) {
        struct sampled_batch *batch = batch_store_collect(store, 1, 4, i);
        assert_non_null(batch);
        assert_int_equal(batch->space.batch.index, i);
        sampled_batch_release(batch);
    }
    struct sampled_batch *next = batch_store_collect(store, 1, 5, 0);
    assert_non_null(next);
    sampled_batch_release(next);
    batch_store_close_loader(store, 1);
    assert_int_equal(batch_store_deposit(store, make_batch(store, 1, 5, 1, 10)), TR_ECANCELED);
    for (uint64_t i = 2; i < 6; i++) {
        struct sampled_batch *batch = batch_store_collect(store, 2, 0, i);
        assert_non_null(batch);
        sampled_batch_release(batch);
    }
    batch_store_close(store);
    assert_int_equal(batch_store_used(store), 0);
    batch_store_release(store);
}

/* An idle batch of the right shape is taken again, in whichever place it lies, and empty; at most
 * 16 wait, and they give way to what is asked for. */
static void batches_are_used_again(void **state)
{
    enum { KEPT = 16 };
    struct batch_store *store = batch_store_create(1 << 20);
    struct sampled_batch *batches[KEPT + 1];
    size_t bytes = 0;
    (void)state;
    for (int i = 0; i <= KEPT; i++)
        batches[i] = make_batch(store, 1, 0, 0, 100 + (size_t)i);
    for (int i = 0; i <= KEPT; i++) {
        bytes += i < KEPT ? sampled_batch_bytes(batches[i]) : 0;
        sampled_batch_release(batches[i]);
        assert_int_equal(batch_store_used(store), bytes);
    }
    struct sampled_batch *other = batch_store_take(store, 1, 1, 2);
    assert_int_equal(batch_store_used(store), bytes);
    other = (sampled_batch_release(other), batch_store_take(store, 1, 1, 1));
    assert_ptr_equal(other, batches[KEPT - 1]); /* the youngest */
    assert_int_equal(batch_store_used(store), bytes - sampled_batch_bytes(other));
    sampled_batch_release(other);
    assert_int_equal(batch_store_open_loader(store, 1, (1 << 20) - 10), 0);
    assert_int_equal(batch_store_reserve(store, 1, 0, 0), 0);
    assert_int_equal(batch_store_used(store), (1 << 20) - 10);
    batch_store_close(store);
    batch_store_release(store);
}

/* Batches that a loop left behind are used again: of an epoch that was dropped, of steps that were
 * passed by, and of a loader that was closed; one that gives way to another is freed at once. */
static void what_nobody_takes_is_used_again(void **state)
{
    struct batch_store *store = batch_store_create(1 << 20);
    struct sampled_batch *batch = make_batch(store, 1, 0, 0, 3000);
    size_t bytes = sampled_batch_bytes(batch);
    (void)state;
    assert_int_equal(batch_store_open_loader(store, 1, 10), 0);
    for (int way = 0; way < 3; way++) {
        batch->loader = 1;
        batch->space.batch.index = 5;
        assert_int_equal(batch_store_deposit(store, batch), 0);
        if (way == 0)
            batch_store_set_epoch(store, 1, 0, 0);
        else if (way == 1)
            batch_store_advance(store, 1, 0, 6);
        else
            batch_store_close_loader(store, 1);
        assert_int_equal(batch_store_used(store), bytes);
        assert_ptr_equal(batch_store_take(store, 1, 1, 1), batch);
        assert_int_equal(batch_store_used(store), 0);
        assert_int_equal(batch->space.batch.index, 0);
        batch_store_set_epoch(store, 1, 0, 0);
    }
    assert_int_equal(batch_store_open_loader(store, 1, 10), 0);
    batch->loader = 1;
    assert_int_equal(batch_store_deposit(store, batch), 0);
    assert_true(batch_store_drop(store, 1, 0, 0));
    assert_int_equal(batch_store_used(store), 0);
    batch_store_close(store);
    batch_store_release(store);
}

/* A batch that came takes the room of idle ones, as what is asked for does. */
static void idle_batches_give_way_to_one_that_came(void **state)
{
    struct batch_store *store = batch_store_create(1 << 20);
    (void)state;
    assert_int_equal(batch_store_open_loader(store, 1, 10), 0);
    struct sampled_batch *idle = make_batch(store, 1, 0, 1, 80000);
    struct sampled_batch *batch = make_batch(store, 1, 0, 0, 80000);
    size_t idle_bytes = sampled_batch_bytes(idle), bytes = sampled_batch_bytes(batch);
    assert_true(bytes <= 1 << 20 && idle_bytes + bytes > 1 << 20);
    sampled_batch_release(idle);
    assert_int_equal(batch_store_used(store), idle_bytes);
    assert_int_equal(batch_store_deposit(store, batch), 0);
    assert_int_equal(batch_store_used(store), bytes);
    assert_ptr_equal(batch_store_collect(store, 1, 0, 0), batch);
    sampled_batch_release(batch);
    batch_store_close(store);
    assert_int_equal(batch_store_used(store), 0);
    batch_store_release(store);
}

struct hand {
    struct batch_store *store;
    uint64_t random;
    struct sampled_batch *held[HELD_MAX];
    uint32_t num_held;
    bool shared; /* others are at it too */
};

static void collect(struct hand *hand, uint64_t loader, uint32_t epoch, uint64_t index)
{
    if (hand->num_held == HELD_MAX)
        return;
    struct sampled_batch *batch = batch_store_collect(hand->store, loader, epoch, index);
    if (batch == NULL)
        return;
    assert_true(batch->loader == loader && batch->space.batch.epoch == epoch &&
                batch->space.batch.index == index);
    hand->held[hand->num_held++] = batch;
}

static void step(struct hand *hand)
{
    uint64_t *random = &hand->random;
    uint64_t loader = 1 + random_below(random, LOADERS), index = random_below(random, 12);
    uint32_t epoch = (uint32_t)random_below(random, 2);
    switch (random_below(random, 10)) {
    case 0:
        if (random_below(random, 8) == 0)
            batch_store_close_loader(hand->store, loader);
        else
            (void)batch_store_open_loader(hand->store, loader, 2000);
        break;
    case 1:
        if (random_below(random, 4) == 0)
            batch_store_set_epoch(hand->store, loader, epoch, 0);
        break;
    case 2:
        (void)batch_store_reserve(hand->store, loader, epoch, index);
        break;
    case 3:
        batch_store_unreserve(hand->store, loader, epoch, index);
        break;
    case 4:
        if (random_below(random, 8) == 0)
            batch_store_advance(hand->store, loader, epoch, index);
        break;
    case 5:
    case 6:
        (void)batch_store_deposit(
            hand->store, make_batch(hand->store, loader, epoch, index, random_below(random, 3000)));
        break;
    case 7:
        if (hand->num_held > 0)
            sampled_batch_release(hand->held[--hand->num_held]);
        break;
    default:
        collect(hand, loader, epoch, index);
        break;
    }
    if (!hand->shared)
        assert_true(batch_store_used(hand->store) <= batch_store_bound(hand->store));
}

static void *work(void *arg)
{
    struct hand *hand = arg;
    for (int i = 0; i < STEPS; i++)
        step(hand);
    return NULL;
}

static size_t held_bytes(const struct hand *hand)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < hand->num_held; i++)
        bytes += sampled_batch_bytes(hand->held[i]);
    return bytes;
}

static void release_held(struct hand *hand)
{
    while (hand->num_held > 0)
        sampled_batch_release(hand->held[--hand->num_held]);
}

static void any_order_charges_what_is_held(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct hand hand = { .store = batch_store_create(200000), .random = seed };
        work(&hand);
        batch_store_close(hand.store);
        assert_int_equal(batch_store_used(hand.store), held_bytes(&hand));
        batch_store_release(hand.store);
        release_held(&hand);
    }
}

static void any_thread_charges_what_is_held(void **state)
{
    struct hand hands[THREADS];
    pthread_t threads[THREADS];
    struct batch_store *store = batch_store_create(400000);
    size_t bytes = 0;
    (void)state;
    for (int i = 0; i < THREADS; i++) {
        hands[i] = (struct hand){ .store = store, .random = (uint64_t)i, .shared = true };
        assert_int_equal(pthread_create(&threads[i], NULL, work, &hands[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    batch_store_close(store);
    for (int i = 0; i < THREADS; i++)
        bytes += held_bytes(&hands[i]);
    assert_int_equal(batch_store_used(store), bytes);
    batch_store_release(store);
    for (int i = 0; i < THREADS; i++)
        release_held(&hands[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_collected_once_and_charged_until_released),
        cmocka_unit_test(one_batch_is_granted_whatever_its_size),
        cmocka_unit_test(room_grows_with_the_largest_batch),
        cmocka_unit_test(a_batch_without_room_says_how_large_it_is),
        cmocka_unit_test(what_was_passed_by_is_dropped),
        cmocka_unit_test(batches_are_used_again),
        cmocka_unit_test(what_nobody_takes_is_used_again),
        cmocka_unit_test(idle_batches_give_way_to_one_that_came),
        cmocka_unit_test(any_order_charges_what_is_held),
        cmocka_unit_test(any_thread_charges_what_is_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
