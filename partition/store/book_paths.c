/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/store/book_paths.h"

#include <stdlib.h>
#include <string.h>

#include "partition/store/part_files.h"

/* Frees the name; NULL stands for a lack of memory. */
static int visit_inside(const char *folder, char *name, int (*visit)(void *arg, const char *path),
                        void *arg)
{
    char *path = name != NULL ? files_join(folder, name) : NULL;
    int rv = path != NULL ? visit(arg, path) : TR_ENOMEM;
    free(path);
    free(name);
    return rv;
}

/* One of the two files of a list of names. */
static char *names_file(const struct graph_types *types, const struct names_key *key, bool text)
{
    char *stem = part_file_names(types, key);
    const char *end = text ? NAME_LIST_TEXT : NAME_LIST_OFFSETS;
    char *name = stem != NULL ? malloc(strlen(stem) + strlen(end) + 1) : NULL;
    if (name != NULL) {
        strcpy(name, stem);
        strcat(name, end);
    }
    free(stem);
    return name;
}

int book_paths(const struct book_file *file, const char *book_path, const bool *serves,
               int (*visit)(void *arg, const char *path), void *arg)
{
    const struct book *book = &file->book;
    /* Without trainers no deal was written. */
    uint32_t num_deals = file->num_trainers > 0 ? book->types.num_ntypes : 0;
    char *folder = files_parent(book_path);
    if (folder == NULL)
        return TR_ENOMEM;
    int rv = visit(arg, book_path);
    for (uint32_t t = 0; rv == 0 && t < num_deals; t++)
        rv = visit_inside(folder, part_file_deal(&book->types, t), visit, arg);
    for (uint32_t i = 0; rv == 0 && i < 2 * file->num_names; i++)
        rv = visit_inside(folder, names_file(&book->types, &file->names[i / 2].key, i % 2 == 0),
                          visit, arg);
    for (uint32_t part = 0; rv == 0 && part < book->num_parts; part++)
        if (serves == NULL || serves[part])
            rv = visit_inside(folder, strdup(file->part_folders[part]), visit, arg);
    free(folder);
    return rv;
}
