/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes every array of one epoch's batches, as C sees them, to the standard output:
 * test_loader.py compares them with Python's. Each is preceded by its length in bytes.
 *
 *     dump_batches DIR/NAME.json SEED
 */
#include <stdio.h>
#include <stdlib.h>

#include <troupe/troupe.h>

static void dump(const void *bytes, size_t count)
{
    uint64_t length = count;
    fwrite(&length, sizeof length, 1, stdout);
    if (count > 0)
        fwrite(bytes, 1, count, stdout);
}

static int dump_batch(const struct tr_batch *batch, struct tr_error *error)
{
    uint64_t digest;
    size_t count;
    struct tr_rows rows = TR_ROWS_INIT;
    int rv = tr_batch_digest(batch, &digest, error);
    dump(&digest, sizeof digest);
    const uint64_t *nodes = tr_batch_nodes(batch, 0, &count);
    dump(nodes, count * sizeof *nodes);
    nodes = tr_batch_original_ids(batch, 0, &count);
    dump(nodes, count * sizeof *nodes);
    for (uint32_t layer = 0; rv == 0 && layer < tr_batch_num_layers(batch); layer++) {
        struct tr_block block = TR_BLOCK_INIT;
        rv = tr_batch_block(batch, layer, 0, &block, error);
        dump(block.index, ((size_t)block.num_dst + 1) * sizeof *block.index);
        dump(block.sources, block.num_edges * sizeof *block.sources);
        dump(block.edge_ids, block.num_edges * sizeof *block.edge_ids);
    }
    if (rv == 0)
        rv = tr_batch_features(batch, 0, &rows, error);
    if (rv == 0)
        dump(rows.rows, rows.num_rows * rows.row_bytes);
    if (rv == 0)
        rv = tr_batch_labels(batch, 0, &rows, error);
    if (rv == 0)
        dump(rows.rows, rows.num_rows * rows.row_bytes);
    return rv;
}

static int dump_epoch(struct tr_graph *graph, struct tr_nodes *nodes, struct tr_error *error)
{
    struct tr_loader_options options;
    struct tr_loader *loader;
    struct tr_batch *batch;
    tr_loader_options_init(&options);
    options.num_layers = 3;
    options.fanout[0] = 5;
    options.fanout[1] = 3;
    options.fanout[2] = 4;
    options.batch_size = 100;
    options.shuffle = true;
    options.features = "feat";
    options.labels = "label";
    options.edge_ids = true;
    options.original_ids = true;
    int rv = tr_loader_open(graph, nodes, &options, TR_WAIT_FOREVER, &loader, error);
    while (rv == 0 && (rv = tr_loader_next(loader, TR_WAIT_FOREVER, &batch, error)) == 0) {
        rv = dump_batch(batch, error);
        tr_batch_release(batch);
    }
    tr_loader_close(loader);
    return rv == TR_EEND ? 0 : rv;
}

int main(int argc, char **argv)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_session_options options;
    struct tr_session *session = NULL;
    struct tr_graph *graph = NULL;
    struct tr_nodes *nodes = NULL;
    if (argc != 3)
        return 2;
    tr_session_options_init(&options);
    options.seed = strtoull(argv[2], NULL, 10);
    int rv = tr_session_open(&options, &session, &error);
    if (rv == 0)
        rv = tr_graph_open(session, argv[1], TR_WAIT_FOREVER, &graph, &error);
    if (rv == 0)
        rv = tr_nodes_masked(graph, 0, "train_mask", TR_WAIT_FOREVER, &nodes, &error);
    if (rv == 0)
        rv = dump_epoch(graph, nodes, &error);
    if (rv != 0)
        fprintf(stderr, "dump_batches: %s: %s\n", tr_strerror(rv), error.message);
    tr_nodes_close(nodes);
    tr_graph_close(graph);
    tr_session_close(session);
    return rv != 0;
}
