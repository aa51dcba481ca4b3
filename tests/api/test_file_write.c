/* SPDX-License-Identifier: Apache-2.0 */
/* A program's file appears whole or not at all, and nothing stays beside it. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <troupe/troupe.h>

#include "tests/partition/raw_util.h"

static int is_entry(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static void assert_holds(const char *folder, const char *path, const char *text)
{
    char read[32] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t count = fread(read, 1, sizeof read - 1, file);
    fclose(file);
    assert_int_equal(count, strlen(text));
    assert_string_equal(read, text);
    struct dirent **entries;
    int found = scandir(folder, &entries, is_entry, NULL);
    assert_int_equal(found, 1);
    free(entries[0]);
    free(entries);
}

static void a_file_is_written_and_replaced(void **state)
{
    const struct scratch *scratch = *state;
    struct tr_error error = TR_ERROR_INIT;
    char folder[200], path[220], other[220];
    snprintf(folder, sizeof folder, "%s/files", scratch->folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/page", folder);
    assert_int_equal(tr_file_write(path, "first", 5, &error), 0);
    assert_holds(folder, path, "first");
    assert_int_equal(tr_file_write(path, "2nd", 3, &error), 0);
    assert_holds(folder, path, "2nd");
    snprintf(other, sizeof other, "%s/page/below", folder);
    assert_true(tr_file_write(other, "x", 1, &error) < 0);
    assert_non_null(strstr(error.message, "page"));
    assert_holds(folder, path, "2nd");
    assert_int_equal(tr_file_write(path, NULL, 0, &error), 0);
    assert_holds(folder, path, "");
}

/* Rename would put a plain file in the place of the pipe, and of the link. */
static void what_is_no_plain_file_stays(void **state)
{
    const struct scratch *scratch = *state;
    struct tr_error error = TR_ERROR_INIT;
    struct stat facts;
    char pipe_path[220], link_path[220];
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", scratch->folder);
    snprintf(link_path, sizeof link_path, "%s/link", scratch->folder);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_int_equal(symlink(pipe_path, link_path), 0);
    assert_int_equal(tr_file_write(pipe_path, "x", 1, &error), TR_EINVAL);
    assert_non_null(strstr(error.message, "pipe: is a device, a pipe or a link"));
    assert_int_equal(tr_file_write(link_path, "x", 1, &error), TR_EINVAL);
    assert_true(lstat(pipe_path, &facts) == 0 && S_ISFIFO(facts.st_mode));
    assert_true(lstat(link_path, &facts) == 0 && S_ISLNK(facts.st_mode));
}

static void failures_say_what_failed(void **state)
{
    (void)state;
    struct tr_error error = TR_ERROR_INIT;
    assert_int_equal(tr_file_write("/nowhere/page", "x", 1, &error), TR_ENOENT);
    assert_non_null(strstr(error.message, "/nowhere/"));
    assert_int_equal(tr_file_write("/nowhere/page", "x", 1, NULL), TR_ENOENT);
    assert_int_equal(tr_file_write(NULL, "x", 1, &error), TR_EINVAL);
    assert_int_equal(tr_file_write("page", NULL, 1, &error), TR_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_written_and_replaced, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(what_is_no_plain_file_stays, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(failures_say_what_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
