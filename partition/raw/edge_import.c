/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/raw/edge_import.h"

#include <stdlib.h>

#include "partition/raw/raw_memory.h"
#include "partition/raw/reverse_pairs.h"

/* Edges that are looked at for reverses at once. */
#define LOOKED_AT_ONCE ((uint64_t)4096)
#define NARROW_NODES_MAX ((uint64_t)INT32_MAX + 1)

struct edge_importing {
    struct raw_writer *writer;
    bool looks; /* for reverses */
    struct reverse_pairs reverse;
    bool behind;
    bool too_wide; /* an ID that int32 does not hold has come */
};

static void look_for_reverses(struct edge_importing *importing, const struct pairs *pairs)
{
    uint64_t src[LOOKED_AT_ONCE], dst[LOOKED_AT_ONCE];
    for (uint64_t done = 0; done < pairs->count;) {
        uint64_t left = pairs->count - done, some = left < LOOKED_AT_ONCE ? left : LOOKED_AT_ONCE;
        pairs_read(pairs, done, some, src, dst);
        reverse_pairs_add_doubled(&importing->reverse, some, src, dst, &importing->behind);
        done += some;
    }
}

static int write_pairs(void *arg, const struct pairs *pairs, struct error *error)
{
    struct edge_importing *importing = arg;
    importing->too_wide = pairs->largest >= NARROW_NODES_MAX;
    if (importing->too_wide)
        return TR_ERANGE;
    if (importing->looks)
        look_for_reverses(importing, pairs);
    return raw_writer_narrow(importing->writer, 0, pairs->count, pairs->narrow, error);
}

static int open_writer(const char *path, const struct raw_options *options, const char *out,
                       const struct raw_write_options *write, struct raw_writer **writer,
                       struct error *error)
{
    const uint64_t num_nodes = options->num_nodes > 0 ? options->num_nodes : NARROW_NODES_MAX;
    struct graph_types types;
    char *name = raw_name_of(path);
    int rv = name != NULL ? graph_types_init_homogeneous(&types) : TR_ENOMEM;
    if (rv != 0) {
        free(name);
        return error_set(error, rv, "%s: no memory to open it", path);
    }
    rv = raw_writer_open(out, write, name, &types, &num_nodes, writer, error);
    graph_types_fini(&types);
    free(name);
    return rv;
}

/* Parses into the folder, which is not in its place yet. */
static int stream(struct edge_importing *importing, const char *path,
                  const struct raw_options *options, struct raw_edges_found *found,
                  struct error *error)
{
    const struct edge_sink sink = { write_pairs, importing };
    if (importing->looks && reverse_pairs_init(&importing->reverse) != 0)
        return error_set(error, TR_ENOMEM, "%s: no memory to look at its edges", path);
    int rv = raw_stream_edgelist(path, options, &sink, found, error);
    if (rv == 0 && importing->looks)
        reverse_pairs_count(&importing->reverse, &found->pairs_seen, &found->pairs_mutual);
    if (rv == 0 && options->num_nodes == 0)
        raw_writer_count_nodes(importing->writer, 0, found->largest_id - options->first_id + 1);
    return rv;
}

int edge_import(const char *path, const struct raw_options *given, const char *out,
                const struct raw_write_options *write, struct raw_edges_found *found,
                struct error *error)
{
    struct raw_options options = *given;
    struct edge_importing importing = { .looks = options.undirected };
    if (options.files == NULL)
        options.files = files_posix;
    *found = (struct raw_edges_found){ 0 };
    if (options.duplicates != RAW_DUPLICATES_KEEP || options.num_nodes > NARROW_NODES_MAX ||
        !raw_is_edge_list(path, options.files))
        return 1;
    int rv = open_writer(path, &options, out, write, &importing.writer, error);
    if (rv != 0)
        return rv;
    raw_writer_set_first_id(importing.writer, options.first_id);
    rv = stream(&importing, path, &options, found, error);
    if (rv == 0)
        rv = raw_writer_commit(importing.writer, error);
    else
        raw_writer_abort(importing.writer);
    if (rv != 0)
        raw_edges_found_fini(found);
    reverse_pairs_fini(&importing.reverse);
    return importing.too_wide ? 1 : rv;
}
