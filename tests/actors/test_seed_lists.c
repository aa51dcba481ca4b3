/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of seeds that a process shares: who holds one keeps it, and a set takes those that fit. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "actors/data/seed_lists.h"
#include "actors/data/seed_set.h"

#define LOADER 5u

static struct seed_list *list_of(uint64_t num_ids, uint64_t id)
{
    struct seed_list *list = seed_list_create(num_ids);
    assert_non_null(list);
    assert_int_equal(list->num_ids, num_ids);
    for (uint64_t i = 0; i < num_ids; i++)
        list->ids[i] = id;
    return list;
}

static unsigned held(struct seed_list *list)
{
    return atomic_load(&list->references);
}

/* The test's own reference, that of the entry, and one for each that took it. */
static void a_list_is_kept_by_those_that_hold_it(void **state)
{
    (void)state;
    struct seed_lists *lists = seed_lists_create();
    struct seed_list *of[] = { list_of(3, 7), list_of(0, 0) };
    assert_non_null(lists);
    assert_null(seed_lists_take(lists, LOADER, 0));
    assert_int_equal(seed_lists_put(lists, LOADER, of, 2), 0);
    assert_int_equal(held(of[0]), 2);
    struct seed_list *taken = seed_lists_take(lists, LOADER, 0);
    assert_ptr_equal(taken, of[0]);
    assert_int_equal(held(of[0]), 3);
    assert_null(seed_lists_take(lists, LOADER, 2));
    assert_null(seed_lists_take(lists, LOADER + 1, 0));
    seed_lists_drop(lists, LOADER + 1);
    seed_lists_drop(lists, LOADER);
    assert_null(seed_lists_take(lists, LOADER, 0));
    assert_int_equal(held(of[0]), 2);
    assert_int_equal(held(of[1]), 1);
    seed_list_release(of[0]);
    assert_true(taken->ids[2] == 7);
    seed_list_release(taken);
    seed_list_release(of[1]);
    seed_list_release(NULL);
    seed_lists_destroy(lists);
    seed_lists_destroy(NULL);
}

static void a_loader_has_the_lists_that_it_was_given_last(void **state)
{
    (void)state;
    struct seed_lists *lists = seed_lists_create();
    struct seed_list *first = list_of(1, 1), *second = list_of(1, 2), *other = list_of(1, 3);
    assert_non_null(lists);
    assert_int_equal(seed_lists_put(lists, LOADER, &first, 1), 0);
    assert_int_equal(seed_lists_put(lists, LOADER + 1, &other, 1), 0);
    assert_int_equal(seed_lists_put(lists, LOADER, &second, 1), 0);
    assert_int_equal(held(first), 1);
    struct seed_list *taken = seed_lists_take(lists, LOADER, 0);
    assert_ptr_equal(taken, second);
    /* What nobody dropped goes with the lists; what is held stays. */
    seed_lists_destroy(lists);
    assert_int_equal(held(other), 1);
    assert_int_equal(held(second), 2);
    seed_list_release(taken);
    seed_list_release(first);
    seed_list_release(second);
    seed_list_release(other);
}

/* A set takes the lists of its segments in their order, past those that are not listed; all of them
 * go back with the set. */
static void a_set_takes_the_lists_of_its_segments(void **state)
{
    (void)state;
    struct seed_lists *lists = seed_lists_create();
    struct seed_list *of[] = { list_of(3, 7), list_of(4, 8) };
    const struct msg_seed_segment segments[] = {
        { .ntype = 0, .seeds = MSG_SEEDS_LISTED, .num_seeds = 3 },
        { .ntype = 1, .seeds = MSG_SEEDS_RANKS, .num_seeds = 9 },
        { .ntype = 2, .seeds = MSG_SEEDS_LISTED, .num_seeds = 4 },
    };
    const struct msg_loader_open open = {
        .loader = LOADER, .seeds = MSG_SEEDS_SEVERAL, .num_segments = 3, .num_seeds = 16
    };
    struct seed_set set;
    assert_non_null(lists);
    assert_int_equal(seed_lists_put(lists, LOADER, of, 2), 0);
    assert_int_equal(seed_set_init(&set, &open, segments, sizeof segments), 0);
    assert_true(seed_set_is_listed(&set));
    assert_int_equal(seed_set_take(&set, lists, LOADER, NULL), 0);
    assert_ptr_equal(set.segments[0].list, of[0]);
    assert_null(set.segments[1].list);
    assert_ptr_equal(set.segments[2].list, of[1]);
    assert_int_equal(held(of[0]), 3);
    seed_set_fini(&set);
    assert_int_equal(held(of[0]), 2);
    assert_int_equal(held(of[1]), 2);
    seed_lists_destroy(lists);
    seed_list_release(of[0]);
    seed_list_release(of[1]);
}

/* A list of another length would be read beyond its end; one that is not there, nowhere. */
static void a_set_refuses_lists_that_are_not_its_own(void **state)
{
    (void)state;
    static const struct {
        uint32_t seeds;
        uint64_t num_seeds, num_ids;
        bool put;
        int code;
        const char *text;
    } sets[] = {
        { MSG_SEEDS_LISTED, 6, 6, true, 0, "" },
        { MSG_SEEDS_EDGES, 6, 6, true, 0, "" },
        { MSG_SEEDS_PAIRS, 3, 6, true, 0, "" },
        { MSG_SEEDS_RANKS, 6, 0, false, 0, "" },
        { MSG_SEEDS_LISTED, 0, 0, true, 0, "" },
        { MSG_SEEDS_LISTED, 6, 6, false, TR_ENOENT, "loader 5: this process has no list" },
        { MSG_SEEDS_LISTED, 7, 6, true, TR_EINVAL, "loader 5: 7 seeds, and a list of 6 IDs" },
        { MSG_SEEDS_LISTED, 5, 6, true, TR_EINVAL, "loader 5: 5 seeds, and a list of 6 IDs" },
        { MSG_SEEDS_PAIRS, 6, 6, true, TR_EINVAL, "6 seeds, and a list of 6 IDs" },
        { MSG_SEEDS_PAIRS, (UINT64_C(1) << 63) + 3, 6, true, TR_EINVAL, "a list of 6 IDs" },
        { MSG_SEEDS_LISTED, UINT64_MAX, 6, true, TR_EINVAL, "a list of 6 IDs" },
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const struct msg_loader_open open = { .loader = LOADER,
                                              .seeds = sets[i].seeds,
                                              .num_seeds = sets[i].num_seeds };
        struct seed_lists *lists = seed_lists_create();
        struct seed_list *list = list_of(sets[i].num_ids, 0);
        struct error error = { 0 };
        struct seed_set set;
        assert_non_null(lists);
        if (sets[i].put)
            assert_int_equal(seed_lists_put(lists, LOADER, &list, 1), 0);
        assert_int_equal(seed_set_init(&set, &open, NULL, 0), 0);
        assert_int_equal(seed_set_is_listed(&set), sets[i].seeds != MSG_SEEDS_RANKS);
        assert_int_equal(seed_set_take(&set, lists, LOADER, &error), sets[i].code);
        if (strstr(error.text, sets[i].text) == NULL)
            fail_msg("%s", error.text);
        seed_set_fini(&set);
        assert_int_equal(held(list), sets[i].put ? 2 : 1);
        /* Where a process shares none. */
        assert_int_equal(seed_set_init(&set, &open, NULL, 0), 0);
        assert_int_equal(seed_set_take(&set, NULL, LOADER, NULL),
                         sets[i].seeds == MSG_SEEDS_RANKS ? 0 : TR_ENOENT);
        seed_set_fini(&set);
        seed_lists_destroy(lists);
        seed_list_release(list);
    }
}

#define READERS 4
#define ROUNDS 2000
#define IDS 16u

struct reader {
    struct seed_lists *lists;
    uint64_t mixed; /* lists that two owners seem to have written */
};

static void *read_lists(void *arg)
{
    struct reader *reader = arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct seed_list *list = seed_lists_take(reader->lists, LOADER, 0);
        for (uint64_t j = 1; list != NULL && j < list->num_ids; j++)
            reader->mixed += list->ids[j] != list->ids[0];
        seed_list_release(list);
    }
    return NULL;
}

/* Whoever is last frees a list, while its loader gets another one. */
static void threads_share_lists(void **state)
{
    (void)state;
    struct seed_lists *lists = seed_lists_create();
    struct reader readers[READERS];
    pthread_t threads[READERS];
    assert_non_null(lists);
    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){ .lists = lists };
        assert_int_equal(pthread_create(&threads[i], NULL, read_lists, &readers[i]), 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        struct seed_list *list = list_of(IDS, (uint64_t)i);
        assert_int_equal(seed_lists_put(lists, LOADER, &list, 1), 0);
        seed_list_release(list);
        if (i % 3 == 2)
            seed_lists_drop(lists, LOADER);
    }
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(readers[i].mixed, 0);
    }
    seed_lists_destroy(lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_is_kept_by_those_that_hold_it),
        cmocka_unit_test(a_loader_has_the_lists_that_it_was_given_last),
        cmocka_unit_test(a_set_takes_the_lists_of_its_segments),
        cmocka_unit_test(a_set_refuses_lists_that_are_not_its_own),
        cmocka_unit_test(threads_share_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
