/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a book keeps of nodes, values and columns. */
#include <string.h>

#include <troupe/book.h>

#include "api/names_read.h"
#include "api/open_book.h"
#include "api/public_error.h"
#include "api/schema.h"
#include "api/sized.h"
#include "partition/store/store.h"

int tr_book_names(const struct tr_book *book, uint32_t list, struct tr_names_info *info,
                  struct tr_error *error)
{
    const struct book_file *file = store_book_file(open_book_store(book));
    if (list >= file->num_names)
        return schema_refuse("list of names", list, file->num_names, error);
    const struct book_names *names = &file->names[list];
    const struct tr_names_info known = { .of = (uint32_t)names->key.of,
                                         .ntype = names->key.ntype,
                                         .table = names->key.table,
                                         .count = names->count };
    return sized_write(info, &known, sizeof known, "tr_names_info", error);
}

int tr_book_find_names(const struct tr_book *book, uint32_t of, uint32_t ntype, const char *table,
                       uint32_t *list, struct tr_error *error)
{
    const struct book_file *file = store_book_file(open_book_store(book));
    for (uint32_t i = 0; i < file->num_names; i++) {
        const struct names_key *key = &file->names[i].key;
        if ((uint32_t)key->of != of || key->ntype != ntype ||
            (key->table == NULL) != (table == NULL))
            continue;
        if (table == NULL || strcmp(key->table, table) == 0) {
            *list = i;
            return 0;
        }
    }
    return tr_error_set(error, TR_ENOENT, "the graph has no such list of names");
}

int tr_book_read_names(const struct tr_book *book, uint32_t list, uint64_t first, size_t count,
                       uint64_t *offsets, char *text, size_t text_bytes, struct tr_error *error)
{
    struct store *store = open_book_store(book);
    const struct book_file *file = store_book_file(store);
    struct name_list names;
    struct error inner = { 0 };
    if (list >= file->num_names)
        return schema_refuse("list of names", list, file->num_names, error);
    int rv = names_check_range(first, count, file->names[list].count, &inner);
    if (rv == 0)
        rv = store_open_names(store, list, &names, &inner);
    if (rv == 0)
        rv = names_read(&names, first, count, offsets, text, text_bytes, &inner);
    return rv == 0 ? 0 : error_give(&inner, error);
}
