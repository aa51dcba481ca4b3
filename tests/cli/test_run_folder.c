/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a run where the disk takes nothing: no line that it kept is lost, and it keeps them
 * up to a bound.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/run_folder.h"
#include "runtime/base/error.h"

/* The system's files, which write nothing while the disk is full. */
struct full_files {
    struct files files;
    bool full;
};

static ssize_t full_pwrite(struct files *self, int fd, const void *data, size_t size,
                           uint64_t offset)
{
    return ((struct full_files *)self)->full
               ? -ENOSPC
               : files_posix->pwrite(files_posix, fd, data, size, offset);
}

/* Long lines, so that a thousand of them reach the bound. */
static json_t *made_line(uint64_t number)
{
    char padding[4096];
    memset(padding, 'x', sizeof padding - 1);
    padding[sizeof padding - 1] = '\0';
    return json_pack("{s:I,s:s}", "epoch", (json_int_t)number, "padding", padding);
}

static void lines_wait_for_the_disk_up_to_a_bound(void **state)
{
    (void)state;
    char top[] = "/tmp/troupe-test.XXXXXX", path[64];
    struct full_files disk = { .files = *files_posix };
    struct run_folder folder;
    struct error error = { 0 };
    uint64_t lines = 0, read = 0;
    int rv;
    disk.files.pwrite = full_pwrite;
    assert_non_null(mkdtemp(top));
    snprintf(path, sizeof path, "%s/run", top);
    assert_int_equal(run_folder_create(&folder, &disk.files, path, false, &error), 0);
    disk.full = true;
    while ((rv = run_folder_append(&folder, made_line(lines), &error)) == TR_ENOSPC) {
        lines++;
        assert_in_range(folder.pending_bytes, 1, RUN_FOLDER_PENDING_MAX);
    }
    assert_int_equal(rv, TR_EFULL);
    assert_int_equal(run_folder_append(&folder, made_line(lines), &error), TR_EFULL);
    assert_in_range(folder.pending_bytes, RUN_FOLDER_PENDING_MAX / 2, RUN_FOLDER_PENDING_MAX);
    disk.full = false;
    assert_int_equal(run_folder_append(&folder, made_line(lines++), &error), 0);
    assert_int_equal(folder.pending_bytes, 0);

    FILE *metrics = fopen(folder.metrics_path, "r");
    unsigned long long number;
    char *line = NULL;
    size_t room = 0;
    assert_non_null(metrics);
    while (getline(&line, &room, metrics) > 0) {
        assert_int_equal(sscanf(line, "{\"epoch\":%llu,", &number), 1);
        assert_int_equal(number, read++);
    }
    assert_int_equal(read, lines);
    free(line);
    fclose(metrics);
    run_folder_close(&folder);
    assert_int_equal(files_remove_tree(files_posix, top, &error), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_wait_for_the_disk_up_to_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
