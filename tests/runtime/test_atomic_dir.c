/* SPDX-License-Identifier: Apache-2.0 */
/* Of what is written aside nothing is left for long: the next writer of a name removes what killed ones
 * left, and never what a living one writes. */
#include "config.h" /* O_DIRECTORY */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/atomic_dir.h"

struct house {
    char folder[64], path[96];
};

static int set_up(void **state)
{
    struct house *house = calloc(1, sizeof *house);
    assert_non_null(house);
    snprintf(house->folder, sizeof house->folder, "%s", "/tmp/troupe-atomic-XXXXXX");
    assert_non_null(mkdtemp(house->folder));
    /* A name that looks like that of something aside. */
    snprintf(house->path, sizeof house->path, "%s/a.tmp-1.json", house->folder);
    *state = house;
    return 0;
}

static int tear_down(void **state)
{
    struct house *house = *state;
    files_remove_tree(files_posix, house->folder, NULL);
    free(house);
    return 0;
}

static int count(void *arg, const char *name)
{
    (void)name;
    ++*(int *)arg;
    return 0;
}

static int names_in(const struct house *house)
{
    int names = 0;
    assert_int_equal(files_posix->list(files_posix, house->folder, count, &names), 0);
    return names;
}

/* The system's files, but a sync says so and stands still, as a slow disk would. */
struct slow_files {
    struct files files;
    int said;
};

static int slow_fsync(struct files *self, int fd)
{
    ssize_t written = write(((struct slow_files *)self)->said, "x", 1);
    (void)fd;
    (void)written;
    while (pause() != 0)
        continue;
    return 0;
}

/* A process that writes aside, and has come as far as it will. */
static pid_t writer(const struct house *house, bool folder)
{
    int said[2];
    char byte;
    assert_int_equal(pipe(said), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing running */
        struct slow_files slow = { .files = *files_posix, .said = said[1] };
        struct atomic_dir dir;
        slow.files.fsync = slow_fsync;
        slow.files.syncfs = NULL;
        if (!folder)
            files_write_atomic(&slow.files, house->path, "text", 4, NULL);
        else if (atomic_dir_begin(&dir, files_posix, house->path, true, NULL) == 0)
            slow_fsync(&slow.files, 0);
        _exit(1);
    }
    close(said[1]);
    assert_int_equal(read(said[0], &byte, 1), 1);
    close(said[0]);
    return pid;
}

static void end(pid_t pid)
{
    int status;
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void write_again(const struct house *house, bool folder)
{
    struct error error = { 0 };
    struct atomic_dir dir;
    int rv;
    if (!folder) {
        rv = files_write_atomic(files_posix, house->path, "other", 5, &error);
    } else {
        rv = atomic_dir_begin(&dir, files_posix, house->path, true, &error);
        if (rv == 0)
            rv = atomic_dir_commit(&dir, &error);
    }
    if (rv != 0)
        fail_msg("%s", error.text);
}

static void the_next_writer_removes_what_dead_ones_left(struct house *house, bool folder)
{
    pid_t dead = writer(house, folder), other = writer(house, folder);
    pid_t living = writer(house, folder);
    assert_int_equal(names_in(house), 3);
    end(dead);
    end(other);
    assert_int_equal(names_in(house), 3);
    write_again(house, folder);
    assert_int_equal(names_in(house), 2); /* the living one's, and what was written */
    end(living);
    write_again(house, folder);
    assert_int_equal(names_in(house), 1);
}

static void files_of_dead_writers_go(void **state)
{
    the_next_writer_removes_what_dead_ones_left(*state, false);
}

static void folders_of_dead_writers_go(void **state)
{
    the_next_writer_removes_what_dead_ones_left(*state, true);
}

/* Names that are nearly those of something aside, and what is no file or folder. */
static void what_is_not_a_writers_stays(void **state)
{
    struct house *house = *state;
    static const char *const NAMES[] = {
        ".a.tmp-1.json.tmp-1",    ".a.tmp-1.json.tmp-1-",  ".a.tmp-1.json.tmp--1",
        ".a.tmp-1.json.tmp-1-2x", ".a.tmp-1.json.old-1-2", ".a.tmp-1-2",
        "a.tmp-1.json.tmp-1-2",   ".b.json.tmp-1-2",
    };
    struct error error;
    char path[160];
    int kept = sizeof NAMES / sizeof *NAMES;
    for (int i = 0; i < kept; i++) {
        struct file file;
        snprintf(path, sizeof path, "%s/%s", house->folder, NAMES[i]);
        assert_int_equal(file_create(&file, files_posix, path, &error), 0);
        file_close(&file);
    }
    snprintf(path, sizeof path, "%s/.a.tmp-1.json.tmp-1-1", house->folder);
    assert_int_equal(symlink("/nowhere", path), 0);
    snprintf(path, sizeof path, "%s/.a.tmp-1.json.tmp-1-2", house->folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    write_again(house, false);
    assert_int_equal(names_in(house), kept + 3);
}

static int full_open(struct files *self, const char *path, int flags, int mode)
{
    (void)self;
    return (flags & O_DIRECTORY) != 0 && strstr(path, ".tmp-") != NULL
               ? -EMFILE
               : files_posix->open(files_posix, path, flags, mode);
}

/* A folder that was made, but cannot be opened to lock it, goes again. */
static void a_folder_that_cannot_be_locked_is_not_left(void **state)
{
    struct house *house = *state;
    struct files full = *files_posix;
    struct atomic_dir dir;
    struct error error = { 0 };
    full.open = full_open;
    assert_int_not_equal(atomic_dir_begin(&dir, &full, house->path, false, &error), 0);
    assert_non_null(strstr(error.text, "cannot make the folder"));
    assert_int_equal(names_in(house), 0);
}

/* Between the making of a folder and its lock another writer may take it for a dead one's, and one
 * of the same number elsewhere may make its own there: that one's is not ours. */
static int replacing_open(struct files *self, const char *path, int flags, int mode)
{
    int fd = files_posix->open(files_posix, path, flags, mode);
    if ((flags & O_DIRECTORY) == 0 || strstr(path, ".tmp-1.json.tmp-") == NULL)
        return fd;
    self->open = files_posix->open; /* once */
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    return fd;
}

static void a_folder_of_another_writer_is_not_taken(void **state)
{
    struct house *house = *state;
    struct files files = *files_posix;
    struct atomic_dir dir;
    struct error error = { 0 };
    files.open = replacing_open;
    assert_int_equal(atomic_dir_begin(&dir, &files, house->path, false, &error), 0);
    assert_true(files.open == files_posix->open);
    assert_int_equal(names_in(house), 2);
    assert_true(files_is_at(files_posix, dir.lock, dir.path));
    atomic_dir_abort(&dir);
    assert_int_equal(names_in(house), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_of_dead_writers_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(folders_of_dead_writers_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_a_writers_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_locked_is_not_left, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_folder_of_another_writer_is_not_taken, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
