/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of random shape, held in plain arrays beside the raw folder that is made of them, and the
 * comparison of a partition directory with those arrays. */
#ifndef TESTS_PARTITION_GRAPH_UTIL_H
#define TESTS_PARTITION_GRAPH_UTIL_H

#include "tests/partition/raw_util.h"

#include "partition/build/partition.h"
#include "partition/raw/raw_write.h"
#include "partition/store/store.h"

#define SAMPLE_TYPES 3

struct sample {
    struct graph_types types;
    uint64_t num_nodes[SAMPLE_TYPES];
    uint64_t num_edges[SAMPLE_TYPES];
    uint64_t *src[SAMPLE_TYPES];
    uint64_t *dst[SAMPLE_TYPES];
    uint64_t random;
    bool out_edges; /* what partitions it stores them too */
    bool drawn_by;  /* edges have a mask "keep" and weights "prob" too, one element each */
};

static inline uint64_t sample_random(struct sample *sample)
{
    sample->random = sample->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return sample->random >> 33;
}

/* The value that every table holds for a row, so that a row can be recognised. */
static inline float sample_value(uint32_t table, uint64_t row, uint64_t item)
{
    return (float)(table * 100000 + row * 8 + item);
}

/* Two node types and three edge types, or one of each. Ends are skewed, so that there are isolated
 * nodes, self-loops and parallel edges. */
static inline void sample_init(struct sample *sample, bool hetero, uint64_t nodes, uint64_t edges,
                               uint64_t seed)
{
    struct error error;
    *sample = (struct sample){ .random = seed };
    if (hetero) {
        assert_int_equal(graph_types_add_ntype(&sample->types, "author", &error), 0);
        assert_int_equal(graph_types_add_ntype(&sample->types, "paper", &error), 0);
        assert_int_equal(graph_types_add_etype(&sample->types, "author:writes:paper", &error), 0);
        assert_int_equal(graph_types_add_etype(&sample->types, "paper:cites:paper", &error), 0);
        assert_int_equal(graph_types_add_etype(&sample->types, "paper:by:author", &error), 0);
        sample->num_nodes[0] = nodes / 3;
        sample->num_nodes[1] = nodes - nodes / 3;
    } else {
        assert_int_equal(graph_types_init_homogeneous(&sample->types), 0);
        sample->num_nodes[0] = nodes;
    }
    for (uint32_t e = 0; e < sample->types.num_etypes; e++) {
        uint64_t sources = sample->num_nodes[sample->types.etypes[e].src];
        uint64_t targets = sample->num_nodes[sample->types.etypes[e].dst];
        uint64_t count = sources == 0 || targets == 0 ? 0 : edges / (e + 1);
        sample->num_edges[e] = count;
        sample->src[e] = malloc(count * 8 + 8);
        sample->dst[e] = malloc(count * 8 + 8);
        for (uint64_t i = 0; i < count; i++) {
            uint64_t a = sample_random(sample) % sources, b = sample_random(sample) % targets;
            sample->src[e][i] = a * a / sources;
            sample->dst[e][i] = b * b / targets;
        }
    }
}

static inline void sample_fini(struct sample *sample)
{
    for (uint32_t e = 0; e < sample->types.num_etypes; e++) {
        free(sample->src[e]);
        free(sample->dst[e]);
    }
    graph_types_fini(&sample->types);
}

static inline void sample_add_rows(struct raw_writer *writer, const char *name, bool on_edges,
                                   uint32_t type, uint64_t rows, uint32_t width)
{
    struct error error = { 0 };
    uint64_t shape[1] = { width };
    uint32_t table;
    assert_int_equal(
        raw_writer_add_table(writer, name, on_edges, type, TR_F32, 1, shape, &table, &error), 0);
    float *values = malloc(rows * width * sizeof *values + 8);
    for (uint64_t r = 0; r < rows; r++) {
        for (uint64_t i = 0; i < width; i++)
            values[r * width + i] = sample_value(type + (on_edges ? 10 : 0), r, i);
    }
    assert_int_equal(raw_writer_rows(writer, table, rows, values, &error), 0);
    free(values);
}

/* What draws are made by, of an edge by its original ID: half are kept, a fifth weigh 0. */
static inline uint8_t sample_keep(uint32_t etype, uint64_t edge)
{
    return (edge * UINT64_C(0x9e3779b97f4a7c15) + etype) >> 63 & 1;
}

static inline float sample_prob(uint32_t etype, uint64_t edge)
{
    uint64_t drawn = (edge * UINT64_C(0xd1342543de82ef95) + etype * 77) >> 40;
    return drawn % 5 == 0 ? 0 : (float)(drawn % 1000 + 1) / 16;
}

static inline void sample_add_drawn_by(struct raw_writer *writer, uint32_t etype, uint64_t edges)
{
    struct error error = { 0 };
    uint32_t keep, prob;
    uint8_t *kept = malloc(edges + 1);
    float *probs = malloc(edges * sizeof *probs + 4);
    for (uint64_t i = 0; i < edges; i++) {
        kept[i] = sample_keep(etype, i);
        probs[i] = sample_prob(etype, i);
    }
    assert_int_equal(
        raw_writer_add_table(writer, "keep", true, etype, TR_BOOL, 0, NULL, &keep, &error), 0);
    assert_int_equal(raw_writer_rows(writer, keep, edges, kept, &error), 0);
    assert_int_equal(
        raw_writer_add_table(writer, "prob", true, etype, TR_F32, 0, NULL, &prob, &error), 0);
    assert_int_equal(raw_writer_rows(writer, prob, edges, probs, &error), 0);
    free(kept);
    free(probs);
}

#define SAMPLE_WORDS 7

/* Element `column` of a row of the sparse tables: "words" has values, "flags" ones. */
static inline float sample_word(uint32_t type, uint64_t row, uint64_t column, bool flags)
{
    uint64_t draw = (row * 31 + column * 17 + type) * UINT64_C(2654435761) >> 7;
    return draw % 3 != 0 ? 0 : flags ? 1 : (float)(row * 8 + column + 1);
}

static inline void sample_add_sparse(struct raw_writer *writer, uint32_t type, uint64_t rows,
                                     bool flags)
{
    struct error error = { 0 };
    uint32_t table, columns[SAMPLE_WORDS];
    float values[SAMPLE_WORDS];
    assert_int_equal(raw_writer_add_csr(writer, flags ? "flags" : "words", type, TR_F32,
                                        SAMPLE_WORDS, !flags, &table, &error),
                     0);
    for (uint64_t r = 0; r < rows; r++) {
        uint64_t index[2] = { 0, 0 };
        for (uint32_t c = 0; c < SAMPLE_WORDS; c++) {
            values[index[1]] = sample_word(type, r, c, flags);
            columns[index[1]] = c;
            index[1] += values[index[1]] != 0;
        }
        assert_int_equal(
            raw_writer_csr_rows(writer, table, 1, index, columns, flags ? NULL : values, &error),
            0);
    }
}

/* The sparse rows of a partition, widened, are those of the nodes that it owns. */
static inline void check_sparse(const struct node_part *nodes, uint32_t type, bool flags)
{
    const struct feature_table *words = node_part_feature(nodes, flags ? "flags" : "words");
    float row[SAMPLE_WORDS];
    assert_non_null(words);
    assert_int_equal(words->form, TABLE_CSR);
    assert_int_equal(words->width, SAMPLE_WORDS);
    assert_int_equal(words->row_bytes, sizeof row);
    assert_true((words->csr->values == NULL) == flags);
    for (uint64_t i = 0; i < nodes->num_nodes; i++) {
        csr_widen_row(words->csr, i, row);
        for (uint32_t c = 0; c < SAMPLE_WORDS; c++)
            assert_true(row[c] == sample_word(type, nodes->original_ids[i], c, flags));
    }
}

/* Every fourth node trains. */
static inline void sample_add_mask(struct raw_writer *writer, uint32_t type, uint64_t rows)
{
    struct error error = { 0 };
    uint32_t table;
    uint8_t *mask = malloc(rows + 1);
    assert_int_equal(
        raw_writer_add_table(writer, "train_mask", false, type, TR_BOOL, 0, NULL, &table, &error),
        0);
    for (uint64_t r = 0; r < rows; r++)
        mask[r] = r % 4 == 0;
    assert_int_equal(raw_writer_rows(writer, table, rows, mask, &error), 0);
    free(mask);
}

/* Writes the sample as a raw folder (with rows of nodes and edges, one table of no width) and opens
 * it. */
static inline struct raw_graph *sample_raw(struct sample *sample, const char *path)
{
    struct error error = { 0 };
    struct raw_writer *writer;
    struct raw_graph *raw;
    assert_int_equal(
        raw_writer_open(path, NULL, "sample", &sample->types, sample->num_nodes, &writer, &error),
        0);
    for (uint32_t e = 0; e < sample->types.num_etypes; e++)
        assert_int_equal(raw_writer_edges(writer, e, sample->num_edges[e], sample->src[e],
                                          sample->dst[e], &error),
                         0);
    for (uint32_t t = 0; t < sample->types.num_ntypes; t++) {
        sample_add_rows(writer, "feat", false, t, sample->num_nodes[t], 3);
        sample_add_rows(writer, "none", false, t, sample->num_nodes[t], 0);
        sample_add_sparse(writer, t, sample->num_nodes[t], false);
        sample_add_sparse(writer, t, sample->num_nodes[t], true);
        sample_add_mask(writer, t, sample->num_nodes[t]);
    }
    for (uint32_t e = 0; e < sample->types.num_etypes; e++)
        sample_add_rows(writer, "weight", true, e, sample->num_edges[e], 2);
    for (uint32_t e = 0; sample->drawn_by && e < sample->types.num_etypes; e++)
        sample_add_drawn_by(writer, e, sample->num_edges[e]);
    int rv = raw_writer_commit(writer, &error);
    if (rv != 0)
        fail_msg("%s", error.text);
    rv = raw_open(path, NULL, &raw, &error);
    if (rv != 0)
        fail_msg("%s", error.text);
    return raw;
}

/* Where each node went, by original ID. */
struct placed {
    uint32_t part;
    uint64_t global;
    bool found;
};

static inline void check_nodes(const struct sample *sample, const struct graph_part *part,
                               struct placed **placed)
{
    for (uint32_t t = 0; t < sample->types.num_ntypes; t++) {
        const struct node_part *nodes = &part->nodes[t];
        const struct feature_table *feat = node_part_feature(nodes, "feat");
        const struct feature_table *none = node_part_feature(nodes, "none");
        assert_non_null(feat);
        assert_non_null(none);
        assert_int_equal(none->width, 0);
        assert_int_equal(none->num_rows, nodes->num_nodes);
        check_sparse(nodes, t, false);
        check_sparse(nodes, t, true);
        for (uint64_t i = 0; i < nodes->num_nodes; i++) {
            uint64_t original = nodes->original_ids[i], in = 0, out = 0;
            assert_true(original < sample->num_nodes[t]);
            assert_false(placed[t][original].found);
            placed[t][original] = (struct placed){ part->part_id, nodes->global_begin + i, true };
            for (uint32_t e = 0; e < sample->types.num_etypes; e++) {
                for (uint64_t j = 0; j < sample->num_edges[e]; j++) {
                    in += sample->types.etypes[e].dst == t && sample->dst[e][j] == original;
                    out += sample->types.etypes[e].src == t && sample->src[e][j] == original;
                }
            }
            assert_int_equal(nodes->in_degrees[i], in);
            assert_int_equal(nodes->out_degrees[i], out);
            for (uint64_t k = 0; k < 3; k++)
                assert_true(((const float *)feat->rows)[i * 3 + k] == sample_value(t, original, k));
        }
    }
}

static inline void check_edges(const struct sample *sample, const struct graph_part *part,
                               struct placed *const *placed)
{
    for (uint32_t e = 0; e < sample->types.num_etypes; e++) {
        const struct graph_etype *type = &sample->types.etypes[e];
        const struct edge_part *edges = &part->edges[e];
        const struct node_part *nodes = &part->nodes[type->dst];
        const struct feature_table *weight = edge_part_feature(edges, "weight");
        const uint32_t *indices = edges->csc.indices;
        assert_non_null(weight);
        assert_int_equal(edges->csc.num_rows, nodes->num_nodes);
        for (uint64_t row = 0; row < nodes->num_nodes; row++) {
            uint64_t original = nodes->original_ids[row], at = edges->csc.index[row], before = 0;
            for (uint64_t j = 0; j < sample->num_edges[e]; j++) {
                before += sample->dst[e][j] < original;
                if (sample->dst[e][j] != original)
                    continue;
                assert_true(at < edges->csc.index[row + 1]);
                uint64_t column = indices[at];
                uint64_t global = edges->csc.column_global == NULL
                                      ? column
                                      : edges->csc.column_global[column];
                assert_int_equal(global, placed[type->src][sample->src[e][j]].global);
                assert_int_equal(edges->original_edge_ids[at], j);
                for (uint64_t k = 0; k < 2; k++)
                    assert_true(((const float *)weight->rows)[at * 2 + k] ==
                                sample_value(10 + e, j, k));
                at++;
            }
            assert_int_equal(at, edges->csc.index[row + 1]);
            assert_int_equal(edges->edge_rank[row], before);
        }
    }
}

/* Slices say which edge has each rank, destination by destination, and have no run too many. */
static inline void check_runs(const struct sample *sample, const struct book *book,
                              struct graph_part *const *parts, struct placed *const *placed)
{
    for (uint32_t e = 0; e < sample->types.num_etypes; e++) {
        uint32_t dst = sample->types.etypes[e].dst, part = 0;
        uint64_t rank = 0, num_runs = 0, wanted_runs = 0, last = UINT64_MAX;
        assert_true(book_has_edge_runs(book, e));
        for (uint32_t p = 0; p < book->num_parts; p++)
            num_runs += parts[p]->edges[e].runs.num_runs;
        for (uint64_t v = 0; v < sample->num_nodes[dst]; v++) {
            const struct graph_part *owner = parts[placed[dst][v].part];
            const struct csc *csc = &owner->edges[e].csc;
            uint64_t row = placed[dst][v].global - owner->nodes[dst].global_begin;
            for (uint64_t at = csc->index[row]; at < csc->index[row + 1]; at++, rank++) {
                uint64_t edge = csc->first_edge + at, found;
                bool first = false;
                while (rank >= (part + UINT64_C(1)) * sample->num_edges[e] / book->num_parts) {
                    part++;
                    first = true;
                }
                const struct edge_runs *slice = &parts[part]->edges[e].runs;
                const uint32_t place = (uint32_t)(rank - slice->first_rank);
                edge_runs_read(slice, &place, 1, NULL, &found);
                assert_int_equal(found, edge);
                wanted_runs += rank == 0 || first || edge != last + 1;
                last = edge;
            }
        }
        assert_int_equal(rank, sample->num_edges[e]);
        assert_int_equal(num_runs, wanted_runs);
    }
}

/* Global IDs must be ordered by partition, then original ID, without a gap. */
static inline void check_order(const struct sample *sample, const struct book *book,
                               struct placed *const *placed)
{
    for (uint32_t t = 0; t < sample->types.num_ntypes; t++) {
        uint64_t next = 0;
        for (uint32_t p = 0; p < book->num_parts; p++) {
            for (uint64_t v = 0; v < sample->num_nodes[t]; v++) {
                assert_true(placed[t][v].found);
                if (placed[t][v].part != p)
                    continue;
                assert_int_equal(placed[t][v].global, next);
                assert_int_equal(book_node_owner(book, t, next), p);
                next++;
            }
        }
        assert_int_equal(book_node_owner(book, t, next), TR_ERANGE);
    }
}

/* The directory holds exactly the sample. */
static inline void check_directory(const struct sample *sample, const char *path,
                                   enum partition_mode mode)
{
    struct error error = { 0 };
    struct store *store;
    struct placed *placed[SAMPLE_TYPES];
    struct graph_part *parts[64];
    struct partition_load load = { .mode = mode,
                                   .features = true,
                                   .degrees = true,
                                   .edge_rank = true,
                                   .ranks = true,
                                   .original_edge_ids = true };
    if (store_open(path, &store, &error) != 0)
        fail_msg("%s", error.text);
    const struct book *book = store_book(store);
    for (uint32_t t = 0; t < sample->types.num_ntypes; t++)
        placed[t] = calloc(sample->num_nodes[t] + 1, sizeof *placed[t]);
    for (uint32_t p = 0; p < book->num_parts; p++) {
        if (store_load(store, p, &load, &parts[p], &error) != 0)
            fail_msg("%s", error.text);
        check_nodes(sample, parts[p], placed);
    }
    check_order(sample, book, placed);
    check_runs(sample, book, parts, placed);
    for (uint32_t p = 0; p < book->num_parts; p++) {
        check_edges(sample, parts[p], placed);
        store_unload(store, parts[p]);
    }
    for (uint32_t t = 0; t < sample->types.num_ntypes; t++)
        free(placed[t]);
    store_close(store);
}

#endif
