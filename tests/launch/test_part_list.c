/* SPDX-License-Identifier: Apache-2.0 */
/* The partitions of a job: sums over all types, and every process that serves one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/types.h"
#include "launch/part_list.h"

#define PARTS 3u

static struct graph_types types;
static struct book book;

/* Process 0 serves partitions 0 and 2, 1 none, 2 all of them. */
static const uint32_t SERVED[] = { 0, 2, 0, 1, 2 };
static struct plan_process processes[] = {
    { .parts = SERVED, .num_parts = 2 },
    { .parts = SERVED, .num_parts = 0 },
    { .parts = SERVED + 2, .num_parts = 3 },
};
static const struct plan plan = { .num_parts = PARTS, .num_processes = 3, .processes = processes };

static void check_part(const struct part_list *list, uint32_t part, uint64_t nodes, uint64_t edges,
                       uint32_t count, const uint32_t *by)
{
    struct tr_part_status status = TR_PART_STATUS_INIT;
    assert_int_equal(part_list_get(list, part, &status, NULL), 0);
    assert_int_equal(status.num_nodes, nodes);
    assert_int_equal(status.num_edges, edges);
    assert_int_equal(status.num_processes, count);
    assert_memory_equal(status.processes, by, count * sizeof *by);
}

static void partitions_have_sizes_and_servers(void **state)
{
    struct part_list list, copy;
    (void)state;
    assert_int_equal(part_list_make(&list, &plan, &book), 0);
    assert_int_equal(part_list_copy(&copy, &list), 0);
    /* The copy has nothing of the other one. */
    memset(list.processes, 0xff, list.num_processes * sizeof *list.processes);
    part_list_fini(&list);
    check_part(&copy, 0, 3 + 10, 5, 2, (const uint32_t[]){ 0, 2 });
    check_part(&copy, 1, 0 + 20, 0, 1, (const uint32_t[]){ 2 });
    check_part(&copy, 2, 4 + 30, 7, 2, (const uint32_t[]){ 0, 2 });
    part_list_fini(&copy);
}

static void others_are_refused(void **state)
{
    struct tr_part_status status = TR_PART_STATUS_INIT;
    struct tr_error error = TR_ERROR_INIT;
    struct part_list list;
    (void)state;
    assert_int_equal(part_list_make(&list, &plan, &book), 0);
    assert_int_equal(part_list_get(&list, PARTS, &status, &error), TR_ERANGE);
    assert_non_null(strstr(error.message, "partition"));
    part_list_fini(&list);
    assert_int_equal(part_list_get(&list, 0, &status, &error), TR_ERANGE);
}

static int set_up(void **state)
{
    static const uint64_t NODES[] = { 3, 0, 4, 10, 20, 30 }, EDGES[] = { 5, 0, 7 };
    struct error error = { 0 };
    (void)state;
    assert_int_equal(graph_types_add_ntype(&types, "user", &error), 0);
    assert_int_equal(graph_types_add_ntype(&types, "item", &error), 0);
    assert_int_equal(graph_types_add_etype(&types, "user:buys:item", &error), 0);
    return book_init(&book, "g", &types, PARTS, NODES, EDGES);
}

static int tear_down(void **state)
{
    (void)state;
    book_fini(&book);
    graph_types_fini(&types);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitions_have_sizes_and_servers),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
