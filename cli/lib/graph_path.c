/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* asprintf */

#include "cli/lib/graph_path.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <troupe/checkpoint.h>
#include <troupe/types.h>

/* A raw graph's folder has a metadata.json, which is no book. */
static int is_graph(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return strcmp(entry->d_name, "metadata.json") != 0 && entry->d_name[0] != '.' && length > 5 &&
           strcmp(entry->d_name + length - 5, ".json") == 0;
}

static int choose(const char *folder, struct dirent **entries, int count, char **path,
                  struct tr_error *error)
{
    if (count == 0)
        return tr_error_set(error, TR_ENOENT,
                            "%s holds no graph: there is no NAME.json in it; troupe partition "
                            "makes one of a raw graph",
                            folder);
    if (count > 1)
        return tr_error_set(error, TR_EINVAL,
                            "%s holds several graphs, such as %s and %s: name one", folder,
                            entries[0]->d_name, entries[1]->d_name);
    if (asprintf(path, "%s/%s", folder, entries[0]->d_name) >= 0)
        return 0;
    *path = NULL;
    return tr_error_set(error, TR_ENOMEM, "%s: no memory", folder);
}

int graph_path_find(const char *word, char **path, struct tr_error *error)
{
    struct stat found;
    struct dirent **entries = NULL;
    *path = NULL;
    if (stat(word, &found) != 0 || !S_ISDIR(found.st_mode)) {
        *path = strdup(word);
        return *path != NULL ? 0 : tr_error_set(error, TR_ENOMEM, "%s: no memory", word);
    }
    int count = scandir(word, &entries, is_graph, alphasort);
    if (count < 0)
        return tr_error_set(error, TR_EIO, "%s: %s", word, strerror(errno));
    int rv = choose(word, entries, count, path, error);
    while (count > 0)
        free(entries[--count]);
    free(entries);
    return rv;
}

static bool holds(const char *folder, const char *name)
{
    struct stat facts;
    char *path;
    bool there = asprintf(&path, "%s/%s", folder, name) >= 0;
    if (there) {
        there = stat(path, &facts) == 0;
        free(path);
    }
    return there;
}

int graph_path_try(const char *word, char **path, struct tr_error *error)
{
    if (holds(word, "part0") && !tr_checkpoints_named(word) &&
        graph_path_find(word, path, NULL) == 0)
        return 0;
    *path = strdup(word);
    return *path != NULL ? 0 : tr_error_set(error, TR_ENOMEM, "%s: no memory", word);
}
