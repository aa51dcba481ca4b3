/* SPDX-License-Identifier: Apache-2.0 */
/* A version of a partition is there as long as somebody reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "actors/data/snapshot.h"
#include "tests/actors/graphs.h"

static void a_retired_version_lives_until_its_reader_is_done(void **unused)
{
    (void)unused;
    struct test_graph graph;
    struct snapshots *set;
    test_graph_init(&graph, 1, 3, 3);
    assert_int_equal(snapshots_create(&graph.book, &set), 0);
    assert_null(snapshot_acquire(set, 0, SNAPSHOT_NEWEST));
    assert_null(snapshot_acquire(set, 9, SNAPSHOT_NEWEST));
    assert_int_equal(snapshots_add(set, &graph.parts[0], NULL, NULL, NULL), 0);
    assert_int_equal(snapshots_add(set, &graph.parts[0], NULL, NULL, NULL), TR_EEXIST);
    struct graph_part newer = graph.parts[0];
    newer.version = 4;
    assert_int_equal(snapshots_add(set, &newer, NULL, NULL, NULL), 0);
    struct snapshot *old = snapshot_acquire(set, 0, 3);
    struct snapshot *newest = snapshot_acquire(set, 0, SNAPSHOT_NEWEST);
    assert_int_equal(snapshot_part(newest)->version, newer.version);
    assert_int_equal(snapshots_retire(set, 0, 3), 0);
    assert_int_equal(snapshots_retire(set, 0, 3), TR_ENOENT);
    assert_null(snapshot_acquire(set, 0, 3));
    assert_int_equal(snapshot_part(old)->version, graph.parts[0].version);
    snapshot_release(old);
    snapshot_release(newest);
    snapshots_destroy(set);
    test_graph_fini(&graph);
}

struct unloaded {
    const struct graph_part *part;
    uint32_t times;
};

static void note_unloaded(void *arg, struct graph_part *part)
{
    struct unloaded *unloaded = arg;
    unloaded->part = part;
    unloaded->times++;
}

/* Whichever goes last, the reader or the set, a version is unloaded once, and not before. */
static void a_version_is_unloaded_once_when_nobody_has_it(void **unused)
{
    (void)unused;
    for (int holds = 0; holds < 3; holds++) {
        struct test_graph graph;
        struct snapshots *set;
        struct unloaded unloaded[3] = { { NULL, 0 } };
        test_graph_init(&graph, 1, 3, 3);
        assert_int_equal(snapshots_create(&graph.book, &set), 0);
        assert_ptr_equal(snapshots_book(set), &graph.book);
        struct graph_part parts[3] = { graph.parts[0], graph.parts[0], graph.parts[0] };
        for (uint32_t i = 0; i < 3; i++) {
            parts[i].version = 10 + i;
            assert_int_equal(snapshots_add(set, &parts[i], note_unloaded, &unloaded[i], NULL), 0);
        }
        struct snapshot *middle = snapshot_acquire(set, 0, 11);
        assert_int_equal(snapshot_part(middle)->version, 11);
        assert_ptr_equal(snapshot_part(middle)->nodes, parts[1].nodes);
        for (int i = 0; i < holds; i++)
            assert_ptr_equal(snapshot_hold(middle), middle);
        /* The one in the middle leaves the list, and those around it stay. */
        assert_int_equal(snapshots_retire(set, 0, 11), 0);
        assert_null(snapshot_acquire(set, 0, 11));
        for (uint32_t version = 10; version <= 12; version += 2) {
            struct snapshot *other = snapshot_acquire(set, 0, version);
            assert_int_equal(snapshot_part(other)->version, version);
            snapshot_release(other);
        }
        for (int i = 0; i <= holds; i++) {
            assert_int_equal(unloaded[1].times, 0);
            snapshot_release(middle);
        }
        assert_int_equal(unloaded[1].times, 1);
        assert_ptr_equal(unloaded[1].part, &parts[1]);
        assert_int_equal(snapshots_retire(set, 0, SNAPSHOT_NEWEST), 0);
        assert_int_equal(unloaded[2].times, 1);
        assert_int_equal(unloaded[0].times, 0);
        assert_int_equal(snapshots_retire(set, graph.book.num_parts, 10), TR_ENOENT);
        assert_null(snapshot_acquire(set, graph.book.num_parts, 10));
        snapshots_destroy(set);
        assert_int_equal(unloaded[0].times, 1);
        test_graph_fini(&graph);
    }
    assert_null(snapshot_hold(NULL));
    snapshot_release(NULL);
    snapshots_destroy(NULL);
}

static void a_partition_of_another_graph_is_refused(void **unused)
{
    (void)unused;
    struct test_graph graph;
    struct snapshots *set;
    struct error error = { 0 };
    test_graph_init(&graph, 1, 3, 3);
    assert_int_equal(snapshots_create(&graph.book, &set), 0);
    struct graph_part last = graph.parts[1], beyond = graph.parts[1], other = graph.parts[0];
    beyond.part_id = graph.book.num_parts;
    assert_int_equal(snapshots_add(set, &beyond, NULL, NULL, &error), TR_EMISMATCH);
    assert_non_null(strstr(error.text, "partition 2 is not of graph"));
    struct graph_types types = *graph.parts[0].types;
    other.types = &types;
    types.num_ntypes++;
    assert_int_equal(snapshots_add(set, &other, NULL, NULL, &error), TR_EMISMATCH);
    assert_non_null(strstr(error.text, "partition 0 has other types than graph"));
    types.num_ntypes--;
    types.num_etypes--;
    assert_int_equal(snapshots_add(set, &other, NULL, NULL, &error), TR_EMISMATCH);
    types.num_etypes++;
    assert_int_equal(snapshots_add(set, &other, NULL, NULL, &error), 0);
    assert_int_equal(snapshots_add(set, &last, NULL, NULL, &error), 0);
    assert_int_equal(snapshots_add(set, &last, NULL, NULL, &error), TR_EEXIST);
    assert_int_equal(error.code, TR_EEXIST);
    assert_non_null(strstr(error.text, "version 3 of partition 1 is here already"));
    snapshots_destroy(set);
    test_graph_fini(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_retired_version_lives_until_its_reader_is_done),
        cmocka_unit_test(a_version_is_unloaded_once_when_nobody_has_it),
        cmocka_unit_test(a_partition_of_another_graph_is_refused),
    };
    return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
