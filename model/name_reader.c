/* SPDX-License-Identifier: Apache-2.0 */
#include "model/name_reader.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_AT_ONCE ((uint64_t)4096)

static int take_failure(const struct tr_error *why, int rv, struct error *error)
{
    return error_set(error, rv, "%s", why->message);
}

static int find_list(struct name_reader *reader, enum tr_names_of of, uint32_t ntype,
                     const char *table, struct name_piece *piece, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    struct tr_names_info info = TR_NAMES_INFO_INIT;
    int rv = tr_book_find_names(reader->book, of, ntype, table, &piece->list, &why);
    if (rv == TR_ENOENT)
        return 0;
    if (rv == 0)
        rv = tr_book_names(reader->book, piece->list, &info, &why);
    if (rv != 0)
        return take_failure(&why, rv, error);
    piece->total = info.count;
    piece->offsets = malloc((NAMES_AT_ONCE + 1) * sizeof *piece->offsets);
    if (piece->offsets == NULL)
        return error_set(error, TR_ENOMEM, "no memory for names");
    piece->there = true;
    return 0;
}

int name_reader_open(struct name_reader *reader, const char *path, uint32_t ntype,
                     const char *labels, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    *reader = (struct name_reader){ 0 };
    int rv = tr_book_open(path, &reader->book, &why);
    if (rv != 0)
        return take_failure(&why, rv, error);
    rv = find_list(reader, TR_NAMES_NODES, ntype, NULL, &reader->nodes, error);
    if (rv == 0)
        rv = find_list(reader, TR_NAMES_VALUES, ntype, labels, &reader->classes, error);
    if (rv == 0) {
        struct tr_ntype_info info = TR_NTYPE_INFO_INIT;
        rv = tr_book_ntype(reader->book, ntype, &info, &why);
        reader->first_id = info.first_id;
        rv = rv == 0 ? 0 : take_failure(&why, rv, error);
    }
    if (rv != 0)
        name_reader_close(reader);
    return rv;
}

void name_reader_close(struct name_reader *reader)
{
    struct name_piece *pieces[] = { &reader->nodes, &reader->classes };
    for (int i = 0; i < 2; i++) {
        free(pieces[i]->offsets);
        free(pieces[i]->text);
    }
    tr_book_close(reader->book);
    *reader = (struct name_reader){ 0 };
}

/* Reads the piece that has the name. */
static int read_piece(struct name_reader *reader, struct name_piece *piece, uint64_t at,
                      struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    uint64_t first = at / NAMES_AT_ONCE * NAMES_AT_ONCE;
    uint64_t left = piece->total - first, count = left < NAMES_AT_ONCE ? left : NAMES_AT_ONCE;
    piece->count = 0;
    int rv = tr_book_read_names(reader->book, piece->list, first, (size_t)count, piece->offsets,
                                NULL, 0, &why);
    if (rv == 0 && piece->offsets[count] > piece->text_room) {
        free(piece->text);
        piece->text_room = (size_t)piece->offsets[count];
        piece->text = malloc(piece->text_room);
        if (piece->text == NULL) {
            piece->text_room = 0;
            return error_set(error, TR_ENOMEM, "no memory for names");
        }
    }
    if (rv == 0)
        rv = tr_book_read_names(reader->book, piece->list, first, (size_t)count, piece->offsets,
                                piece->text, piece->text_room, &why);
    if (rv != 0)
        return take_failure(&why, rv, error);
    piece->first = first;
    piece->count = count;
    return 0;
}

bool name_reader_find(struct name_reader *reader, struct name_piece *piece, uint64_t at,
                      const char **name, size_t *length, int *rv, struct error *error)
{
    *rv = 0;
    if (!piece->there || at >= piece->total)
        return false;
    if (piece->count == 0 || at < piece->first || at >= piece->first + piece->count)
        *rv = read_piece(reader, piece, at, error);
    if (*rv != 0)
        return false;
    uint64_t i = at - piece->first;
    *name = piece->text + piece->offsets[i];
    /* Each has a line end behind it. */
    *length = (size_t)(piece->offsets[i + 1] - piece->offsets[i] - 1);
    return true;
}
