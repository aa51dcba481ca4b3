/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
#include "cli/own_ids.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nodes that are looked at at once. */
#define NODES_AT_ONCE 4096u

int own_ids_init(struct own_ids *ids, const struct tr_book *book, uint32_t ntype,
                 struct tr_error *error)
{
    struct tr_ntype_info type = TR_NTYPE_INFO_INIT;
    int rv = tr_book_ntype(book, ntype, &type, error);
    *ids = (struct own_ids){
        .book = book, .ntype = ntype, .num_nodes = type.num_nodes, .first_id = type.first_id
    };
    ids->named = rv == 0 &&
                 tr_book_find_names(book, TR_NAMES_NODES, ntype, NULL, &ids->list, NULL) == 0;
    return rv;
}

static int fail_memory(struct tr_error *error)
{
    return tr_error_set(error, TR_ENOMEM, "no memory for the IDs of nodes");
}

/* Names [first, first + count) into *text, malloc'ed, and where each begins. */
static int read_names(const struct own_ids *ids, uint64_t first, size_t count, uint64_t *offsets,
                      char **text, struct tr_error *error)
{
    int rv = tr_book_read_names(ids->book, ids->list, first, count, offsets, NULL, 0, error);
    *text = rv == 0 ? malloc((size_t)offsets[count] + 1) : NULL;
    if (rv == 0 && *text == NULL)
        rv = fail_memory(error);
    if (rv == 0)
        rv = tr_book_read_names(ids->book, ids->list, first, count, offsets, *text,
                                (size_t)offsets[count], error);
    return rv;
}

int own_ids_text(const struct own_ids *ids, uint64_t original, char **text, struct tr_error *error)
{
    uint64_t offsets[2];
    *text = NULL;
    if (!ids->named)
        return asprintf(text, "%" PRIu64, original + ids->first_id) >= 0 ? 0 : fail_memory(error);
    int rv = read_names(ids, original, 1, offsets, text, error);
    /* The name's line end is left out. */
    if (rv == 0)
        (*text)[offsets[1] - offsets[0] - 1] = '\0';
    return rv;
}

/* Finds the number of a name among [first, first + count). */
static int find_name(const struct own_ids *ids, uint64_t first, size_t count, const char *wanted,
                     uint64_t *original, bool *found, struct tr_error *error)
{
    uint64_t offsets[NODES_AT_ONCE + 1];
    const size_t length = strlen(wanted);
    char *text;
    int rv = read_names(ids, first, count, offsets, &text, error);
    for (size_t i = 0; rv == 0 && !*found && i < count; i++) {
        *found = offsets[i + 1] - offsets[i] == length + 1 &&
                 memcmp(text + (offsets[i] - offsets[0]), wanted, length) == 0;
        *original = first + i;
    }
    free(text);
    return rv;
}

static int fail_absent(const char *text, struct tr_error *error)
{
    return tr_error_set(error, TR_ENOENT, "no node has the ID '%s'", text);
}

static int find_original(const struct own_ids *ids, const char *text, uint64_t *original,
                         struct tr_error *error)
{
    if (!ids->named) {
        char *end;
        errno = 0;
        const uint64_t number = strtoull(text, &end, 10);
        if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || number < ids->first_id)
            return fail_absent(text, error);
        *original = number - ids->first_id;
        return 0;
    }
    bool found = false;
    int rv = 0;
    for (uint64_t at = 0; rv == 0 && !found && at < ids->num_nodes; at += NODES_AT_ONCE) {
        const uint64_t left = ids->num_nodes - at;
        rv = find_name(ids, at, left < NODES_AT_ONCE ? (size_t)left : NODES_AT_ONCE, text, original,
                       &found, error);
    }
    return rv != 0 || found ? rv : fail_absent(text, error);
}

int own_ids_find(const struct own_ids *ids, const char *text, uint64_t *global,
                 struct tr_error *error)
{
    uint64_t originals[NODES_AT_ONCE], original = 0;
    int rv = find_original(ids, text, &original, error);
    for (uint64_t at = 0; rv == 0 && at < ids->num_nodes; at += NODES_AT_ONCE) {
        const uint64_t left = ids->num_nodes - at;
        const size_t some = left < NODES_AT_ONCE ? (size_t)left : NODES_AT_ONCE;
        rv = tr_book_original_node_ids(ids->book, ids->ntype, at, some, originals, error);
        for (size_t i = 0; rv == 0 && i < some; i++) {
            if (originals[i] != original)
                continue;
            *global = at + i;
            return 0;
        }
    }
    return rv != 0 ? rv : fail_absent(text, error);
}
