/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/ogb_import.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "partition/import/ogb_layout.h"
#include "partition/import/row_stream.h"
#include "partition/raw/reverse_pairs.h"

#define EDGES_AT_ONCE 8192
/* Rows at a time fill about this many bytes. */
#define PIECE_BYTES ((size_t)1 << 20)

struct ogb_job {
    struct files *files;
    const struct cancel *cancel;
    const struct ogb_import_options *options;
    struct ogb_facts *facts;
    struct ogb_layout layout;
    struct reverse_pairs reverse;
    struct raw_writer *writer;
    /* Which edges are self-loops, a bit each, where reverses are added: those have none. */
    uint8_t *loops;
    uint64_t loops_room; /* bytes */
    uint64_t num_edges;  /* of the edge type that was written last, without reverses */
    uint64_t *src, *dst; /* [2 * EDGES_AT_ONCE] */
    uint64_t *read;      /* [2 * EDGES_AT_ONCE]: sources, then destinations, as they were read */
    struct error *error;
};

/* The edges of a type as they lie: pairs in a text, or two rows of an array. */
struct edge_source {
    const struct ogb_item *item;
    bool arrays;
    struct text text;
    struct npz npz;
    struct npz_stream ends[2];
    uint64_t left; /* of arrays */
    uint64_t bounds[2];
};

void ogb_facts_fini(struct ogb_facts *facts)
{
    free(facts->split);
    free(facts->unread);
    free(facts->pickle);
    *facts = (struct ogb_facts){ 0 };
}

static int no_memory(const struct ogb_job *job, const char *path)
{
    return error_set(job->error, TR_ENOMEM, "%s: no memory to read it", path);
}

/* Sources are the first row of the array, destinations the second: one stream for each. */
static int open_ends(struct ogb_job *job, struct edge_source *edges)
{
    const struct npy_header *header = &edges->ends[0].header;
    int rv = npz_open(&edges->ends[0], &edges->npz, edges->item->array, job->error);
    if (rv != 0)
        return rv;
    if (header->ndim != 2 || header->shape[0] != 2 || header->kind == 'f')
        return error_set(job->error, TR_EFORMAT, "%s: is needed as whole numbers of shape [2, E]",
                         edges->ends[0].place);
    edges->left = header->shape[1];
    /* Then each source has its destination behind it. */
    if (header->fortran)
        return 0;
    rv = npz_open(&edges->ends[1], &edges->npz, edges->item->array, job->error);
    return rv == 0 ? npz_skip(&edges->ends[1], edges->left * header->item_bytes, job->error) : rv;
}

static int edges_open(struct ogb_job *job, const struct ogb_item *item, struct edge_source *edges)
{
    const struct graph_etype *type = &job->layout.types.etypes[item->type];
    memset(edges, 0, sizeof *edges);
    edges->item = item;
    edges->arrays = item->array != NULL;
    edges->bounds[0] = job->layout.num_nodes[type->src];
    edges->bounds[1] = job->layout.num_nodes[type->dst];
    if (!edges->arrays)
        return text_open(&edges->text, job->files, item->path, job->cancel, job->error);
    int rv = npz_init(&edges->npz, job->files, item->path, job->cancel, job->error);
    return rv == 0 ? open_ends(job, edges) : rv;
}

static void edges_close(struct edge_source *edges)
{
    if (!edges->arrays) {
        text_close(&edges->text);
        return;
    }
    npz_close(&edges->ends[0]);
    npz_close(&edges->ends[1]);
    npz_fini(&edges->npz);
}

static int next_lines(struct edge_source *edges, uint64_t *src, uint64_t *dst, uint64_t *got)
{
    struct text *text = &edges->text;
    int rv = 0;
    for (*got = 0; rv == 0 && *got < EDGES_AT_ONCE; *got += rv == 0) {
        text_skip_comments(text, false);
        if (text_peek(text) == TEXT_END)
            return text->rv;
        rv = text_number(text, edges->bounds[0], "the source", &src[*got]);
        text_skip_blanks(text);
        if (rv == 0 && text_peek(text) != ',')
            rv = text_fail(text, TR_EFORMAT, "a comma and a destination are needed");
        if (rv == 0) {
            text_skip(text);
            text_skip_blanks(text);
            rv = text_number(text, edges->bounds[1], "the destination", &dst[*got]);
        }
        if (rv == 0)
            rv = text_end_line(text);
    }
    return rv;
}

static int check_end(struct ogb_job *job, const struct edge_source *edges, uint64_t edge, int end,
                     uint64_t id)
{
    if (id < edges->bounds[end])
        return 0;
    return error_set(job->error, TR_ERANGE,
                     "%s: edge %" PRIu64 ": the %s %" PRIu64 " is not a node: there are %" PRIu64
                     ", numbered from 0",
                     edges->ends[0].place, edge, end == 0 ? "source" : "destination", id,
                     edges->bounds[end]);
}

/* Sources and destinations in turn, as NumPy saves the transposed array of pairs. */
static int next_pairs(struct ogb_job *job, struct edge_source *edges, uint64_t done,
                      uint64_t *to[2], uint64_t got)
{
    struct npz_stream *stream = &edges->ends[0];
    /* It has room for two ends of twice as many edges. */
    struct npz_array array = { .header = stream->header, .data = (uint8_t *)job->src };
    memcpy(array.place, stream->place, sizeof array.place);
    int rv = npz_read(stream, array.data, 2 * (size_t)got * stream->header.item_bytes, job->error);
    for (uint64_t i = 0; rv == 0 && i < 2 * got; i++) {
        uint64_t id = 0;
        rv = npz_id(&array, i, &id, job->error);
        to[i % 2][i / 2] = id;
        if (rv == 0)
            rv = check_end(job, edges, done + i / 2, (int)(i % 2), id);
    }
    return rv;
}

static int next_elements(struct ogb_job *job, struct edge_source *edges, uint64_t *src,
                         uint64_t *dst, uint64_t *got)
{
    uint64_t *to[] = { src, dst };
    uint64_t done = edges->ends[0].header.shape[1] - edges->left;
    *got = edges->left < EDGES_AT_ONCE ? edges->left : EDGES_AT_ONCE;
    edges->left -= *got;
    if (*got == 0)
        return npz_finish(&edges->ends[!edges->ends[0].header.fortran], job->error);
    if (edges->ends[0].header.fortran)
        return next_pairs(job, edges, done, to, *got);
    for (int end = 0; end < 2; end++) {
        struct npz_stream *stream = &edges->ends[end];
        /* The elements lie behind where they are widened to, so none is overwritten unread. */
        size_t bytes = (size_t)*got * stream->header.item_bytes;
        uint8_t *raw = (uint8_t *)to[end] + 8 * (size_t)*got - bytes;
        struct npz_array array = { .header = stream->header, .data = raw };
        memcpy(array.place, stream->place, sizeof array.place);
        int rv = npz_read(stream, raw, bytes, job->error);
        for (uint64_t i = 0; rv == 0 && i < *got; i++) {
            uint64_t id = 0;
            rv = npz_id(&array, i, &id, job->error);
            to[end][i] = id;
            if (rv == 0)
                rv = check_end(job, edges, done + i, end, id);
        }
        if (rv != 0)
            return rv;
    }
    return 0;
}

static int mark_loop(struct ogb_job *job, uint64_t edge)
{
    if (edge / 8 >= job->loops_room) {
        uint64_t room = 2 * (edge / 8) + 4096;
        uint8_t *grown = realloc(job->loops, (size_t)room);
        if (grown == NULL)
            return TR_ENOMEM;
        memset(grown + job->loops_room, 0, (size_t)(room - job->loops_room));
        job->loops = grown;
        job->loops_room = room;
    }
    job->loops[edge / 8] |= (uint8_t)(1u << edge % 8);
    return 0;
}

static bool is_loop(const struct ogb_job *job, uint64_t edge)
{
    return edge / 8 < job->loops_room && (job->loops[edge / 8] >> edge % 8 & 1) != 0;
}

/* An edge and behind it its reverse, as OGB's own reader has them, but self-loops once. */
static int write_piece(struct ogb_job *job, uint32_t etype, const uint64_t *src,
                       const uint64_t *dst, uint64_t count)
{
    uint64_t made = 0;
    bool one_type = !job->layout.heterogeneous;
    for (uint64_t i = 0; i < count; i++) {
        bool loop = one_type && src[i] == dst[i];
        job->facts->self_loops += loop;
        if (one_type)
            reverse_pairs_add(&job->reverse, src[i], dst[i]);
        job->src[made] = src[i];
        job->dst[made++] = dst[i];
        if (!job->options->undirected)
            continue;
        if (loop && mark_loop(job, job->num_edges + i) != 0)
            return error_set(job->error, TR_ENOMEM, "no memory to remember self-loops");
        job->src[made] = dst[i];
        job->dst[made] = src[i];
        made += !loop;
    }
    job->num_edges += count;
    return raw_writer_edges(job->writer, etype, made, job->src, job->dst, job->error);
}

static int write_edges(struct ogb_job *job, const struct ogb_item *item)
{
    struct edge_source edges;
    uint64_t *src = job->read, *dst = job->read + EDGES_AT_ONCE, got = 1;
    job->num_edges = 0;
    int rv = edges_open(job, item, &edges);
    if (rv != 0 && !edges.arrays)
        return rv;
    while (rv == 0 && got > 0) {
        rv = edges.arrays ? next_elements(job, &edges, src, dst, &got)
                          : next_lines(&edges, src, dst, &got);
        if (rv == 0)
            rv = write_piece(job, item->type, src, dst, got);
    }
    edges_close(&edges);
    if (rv == 0 && item->num_edges != UINT64_MAX && item->num_edges != job->num_edges)
        rv = error_set(job->error, TR_EMISMATCH,
                       "%s: holds %" PRIu64 " edges, and its folder says %" PRIu64
                       "; copy it again",
                       item->path, job->num_edges, item->num_edges);
    if (rv == 0 && job->num_edges == 0 && !job->layout.heterogeneous)
        rv = error_set(job->error, TR_EFORMAT, "%s: holds no edge", item->path);
    return rv;
}

static int check_finite(const struct ogb_job *job, const struct ogb_item *item,
                        const struct row_stream *stream, const void *rows, uint64_t count)
{
    uint64_t items = count * stream->width;
    uint64_t bad = strcmp(item->name, "label") == 0
                       ? items
                       : raw_find_not_finite(stream->dtype, rows, items);
    if (bad == items)
        return 0;
    return error_set(job->error, TR_EFORMAT,
                     "%s: row %" PRIu64 ", column %" PRIu64 " is not finite; replace it, or take "
                     "the file out of the folder",
                     stream->place, stream->rows_done - count + bad / stream->width,
                     bad % stream->width);
}

/* Rows of edges are those of their reverses too. */
static int write_edge_rows(struct ogb_job *job, uint32_t table, uint64_t first, const uint8_t *rows,
                           size_t row_bytes, uint64_t count)
{
    int rv = 0;
    for (uint64_t i = 0; rv == 0 && i < count; i++) {
        const uint8_t *row = rows + i * row_bytes;
        rv = raw_writer_rows(job->writer, table, 1, row, job->error);
        if (rv == 0 && !is_loop(job, first + i))
            rv = raw_writer_rows(job->writer, table, 1, row, job->error);
    }
    return rv;
}

/* Floats of one label a node are numbers of classes, or NaN. */
static int check_labels(const struct ogb_job *job, const struct ogb_item *item,
                        const struct row_stream *stream, const void *rows, uint64_t count)
{
    if (strcmp(item->name, "label") != 0 || stream->dtype != TR_F32 || stream->width != 1)
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        const float label = ((const float *)rows)[i];
        if (!isnan(label) && label != truncf(label))
            return error_set(job->error, TR_EUNSUPPORTED,
                             "%s: row %" PRIu64
                             " is %g, not the number of a class; amounts are not "
                             "learned yet: save whole numbers, such as ranges of them",
                             stream->place, stream->rows_done - count + i, (double)label);
    }
    return 0;
}

static int copy_rows(struct ogb_job *job, const struct ogb_item *item, struct row_stream *stream,
                     uint64_t expected)
{
    uint32_t table;
    const bool on_edges = item->part == OGB_EDGE_TABLE;
    uint64_t most = stream->row_bytes == 0 ? PIECE_BYTES : PIECE_BYTES / stream->row_bytes;
    uint64_t got = 1;
    most = most == 0 ? 1 : most;
    int rv = raw_writer_add_table(job->writer, item->name, on_edges, item->type, stream->dtype,
                                  stream->ndim, &stream->width, &table, job->error);
    /* Files of two names may hold what one feature is called: node-feat and node_feat. */
    if (rv == TR_EEXIST)
        error_prefix(job->error, "%s", stream->place);
    uint8_t *rows = rv == 0 ? malloc((size_t)most * stream->row_bytes + 1) : NULL;
    if (rv == 0 && rows == NULL)
        rv = no_memory(job, stream->place);
    while (rv == 0 && got > 0) {
        uint64_t first = stream->rows_done;
        rv = row_stream_next(stream, most, rows, &got, job->error);
        if (rv == 0 && stream->rows_done > expected)
            break;
        if (rv == 0)
            rv = check_finite(job, item, stream, rows, got);
        if (rv == 0)
            rv = check_labels(job, item, stream, rows, got);
        if (rv == 0)
            rv = on_edges && job->options->undirected
                     ? write_edge_rows(job, table, first, rows, stream->row_bytes, got)
                     : raw_writer_rows(job->writer, table, got, rows, job->error);
    }
    if (rv == 0 && stream->rows_done != expected)
        rv = error_set(job->error, TR_EMISMATCH, "%s: has %s%" PRIu64 " rows for %" PRIu64 " %s",
                       stream->place, stream->rows_done > expected ? "at least " : "",
                       stream->rows_done, expected, on_edges ? "edges" : "nodes");
    free(rows);
    return rv;
}

static int open_rows(struct ogb_job *job, const struct ogb_item *item, struct npz *npz,
                     struct row_stream *stream)
{
    memset(npz, 0, sizeof *npz);
    memset(stream, 0, sizeof *stream);
    if (item->array == NULL)
        return row_stream_open_text(stream, job->files, item->path, job->cancel, job->error);
    int rv = npz_init(npz, job->files, item->path, job->cancel, job->error);
    return rv == 0 ? row_stream_open_array(stream, npz, item->array, job->error) : rv;
}

static int write_table(struct ogb_job *job, const struct ogb_item *item, uint64_t expected)
{
    struct row_stream stream;
    struct npz npz;
    int rv = open_rows(job, item, &npz, &stream);
    if (rv == 0)
        rv = copy_rows(job, item, &stream, expected);
    row_stream_close(&stream);
    npz_fini(&npz);
    return rv;
}

static int write_mask(struct ogb_job *job, const struct ogb_item *item)
{
    static const char *const NAMES[] = { "train_mask", "val_mask", "test_mask" };
    uint64_t nodes = job->layout.num_nodes[item->type], id;
    uint32_t table;
    struct text text;
    int rv = text_open(&text, job->files, item->path, job->cancel, job->error);
    if (rv != 0)
        return rv;
    uint8_t *mask = calloc((size_t)nodes + 1, 1);
    if (mask == NULL)
        rv = no_memory(job, item->path);
    for (text_skip_comments(&text, false); rv == 0 && text_peek(&text) != TEXT_END;
         text_skip_comments(&text, false)) {
        rv = text_number(&text, nodes, "a node's ID", &id);
        if (rv == 0)
            rv = text_end_line(&text);
        if (rv == 0)
            mask[id] = 1;
    }
    rv = rv == 0 ? text.rv : rv;
    text_close(&text);
    if (rv == 0)
        rv = raw_writer_add_table(job->writer, NAMES[item->part - OGB_TRAIN], false, item->type,
                                  TR_U8, 0, NULL, &table, job->error);
    if (rv == 0)
        rv = raw_writer_rows(job->writer, table, nodes, mask, job->error);
    free(mask);
    return rv;
}

/* An edge type's tables follow it at once: they need to know which of its edges are self-loops. */
static int write_relation(struct ogb_job *job, const struct ogb_item *edges)
{
    free(job->loops);
    job->loops = NULL;
    job->loops_room = 0;
    int rv = write_edges(job, edges);
    for (uint32_t i = 0; rv == 0 && i < job->layout.num_items; i++) {
        const struct ogb_item *item = &job->layout.items[i];
        if (item->part == OGB_EDGE_TABLE && item->type == edges->type)
            rv = write_table(job, item, job->num_edges);
    }
    return rv;
}

static int write_items(struct ogb_job *job)
{
    int rv = 0;
    for (uint32_t i = 0; rv == 0 && i < job->layout.num_items; i++) {
        const struct ogb_item *item = &job->layout.items[i];
        if (item->part == OGB_EDGES)
            rv = write_relation(job, item);
        else if (item->part == OGB_NODE_TABLE)
            rv = write_table(job, item, job->layout.num_nodes[item->type]);
        else if (item->part != OGB_EDGE_TABLE)
            rv = write_mask(job, item);
    }
    return rv;
}

static int check_options(const struct ogb_job *job, const char *from)
{
    if (!job->options->undirected || !job->layout.heterogeneous)
        return 0;
    return error_set(job->error, TR_EUNSUPPORTED,
                     "%s: has several edge types, to which \"undirected\" would add others; import "
                     "it without",
                     from);
}

static int import_layout(struct ogb_job *job, const char *path,
                         const struct raw_write_options *write)
{
    struct ogb_layout *layout = &job->layout;
    int rv = raw_writer_open(path, write, layout->name, &layout->types, layout->num_nodes,
                             &job->writer, job->error);
    if (rv == 0)
        rv = write_items(job);
    if (rv != 0)
        return rv;
    job->facts->heterogeneous = layout->heterogeneous;
    if (!layout->heterogeneous)
        reverse_pairs_count(&job->reverse, &job->facts->pairs_seen, &job->facts->pairs_mutual);
    struct raw_writer *writer = job->writer;
    job->writer = NULL;
    rv = raw_writer_commit(writer, job->error);
    if (rv != 0)
        return rv;
    job->facts->split = layout->split;
    job->facts->unread = layout->unread;
    job->facts->pickle = layout->pickle;
    layout->split = layout->unread = layout->pickle = NULL;
    return 0;
}

int ogb_import(const char *from, const struct ogb_import_options *options, const char *path,
               const struct raw_write_options *write, struct ogb_facts *facts, struct error *error)
{
    struct ogb_job job = { .files = write->files != NULL ? write->files : files_posix,
                           .cancel = write->cancel,
                           .options = options,
                           .facts = facts,
                           .error = error };
    *facts = (struct ogb_facts){ 0 };
    int rv = ogb_layout_init(&job.layout, job.files, from, options->split, job.cancel, error);
    if (rv != 0)
        return rv;
    job.src = malloc(6 * EDGES_AT_ONCE * sizeof *job.src);
    if (job.src == NULL || reverse_pairs_init(&job.reverse) != 0)
        rv = no_memory(&job, from);
    job.dst = job.src + 2 * EDGES_AT_ONCE;
    job.read = job.src + 4 * EDGES_AT_ONCE;
    if (rv == 0)
        rv = check_options(&job, from);
    if (rv == 0)
        rv = import_layout(&job, path, write);
    raw_writer_abort(job.writer);
    reverse_pairs_fini(&job.reverse);
    free(job.loops);
    free(job.src);
    ogb_layout_fini(&job.layout);
    return rv;
}
