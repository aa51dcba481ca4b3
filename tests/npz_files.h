/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Archives of NumPy arrays as tests make them: a .zip of .npy files, packed or stored.
 *
 * Ownership: npz_end closes the archive. A failure ends the program.
 */
#ifndef TESTS_NPZ_FILES_H
#define TESTS_NPZ_FILES_H

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NPZ_FILES_REQUIRE(what)                                               \
    do {                                                                      \
        if (!(what)) {                                                        \
            fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #what); \
            exit(99);                                                         \
        }                                                                     \
    } while (0)

static inline struct archive *npz_begin(const char *path)
{
    struct archive *archive = archive_write_new();
    NPZ_FILES_REQUIRE(archive != NULL);
    NPZ_FILES_REQUIRE(archive_write_set_format_zip(archive) == ARCHIVE_OK);
    NPZ_FILES_REQUIRE(archive_write_open_filename(archive, path) == ARCHIVE_OK);
    return archive;
}

static inline void npz_put(struct archive *archive, const char *name, const void *data, size_t size)
{
    struct archive_entry *entry = archive_entry_new();
    NPZ_FILES_REQUIRE(entry != NULL);
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (la_int64_t)size);
    NPZ_FILES_REQUIRE(archive_write_header(archive, entry) == ARCHIVE_OK);
    NPZ_FILES_REQUIRE(archive_write_data(archive, data, size) == (la_ssize_t)size);
    archive_entry_free(entry);
}

/* An array by the words of its header: shape as Python writes it, "(3, 2)". */
static inline void npz_add(struct archive *archive, const char *name, const char *descr,
                           const char *fortran, const char *shape, const void *data, size_t size)
{
    char member[200], head[300];
    uint8_t *file = malloc(sizeof head + size);
    NPZ_FILES_REQUIRE(file != NULL);
    int length = snprintf(head, sizeof head,
                          "\x93NUMPY%c%c%c%c{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n",
                          1, 0, 0, 0, descr, fortran, shape);
    memcpy(file, head, (size_t)length);
    /* The two bytes of the length lie behind magic and version, and count what follows them. */
    file[8] = (uint8_t)((length - 10) & 255);
    file[9] = (uint8_t)((length - 10) >> 8);
    memcpy(file + length, data, size);
    snprintf(member, sizeof member, "%s.npy", name);
    npz_put(archive, member, file, (size_t)length + size);
    free(file);
}

static inline void npz_end(struct archive *archive)
{
    NPZ_FILES_REQUIRE(archive_write_close(archive) == ARCHIVE_OK);
    NPZ_FILES_REQUIRE(archive_write_free(archive) == ARCHIVE_OK);
}

#endif
