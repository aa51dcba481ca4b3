/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator's files: like the system's while nobody dies; what a kill may take and what not. */
#include "tests/runtime/support.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/atomic_dir.h"
#include "runtime/sim/files_sim.h"

static struct files_sim *make_disk(uint64_t seed, struct env **env)
{
    struct files_sim *disk = NULL;
    assert_int_equal(env_sim_create(seed, NULL, env), 0);
    assert_int_equal(files_sim_create(*env, &disk), 0);
    return disk;
}

static void drop_disk(struct files_sim *disk, struct env *env)
{
    files_sim_destroy(disk);
    env_destroy(env);
}

static struct files *mount(struct files_sim *disk)
{
    struct files *files = files_sim_mount(disk);
    assert_non_null(files);
    return files;
}

static void write_file(struct files *files, const char *path, const char *text, bool sync)
{
    struct file file;
    assert_int_equal(file_create(&file, files, path, NULL), 0);
    assert_int_equal(file_append(&file, text, strlen(text), NULL), 0);
    if (sync)
        assert_int_equal(file_sync(&file, NULL), 0);
    file_close(&file);
}

/* -1: it is not there; else whether it holds the text. */
static int holds(struct files *files, const char *path, const char *text)
{
    char *data = NULL;
    size_t size = 0;
    if (files_read_all(files, path, 1 << 20, &data, &size, NULL) != 0)
        return -1;
    int same = size == strlen(text) && memcmp(data, text, size) == 0;
    free(data);
    return same;
}

/* One drawn operation on either; the results, and what was read, have to agree. */
struct both {
    struct env *env;
    struct files *files[2];
    char root[2][64];
};

static uint64_t draw(struct both *both, uint64_t n)
{
    return both->env->ops->random(both->env) % n;
}

static void path_in(const struct both *both, int which, uint64_t number, char path[128])
{
    static const char *const names[] = { "a", "b", "f", "f/a", "f/b", "f/g", "f/g/a", "g", "g/a" };
    snprintf(path, 128, "%s/%s", both->root[which], names[number]);
}

static int visit(void *arg, const char *name)
{
    uint64_t *sum = arg;
    *sum += (unsigned char)name[0] * UINT64_C(1000003);
    return 0;
}

static int64_t file_operation(struct files *files, const char *path, uint64_t size, uint64_t at)
{
    char data[512];
    static const int flags[] = { O_RDWR | O_CREAT, O_RDWR | O_CREAT | O_EXCL, O_RDONLY,
                                 O_RDONLY | O_DIRECTORY, O_RDWR | O_TRUNC };
    int fd = files->open(files, path, flags[at % 5], 0666);
    if (fd < 0)
        return fd;
    struct file_facts facts;
    memset(data, (int)size, sizeof data);
    ssize_t put = files->pwrite(files, fd, data, (size_t)size, at);
    memset(data, 0, sizeof data);
    ssize_t got = files->pread(files, fd, data, (size_t)size, at / 2);
    uint64_t result = (uint64_t)(put * 3 + got * 1000);
    for (size_t i = 0; i < sizeof data; i++)
        result = result * 31 + (unsigned char)data[i];
    assert_int_equal(files->fstat(files, fd, &facts), 0);
    if (facts.is_regular)
        result = result * 31 + facts.size;
    assert_int_equal(files->fsync(files, fd), 0);
    assert_int_equal(files->close(files, fd), 0);
    return (int64_t)(result & 0x7fffffff);
}

static int64_t operate(struct files *files, uint64_t what, const char *a, const char *b,
                       uint64_t size, uint64_t at)
{
    struct file_facts facts;
    uint64_t sum = 0;
    switch (what) {
    case 0:
        return files->mkdir(files, a, 0777);
    case 1:
        return files->unlink(files, a);
    case 2:
        return files->rmdir(files, a);
    case 3:
        return files->rename(files, a, b);
    case 4: {
        int rc = files->stat(files, a, &facts);
        return rc < 0 ? rc : facts.is_folder ? -1000 : (int64_t)facts.size;
    }
    case 10:
        return files->exchange(files, a, b);
    case 5: {
        int rc = files->list(files, a, visit, &sum);
        return rc < 0 ? rc : (int64_t)sum;
    }
    default:
        return file_operation(files, a, size, at);
    }
}

/* Systems say both of a folder that is not empty; unlink of a folder is EPERM to POSIX. */
static int64_t alike(int64_t result)
{
    return result == -EEXIST ? -ENOTEMPTY : result == -EPERM ? -EISDIR : result;
}

static void it_is_like_the_system(void **state)
{
    (void)state;
    struct both both = { .env = NULL };
    struct files_sim *disk = make_disk(7, &both.env);
    files_sim_set_short(disk, 0);
    both.files[0] = files_posix;
    both.files[1] = mount(disk);
    snprintf(both.root[0], sizeof both.root[0], "/tmp/troupe-files-XXXXXX");
    snprintf(both.root[1], sizeof both.root[1], "/disk");
    assert_non_null(mkdtemp(both.root[0]));
    assert_int_equal(files_make_folders(both.files[1], both.root[1], NULL), 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t what = draw(&both, 11), a = draw(&both, 9), b = draw(&both, 9);
        uint64_t size = 1 + draw(&both, 500), at = draw(&both, 2000);
        int64_t results[2];
        char from[128], to[128];
        for (int j = 0; j < 2; j++) {
            path_in(&both, j, a, from);
            path_in(&both, j, b, to);
            results[j] = operate(both.files[j], what, from, to, size, at);
        }
        /* Folders that are moved into each other grow deeper than any tree that may be removed. */
        for (int j = 0; j < 2 && i % 500 == 499; j++) {
            assert_int_equal(files_remove_tree(both.files[j], both.root[j], NULL), 0);
            assert_int_equal(files_make_folders(both.files[j], both.root[j], NULL), 0);
        }
        if (alike(results[0]) != alike(results[1]))
            fail_msg("step %d: operation %d on %s, %s: %lld, and %lld here", i, (int)what, from, to,
                     (long long)results[0], (long long)results[1]);
    }
    assert_int_equal(files_remove_tree(files_posix, both.root[0], NULL), 0);
    drop_disk(disk, both.env);
}

static void what_was_synced_stays_and_the_rest_may_go(void **state)
{
    (void)state;
    uint32_t lost = 0, torn = 0, nameless = 0, kept = 0;
    char text[5000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct env *env = NULL;
        struct files_sim *disk = make_disk(seed, &env);
        struct files *files = mount(disk);
        write_file(files, "/synced", text, true);
        assert_int_equal(files_sync_folder(files, "/", NULL), 0);
        write_file(files, "/written", text, false);
        write_file(files, "/named", text, false);
        files_sim_kill(files);
        assert_int_equal(files->open(files, "/synced", O_RDONLY, 0), -EIO);
        files = mount(disk);
        assert_int_equal(holds(files, "/synced", text), 1);
        int first = holds(files, "/written", text);
        lost += first == -1;
        torn += first == 0;
        kept += first == 1;
        nameless += holds(files, "/named", text) == -1;
        if (holds(files, "/named", text) != -1)
            assert_int_not_equal(first, -1); /* names are kept in order */
        drop_disk(disk, env);
    }
    assert_true(lost > 10 && torn > 10 && kept > 10 && nameless > lost);
}

/* The way that checkpoints are replaced: whole, whenever the process dies. */
static void a_file_replaced_by_a_synced_one_is_whole(void **state)
{
    (void)state;
    uint32_t olds = 0, news = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct env *env = NULL;
        struct files_sim *disk = make_disk(seed, &env);
        struct files *files = mount(disk);
        uint64_t steps = seed % 4;
        write_file(files, "/file", "old", true);
        assert_int_equal(files_sync_folder(files, "/", NULL), 0);
        write_file(files, "/file.tmp", "new", true);
        if (steps > 0)
            assert_int_equal(files_rename(files, "/file.tmp", "/file", NULL), 0);
        if (steps > 1)
            assert_int_equal(files_sync_folder(files, "/", NULL), 0);
        files_sim_kill(files);
        files = mount(disk);
        int is_new = holds(files, "/file", "new");
        assert_int_equal(is_new || holds(files, "/file", "old"), 1);
        if (steps == 0)
            assert_int_equal(is_new, 0);
        if (steps > 1)
            assert_int_equal(is_new, 1);
        olds += steps == 1 && !is_new;
        news += steps == 1 && is_new;
        drop_disk(disk, env);
    }
    assert_true(olds > 0 && news > 0);
}

/* A process that dies before so many more steps that change names or keep them. */
struct dying_files {
    struct files files, *mount;
    int steps;
};

static struct files *step(struct files *self)
{
    struct dying_files *dying = (struct dying_files *)(void *)self;
    if (dying->steps-- == 0)
        files_sim_kill(dying->mount);
    return dying->mount;
}

static struct files *steady(struct files *self)
{
    return ((struct dying_files *)(void *)self)->mount;
}

static int dying_fsync(struct files *self, int fd)
{
    struct files *mount = step(self);
    return mount->fsync(mount, fd);
}

static int dying_rename(struct files *self, const char *from, const char *to)
{
    struct files *mount = step(self);
    return mount->rename(mount, from, to);
}

static int dying_exchange(struct files *self, const char *one, const char *other)
{
    struct files *mount = step(self);
    return mount->exchange(mount, one, other);
}

static int dying_unlink(struct files *self, const char *path)
{
    struct files *mount = step(self);
    return mount->unlink(mount, path);
}

static int dying_rmdir(struct files *self, const char *path)
{
    struct files *mount = step(self);
    return mount->rmdir(mount, path);
}

static int dying_mkdir(struct files *self, const char *path, int mode)
{
    struct files *mount = steady(self);
    return mount->mkdir(mount, path, mode);
}

static int dying_open(struct files *self, const char *path, int flags, int mode)
{
    struct files *mount = steady(self);
    return mount->open(mount, path, flags, mode);
}

static int dying_close(struct files *self, int fd)
{
    struct files *mount = steady(self);
    return mount->close(mount, fd);
}

static ssize_t dying_pwrite(struct files *self, int fd, const void *data, size_t size, uint64_t at)
{
    struct files *mount = steady(self);
    return mount->pwrite(mount, fd, data, size, at);
}

static int dying_fstat(struct files *self, int fd, struct file_facts *facts)
{
    struct files *mount = steady(self);
    return mount->fstat(mount, fd, facts);
}

static int dying_stat(struct files *self, const char *path, struct file_facts *facts)
{
    struct files *mount = steady(self);
    return mount->stat(mount, path, facts);
}

static int dying_list(struct files *self, const char *path, int (*see)(void *, const char *),
                      void *arg)
{
    struct files *mount = steady(self);
    return mount->list(mount, path, see, arg);
}

static int replace_folder(struct files *files, const char *text)
{
    struct atomic_dir dir;
    struct file file;
    int rv = atomic_dir_begin(&dir, files, "/place", true, NULL);
    if (rv != 0)
        return rv;
    char *path = files_join(dir.path, "file");
    rv = file_create(&file, files, path, NULL);
    if (rv == 0)
        rv = file_append(&file, text, strlen(text), NULL);
    file_close(&file);
    free(path);
    if (rv == 0)
        return atomic_dir_commit(&dir, NULL);
    atomic_dir_abort(&dir);
    return rv;
}

/* At the path stands one of the two folders, whole, whenever the process dies. */
static void a_folder_that_is_replaced_is_always_there(void **state)
{
    (void)state;
    const int steps_max = 10; /* more than a replacement takes */
    uint32_t olds = 0, news = 0, ended = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct env *env = NULL;
        struct files_sim *disk = make_disk(seed, &env);
        struct dying_files dying = {
            .files = { .open = dying_open,
                       .close = dying_close,
                       .pwrite = dying_pwrite,
                       .fsync = dying_fsync,
                       .fstat = dying_fstat,
                       .rename = dying_rename,
                       .exchange = dying_exchange,
                       .mkdir = dying_mkdir,
                       .unlink = dying_unlink,
                       .rmdir = dying_rmdir,
                       .stat = dying_stat,
                       .list = dying_list },
            .mount = mount(disk),
            .steps = (int)(seed % (uint64_t)steps_max),
        };
        assert_int_equal(replace_folder(dying.mount, "old"), 0);
        ended += replace_folder(&dying.files, "new") == 0;
        files_sim_kill(dying.mount);
        struct files *files = mount(disk);
        int is_new = holds(files, "/place/file", "new");
        if (is_new == -1 || (is_new == 0 && holds(files, "/place/file", "old") != 1))
            fail_msg("seed %d: neither stands there", (int)seed);
        olds += is_new == 0;
        news += is_new == 1;
        drop_disk(disk, env);
    }
    assert_true(olds > 0 && news > 0 && ended > 0);
}

static void a_kill_takes_only_what_its_own_process_did(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct env *env = NULL;
        struct files_sim *disk = make_disk(seed, &env);
        struct files *one = mount(disk), *other = mount(disk);
        write_file(one, "/one", "one", false);
        write_file(other, "/other", "other", false);
        files_sim_kill(one);
        assert_int_equal(holds(other, "/other", "other"), 1);
        drop_disk(disk, env);
    }
}

static void a_full_disk_says_so(void **state)
{
    (void)state;
    struct env *env = NULL;
    struct files_sim *disk = make_disk(1, &env);
    struct files *files = mount(disk);
    struct file file;
    struct error error;
    char data[600] = { 0 };
    files_sim_set_bytes_max(disk, 1000);
    assert_int_equal(file_create(&file, files, "/a", NULL), 0);
    assert_int_equal(file_append(&file, data, 600, NULL), 0);
    assert_int_equal(file_append(&file, data, 600, &error), TR_ENOSPC);
    assert_non_null(strstr(error.text, "/a"));
    assert_int_equal(file_write_at(&file, 0, data, 600, NULL), 0); /* over what is there */
    file_close(&file);
    assert_int_equal(files->unlink(files, "/a"), 0);
    assert_int_equal(file_create(&file, files, "/b", NULL), 0);
    assert_int_equal(file_append(&file, data, 600, NULL), 0);
    file_close(&file);
    drop_disk(disk, env);
}

static void after_a_sync_that_failed_later_ones_lie(void **state)
{
    (void)state;
    uint32_t lost = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct env *env = NULL;
        struct files_sim *disk = make_disk(seed, &env);
        struct files *files = mount(disk);
        struct file file;
        struct error error;
        assert_int_equal(file_create(&file, files, "/a", NULL), 0);
        assert_int_equal(files_sync_folder(files, "/", NULL), 0);
        assert_int_equal(file_append(&file, "text", 4, NULL), 0);
        files_sim_set_sync_fail(disk, 1000000);
        assert_int_equal(file_sync(&file, &error), TR_EIO);
        files_sim_set_sync_fail(disk, 0);
        assert_int_equal(file_sync(&file, NULL), 0);
        file_close(&file);
        files_sim_kill(files);
        lost += holds(mount(disk), "/a", "text") != 1;
        drop_disk(disk, env);
    }
    assert_true(lost > 10);
}

static struct files *open_disk(struct files_sim **disk, struct env **env)
{
    *disk = make_disk(3, env);
    files_sim_set_short(*disk, 0);
    return mount(*disk);
}

/* Operations that need an open file say whether it was never open or its process is dead. */
static void what_is_not_open_is_refused(void **state)
{
    (void)state;
    struct env *env = NULL;
    struct files_sim *disk = NULL;
    struct files *files = open_disk(&disk, &env);
    struct file_facts facts;
    char data[8] = { 0 };
    void *map = NULL;
    int first = files->open(files, "/a", O_RDWR | O_CREAT, 0666);
    assert_true(first > 0);
    assert_int_equal(files->close(files, first), 0);
    static const int bad[] = { 0, -1, 12345 };
    for (int dead = 0; dead < 2; dead++) {
        int code = dead ? -EIO : -EBADF;
        if (dead)
            files_sim_kill(files);
        for (int i = 0; i < 4; i++) {
            int fd = i == 3 ? first : bad[i]; /* one that was closed is not open either */
            assert_int_equal(files->close(files, fd), code);
            assert_int_equal(files->pread(files, fd, data, 8, 0), code);
            assert_int_equal(files->pwrite(files, fd, data, 8, 0), code);
            assert_int_equal(files->fsync(files, fd), code);
            assert_int_equal(files->syncfs(files, fd), code);
            assert_int_equal(files->fstat(files, fd, &facts), code);
            assert_int_equal(files->map(files, fd, 8, &map), code);
        }
    }
    assert_int_equal(files->stat(files, "/a", &facts), -EIO);
    assert_int_equal(files->mkdir(files, "/b", 0777), -EIO);
    files_sim_kill(files); /* once is enough */
    drop_disk(disk, env);
}

/* A disk that takes no more changes: each of them is refused, and what is there can be read. */
static void a_disk_that_is_read_only_is_read(void **state)
{
    (void)state;
    struct env *env = NULL;
    struct files_sim *disk = NULL;
    struct files *files = open_disk(&disk, &env);
    write_file(files, "/a", "text", false);
    assert_int_equal(files->mkdir(files, "/folder", 0777), 0);
    int fd = files->open(files, "/a", O_RDWR, 0);
    assert_true(fd > 0);
    files_sim_set_read_only(disk, true);
    assert_int_equal(files->pwrite(files, fd, "x", 1, 0), -EROFS);
    assert_int_equal(files->open(files, "/a", O_RDWR, 0), -EROFS);
    assert_int_equal(files->open(files, "/b", O_RDONLY | O_CREAT, 0666), -EROFS);
    assert_int_equal(files->mkdir(files, "/c", 0777), -EROFS);
    assert_int_equal(files->rename(files, "/a", "/b"), -EROFS);
    assert_int_equal(files->exchange(files, "/a", "/folder"), -EROFS);
    assert_int_equal(files->unlink(files, "/a"), -EROFS);
    assert_int_equal(files->rmdir(files, "/folder"), -EROFS);
    assert_int_equal(holds(files, "/a", "text"), 1);
    assert_int_equal(files->fsync(files, fd), 0); /* what was written before still gets there */
    files_sim_set_read_only(disk, false);
    assert_int_equal(files->pwrite(files, fd, "x", 1, 0), 1);
    assert_int_equal(holds(files, "/a", "xext"), 1);
    assert_int_equal(files->close(files, fd), 0);
    drop_disk(disk, env);
}

static void names_and_offsets_have_bounds(void **state)
{
    (void)state;
    struct env *env = NULL;
    struct files_sim *disk = NULL;
    struct files *files = open_disk(&disk, &env);
    char name[NAME_MAX + 3] = "/";
    memset(name + 1, 'n', NAME_MAX + 1);
    name[NAME_MAX + 2] = '\0';
    assert_int_equal(files->mkdir(files, name, 0777), -ENAMETOOLONG);
    name[NAME_MAX + 1] = '\0';
    assert_int_equal(files->mkdir(files, name, 0777), 0);
    assert_int_equal(files->mkdir(files, name, 0777), -EEXIST);
    assert_int_equal(files->mkdir(files, "/", 0777), -EEXIST);
    assert_int_equal(files->open(files, "", O_RDONLY, 0), -ENOENT);
    int fd = files->open(files, "/a", O_RDWR | O_CREAT, 0666);
    assert_int_equal(files->pwrite(files, fd, "xy", 2, (uint64_t)SSIZE_MAX - 1), -EFBIG);
    assert_int_equal(files->pwrite(files, fd, "xy", 0, UINT64_MAX), 0);
    assert_int_equal(files->close(files, fd), 0);
    fd = files->open(files, "/a", O_RDONLY, 0);
    assert_int_equal(files->pwrite(files, fd, "xy", 2, 0), -EBADF);
    assert_int_equal(files->close(files, fd), 0);
    assert_int_equal(files->open(files, "/a", O_RDONLY | O_DIRECTORY, 0), -ENOTDIR);
    assert_int_equal(files->open(files, "/a", O_RDWR | O_CREAT | O_EXCL, 0666), -EEXIST);
    assert_int_equal(files->open(files, name, O_RDWR, 0), -EISDIR);
    drop_disk(disk, env);
}

/* A map holds what is there, and no more can be mapped than that. */
static void a_map_is_the_files_bytes(void **state)
{
    (void)state;
    struct env *env = NULL;
    struct files_sim *disk = NULL;
    struct files *files = open_disk(&disk, &env);
    void *map = NULL;
    write_file(files, "/a", "0123456789", false);
    int fd = files->open(files, "/a", O_RDONLY, 0);
    assert_int_equal(files->map(files, fd, 11, &map), -EINVAL);
    assert_int_equal(files->map(files, fd, 10, &map), 0);
    assert_memory_equal(map, "0123456789", 10);
    files->unmap(files, map, 10);
    assert_int_equal(files->close(files, fd), 0);
    drop_disk(disk, env);
}

/* All that anybody wrote is kept by a sync of the whole disk; where one part fails, it says so. */
static void a_sync_of_the_whole_disk_keeps_all(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct env *env = NULL;
        struct files_sim *disk = make_disk(seed, &env);
        struct files *files = mount(disk);
        write_file(files, "/a", "one", false);
        assert_int_equal(files->mkdir(files, "/folder", 0777), 0);
        write_file(files, "/folder/b", "two", false);
        int fd = files->open(files, "/", O_RDONLY, 0);
        assert_true(fd > 0);
        if (seed % 2 == 1) {
            files_sim_set_sync_fail(disk, 1000000);
            assert_int_equal(files->syncfs(files, fd), -EIO);
        } else {
            assert_int_equal(files->syncfs(files, fd), 0);
            files_sim_kill(files);
            files = mount(disk);
            assert_int_equal(holds(files, "/a", "one"), 1);
            assert_int_equal(holds(files, "/folder/b", "two"), 1);
        }
        drop_disk(disk, env);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_open_is_refused),
        cmocka_unit_test(a_disk_that_is_read_only_is_read),
        cmocka_unit_test(names_and_offsets_have_bounds),
        cmocka_unit_test(a_map_is_the_files_bytes),
        cmocka_unit_test(a_sync_of_the_whole_disk_keeps_all),
        cmocka_unit_test(it_is_like_the_system),
        cmocka_unit_test(what_was_synced_stays_and_the_rest_may_go),
        cmocka_unit_test(a_file_replaced_by_a_synced_one_is_whole),
        cmocka_unit_test(a_folder_that_is_replaced_is_always_there),
        cmocka_unit_test(a_kill_takes_only_what_its_own_process_did),
        cmocka_unit_test(a_full_disk_says_so),
        cmocka_unit_test(after_a_sync_that_failed_later_ones_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
