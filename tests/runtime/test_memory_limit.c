/* SPDX-License-Identifier: Apache-2.0 */
/* The limit of memory is the smallest one above the process, in made-up trees of control groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/base/memory_limit.h"
#include "tests/scratch.h"

#define NONE_V1 "9223372036854771712" /* what version 1 says where there is no limit */

struct tree {
    char root[64];
};

static int set_up(void **state)
{
    struct tree *tree = calloc(1, sizeof *tree);
    *state = tree;
    return scratch_folder(tree->root, sizeof tree->root, "groups") == NULL ? -1 : 0;
}

static int tear_down(void **state)
{
    struct tree *tree = *state;
    int rv = files_remove_tree(files_posix, tree->root, NULL);
    free(tree);
    return rv;
}

static void put(const struct tree *tree, const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", tree->root, name);
    char *folder = files_parent(path);
    assert_int_equal(files_make_folders(files_posix, folder, NULL), 0);
    free(folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void assert_limit(const struct tree *tree, uint64_t bytes)
{
    assert_int_equal(memory_limit(files_posix, tree->root), bytes);
}

static void without_groups_there_is_no_limit(void **state)
{
    assert_limit(*state, UINT64_MAX);
    put(*state, "proc/self/cgroup", "");
    assert_limit(*state, UINT64_MAX);
    put(*state, "proc/self/cgroup", "0::/a/b\nnonsense\n7\n::\n");
    assert_limit(*state, UINT64_MAX);
    put(*state, "sys/fs/cgroup/a/memory.max", "max\n");
    put(*state, "sys/fs/cgroup/a/b/memory.max", "max\n");
    assert_limit(*state, UINT64_MAX);
}

static void the_smallest_above_the_process_holds(void **state)
{
    put(*state, "proc/self/cgroup", "0::/slurm/job_7/step_0/task_1\n");
    put(*state, "sys/fs/cgroup/slurm/memory.max", "max\n");
    put(*state, "sys/fs/cgroup/slurm/job_7/memory.max", "5000000000\n");
    put(*state, "sys/fs/cgroup/slurm/job_7/step_0/memory.max", "7000000000\n");
    put(*state, "sys/fs/cgroup/slurm/job_7/step_0/task_1/memory.max", "max\n");
    put(*state, "sys/fs/cgroup/slurm/job_8/memory.max", "1000\n"); /* somebody else's */
    assert_limit(*state, 5000000000);
    put(*state, "sys/fs/cgroup/slurm/job_7/step_0/task_1/memory.max", "4000000000\n");
    assert_limit(*state, 4000000000);
    put(*state, "sys/fs/cgroup/slurm/memory.max", "3000000000\n");
    assert_limit(*state, 3000000000);
    put(*state, "sys/fs/cgroup/memory.max", "2000000000\n"); /* a container's own root */
    assert_limit(*state, 2000000000);
}

static void a_container_sees_its_root_alone(void **state)
{
    put(*state, "proc/self/cgroup", "0::/\n");
    put(*state, "sys/fs/cgroup/memory.max", "600000000\n");
    assert_limit(*state, 600000000);
    put(*state, "proc/self/cgroup", "0::/../other\n");
    put(*state, "sys/fs/other/memory.max", "5\n");
    assert_limit(*state, 600000000);
}

static void version_1_counts_too(void **state)
{
    put(*state, "proc/self/cgroup", "11:cpu,cpuacct:/x\n7:memory:/docker/1\n0::/system.slice\n");
    put(*state, "sys/fs/cgroup/memory/memory.limit_in_bytes", NONE_V1 "\n");
    put(*state, "sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "900000000\n");
    put(*state, "sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", NONE_V1 "\n");
    put(*state, "sys/fs/cgroup/memory/x/memory.limit_in_bytes", "5\n"); /* not of memory */
    assert_limit(*state, 900000000);
    put(*state, "proc/self/cgroup", "7:hugetlb,memory:/docker/1\n6:memoryless:/x\n");
    assert_limit(*state, 900000000);
    put(*state, "sys/fs/cgroup/system.slice/memory.max", "800000000\n");
    put(*state, "proc/self/cgroup", "7:memory:/docker/1\n0::/system.slice\n");
    assert_limit(*state, 800000000);
}

/* The text behind the number matters as little as its length. */
static void a_long_file_is_read_to_a_bound(void **state)
{
    char text[400];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memcpy(text, "700000000\n", 10);
    put(*state, "proc/self/cgroup", "0::/a\n");
    put(*state, "sys/fs/cgroup/a/memory.max", text);
    assert_limit(*state, 700000000);
}

int main(void)
{
#define TREE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TREE(without_groups_there_is_no_limit),
        TREE(the_smallest_above_the_process_holds),
        TREE(a_container_sees_its_root_alone),
        TREE(a_long_file_is_read_to_a_bound),
        TREE(version_1_counts_too),
    };
    return cmocka_run_group_tests_name("memory_limit", tests, NULL, NULL);
}
