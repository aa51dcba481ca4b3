/* SPDX-License-Identifier: Apache-2.0 */
/* Files below struct files: short and interrupted operations finish, errors name path and place,
 * and folders are made, synced, walked and removed whole. */
#include "config.h" /* O_PATH */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/files.h"

/* The system's files, but slow, interrupted or broken as the test says. */
struct odd_files {
    struct files files;
    int interruptions;            /* of each kind of operation, from now on */
    size_t most;                  /* of one read or write; 0: no bound */
    int write_result;             /* instead of writing, if written is there already */
    uint64_t written, write_stop; /* bytes, and after how many write_result is given */
    int opens, closes, syncs, syncs_all, unmaps, maps;
    int sync_fails_at, sync_all_result, fstat_result, stat_result, list_result, map_result;
};

struct house {
    char folder[64];
    struct odd_files odd;
};

static bool interrupted(struct odd_files *odd)
{
    return odd->interruptions > 0 && odd->interruptions-- > 0;
}

static int odd_open(struct files *self, const char *path, int flags, int mode)
{
    struct odd_files *odd = (struct odd_files *)(void *)self;
    if (interrupted(odd))
        return -EINTR;
    int fd = files_posix->open(files_posix, path, flags, mode);
    odd->opens += fd >= 0;
    return fd;
}

static int odd_close(struct files *self, int fd)
{
    ((struct odd_files *)(void *)self)->closes++;
    return files_posix->close(files_posix, fd);
}

static size_t odd_size(const struct odd_files *odd, size_t size)
{
    return odd->most != 0 && size > odd->most ? odd->most : size;
}

static ssize_t odd_pread(struct files *self, int fd, void *data, size_t size, uint64_t offset)
{
    struct odd_files *odd = (struct odd_files *)(void *)self;
    if (interrupted(odd))
        return -EINTR;
    return files_posix->pread(files_posix, fd, data, odd_size(odd, size), offset);
}

static ssize_t odd_pwrite(struct files *self, int fd, const void *data, size_t size,
                          uint64_t offset)
{
    struct odd_files *odd = (struct odd_files *)(void *)self;
    if (interrupted(odd))
        return -EINTR;
    if (odd->write_stop != 0 && odd->written >= odd->write_stop)
        return odd->write_result;
    ssize_t put = files_posix->pwrite(files_posix, fd, data, odd_size(odd, size), offset);
    odd->written += put > 0 ? (uint64_t)put : 0;
    return put;
}

static int odd_fsync(struct files *self, int fd)
{
    struct odd_files *odd = (struct odd_files *)(void *)self;
    (void)fd;
    if (interrupted(odd))
        return -EINTR;
    return ++odd->syncs == odd->sync_fails_at ? -EIO : 0;
}

static int odd_syncfs(struct files *self, int fd)
{
    struct odd_files *odd = (struct odd_files *)(void *)self;
    (void)fd;
    odd->syncs_all++;
    return odd->sync_all_result;
}

static int odd_fstat(struct files *self, int fd, struct file_facts *facts)
{
    struct odd_files *odd = (struct odd_files *)(void *)self;
    return odd->fstat_result != 0 ? odd->fstat_result : files_posix->fstat(files_posix, fd, facts);
}

static int odd_stat(struct files *self, const char *path, struct file_facts *facts)
{
    struct odd_files *odd = (struct odd_files *)(void *)self;
    return odd->stat_result != 0 ? odd->stat_result : files_posix->stat(files_posix, path, facts);
}

static int odd_list(struct files *self, const char *path, int (*visit)(void *arg, const char *name),
                    void *arg)
{
    struct odd_files *odd = (struct odd_files *)(void *)self;
    return odd->list_result != 0 ? odd->list_result
                                 : files_posix->list(files_posix, path, visit, arg);
}

static int odd_map(struct files *self, int fd, size_t size, void **data)
{
    struct odd_files *odd = (struct odd_files *)(void *)self;
    odd->maps++;
    return odd->map_result != 0 ? odd->map_result : files_posix->map(files_posix, fd, size, data);
}

static void odd_unmap(struct files *self, void *data, size_t size)
{
    ((struct odd_files *)(void *)self)->unmaps++;
    files_posix->unmap(files_posix, data, size);
}

static int set_up(void **state)
{
    struct house *house = calloc(1, sizeof *house);
    assert_non_null(house);
    snprintf(house->folder, sizeof house->folder, "%s", "/tmp/troupe-files-XXXXXX");
    assert_non_null(mkdtemp(house->folder));
    struct files *files = &house->odd.files;
    *files = *files_posix;
    files->open = odd_open;
    files->close = odd_close;
    files->pread = odd_pread;
    files->pwrite = odd_pwrite;
    files->fsync = odd_fsync;
    files->syncfs = odd_syncfs;
    files->fstat = odd_fstat;
    files->stat = odd_stat;
    files->list = odd_list;
    files->map = odd_map;
    files->unmap = odd_unmap;
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

/* The path of a name in the house's folder; the last four stay valid. */
static const char *in_house(const struct house *house, const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", house->folder, name);
    return path;
}

static void make_file(const struct house *house, const char *name, const char *text)
{
    struct file file;
    assert_int_equal(file_create(&file, files_posix, in_house(house, name), NULL), 0);
    assert_int_equal(file_append(&file, text, strlen(text), NULL), 0);
    file_close(&file);
}

static void assert_says(const struct error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void assert_says(const struct error *error, int code, const char *format, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assert_string_equal(error->text, text);
    assert_int_equal(error->code, code);
}

static void short_and_interrupted_operations_finish(void **state)
{
    struct house *house = *state;
    struct odd_files *odd = &house->odd;
    const char *path = in_house(house, "file");
    char there[300], got[300];
    struct file file;
    struct error error;
    for (size_t i = 0; i < sizeof there; i++)
        there[i] = (char)(i * 7 + i / 256);
    odd->interruptions = 2;
    assert_int_equal(file_create(&file, &odd->files, path, &error), 0);
    odd->interruptions = 2;
    odd->most = 7;
    assert_int_equal(file_append(&file, there, 100, &error), 0);
    assert_int_equal(file_append(&file, there + 100, 200, &error), 0);
    odd->interruptions = 2;
    assert_int_equal(file_sync(&file, &error), 0);
    assert_int_equal(odd->syncs, 1);
    odd->interruptions = 2;
    assert_int_equal(file_read_at(&file, 0, got, 300, &error), 0);
    assert_memory_equal(got, there, 300);
    assert_int_equal(file_read_at(&file, 13, got, 22, &error), 0);
    assert_memory_equal(got, there + 13, 22);
    file_close(&file);
    assert_int_equal(odd->opens, odd->closes);
}

static void reads_end_with_the_file(void **state)
{
    struct house *house = *state;
    const char *path = in_house(house, "file");
    struct file file;
    struct error error;
    char got[32];
    size_t count = 77;
    make_file(house, "file", "0123456789");
    assert_int_equal(file_open(&file, &house->odd.files, path, &error), 0);
    assert_int_equal(file.size, 10);
    static const struct {
        uint64_t offset;
        size_t size, got;
    } reads[] = { { 0, 10, 10 }, { 0, 11, 10 }, { 9, 1, 1 }, { 9, 2, 1 },
                  { 10, 1, 0 },  { 11, 5, 0 },  { 3, 0, 0 }, { 2, 7, 7 } };
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        uint64_t offset = reads[i].offset;
        size_t size = reads[i].size;
        assert_int_equal(file_read_some(&file, offset, got, size, &count, &error), 0);
        assert_int_equal(count, reads[i].got);
        int rv = file_read_at(&file, offset, got, size, &error);
        assert_int_equal(rv, reads[i].got == size ? 0 : TR_EFORMAT);
        if (rv != 0)
            assert_says(&error, TR_EFORMAT,
                        "%s: ends at byte %d, %d bytes too early; it is truncated, copy it again",
                        path, (int)(offset + reads[i].got), (int)(size - reads[i].got));
    }
    file_close(&file);
    /* A file that shrank since it was opened. */
    assert_int_equal(truncate(path, 4), 0);
    assert_int_equal(file_open(&file, files_posix, path, &error), 0);
    assert_int_equal(file_read_at(&file, 1, got, 5, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT,
                "%s: ends at byte 4, 2 bytes too early; it is truncated, copy it again", path);
    int fd = file.fd;
    file.fd = -1;
    assert_int_equal(file_read_some(&file, 3, got, 5, &count, &error), TR_EIO);
    assert_says(&error, TR_EIO, "%s: cannot read at byte 3: %s", path, strerror(EBADF));
    assert_int_equal(error.system_error, EBADF);
    file.fd = fd;
    file_close(&file);
}

static void a_file_grows_by_what_is_written_behind_its_end(void **state)
{
    struct house *house = *state;
    const char *path = in_house(house, "file");
    struct file file;
    struct error error;
    char got[16];
    assert_int_equal(file_create(&file, files_posix, path, &error), 0);
    assert_int_equal(file.size, 0);
    assert_int_equal(file_append(&file, "abcd", 4, &error), 0);
    assert_int_equal(file.size, 4);
    assert_int_equal(file_write_at(&file, 1, "XY", 2, &error), 0);
    assert_int_equal(file.size, 4);
    assert_int_equal(file_write_at(&file, 2, "zzz", 3, &error), 0);
    assert_int_equal(file.size, 5);
    assert_int_equal(file_write_at(&file, 7, "e", 1, &error), 0);
    assert_int_equal(file.size, 8);
    assert_int_equal(file_append(&file, "f", 1, &error), 0);
    assert_int_equal(file_read_at(&file, 0, got, 9, &error), 0);
    assert_memory_equal(got, "aXzzz\0\0ef", 9);
    file_close(&file);
    assert_int_equal(file_create(&file, files_posix, path, &error), TR_EEXIST);
    assert_says(&error, TR_EEXIST, "%s: cannot create: %s", path, strerror(EEXIST));
    file_close(&file); /* harmless */
    /* A file that is opened to be written keeps its bytes; one that is not there is made. */
    assert_int_equal(file_open_writable(&file, files_posix, path, &error), 0);
    assert_int_equal(file.size, 9);
    assert_int_equal(file_append(&file, "g", 1, &error), 0);
    file_close(&file);
    uint64_t size = 0;
    assert_int_equal(files_size(files_posix, path, &size, &error), 0);
    assert_int_equal(size, 10);
    path = in_house(house, "other");
    assert_int_equal(files_size(files_posix, path, &size, &error), TR_ENOENT);
    assert_int_equal(file_open_writable(&file, files_posix, path, &error), 0);
    assert_int_equal(file.size, 0);
    file_close(&file);
    assert_true(files_exists(files_posix, path));
}

static void a_write_that_stops_says_where(void **state)
{
    struct house *house = *state;
    struct odd_files *odd = &house->odd;
    const char *path = in_house(house, "file");
    static const struct {
        int result, code, errno_value;
    } ends[] = { { 0, TR_ENOSPC, ENOSPC }, { -ENOSPC, TR_ENOSPC, ENOSPC }, { -EIO, TR_EIO, EIO } };
    struct file file;
    struct error error;
    assert_int_equal(file_create(&file, &odd->files, path, &error), 0);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        odd->most = 3;
        odd->written = 0;
        odd->write_stop = 6;
        odd->write_result = ends[i].result;
        assert_int_equal(file_write_at(&file, 100, "0123456789", 10, &error), ends[i].code);
        assert_says(&error, ends[i].code, "%s: cannot write at byte 106: %s", path,
                    strerror(ends[i].errno_value));
        assert_int_equal(file.size, 0);
    }
    odd->sync_fails_at = odd->syncs + 1;
    assert_int_equal(file_sync(&file, &error), TR_EIO);
    assert_says(&error, TR_EIO, "%s: cannot sync to disk: %s", path, strerror(EIO));
    file_close(&file);
}

static void what_is_no_file_is_not_opened(void **state)
{
    struct house *house = *state;
    struct odd_files *odd = &house->odd;
    struct file file;
    struct error error;
    const char *pipe_path = in_house(house, "pipe"), *path = in_house(house, "file");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    const char *others[] = { house->folder, pipe_path };
    for (int i = 0; i < 2; i++) { /* a pipe that nobody writes to is not waited for */
        assert_int_equal(file_open(&file, &odd->files, others[i], &error), TR_EINVAL);
        assert_says(&error, TR_EINVAL, "%s: not a regular file; name one", others[i]);
        assert_null(file.path);
    }
    assert_int_equal(file_open(&file, &odd->files, path, &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "%s: cannot open: %s", path, strerror(ENOENT));
    make_file(house, "file", "text");
    odd->fstat_result = -EIO;
    assert_int_equal(file_open(&file, &odd->files, path, &error), TR_EIO);
    assert_says(&error, TR_EIO, "%s: cannot find its size: %s", path, strerror(EIO));
    assert_int_equal(odd->opens, 3);
    assert_int_equal(odd->closes, 3);
}

static void a_map_is_the_file_until_it_is_closed(void **state)
{
    struct house *house = *state;
    struct odd_files *odd = &house->odd;
    struct file file;
    struct error error;
    const void *data = NULL, *again = NULL;
    make_file(house, "file", "text");
    make_file(house, "empty", "");
    assert_int_equal(file_open(&file, &odd->files, in_house(house, "file"), &error), 0);
    odd->map_result = -ENOMEM;
    assert_int_equal(file_map(&file, &data, &error), TR_ENOMEM);
    assert_says(&error, TR_ENOMEM, "%s: cannot map: %s", file.path, strerror(ENOMEM));
    odd->map_result = 0;
    assert_int_equal(file_map(&file, &data, &error), 0);
    assert_memory_equal(data, "text", 4);
    assert_int_equal(file_map(&file, &again, &error), 0);
    assert_ptr_equal(data, again);
    assert_int_equal(odd->maps, 2);
    file_close(&file);
    assert_int_equal(odd->unmaps, 1);
    assert_int_equal(file_open(&file, &odd->files, in_house(house, "empty"), &error), 0);
    assert_int_equal(file_map(&file, &data, &error), 0);
    assert_non_null(data);
    file_close(&file);
    assert_int_equal(odd->unmaps, 1);
    assert_int_equal(odd->maps, 2);
    /* The system's refusals are its errno. */
    void *map = NULL;
    assert_int_equal(files_posix->map(files_posix, -1, 10, &map), -EBADF);
}

static void a_file_is_read_whole_up_to_its_bound(void **state)
{
    struct house *house = *state;
    struct error error;
    const char *path = in_house(house, "file");
    char *data = NULL;
    size_t size = 0;
    make_file(house, "file", "0123456789");
    make_file(house, "empty", "");
    assert_int_equal(files_read_all(files_posix, path, 10, &data, &size, &error), 0);
    assert_int_equal(size, 10);
    assert_string_equal(data, "0123456789");
    free(data);
    data = NULL;
    assert_int_equal(files_read_all(files_posix, path, 9, &data, &size, &error), TR_ETOOBIG);
    assert_says(&error, TR_ETOOBIG, "%s: 10 bytes, more than the 9 allowed", path);
    assert_null(data);
    assert_int_equal(files_read_all(files_posix, in_house(house, "empty"), 0, &data, &size, &error),
                     0);
    assert_int_equal(size, 0);
    assert_string_equal(data, "");
    free(data);
    assert_int_equal(files_read_all(files_posix, "/nowhere/x", 9, &data, &size, &error), TR_ENOENT);
}

static void some_failures_of_a_write_may_pass(void **state)
{
    static const int passing[] = { TR_EIO, TR_ENOSPC, TR_EPERM, TR_ENOENT };
    (void)state;
    for (int code = 1; code > -64; code--) {
        bool expected = false;
        for (int i = 0; i < 4; i++)
            expected |= passing[i] == code;
        assert_int_equal(files_is_refusal(code), expected);
    }
}

static void paths_are_joined_and_cut_at_their_slashes(void **state)
{
    static const char *const joined[][3] = {
        { "a", "b", "a/b" }, { "a/", "b", "a/b" },    { "", "b", "b" },  { "/", "b", "/b" },
        { "a", "/b", "/b" }, { "a/b", "c", "a/b/c" }, { "a", "", "a/" },
    };
    static const char *const parents[][2] = {
        { "a", "." },         { "a/b", "a" }, { "/a", "/" },  { "a//b", "a" }, { "a/b/", "a" },
        { "a/b//", "a" },     { "a/", "." },  { "/", "/" },   { "", "." },     { "//a", "/" },
        { "/a/b/c", "/a/b" }, { "//", "/" },  { "/a/", "/" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof joined / sizeof *joined; i++) {
        char *path = files_join(joined[i][0], joined[i][1]);
        assert_string_equal(path, joined[i][2]);
        free(path);
    }
    for (size_t i = 0; i < sizeof parents / sizeof *parents; i++) {
        char *path = files_parent(parents[i][0]);
        assert_string_equal(path, parents[i][1]);
        free(path);
    }
}

static void folders_are_made_with_all_above_them_and_synced(void **state)
{
    struct house *house = *state;
    struct odd_files *odd = &house->odd;
    struct error error;
    const char *path = in_house(house, "a/b/c");
    odd->interruptions = 1;
    assert_int_equal(files_make_folders(&odd->files, path, &error),
                     TR_EIO); /* opens are not retried */
    odd->interruptions = 0;
    odd->syncs = 0;
    assert_int_equal(files_make_folders(&odd->files, path, &error), 0);
    assert_true(files_is_folder(files_posix, path));
    assert_int_equal(odd->syncs, 3); /* of the folder of each that is new */
    assert_int_equal(files_make_folders(&odd->files, path, &error), 0);
    assert_int_equal(odd->syncs, 3);
    assert_int_equal(files_make_folders(&odd->files, in_house(house, "a/d/"), &error), 0);
    assert_true(files_is_folder(files_posix, in_house(house, "a/d")));
    /* A name that could not be synced is taken back. */
    odd->sync_fails_at = odd->syncs + 1;
    assert_int_equal(files_make_folders(&odd->files, in_house(house, "e"), &error), TR_EIO);
    assert_says(&error, TR_EIO, "%s: cannot sync to disk: %s", house->folder, strerror(EIO));
    assert_false(files_exists(files_posix, in_house(house, "e")));
    make_file(house, "file", "");
    assert_int_equal(files_make_folders(files_posix, in_house(house, "file"), &error), TR_EEXIST);
    assert_says(&error, TR_EEXIST, "%s: is there and is not a folder; choose another path",
                in_house(house, "file"));
    assert_int_equal(files_make_folders(files_posix, in_house(house, "file/x"), &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "%s: cannot make the folder: %s", in_house(house, "file/x"),
                strerror(ENOTDIR));
    assert_int_equal(files_make_folders(files_posix, "", &error), TR_EEXIST);
    assert_int_equal(odd->opens, odd->closes);
}

static void a_folder_is_one_through_a_link_too(void **state)
{
    struct house *house = *state;
    make_file(house, "file", "");
    assert_int_equal(symlink(house->folder, in_house(house, "link")), 0);
    assert_int_equal(symlink("/nowhere", in_house(house, "broken")), 0);
    assert_true(files_is_folder(files_posix, in_house(house, "link")));
    assert_false(files_is_folder(files_posix, in_house(house, "file")));
    assert_false(files_is_folder(files_posix, in_house(house, "broken")));
    assert_false(files_is_folder(files_posix, in_house(house, "absent")));
    assert_true(files_is_folder(&house->odd.files, house->folder));
    assert_int_equal(house->odd.opens, house->odd.closes);
    assert_true(files_exists(files_posix, in_house(house, "broken")));
    assert_false(files_exists(files_posix, in_house(house, "absent")));
}

static void an_open_file_knows_its_name(void **state)
{
    struct house *house = *state;
    struct odd_files *odd = &house->odd;
    struct file file;
    struct error error;
    const char *one = in_house(house, "one"), *other = in_house(house, "other");
    make_file(house, "one", "");
    make_file(house, "other", "");
    assert_int_equal(file_open(&file, &odd->files, one, NULL), 0);
    assert_true(files_is_at(&odd->files, file.fd, one));
    assert_false(files_is_at(&odd->files, file.fd, other));
    assert_false(files_is_at(&odd->files, file.fd, "/dev/null"));
    odd->fstat_result = -EIO;
    assert_false(files_is_at(&odd->files, file.fd, one));
    odd->fstat_result = 0;
    odd->stat_result = -EIO;
    assert_false(files_is_at(&odd->files, file.fd, one));
    odd->stat_result = 0;
    assert_int_equal(files_rename(&odd->files, one, other, &error), 0);
    assert_false(files_is_at(&odd->files, file.fd, one));
    assert_true(files_is_at(&odd->files, file.fd, other));
    file_close(&file);
    assert_int_equal(files_rename(&odd->files, one, other, &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "%s: cannot rename to %s: %s", one, other, strerror(ENOENT));
}

static bool same_facts_but(const struct house *house, int device, int inode);

static struct file_facts facts_there, facts_mine;

static int given_stat(struct files *self, const char *path, struct file_facts *facts)
{
    (void)self;
    (void)path;
    *facts = facts_there;
    return 0;
}

static int given_fstat(struct files *self, int fd, struct file_facts *facts)
{
    (void)self;
    (void)fd;
    *facts = facts_mine;
    return 0;
}

static bool same_facts_but(const struct house *house, int device, int inode)
{
    struct files files = house->odd.files;
    files.stat = given_stat;
    files.fstat = given_fstat;
    facts_mine = (struct file_facts){ .device = 5, .inode = 9 };
    facts_there = (struct file_facts){ .device = 5 + (uint64_t)device,
                                       .inode = 9 + (uint64_t)inode };
    return files_is_at(&files, 0, "x");
}

static void a_file_is_its_device_and_its_inode(void **state)
{
    assert_true(same_facts_but(*state, 0, 0));
    assert_false(same_facts_but(*state, 1, 0));
    assert_false(same_facts_but(*state, 0, 1));
}

/* A folder in a folder, so many times. */
static void make_chain(const struct house *house, int depth)
{
    char path[512];
    int at = snprintf(path, sizeof path, "%s/chain", house->folder);
    for (int i = 0; i < depth; i++)
        at += snprintf(path + at, sizeof path - (size_t)at, "/d");
    assert_int_equal(files_make_folders(files_posix, path, NULL), 0);
}

static void trees_are_removed_down_to_a_depth(void **state)
{
    struct house *house = *state;
    struct error error;
    char chain[512], deepest[512];
    snprintf(chain, sizeof chain, "%s/chain", house->folder);
    make_chain(house, FILES_DEPTH_MAX);
    make_file(house, "chain/file", "text");
    assert_int_equal(symlink(house->folder, in_house(house, "chain/link")), 0);
    assert_int_equal(files_remove_tree(files_posix, chain, &error), 0);
    assert_false(files_exists(files_posix, chain));
    assert_true(files_exists(files_posix, house->folder)); /* a link is not followed */
    assert_int_equal(files_remove_tree(files_posix, chain, &error), 0);
    make_chain(house, FILES_DEPTH_MAX + 1);
    assert_int_equal(files_remove_tree(files_posix, chain, &error), TR_ETOOBIG);
    int at = snprintf(deepest, sizeof deepest, "%s", chain);
    for (int i = 0; i <= FILES_DEPTH_MAX; i++)
        at += snprintf(deepest + at, sizeof deepest - (size_t)at, "/d");
    assert_says(&error, TR_ETOOBIG, "%s: more than %d folders deep", deepest, FILES_DEPTH_MAX);
    assert_int_equal(rmdir(deepest), 0);
    house->odd.list_result = -EACCES;
    assert_int_equal(files_remove_tree(&house->odd.files, chain, &error), TR_EPERM);
    assert_says(&error, TR_EPERM, "%s: cannot list the folder: %s", chain, strerror(EACCES));
    assert_int_equal(files_remove_tree(files_posix, chain, &error), 0);
}

/* One by one as long as they are few: the folder itself is one of them. */
static void a_tree_is_synced_one_by_one_or_at_once(void **state)
{
    struct house *house = *state;
    struct odd_files *odd = &house->odd;
    struct error error;
    char name[16];
    for (int i = 0; i < 127; i++) {
        snprintf(name, sizeof name, "%03d", i);
        make_file(house, name, "");
    }
    assert_int_equal(files_sync_tree(&odd->files, house->folder, &error), 0);
    assert_int_equal(odd->syncs, 128);
    assert_int_equal(odd->syncs_all, 0);
    odd->sync_fails_at = 256;
    assert_int_equal(files_sync_tree(&odd->files, house->folder, &error), TR_EIO);
    assert_says(&error, TR_EIO, "%s: cannot sync to disk: %s", house->folder, strerror(EIO));
    odd->sync_fails_at = 0;
    make_file(house, "127", "");
    odd->syncs = 0;
    assert_int_equal(files_sync_tree(&odd->files, house->folder, &error), 0);
    assert_int_equal(odd->syncs_all, 1);
    /* Where all at once fails, each is asked which is to blame. */
    odd->syncs = 0;
    odd->sync_all_result = -EIO;
    assert_int_equal(files_sync_tree(&odd->files, house->folder, &error), 0);
    assert_int_equal(odd->syncs, 128 + 129);
    odd->syncs = 0;
    odd->sync_fails_at = 128 + 129;
    assert_int_equal(files_sync_tree(&odd->files, house->folder, &error), TR_EIO);
    assert_says(&error, TR_EIO, "%s: cannot sync to disk: %s", house->folder, strerror(EIO));
    odd->sync_fails_at = 0;
    odd->files.syncfs = NULL;
    odd->syncs = 0;
    assert_int_equal(files_sync_tree(&odd->files, house->folder, &error), 0);
    assert_int_equal(odd->syncs, 129);
    assert_int_equal(odd->opens, odd->closes);
    odd->stat_result = -EACCES;
    assert_int_equal(files_sync_tree(&odd->files, house->folder, &error), TR_EPERM);
    assert_says(&error, TR_EPERM, "%s: cannot look at it: %s", house->folder, strerror(EACCES));
    odd->syncs = 0;
    assert_int_equal(files_sync_folder(&odd->files, house->folder, &error), 0);
    assert_int_equal(odd->syncs, 1);
    assert_int_equal(files_sync_folder(files_posix, "/nowhere", &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "/nowhere: cannot open to sync it to disk: %s",
                strerror(ENOENT));
}

static int second_ends(void *arg, const char *name)
{
    assert_string_not_equal(name, ".");
    assert_string_not_equal(name, "..");
    return ++*(int *)arg == 2 ? 42 : 0;
}

/* Results are the system's, with its errno. */
static void the_systems_operations_give_its_errno(void **state)
{
    struct house *house = *state;
    struct files *files = files_posix;
    struct file_facts facts;
    const char *absent = in_house(house, "absent");
    int seen = 0;
    char byte = 0;
    make_file(house, "1", "");
    make_file(house, "2", "12345");
    make_file(house, "3", "");
    assert_int_equal(files->list(files, house->folder, second_ends, &seen), 42);
    assert_int_equal(seen, 2);
    assert_int_equal(files->list(files, absent, second_ends, &seen), -ENOENT);
    assert_int_equal(files->stat(files, absent, &facts), -ENOENT);
    assert_int_equal(files->fstat(files, -1, &facts), -EBADF);
    assert_int_equal(files->pread(files, -1, &byte, 1, 0), -EBADF);
    assert_int_equal(files->pwrite(files, -1, &byte, 1, 0), -EBADF);
    assert_int_equal(files->fsync(files, -1), -EBADF);
    assert_int_equal(files->syncfs(files, -1), -EBADF);
    assert_int_equal(files->mkdir(files, house->folder, 0700), -EEXIST);
    assert_int_equal(files->unlink(files, absent), -ENOENT);
    assert_int_equal(files->rmdir(files, absent), -ENOENT);
    assert_int_equal(files->rename(files, absent, absent), -ENOENT);
    assert_int_equal(files->close(files, -1), -EBADF);
    assert_int_equal(files->stat(files, in_house(house, "2"), &facts), 0);
    assert_int_equal(facts.size, 5);
    assert_true(facts.is_regular && !facts.is_folder);
    assert_int_equal(files->stat(files, house->folder, &facts), 0);
    assert_true(!facts.is_regular && facts.is_folder);
    int one = files->open(files, in_house(house, "1"), O_RDWR, 0);
    int other = files->open(files, in_house(house, "1"), O_RDWR, 0);
    assert_true(one >= 0 && other >= 0);
    assert_true((fcntl(one, F_GETFD) & FD_CLOEXEC) != 0);
    assert_int_equal(files->lock(files, one), 0);
    assert_int_equal(files->lock(files, other), -EWOULDBLOCK);
    assert_int_equal(files->close(files, one), 0);
    assert_int_equal(files->lock(files, other), 0);
    assert_int_equal(files->close(files, other), 0);
}

/* One folder is one however it is spelled, by which link, and before it is made. */
static void a_path_is_the_same_in_all_spellings(void **state)
{
    struct house *house = *state;
    char text[1024];
    assert_int_equal(mkdir(in_house(house, "a"), 0700), 0);
    assert_int_equal(mkdir(in_house(house, "other"), 0700), 0);
    assert_int_equal(symlink("a", in_house(house, "link")), 0);
    assert_int_equal(symlink("nowhere", in_house(house, "dead")), 0);
    static const struct {
        const char *one, *other;
        bool same;
    } cases[] = {
        { "a", "a", true },
        { "a//", ".//a/.", true },
        { "a/b//c", "a/./b/c/", true },
        { "a", "link", true },
        { "link/", "a//", true },
        { "a/new", "link//new/", true },
        { "a/x/y/%h", "link/x//y/%h", true },
        { "other/../a", "a", true },
        { "a", "other", false },
        { "a/new", "other/new", false },
        { "a/new", "link/old", false },
        { "a", "a/new", false },
        { "new", "newer", false },
        { "a/x/new", "a/y/new", false },
        { "dead", "a", false },
        { "a/b", "a/b/c", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *one = in_house(house, cases[i].one), *other = in_house(house, cases[i].other);
        if (files_are_same(files_posix, one, other) != cases[i].same ||
            files_are_same(files_posix, other, one) != cases[i].same)
            fail_msg("%s and %s", one, other);
    }
    assert_false(files_are_same(files_posix, "/tmp", "tmp"));
    assert_true(files_are_same(files_posix, "/", "//."));
    assert_true(files_are_same(files_posix, "no-such/x", "./no-such//x"));
    assert_false(files_are_same(files_posix, "no-such", "/no-such"));
    snprintf(text, sizeof text, "/.%s", in_house(house, "a/new"));
    assert_true(files_are_same(files_posix, text, in_house(house, "link/new")));
}

int main(void)
{
#define FILES(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        FILES(short_and_interrupted_operations_finish),
        FILES(reads_end_with_the_file),
        FILES(a_file_grows_by_what_is_written_behind_its_end),
        FILES(a_write_that_stops_says_where),
        FILES(what_is_no_file_is_not_opened),
        FILES(a_map_is_the_file_until_it_is_closed),
        FILES(a_file_is_read_whole_up_to_its_bound),
        FILES(some_failures_of_a_write_may_pass),
        FILES(paths_are_joined_and_cut_at_their_slashes),
        FILES(folders_are_made_with_all_above_them_and_synced),
        FILES(a_folder_is_one_through_a_link_too),
        FILES(a_path_is_the_same_in_all_spellings),
        FILES(an_open_file_knows_its_name),
        FILES(a_file_is_its_device_and_its_inode),
        FILES(trees_are_removed_down_to_a_depth),
        FILES(a_tree_is_synced_one_by_one_or_at_once),
        FILES(the_systems_operations_give_its_errno),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
