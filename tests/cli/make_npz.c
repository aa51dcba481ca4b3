/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes an archive of NumPy arrays for npz.sh: `make_npz rings FILE` is four rings of 60 nodes, a
 * class each, whose edges stand once, with ten splits; `make_npz sparse FILE` the same as
 * compressed rows, and an array of Python objects beside them; `make_npz both FILE` the rings with
 * edges both ways; `make_npz rows FILE` the features alone, as SciPy's save_npz writes them;
 * `make_npz kin FILE` the rings as others publish them: labels as floats, lists of nodes in place of
 * masks, features in Fortran's order; `make_npz amounts FILE` with labels that are no classes, and
 * `make_npz twice FILE` with a list that has a node twice; `make_npz words FILE` with labels that
 * are texts.
 */
#include <stdbool.h>
#include <stdint.h>

#include "tests/npz_files.h"

#define NODES 240
#define RINGS 4
#define SPLITS 10

static int32_t labels[NODES];
static float features[NODES][RINGS];
static int32_t edges[NODES][2];
static uint8_t masks[3][SPLITS][NODES];

static void fill(void)
{
    for (int node = 0; node < NODES; node++) {
        labels[node] = node % RINGS;
        features[node][node % RINGS] = 1;
        edges[node][0] = node;
        edges[node][1] = (node + RINGS) % NODES;
        for (int split = 0; split < SPLITS; split++) {
            int of = (node / RINGS + split) % 10;
            masks[of < 6 ? 0 : of < 8 ? 1 : 2][split][node] = 1;
        }
    }
}

static void put_rings(struct archive *npz)
{
    static const char *const names[] = { "train_masks", "val_masks", "test_masks" };
    npz_add(npz, "node_features", "<f4", "False", "(240, 4)", features, sizeof features);
    npz_add(npz, "node_labels", "<i4", "False", "(240,)", labels, sizeof labels);
    npz_add(npz, "edges", "<i4", "False", "(240, 2)", edges, sizeof edges);
    for (int i = 0; i < 3; i++)
        npz_add(npz, names[i], "|b1", "False", "(10, 240)", masks[i], sizeof masks[i]);
}

static void put_both(struct archive *npz)
{
    static int32_t both[2 * NODES][2];
    for (int i = 0; i < NODES; i++) {
        both[2 * i][0] = both[2 * i + 1][1] = edges[i][0];
        both[2 * i][1] = both[2 * i + 1][0] = edges[i][1];
    }
    npz_add(npz, "edges", "<i4", "False", "(480, 2)", both, sizeof both);
}

static void put_rows(struct archive *npz, const char *prefix, const int32_t *indices,
                     const char *shape)
{
    static int32_t indptr[NODES + 1];
    static float ones[NODES];
    const int64_t extents[] = { NODES, strcmp(prefix, "adj") == 0 ? NODES : RINGS };
    char name[40];
    for (int i = 0; i <= NODES; i++)
        indptr[i] = i;
    for (int i = 0; i < NODES; i++)
        ones[i] = 1;
    snprintf(name, sizeof name, "%s_data", prefix);
    npz_add(npz, name, "<f4", "False", shape, ones, sizeof ones);
    snprintf(name, sizeof name, "%s_indices", prefix);
    npz_add(npz, name, "<i4", "False", shape, indices, sizeof ones);
    snprintf(name, sizeof name, "%s_indptr", prefix);
    npz_add(npz, name, "<i4", "False", "(241,)", indptr, sizeof indptr);
    snprintf(name, sizeof name, "%s_shape", prefix);
    npz_add(npz, name, "<i8", "False", "(2,)", extents, sizeof extents);
}

static void put_features(struct archive *npz)
{
    static int32_t indptr[NODES + 1];
    static double ones[NODES];
    const int64_t extents[] = { NODES, RINGS };
    for (int i = 0; i <= NODES; i++)
        indptr[i] = i;
    for (int i = 0; i < NODES; i++)
        ones[i] = 1;
    npz_add(npz, "indices", "<i4", "False", "(240,)", labels, sizeof labels);
    npz_add(npz, "indptr", "<i4", "False", "(241,)", indptr, sizeof indptr);
    npz_add(npz, "format", "|S3", "False", "()", "csr", 3);
    npz_add(npz, "shape", "<i8", "False", "(2,)", extents, sizeof extents);
    npz_add(npz, "data", "<f8", "False", "(240,)", ones, sizeof ones);
}

static void put_sparse(struct archive *npz)
{
    static int32_t ends[NODES];
    for (int i = 0; i < NODES; i++)
        ends[i] = edges[i][1];
    put_rows(npz, "adj", ends, "(240,)");
    put_rows(npz, "attr", labels, "(240,)");
    npz_add(npz, "labels", "<i4", "False", "(240,)", labels, sizeof labels);
    npz_add(npz, "node_names", "|O", "False", "(240,)", "pickle", 6);
}

static void put_kin(struct archive *npz, const char *kind)
{
    static double floats[NODES];
    static float turned[RINGS][NODES];
    static int64_t lists[3][NODES];
    static const char *const names[] = { "train_idx", "val_idx", "idx_test" };
    int counts[3] = { 0, 0, 0 };
    for (int node = 0; node < NODES; node++) {
        floats[node] = labels[node] + (strcmp(kind, "amounts") == 0 && node == 7 ? 0.5 : 0);
        for (int ring = 0; ring < RINGS; ring++)
            turned[ring][node] = features[node][ring];
        for (int i = 0; i < 3; i++) {
            if (masks[i][0][node])
                lists[i][counts[i]++] = node;
        }
    }
    if (strcmp(kind, "twice") == 0)
        lists[1][1] = lists[1][0];
    npz_add(npz, "feature", "<f4", "True", "(240, 4)", turned, sizeof turned);
    if (strcmp(kind, "words") == 0)
        npz_add(npz, "y", "<U2", "False", "(240,)", floats, sizeof floats);
    else
        npz_add(npz, "y", "<f8", "False", "(240, 1)", floats, sizeof floats);
    npz_add(npz, "edge_index", "<i4", "True", "(2, 240)", edges, sizeof edges);
    for (int i = 0; i < 3; i++) {
        char shape[20];
        snprintf(shape, sizeof shape, "(%d,)", counts[i]);
        npz_add(npz, names[i], "<i8", "False", shape, lists[i], (size_t)counts[i] * 8);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    struct archive *npz = npz_begin(argv[2]);
    fill();
    if (strcmp(argv[1], "rings") == 0)
        put_rings(npz);
    else if (strcmp(argv[1], "both") == 0)
        put_both(npz);
    else if (strcmp(argv[1], "rows") == 0)
        put_features(npz);
    else if (strcmp(argv[1], "sparse") != 0)
        put_kin(npz, argv[1]);
    else
        put_sparse(npz);
    npz_end(npz);
    return 0;
}
