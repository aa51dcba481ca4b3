/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text reads the same however it was packed; what is damaged, truncated or no text at all is
 * refused by name, and never read as other text.
 */
#include "tests/partition/raw_util.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>

#include "partition/raw/text.h"

#define BLOCK ((size_t)1 << 20) /* the reader's */

struct packer {
    const char *name;
    int (*add)(struct archive *archive);
    bool checked; /* the stream has a checksum */
};

static const struct packer PACKERS[] = {
    { "a.gz", archive_write_add_filter_gzip, true },
    { "a.bz2", archive_write_add_filter_bzip2, true },
    { "a.xz", archive_write_add_filter_xz, true },
    { "a.lz4", archive_write_add_filter_lz4, true },
    { "a.zst", archive_write_add_filter_zstd, false }, /* libarchive writes none */
};
#define NUM_PACKERS (sizeof PACKERS / sizeof *PACKERS)

static void put_entry(struct archive *archive, const char *name, const char *text, size_t size)
{
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (la_int64_t)size);
    assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
    assert_int_equal(archive_write_data(archive, text, size), size);
    archive_entry_free(entry);
}

static void put_packed(struct scratch *scratch, const struct packer *packer, const char *text,
                       size_t size)
{
    /* What `lz4 </dev/null` writes; libarchive 3.6 cannot. */
    static const char empty_lz4[] = "\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\0\x05\x5d\xcc\x02";
    if (packer->add == archive_write_add_filter_lz4 && size == 0) {
        put(scratch, packer->name, empty_lz4, sizeof empty_lz4 - 1);
        return;
    }
    struct archive *archive = archive_write_new();
    assert_int_equal(packer->add(archive), ARCHIVE_OK);
    assert_int_equal(archive_write_set_format_raw(archive), ARCHIVE_OK);
    /* The last block is not filled up with zeroes. */
    assert_int_equal(archive_write_set_bytes_in_last_block(archive, 1), ARCHIVE_OK);
    assert_int_equal(archive_write_open_filename(archive, at(scratch, packer->name)), ARCHIVE_OK);
    put_entry(archive, "text", text, size);
    assert_int_equal(archive_write_close(archive), ARCHIVE_OK);
    assert_int_equal(archive_write_free(archive), ARCHIVE_OK);
}

struct zipped {
    const char *name, *text;
};

static void put_zip(struct scratch *scratch, const char *name, const struct zipped *files,
                    size_t count, const char *option)
{
    struct archive *archive = archive_write_new();
    assert_int_equal(archive_write_set_format_zip(archive), ARCHIVE_OK);
    if (option != NULL) {
        assert_int_equal(archive_write_set_options(archive, option), ARCHIVE_OK);
        assert_int_equal(archive_write_set_passphrase(archive, "secret"), ARCHIVE_OK);
    }
    assert_int_equal(archive_write_open_filename(archive, at(scratch, name)), ARCHIVE_OK);
    for (size_t i = 0; i < count; i++)
        put_entry(archive, files[i].name, files[i].text, strlen(files[i].text));
    assert_int_equal(archive_write_close(archive), ARCHIVE_OK);
    assert_int_equal(archive_write_free(archive), ARCHIVE_OK);
}

/* Lines of numbers that a packer cannot make vanish. */
static char *make_text(size_t size)
{
    char *text = malloc(size + 32);
    uint64_t random = 1;
    assert_non_null(text);
    for (size_t at_byte = 0; at_byte < size;) {
        random = random * UINT64_C(6364136223846793005) + 1;
        at_byte += (size_t)sprintf(text + at_byte, "%u %u\n", (unsigned)(random >> 40),
                                   (unsigned)(random >> 50));
    }
    text[size] = '\0';
    return text;
}

static uint64_t count_lines(const char *text)
{
    uint64_t lines = 1;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

/* 0 where the text reads as wanted, 1 where it reads otherwise, or the reader's failure. */
static int read_text(const char *path, struct files *files, const char *wanted, struct error *error)
{
    struct text text;
    size_t length = strlen(wanted), got = 0;
    bool same = true;
    *error = (struct error){ 0 };
    int rv = text_open(&text, files, path, NULL, error);
    if (rv != 0)
        return rv;
    for (int c; (c = text_peek(&text)) != TEXT_END; text_skip(&text)) {
        same = same && got < length && wanted[got] == (char)c;
        got++;
    }
    rv = text.rv;
    if (rv == 0)
        same = same && got == length && text.line == count_lines(wanted);
    text_close(&text);
    return rv != 0 ? rv : !same;
}

static void every_packing_reads_the_same(void **state)
{
    static const size_t sizes[] = { 0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 3 * BLOCK + 77 };
    struct error error;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        char *text = make_text(sizes[s]);
        put(*state, "a", text, sizes[s]);
        assert_int_equal(read_text(at(*state, "a"), files_posix, text, &error), 0);
        for (size_t i = 0; i < NUM_PACKERS; i++) {
            put_packed(*state, &PACKERS[i], text, sizes[s]);
            int rv = read_text(at(*state, PACKERS[i].name), files_posix, text, &error);
            if (rv != 0)
                fail_msg("%s of %zu bytes: %d %s", PACKERS[i].name, sizes[s], rv, error.text);
        }
        free(text);
    }
}

/* A name says nothing of the packing. */
static void the_first_bytes_say_the_packing(void **state)
{
    const struct packer misnamed = { "a.txt", archive_write_add_filter_xz, true };
    struct error error;
    put_packed(*state, &misnamed, "0 1\n", 4);
    assert_int_equal(read_text(at(*state, "a.txt"), files_posix, "0 1\n", &error), 0);
    put_text(*state, "a.bz2", "0 1\n");
    assert_int_equal(read_text(at(*state, "a.bz2"), files_posix, "0 1\n", &error), 0);
}

/* Two streams one after another are one text; other bytes behind a stream are an error. */
static void streams_follow_each_other(void **state)
{
    char *text = make_text(4000), *twice = malloc(8001);
    struct error error;
    memcpy(twice, text, 4000);
    memcpy(twice + 4000, text, 4001);
    for (size_t i = 0; i < NUM_PACKERS; i++) {
        char *data, *both;
        size_t size;
        put_packed(*state, &PACKERS[i], text, 4000);
        assert_int_equal(
            files_read_all(files_posix, at(*state, PACKERS[i].name), 1 << 20, &data, &size, &error),
            0);
        both = malloc(2 * size);
        memcpy(both, data, size);
        memcpy(both + size, data, size);
        put(*state, "both", both, 2 * size);
        if (read_text(at(*state, "both"), files_posix, twice, &error) != 0)
            fail_msg("%s: %s", PACKERS[i].name, error.text);
        memset(both + size, 'g', size);
        put(*state, "both", both, 2 * size);
        if (read_text(at(*state, "both"), files_posix, text, &error) != TR_EFORMAT)
            fail_msg("%s: what follows is read over", PACKERS[i].name);
        assert_says(&error, TR_EFORMAT, "both: ");
        if (PACKERS[i].add == archive_write_add_filter_bzip2)
            assert_says(&error, TR_EFORMAT,
                        ", and what follows is not part of them; copy it again");
        free(both);
        free(data);
    }
    free(twice);
    free(text);
}

/* Wherever a copy ends or a bit falls over, the text is refused, or it is the same. */
static void damage_never_gives_other_text(void **state)
{
    char *text = make_text(3000);
    struct error error;
    for (size_t i = 0; i < NUM_PACKERS; i++) {
        char *data;
        size_t size;
        put_packed(*state, &PACKERS[i], text, 3000);
        assert_int_equal(
            files_read_all(files_posix, at(*state, PACKERS[i].name), 1 << 20, &data, &size, &error),
            0);
        for (size_t cut = 8; cut < size; cut += 1 + size / 60) {
            put(*state, "cut", data, cut);
            int rv = read_text(at(*state, "cut"), files_posix, text, &error);
            if (rv >= 0)
                fail_msg("%s cut to %zu of %zu: %d", PACKERS[i].name, cut, size, rv);
            assert_says(&error, rv, "cut: ");
        }
        put(*state, "cut", data, size - 1);
        assert_int_equal(read_text(at(*state, "cut"), files_posix, text, &error), TR_EFORMAT);
        assert_says(&error, TR_EFORMAT, "truncated");
        for (size_t flip = 0; PACKERS[i].checked && flip < size; flip += 1 + size / 60) {
            data[flip] ^= 4;
            put(*state, "flip", data, size);
            int rv = read_text(at(*state, "flip"), files_posix, text, &error);
            if (rv > 0)
                fail_msg("%s with byte %zu changed gives other text", PACKERS[i].name, flip);
            data[flip] ^= 4;
        }
        free(data);
    }
    free(text);
}

static void a_file_of_an_archive(void **state)
{
    static const struct zipped one[] = { { "in/a.csv", "0,1\n" } };
    static const struct zipped two[] = { { "a.csv", "0,1\n" }, { "in/b.csv", "1,2\n" } };
    static const struct zipped read_me[] = {
        { "README.txt", "x" }, { "LICENSE", "y" }, { "in/B.CSV", "1,2\n" }, { "c.csv", "1,2\n" }
    };
    static const struct zipped steers[] = { { "a\x1b[2J", "0,1\n" }, { "b\x1b[2J", "1,2\n" } };
    static const struct zipped mac[] = { { "__MACOSX/._a.csv", "x" }, { "a.csv", "0,1\n" } };
    struct error error;
    put_zip(*state, "one.zip", one, 1, NULL);
    assert_int_equal(read_text(at(*state, "one.zip"), files_posix, "0,1\n", &error), 0);
    assert_int_equal(read_text(at(*state, "one.zip/in/a.csv"), files_posix, "0,1\n", &error), 0);
    assert_true(text_exists(files_posix, at(*state, "one.zip/any")));
    assert_false(text_exists(files_posix, at(*state, "none.zip/any")));
    put_zip(*state, "mac.zip", mac, 2, NULL);
    assert_int_equal(read_text(at(*state, "mac.zip"), files_posix, "0,1\n", &error), 0);
    put_zip(*state, "two.zip", two, 2, NULL);
    assert_int_equal(read_text(at(*state, "two.zip/a.csv"), files_posix, "0,1\n", &error), 0);
    assert_int_equal(read_text(at(*state, "two.zip/in/b.csv"), files_posix, "1,2\n", &error), 0);
    assert_int_equal(read_text(at(*state, "two.zip"), files_posix, "", &error), TR_EINVAL);
    assert_says(&error, TR_EINVAL, "several files, 'a.csv' and 'in/b.csv' among them; name one");
    assert_int_equal(read_text(at(*state, "two.zip/c"), files_posix, "", &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "two.zip/c: the archive holds no such file; it has 'a.csv'");
    put_zip(*state, "readme.zip", read_me, 4, NULL);
    assert_int_equal(read_text(at(*state, "readme.zip"), files_posix, "", &error), TR_EINVAL);
    assert_says(&error, TR_EINVAL, "several files, 'in/B.CSV' and 'README.txt' among them; name");
    assert_says(&error, TR_EINVAL, "readme.zip/in/B.CSV");
    assert_int_equal(read_text(at(*state, "readme.zip/c"), files_posix, "", &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "the archive holds no such file; it has 'in/B.CSV'");
    put_zip(*state, "steers.zip", steers, 2, NULL);
    assert_int_equal(read_text(at(*state, "steers.zip"), files_posix, "", &error), TR_EINVAL);
    assert_says(&error, TR_EINVAL, "files, 'a?[2J' and 'b?[2J' among them; name one");
    assert_null(strchr(error.text, '\x1b'));
    assert_int_equal(read_text(at(*state, "steers.zip/c"), files_posix, "", &error), TR_ENOENT);
    assert_says(&error, TR_ENOENT, "it has 'a?[2J'");
    put_zip(*state, "none.zip", NULL, 0, NULL);
    assert_int_equal(read_text(at(*state, "none.zip"), files_posix, "", &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "holds no file");
    put_zip(*state, "locked.zip", one, 1, "zip:encryption=zipcrypt");
    assert_int_equal(read_text(at(*state, "locked.zip"), files_posix, "", &error), TR_EUNSUPPORTED);
    assert_says(&error, TR_EUNSUPPORTED, "is encrypted; unpack it first");
    put_text(*state, "text.zip", "0 1\n");
    assert_int_equal(read_text(at(*state, "text.zip"), files_posix, "0 1\n", &error), 0);
    assert_int_equal(read_text(at(*state, "text.zip/a"), files_posix, "", &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "text.zip: is not a zip archive");
}

/* A checksum of the archive's own guards its files. */
static void damage_of_an_archive_is_seen(void **state)
{
    char *text = make_text(2000), *data;
    const struct zipped one[] = { { "a.csv", text } };
    struct error error;
    size_t size;
    put_zip(*state, "a.zip", one, 1, NULL);
    assert_int_equal(
        files_read_all(files_posix, at(*state, "a.zip"), 1 << 20, &data, &size, &error), 0);
    for (size_t byte = 4; byte < size; byte += 7) {
        data[byte] ^= 16;
        put(*state, "b.zip", data, size);
        if (read_text(at(*state, "b.zip"), files_posix, text, &error) > 0)
            fail_msg("byte %zu changed gives other text", byte);
        data[byte] ^= 16;
        put(*state, "b.zip", data, byte);
        if (read_text(at(*state, "b.zip"), files_posix, text, &error) > 0)
            fail_msg("a copy of %zu bytes gives other text", byte);
    }
    free(data);
    free(text);
}

/* What is no text is named; nothing of it is parsed. */
static void other_files_are_named(void **state)
{
    static const struct {
        const char *data;
        size_t size;
        int code;
        const char *says;
    } cases[] = {
        { "PAR1\x15\0", 6, TR_EUNSUPPORTED, "looks like a Parquet file, not like text; save" },
        { "ORC\x0a\x9a\0", 6, TR_EFORMAT, "a: line 2: holds a byte 0" },
        { "ORC", 3, TR_EUNSUPPORTED, "an ORC file, not like text; save" },
        { "ORC\x9a\0", 5, TR_EUNSUPPORTED, "an ORC file, not like text; save" },
        { "FEA1\0\0\0\0", 8, TR_EUNSUPPORTED, "a Feather file" },
        { "ARROW1\0\0", 8, TR_EUNSUPPORTED, "an Arrow file" },
        { "\x93NUMPY\1\0", 8, TR_EUNSUPPORTED, "a NumPy array, not like text; give its name" },
        { "\x89HDF\r\n\x1a\n", 8, TR_EUNSUPPORTED, "an HDF5 file" },
        { "SQLite format 3\0", 16, TR_EUNSUPPORTED, "an SQLite database" },
        { "\x80\x04\x95", 3, TR_EUNSUPPORTED, "a Python pickle" },
        { "7z\xbc\xaf\x27\x1c", 6, TR_EUNSUPPORTED, "a 7-Zip archive, not like text; unpack" },
        { "\x1f\x9d\x90", 3, TR_EUNSUPPORTED, "a stream of compress, not like text; unpack" },
        { "\xff\xfe"
          "0\0",
          4, TR_EUNSUPPORTED, "UTF-16 text, not like text; save it as UTF-8" },
        { "0 1\n1 2\n\0\1", 10, TR_EFORMAT, "a: line 3: holds a byte 0" },
        { "\0", 1, TR_EFORMAT, "a: line 1: holds a byte 0" },
    };
    const struct packer gzip = PACKERS[0];
    struct error error;
    char tar[600] = "edges.csv";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(*state, "a", cases[i].data, cases[i].size);
        int rv = read_text(at(*state, "a"), files_posix, "", &error);
        assert_says(&error, cases[i].code, cases[i].says);
        assert_int_equal(rv, cases[i].code);
    }
    memcpy(tar + 257, "ustar", 5);
    put_packed(*state, &gzip, tar, sizeof tar);
    assert_int_equal(read_text(at(*state, gzip.name), files_posix, "", &error), TR_EUNSUPPORTED);
    assert_says(&error, TR_EUNSUPPORTED, "a.gz: looks like a tar archive");
    put_packed(*state, &gzip, "BZh91AY", 7);
    assert_int_equal(read_text(at(*state, gzip.name), files_posix, "", &error), TR_EUNSUPPORTED);
    assert_says(&error, TR_EUNSUPPORTED, "packed twice, with bzip2 inside");
}

/* A header may begin as such a file does. */
static void a_name_of_a_column_is_text(void **state)
{
    static const char *const texts[] = { "ORCID,PAPER\n0,1\n", "ORC\n",    "ORC\tPAR1\n",
                                         "PAR1,PAR2\n1,2\n",   "FEA1\r\n", "ARROW1 ARROW2\n" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error error = { 0 };
        put_text(*state, "a", texts[i]);
        if (read_text(at(*state, "a"), files_posix, texts[i], &error) != 0)
            fail_msg("'%s': %s", texts[i], error.text);
    }
}

/* A byte 0 counts in later blocks too, and its line is known there. */
static void a_byte_0_is_found_in_any_block(void **state)
{
    char *text = make_text(2 * BLOCK + 500), says[64];
    struct error error;
    text[2 * BLOCK + 300] = '\0';
    snprintf(says, sizeof says, "line %llu: holds a byte 0", (unsigned long long)count_lines(text));
    put(*state, "a", text, 2 * BLOCK + 500);
    assert_int_equal(read_text(at(*state, "a"), files_posix, "", &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, says);
    put_packed(*state, &PACKERS[0], text, 2 * BLOCK + 500);
    assert_int_equal(read_text(at(*state, PACKERS[0].name), files_posix, "", &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, says);
    free(text);
}

/* Wherever blocks end in it. */
static void the_longest_line_is_a_line(void **state)
{
    static const size_t BEFORE[] = { 0, 1, BLOCK / 2, BLOCK - 1, BLOCK };
    char *bytes = malloc(2 * BLOCK + 4);
    memset(bytes, 'x', 2 * BLOCK + 4);
    for (size_t i = 0; i < 2 * sizeof BEFORE / sizeof *BEFORE; i++) {
        const size_t before = BEFORE[i / 2], more = i % 2;
        struct text text;
        struct error error = { 0 };
        const char *line;
        size_t length;
        memset(bytes, '\n', before);
        memset(bytes + before, 'x', TEXT_LINE_MAX + more);
        bytes[before + TEXT_LINE_MAX + more] = '\n';
        put(*state, "t", bytes, before + TEXT_LINE_MAX + more + 1);
        assert_int_equal(text_open(&text, files_posix, at(*state, "t"), NULL, &error), 0);
        for (size_t skipped = 0; skipped < before; skipped++) {
            assert_int_equal(text_peek(&text), '\n');
            text_skip(&text);
        }
        int rv = text_look_line(&text, &line, &length);
        assert_int_equal(rv, more > 0 ? TR_EFORMAT : 0);
        assert_true(more > 0 || length == TEXT_LINE_MAX);
        text_close(&text);
    }
    free(bytes);
}

/* Bytes from here on cannot be read. One thread at a time reads a file. */
static uint64_t broken_from;

static ssize_t broken_pread(struct files *self, int fd, void *data, size_t size, uint64_t offset)
{
    (void)self;
    if (offset + size > broken_from)
        size = offset < broken_from ? (size_t)(broken_from - offset) : 0;
    return size == 0 ? -EIO : files_posix->pread(files_posix, fd, data, size, offset);
}

/* A disk that fails under the thread that unpacks is named as under the caller. */
static void a_failing_disk_is_named(void **state)
{
    char *text = make_text(12 * BLOCK);
    struct files files = *files_posix;
    struct error error;
    files.pread = broken_pread;
    for (size_t i = 0; i < 2; i++) {
        uint64_t size;
        put_packed(*state, &PACKERS[i], text, 12 * BLOCK);
        assert_int_equal(files_size(files_posix, at(*state, PACKERS[i].name), &size, &error), 0);
        for (int part = 1; part < 4; part++) {
            broken_from = size / 4 * (uint64_t)part;
            assert_int_equal(read_text(at(*state, PACKERS[i].name), &files, text, &error), TR_EIO);
            assert_says(&error, TR_EIO, PACKERS[i].name);
        }
    }
    free(text);
}

static bool asked_after(void *arg)
{
    return --*(int *)arg < 0;
}

/* A reader may leave at any block: the thread that unpacks ends with it. */
static void a_reader_may_leave_early(void **state)
{
    char *text = make_text(6 * BLOCK);
    put_packed(*state, &PACKERS[0], text, 6 * BLOCK);
    for (int blocks = 0; blocks <= 4; blocks++) {
        struct text reader;
        struct error error = { 0 };
        assert_int_equal(text_open(&reader, files_posix, at(*state, "a.gz"), NULL, &error), 0);
        for (size_t byte = 0; byte < (size_t)blocks * BLOCK; byte++) {
            assert_int_equal(text_peek(&reader), text[byte]);
            text_skip(&reader);
        }
        text_close(&reader);
        int left = blocks;
        const struct cancel cancel = { asked_after, &left };
        assert_int_equal(text_open(&reader, files_posix, at(*state, "a.gz"), &cancel, &error), 0);
        while (text_peek(&reader) != TEXT_END)
            text_skip(&reader);
        assert_int_equal(reader.rv, TR_ECANCELED);
        assert_says(&error, TR_ECANCELED, "interrupted at line");
        text_close(&reader);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_packing_reads_the_same, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(the_first_bytes_say_the_packing, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(streams_follow_each_other, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(damage_never_gives_other_text, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_file_of_an_archive, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(damage_of_an_archive_is_seen, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(other_files_are_named, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_name_of_a_column_is_text, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_byte_0_is_found_in_any_block, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(the_longest_line_is_a_line, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_failing_disk_is_named, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(a_reader_may_leave_early, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
