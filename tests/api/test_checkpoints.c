/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints on disk through the public API: what was written is listed newest first and read back
 * byte by byte; what is unfinished, damaged, elsewhere or gone is distinguished.
 */
#include <troupe/checkpoint.h>

#include "actors/job/checkpoint.h"
#include "tests/partition/raw_util.h"

#define WORLD 3u
#define PART_BYTES 1000u

static void fill(char *bytes, uint64_t step, uint32_t rank)
{
    for (uint32_t i = 0; i < PART_BYTES; i++)
        bytes[i] = (char)(step * 31 + rank * 7 + i);
}

static void save(const char *folder, uint64_t step)
{
    struct error error = { 0 };
    struct checkpoint_part parts[WORLD];
    const struct checkpoint_manifest manifest = {
        .step = step, .era = 2, .world = WORLD, .parts = parts
    };
    char bytes[PART_BYTES];
    for (uint32_t rank = 0; rank < WORLD; rank++) {
        fill(bytes, step, rank);
        assert_int_equal(checkpoint_write_part(files_posix, folder, step, 2, rank, bytes,
                                               PART_BYTES, &parts[rank], &error),
                         0);
    }
    if (checkpoint_commit(files_posix, folder, &manifest, 9, &error) != 0)
        fail_msg("%s", error.text);
}

/* before FOLDER after */
static void in_folder(const char *before, const char *folder, const char *after)
{
    char command[300];
    snprintf(command, sizeof command, "%s%s%s", before, folder, after);
    assert_int_equal(system(command), 0);
}

static struct tr_checkpoints *open_list(const char *path)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_checkpoints *list;
    if (tr_checkpoints_open(path, &list, &error) != 0)
        fail_msg("%s", error.message);
    return list;
}

static void all_are_listed_newest_first(void **state)
{
    const char *folder = ((const struct scratch *)*state)->folder;
    struct tr_checkpoints_info info = TR_CHECKPOINTS_INFO_INIT;
    struct tr_error error = TR_ERROR_INIT;
    char expected[PART_BYTES], bytes[PART_BYTES];
    save(folder, 8);
    save(folder, 120);
    in_folder("mkdir ", folder, "/checkpoint-500");
    assert_true(tr_checkpoints_named(folder));
    struct tr_checkpoints *list = open_list(folder);
    assert_int_equal(tr_checkpoints_info(list, &info, &error), 0);
    assert_false(info.single);
    assert_int_equal(info.count, 2);
    assert_int_equal(info.unfinished, 1);
    for (size_t i = 0; i < info.count; i++) {
        struct tr_checkpoint_info one = TR_CHECKPOINT_INFO_INIT;
        assert_int_equal(tr_checkpoints_get(list, i, &one, &error), 0);
        assert_int_equal(one.step, i == 0 ? 120 : 8);
        assert_int_equal(one.era, 2);
        assert_int_equal(one.num_parts, WORLD);
        assert_int_equal(one.parts_here, WORLD);
        assert_int_equal(one.bytes, WORLD * PART_BYTES);
        for (uint32_t rank = 0; rank < WORLD; rank++) {
            fill(expected, one.step, rank);
            assert_int_equal(tr_checkpoints_read_part(list, i, rank, PART_BYTES, bytes, &error), 0);
            assert_memory_equal(bytes, expected, PART_BYTES);
            assert_int_equal(tr_checkpoints_read(list, i, rank, 990, 10, bytes, &error), 0);
            assert_memory_equal(bytes, expected + 990, 10);
        }
    }
    assert_int_equal(tr_checkpoints_read(list, 0, 0, 991, 10, bytes, &error), TR_ERANGE);
    assert_int_equal(tr_checkpoints_read(list, 0, 0, UINT64_MAX, 2, bytes, &error), TR_ERANGE);
    assert_int_equal(tr_checkpoints_read(list, 0, WORLD, 0, 1, bytes, &error), TR_ERANGE);
    assert_int_equal(tr_checkpoints_read_part(list, 2, 0, PART_BYTES, bytes, &error), TR_ERANGE);
    assert_int_equal(tr_checkpoints_read_part(list, 0, 0, 1, bytes, &error), TR_ERANGE);
    tr_checkpoints_close(list);
}

static void part_that_is_elsewhere_or_gone_is_missing(void **state)
{
    const char *folder = ((const struct scratch *)*state)->folder;
    struct tr_checkpoint_info one = TR_CHECKPOINT_INFO_INIT;
    struct tr_checkpoint_part_info part = TR_CHECKPOINT_PART_INFO_INIT;
    struct tr_error error = TR_ERROR_INIT;
    char path[200];
    save(folder, 8);
    in_folder("rm ", folder, "/checkpoint-8/part1");
    snprintf(path, sizeof path, "%s/checkpoint-8/", folder);
    struct tr_checkpoints *list = open_list(path);
    assert_int_equal(tr_checkpoints_get(list, 0, &one, &error), 0);
    assert_int_equal(one.parts_here, WORLD - 1);
    assert_int_equal(one.bytes, WORLD * PART_BYTES);
    assert_int_equal(tr_checkpoints_part(list, 0, 1, &part, &error), 0);
    assert_false(part.here);
    assert_int_equal(tr_checkpoints_part(list, 0, 2, &part, &error), 0);
    assert_true(part.here);
    assert_int_equal(part.bytes, PART_BYTES);
    assert_int_equal(tr_checkpoints_read_part(list, 0, 1, 0, NULL, &error), TR_ENOENT);
    in_folder("rm -r ", folder, "/checkpoint-8");
    assert_int_equal(tr_checkpoints_read_part(list, 0, 2, 0, NULL, &error), TR_ENOENT);
    assert_non_null(strstr(error.message, "part2"));
    tr_checkpoints_close(list);
}

static void damage_is_found(void **state)
{
    const char *folder = ((const struct scratch *)*state)->folder;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_checkpoints *list;
    char byte;
    save(folder, 8);
    in_folder("printf X | dd conv=notrunc bs=1 seek=500 status=none of=", folder,
              "/checkpoint-8/part0");
    list = open_list(folder);
    assert_int_equal(tr_checkpoints_read(list, 0, 0, 500, 1, &byte, &error), 0);
    assert_int_equal(byte, 'X');
    assert_int_equal(tr_checkpoints_read_part(list, 0, 0, 0, NULL, &error), TR_EFORMAT);
    assert_non_null(strstr(error.message, "part0"));
    assert_int_equal(tr_checkpoints_read_part(list, 0, 1, 0, NULL, &error), 0);
    tr_checkpoints_close(list);
    in_folder("truncate -s -1 ", folder, "/checkpoint-8/part2");
    assert_int_equal(tr_checkpoints_open(folder, &list, &error), TR_EFORMAT);
    assert_null(list);
    assert_non_null(strstr(error.message, "part2"));
}

static void folder_without_checkpoints_is_refused(void **state)
{
    const char *folder = ((const struct scratch *)*state)->folder;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_checkpoints *list;
    assert_false(tr_checkpoints_named(folder));
    assert_int_equal(tr_checkpoints_open(folder, &list, &error), TR_ENOENT);
    assert_int_equal(tr_checkpoints_open("/nowhere/at/all", &list, &error), TR_ENOENT);
    assert_non_null(strstr(error.message, "/nowhere/at/all"));
    assert_int_equal(tr_checkpoints_open(NULL, &list, &error), TR_EINVAL);
    in_folder("mkdir ", folder, "/checkpoint-3");
    assert_int_equal(tr_checkpoints_open(folder, &list, &error), TR_ENOENT);
    assert_true(tr_checkpoints_named(folder));
}

/* The folder of a host, and what a run that is replaced leaves there. */
static void folders_are_named_by_hosts_and_emptied(void **state)
{
    const char *folder = ((const struct scratch *)*state)->folder;
    struct tr_error error = TR_ERROR_INIT;
    char path[64];
    assert_int_equal(tr_checkpoints_folder("/c/%h/x", "b", path, sizeof path, &error), 0);
    assert_string_equal(path, "/c/b/x");
    assert_int_equal(tr_checkpoints_folder("/c/%h/x", NULL, path, sizeof path, &error), 0);
    assert_string_equal(path, "/c/%h/x");
    memset(path, '#', sizeof path);
    assert_int_equal(tr_checkpoints_folder("/c/%h/x", "b", path, 6, &error), TR_ETOOBIG);
    assert_string_equal(error.message, "/c/%h/x: the folder's path has 7 bytes, at most 6 fit");
    assert_int_equal(path[6], '#'); /* and nothing is behind what it was given */
    assert_int_equal(tr_checkpoints_folder("/c/%h/x", "b", path, 7, &error), 0);
    assert_string_equal(path, "/c/b/x");
    assert_int_equal(path[7], '#');
    assert_false(tr_checkpoints_exist(folder));
    assert_int_equal(tr_checkpoints_remove(folder, 0, &error), 0);
    assert_int_equal(tr_checkpoints_remove("/nowhere/at/all", 0, &error), 0);
    save(folder, 4);
    save(folder, 8);
    assert_true(tr_checkpoints_exist(folder));
    assert_int_equal(tr_checkpoints_remove(folder, 1, &error), 0);
    struct tr_checkpoints *list;
    struct tr_checkpoint_info info = TR_CHECKPOINT_INFO_INIT;
    assert_int_equal(tr_checkpoints_open(folder, &list, &error), 0);
    assert_int_equal(tr_checkpoints_get(list, 0, &info, &error), 0);
    assert_int_equal(info.step, 8);
    assert_int_equal(tr_checkpoints_get(list, 1, &info, &error), TR_ERANGE);
    tr_checkpoints_close(list);
    assert_int_equal(tr_checkpoints_remove(folder, 0, &error), 0);
    assert_false(tr_checkpoints_exist(folder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(folder_without_checkpoints_is_refused, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(damage_is_found, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(part_that_is_elsewhere_or_gone_is_missing, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(folders_are_named_by_hosts_and_emptied, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(all_are_listed_newest_first, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
