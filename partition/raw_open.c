/* Which reader a path belongs to. */
#include "partition/raw.h"

#include <stdlib.h>
#include <string.h>

#include "partition/raw_source.h"

static int open_folder(const char *path, const struct raw_options *options,
                       struct raw_graph **out, struct error *error)
{
    static const struct {
        const char *holds;
        int (*open)(const char *path, const struct raw_options *options, struct raw_graph **out,
                    struct error *error);
    } kinds[] = {
        {"metadata.json", raw_open_chunked},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char *inside = files_join(path, kinds[i].holds);
        if (inside == NULL)
            return error_set(error, TR_ENOMEM, "%s: no memory to open it", path);
        bool there = files_exists(options->files, inside);
        free(inside);
        if (there)
            return kinds[i].open(path, options, out, error);
    }
    return error_set(error, TR_ENOENT, "%s: holds no metadata.json; name a graph's folder", path);
}

int raw_open(const char *path, const struct raw_options *options, struct raw_graph **out,
             struct error *error)
{
    struct raw_options filled = {0};
    if (options != NULL)
        filled = *options;
    if (filled.files == NULL)
        filled.files = files_posix;
    *out = NULL;
    if (!files_exists(filled.files, path))
        return error_set(error, TR_ENOENT, "%s: no such file or folder", path);
    return open_folder(path, &filled, out, error);
}
