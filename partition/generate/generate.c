/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/generate/generate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "partition/generate/generate_draw.h"

#define EDGES_AT_ONCE ((uint64_t)1 << 16)
#define NODES_AT_ONCE ((uint64_t)1 << 14)

/* One kind of graph. */
struct generator {
    const char *name;
    void (*draw)(const struct generate_draws *draws, uint64_t begin, uint64_t count, uint64_t *src,
                 uint64_t *dst);
    bool blocks; /* labels are the blocks, else uniform */
};

static int check_sizes(const struct generate_options *options, struct error *error)
{
    if (options->num_nodes > GENERATE_NODES_MAX)
        return error_set(error, TR_ETOOBIG, "num_nodes %" PRIu64 ": at most %" PRIu64,
                         options->num_nodes, GENERATE_NODES_MAX);
    if (options->num_edges > GENERATE_EDGES_MAX)
        return error_set(error, TR_ETOOBIG, "num_edges %" PRIu64 ": at most %" PRIu64,
                         options->num_edges, GENERATE_EDGES_MAX);
    if (options->num_features > GENERATE_FEATURES_MAX)
        return error_set(error, TR_ETOOBIG, "num_features %u: at most %d", options->num_features,
                         GENERATE_FEATURES_MAX);
    if (options->num_classes > GENERATE_CLASSES_MAX)
        return error_set(error, TR_ETOOBIG, "num_classes %u: at most %d", options->num_classes,
                         GENERATE_CLASSES_MAX);
    if (options->num_edges > 0 && options->num_nodes == 0)
        return error_set(error, TR_EINVAL, "num_edges %" PRIu64 " needs num_nodes of at least 1",
                         options->num_edges);
    return 0;
}

static int check_blocks(const struct generate_options *options, struct error *error)
{
    if (options->num_classes == 0 && options->num_nodes > 0)
        return error_set(error, TR_EINVAL, "num_classes 0: a block model needs at least 1 block");
    if (options->num_classes > options->num_nodes && options->num_nodes > 0)
        return error_set(error, TR_EINVAL, "num_classes %u: more blocks than the %" PRIu64 " nodes",
                         options->num_classes, options->num_nodes);
    if (!(options->inside <= 1))
        return error_set(error, TR_EINVAL, "\"inside\" %g: a share between 0 and 1 is needed",
                         options->inside);
    return 0;
}

static int check_quadrants(const struct generate_options *options, struct error *error)
{
    double sum = options->a + options->b + options->c + options->d;
    if (options->a >= 0 && options->b >= 0 && options->c >= 0 && options->d >= 0 && sum > 0.9999 &&
        sum < 1.0001)
        return 0;
    return error_set(error, TR_EINVAL,
                     "R-MAT quadrants %g, %g, %g, %g: four numbers >= 0 whose sum is 1 are needed",
                     options->a, options->b, options->c, options->d);
}

static int write_edges(struct raw_writer *writer, const struct generator *kind,
                       const struct generate_draws *draws, struct error *error)
{
    uint64_t *src = malloc(2 * EDGES_AT_ONCE * sizeof *src);
    if (src == NULL)
        return error_set(error, TR_ENOMEM, "no memory to draw edges");
    int rv = 0;
    uint64_t total = draws->options->num_edges;
    for (uint64_t done = 0; rv == 0 && done < total;) {
        uint64_t some = total - done < EDGES_AT_ONCE ? total - done : EDGES_AT_ONCE;
        kind->draw(draws, done, some, src, src + EDGES_AT_ONCE);
        rv = raw_writer_edges(writer, 0, some, src, src + EDGES_AT_ONCE, error);
        done += some;
    }
    free(src);
    return rv;
}

static uint32_t label_of(const struct generator *kind, const struct generate_draws *draws,
                         uint64_t node)
{
    if (kind->blocks)
        return block_of(draws, node);
    uint64_t draw = 0;
    return (uint32_t)key_below(key_node(draws->label_base, node), &draw,
                               draws->options->num_classes);
}

/* The node table whose rows fill() makes, in pieces. */
struct fill {
    const struct generator *kind;
    const struct generate_draws *draws;
    const float *centroids; /* [num_classes][num_features] */
    int part;               /* of the split: 0 train, 1 validation, 2 test */
};

static void fill_labels(const struct fill *fill, uint64_t begin, uint64_t count, void *rows)
{
    int64_t *labels = rows;
    for (uint64_t i = 0; i < count; i++)
        labels[i] = label_of(fill->kind, fill->draws, begin + i);
}

static void fill_masks(const struct fill *fill, uint64_t begin, uint64_t count, void *rows)
{
    static const int part_of_quarter[4] = { 0, 0, 1, 2 };
    uint8_t *mask = rows;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t quarter = key_draw(key_node(fill->draws->split_base, begin + i), 0) >> 62;
        mask[i] = part_of_quarter[quarter] == fill->part;
    }
}

/* Four 16-bit uniforms added: bell-shaped enough for noise, one draw a feature. Variance 1. */
static float generate_noise(uint64_t key, uint64_t draw)
{
    uint64_t bits = key_draw(key, draw);
    int32_t sum = (int32_t)(bits & 0xffff) + (int32_t)(bits >> 16 & 0xffff) +
                  (int32_t)(bits >> 32 & 0xffff) + (int32_t)(bits >> 48);
    /* The standard deviation of the sum of four uniforms on [0, 65536) is 65536 / sqrt(3). */
    return (float)(sum - 131070) * (1.7320508f / 65536.0f);
}

static void fill_features(const struct fill *fill, uint64_t begin, uint64_t count, void *rows)
{
    uint32_t width = fill->draws->options->num_features;
    float *row = rows;
    for (uint64_t i = 0; i < count; i++, row += width) {
        uint64_t key = key_node(fill->draws->feature_base, begin + i);
        const float *centroid = NULL;
        if (fill->centroids != NULL)
            centroid = fill->centroids +
                       (size_t)label_of(fill->kind, fill->draws, begin + i) * width;
        for (uint32_t f = 0; f < width; f++)
            row[f] = generate_noise(key, f) + (centroid != NULL ? centroid[f] : 0);
    }
}

static int write_table(struct raw_writer *writer, const struct fill *fill, const char *name,
                       enum tr_dtype dtype, uint64_t width,
                       void (*make)(const struct fill *, uint64_t, uint64_t, void *),
                       struct error *error)
{
    uint32_t table;
    uint32_t ndim = make == fill_features ? 1 : 0;
    int rv = raw_writer_add_table(writer, name, false, 0, dtype, ndim, &width, &table, error);
    if (rv != 0)
        return rv;
    uint64_t at_once = width < 64 ? NODES_AT_ONCE : NODES_AT_ONCE * 64 / width;
    void *rows = malloc((size_t)(at_once * width) * tr_dtype_size(dtype));
    if (rows == NULL)
        return error_set(error, TR_ENOMEM, "no memory to draw '%s'", name);
    uint64_t total = fill->draws->options->num_nodes;
    for (uint64_t done = 0; rv == 0 && done < total;) {
        uint64_t some = total - done < at_once ? total - done : at_once;
        make(fill, done, some, rows);
        rv = raw_writer_rows(writer, table, some, rows, error);
        done += some;
    }
    free(rows);
    return rv;
}

/* Centroids whose expected distance from one another, over a coordinate, is signal. */
static float *make_centroids(const struct generate_draws *draws)
{
    size_t classes = draws->options->num_classes, width = draws->options->num_features;
    float *centroids = malloc(classes * width * sizeof *centroids);
    for (size_t c = 0; centroids != NULL && c < classes; c++) {
        uint64_t key = key_node(draws->centroid_base, c);
        for (size_t f = 0; f < width; f++)
            centroids[c * width + f] = (float)draws->options->signal * generate_noise(key, f);
    }
    return centroids;
}

static int write_tables(struct raw_writer *writer, const struct generator *kind,
                        const struct generate_draws *draws, struct error *error)
{
    static const char *const masks[] = { "train_mask", "val_mask", "test_mask" };
    const struct generate_options *options = draws->options;
    struct fill fill = { kind, draws, NULL, 0 };
    float *centroids = NULL;
    int rv = 0;
    if (options->num_features > 0 && options->num_classes > 0) {
        fill.centroids = centroids = make_centroids(draws);
        if (centroids == NULL)
            return error_set(error, TR_ENOMEM, "no memory for %u centroids", options->num_classes);
    }
    if (options->num_features > 0)
        rv = write_table(writer, &fill, "feat", TR_F32, options->num_features, fill_features,
                         error);
    if (rv == 0 && options->num_classes > 0)
        rv = write_table(writer, &fill, "label", TR_I64, 1, fill_labels, error);
    for (; rv == 0 && options->num_classes > 0 && fill.part < 3; fill.part++)
        rv = write_table(writer, &fill, masks[fill.part], TR_U8, 1, fill_masks, error);
    free(centroids);
    return rv;
}

static int generate_graph(const char *path, const struct generator *kind,
                          const struct generate_options *options,
                          const struct raw_write_options *write, struct error *error)
{
    struct graph_types types;
    struct raw_writer *writer;
    struct generate_draws draws;
    int rv = graph_types_init_homogeneous(&types);
    if (rv != 0)
        return error_set(error, rv, "%s: no memory to generate it", path);
    draws_init(&draws, options);
    rv = raw_writer_open(path, write, kind->name, &types, &options->num_nodes, &writer, error);
    graph_types_fini(&types);
    if (rv != 0)
        return rv;
    rv = write_edges(writer, kind, &draws, error);
    if (rv == 0)
        rv = write_tables(writer, kind, &draws, error);
    if (rv == 0)
        return raw_writer_commit(writer, error);
    raw_writer_abort(writer);
    return rv;
}

static struct generate_options with_defaults(const struct generate_options *options)
{
    struct generate_options filled = *options;
    if (filled.a == 0 && filled.b == 0 && filled.c == 0 && filled.d == 0) {
        filled.a = 0.57;
        filled.b = filled.c = 0.19;
        filled.d = 0.05;
    }
    if (filled.inside < 0)
        filled.inside = 0.8;
    if (filled.signal == 0)
        filled.signal = 0.5;
    return filled;
}

int generate_rmat(const char *path, const struct generate_options *options,
                  const struct raw_write_options *write, struct error *error)
{
    static const struct generator kind = { "rmat", draw_rmat, false };
    struct generate_options filled = with_defaults(options);
    int rv = check_sizes(&filled, error);
    if (rv == 0)
        rv = check_quadrants(&filled, error);
    return rv != 0 ? rv : generate_graph(path, &kind, &filled, write, error);
}

int generate_sbm(const char *path, const struct generate_options *options,
                 const struct raw_write_options *write, struct error *error)
{
    static const struct generator kind = { "sbm", draw_sbm, true };
    struct generate_options filled = with_defaults(options);
    int rv = check_sizes(&filled, error);
    if (rv == 0)
        rv = check_blocks(&filled, error);
    return rv != 0 ? rv : generate_graph(path, &kind, &filled, write, error);
}

int generate_skew(const char *path, const struct generate_options *options,
                  const struct raw_write_options *write, struct error *error)
{
    static const struct generator kind = { "skew", draw_skew, false };
    struct generate_options filled = with_defaults(options);
    int rv = check_sizes(&filled, error);
    return rv != 0 ? rv : generate_graph(path, &kind, &filled, write, error);
}
