/* SPDX-License-Identifier: Apache-2.0 */
/* The user's names beside NAME.json are those of the raw graph: the same lists, and in each the same
 * names at the same numbers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "partition/build/verify_private.h"
#include "partition/store/part_files.h"

/* Names compared at a time; their texts take at most twice NAMES_AT_ONCE * NAME_LIST_BYTES_MAX. */
#define NAMES_AT_ONCE ((uint64_t)1024)

static bool same_key(const struct names_key *a, const struct names_key *b)
{
    if (a->of != b->of || a->ntype != b->ntype || (a->table == NULL) != (b->table == NULL))
        return false;
    return a->table == NULL || strcmp(a->table, b->table) == 0;
}

/* Some names of a list. */
struct names_piece {
    uint64_t offsets[NAMES_AT_ONCE + 1];
    char *text;
};

static int read_piece(struct verification *verification, struct name_list *list, uint64_t first,
                      uint64_t count, struct names_piece *piece)
{
    int rv = name_list_offsets(list, first, count, piece->offsets, verification->error);
    if (rv != 0)
        return rv;
    uint64_t bytes = piece->offsets[count] - piece->offsets[0];
    free(piece->text);
    piece->text = malloc((size_t)bytes + 1);
    return piece->text == NULL
               ? job_no_memory(verification->error, "names", bytes)
               : name_list_text(list, piece->offsets, count, piece->text, verification->error);
}

/* A name of a piece with its line end, in *length bytes. */
static const char *name_at(const struct names_piece *piece, uint64_t i, size_t *length)
{
    *length = (size_t)(piece->offsets[i + 1] - piece->offsets[i]);
    return piece->text + (piece->offsets[i] - piece->offsets[0]);
}

static int name_differs(struct verification *verification, const struct names_key *key,
                        uint64_t number)
{
    char *name = part_file_names(&verification->book->types, key);
    char *path = store_path(verification->store, UINT32_MAX, name);
    int rv = error_set(verification->error, TR_EMISMATCH,
                       "%s%s: name %" PRIu64 " is not as in the input; partition again",
                       path == NULL ? "?" : path, NAME_LIST_TEXT, number);
    free(path);
    return rv;
}

static int compare_lists(struct verification *verification, const struct names_key *key,
                         struct name_list *found, struct name_list *expected)
{
    struct names_piece *pieces = calloc(2, sizeof *pieces);
    int rv = pieces == NULL ? job_no_memory(verification->error, "names", 2 * sizeof *pieces) : 0;
    for (uint64_t done = 0; rv == 0 && done < expected->count;) {
        uint64_t left = expected->count - done, some = left < NAMES_AT_ONCE ? left : NAMES_AT_ONCE;
        rv = job_step(&verification->job, "names", done, expected->count, verification->error);
        if (rv == 0)
            rv = read_piece(verification, found, done, some, &pieces[0]);
        if (rv == 0)
            rv = read_piece(verification, expected, done, some, &pieces[1]);
        for (uint64_t i = 0; rv == 0 && i < some; i++) {
            size_t a, b;
            const char *one = name_at(&pieces[0], i, &a), *other = name_at(&pieces[1], i, &b);
            if (a != b || memcmp(one, other, a) != 0)
                rv = name_differs(verification, key, done + i);
        }
        done += some;
    }
    for (int i = 0; pieces != NULL && i < 2; i++)
        free(pieces[i].text);
    free(pieces);
    return rv;
}

static int lists_differ(struct verification *verification, const struct names_key *key)
{
    return error_set(verification->error, TR_EMISMATCH,
                     "%s: names of %s%s%s of type '%s' are not as in the input; partition again",
                     verification->store->path, names_of_word(key->of),
                     key->table != NULL ? " of " : "", key->table != NULL ? key->table : "",
                     verification->book->types.ntypes[key->ntype]);
}

static int verify_list(struct verification *verification, const struct raw_names *names)
{
    const struct book_file *file = store_book_file(verification->store);
    struct name_list found, expected;
    uint32_t at = 0;
    while (at < file->num_names && !same_key(&file->names[at].key, &names->key))
        at++;
    if (at == file->num_names || file->names[at].count != names->count)
        return lists_differ(verification, &names->key);
    int rv = store_open_names(verification->store, at, &found, verification->error);
    if (rv != 0)
        return rv;
    rv = name_list_open(&expected, names->files, names->stem, names->count, verification->error);
    if (rv == 0) {
        rv = compare_lists(verification, &names->key, &found, &expected);
        name_list_close(&expected);
    }
    name_list_close(&found);
    return rv;
}

int verify_names(struct verification *verification)
{
    const struct book_file *file = store_book_file(verification->store);
    const struct raw_graph *raw = verification->raw;
    int rv = 0;
    for (uint32_t i = 0; rv == 0 && i < raw->num_names; i++)
        rv = verify_list(verification, &raw->names[i]);
    for (uint32_t i = 0; rv == 0 && i < file->num_names; i++) {
        uint32_t at = 0;
        while (at < raw->num_names && !same_key(&file->names[i].key, &raw->names[at].key))
            at++;
        if (at == raw->num_names)
            rv = lists_differ(verification, &file->names[i].key);
    }
    return rv;
}
