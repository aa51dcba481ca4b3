/* SPDX-License-Identifier: Apache-2.0 */
/* The files for TensorBoard: the bytes of records, and what a folder has of them however its disk
 * behaves. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/tensorboard_file.h"
#include "runtime/base/crc32c.h"
#include "tests/scratch.h"
#include "tests/tensorboard_reader.h"

/* RFC 3720, appendix B.4: the last is an iSCSI Read command. */
static void checksums_are_those_of_the_rfc(void **state)
{
    unsigned char zeros[32] = { 0 }, ones[32], up[32], down[32];
    static const unsigned char READ[48] = {
        0x01, 0xc0, [16] = 0x14, [22] = 0x04, [27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02
    };
    (void)state;
    for (unsigned i = 0; i < 32; i++) {
        ones[i] = 0xff;
        up[i] = (unsigned char)i;
        down[i] = (unsigned char)(31 - i);
    }
    const struct {
        const unsigned char *bytes;
        size_t count;
        uint32_t crc;
    } vectors[] = { { zeros, 32, 0x8a9136aa },
                    { ones, 32, 0x62a8ab43 },
                    { up, 32, 0x46dd794e },
                    { down, 32, 0x113fdb5c },
                    { READ, 48, 0xd9963a56 } };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        assert_int_equal(crc32c(0, vectors[i].bytes, vectors[i].count), vectors[i].crc);
        assert_int_equal(board_crc(vectors[i].bytes, vectors[i].count), vectors[i].crc);
    }
}

#define ASSERT_BYTES(record, text)                                   \
    do {                                                             \
        assert_int_equal((record).size, sizeof(text) - 1);           \
        assert_memory_equal((record).bytes, text, sizeof(text) - 1); \
    } while (0)

/* What TensorBoard 2.21's own RecordWriter writes of the same events, with protobuf 7.36. */
static void records_have_the_bytes_of_the_reference(void **state)
{
    static const struct tensorboard_scalar SCALARS[] = { { "loss/train", 0.75 },
                                                         { "accuracy/test", -2 } };
    struct tensorboard_record record;
    (void)state;
    tensorboard_record_version(&record, 1.5);
    ASSERT_BYTES(record, "\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22"
                         "\x09\0\0\0\0\0\0\xf8\x3f\x1a\x0d"
                         "brain.Event:2"
                         "\x2a\x28\x64\x6c");
    tensorboard_record_start(&record, 1.5, 300);
    ASSERT_BYTES(record, "\x10\0\0\0\0\0\0\0\x95\xfb\xfe\x18"
                         "\x09\0\0\0\0\0\0\xf8\x3f\x10\xac\x02\x3a\x02\x08\x01"
                         "\x71\x3b\x78\x8a");
    tensorboard_record_scalars(&record, 1700000000.25, 3, SCALARS, 2);
    ASSERT_BYTES(record, "\x36\0\0\0\0\0\0\0\x4f\x57\x8c\xef"
                         "\x09\0\0\x10\x40\xfc\x54\xd9\x41\x10\x03\x2a\x29\x0a\x11\x0a\x0a"
                         "loss/train"
                         "\x15\0\0\x40\x3f\x0a\x14\x0a\x0d"
                         "accuracy/test"
                         "\x15\0\0\0\xc0"
                         "\x92\x0b\xb1\x80");
}

/* Every bound at once still fits into a record. */
static void the_largest_record_is_read_back(void **state)
{
    struct tensorboard_scalar scalars[TENSORBOARD_SCALARS_MAX];
    char tags[TENSORBOARD_SCALARS_MAX][TENSORBOARD_TAG_MAX + 1];
    struct tensorboard_record record;
    struct board_event event;
    (void)state;
    for (size_t i = 0; i < TENSORBOARD_SCALARS_MAX; i++) {
        memset(tags[i], 'a' + (int)i, TENSORBOARD_TAG_MAX);
        tags[i][TENSORBOARD_TAG_MAX] = '\0';
        scalars[i] = (struct tensorboard_scalar){ tags[i], (double)i / 3 };
    }
    tensorboard_record_scalars(&record, 1e9, INT64_MAX, scalars, TENSORBOARD_SCALARS_MAX);
    struct board_bytes file = { record.bytes, record.size };
    assert_int_equal(board_next(&file, &event), 1);
    assert_int_equal(file.left, 0);
    assert_true(event.step == INT64_MAX && event.wall_time == 1e9);
    assert_int_equal(event.count, TENSORBOARD_SCALARS_MAX);
    for (size_t i = 0; i < event.count; i++) {
        assert_string_equal(event.scalars[i].tag, tags[i]);
        assert_true(event.scalars[i].value == (float)((double)i / 3));
    }
}

/* The system's files, on a disk that takes a file's bytes up to an end, or no folder. */
struct small_disk {
    struct files files;
    uint64_t end;
    bool read_only;
};

static ssize_t small_pwrite(struct files *self, int fd, const void *data, size_t size,
                            uint64_t offset)
{
    struct small_disk *disk = (struct small_disk *)self;
    uint64_t room = disk->end > offset ? disk->end - offset : 0;
    if (room == 0)
        return -ENOSPC;
    return files_posix->pwrite(files_posix, fd, data, size < room ? size : (size_t)room, offset);
}

static int small_mkdir(struct files *self, const char *path, int mode)
{
    /* The system says first that a folder is there. */
    if (((struct small_disk *)self)->read_only && !files_exists(files_posix, path))
        return -EROFS;
    return files_posix->mkdir(files_posix, path, mode);
}

static struct small_disk made_disk(void)
{
    struct small_disk disk = { .files = *files_posix, .end = UINT64_MAX };
    disk.files.pwrite = small_pwrite;
    disk.files.mkdir = small_mkdir;
    return disk;
}

static struct tensorboard_record made_record(int64_t step)
{
    const struct tensorboard_scalar scalar = { "loss/train", (double)step / 2 };
    struct tensorboard_record record;
    tensorboard_record_scalars(&record, 1.5, step, &scalar, 1);
    return record;
}

/* The file begins with its version, then has the steps up to `last`, each once. */
static void assert_steps(const char *path, int64_t last, bool whole)
{
    char *text = NULL;
    struct board_event event;
    struct board_bytes file = { 0 };
    assert_int_equal(files_read_all(files_posix, path, 1 << 24, &text, &file.left, NULL), 0);
    file.at = (const unsigned char *)text;
    assert_int_equal(board_next(&file, &event), 1);
    assert_string_equal(event.version, "brain.Event:2");
    for (int64_t step = 1; step <= last; step++) {
        assert_int_equal(board_next(&file, &event), 1);
        assert_int_equal(event.step, step);
        assert_int_equal(event.count, 1);
        assert_true(event.scalars[0].value == (float)step / 2);
    }
    assert_int_equal(board_next(&file, &event), 0);
    if (whole)
        assert_int_equal(file.left, 0);
    free(text);
}

static void what_a_full_disk_refuses_is_written_later(void **state)
{
    char top[40], folder[64], path[256];
    struct small_disk disk = made_disk();
    struct tensorboard_file board;
    struct error error = { 0 };
    int64_t step = 0;
    (void)state;
    assert_non_null(scratch_folder(top, sizeof top, "test"));
    snprintf(folder, sizeof folder, "%s/a/b", top);
    assert_int_equal(tensorboard_file_open(&board, &disk.files, folder, &error), 0);
    snprintf(path, sizeof path, "%s", board.file.path);
    assert_steps(path, 0, true);
    /* However much of a record the disk takes, a reader finds whole ones alone, and all of them once
     * there is room. */
    for (size_t room = 0; room < 120; room++) {
        disk.end = board.file.size + room;
        size_t bytes = 0;
        int64_t fitting = 0;
        for (int i = 0; i < 2; i++) {
            struct tensorboard_record record = made_record(step + 1 + i);
            assert_true(tensorboard_file_add(&board, &record));
            bytes += record.size;
            fitting += bytes <= room;
            assert_int_equal(tensorboard_file_flush(&board, &error), bytes <= room ? 0 : TR_ENOSPC);
            assert_steps(path, step + fitting, false);
        }
        step += 2;
        disk.end = UINT64_MAX;
        assert_int_equal(tensorboard_file_flush(&board, &error), 0);
        assert_steps(path, step, true);
    }
    tensorboard_file_close(&board);
    assert_int_equal(files_remove_tree(files_posix, top, &error), 0);
}

static void what_waits_for_a_disk_is_bounded(void **state)
{
    char top[40], path[256];
    struct small_disk disk = made_disk();
    struct tensorboard_file board;
    struct error error = { 0 };
    int64_t kept = 0;
    (void)state;
    assert_non_null(scratch_folder(top, sizeof top, "test"));
    assert_int_equal(tensorboard_file_open(&board, &disk.files, top, &error), 0);
    snprintf(path, sizeof path, "%s", board.file.path);
    disk.end = 0;
    for (struct tensorboard_record record = made_record(1); tensorboard_file_add(&board, &record);
         record = made_record(kept + 1)) {
        kept++;
        assert_int_equal(tensorboard_file_flush(&board, &error), TR_ENOSPC);
        assert_true(board.waiting_bytes <= TENSORBOARD_WAITING_MAX);
    }
    assert_true(board.waiting_bytes > TENSORBOARD_WAITING_MAX / 2);
    disk.end = UINT64_MAX;
    tensorboard_file_close(&board);
    assert_steps(path, kept, true);
    assert_int_equal(files_remove_tree(files_posix, top, &error), 0);
}

/* TensorBoard reads the files of a folder in the order of their names. */
static void later_files_stand_behind_earlier_ones(void **state)
{
    char top[40], ahead[128], last[256] = "";
    struct error error = { 0 };
    struct file file;
    (void)state;
    assert_non_null(scratch_folder(top, sizeof top, "test"));
    for (int i = 0; i < 5; i++) {
        struct tensorboard_file board;
        assert_int_equal(tensorboard_file_open(&board, files_posix, top, &error), 0);
        assert_true(strcmp(last, board.file.path) < 0);
        snprintf(last, sizeof last, "%s", board.file.path);
        tensorboard_file_close(&board);
        if (i != 2)
            continue;
        /* Of a host whose clock is ahead; others are no files for TensorBoard, or the last of all. */
        static const char *const NAMES[] = { "events.out.tfevents.4000000000.b.1",
                                             "events.out.tfevents.9999999999.b.1",
                                             "events.out.tfevents.50000000001.b.1",
                                             "events.jsonl" };
        for (size_t n = 0; n < sizeof NAMES / sizeof *NAMES; n++) {
            snprintf(ahead, sizeof ahead, "%s/%s", top, NAMES[n]);
            assert_int_equal(file_create(&file, files_posix, ahead, &error), 0);
            file_close(&file);
        }
        snprintf(last, sizeof last, "%s/%s", top, NAMES[0]);
    }
    assert_int_equal(files_remove_tree(files_posix, top, &error), 0);
}

static void a_file_without_scalars_is_forgotten(void **state)
{
    char top[40], folder[64], path[256];
    struct tensorboard_file board;
    struct error error = { 0 };
    struct tensorboard_record record = made_record(1);
    (void)state;
    assert_non_null(scratch_folder(top, sizeof top, "test"));
    snprintf(folder, sizeof folder, "%s/a", top);
    assert_int_equal(tensorboard_file_open(&board, files_posix, folder, &error), 0);
    tensorboard_file_forget(&board);
    assert_false(files_exists(files_posix, folder));
    assert_int_equal(tensorboard_file_open(&board, files_posix, folder, &error), 0);
    snprintf(path, sizeof path, "%s", board.file.path);
    assert_true(tensorboard_file_add(&board, &record));
    tensorboard_file_forget(&board);
    assert_steps(path, 1, true);
    /* A folder that was there stays. */
    assert_int_equal(files_remove_tree(files_posix, path, &error), 0);
    assert_int_equal(tensorboard_file_open(&board, files_posix, folder, &error), 0);
    tensorboard_file_forget(&board);
    assert_true(files_is_folder(files_posix, folder));
    tensorboard_file_forget(&board);
    assert_false(tensorboard_file_add(&board, &record));
    assert_int_equal(files_remove_tree(files_posix, top, &error), 0);
}

static void files_of_earlier_runs_are_removed_and_no_others(void **state)
{
    static const char *const NAMES[] = { "events.out.tfevents.1000000000.b.1.troupe",
                                         "events.out.tfevents.1000000001.b.1.troupe",
                                         "events.out.tfevents.1000000000.b.1", "notes.troupe",
                                         "events.jsonl" };
    char top[40], path[128];
    struct tensorboard_file board;
    struct tensorboard_record record = made_record(1);
    struct error error = { 0 };
    struct file file;
    (void)state;
    assert_non_null(scratch_folder(top, sizeof top, "test"));
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        snprintf(path, sizeof path, "%s/%s", top, NAMES[i]);
        assert_int_equal(file_create(&file, files_posix, path, &error), 0);
        file_close(&file);
    }
    assert_int_equal(tensorboard_file_open(&board, files_posix, top, &error), 0);
    tensorboard_file_remove_others(&board);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        snprintf(path, sizeof path, "%s/%s", top, NAMES[i]);
        assert_int_equal(files_exists(files_posix, path), i > 1);
    }
    assert_true(tensorboard_file_add(&board, &record));
    assert_int_equal(tensorboard_file_flush(&board, &error), 0);
    assert_steps(board.file.path, 1, true);
    tensorboard_file_close(&board);
    tensorboard_file_remove_others(&board);
    assert_int_equal(files_remove_tree(files_posix, top, &error), 0);
}

static void a_folder_that_cannot_be_is_refused(void **state)
{
    char top[40], folder[64];
    struct small_disk disk = made_disk();
    struct tensorboard_file board;
    struct error error = { 0 };
    (void)state;
    assert_non_null(scratch_folder(top, sizeof top, "test"));
    snprintf(folder, sizeof folder, "%s/a", top);
    disk.read_only = true;
    assert_int_not_equal(tensorboard_file_open(&board, &disk.files, folder, &error), 0);
    assert_non_null(strstr(error.text, folder));
    /* A full disk takes the folder, and not a byte: nothing stays of it. */
    disk.read_only = false;
    disk.end = 5;
    assert_int_equal(tensorboard_file_open(&board, &disk.files, folder, &error), TR_ENOSPC);
    assert_false(files_exists(files_posix, folder));
    assert_int_equal(files_remove_tree(files_posix, top, &error), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_are_those_of_the_rfc),
        cmocka_unit_test(records_have_the_bytes_of_the_reference),
        cmocka_unit_test(the_largest_record_is_read_back),
        cmocka_unit_test(what_a_full_disk_refuses_is_written_later),
        cmocka_unit_test(what_waits_for_a_disk_is_bounded),
        cmocka_unit_test(later_files_stand_behind_earlier_ones),
        cmocka_unit_test(a_file_without_scalars_is_forgotten),
        cmocka_unit_test(files_of_earlier_runs_are_removed_and_no_others),
        cmocka_unit_test(a_folder_that_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
