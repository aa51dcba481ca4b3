/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one epoch of mini-batches of a partitioned graph: the smallest whole program on libtroupe.
 * libtroupe(3) shows it.
 *
 *     troupe generate sbm --nodes 2000 --edges 20000 --features 16 --classes 4 --seed 1 --out raw
 *     troupe partition raw --parts 4 --method metis --out parts --name g
 *     batches parts/g.json
 */
#include <inttypes.h>
#include <stdio.h>

#include <troupe/troupe.h>

#define TIMEOUT_NS INT64_C(60000000000)

/* The blocks of a batch, input layer first; then its rows of features and labels. */
static int show(const struct tr_batch *batch, struct tr_error *error)
{
    struct tr_rows features = TR_ROWS_INIT, labels = TR_ROWS_INIT;
    struct tr_block block = TR_BLOCK_INIT;
    uint64_t digest;
    printf("batch %" PRIu64 ":", tr_batch_index(batch));
    for (uint32_t layer = 0; layer < tr_batch_num_layers(batch); layer++) {
        int rv = tr_batch_block(batch, layer, 0, &block, error);
        if (rv != 0)
            return rv;
        printf(" %" PRIu32 " edges into %" PRIu32 " nodes,", block.num_edges, block.num_dst);
    }
    int rv = tr_batch_features(batch, 0, &features, error);
    if (rv == 0)
        rv = tr_batch_labels(batch, 0, &labels, error);
    if (rv == 0)
        rv = tr_batch_digest(batch, &digest, error);
    if (rv == 0)
        printf(" %zu rows of features, %zu labels, digest %016" PRIx64 "\n", features.num_rows,
               labels.num_rows, digest);
    return rv;
}

static int show_epoch(struct tr_graph *graph, struct tr_nodes *nodes, struct tr_error *error)
{
    struct tr_loader_options options;
    struct tr_loader *loader;
    struct tr_batch *batch;
    tr_loader_options_init(&options);
    options.num_layers = 2;
    options.fanout[0] = 10; /* the input layer */
    options.fanout[1] = 25; /* what the seeds draw */
    options.batch_size = 256;
    options.features = "feat";
    options.labels = "label";
    options.original_ids = true; /* the digest is of the user's own IDs */
    int rv = tr_loader_open(graph, nodes, &options, TR_WAIT_FOREVER, &loader, error);
    if (rv != 0)
        return rv;
    while (rv == 0 && (rv = tr_loader_next(loader, TIMEOUT_NS, &batch, error)) == 0) {
        rv = show(batch, error);
        tr_batch_release(batch);
    }
    tr_loader_close(loader);
    return rv == TR_EEND ? 0 : rv;
}

int main(int argc, char **argv)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_session *session = NULL;
    struct tr_graph *graph = NULL;
    struct tr_nodes *nodes = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: batches DIR/NAME.json\n");
        return 2;
    }
    int rv = tr_session_open(NULL, &session, &error);
    if (rv == 0)
        rv = tr_graph_open(session, argv[1], TR_WAIT_FOREVER, &graph, &error);
    if (rv == 0)
        rv = tr_nodes_masked(graph, 0, "train_mask", TR_WAIT_FOREVER, &nodes, &error);
    if (rv == 0)
        rv = show_epoch(graph, nodes, &error);
    if (rv != 0)
        fprintf(stderr, "batches: %s: %s\n", tr_strerror(rv), error.message);
    tr_nodes_close(nodes);
    tr_graph_close(graph);
    tr_session_close(session);
    return rv != 0;
}
