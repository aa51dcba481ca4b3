/* SPDX-License-Identifier: Apache-2.0 */
/* .npy files: what is written is read, and no damaged header gets past the reader. */
#include "tests/partition/raw_util.h"

#include <errno.h>

#include "partition/store/npy.h"

static void written_is_read(void **state)
{
    struct scratch *scratch = *state;
    float rows[6] = { 1, 2, 3, 4, 5, 6 }, back[4];
    uint64_t shape[] = { 3, 2 };
    struct error error;
    struct npy npy;
    assert_int_equal(npy_write(files_posix, at(scratch, "a.npy"), "<f4", 2, shape, rows, &error),
                     0);
    assert_int_equal(npy_open(&npy, files_posix, at(scratch, "a.npy"), &error), 0);
    enum tr_dtype dtype;
    assert_int_equal(npy_dtype(&npy, false, &dtype, &error), 0);
    assert_int_equal(dtype, TR_F32);
    assert_int_equal(npy.num_rows, 3);
    assert_int_equal(npy.row_bytes, 8);
    assert_int_equal(npy.header.data_offset % NPY_ALIGN, 0);
    assert_int_equal(npy_read_rows(&npy, 1, 2, back, &error), 0);
    assert_memory_equal(back, rows + 2, sizeof back);
    const void *map;
    assert_int_equal(npy_map(&npy, &map, &error), 0);
    assert_memory_equal(map, rows, sizeof rows);
    assert_int_equal(npy_read_rows(&npy, 2, 2, back, &error), TR_ERANGE);
    npy_close(&npy);
}

static void every_dtype_goes_round(void **state)
{
    struct scratch *scratch = *state;
    for (int i = TR_F32; i <= TR_BOOL; i++) {
        char name[32];
        uint8_t data[24] = { 0 };
        uint64_t shape[] = { 3 };
        struct npy npy;
        enum tr_dtype dtype;
        struct error error;
        snprintf(name, sizeof name, "%d.npy", i);
        assert_int_equal(npy_write(files_posix, at(scratch, name), npy_descr((enum tr_dtype)i), 1,
                                   shape, data, &error),
                         0);
        assert_int_equal(npy_open(&npy, files_posix, at(scratch, name), &error), 0);
        assert_int_equal(npy_dtype(&npy, i == TR_BF16, &dtype, &error), 0);
        assert_int_equal(dtype, i);
        assert_int_equal(npy.row_bytes, tr_dtype_size(dtype));
        npy_close(&npy);
    }
}

static void unknown_number_of_rows_is_patched(void **state)
{
    struct scratch *scratch = *state;
    struct npy_writer writer;
    struct error error;
    uint64_t shape[] = { NPY_ROWS_UNKNOWN, 2 };
    int16_t pair[2] = { 7, 8 };
    assert_int_equal(
        npy_create(&writer, files_posix, at(scratch, "a.npy"), "<i2", 2, shape, &error), 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(npy_append(&writer, pair, sizeof pair, &error), 0);
    assert_int_equal(npy_finish(&writer, &error), 0);
    npy_writer_close(&writer);
    struct npy npy;
    assert_int_equal(npy_open(&npy, files_posix, at(scratch, "a.npy"), &error), 0);
    assert_int_equal(npy.num_rows, 1000);
    npy_close(&npy);
}

static void fewer_rows_than_said_is_an_error(void **state)
{
    struct scratch *scratch = *state;
    struct npy_writer writer;
    struct error error;
    uint64_t shape[] = { 3 };
    int64_t row = 0;
    assert_int_equal(
        npy_create(&writer, files_posix, at(scratch, "a.npy"), "<i8", 1, shape, &error), 0);
    assert_int_equal(npy_append(&writer, &row, sizeof row, &error), 0);
    assert_int_equal(npy_finish(&writer, &error), TR_EMISMATCH);
    npy_writer_close(&writer);
}

/* The system's files, whose disk is asked to begin and refuses to. */
struct unwilling_files {
    struct files files;
    uint64_t begun_bytes; /* of the file, when its disk was asked to begin */
    uint32_t begun;
};

static int refuse_to_begin(struct files *self, int fd)
{
    struct unwilling_files *unwilling = (struct unwilling_files *)(void *)self;
    struct file_facts facts;
    assert_int_equal(files_posix->fstat(files_posix, fd, &facts), 0);
    unwilling->begun_bytes = facts.size;
    unwilling->begun++;
    return -EIO;
}

/* The disk begins with a file once all of it is written, and a file is whole whether it does or
 * not: that is the sync's to report. */
static void the_disk_is_asked_to_begin_with_whole_files(void **state)
{
    struct scratch *scratch = *state;
    struct unwilling_files unwilling = { .files = *files_posix };
    struct error error;
    int64_t row = 7, back = 0;
    uint64_t shape[] = { 1 };
    struct npy npy;
    unwilling.files.start_sync = refuse_to_begin;
    assert_int_equal(
        npy_write(&unwilling.files, at(scratch, "a.npy"), "<i8", 1, shape, &row, &error), 0);
    assert_int_equal(unwilling.begun, 1);
    assert_int_equal(npy_open(&npy, files_posix, at(scratch, "a.npy"), &error), 0);
    assert_int_equal(unwilling.begun_bytes, npy.header.data_offset + sizeof row);
    assert_int_equal(npy_read_rows(&npy, 0, 1, &back, &error), 0);
    assert_int_equal(back, row);
    npy_close(&npy);
    unwilling.files.start_sync = NULL;
    assert_int_equal(
        npy_write(&unwilling.files, at(scratch, "b.npy"), "<i8", 1, shape, &row, &error), 0);
    assert_int_equal(unwilling.begun, 1);
}

static void ids_of_any_width_are_widened(void **state)
{
    struct scratch *scratch = *state;
    static const char *const descrs[] = { "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8" };
    for (size_t d = 0; d < 8; d++) {
        uint8_t raw[100 * 8] = { 0 };
        size_t width = (size_t)(descrs[d][2] - '0');
        for (size_t i = 0; i < 100; i++)
            raw[i * width] = (uint8_t)i;
        char name[32];
        snprintf(name, sizeof name, "%zu.npy", d);
        uint64_t shape[] = { 100 }, ids[98];
        struct npy npy;
        struct error error;
        assert_int_equal(
            npy_write(files_posix, at(scratch, name), descrs[d], 1, shape, raw, &error), 0);
        assert_int_equal(npy_open(&npy, files_posix, at(scratch, name), &error), 0);
        assert_int_equal(npy_read_ids(&npy, 2, 98, ids, &error), 0);
        for (uint64_t i = 0; i < 98; i++)
            assert_int_equal(ids[i], i + 2);
        npy_close(&npy);
    }
}

static void ids_are_read_up_to_the_last_one(void **state)
{
    static const struct {
        uint64_t begin, count;
        int code;
    } cases[] = {
        { 0, 5, 0 },         { 4, 1, 0 },         { 5, 0, 0 },
        { 0, 6, TR_ERANGE }, { 4, 2, TR_ERANGE }, { 1, UINT64_MAX, TR_ERANGE },
        { 5, 1, TR_ERANGE }, { 6, 0, TR_ERANGE }, { UINT64_MAX, 2, TR_ERANGE },
    };
    struct scratch *scratch = *state;
    const uint32_t numbers[] = { 7, 8, 9, 10, UINT32_MAX };
    const uint64_t shape[] = { 5 };
    struct npy npy;
    struct error error = { 0 };
    assert_int_equal(npy_write(files_posix, at(scratch, "a.npy"), "<u4", 1, shape, numbers, &error),
                     0);
    assert_int_equal(npy_open(&npy, files_posix, at(scratch, "a.npy"), &error), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t ids[5] = { 0 };
        error = (struct error){ 0 };
        assert_int_equal(npy_read_ids(&npy, cases[i].begin, cases[i].count, ids, &error),
                         cases[i].code);
        for (uint64_t k = 0; cases[i].code == 0 && k < cases[i].count; k++)
            assert_int_equal(ids[k], numbers[cases[i].begin + k]);
        if (cases[i].code != 0)
            assert_says(&error, TR_ERANGE, "asked of 5");
    }
    npy_close(&npy);
}

static void negative_ids_are_refused(void **state)
{
    struct scratch *scratch = *state;
    int32_t raw[] = { 1, 2, -3 };
    uint64_t shape[] = { 3 }, ids[3];
    struct npy npy;
    struct error error;
    assert_int_equal(npy_write(files_posix, at(scratch, "a.npy"), "<i4", 1, shape, raw, &error), 0);
    assert_int_equal(npy_open(&npy, files_posix, at(scratch, "a.npy"), &error), 0);
    assert_int_equal(npy_read_ids(&npy, 0, 3, ids, &error), TR_ERANGE);
    assert_says(&error, TR_ERANGE, "element 2 is negative");
    npy_close(&npy);
}

/* A file of this header and data_bytes of zeros. */
static int open_header(struct scratch *scratch, int version, const char *header, size_t data_bytes,
                       struct error *error)
{
    uint8_t file[2048] = { 0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)version, 0 };
    size_t length = strlen(header), prefix = version == 1 ? 10 : 12;
    file[8] = (uint8_t)length;
    file[9] = (uint8_t)(length >> 8);
    memcpy(file + prefix, header, length);
    put(scratch, "h.npy", file, prefix + length + data_bytes);
    struct npy npy;
    int rv = npy_open(&npy, files_posix, at(scratch, "h.npy"), error);
    if (rv == 0)
        npy_close(&npy);
    return rv;
}

static void all_versions_are_read(void **state)
{
    struct error error;
    for (int version = 1; version <= 3; version++)
        assert_int_equal(
            open_header(*state, version,
                        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }   \n", 8,
                        &error),
            0);
    /* Fortran order means nothing of one dimension; a scalar has none. */
    assert_int_equal(open_header(*state, 1,
                                 "{\"descr\":\"<f8\",\"fortran_order\":True,\"shape\":(1,)}", 8,
                                 &error),
                     0);
    assert_int_equal(
        open_header(*state, 1, "{'descr': '<i8', 'fortran_order': False, 'shape': ()}", 8, &error),
        0);
    assert_int_equal(open_header(*state, 1,
                                 "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 7)}", 0,
                                 &error),
                     0);
}

static void damaged_headers_are_refused(void **state)
{
    static const struct {
        const char *header;
        size_t bytes;
        int code;
        const char *says;
    } cases[] = {
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7, TR_EFORMAT, "truncated" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 9, TR_EFORMAT, "shape" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615,2)}", 8,
          TR_EFORMAT, "product" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 8,
          TR_EFORMAT, "2^64" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}", 0,
          TR_EFORMAT, "shape" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': "
          "(0,4611686018427387904,4611686018427387904)}",
          0, TR_EFORMAT, "shape" },
        { "{'descr': '<f4', 'fortran_order': True, 'shape': (1,2)}", 8, TR_EUNSUPPORTED,
          "fortran_order" },
        { "{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", 8, TR_EUNSUPPORTED,
          "little-endian" },
        { "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8, TR_EUNSUPPORTED,
          "never read" },
        { "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8, TR_EUNSUPPORTED, "descr" },
        { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 8, TR_EUNSUPPORTED,
          "structured" },
        { "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", 8, TR_EFORMAT, "True or False" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 8, TR_EFORMAT, "extent" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1)}", 4, TR_EUNSUPPORTED,
          "dimensions" },
        { "{'descr': '<f4', 'fortran_order': False}", 8, TR_EFORMAT, "lacks 'shape'" },
        { "{'fortran_order': False, 'shape': (2,)}", 8, TR_EFORMAT, "lacks 'descr'" },
        { "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8, TR_EFORMAT,
          "repeated" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", 8, TR_EFORMAT,
          "unknown" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,", 8, TR_EFORMAT, "expected" },
        { "{'descr': '<f4", 0, TR_EFORMAT, "quote" },
        { "", 0, TR_EFORMAT, "expected" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} rm", 8, TR_EFORMAT, "the end" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = { 0 };
        assert_int_equal(open_header(*state, 1, cases[i].header, cases[i].bytes, &error),
                         cases[i].code);
        assert_says(&error, cases[i].code, cases[i].says);
        assert_says(&error, cases[i].code, "h.npy");
    }
}

static void not_a_npy_file_is_refused(void **state)
{
    struct scratch *scratch = *state;
    struct npy npy;
    struct error error;
    put(scratch, "a.npy", "PK\3\4 not one of ours", 20);
    assert_int_equal(npy_open(&npy, files_posix, at(scratch, "a.npy"), &error), TR_EFORMAT);
    put(scratch, "a.npy", "", 0);
    assert_int_equal(npy_open(&npy, files_posix, at(scratch, "a.npy"), &error), TR_EFORMAT);
    put(scratch, "a.npy", "\x93NUMPY\x02\x00\xff\xff\xff\xff", 12);
    assert_int_equal(npy_open(&npy, files_posix, at(scratch, "a.npy"), &error), TR_EFORMAT);
    put(scratch, "a.npy", "\x93NUMPY\x09\x00\x01\x00\x00\x00", 12);
    assert_int_equal(npy_open(&npy, files_posix, at(scratch, "a.npy"), &error), TR_EUNSUPPORTED);
    assert_int_equal(npy_open(&npy, files_posix, scratch->folder, &error), TR_EINVAL);
    assert_int_equal(npy_open(&npy, files_posix, at(scratch, "none.npy"), &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "none.npy");
}

/* Every truncation of a valid file is refused, none crashes. */
static void every_truncation_is_refused(void **state)
{
    struct scratch *scratch = *state;
    struct error error;
    uint64_t shape[] = { 4 };
    int64_t data[4] = { 1, 2, 3, 4 };
    char *all;
    size_t size;
    assert_int_equal(npy_write(files_posix, at(scratch, "a.npy"), "<i8", 1, shape, data, &error),
                     0);
    assert_int_equal(
        files_read_all(files_posix, at(scratch, "a.npy"), 1 << 20, &all, &size, &error), 0);
    for (size_t cut = 0; cut < size; cut++) {
        struct npy_header header;
        uint8_t *part = malloc(cut + 1); /* exact, so that the sanitizer sees a read past it */
        uint8_t *exact = realloc(part, cut > 0 ? cut : 1);
        memcpy(exact, all, cut);
        assert_int_equal(npy_parse("cut.npy", exact, cut, cut, &header, &error), TR_EFORMAT);
        free(exact);
    }
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(written_is_read, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(every_dtype_goes_round, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(unknown_number_of_rows_is_patched, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(fewer_rows_than_said_is_an_error, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(the_disk_is_asked_to_begin_with_whole_files, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(ids_of_any_width_are_widened, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(ids_are_read_up_to_the_last_one, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(negative_ids_are_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(all_versions_are_read, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(damaged_headers_are_refused, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(not_a_npy_file_is_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(every_truncation_is_refused, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
