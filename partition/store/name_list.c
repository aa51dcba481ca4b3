/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* asprintf */

#include "partition/store/name_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const WORDS[NAMES_OF_MAX] = { "nodes", "values", "columns" };

const char *names_of_word(enum names_of of)
{
    return WORDS[of];
}

bool names_of_find(const char *word, enum names_of *of)
{
    for (int i = 0; i < NAMES_OF_MAX; i++) {
        if (strcmp(word, WORDS[i]) == 0) {
            *of = (enum names_of)i;
            return true;
        }
    }
    return false;
}

static char *path_of(const char *stem, const char *end)
{
    char *path = NULL;
    return asprintf(&path, "%s%s", stem, end) < 0 ? NULL : path;
}

static int create_one(struct npy_writer *writer, struct files *files, const char *stem,
                      const char *end, const char *descr, struct error *error)
{
    const uint64_t shape = NPY_ROWS_UNKNOWN;
    char *path = path_of(stem, end);
    int rv = path == NULL ? error_set(error, TR_ENOMEM, "%s: no memory to write it", stem)
                          : npy_create(writer, files, path, descr, 1, &shape, error);
    free(path);
    return rv;
}

static int append_offset(struct name_list_writer *writer, struct error *error)
{
    int64_t offset = (int64_t)writer->bytes;
    return npy_append(&writer->offsets, &offset, sizeof offset, error);
}

int name_list_create(struct name_list_writer *writer, struct files *files, const char *stem,
                     struct error *error)
{
    *writer = (struct name_list_writer){ 0 };
    int rv = create_one(&writer->text, files, stem, NAME_LIST_TEXT, "|u1", error);
    if (rv == 0)
        rv = create_one(&writer->offsets, files, stem, NAME_LIST_OFFSETS, "<i8", error);
    if (rv == 0)
        rv = append_offset(writer, error);
    if (rv != 0)
        name_list_writer_close(writer);
    return rv;
}

int name_list_add(struct name_list_writer *writer, const char *name, size_t length,
                  struct error *error)
{
    int rv = npy_append(&writer->text, name, length, error);
    if (rv == 0)
        rv = npy_append(&writer->text, "\n", 1, error);
    writer->bytes += length + 1;
    writer->count++;
    return rv == 0 ? append_offset(writer, error) : rv;
}

int name_list_finish(struct name_list_writer *writer, struct error *error)
{
    int rv = npy_finish(&writer->text, error);
    return rv == 0 ? npy_finish(&writer->offsets, error) : rv;
}

void name_list_writer_close(struct name_list_writer *writer)
{
    npy_writer_close(&writer->text);
    npy_writer_close(&writer->offsets);
    *writer = (struct name_list_writer){ 0 };
}

static int open_one(struct npy *npy, struct files *files, const char *stem, const char *end,
                    char kind, uint8_t item_bytes, struct error *error)
{
    char *path = path_of(stem, end);
    int rv = path == NULL ? error_set(error, TR_ENOMEM, "%s: no memory to read it", stem)
                          : npy_open(npy, files, path, error);
    if (rv == 0 && (npy->header.kind != kind || npy->header.item_bytes != item_bytes ||
                    npy->header.ndim != 1)) {
        rv = error_set(error, TR_EFORMAT, "%s: does not hold a list of %s; import the graph again",
                       path, kind == 'u' ? "bytes" : "int64");
        npy_close(npy);
    }
    free(path);
    return rv;
}

int name_list_open(struct name_list *list, struct files *files, const char *stem, uint64_t count,
                   struct error *error)
{
    *list = (struct name_list){ .count = count };
    int rv = open_one(&list->text, files, stem, NAME_LIST_TEXT, 'u', 1, error);
    if (rv != 0)
        return rv;
    rv = open_one(&list->offsets, files, stem, NAME_LIST_OFFSETS, 'i', 8, error);
    if (rv != 0) {
        npy_close(&list->text);
        return rv;
    }
    if (list->offsets.num_rows == 0 || list->offsets.num_rows - 1 != count) {
        rv = error_set(error, TR_EFORMAT,
                       "%s" NAME_LIST_OFFSETS ": has %" PRIu64 " elements for %" PRIu64 " names",
                       stem, list->offsets.num_rows, count);
        name_list_close(list);
    }
    return rv;
}

void name_list_close(struct name_list *list)
{
    npy_close(&list->text);
    npy_close(&list->offsets);
}

int name_list_offsets(struct name_list *list, uint64_t first, uint64_t count, uint64_t *offsets,
                      struct error *error)
{
    int rv = npy_read_ids(&list->offsets, first, count + 1, offsets, error);
    for (uint64_t i = 0; rv == 0 && i <= count; i++) {
        /* A name has its line end, and the last one ends in the text. */
        bool wrong = i == 0 ? first == 0 && offsets[0] != 0
                            : offsets[i] <= offsets[i - 1] ||
                                  offsets[i] - offsets[i - 1] > NAME_LIST_BYTES_MAX;
        if (wrong || offsets[i] > list->text.num_rows)
            rv = error_set(error, TR_EFORMAT,
                           "%s: element %" PRIu64 " is %" PRIu64 ", where no name ends",
                           list->offsets.file.path, first + i, offsets[i]);
    }
    return rv;
}

int name_list_text(struct name_list *list, const uint64_t *offsets, uint64_t count, char *text,
                   struct error *error)
{
    int rv = npy_read_rows(&list->text, offsets[0], offsets[count] - offsets[0], text, error);
    for (uint64_t i = 0; rv == 0 && i < count; i++) {
        if (text[offsets[i + 1] - offsets[0] - 1] != '\n')
            rv = error_set(error, TR_EFORMAT, "%s: byte %" PRIu64 " is not a line end",
                           list->text.file.path, offsets[i + 1] - 1);
    }
    return rv;
}
