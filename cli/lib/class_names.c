/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/class_names.h"

#include <stdlib.h>

#include <troupe/book.h>

static int read_list(struct class_names *names, const struct tr_book *book, uint32_t list,
                     size_t count, struct tr_error *error)
{
    names->offsets = calloc(count + 1, sizeof *names->offsets);
    if (names->offsets == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for the names of classes");
    int rv = tr_book_read_names(book, list, 0, count, names->offsets, NULL, 0, error);
    if (rv != 0)
        return rv;
    size_t bytes = (size_t)names->offsets[count];
    names->text = malloc(bytes + 1);
    if (names->text == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for the names of classes");
    rv = tr_book_read_names(book, list, 0, count, names->offsets, names->text, bytes, error);
    if (rv != 0)
        return rv;
    /* In place of their line ends. */
    for (size_t i = 1; i <= count; i++)
        names->text[names->offsets[i] - 1] = '\0';
    names->count = count;
    return 0;
}

int class_names_read(struct class_names *names, const char *path, const char *labels, size_t most,
                     struct tr_error *error)
{
    struct tr_names_info info = TR_NAMES_INFO_INIT;
    struct tr_book *book;
    uint32_t list;
    *names = (struct class_names){ 0 };
    int rv = tr_book_open(path, &book, error);
    if (rv != 0)
        return rv;
    /* A graph without such a list has numbers alone. */
    if (tr_book_find_names(book, TR_NAMES_VALUES, 0, labels, &list, NULL) == 0) {
        rv = tr_book_names(book, list, &info, error);
        if (rv == 0)
            rv = read_list(names, book, list, info.count < most ? (size_t)info.count : most, error);
    }
    tr_book_close(book);
    return rv;
}

void class_names_free(struct class_names *names)
{
    free(names->text);
    free(names->offsets);
    *names = (struct class_names){ 0 };
}

const char *class_names_find(const struct class_names *names, size_t class)
{
    return class < names->count ? names->text + names->offsets[class] : NULL;
}
