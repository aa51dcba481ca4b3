/* SPDX-License-Identifier: Apache-2.0 */
/* A version of a partition is there as long as somebody reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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
    assert_ptr_equal(snapshot_part(newest), &newer);
    assert_int_equal(snapshots_retire(set, 0, 3), 0);
    assert_int_equal(snapshots_retire(set, 0, 3), TR_ENOENT);
    assert_null(snapshot_acquire(set, 0, 3));
    assert_ptr_equal(snapshot_part(old), &graph.parts[0]);
    snapshot_release(old);
    snapshot_release(newest);
    snapshots_destroy(set);
    test_graph_fini(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_retired_version_lives_until_its_reader_is_done),
    };
    return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
