/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An archive of NumPy arrays as a graph. The input's first byte chooses options; the rest is the
 * archive, or, as checksums would refuse nearly every change of one, the arrays for one.
 */
#include <archive.h>
#include <archive_entry.h>

#include "partition/import/npz_import.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/sink_files.h"

#define ARCHIVE_GIVEN 128
#define NAME_BYTES_MAX 200

static void put_array(struct archive *archive, const struct memory_file *file)
{
    char name[NAME_BYTES_MAX + 8];
    size_t length = file->name_length < NAME_BYTES_MAX ? file->name_length : NAME_BYTES_MAX;
    struct archive_entry *entry = archive_entry_new();
    assert(entry != NULL);
    memcpy(name, file->name, length);
    memcpy(name + length, ".npy", 5);
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (la_int64_t)file->size);
    /* libarchive takes no empty name, and none that is no UTF-8. */
    if (archive_write_header(archive, entry) == ARCHIVE_OK && file->size > 0)
        (void)archive_write_data(archive, file->data, file->size);
    archive_entry_free(entry);
}

/* The arrays, stored; returns the size. */
static size_t pack(const uint8_t *data, size_t size, uint8_t *room, size_t room_size)
{
    struct memory_files arrays;
    size_t used = 0;
    struct archive *archive = archive_write_new();
    assert(archive != NULL);
    memory_files_init(&arrays, "edges", data, size);
    assert(archive_write_set_format_zip(archive) == ARCHIVE_OK);
    assert(archive_write_set_options(archive, "compression=store") == ARCHIVE_OK);
    assert(archive_write_open_memory(archive, room, room_size, &used) == ARCHIVE_OK);
    for (uint32_t i = 0; i < arrays.count; i++)
        put_array(archive, &arrays.all[i]);
    archive_write_close(archive);
    archive_write_free(archive);
    memory_files_fini(&arrays);
    return used;
}

static void import(const uint8_t *data, size_t size, const struct npz_import_options *options)
{
    struct memory_files input;
    struct sink_files files;
    struct error error = { 0 };
    struct npz_facts facts;
    memory_files_init(&input, "a.npz", data, size);
    sink_files_init(&files, &input);
    const struct raw_write_options write = { .files = &files.base };
    int rv = npz_import(FUZZ_FOLDER "/a.npz", options, SINK_OUT, &write, &facts, &error);
    fuzz_check(rv, &error);
    if (rv == 0) {
        assert(facts.edges_name != NULL && facts.pairs_mutual <= facts.pairs_seen);
        npz_facts_fini(&facts);
    }
    sink_files_fini(&files);
    memory_files_fini(&input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = { data, size };
    uint8_t choice = fuzz_byte(&bytes);
    const struct npz_import_options options = {
        .undirected = choice & 1,
        .split = choice >> 1 & 1,
        .loops = (enum raw_loops)((choice >> 2 & 3) % 3),
        .duplicates = (enum raw_duplicates)(choice >> 4 & 3),
    };
    if (choice & ARCHIVE_GIVEN) {
        import(bytes.at, bytes.left, &options);
        return 0;
    }
    /* Names and numbers that the archive adds to each array. */
    size_t room_size = bytes.left + (size_t)(MEMORY_FILES_MAX + 1) * 1024 + 65536;
    uint8_t *room = malloc(room_size);
    assert(room != NULL);
    size_t used = pack(bytes.at, bytes.left, room, room_size);
    uint8_t *packed = fuzz_block(room, used);
    free(room);
    import(packed, used, &options);
    free(packed);
    return 0;
}
