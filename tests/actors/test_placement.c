/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One answer for every placement: whatever the number of partitions, where nodes went and how
 * wide columns are, the neighbours drawn of a node are the same, by original ID; so are the rows.
 */
#include "tests/partition/graph_util.h"

#include "actors/data/snapshot.h"
#include "graph/local_rows.h"
#include "graph/local_sample.h"

#define NODES 120
#define EDGES 1500
#define HASH_PRIME UINT64_C(0x100000001b3)

/* A hash of what each node drew and of its rows, by type and original ID. */
struct answers {
    uint64_t drawn[SAMPLE_TYPES][NODES];
    uint64_t rows[SAMPLE_TYPES][NODES];
};

struct loaded {
    struct store *store;
    struct snapshots *set;
    const struct book *book;
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * HASH_PRIME;
}

static void load(struct loaded *loaded, const char *path)
{
    struct error error = { 0 };
    const struct partition_load what = { .mode = PARTITION_COPY, .features = 1 };
    uint32_t parts[8];
    if (store_open(path, &loaded->store, &error) != 0)
        fail_msg("%s", error.text);
    loaded->book = store_book(loaded->store);
    for (uint32_t i = 0; i < loaded->book->num_parts; i++)
        parts[i] = i;
    assert_int_equal(snapshots_create(loaded->book, &loaded->set), 0);
    if (snapshots_load(loaded->set, loaded->store, parts, loaded->book->num_parts, &what, &error))
        fail_msg("%s", error.text);
    assert_int_equal(snapshots_load(loaded->set, loaded->store, parts, 1, &what, &error),
                     TR_EEXIST);
}

static void unload(struct loaded *loaded)
{
    snapshots_destroy(loaded->set);
    store_close(loaded->store);
}

static uint64_t original_id(struct loaded *loaded, uint32_t ntype, uint64_t global)
{
    int owner = book_node_owner(loaded->book, ntype, global);
    assert_true(owner >= 0);
    struct snapshot *snapshot = snapshot_acquire(loaded->set, (uint32_t)owner, SNAPSHOT_NEWEST);
    const struct node_part *nodes = &snapshot_part(snapshot)->nodes[ntype];
    uint64_t id = nodes->original_ids[global - nodes->global_begin];
    snapshot_release(snapshot);
    return id;
}

/* The number of the table of that name that edges of the type have. */
static uint32_t edge_table(const struct graph_part *part, uint32_t etype, const char *name)
{
    const struct feature_table *table = edge_part_feature(&part->edges[etype], name);
    assert_non_null(table);
    return (uint32_t)(table - part->edges[etype].features);
}

/* Draws for all rows of an edge type of a partition. */
static void draw(struct loaded *loaded, const struct graph_part *part, uint32_t etype,
                 uint32_t kind, const struct sample_term *term, struct answers *answers)
{
    const struct draw_key key = { .seed = 5, .batch = 6, .epoch = 7, .rank = 8, .hop = 1 };
    const struct graph_etype *type = &part->types->etypes[etype];
    uint32_t rows[NODES] = { 0 }, counts[NODES], narrow[EDGES * 4];
    uint64_t wide[EDGES * 4], at = 0;
    struct sample_space space = { 0 };
    struct sample_request request;
    struct sample_result result = { .counts = counts, .columns = narrow, .wide_columns = wide };
    uint32_t num_rows = (uint32_t)part->edges[etype].csc.num_rows;
    for (uint32_t i = 0; i < num_rows; i++)
        rows[i] = i;
    const struct local_sample what = { .part = part,
                                       .draw = &key,
                                       .kind = kind,
                                       .etype = etype,
                                       .term = *term,
                                       .rows = rows,
                                       .num_rows = num_rows };
    int made;
    while ((made = local_sample_make(&what, NULL)) == 1)
        ;
    assert_int_equal(made, 0);
    assert_int_equal(local_sample_prepare(&what, &request, NULL), 0);
    assert_true(local_sample_bound(&request) <= EDGES * 4);
    assert_int_equal(local_sample_draw(&space, &request, &result), 0);
    bool is_wide = local_sample_column_bytes(part, etype, SAMPLE_IN) == 8;
    for (uint32_t i = 0; i < num_rows; i++) {
        uint64_t *hash = &answers->drawn[etype][part->nodes[type->dst].original_ids[i]];
        *hash = mix(*hash, counts[i]);
        for (uint32_t e = 0; e < counts[i]; e++, at++)
            *hash = mix(*hash, original_id(loaded, type->src, is_wide ? wide[at] : narrow[at]));
    }
    sample_space_fini(&space);
}

static void read_rows(const struct graph_part *part, uint32_t ntype, struct answers *answers)
{
    const struct node_part *nodes = &part->nodes[ntype];
    struct local_table table;
    uint32_t feat = 0;
    while (feat < nodes->num_features && strcmp(nodes->features[feat].name, "feat") != 0)
        feat++;
    assert_int_equal(local_table_find(part, ntype, feat, &table, NULL), 0);
    for (uint32_t i = 0; i < nodes->num_nodes; i++) {
        uint32_t values[3];
        assert_int_equal(table.row_bytes, sizeof values);
        assert_int_equal(local_rows_check(part, &table, &i, 1, NULL), 0);
        local_rows_read(&table, &i, 1, values);
        uint64_t *hash = &answers->rows[ntype][nodes->original_ids[i]];
        for (int k = 0; k < 3; k++)
            *hash = mix(*hash, values[k]);
    }
}

static void answer(const char *path, struct answers *answers)
{
    struct loaded loaded;
    memset(answers, 0, sizeof *answers);
    load(&loaded, path);
    for (uint32_t p = 0; p < loaded.book->num_parts; p++) {
        struct snapshot *snapshot = snapshot_acquire(loaded.set, p, SNAPSHOT_NEWEST);
        const struct graph_part *part = snapshot_part(snapshot);
        for (uint32_t t = 0; t < part->types->num_etypes; t++) {
            struct sample_term terms[] = { SAMPLE_TERM(3, false), SAMPLE_TERM(3, true),
                                           SAMPLE_TERM(-1, false) };
            for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
                bool replaces = (terms[i].flags & SAMPLE_REPLACE) != 0;
                for (int masked = 0; masked < 2; masked++) {
                    terms[i].mask = masked ? edge_table(part, t, "keep") : SAMPLE_NO_TABLE;
                    for (uint32_t kind = SAMPLE_UNIFORM; kind <= SAMPLE_LABOR_POISSON; kind++) {
                        terms[i].weights = kind == SAMPLE_WEIGHTED ? edge_table(part, t, "prob")
                                                                   : SAMPLE_NO_TABLE;
                        if (kind < SAMPLE_LABOR || !replaces)
                            draw(&loaded, part, t, kind, &terms[i], answers);
                    }
                }
            }
        }
        for (uint32_t t = 0; t < part->types->num_ntypes; t++)
            read_rows(part, t, answers);
        snapshot_release(snapshot);
    }
    unload(&loaded);
}

static void placement_changes_no_draw_and_no_row(void **state)
{
    struct scratch *scratch = *state;
    struct sample sample;
    struct answers *first = malloc(sizeof *first), *other = malloc(sizeof *other);
    assert_true(first != NULL && other != NULL);
    sample_init(&sample, true, NODES, EDGES, 9);
    sample.drawn_by = true;
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    static const uint32_t part_counts[] = { 1, 3, 2 };
    for (uint32_t run = 0; run < 3; run++) {
        struct partition_options options = {
            .name = "g",
            .method = PARTITION_RANDOM,
            .num_parts = part_counts[run],
            .seed = run,
            .columns_max = run == 2 ? 10 : 0, /* column tables */
        };
        struct error error = { 0 };
        char folder[32], json[48];
        snprintf(folder, sizeof folder, "parts%u", run);
        snprintf(json, sizeof json, "%s/g.json", folder);
        if (partition_graph(raw, &options, at(scratch, folder), parallel_serial, NULL, NULL,
                            &error) != 0)
            fail_msg("%s", error.text);
        answer(at(scratch, json), run == 0 ? first : other);
        assert_true(first->drawn[0][0] != 0 && first->rows[0][0] != 0);
        if (run > 0)
            assert_memory_equal(first, other, sizeof *first);
    }
    raw_close(raw);
    sample_fini(&sample);
    free(first);
    free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(placement_changes_no_draw_and_no_row, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
