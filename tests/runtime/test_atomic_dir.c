/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing that is written aside is left for long: the next writer of a name removes what killed
 * ones left, and never what a living one writes. */
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

/* Which operation fails from now on, and with what. */
struct failing_files {
    struct files files;
    int write_result, sync_result, rename_result, renames_before, exchange_result;
};

static ssize_t failing_pwrite(struct files *self, int fd, const void *data, size_t size,
                              uint64_t offset)
{
    int result = ((struct failing_files *)(void *)self)->write_result;
    return result != 0 ? result : files_posix->pwrite(files_posix, fd, data, size, offset);
}

static int failing_fsync(struct files *self, int fd)
{
    (void)fd;
    return ((struct failing_files *)(void *)self)->sync_result;
}

static int failing_rename(struct files *self, const char *from, const char *to)
{
    struct failing_files *failing = (struct failing_files *)(void *)self;
    if (failing->rename_result != 0 && failing->renames_before-- == 0)
        return failing->rename_result;
    return files_posix->rename(files_posix, from, to);
}

static int failing_exchange(struct files *self, const char *one, const char *other)
{
    int result = ((struct failing_files *)(void *)self)->exchange_result;
    return result != 0 ? result : files_posix->exchange(files_posix, one, other);
}

static struct failing_files failing_files(void)
{
    struct failing_files failing = { .files = *files_posix };
    failing.files.pwrite = failing_pwrite;
    failing.files.fsync = failing_fsync;
    failing.files.rename = failing_rename;
    failing.files.exchange = failing_exchange;
    failing.files.syncfs = NULL;
    return failing;
}

static void assert_holds(const char *path, const char *text)
{
    char *data = NULL;
    size_t size = 0;
    assert_int_equal(files_read_all(files_posix, path, 100, &data, &size, NULL), 0);
    assert_string_equal(data, text);
    free(data);
}

/* A write that failed leaves the file that was there, and nothing beside it. */
static void a_write_that_fails_changes_nothing(void **state)
{
    struct house *house = *state;
    struct error error;
    char text[300];
    assert_int_equal(files_write_atomic(files_posix, house->path, "before", 6, &error), 0);
    for (int step = 0; step < 3; step++) {
        struct failing_files failing = failing_files();
        int *result[] = { &failing.write_result, &failing.sync_result, &failing.rename_result };
        *result[step] = -ENOSPC;
        assert_int_equal(files_write_atomic(&failing.files, house->path, "after", 5, &error),
                         TR_ENOSPC);
        assert_holds(house->path, "before");
        assert_int_equal(names_in(house), 1);
    }
    snprintf(text, sizeof text, "%s/.a.tmp-1.json.tmp-%ld-0: cannot rename to %s: %s",
             house->folder, (long)getpid(), house->path, strerror(ENOSPC));
    assert_string_equal(error.text, text);
    assert_int_equal(files_write_atomic(files_posix, house->path, "after", 5, &error), 0);
    assert_holds(house->path, "after");
    assert_int_equal(files_write_atomic(files_posix, "/nowhere/x", "after", 5, &error), TR_ENOENT);
}

static void put_in(const struct atomic_dir *dir, const char *text)
{
    char *path = files_join(dir->path, "file");
    struct file file;
    assert_int_equal(file_create(&file, files_posix, path, NULL), 0);
    assert_int_equal(file_append(&file, text, strlen(text), NULL), 0);
    file_close(&file);
    free(path);
}

static int make_folder(struct files *files, const char *path, bool replace, const char *text,
                       struct error *error)
{
    struct atomic_dir dir;
    int rv = atomic_dir_begin(&dir, files, path, replace, error);
    if (rv != 0)
        return rv;
    put_in(&dir, text);
    return atomic_dir_commit(&dir, error);
}

static void a_folder_takes_a_place_only_where_it_may(void **state)
{
    struct house *house = *state;
    struct atomic_dir dir;
    struct error error;
    char text[300], name[160], slashed[160];
    snprintf(name, sizeof name, "%s/file", house->path);
    snprintf(slashed, sizeof slashed, "%s//", house->path);
    assert_int_equal(make_folder(files_posix, house->path, false, "one", &error), 0);
    assert_holds(name, "one");
    assert_int_equal(names_in(house), 1);
    snprintf(text, sizeof text, "%s: is already there; remove it or choose another path",
             house->path);
    assert_int_equal(make_folder(files_posix, house->path, false, "two", &error), TR_EEXIST);
    assert_string_equal(error.text, text);
    assert_int_equal(make_folder(files_posix, house->path, true, "three", &error), 0);
    assert_holds(name, "three");
    assert_int_equal(names_in(house), 1);
    /* A name is the same with slashes behind it: what is aside stands beside it. */
    assert_int_equal(atomic_dir_begin(&dir, files_posix, slashed, true, &error), 0);
    snprintf(text, sizeof text, "%s/.a.tmp-1.json.tmp-%ld-0", house->folder, (long)getpid());
    assert_string_equal(dir.path, text);
    put_in(&dir, "four");
    assert_int_equal(atomic_dir_commit(&dir, &error), 0);
    assert_holds(name, "four");
    assert_int_equal(names_in(house), 1);
    atomic_dir_abort(&dir); /* harmless after a commit */
    /* One that came while this one was written is not replaced either. */
    assert_int_equal(files_remove_tree(files_posix, house->path, NULL), 0);
    assert_int_equal(atomic_dir_begin(&dir, files_posix, house->path, false, &error), 0);
    assert_int_equal(mkdir(house->path, 0700), 0);
    assert_int_equal(atomic_dir_commit(&dir, &error), TR_EEXIST);
    assert_int_equal(names_in(house), 1);
    atomic_dir_abort(&dir);
}

static void a_folder_is_made_below_new_ones(void **state)
{
    struct house *house = *state;
    struct error error;
    char path[160];
    snprintf(path, sizeof path, "%s/a/b/c", house->folder);
    assert_int_equal(make_folder(files_posix, path, false, "text", &error), 0);
    assert_true(files_is_folder(files_posix, path));
}

static void a_commit_that_fails_leaves_what_was_there(void **state)
{
    struct house *house = *state;
    struct error error;
    char name[160];
    snprintf(name, sizeof name, "%s/file", house->path);
    assert_int_equal(make_folder(files_posix, house->path, false, "before", &error), 0);
    for (int before = 0; before < 2; before++) { /* of the old one out of its place, of the new */
        struct failing_files failing = failing_files();
        failing.rename_result = -EACCES;
        failing.renames_before = before;
        failing.exchange_result = -EINVAL;
        assert_int_equal(make_folder(&failing.files, house->path, true, "after", &error), TR_EPERM);
        assert_holds(name, "before");
        assert_int_equal(names_in(house), 1);
    }
    struct failing_files failing = failing_files();
    failing.exchange_result = -EACCES;
    assert_int_equal(make_folder(&failing.files, house->path, true, "after", &error), TR_EPERM);
    assert_non_null(strstr(error.text, ": cannot take the place of "));
    assert_holds(name, "before");
    assert_int_equal(names_in(house), 1);
    failing = failing_files();
    failing.sync_result = -EIO;
    assert_int_equal(make_folder(&failing.files, house->path, true, "after", &error), TR_EIO);
    assert_holds(name, "before");
    assert_int_equal(names_in(house), 1);
}

/* File systems of networks, and kernels, may have no exchange: then two renames do it. */
static void a_folder_is_replaced_where_nothing_can_be_exchanged(void **state)
{
    struct house *house = *state;
    struct error error;
    char name[160];
    snprintf(name, sizeof name, "%s/file", house->path);
    assert_int_equal(make_folder(files_posix, house->path, false, "before", &error), 0);
    for (int i = 0; i < 3; i++) {
        struct failing_files failing = failing_files();
        const char *text = i == 0 ? "no call" : i == 1 ? "no flag" : "no kernel";
        failing.exchange_result = i == 1 ? -EINVAL : -ENOSYS;
        if (i == 0)
            failing.files.exchange = NULL;
        assert_int_equal(make_folder(&failing.files, house->path, true, text, &error), 0);
        assert_holds(name, text);
        assert_int_equal(names_in(house), 1);
    }
}

/* Names that cannot be removed, as many as a writer tries, and one fewer. */
static void a_writer_tries_so_many_names(void **state)
{
    struct house *house = *state;
    struct atomic_dir dir;
    struct error error;
    char path[160], text[300];
    for (int i = 0; i < 1000; i++) {
        if (i == 999) {
            assert_int_equal(files_write_atomic(files_posix, house->path, "text", 4, &error), 0);
            assert_int_equal(unlink(house->path), 0);
            assert_int_equal(atomic_dir_begin(&dir, files_posix, house->path, false, &error), 0);
            atomic_dir_abort(&dir);
        }
        snprintf(path, sizeof path, "%s/.a.tmp-1.json.tmp-%ld-%d", house->folder, (long)getpid(),
                 i);
        assert_int_equal(symlink("/nowhere", path), 0);
    }
    snprintf(text, sizeof text, "%s: 1000 folders .*.tmp-* are beside it; remove them",
             house->path);
    assert_int_equal(atomic_dir_begin(&dir, files_posix, house->path, false, &error), TR_EEXIST);
    assert_string_equal(error.text, text);
    snprintf(text, sizeof text, "%s: 1000 files .*.tmp-* are beside it; remove them", house->path);
    assert_int_equal(files_write_atomic(files_posix, house->path, "text", 4, &error), TR_EEXIST);
    assert_string_equal(error.text, text);
    assert_int_equal(names_in(house), 1000);
}

/* The system's files, with those counted that are open. */
struct counted_files {
    struct files files;
    int open;
};

static int counted_open(struct files *self, const char *path, int flags, int mode)
{
    int fd = files_posix->open(files_posix, path, flags, mode);
    ((struct counted_files *)(void *)self)->open += fd >= 0;
    return fd;
}

static int counted_close(struct files *self, int fd)
{
    ((struct counted_files *)(void *)self)->open--;
    return files_posix->close(files_posix, fd);
}

/* A lock is given up once, with what it was for: another writer may have its number since. */
static void each_lock_is_given_up_once(void **state)
{
    struct house *house = *state;
    struct counted_files counted = { .files = *files_posix };
    struct atomic_dir dir;
    counted.files.open = counted_open;
    counted.files.close = counted_close;
    for (int commits = 0; commits < 2; commits++) {
        assert_int_equal(atomic_dir_begin(&dir, &counted.files, house->path, true, NULL), 0);
        assert_int_equal(counted.open, 1); /* the lock */
        if (commits)
            assert_int_equal(atomic_dir_commit(&dir, NULL), 0);
        else
            atomic_dir_abort(&dir);
        assert_int_equal(counted.open, 0);
        atomic_dir_abort(&dir);
        assert_int_equal(counted.open, 0);
    }
    assert_int_equal(atomic_dir_begin(&dir, &counted.files, house->path, false, NULL), TR_EEXIST);
    assert_int_equal(files_remove_tree(files_posix, house->path, NULL), 0);
    assert_int_equal(files_write_atomic(&counted.files, house->path, "text", 4, NULL), 0);
    assert_int_equal(counted.open, 0);
}

/* Where there are no locks nothing of others is removed, and what is written is whole. */
static void without_locks_all_works_but_the_removal(void **state)
{
    struct house *house = *state;
    struct files files = *files_posix;
    struct error error;
    char path[160];
    files.lock = NULL;
    snprintf(path, sizeof path, "%s/.a.tmp-1.json.tmp-1-1", house->folder);
    assert_int_equal(files_write_atomic(files_posix, path, "left", 4, &error), 0);
    assert_int_equal(files_write_atomic(&files, house->path, "text", 4, &error), 0);
    assert_holds(house->path, "text");
    assert_int_equal(names_in(house), 2);
    assert_int_equal(unlink(house->path), 0);
    assert_int_equal(make_folder(&files, house->path, false, "text", &error), 0);
    assert_int_equal(names_in(house), 2);
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
        cmocka_unit_test_setup_teardown(a_write_that_fails_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_takes_a_place_only_where_it_may, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_folder_is_made_below_new_ones, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_commit_that_fails_leaves_what_was_there, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_folder_is_replaced_where_nothing_can_be_exchanged, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_writer_tries_so_many_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_locks_all_works_but_the_removal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_lock_is_given_up_once, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
