/* SPDX-License-Identifier: Apache-2.0 */
/* Which reader a path belongs to. */
#include "partition/raw/raw.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/raw/raw_source.h"
#include "partition/raw/text.h"

/* It would be passed over. */
static int refuse_num_nodes(const char *path, const struct raw_options *options,
                            struct error *error)
{
    return options->num_nodes == 0
               ? 0
               : error_set(error, TR_EUNSUPPORTED,
                           "%s: it states its own number of nodes; leave num_nodes out", path);
}

static int open_folder(const char *path, const struct raw_options *options, struct raw_graph **out,
                       struct error *error)
{
    static const struct {
        const char *holds;
        int (*open)(const char *path, const struct raw_options *options, struct raw_graph **out,
                    struct error *error);
    } kinds[] = {
        /* This one is asked for first: it names its files, and one of them may be an edges.npy. */
        { "metadata.json", raw_open_chunked },
        { "edges.npy", raw_open_npy_folder },
        { "triples.npy", raw_open_npy_folder },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char *inside = files_join(path, kinds[i].holds);
        if (inside == NULL)
            return error_set(error, TR_ENOMEM, "%s: no memory to open it", path);
        bool there = files_exists(options->files, inside);
        free(inside);
        if (!there)
            continue;
        int rv = i == 0 ? refuse_num_nodes(path, options, error) : 0;
        return rv == 0 ? kinds[i].open(path, options, out, error) : rv;
    }
    return error_set(error, TR_ENOENT,
                     "%s: holds none of metadata.json, edges.npy and triples.npy; name the "
                     "folder of a graph",
                     path);
}

static bool ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), end_length = strlen(end);
    return length >= end_length && strcmp(path + length - end_length, end) == 0;
}

/* Whether the name, without the suffix of a program that packs files, ends so. */
static bool names_format(const char *path, const char *end)
{
    static const char *const packed[] = { "", ".gz", ".bz2", ".xz", ".zst", ".lz4", ".zip" };
    char name[32];
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        snprintf(name, sizeof name, "%s%s", end, packed[i]);
        if (ends_with(path, name))
            return true;
    }
    return false;
}

/* Options that say how an edge list is read would be passed over in other formats. */
static int refuse_options(const char *path, const struct raw_options *options, struct error *error)
{
    const char *given = options->source != NULL                      ? "\"source\""
                        : options->target != NULL                    ? "\"target\""
                        : options->undirected                        ? "\"undirected\""
                        : options->first_id != 0                     ? "first_id"
                        : options->loops != RAW_LOOPS_KEEP           ? "\"loops\""
                        : options->duplicates != RAW_DUPLICATES_KEEP ? "\"duplicates\""
                                                                     : NULL;
    return given == NULL ? 0
                         : error_set(error, TR_EUNSUPPORTED,
                                     "%s: %s is for edge lists that are text, which this is not",
                                     path, given);
}

static bool is_edge_list(const char *path)
{
    return !ends_with(path, ".npy") && !names_format(path, ".mtx") &&
           !names_format(path, ".graph") && !names_format(path, ".metis");
}

/* By their names, other formats that are not read. */
static bool is_refused(const char *path)
{
    return ends_with(path, ".parquet") || ends_with(path, ".dgl") || ends_with(path, ".bin") ||
           ends_with(path, ".npz");
}

bool raw_is_edge_list(const char *path, struct files *files)
{
    return text_exists(files, path) && !files_is_folder(files, path) && is_edge_list(path) &&
           !is_refused(path);
}

/* A file's name says its format; without such a name it is an edge list. */
static int open_file(const char *path, const struct raw_options *options, struct raw_graph **out,
                     struct error *error)
{
    if (ends_with(path, ".npy"))
        return raw_open_npy(path, options, out, error);
    if (names_format(path, ".mtx"))
        return raw_open_mtx(path, options, out, error);
    if (names_format(path, ".graph") || names_format(path, ".metis"))
        return raw_open_metis(path, options, out, error);
    if (ends_with(path, ".parquet"))
        return error_set(error, TR_EUNSUPPORTED,
                         "%s: a Parquet file is not read; save it as CSV with Python: "
                         "pandas.read_parquet('FILE').to_csv('FILE.csv', index=False)",
                         path);
    if (is_refused(path))
        return error_set(error, TR_EUNSUPPORTED,
                         "%s: this format is not read; save the edges with numpy.save as [N, 2]",
                         path);
    return raw_open_edgelist(path, options, out, error);
}

static int check_counts(const char *path, const struct raw_graph *graph, struct error *error)
{
    for (uint32_t i = 0; i < graph->types.num_ntypes; i++) {
        if (graph->num_nodes[i] > RAW_NODES_MAX)
            return error_set(error, TR_ETOOBIG,
                             "%s: %" PRIu64 " nodes of type '%s'; at most %" PRIu64, path,
                             graph->num_nodes[i], graph->types.ntypes[i], RAW_NODES_MAX);
    }
    return 0;
}

int raw_open(const char *path, const struct raw_options *options, struct raw_graph **out,
             struct error *error)
{
    struct raw_options filled = { 0 };
    if (options != NULL)
        filled = *options;
    if (filled.files == NULL)
        filled.files = files_posix;
    *out = NULL;
    if (!text_exists(filled.files, path))
        return error_set(error, TR_ENOENT, "%s: no such file or folder", path);
    bool folder = files_is_folder(filled.files, path);
    int rv = folder || !is_edge_list(path) ? refuse_options(path, &filled, error) : 0;
    if (rv == 0 && !folder && !is_edge_list(path) && !ends_with(path, ".npy"))
        rv = refuse_num_nodes(path, &filled, error);
    if (rv != 0)
        return rv;
    rv = (folder ? open_folder : open_file)(path, &filled, out, error);
    if (rv == 0)
        rv = check_counts(path, *out, error);
    if (rv != 0) {
        raw_close(*out);
        *out = NULL;
    }
    return rv;
}
