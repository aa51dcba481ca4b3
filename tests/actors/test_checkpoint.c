/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A checkpoint appears whole or not at all: whichever operation on files fails, or ends the
 * process, what is found afterwards is the checkpoint before or the new one, with all its bytes.
 */
#include <errno.h>
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

#include "actors/job/checkpoint_json.h"
#include "actors/job/checkpoint_paths.h"
#include "runtime/base/crc32c.h"
#include "runtime/base/files.h"
#include "runtime/sim/env_sim.h"
#include "runtime/sim/files_sim.h"
#include "tests/scratch.h"

#define WORLD 3u
#define BYTES 5000u
#define CRASH_SEEDS 1000u

/* Files that fail from one change on, as for a process that is killed there, or at one alone. */
struct faulty {
    struct files files;
    uint64_t changes;
    uint64_t fails_at; /* 0: never */
    bool for_good;
    void (*instead)(void *arg); /* of failing: what another process does at that moment */
    void *arg;
};

static bool fails(struct files *self)
{
    struct faulty *faulty = (struct faulty *)self;
    uint64_t change = ++faulty->changes;
    if (faulty->instead != NULL) {
        if (change == faulty->fails_at)
            faulty->instead(faulty->arg);
        return false;
    }
    return faulty->fails_at != 0 &&
           (faulty->for_good ? change >= faulty->fails_at : change == faulty->fails_at);
}

static int open_file(struct files *self, const char *path, int flags, int mode)
{
    return fails(self) ? -EIO : files_posix->open(files_posix, path, flags, mode);
}

static ssize_t write_some(struct files *self, int fd, const void *data, size_t size,
                          uint64_t offset)
{
    /* Half of it is there when it fails. */
    if (!fails(self))
        return files_posix->pwrite(files_posix, fd, data, size, offset);
    (void)files_posix->pwrite(files_posix, fd, data, size / 2, offset);
    return -ENOSPC;
}

static int sync_file(struct files *self, int fd)
{
    (void)fd;
    return fails(self) ? -EIO : 0;
}

static int rename_file(struct files *self, const char *from, const char *to)
{
    return fails(self) ? -EIO : files_posix->rename(files_posix, from, to);
}

static int make_folder(struct files *self, const char *path, int mode)
{
    return fails(self) ? -ENOSPC : files_posix->mkdir(files_posix, path, mode);
}

static int unlink_file(struct files *self, const char *path)
{
    return fails(self) ? -EIO : files_posix->unlink(files_posix, path);
}

static int remove_folder(struct files *self, const char *path)
{
    return fails(self) ? -EIO : files_posix->rmdir(files_posix, path);
}

static void make_faulty(struct faulty *faulty, uint64_t fails_at, bool for_good)
{
    *faulty = (struct faulty){ .files = *files_posix, .fails_at = fails_at, .for_good = for_good };
    faulty->files.open = open_file;
    faulty->files.pwrite = write_some;
    faulty->files.fsync = sync_file;
    faulty->files.syncfs = NULL;
    faulty->files.rename = rename_file;
    faulty->files.mkdir = make_folder;
    faulty->files.unlink = unlink_file;
    faulty->files.rmdir = remove_folder;
}

static void fill(unsigned char *bytes, uint64_t step, uint32_t rank)
{
    for (uint32_t i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(i * 7 + step * 31 + rank * 3);
}

static int save_parts(struct files *files, const char *folder, uint64_t step, uint32_t era,
                      struct checkpoint_part parts[WORLD])
{
    unsigned char bytes[BYTES];
    int rv = 0;
    for (uint32_t rank = 0; rank < WORLD && rv == 0; rank++) {
        fill(bytes, step, rank);
        rv = checkpoint_write_part(files, folder, step, era, rank, bytes, BYTES - rank,
                                   &parts[rank], NULL);
    }
    return rv;
}

static int save(struct files *files, const char *folder, uint64_t step, uint32_t era)
{
    struct checkpoint_part parts[WORLD];
    int rv = save_parts(files, folder, step, era, parts);
    const struct checkpoint_manifest manifest = { step, era, WORLD, parts };
    return rv != 0 ? rv : checkpoint_commit(files, folder, &manifest, 2, NULL);
}

/* The newest whole checkpoint, whose parts have the bytes that were saved; 0: none. */
static uint64_t newest(const char *folder)
{
    struct checkpoint_manifest manifest;
    struct error damaged, error = { 0 };
    int rv = checkpoint_choose(files_posix, folder, WORLD, &manifest, &damaged, &error);
    if (rv == TR_ENOENT)
        return 0;
    assert_int_equal(rv, 0);
    for (uint32_t rank = 0; rank < WORLD; rank++) {
        unsigned char wanted[BYTES], bytes[BYTES];
        fill(wanted, manifest.step, rank);
        assert_int_equal(manifest.parts[rank].bytes, BYTES - rank);
        assert_int_equal(checkpoint_read_part(files_posix, folder, manifest.step, rank,
                                              &manifest.parts[rank], bytes, NULL),
                         0);
        assert_memory_equal(bytes, wanted, BYTES - rank);
    }
    uint64_t step = manifest.step;
    checkpoint_manifest_fini(&manifest);
    return step;
}

static void open_folder(char folder[64])
{
    assert_non_null(scratch_folder(folder, 64, "checkpoint"));
}

static void close_folder(const char *folder)
{
    assert_int_equal(files_remove_tree(files_posix, folder, NULL), 0);
}

/* step: what is saved while 4 and 8 are there; 8 again is what a later era may do. */
static void fail_everywhere(uint64_t step, bool for_good)
{
    for (uint64_t at = 1;; at++) {
        char folder[64];
        struct faulty none, faulty;
        open_folder(folder);
        make_faulty(&none, 0, false);
        assert_int_equal(save(&none.files, folder, 4, 1), 0);
        assert_int_equal(save(&none.files, folder, 8, 1), 0);
        make_faulty(&faulty, at, for_good);
        int rv = save(&faulty.files, folder, step, 2);
        uint64_t found = newest(folder);
        if (rv == 0)
            assert_int_equal(found, step);
        else
            assert_true(found == step || found == 8 || (step == 8 && found == 4));
        /* And the next one is as if nothing had been. */
        assert_int_equal(save(&none.files, folder, 20, 3), 0);
        assert_int_equal(newest(folder), 20);
        close_folder(folder);
        if (faulty.changes < at) {
            assert_int_equal(rv, 0);
            assert_true(at > 10);
            return;
        }
    }
}

static void failures_leave_a_whole_checkpoint(void **unused)
{
    (void)unused;
    fail_everywhere(12, false);
    fail_everywhere(12, true);
    fail_everywhere(8, false);
    fail_everywhere(8, true);
}

/* Once a save has failed there is no such checkpoint, and its parts are where they are dropped. */
static void a_save_that_failed_made_no_checkpoint(void **unused)
{
    (void)unused;
    uint32_t failed = 0;
    bool struck = true;
    for (uint64_t at = 1; struck; at++) {
        char folder[64];
        struct faulty faulty;
        struct checkpoint_manifest manifest;
        size_t count;
        uint64_t *steps;
        open_folder(folder);
        assert_int_equal(save(files_posix, folder, 4, 1), 0);
        make_faulty(&faulty, at, false);
        int rv = save(&faulty.files, folder, 8, 1);
        struck = faulty.changes >= at;
        failed += rv != 0;
        if (checkpoint_find(files_posix, folder, 8, &manifest, NULL) != (rv == 0 ? 0 : TR_ENOENT))
            fail_msg("change %d: a save that ended with %s", (int)at, tr_error_name(rv));
        checkpoint_manifest_fini(&manifest);
        for (uint32_t rank = 0; rank < WORLD && rv != 0; rank++)
            checkpoint_drop_part(files_posix, folder, 8, 1, rank);
        assert_int_equal(checkpoint_list(files_posix, folder, &steps, &count, NULL), 0);
        assert_int_equal(count, rv == 0 ? 2 : 1);
        free(steps);
        assert_int_equal(newest(folder), rv == 0 ? 8 : 4);
        close_folder(folder);
    }
    assert_true(failed > 10);
}

/* Nor is there one after a crash, which may lose any of what the disk did not sync: of the process that
 * commits, which is not that of the ranks, and of theirs where the machine crashes. */
static void a_save_that_failed_leaves_no_damaged_checkpoint(void **unused)
{
    (void)unused;
    uint32_t failed = 0;
    for (uint64_t seed = 0; seed < CRASH_SEEDS; seed++) {
        struct env *env;
        struct files_sim *disk;
        struct checkpoint_part parts[WORLD];
        struct checkpoint_manifest manifest;
        struct error damaged, error = { 0 };
        assert_int_equal(env_sim_create(seed, NULL, &env), 0);
        assert_int_equal(files_sim_create(env, &disk), 0);
        struct files *files = files_sim_mount(disk), *of_ranks = files_sim_mount(disk);
        assert_int_equal(save(files, "c", 4, 1), 0);
        assert_int_equal(save_parts(of_ranks, "c", 8, 1, parts), 0);
        const struct checkpoint_manifest saved = { 8, 1, WORLD, parts };
        files_sim_set_sync_fail(disk, 400000);
        bool made = checkpoint_commit(files, "c", &saved, 2, NULL) == 0;
        failed += !made;
        for (uint32_t rank = 0; rank < WORLD && !made; rank++)
            checkpoint_drop_part(of_ranks, "c", 8, 1, rank);
        files_sim_set_sync_fail(disk, 0);
        files_sim_kill(files);
        if (seed % 2 == 0)
            files_sim_kill(of_ranks);
        files = files_sim_mount(disk);
        assert_int_equal(checkpoint_choose(files, "c", WORLD, &manifest, &damaged, &error), 0);
        if (damaged.code != 0)
            fail_msg("seed %d: %s", (int)seed, damaged.text);
        /* All of the taking back may be lost, and the checkpoint is whole then. */
        assert_true(manifest.step == 8 || (manifest.step == 4 && !made));
        checkpoint_manifest_fini(&manifest);
        files_sim_destroy(disk);
        env_destroy(env);
    }
    assert_true(failed > CRASH_SEEDS / 4);
}

static void damage(const char *folder, uint64_t step, const char *name, long at)
{
    char path[128];
    snprintf(path, sizeof path, "%s/checkpoint-%d/%s", folder, (int)step, name);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    fputc(byte ^ 0x40, file);
    fclose(file);
}

static void damage_costs_steps_not_the_run(void **unused)
{
    (void)unused;
    static const char *const names[] = { "part0", "part2", "manifest.json" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char folder[64];
        open_folder(folder);
        assert_int_equal(save(files_posix, folder, 3, 1), 0);
        assert_int_equal(save(files_posix, folder, 6, 1), 0);
        damage(folder, 6, names[i], i == 2 ? 0 : 4990);
        struct checkpoint_manifest manifest;
        struct error damaged, error = { 0 };
        assert_int_equal(checkpoint_choose(files_posix, folder, WORLD, &manifest, &damaged, &error),
                         0);
        assert_int_equal(manifest.step, 3);
        assert_non_null(strstr(damaged.text, names[i]));
        checkpoint_manifest_fini(&manifest);
        assert_int_equal(
            checkpoint_choose(files_posix, folder, WORLD + 1, &manifest, &damaged, &error),
            TR_EMISMATCH);
        damage(folder, 3, "part1", 0);
        assert_int_equal(newest(folder), 0);
        close_folder(folder);
    }
}

static int list_folder(struct files *self, const char *path,
                       int (*visit)(void *arg, const char *name), void *arg)
{
    return fails(self) ? -EIO : files_posix->list(files_posix, path, visit, arg);
}

/* Whichever look at the disk fails, the newest checkpoint is found or nothing is: an older one, or
 * none, would not be the truth. A manifest that is given to such a host again stays there with its
 * parts. */
static void what_cannot_be_read_is_not_passed_over(void **unused)
{
    struct faulty faulty;
    char folder[64];
    (void)unused;
    open_folder(folder);
    assert_int_equal(save(files_posix, folder, 3, 1), 0);
    assert_int_equal(save(files_posix, folder, 6, 1), 0);
    bool failed = true;
    for (uint64_t at = 1; failed; at++) {
        struct checkpoint_manifest manifest, newest_one;
        struct error damaged, error = { 0 };
        make_faulty(&faulty, at, false);
        faulty.files.list = list_folder;
        int rv = checkpoint_choose(&faulty.files, folder, WORLD, &manifest, &damaged, &error);
        failed = faulty.changes >= at;
        assert_true(rv == 0 ? manifest.step == 6 && damaged.code == 0 : rv == TR_EIO);
        checkpoint_manifest_fini(&manifest);
        assert_int_equal(newest(folder), 6);

        make_faulty(&faulty, at, false);
        faulty.files.list = list_folder;
        rv = checkpoint_newest(&faulty.files, folder, UINT64_MAX, &manifest, NULL, &error);
        assert_true(rv == 0 ? manifest.step == 6 : rv == TR_EIO);
        checkpoint_manifest_fini(&manifest);

        assert_int_equal(checkpoint_find(files_posix, folder, 6, &newest_one, NULL), 0);
        make_faulty(&faulty, at, false);
        rv = checkpoint_read_saved(&faulty.files, folder, 6, 1, 1, &newest_one.parts[1], NULL,
                                   &error);
        assert_true(rv == 0 || rv == TR_EIO);
        make_faulty(&faulty, at, false);
        (void)checkpoint_receive(&faulty.files, folder, &newest_one, 2, &error);
        checkpoint_manifest_fini(&newest_one);
        assert_int_equal(newest(folder), 6);
    }
    close_folder(folder);
}

/* A folder that is a link, or below one, to a disk that is not mounted may have any checkpoints; so
 * may a file where a folder should be. One that nobody made has none. */
static void a_folder_whose_disk_is_away_is_no_empty_one(void **unused)
{
    static const char *const away[] = { "link", "link/", "link/run", "link/run/2", "file" };
    static const char *const empty[] = { "nothing", "nothing/run", "full/run", "file/run" };
    struct checkpoint_manifest manifest;
    struct error damaged, error = { 0 };
    char folder[64], path[128];
    (void)unused;
    open_folder(folder);
    snprintf(path, sizeof path, "%s/full", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/file", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    snprintf(path, sizeof path, "%s/link", folder);
    assert_int_equal(symlink("mount", path), 0);
    for (size_t i = 0; i < sizeof away / sizeof *away; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, away[i]);
        assert_true(checkpoint_is_any(files_posix, path));
        assert_int_equal(checkpoint_choose(files_posix, path, WORLD, &manifest, &damaged, &error),
                         TR_EIO);
        assert_int_equal(checkpoint_newest(files_posix, path, UINT64_MAX, &manifest, NULL, &error),
                         TR_EIO);
        assert_non_null(strstr(error.text, path));
    }
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, empty[i]);
        assert_false(checkpoint_is_any(files_posix, path));
        assert_int_equal(checkpoint_choose(files_posix, path, WORLD, &manifest, &damaged, &error),
                         TR_ENOENT);
        assert_int_equal(checkpoint_newest(files_posix, path, UINT64_MAX, &manifest, NULL, &error),
                         TR_ENOENT);
    }
    snprintf(path, sizeof path, "%s/mount", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(save(files_posix, path, 3, 1), 0);
    snprintf(path, sizeof path, "%s/link", folder);
    assert_int_equal(newest(path), 3);
    close_folder(folder);
}

/* As by a trainer whose host has another folder under that name. */
static void a_part_that_is_not_here_makes_no_checkpoint(void **unused)
{
    (void)unused;
    char folder[64], path[128];
    unsigned char bytes[BYTES];
    struct checkpoint_part parts[WORLD];
    struct error error = { 0 };
    open_folder(folder);
    assert_int_equal(save(files_posix, folder, 3, 1), 0);
    for (uint32_t rank = 0; rank < WORLD; rank++) {
        fill(bytes, 6, rank);
        assert_int_equal(checkpoint_write_part(files_posix, folder, 6, 1, rank, bytes, BYTES,
                                               &parts[rank], NULL),
                         0);
    }
    const struct checkpoint_manifest manifest = { 6, 1, WORLD, parts };
    snprintf(path, sizeof path, "%s/6-1.tmp/part2", folder);
    assert_int_equal(files_remove_tree(files_posix, path, NULL), 0);
    assert_int_equal(checkpoint_commit(files_posix, folder, &manifest, 2, &error), TR_EMISMATCH);
    assert_non_null(strstr(error.text, path));
    assert_int_equal(newest(folder), 3);
    close_folder(folder);
}

/* The checkpoint of another era, or one without its manifest, goes when one of that step is made: a
 * host that has the same bytes there has no part of the new one yet. */
static void a_part_counts_beside_the_manifest_of_its_era(void **unused)
{
    (void)unused;
    char folder[64], path[128];
    unsigned char bytes[BYTES];
    struct checkpoint_manifest manifest;
    struct checkpoint_part part;
    struct error error = { 0 };
    open_folder(folder);
    assert_int_equal(save(files_posix, folder, 6, 1), 0);
    assert_int_equal(checkpoint_find(files_posix, folder, 6, &manifest, NULL), 0);
    part = manifest.parts[1];
    checkpoint_manifest_fini(&manifest);
    assert_int_equal(checkpoint_read_saved(files_posix, folder, 6, 1, 1, &part, bytes, NULL), 0);
    assert_int_equal(checkpoint_read_saved(files_posix, folder, 6, 2, 1, &part, NULL, &error),
                     TR_ENOENT);
    assert_non_null(strstr(error.text, "the checkpoint of step 6 belongs to era 1 instead of 2"));
    snprintf(path, sizeof path, "%s/checkpoint-6/" CHECKPOINT_MANIFEST, folder);
    assert_int_equal(files_remove_tree(files_posix, path, NULL), 0);
    assert_int_equal(checkpoint_read_saved(files_posix, folder, 6, 1, 1, &part, NULL, NULL),
                     TR_ENOENT);
    /* What is on its way is the era's own. */
    assert_int_equal(checkpoint_write_part(files_posix, folder, 6, 2, 1, bytes, BYTES, &part, NULL),
                     0);
    assert_int_equal(checkpoint_read_saved(files_posix, folder, 6, 2, 1, &part, NULL, NULL), 0);
    close_folder(folder);
}

/* It may be reported by then, and the checkpoint be made of it at any time. */
static void a_part_saved_again_stays_whole(void **unused)
{
    (void)unused;
    char folder[64];
    unsigned char bytes[BYTES], other[BYTES];
    struct checkpoint_part part, again;
    struct faulty faulty;
    open_folder(folder);
    fill(bytes, 6, 1);
    fill(other, 7, 1);
    assert_int_equal(checkpoint_write_part(files_posix, folder, 6, 1, 1, bytes, BYTES, &part, NULL),
                     0);
    bool struck = true;
    for (uint64_t fails_at = 1; struck; fails_at++) {
        make_faulty(&faulty, fails_at, fails_at % 2 == 0);
        (void)checkpoint_write_part(&faulty.files, folder, 6, 1, 1, bytes, BYTES, &again, NULL);
        assert_int_equal(checkpoint_read_saved(files_posix, folder, 6, 1, 1, &part, NULL, NULL), 0);
        /* Other bytes are there as a whole, or the ones before are. */
        make_faulty(&faulty, fails_at, fails_at % 2 == 0);
        (void)checkpoint_write_part(&faulty.files, folder, 6, 1, 1, other, BYTES, &again, NULL);
        struck = faulty.changes >= fails_at;
        if (checkpoint_read_saved(files_posix, folder, 6, 1, 1, &part, NULL, NULL) != 0)
            assert_int_equal(
                checkpoint_read_saved(files_posix, folder, 6, 1, 1, &again, NULL, NULL), 0);
        assert_int_equal(
            checkpoint_write_part(files_posix, folder, 6, 1, 1, bytes, BYTES, &again, NULL), 0);
    }
    assert_int_equal(checkpoint_read_saved(files_posix, folder, 6, 1, 1, &part, NULL, NULL), 0);
    close_folder(folder);
}

/* A manifest whose parts are on another host, as they are sent to this one. */
struct cluster_fixture {
    char folder[64];
    unsigned char bytes[BYTES];
    struct checkpoint_part parts[WORLD];
    struct checkpoint_manifest manifest;
};

static void make_spread(struct cluster_fixture *fixture)
{
    unsigned char bytes[BYTES];
    open_folder(fixture->folder);
    fill(fixture->bytes, 6, 1);
    for (uint32_t rank = 0; rank < WORLD; rank++) {
        fill(bytes, 6, rank);
        fixture->parts[rank] = (struct checkpoint_part){ BYTES, crc32c(0, bytes, BYTES) };
    }
    fixture->manifest = (struct checkpoint_manifest){ 6, 1, WORLD, fixture->parts };
}

static void receive_manifest(void *arg)
{
    const struct cluster_fixture *fixture = arg;
    assert_int_equal(checkpoint_receive(files_posix, fixture->folder, &fixture->manifest, 2, NULL),
                     0);
}

/* A part is put back while the manifest comes, at each moment of it: it ends in its checkpoint. */
static void a_part_that_is_put_back_meets_its_manifest(void **unused)
{
    bool struck = true;
    (void)unused;
    for (uint64_t at = 1; struck; at++) {
        struct cluster_fixture fixture;
        struct faulty faulty;
        struct error error = { 0 };
        make_spread(&fixture);
        make_faulty(&faulty, at, false);
        faulty.instead = receive_manifest;
        faulty.arg = &fixture;
        if (checkpoint_keep_part(&faulty.files, fixture.folder, 6, 1, 1, fixture.bytes, BYTES,
                                 &error) != 0)
            fail_msg("change %d: %s", (int)at, error.text);
        struck = faulty.changes >= at;
        receive_manifest(&fixture);
        if (checkpoint_read_part(files_posix, fixture.folder, 6, 1, &fixture.parts[1], NULL,
                                 &error) != 0)
            fail_msg("change %d: %s", (int)at, error.text);
        close_folder(fixture.folder);
        assert_true(struck || at > 5);
    }
}

static int name_aside(void *arg, const char *name)
{
    size_t length = strlen(name);
    (void)arg;
    if (length > 4 && strcmp(name + length - 4, ".tmp") == 0)
        fail_msg("%s is left", name);
    return 0;
}

/* A part that did not fit is removed at once: the disk that it was too much for is still full. */
static void a_full_disk_keeps_no_half_of_a_part(void **unused)
{
    bool struck = true;
    (void)unused;
    for (uint64_t at = 1; struck; at++) {
        struct cluster_fixture fixture;
        struct faulty faulty;
        char inside[100];
        make_spread(&fixture);
        receive_manifest(&fixture);
        make_faulty(&faulty, at, false);
        int rv = checkpoint_keep_part(&faulty.files, fixture.folder, 6, 1, 1, fixture.bytes, BYTES,
                                      NULL);
        struck = faulty.changes >= at;
        assert_true(struck || rv == 0);
        snprintf(inside, sizeof inside, "%s/checkpoint-6", fixture.folder);
        assert_int_equal(files_posix->list(files_posix, inside, name_aside, NULL), 0);
        /* The same for what another host sends of it, where writing is what fails. */
        make_faulty(&faulty, at, false);
        const struct checkpoint_piece piece = { 8, 0, 1, 1, fixture.parts[1], BYTES };
        rv = checkpoint_write_piece(&faulty.files, fixture.folder, &piece, fixture.bytes, NULL);
        snprintf(inside, sizeof inside, "%s/8-1.tmp/part1.copy", fixture.folder);
        assert_true(rv != TR_ENOSPC || !files_exists(files_posix, inside));
        close_folder(fixture.folder);
    }
}

static void a_folder_without_a_checkpoint_is_told(void **unused)
{
    (void)unused;
    char folder[64];
    struct checkpoint_manifest manifest;
    struct error damaged, error = { 0 };
    open_folder(folder);
    assert_int_equal(checkpoint_choose(files_posix, folder, WORLD, &manifest, &damaged, &error),
                     TR_ENOENT);
    assert_non_null(strstr(error.text, folder));
    assert_int_equal(save(files_posix, folder, 3, 1), 0);
    damage(folder, 3, "part1", 0);
    error = (struct error){ 0 };
    assert_int_equal(checkpoint_choose(files_posix, folder, WORLD, &manifest, &damaged, &error),
                     TR_ENOENT);
    assert_non_null(strstr(error.text, "part1"));
    close_folder(folder);
}

static void only_the_newest_are_kept(void **unused)
{
    (void)unused;
    char folder[64];
    struct checkpoint_manifest manifest;
    open_folder(folder);
    assert_int_equal(newest(folder), 0);
    for (uint64_t step = 9; step <= 12; step++)
        assert_int_equal(save(files_posix, folder, step, 1), 0);
    for (uint64_t step = 9; step <= 12; step++) {
        int rv = checkpoint_find(files_posix, folder, step, &manifest, NULL);
        assert_int_equal(rv, step <= 10 ? TR_ENOENT : 0);
        checkpoint_manifest_fini(&manifest);
    }
    close_folder(folder);
    assert_int_equal(newest(folder), 0);
}

/* Where the newest are damaged and the run goes on before them, what it saves takes their place. */
static void a_damaged_one_is_not_kept_for_a_whole_one(void **unused)
{
    (void)unused;
    char folder[64];
    open_folder(folder);
    assert_int_equal(save(files_posix, folder, 9, 1), 0);
    assert_int_equal(save(files_posix, folder, 12, 1), 0);
    damage(folder, 9, "part0", 0);
    damage(folder, 12, "part1", 0);
    assert_int_equal(newest(folder), 0);
    for (uint64_t step = 3; step <= 15; step += 3) {
        assert_int_equal(save(files_posix, folder, step, 2), 0);
        assert_int_equal(newest(folder), step);
    }
    struct checkpoint_manifest manifest;
    for (uint64_t step = 3; step <= 15; step += 3) {
        assert_int_equal(checkpoint_find(files_posix, folder, step, &manifest, NULL),
                         step < 12 ? TR_ENOENT : 0);
        checkpoint_manifest_fini(&manifest);
    }
    close_folder(folder);
}

/* A host that made a checkpoint and kept those before it retires them when it hears of it again. */
static void what_was_made_before_retires_older_ones(void **unused)
{
    (void)unused;
    char folder[64];
    struct checkpoint_part parts[WORLD] = { { 0, 0 } };
    uint64_t *steps;
    size_t count;
    open_folder(folder);
    for (uint64_t step = 3; step <= 9; step += 3) {
        const struct checkpoint_manifest manifest = { step, 1, WORLD, parts };
        assert_int_equal(
            checkpoint_receive(files_posix, folder, &manifest, CHECKPOINT_KEEP_ALL, NULL), 0);
    }
    assert_int_equal(checkpoint_list(files_posix, folder, &steps, &count, NULL), 0);
    assert_int_equal(count, 3);
    free(steps);
    const struct checkpoint_manifest newest_one = { 9, 1, WORLD, parts };
    assert_int_equal(checkpoint_receive(files_posix, folder, &newest_one, 2, NULL), 0);
    assert_int_equal(checkpoint_list(files_posix, folder, &steps, &count, NULL), 0);
    assert_int_equal(count, 2);
    assert_true(steps[0] == 9 && steps[1] == 6);
    free(steps);
    close_folder(folder);
}

/* Counts how often the step behind the removal of older checkpoints is passed. */
struct pruned_step {
    struct failpoints failpoints;
    const char *folder;
    uint64_t removed; /* the step whose checkpoint has to be gone by then */
    uint32_t passed;
};

static void pass_pruned(struct failpoints *self, enum failpoint point)
{
    struct pruned_step *pruned = (struct pruned_step *)self;
    struct file_facts facts;
    if (point != FAILPOINT_CHECKPOINT_PRUNED)
        return;
    char *path = checkpoint_path(pruned->folder, pruned->removed);
    assert_non_null(path);
    assert_int_equal(files_posix->stat(files_posix, path, &facts), -ENOENT);
    free(path);
    pruned->passed++;
}

/* A process can die behind the removal of older checkpoints, whoever removes them: the host that
 * makes one alone, and each of several hosts when two of them have the newer one. */
static void the_removal_of_older_ones_is_a_step(void **unused)
{
    (void)unused;
    char folder[64];
    struct checkpoint_part parts[WORLD] = { { 0, 0 } };
    const struct checkpoint_manifest manifest = { 9, 1, WORLD, parts };
    struct pruned_step pruned = { .failpoints = { pass_pruned }, .folder = folder, .removed = 1 };
    struct files files = *files_posix;
    open_folder(folder);
    for (uint64_t step = 1; step <= 2; step++)
        assert_int_equal(save(&files, folder, step, 1), 0);
    files.failpoints = &pruned.failpoints;
    assert_int_equal(save(&files, folder, 3, 1), 0);
    assert_int_equal(pruned.passed, 1);
    assert_int_equal(checkpoint_receive(&files, folder, &manifest, CHECKPOINT_KEEP_ALL, NULL), 0);
    assert_int_equal(pruned.passed, 1);
    pruned.removed = 2;
    assert_int_equal(checkpoint_receive(&files, folder, &manifest, 2, NULL), 0);
    assert_int_equal(pruned.passed, 2);
    pruned.removed = 3;
    checkpoint_retire(&files, folder, 9, 1);
    assert_int_equal(pruned.passed, 3);
    close_folder(folder);
}

#define PART(rank) "{\"rank\": " #rank ", \"bytes\": 10, \"crc32c\": 4294967295}"
#define MANIFEST(step, era, world, parts) \
    "{\"step\": " step ", \"era\": " era ", \"world\": " world ", \"parts\": [" parts "]}"

/* A manifest says the same when it is read as when it was written, and none that cannot be one is
 * taken, each bound to the last value. */
static void a_manifest_is_read_as_it_was_written(void **unused)
{
    static const char *const good[] = {
        MANIFEST("0", "0", "1", PART(0)),
        MANIFEST("9223372036854775807", "4294967294", "2", PART(0) "," PART(1)),
        MANIFEST("1", "1", "1", "{\"rank\": 0, \"bytes\": 0, \"crc32c\": 0}"),
    };
    static const char *const bad[][2] = {
        { "", "m.json: line 1" },
        { "[]", "m.json: " },
        { "{\"step\": 1}", "m.json: era: is missing; an integer is needed" },
        { MANIFEST("\"x\"", "0", "1", PART(0)),
          "m.json: step: an integer is needed, not a string" },
        { MANIFEST("-1", "0", "1", PART(0)), "step: a count is needed, a negative number is not" },
        { MANIFEST("0", "-1", "1", PART(0)), "era: a count is needed, a negative number is not" },
        { MANIFEST("0", "4294967295", "1", PART(0)), "era: 4294967295 is above 4294967294" },
        { MANIFEST("0", "0", "0", ""), "parts: has 0 parts for a world of 0 ranks" },
        { MANIFEST("0", "0", "65537", PART(0)), "world: 65537 is above 65536" },
        { MANIFEST("0", "0", "65536", PART(0)), "parts: has 1 parts for a world of 65536 ranks" },
        { MANIFEST("0", "0", "2", PART(0)), "parts: has 1 parts for a world of 2 ranks" },
        { MANIFEST("0", "0", "1", PART(0) "," PART(1)), "parts: has 2 parts for a world of 1 " },
        { MANIFEST("0", "0", "2", PART(1) "," PART(0)), "parts[0]: is not a part of rank 0" },
        { MANIFEST("0", "0", "2", PART(0) "," PART(0)), "parts[1]: is not a part of rank 1" },
        { MANIFEST("0", "0", "1", "3"), "parts[0]: an object is needed, not an integer" },
        { MANIFEST("0", "0", "1", "{\"rank\": 0, \"bytes\": -1, \"crc32c\": 0}"),
          "parts[0].bytes: a count is needed" },
        { MANIFEST("0", "0", "1", "{\"rank\": 0, \"bytes\": 1, \"crc32c\": -1}"),
          "parts[0].crc32c: a count is needed" },
        { MANIFEST("0", "0", "1", "{\"rank\": 0, \"bytes\": 1, \"crc32c\": 4294967296}"),
          "parts[0].crc32c: 4294967296 is above 4294967295" },
        { MANIFEST("0", "0", "1", "{\"rank\": 0, \"bytes\": 1}"),
          "parts[0].crc32c: is missing; an integer is needed" },
        { "{\"step\": 1, \"era\": 1, \"world\": 1, \"parts\": {}}",
          "parts: an array is needed, not an object" },
        { "{\"step\": 1, \"step\": 1, \"era\": 1, \"world\": 1, \"parts\": [" PART(0) "]}",
          "is there twice" },
    };
    struct checkpoint_manifest manifest;
    (void)unused;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct checkpoint_manifest again;
        struct error error = { 0 };
        assert_int_equal(
            checkpoint_from_json("m.json", good[i], strlen(good[i]), &manifest, &error), 0);
        char *text = checkpoint_to_json(&manifest);
        assert_non_null(text);
        assert_int_equal(checkpoint_from_json("m.json", text, strlen(text), &again, &error), 0);
        assert_true(manifest.step == again.step && manifest.era == again.era &&
                    manifest.world == again.world);
        for (uint32_t rank = 0; rank < again.world; rank++) {
            assert_int_equal(manifest.parts[rank].bytes, again.parts[rank].bytes);
            assert_int_equal(manifest.parts[rank].bytes, i == 2 ? 0 : 10);
            assert_int_equal(manifest.parts[rank].crc32c, again.parts[rank].crc32c);
            assert_int_equal(manifest.parts[rank].crc32c, i == 2 ? 0 : UINT32_MAX);
        }
        assert_int_equal(manifest.step, i == 0 ? 0 : i == 1 ? INT64_MAX : 1);
        assert_int_equal(manifest.era, i == 0 ? 0 : i == 1 ? UINT32_MAX - 1 : 1);
        free(text);
        checkpoint_manifest_fini(&manifest);
        checkpoint_manifest_fini(&again);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error error = { 0 };
        int rv = checkpoint_from_json("m.json", bad[i][0], strlen(bad[i][0]), &manifest, &error);
        if (rv != TR_EFORMAT || strstr(error.text, bad[i][1]) == NULL ||
            strstr(error.text, "m.json") == NULL)
            fail_msg("%s: %d \"%s\"", bad[i][0], rv, error.text);
        assert_null(manifest.parts);
    }
}

/* Folders are read by their names: what is not named as a checkpoint is another's and stays. */
static void only_names_of_checkpoints_are_theirs(void **unused)
{
    static const struct {
        const char *name;
        bool named;
        uint64_t step;
    } names[] = {
        { "checkpoint-0", true, 0 },
        { "checkpoint-9", true, 9 },
        { "checkpoint-10", true, 10 },
        { "checkpoint-9999999999999999999", true, UINT64_C(9999999999999999999) },
        { "checkpoint-10000000000000000000", false, 0 },
        { "checkpoint-", false, 0 },
        { "checkpoint", false, 0 },
        { "checkpoint-00", false, 0 },
        { "checkpoint-07", false, 0 },
        { "checkpoint-+7", false, 0 },
        { "checkpoint- 7", false, 0 },
        { "checkpoint-7.tmp", false, 0 },
        { "checkpoint-7a", false, 0 },
        { "checkpoint-/", false, 0 },
        { "checkpoint-:", false, 0 },
        { "Checkpoint-7", false, 0 },
        { "checkpoint_7", false, 0 },
    };
    static const struct {
        const char *name;
        bool named;
        uint64_t step;
        uint32_t era;
    } asides[] = {
        { "0-0.tmp", true, 0, 0 },   { "9-1.tmp", true, 9, 1 },   { "120-34.tmp", true, 120, 34 },
        { "9-1.tmp2", false, 0, 0 }, { "9-1.tm", false, 0, 0 },   { "9-1", false, 0, 0 },
        { "9.tmp", false, 0, 0 },    { "-9-1.tmp", false, 0, 0 }, { " 9-1.tmp", false, 0, 0 },
        { "/9-1.tmp", false, 0, 0 }, { ":9-1.tmp", false, 0, 0 }, { "", false, 0, 0 },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint64_t step = 5;
        if (checkpoint_name_step(names[i].name, &step) != names[i].named)
            fail_msg("%s", names[i].name);
        assert_true(!names[i].named || step == names[i].step);
    }
    for (size_t i = 0; i < sizeof asides / sizeof *asides; i++) {
        uint64_t step = 5;
        uint32_t era = 6;
        if (checkpoint_name_aside(asides[i].name, &step, &era) != asides[i].named)
            fail_msg("%s", asides[i].name);
        assert_true(!asides[i].named || (step == asides[i].step && era == asides[i].era));
    }
    char *path = checkpoint_path("f", 12), *aside = checkpoint_path_aside("f", 12, 3),
         *part = checkpoint_part_path("f", 7), *fresh = checkpoint_fresh_path("f", ".new");
    assert_string_equal(path, "f/checkpoint-12");
    assert_string_equal(aside, "f/12-3.tmp");
    assert_string_equal(part, "f/part7");
    assert_string_equal(fresh, "f.new");
    free(path);
    free(aside);
    free(part);
    free(fresh);
}

static void expect_unread(const char *folder, const struct checkpoint_piece *piece, int code,
                          const char *says)
{
    unsigned char bytes[BYTES];
    struct error error = { 0 };
    int rv = checkpoint_read_piece(files_posix, folder, piece, bytes, &error);
    if (rv != code || error.code != code || strstr(error.text, says) == NULL)
        fail_msg("%d, %d \"%s\"", rv, error.code, error.text);
    assert_int_equal(checkpoint_read_piece(files_posix, folder, piece, bytes, NULL), code);
}

/* A piece that cannot be read is an error that names the file, in the committed checkpoint, where
 * it was looked for last. */
static void a_piece_that_is_not_there_is_named(void **unused)
{
    unsigned char written[BYTES], read[BYTES];
    struct checkpoint_part parts[WORLD];
    char folder[64];
    (void)unused;
    open_folder(folder);
    fill(written, 4, 1);
    for (uint32_t rank = 0; rank < WORLD; rank++)
        assert_int_equal(checkpoint_write_part(files_posix, folder, 4, 1, rank, written, BYTES,
                                               &parts[rank], NULL),
                         0);
    struct checkpoint_piece piece = {
        .step = 4, .era = 1, .rank = 1, .part = parts[1], .offset = 10, .count = BYTES - 10
    };
    assert_int_equal(checkpoint_read_piece(files_posix, folder, &piece, read, NULL), 0);
    assert_memory_equal(read, written + 10, BYTES - 10);
    const struct checkpoint_manifest manifest = { 4, 1, WORLD, parts };
    assert_int_equal(checkpoint_commit(files_posix, folder, &manifest, 3, NULL), 0);
    piece.offset = BYTES - 1;
    piece.count = 1;
    assert_int_equal(checkpoint_read_piece(files_posix, folder, &piece, read, NULL), 0);
    assert_int_equal(read[0], written[BYTES - 1]);
    piece.part.bytes++;
    expect_unread(folder, &piece, TR_EFORMAT,
                  "checkpoint-4/part1: 5000 bytes where its manifest says 5001");
    piece.rank = WORLD;
    expect_unread(folder, &piece, TR_ENOENT, "checkpoint-4/part3");
    piece.step = 5;
    expect_unread(folder, &piece, TR_ENOENT, "checkpoint-5/part3");
    close_folder(folder);
}

static void make_file(const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

static bool is_there(const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return files_exists(files_posix, path);
}

/* Choosing clears away what was begun and never made, and leaves alone what is not its own. */
static void what_was_never_made_is_removed(void **unused)
{
    static const char *const own[] = { "7-2.tmp", "0-0.tmp", "9.tmp", "checkpoint-7" };
    static const char *const others[] = { "x7-2.tmp", ".tmp", "7-2.tmpx", "checkpoint-07",
                                          "notes" };
    char folder[64], path[128];
    uint64_t *steps;
    size_t count;
    struct checkpoint_manifest manifest;
    struct error damaged, error = { 0 };
    (void)unused;
    open_folder(folder);
    assert_false(checkpoint_is_any(files_posix, folder));
    assert_int_equal(checkpoint_list(files_posix, folder, &steps, &count, &error), 0);
    assert_int_equal(count, 0);
    free(steps);
    static const uint64_t saved[] = { 9, 100, 20 };
    for (size_t i = 0; i < 3; i++) {
        struct checkpoint_part parts[WORLD];
        unsigned char bytes[BYTES];
        for (uint32_t rank = 0; rank < WORLD; rank++) {
            fill(bytes, saved[i], rank);
            assert_int_equal(checkpoint_write_part(files_posix, folder, saved[i], 1, rank, bytes,
                                                   BYTES - rank, &parts[rank], NULL),
                             0);
        }
        manifest = (struct checkpoint_manifest){ saved[i], 1, WORLD, parts };
        assert_int_equal(checkpoint_commit(files_posix, folder, &manifest, 3, NULL), 0);
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, own[i]);
        assert_int_equal(files_make_folders(files_posix, path, NULL), 0);
        make_file(path, "part0");
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        make_file(folder, others[i]);
    assert_int_equal(newest(folder), 100);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        assert_false(is_there(folder, own[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(is_there(folder, others[i]));
    assert_true(checkpoint_is_any(files_posix, folder));
    assert_int_equal(checkpoint_list(files_posix, folder, &steps, &count, &error), 0);
    assert_int_equal(count, 3);
    assert_true(steps[0] == 100 && steps[1] == 20 && steps[2] == 9);
    free(steps);
    /* A checkpoint of another number of trainers is named, and what the caller got holds
     * nothing. */
    int rv = checkpoint_choose(files_posix, folder, WORLD + 1, &manifest, &damaged, &error);
    assert_int_equal(rv, TR_EMISMATCH);
    assert_non_null(strstr(error.text, "of step 100 was saved by 3 trainers"));
    assert_null(manifest.parts);
    /* The newest damage is what a person has to know of. */
    damage(folder, 100, "part2", 1);
    damage(folder, 20, "part0", 1);
    assert_int_equal(checkpoint_choose(files_posix, folder, WORLD, &manifest, &damaged, &error), 0);
    assert_int_equal(manifest.step, 9);
    assert_int_equal(damaged.code, TR_EFORMAT);
    assert_non_null(strstr(damaged.text, "checkpoint-100/part2: its checksum is "));
    checkpoint_manifest_fini(&manifest);
    assert_int_equal(checkpoint_prune(files_posix, folder, 1, NULL), 0);
    assert_true(is_there(folder, "checkpoint-100") && !is_there(folder, "checkpoint-20") &&
                !is_there(folder, "checkpoint-9"));
    close_folder(folder);
    assert_int_equal(checkpoint_choose(files_posix, folder, WORLD, &manifest, &damaged, &error),
                     TR_ENOENT);
    assert_true(damaged.code == 0 && strstr(error.text, "no checkpoint") != NULL);
    assert_false(checkpoint_is_any(files_posix, folder));
}

/* A folder that another step's name was given to is not believed; nor is a part that is longer or
 * shorter than its manifest says. */
static void what_does_not_fit_its_manifest_is_refused(void **unused)
{
    char folder[64], from[128], to[128];
    struct checkpoint_manifest manifest;
    struct error error = { 0 };
    (void)unused;
    open_folder(folder);
    assert_int_equal(save(files_posix, folder, 4, 1), 0);
    assert_int_equal(checkpoint_find(files_posix, folder, 4, &manifest, &error), 0);
    for (uint32_t rank = 0; rank < WORLD; rank++)
        for (int less = -1; less <= 1; less++) {
            struct checkpoint_part part = manifest.parts[rank];
            part.bytes += (uint64_t)(int64_t)less;
            int rv = checkpoint_read_part(files_posix, folder, 4, rank, &part, NULL, &error);
            assert_int_equal(rv, less == 0 ? 0 : TR_EFORMAT);
            if (less != 0)
                assert_non_null(strstr(error.text, " bytes where its manifest says "));
            part = manifest.parts[rank];
            part.crc32c++;
            rv = checkpoint_read_part(files_posix, folder, 4, rank, &part, NULL, &error);
            assert_int_equal(rv, TR_EFORMAT);
            assert_non_null(strstr(error.text, "it is damaged"));
        }
    checkpoint_manifest_fini(&manifest);
    snprintf(from, sizeof from, "%s/checkpoint-4", folder);
    snprintf(to, sizeof to, "%s/checkpoint-5", folder);
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(checkpoint_find(files_posix, folder, 5, &manifest, &error), TR_EFORMAT);
    assert_non_null(strstr(error.text, "the manifest says step 4"));
    assert_null(manifest.parts);
    /* A folder with a name of its own, as a person copied it, promises no step. */
    snprintf(from, sizeof from, "%s/mine", folder);
    assert_int_equal(rename(to, from), 0);
    assert_int_equal(checkpoint_read_manifest(files_posix, from, &manifest, &error), 0);
    assert_int_equal(manifest.step, 4);
    checkpoint_manifest_fini(&manifest);
    close_folder(folder);
}

/* A part that is dropped leaves no half of it, and the parts of other ranks until they go too. */
static void a_dropped_part_leaves_nothing(void **unused)
{
    char folder[64], aside[128];
    struct checkpoint_part part;
    (void)unused;
    open_folder(folder);
    snprintf(aside, sizeof aside, "%s/6-2.tmp", folder);
    for (uint32_t rank = 0; rank < 2; rank++)
        assert_int_equal(
            checkpoint_write_part(files_posix, folder, 6, 2, rank, "abc", 3, &part, NULL), 0);
    assert_int_equal(part.bytes, 3);
    assert_int_equal(part.crc32c, crc32c(0, "abc", 3));
    make_file(aside, "part0.copy");
    make_file(aside, "manifest.json");
    checkpoint_drop_part(files_posix, folder, 6, 2, 0);
    assert_false(is_there(aside, "part0") || is_there(aside, "part0.copy"));
    assert_false(is_there(aside, "manifest.json"));
    assert_true(is_there(aside, "part1"));
    checkpoint_drop_part(files_posix, folder, 6, 2, 1);
    assert_false(files_exists(files_posix, aside));
    close_folder(folder);
}

#define PIECE ((size_t)8 << 20) /* checked and written at once */

/* Parts of several pieces, the last of which is short, whole or a byte. */
static void parts_of_several_pieces_are_whole(void **unused)
{
    static const size_t sizes[] = { PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 5 };
    unsigned char *wanted = malloc(2 * PIECE + 5), *bytes = malloc(2 * PIECE + 5);
    (void)unused;
    assert_true(wanted != NULL && bytes != NULL);
    for (size_t i = 0; i < 2 * PIECE + 5; i++)
        wanted[i] = (unsigned char)(i * 7 + i / 251);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char folder[64];
        struct checkpoint_part part;
        open_folder(folder);
        assert_int_equal(
            checkpoint_write_part(files_posix, folder, 1, 1, 0, wanted, sizes[i], &part, NULL), 0);
        const struct checkpoint_manifest manifest = { 1, 1, 1, &part };
        assert_int_equal(checkpoint_commit(files_posix, folder, &manifest, 1, NULL), 0);
        memset(bytes, 0, sizes[i]);
        assert_int_equal(checkpoint_read_part(files_posix, folder, 1, 0, &part, bytes, NULL), 0);
        assert_memory_equal(bytes, wanted, sizes[i]);
        assert_int_equal(checkpoint_verify(files_posix, folder, &manifest, NULL), 0);
        damage(folder, 1, "part0", (long)sizes[i] - 1);
        assert_int_equal(checkpoint_verify(files_posix, folder, &manifest, NULL), TR_EFORMAT);
        close_folder(folder);
    }
    free(wanted);
    free(bytes);
}

/* A copy that came from another host gets a part's name when its last piece is there, and only if
 * it is the part that was meant: a bit that is wrong in any piece, or a piece that was left out, is
 * refused. */
static void a_part_that_came_wrong_gets_no_name(void **unused)
{
    enum { FIRST = 3000, WHOLE, BAD_FIRST, BAD_LAST, HOLE, CASES };
    (void)unused;
    for (int wrong = WHOLE; wrong < CASES; wrong++) {
        char folder[64], named[128];
        unsigned char bytes[BYTES], sent[BYTES], got[BYTES];
        struct checkpoint_part part;
        struct error error = { 0 };
        open_folder(folder);
        fill(bytes, 6, 1);
        /* The part that is meant: as another rank's it lies elsewhere. */
        assert_int_equal(
            checkpoint_write_part(files_posix, folder, 5, 1, 1, bytes, BYTES, &part, NULL), 0);
        memcpy(sent, bytes, BYTES);
        sent[0] ^= wrong == BAD_FIRST;
        sent[BYTES - 1] ^= wrong == BAD_LAST;
        const struct checkpoint_piece first = { 6, 0, 2, 1, part, FIRST };
        const struct checkpoint_piece last = { 6, FIRST, 2, 1, part, BYTES - FIRST };
        if (wrong != HOLE)
            assert_int_equal(checkpoint_write_piece(files_posix, folder, &first, sent, NULL), 0);
        snprintf(named, sizeof named, "%s/6-2.tmp/part1", folder);
        assert_false(files_exists(files_posix, named));
        int rv = checkpoint_write_piece(files_posix, folder, &last, sent + FIRST, &error);
        assert_int_equal(rv != 0, wrong != WHOLE);
        assert_int_equal(error.code, rv);
        assert_int_equal(files_exists(files_posix, named), wrong == WHOLE);
        if (wrong == WHOLE) {
            assert_int_equal(checkpoint_read_saved(files_posix, folder, 6, 2, 1, &part, got, NULL),
                             0);
            assert_memory_equal(got, bytes, BYTES);
        }
        close_folder(folder);
    }
}

/* Whatever fails while a part is written, what was begun is gone afterwards. */
static void a_part_that_failed_leaves_no_file(void **unused)
{
    int rv = TR_EIO;
    (void)unused;
    for (uint64_t at = 1; rv != 0; at++) {
        char folder[64], aside[128];
        struct faulty faulty;
        struct checkpoint_part part;
        open_folder(folder);
        make_faulty(&faulty, at, false);
        rv = checkpoint_write_part(&faulty.files, folder, 6, 2, 0, "weights", 7, &part, NULL);
        snprintf(aside, sizeof aside, "%s/6-2.tmp", folder);
        assert_false(is_there(aside, "part0.new"));
        close_folder(folder);
        assert_true(at < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_leave_a_whole_checkpoint),
        cmocka_unit_test(a_save_that_failed_made_no_checkpoint),
        cmocka_unit_test(a_save_that_failed_leaves_no_damaged_checkpoint),
        cmocka_unit_test(damage_costs_steps_not_the_run),
        cmocka_unit_test(what_cannot_be_read_is_not_passed_over),
        cmocka_unit_test(a_folder_whose_disk_is_away_is_no_empty_one),
        cmocka_unit_test(a_part_that_is_not_here_makes_no_checkpoint),
        cmocka_unit_test(a_part_counts_beside_the_manifest_of_its_era),
        cmocka_unit_test(a_part_saved_again_stays_whole),
        cmocka_unit_test(a_part_that_is_put_back_meets_its_manifest),
        cmocka_unit_test(a_full_disk_keeps_no_half_of_a_part),
        cmocka_unit_test(a_folder_without_a_checkpoint_is_told),
        cmocka_unit_test(only_the_newest_are_kept),
        cmocka_unit_test(a_damaged_one_is_not_kept_for_a_whole_one),
        cmocka_unit_test(what_was_made_before_retires_older_ones),
        cmocka_unit_test(the_removal_of_older_ones_is_a_step),
        cmocka_unit_test(a_manifest_is_read_as_it_was_written),
        cmocka_unit_test(only_names_of_checkpoints_are_theirs),
        cmocka_unit_test(a_piece_that_is_not_there_is_named),
        cmocka_unit_test(what_was_never_made_is_removed),
        cmocka_unit_test(what_does_not_fit_its_manifest_is_refused),
        cmocka_unit_test(a_dropped_part_leaves_nothing),
        cmocka_unit_test(parts_of_several_pieces_are_whole),
        cmocka_unit_test(a_part_that_came_wrong_gets_no_name),
        cmocka_unit_test(a_part_that_failed_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
