/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed streams and members of zip archives, by libarchive.
 *
 * The filters are named one by one: archive_read_support_filter_all() has some more, which run
 * programs that the input's first bytes choose.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "partition/raw/unpack.h"

#define PACKED_BYTES ((size_t)1 << 18)
#define NAME_MAX_SHOWN 100 /* bytes of a member's name in a message */

struct archive_unpack {
    struct unpack base;
    struct archive *archive;
    struct file *file;
    const char *path;
    const char *kind;
    uint64_t offset;     /* in the file, of what libarchive reads next */
    bool zip;            /* an archive, whose end is behind what is read of it */
    bool ended;          /* there is no more */
    int failed;          /* by a read of the file: its TR_E* */
    struct error reason; /* of that */
    uint8_t packed[PACKED_BYTES];
};

static la_ssize_t give_packed(struct archive *archive, void *arg, const void **data)
{
    struct archive_unpack *unpack = arg;
    size_t got = 0;
    unpack->failed = file_read_some(unpack->file, unpack->offset, unpack->packed, PACKED_BYTES,
                                    &got, &unpack->reason);
    if (unpack->failed != 0) {
        archive_set_error(archive, EIO, "a read failed");
        return -1;
    }
    unpack->offset += got;
    *data = unpack->packed;
    return (la_ssize_t)got;
}

/* Zip archives have their index at the end. */
static la_int64_t seek_packed(struct archive *archive, void *arg, la_int64_t offset, int whence)
{
    struct archive_unpack *unpack = arg;
    int64_t size = (int64_t)unpack->file->size;
    int64_t from = whence == SEEK_END ? size : whence == SEEK_CUR ? (int64_t)unpack->offset : 0;
    (void)archive;
    /* Both are outside data: a sum beyond the file is cut at its ends. */
    int64_t to = offset > size - from ? size : from + offset;
    unpack->offset = to < 0 ? 0 : (uint64_t)to;
    return (la_int64_t)unpack->offset;
}

static int unpack_fail(const struct archive_unpack *unpack, struct error *error)
{
    if (unpack->failed != 0) {
        if (error != NULL)
            *error = unpack->reason;
        return unpack->failed;
    }
    const char *why = archive_error_string(unpack->archive);
    if (why == NULL)
        why = "no reason is known";
    if (archive_errno(unpack->archive) == ENOMEM)
        return error_set(error, TR_ENOMEM, "%s: no memory to unpack it", unpack->path);
    /* Each library has words of its own for an end that comes too early. */
    if (strstr(why, "runcated") != NULL || strstr(why, "No progress") != NULL)
        return error_set(error, TR_EFORMAT,
                         "%s: the %s data end too early; it is truncated, copy it again",
                         unpack->path, unpack->kind);
    return error_set(error, TR_EFORMAT, "%s: the %s data are damaged (%s); copy it again",
                     unpack->path, unpack->kind, why);
}

static int open_archive(struct archive_unpack *unpack, struct error *error)
{
    unpack->offset = 0;
    unpack->archive = archive_read_new();
    if (unpack->archive == NULL)
        return error_set(error, TR_ENOMEM, "%s: no memory to unpack it", unpack->path);
    struct archive *archive = unpack->archive;
    if (unpack->zip) {
        archive_read_support_format_zip(archive);
    } else {
        /* An empty text leaves nothing for the format of raw bytes. */
        archive_read_support_format_raw(archive);
        archive_read_support_format_empty(archive);
        archive_read_support_filter_bzip2(archive);
        archive_read_support_filter_xz(archive);
        archive_read_support_filter_zstd(archive);
        archive_read_support_filter_lz4(archive);
    }
    archive_read_set_seek_callback(archive, seek_packed);
    archive_read_set_callback_data(archive, unpack);
    archive_read_set_read_callback(archive, give_packed);
    return archive_read_open1(archive) == ARCHIVE_OK ? 0 : unpack_fail(unpack, error);
}

static void free_archive(struct archive_unpack *unpack)
{
    archive_read_free(unpack->archive);
    unpack->archive = NULL;
}

/* *entry is NULL at the end. */
static int next_entry(struct archive_unpack *unpack, struct archive_entry **entry,
                      struct error *error)
{
    int state = archive_read_next_header(unpack->archive, entry);
    if (state == ARCHIVE_EOF) {
        *entry = NULL;
        return 0;
    }
    return state == ARCHIVE_OK || state == ARCHIVE_WARN ? 0 : unpack_fail(unpack, error);
}

static const char *name_of(struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);
    if (name == NULL)
        name = archive_entry_pathname_utf8(entry);
    return name != NULL ? name : "?";
}

/* The next member that is a file of the user's; macOS adds files of its own. */
static int next_file(struct archive_unpack *unpack, struct archive_entry **entry,
                     struct error *error)
{
    int rv;
    do {
        rv = next_entry(unpack, entry, error);
    } while (rv == 0 && *entry != NULL &&
             (archive_entry_filetype(*entry) != AE_IFREG ||
              strncmp(name_of(*entry), "__MACOSX/", 9) == 0));
    return rv;
}

/* Whether the name ends as those of files that are read do, and not as a README's. */
static bool looks_read(const char *name)
{
    static const char *const ENDINGS[] = { ".csv",      ".tsv", ".jsonl", ".ndjson",
                                           ".json",     ".mtx", ".data",  ".edges",
                                           ".edgelist", ".svm", ".tab" };
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending != NULL && i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        if (strcasecmp(ending, ENDINGS[i]) == 0)
            return true;
    }
    return false;
}

/* Goes to the member of that name, or, where member is NULL, to the first. */
static int find_member(struct archive_unpack *unpack, const char *member, struct error *error)
{
    struct archive_entry *entry;
    char first[NAME_MAX_SHOWN] = "";
    for (;;) {
        int rv = next_file(unpack, &entry, error);
        if (rv != 0)
            return rv;
        if (entry == NULL)
            break;
        if (first[0] == '\0' || (!looks_read(first) && looks_read(name_of(entry))))
            snprintf(first, sizeof first, "%s", name_of(entry));
        if (member == NULL || strcmp(name_of(entry), member) == 0)
            return archive_entry_is_encrypted(entry)
                       ? error_set(error, TR_EUNSUPPORTED,
                                   "%s: '%.*s' is encrypted; unpack it first", unpack->path,
                                   NAME_MAX_SHOWN, name_of(entry))
                       : 0;
    }
    if (first[0] == '\0')
        return error_set(error, TR_EFORMAT, "%s: the archive holds no file", unpack->path);
    return error_set(error, TR_ENOENT, "%s: the archive holds no such file; it has '%s'",
                     unpack->path, first);
}

/* A second file would be left out, and nobody would know which one was read. The message names two,
 * the first of which is one that is probably meant. */
static int refuse_second_file(struct archive_unpack *unpack, struct error *error)
{
    struct archive_entry *entry;
    char meant[NAME_MAX_SHOWN] = "", other[NAME_MAX_SHOWN] = "";
    for (uint64_t count = 0;; count++) {
        int rv = next_file(unpack, &entry, error);
        if (rv != 0 || (entry == NULL && count < 2))
            return rv;
        if (entry == NULL)
            break;
        const char *name = name_of(entry);
        const bool better = !looks_read(meant) && looks_read(name);
        if (count == 1 || better)
            snprintf(other, sizeof other, "%s", better ? meant : name);
        if (count == 0 || better)
            snprintf(meant, sizeof meant, "%s", name);
    }
    return error_set(error, TR_EINVAL,
                     "%s: the archive holds several files, '%s' and '%s' among them; name one "
                     "behind the archive: %s/%s",
                     unpack->path, meant, other, unpack->path, meant);
}

/* Some filters end at bytes that begin no other stream, which may be the rest of a damaged one. */
static int check_end(struct archive_unpack *unpack, struct error *error)
{
    int64_t used = archive_filter_bytes(unpack->archive, -1);
    if (unpack->zip || (uint64_t)used >= unpack->file->size)
        return 0;
    return error_set(error, TR_EFORMAT,
                     "%s: the %s data end at byte %" PRId64 " of %" PRIu64
                     ", and what follows is not part of them; copy it again",
                     unpack->path, unpack->kind, used, unpack->file->size);
}

static int read_archive(struct unpack *self, void *data, size_t size, size_t *got,
                        struct error *error)
{
    struct archive_unpack *unpack = (struct archive_unpack *)self;
    *got = 0;
    while (!unpack->ended && *got < size) {
        la_ssize_t more = archive_read_data(unpack->archive, (char *)data + *got, size - *got);
        if (more < 0)
            return unpack_fail(unpack, error);
        *got += (size_t)more;
        unpack->ended = more == 0;
    }
    return unpack->ended ? check_end(unpack, error) : 0;
}

static void close_archive(struct unpack *self)
{
    struct archive_unpack *unpack = (struct archive_unpack *)self;
    archive_read_free(unpack->archive);
    free(unpack);
}

static int open_zip(struct archive_unpack *unpack, const char *member, struct error *error)
{
    int rv = open_archive(unpack, error);
    if (rv == 0 && member == NULL) {
        rv = refuse_second_file(unpack, error);
        if (rv != 0)
            return rv;
        free_archive(unpack);
        rv = open_archive(unpack, error);
    }
    return rv == 0 ? find_member(unpack, member, error) : rv;
}

static int open_stream(struct archive_unpack *unpack, struct error *error)
{
    struct archive_entry *entry = NULL;
    int rv = open_archive(unpack, error);
    if (rv == 0)
        rv = next_entry(unpack, &entry, error);
    unpack->ended = entry == NULL;
    return rv;
}

static struct archive_unpack *new_unpack(struct file *file, const struct file_kind *kind,
                                         const char *path, struct error *error)
{
    struct archive_unpack *unpack = malloc(sizeof *unpack);
    if (unpack == NULL) {
        error_set(error, TR_ENOMEM, "%s: no memory to unpack it", path);
        return NULL;
    }
    unpack->base = (struct unpack){ read_archive, close_archive };
    unpack->archive = NULL;
    unpack->file = file;
    unpack->path = path;
    unpack->kind = kind->name;
    unpack->zip = kind->packing == PACKING_ZIP;
    unpack->ended = false;
    unpack->failed = 0;
    unpack->reason = (struct error){ 0 };
    return unpack;
}

int unpack_open_archive(struct file *file, const struct file_kind *kind, const char *path,
                        const char *member, struct unpack **out, struct error *error)
{
    struct archive_unpack *unpack = new_unpack(file, kind, path, error);
    if (unpack == NULL)
        return TR_ENOMEM;
    int rv = unpack->zip ? open_zip(unpack, member, error) : open_stream(unpack, error);
    if (rv != 0)
        close_archive(&unpack->base);
    else
        *out = &unpack->base;
    return rv;
}

int unpack_list(struct file *file, const char *path, int (*visit)(void *arg, const char *name),
                void *arg, struct error *error)
{
    static const struct file_kind ZIP = { "zip", PACKING_ZIP, NULL };
    struct archive_entry *entry = NULL;
    struct archive_unpack *unpack = new_unpack(file, &ZIP, path, error);
    if (unpack == NULL)
        return TR_ENOMEM;
    int rv = open_archive(unpack, error);
    do {
        if (rv == 0)
            rv = next_file(unpack, &entry, error);
        if (rv == 0 && entry != NULL)
            rv = visit(arg, name_of(entry));
    } while (rv == 0 && entry != NULL);
    close_archive(&unpack->base);
    return rv;
}
