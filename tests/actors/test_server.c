/* SPDX-License-Identifier: Apache-2.0 */
/* The server answers as its definition says, in one piece or many, and refuses what it can't. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/error_reply.h"
#include "actors/data/server.h"
#include "graph/key.h"
#include "schemas/body.h"
#include "tests/actors/asker.h"
#include "tests/actors/graphs.h"
#include "tests/schemas/random.h"

#define SECTIONS_MAX 4
#define ROWS_MAX 200
#define EDGES_MAX 20000

struct fixture {
    struct test_graph graph;
    struct snapshots *snapshots;
    struct server_options options;
    struct asker asker;
};

static const uint32_t both_parts[] = { 0, 1 };

static void open_fixture(struct fixture *f, uint64_t seed, uint32_t slice_edges, bool codec)
{
    test_graph_init(&f->graph, seed, 50, 40);
    assert_int_equal(snapshots_create(&f->graph.book, &f->snapshots), 0);
    for (int i = 0; i < GRAPH_PARTS; i++)
        assert_int_equal(snapshots_add(f->snapshots, &f->graph.parts[i], NULL, NULL, NULL), 0);
    f->options = (struct server_options){
        .snapshots = f->snapshots, .parts = both_parts, .num_parts = 2, .slice_edges = slice_edges
    };
    asker_open(&f->asker, seed, codec);
    asker_spawn(&f->asker, &server_ops, &f->options);
}

static void close_fixture(struct fixture *f)
{
    asker_close(&f->asker);
    snapshots_destroy(f->snapshots);
    test_graph_fini(&f->graph);
}

struct request {
    struct msg_sample_request head;
    struct msg_sample_section sections[SECTIONS_MAX];
    uint32_t rows[SECTIONS_MAX * ROWS_MAX];
    unsigned char
        body[sizeof(struct msg_sample_section) * SECTIONS_MAX + SECTIONS_MAX * ROWS_MAX * 4];
    size_t body_bytes;
};

static void pack(struct request *request)
{
    size_t at = request->head.num_sections * sizeof request->sections[0], rows = 0;
    memcpy(request->body, request->sections, at);
    for (uint32_t i = 0; i < request->head.num_sections; i++) {
        if (request->sections[i].same_rows)
            continue;
        size_t bytes = request->sections[i].num_rows * sizeof request->rows[0];
        memcpy(request->body + at, request->rows + rows, bytes);
        at += bytes;
        rows += request->sections[i].num_rows;
    }
    request->body_bytes = at;
}

static void draw_request(struct request *request, uint64_t *state)
{
    static const int32_t fanouts[] = { -1, 0, 1, 3, 10, 25, 60 };
    memset(request, 0, sizeof *request);
    request->head = (struct msg_sample_request){
        .draw = { random_next(state), random_below(state, 100), (uint32_t)random_below(state, 9),
                  (uint32_t)random_below(state, 3), (uint32_t)random_below(state, 3) },
        .part = (uint32_t)random_below(state, 2),
        .version = 3,
        .num_sections = (uint32_t)random_below(state, SECTIONS_MAX + 1),
        .edge_ids = (uint32_t)random_below(state, 2),
    };
    for (uint32_t i = 0; i < request->head.num_sections; i++) {
        bool same = i > 0 && random_below(state, 3) == 0;
        request->sections[i] = (struct msg_sample_section){
            .etype = (uint32_t)random_below(state, GRAPH_ETYPES),
            .num_rows = same ? request->sections[i - 1].num_rows
                             : (uint32_t)random_below(state, ROWS_MAX),
            .same_rows = same,
            .term = SAMPLE_TERM(fanouts[random_below(state, sizeof fanouts / sizeof *fanouts)],
                                random_below(state, 2)),
        };
    }
    for (uint32_t i = 0; i < SECTIONS_MAX * ROWS_MAX; i++)
        request->rows[i] = (uint32_t)random_below(state, 50);
    pack(request);
}

/* A section's answer, put together from any number of replies. */
struct gathered {
    uint32_t num_rows;
    uint64_t num_edges;
    uint32_t counts[ROWS_MAX];
    uint64_t columns[EDGES_MAX];
    uint64_t edge_ids[EDGES_MAX];
};

static void append(struct gathered *to, const struct sample_answer *answer, bool edge_ids)
{
    assert_true(to->num_edges + answer->num_edges <= EDGES_MAX);
    memcpy(to->counts + to->num_rows, answer->counts, answer->num_rows * sizeof *to->counts);
    assert_int_equal(answer->edge_ids != NULL, edge_ids);
    for (uint64_t e = 0; e < answer->num_edges; e++) {
        to->columns[to->num_edges + e] = answer->columns != NULL ? answer->columns[e]
                                                                 : answer->wide_columns[e];
        to->edge_ids[to->num_edges + e] = edge_ids ? answer->edge_ids[e] : 0;
    }
    to->num_rows += answer->num_rows;
    to->num_edges += answer->num_edges;
}

/* Asks until all is there; returns the number of replies. */
static uint32_t gather(struct fixture *f, const struct request *request, struct gathered *sections)
{
    struct msg_sample_request head = request->head;
    uint32_t pieces = 0;
    memset(sections, 0, SECTIONS_MAX * sizeof *sections);
    for (;;) {
        assert_int_equal(asker_ask(&f->asker, MSG_SAMPLE_REQUEST, &head, sizeof head, request->body,
                                   request->body_bytes),
                         0);
        assert_int_equal(f->asker.reply_kind, MSG_SAMPLE_REPLY);
        if (head.reply_bytes_max != 0)
            assert_true(f->asker.reply_bytes <= head.reply_bytes_max);
        const struct msg_sample_reply *reply = (const void *)f->asker.reply_head;
        struct sample_reply_walk walk;
        struct sample_answer answer;
        int rv;
        assert_int_equal(sample_reply_begin(&walk, reply, f->asker.reply, f->asker.reply_bytes), 0);
        assert_true(reply->done || reply->num_sections > 0);
        uint32_t at = head.skip_sections;
        while ((rv = sample_reply_next(&walk, &answer)) == 1) {
            assert_true(at < request->head.num_sections);
            append(&sections[at++], &answer, head.edge_ids != 0);
        }
        assert_int_equal(rv, 0);
        pieces++;
        if (reply->done)
            return pieces;
        head.skip_sections = at - 1;
        head.skip_rows = sections[at - 1].num_rows;
    }
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Floyd's subset, in ascending order, as the kernel defines it. */
static void plain_subset(uint32_t *positions, uint32_t k, uint32_t degree, uint64_t key)
{
    uint64_t draw = 0;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t top = degree - k + i, drawn = (uint32_t)key_below(key, &draw, top + UINT64_C(1));
        for (uint32_t j = 0; j < i; j++)
            if (positions[j] == drawn)
                drawn = top;
        positions[i] = drawn;
    }
    qsort(positions, k, sizeof *positions, compare_u32);
}

static uint32_t plain_row(const struct graph_part *part, const struct request *request,
                          const struct msg_sample_section *section, uint32_t row,
                          uint32_t *positions)
{
    const struct msg_draw *draw = &request->head.draw;
    const struct csc *csc = &part->edges[section->etype].csc;
    uint32_t degree = (uint32_t)(csc->index[row + 1] - csc->index[row]);
    uint32_t k = section->term.fanout < 0 ? UINT32_MAX : (uint32_t)section->term.fanout;
    bool replace = (section->term.flags & SAMPLE_REPLACE) != 0;
    struct draw_key key = { draw->seed, draw->batch, KEY_NEIGHBOURS, draw->epoch,
                            draw->rank, draw->hop,   section->etype };
    uint32_t ntype = part->types->etypes[section->etype].dst;
    uint64_t node_key = key_node(key_base(&key), part->nodes[ntype].original_ids[row]), next = 0;
    if (degree == 0 || section->term.fanout < 0 || (!replace && degree <= k)) {
        for (uint32_t i = 0; i < degree; i++)
            positions[i] = i;
        return degree;
    }
    if (!replace)
        plain_subset(positions, k, degree, node_key);
    for (uint32_t i = 0; replace && i < k; i++)
        positions[i] = (uint32_t)key_below(node_key, &next, degree);
    return k;
}

static void compare_with_reference(const struct fixture *f, const struct request *request,
                                   const struct gathered *sections)
{
    const struct graph_part *part = &f->graph.parts[request->head.part];
    const uint32_t *rows = request->rows, *next = request->rows;
    for (uint32_t s = 0; s < request->head.num_sections; s++) {
        const struct msg_sample_section *section = &request->sections[s];
        const struct csc *csc = &part->edges[section->etype].csc;
        uint64_t at = 0;
        if (!section->same_rows) {
            rows = next;
            next += section->num_rows;
        }
        assert_int_equal(sections[s].num_rows, section->num_rows);
        for (uint32_t i = 0; i < section->num_rows; i++) {
            uint32_t positions[64];
            uint32_t count = plain_row(part, request, section, rows[i], positions);
            assert_int_equal(sections[s].counts[i], count);
            for (uint32_t e = 0; e < count; e++, at++) {
                uint64_t edge = csc->index[rows[i]] + positions[e];
                uint64_t column = csc->indices[edge];
                if (csc->column_global != NULL)
                    column = csc->column_global[column];
                assert_int_equal(sections[s].columns[at], column);
                if (request->head.edge_ids)
                    assert_int_equal(sections[s].edge_ids[at], csc->first_edge + edge);
            }
        }
        assert_int_equal(sections[s].num_edges, at);
    }
}

static void samples_equal_the_reference_in_one_piece_or_many(void **unused)
{
    (void)unused;
    struct gathered *sections = malloc(SECTIONS_MAX * sizeof *sections);
    struct request *request = malloc(sizeof *request);
    uint64_t state = 11, continued = 0;
    assert_true(sections != NULL && request != NULL);
    for (uint64_t round = 0; round < 60; round++) {
        struct fixture f;
        open_fixture(&f, round, round % 3 == 0 ? 0 : 1 + (uint32_t)random_below(&state, 200),
                     round % 2 != 0);
        for (int i = 0; i < 4; i++) {
            draw_request(request, &state);
            gather(&f, request, sections);
            compare_with_reference(&f, request, sections);
            request->head.reply_bytes_max = 1000 + random_below(&state, 4000);
            continued += gather(&f, request, sections) > 1;
            compare_with_reference(&f, request, sections);
        }
        close_fixture(&f);
    }
    assert_true(continued > 60);
    free(sections);
    free(request);
}

static void assert_failed(struct fixture *f, int code, const char *word)
{
    assert_int_equal(f->asker.status, 0);
    assert_int_equal(f->asker.reply_kind, MSG_ERROR_REPLY);
    assert_int_equal(((const struct msg_error_reply *)(const void *)f->asker.reply_head)->code,
                     code);
    char text[ERROR_TEXT_MAX + 1] = { 0 };
    assert_true(f->asker.reply_bytes > 0 && f->asker.reply_bytes < sizeof text);
    memcpy(text, f->asker.reply, f->asker.reply_bytes);
    if (strstr(text, word) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", text, word);
}

static void ask_sample(struct fixture *f, struct request *request)
{
    pack(request);
    asker_ask(&f->asker, MSG_SAMPLE_REQUEST, &request->head, sizeof request->head, request->body,
              request->body_bytes);
}

static void bad_sample_requests_name_what_is_wrong(void **unused)
{
    (void)unused;
    struct fixture f;
    struct request good = { .head = { .version = 3, .num_sections = 1 },
                            .sections = { { .num_rows = 2, .term = SAMPLE_TERM(5, false) } },
                            .rows = { 0, 49 } };
    struct request bad = good;
    open_fixture(&f, 1, 0, false);
    bad.head.part = 7;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_ENOENT, "partition 7");
    bad = good;
    bad.head.version = 2;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_EMISMATCH, "version 2 of partition 0");
    bad = good;
    bad.rows[1] = 50;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_ERANGE, "row 50");
    bad = good;
    bad.sections[0].etype = GRAPH_ETYPES;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_ERANGE, "edge type 3");
    bad = good;
    bad.sections[0].term.fanout = -2;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_ERANGE, "fanout -2");
    bad.sections[0].term.fanout = INT32_MAX;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_ETOOBIG, "fanout 2147483647");
    bad = good;
    bad.head.sampler = 77;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_EUNSUPPORTED, "sampler 77");
    bad = good;
    bad.sections[0].term.weights = 0;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_EUNSUPPORTED, "partition 0: the uniform sampler has no weights");
    bad = good;
    bad.sections[0].term.mask = 3;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_ERANGE, "a mask of table 3 of edge type 0 asked for, it has 0 tables");
    bad = good;
    bad.head.sampler = SAMPLE_WEIGHTED;
    bad.sections[0].term.weights = 2;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_ERANGE, "weights of table 2 of edge type 0 asked for, it has 0 tables");
    bad = good;
    bad.head.sampler = SAMPLE_LABOR;
    bad.sections[0].term.flags = SAMPLE_REPLACE;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_EUNSUPPORTED, "the labor sampler has no draws with replacement");
    bad = good;
    bad.sections[0].term.direction = SAMPLE_OUT;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_EUNSUPPORTED, "out-edges");
    bad = good;
    bad.head.skip_sections = 2;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_ERANGE, "2 sections to skip of 1");
    bad = good;
    bad.head.skip_rows = 3;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_ERANGE, "3 rows to skip");
    bad = good;
    bad.head.reply_bytes_max = 10;
    ask_sample(&f, &bad);
    assert_failed(&f, TR_ETOOBIG, "room for 10");
    bad = good;
    bad.head.num_sections = 3; /* of which there is one */
    asker_ask(&f.asker, MSG_SAMPLE_REQUEST, &bad.head, sizeof bad.head, good.body,
              sizeof good.sections[0]);
    assert_failed(&f, TR_EFORMAT, "body");
    ask_sample(&f, &good);
    assert_int_equal(f.asker.reply_kind, MSG_SAMPLE_REPLY);
    close_fixture(&f);
}

struct rows_request {
    struct msg_rows_request head;
    struct {
        struct msg_rows_section sections[4];
        uint32_t rows[6];
    } body;
};

static const struct rows_request good_rows = {
    .head = { .part = 1, .version = 3, .num_sections = 4 },
    .body = { .sections = { { 0, 0, 3, 0 },
                            { 0, MSG_TABLE_IN_DEGREE, 3, 1 },
                            { 1, 1, 3, 0 },
                            { 1, MSG_TABLE_ORIGINAL_ID, 3, 1 } },
              .rows = { 49, 0, 7, 1, 1, 30 } },
};

static void ask_rows(struct fixture *f, const struct rows_request *request)
{
    asker_ask(&f->asker, MSG_ROWS_REQUEST, &request->head, sizeof request->head, &request->body,
              sizeof request->body);
}

static void rows_are_those_of_the_tables(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct fixture f;
        struct body_reader reader;
        const void *rows;
        open_fixture(&f, seed, 0, seed % 2 != 0);
        ask_rows(&f, &good_rows);
        assert_int_equal(f.asker.reply_kind, MSG_ROWS_REPLY);
        const struct node_part *nodes = f.graph.parts[1].nodes;
        const uint32_t *wanted = good_rows.body.rows;
        rows_reply_begin(&reader, f.asker.reply, f.asker.reply_bytes);
        assert_int_equal(rows_reply_next(&reader, 3, 20, &rows), 0);
        for (int i = 0; i < 3; i++)
            assert_memory_equal((const char *)rows + i * 20,
                                (const char *)nodes[0].features[0].rows + wanted[i] * 20, 20);
        assert_int_equal(rows_reply_next(&reader, 3, 4, &rows), 0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(((const uint32_t *)rows)[i], nodes[0].in_degrees[wanted[i]]);
        assert_int_equal(rows_reply_next(&reader, 3, 1, &rows), 0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(((const uint8_t *)rows)[i],
                             ((const uint8_t *)nodes[1].features[1].rows)[wanted[3 + i]]);
        assert_int_equal(rows_reply_next(&reader, 3, 8, &rows), 0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(((const uint64_t *)rows)[i], nodes[1].original_ids[wanted[3 + i]]);
        assert_int_equal(rows_reply_end(&reader), 0);
        close_fixture(&f);
    }
}

/* A copy of a table that is kept sparse; the caller frees its arrays. */
static struct csr_rows make_sparse(const struct feature_table *dense)
{
    const float *rows = dense->rows;
    uint64_t *index = calloc(dense->num_rows + 1, sizeof *index), count = 0;
    uint32_t *columns = calloc(dense->num_rows * dense->width, sizeof *columns);
    float *values = calloc(dense->num_rows * dense->width, sizeof *values);
    for (uint64_t row = 0; row < dense->num_rows; row++) {
        for (uint32_t c = 0; c < dense->width; c++)
            if (rows[row * dense->width + c] != 0) {
                columns[count] = c;
                values[count++] = rows[row * dense->width + c];
            }
        index[row + 1] = count;
    }
    return (struct csr_rows){ .num_rows = dense->num_rows,
                              .width = dense->width,
                              .dtype = dense->dtype,
                              .row_nnz_max = (uint32_t)dense->width,
                              .index = index,
                              .columns = columns,
                              .values = values };
}

/* Rows of 5 elements, of which 4 are 0 or none is: sparse rows come in the form that is shorter,
 * widened they are those of the dense table, and whoever does not ask for them gets dense ones. */
static void sparse_rows_are_those_of_the_tables(void **unused)
{
    (void)unused;
    for (int full = 0; full < 2; full++) {
        struct fixture f;
        open_fixture(&f, 1, 0, full);
        struct feature_table *feat =
            (struct feature_table *)(uintptr_t)&f.graph.parts[1].nodes[0].features[0];
        const struct feature_table dense = *feat;
        float *rows = (float *)(uintptr_t)dense.rows;
        for (uint64_t i = 0; i < dense.num_rows * dense.width; i++)
            rows[i] = full || i % 5 == i / 5 % 5 ? (float)i + 1 : 0;
        struct csr_rows csr = make_sparse(&dense);
        *feat = dense;
        feat->rows = NULL;
        feat->form = TABLE_CSR;
        feat->csr = &csr;
        const struct sparse_form form = {
            .width = dense.width, .element_bytes = 4, .row_max = csr.row_nnz_max, .has_values = true
        };
        const uint32_t *wanted = good_rows.body.rows, places[] = { 0, 1, 2 };
        struct rows_request request = good_rows;
        struct body_reader reader;
        struct sparse_answer answer;
        const void *plain;
        ask_rows(&f, &request);
        rows_reply_begin(&reader, f.asker.reply, f.asker.reply_bytes);
        assert_int_equal(rows_reply_next(&reader, 3, 20, &plain), 0);
        for (int i = 0; i < 3; i++)
            assert_memory_equal((const char *)plain + i * 20, rows + wanted[i] * 5, 20);
        request.head.sparse = 1;
        ask_rows(&f, &request);
        assert_int_equal(f.asker.reply_kind, MSG_ROWS_REPLY);
        rows_reply_begin(&reader, f.asker.reply, f.asker.reply_bytes);
        assert_int_equal(rows_reply_next_sparse(&reader, 3, &form, &answer), 0);
        assert_true((answer.dense != NULL) == full);
        for (int i = 0; i < 3; i++) {
            float row[5];
            const uint32_t *columns = answer.columns + (full ? 0 : i);
            if (!full)
                csr_widen_answer(row, 20, TR_F32, places, answer.counts + i, columns,
                                 (const float *)answer.values + i, 1);
            assert_memory_equal(full ? (const char *)answer.dense + i * 20 : (const char *)row,
                                rows + wanted[i] * 5, 20);
        }
        /* What is not sparse is answered as ever. */
        assert_int_equal(rows_reply_next(&reader, 3, 4, &plain), 0);
        assert_int_equal(rows_reply_next(&reader, 3, 1, &plain), 0);
        assert_int_equal(rows_reply_next(&reader, 3, 8, &plain), 0);
        assert_int_equal(rows_reply_end(&reader), 0);
        /* A row that there is not is refused before its elements are counted. */
        request.body.rows[1] = 50;
        ask_rows(&f, &request);
        assert_failed(&f, TR_ERANGE, "row 50");
        *feat = dense;
        free((void *)(uintptr_t)csr.index);
        free((void *)(uintptr_t)csr.columns);
        free((void *)(uintptr_t)csr.values);
        close_fixture(&f);
    }
}

/* Sections of an answer begin at multiples of 8, and what stands between them is no memory of what
 * was answered before. */
static void gaps_between_rows_are_zero(void **unused)
{
    (void)unused;
    struct rows_request full = good_rows;
    struct fixture f;
    size_t bytes = 0;
    for (int s = 0; s < 4; s++)
        full.body.sections[s].table = MSG_TABLE_ORIGINAL_ID; /* 8 bytes a row: no gaps */
    open_fixture(&f, 3, 0, false);
    for (int turn = 0; turn < 20; turn++) {
        ask_rows(&f, &full);
        assert_int_equal(f.asker.reply_kind, MSG_ROWS_REPLY);
        ask_rows(&f, &good_rows);
        assert_int_equal(f.asker.reply_kind, MSG_ROWS_REPLY);
        bytes = f.asker.reply_bytes;
        /* 60 bytes of features, 12 of degrees, 3 of a mask, 24 of IDs. */
        struct body_reader reader;
        const void *rows;
        static const uint32_t widths[] = { 20, 4, 1, 8 };
        const unsigned char *end = f.asker.reply;
        rows_reply_begin(&reader, f.asker.reply, bytes);
        for (int s = 0; s < 4; s++) {
            assert_int_equal(rows_reply_next(&reader, 3, widths[s], &rows), 0);
            for (; end < (const unsigned char *)rows; end++)
                assert_int_equal(*end, 0);
            end += (size_t)3 * widths[s];
        }
        assert_true(bytes > 60 + 12 + 3 + 24);
    }
    close_fixture(&f);
}

static int ask_many_rows(struct fixture *f, struct msg_rows_section *body, uint32_t num_rows)
{
    struct msg_rows_request head = { .part = 0, .version = 3, .num_sections = 1 };
    *body = (struct msg_rows_section){ .num_rows = num_rows };
    return asker_ask(&f->asker, MSG_ROWS_REQUEST, &head, sizeof head, body,
                     sizeof *body + num_rows * sizeof(uint32_t));
}

static void many_rows_come_in_slices_but_not_too_many(void **unused)
{
    (void)unused;
    const uint32_t many = 100000, too_many = 3500000; /* of 20 bytes */
    struct fixture f;
    struct msg_rows_section *body = malloc(sizeof *body + too_many * sizeof(uint32_t));
    assert_non_null(body);
    uint32_t *rows = (uint32_t *)(body + 1);
    for (uint32_t i = 0; i < too_many; i++)
        rows[i] = (uint32_t)((i * UINT64_C(7919)) % 50);
    open_fixture(&f, 1, 0, false);
    assert_int_equal(ask_many_rows(&f, body, many), 0);
    assert_int_equal(f.asker.reply_kind, MSG_ROWS_REPLY);
    assert_int_equal(f.asker.reply_bytes, many * 20);
    const char *feat = f.graph.parts[0].nodes[0].features[0].rows;
    for (uint32_t i = 0; i < many; i++)
        assert_memory_equal(f.asker.reply + i * 20, feat + rows[i] * 20, 20);
    rows[many - 1] = 50; /* found when its slice comes */
    assert_int_equal(ask_many_rows(&f, body, many), 0);
    assert_failed(&f, TR_ERANGE, "row 50");
    assert_int_equal(ask_many_rows(&f, body, too_many), 0);
    assert_failed(&f, TR_ETOOBIG, "ask for fewer");
    close_fixture(&f);
    free(body);
}

static void bad_rows_requests_name_what_is_wrong(void **unused)
{
    (void)unused;
    struct fixture f;
    struct rows_request bad = good_rows;
    open_fixture(&f, 1, 0, false);
    bad.body.rows[5] = 50;
    ask_rows(&f, &bad);
    assert_failed(&f, TR_ERANGE, "row 50");
    bad = good_rows;
    bad.body.sections[2].table = GRAPH_TABLES;
    ask_rows(&f, &bad);
    assert_failed(&f, TR_ERANGE, "table 3");
    bad = good_rows;
    bad.body.sections[2].ntype = GRAPH_NTYPES;
    ask_rows(&f, &bad);
    assert_failed(&f, TR_ERANGE, "node type 2");
    bad = good_rows;
    bad.head.version = 1;
    ask_rows(&f, &bad);
    assert_failed(&f, TR_EMISMATCH, "version 1");
    bad = good_rows;
    bad.head.part = 2;
    ask_rows(&f, &bad);
    assert_failed(&f, TR_ENOENT, "partition 2");
    bad = good_rows;
    bad.body.sections[1].num_rows = 2; /* not the rows before */
    ask_rows(&f, &bad);
    assert_failed(&f, TR_EFORMAT, "body");
    close_fixture(&f);
}

static void selections_list_the_set_rows_in_order(void **unused)
{
    (void)unused;
    static const uint32_t tables[] = { 1, MSG_MASK_ALL };
    struct fixture f;
    open_fixture(&f, 5, 0, true);
    const struct node_part *nodes = &f.graph.parts[1].nodes[0];
    const uint8_t *mask = nodes->features[1].rows;
    for (int t = 0; t < 2; t++)
        for (uint32_t rows_max = 1; rows_max < 100; rows_max += 8) {
            struct msg_select_request head = {
                .part = 1, .version = 3, .table = tables[t], .rows_max = rows_max
            };
            uint64_t row = 0;
            const struct msg_select_reply *reply = (const void *)f.asker.reply_head;
            do {
                asker_ask(&f.asker, MSG_SELECT_REQUEST, &head, sizeof head, NULL, 0);
                assert_int_equal(f.asker.reply_kind, MSG_SELECT_REPLY);
                assert_true(reply->count <= rows_max);
                const uint64_t *ids = (const uint64_t *)(const void *)f.asker.reply;
                for (uint32_t i = 0; i < reply->count; i++, row++) {
                    while (t == 0 && !mask[row])
                        row++;
                    assert_int_equal(ids[i], nodes->global_begin + row);
                    assert_int_equal(ids[reply->count + i], nodes->original_ids[row]);
                }
                head.begin = reply->next;
            } while (!reply->done);
            while (t == 0 && row < 50)
                assert_false(mask[row++]);
            assert_int_equal(row, 50);
        }
    struct msg_select_request bad = { .part = 1, .version = 3, .table = 0, .rows_max = 5 };
    asker_ask(&f.asker, MSG_SELECT_REQUEST, &bad, sizeof bad, NULL, 0);
    assert_failed(&f, TR_EINVAL, "a mask has one");
    bad.table = 1;
    bad.begin = 51;
    asker_ask(&f.asker, MSG_SELECT_REQUEST, &bad, sizeof bad, NULL, 0);
    assert_failed(&f, TR_ERANGE, "row 51");
    close_fixture(&f);
}

/* More questions than a slice has; each edge is known by its original ID and its source together. */
#define QUESTIONS 5000u
static void edges_are_found_by_their_original_ids(void **unused)
{
    (void)unused;
    struct fixture f;
    struct {
        uint64_t originals[QUESTIONS], sources[QUESTIONS];
        uint32_t rows[QUESTIONS];
    } *asked = malloc(sizeof *asked);
    open_fixture(&f, 5, 0, true);
    struct edge_part *edges = &f.graph.parts[1].edges[0];
    const struct csc *csc = &edges->csc;
    uint64_t *originals = calloc(csc->num_edges + 1, sizeof *originals);
    uint64_t wanted[QUESTIONS], found = 0;
    assert_true(asked != NULL && originals != NULL && csc->num_edges > 0);
    struct msg_reverse_request head = { .part = 1, .version = 3, .count = QUESTIONS };
    const size_t bytes = QUESTIONS * REVERSE_QUESTION_BYTES;
    for (uint64_t at = 0; at < csc->num_edges; at++)
        originals[at] = 10 + 3 * at; /* increasing in each row */
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        uint64_t at = i * UINT64_C(7) % csc->num_edges, row = 0;
        while (csc->index[row + 1] <= at)
            row++;
        uint32_t column = csc->indices[at];
        asked->sources[i] = csc->column_global == NULL ? column : csc->column_global[column];
        asked->sources[i] += i % 5 == 1;                  /* another source */
        asked->originals[i] = 10 + 3 * at + (i % 5 == 2); /* an ID that no edge has */
        asked->rows[i] = (uint32_t)(i % 5 == 3 ? (row + 1) % csc->num_rows : row);
        wanted[i] = i % 5 == 0 || i % 5 == 4 ? csc->first_edge + at : MSG_NO_EDGE;
        found += wanted[i] != MSG_NO_EDGE;
    }
    asker_ask(&f.asker, MSG_REVERSE_REQUEST, &head, sizeof head, asked, bytes);
    assert_failed(&f, TR_EUNSUPPORTED, "partition again without --drop-edge-ids");
    edges->original_edge_ids = originals;
    assert_int_equal(asker_ask(&f.asker, MSG_REVERSE_REQUEST, &head, sizeof head, asked, bytes), 0);
    assert_int_equal(f.asker.reply_kind, MSG_REVERSE_REPLY);
    assert_memory_equal(f.asker.reply, wanted, sizeof wanted);
    assert_true(found == QUESTIONS / 5 * 2);
    asked->rows[QUESTIONS - 1] = (uint32_t)csc->num_rows;
    asker_ask(&f.asker, MSG_REVERSE_REQUEST, &head, sizeof head, asked, bytes);
    assert_failed(&f, TR_ERANGE, "in-edges of row 50 asked for, it has 50 rows");
    head.etype = 9;
    asker_ask(&f.asker, MSG_REVERSE_REQUEST, &head, sizeof head, asked, bytes);
    assert_failed(&f, TR_ERANGE, "edge type 9");
    /* Any edge from the source will do, with or without original IDs. */
    edges->original_edge_ids = NULL;
    head.etype = 0;
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        uint32_t row = i % (uint32_t)csc->num_rows;
        uint64_t at = csc->index[row];
        asked->originals[i] = MSG_ANY_EDGE;
        asked->rows[i] = row;
        while (at < csc->index[row + 1] && csc_source(csc, at) != asked->sources[i])
            at++;
        wanted[i] = at < csc->index[row + 1] ? csc->first_edge + at : MSG_NO_EDGE;
    }
    assert_int_equal(asker_ask(&f.asker, MSG_REVERSE_REQUEST, &head, sizeof head, asked, bytes), 0);
    assert_memory_equal(f.asker.reply, wanted, sizeof wanted);
    asked->rows[3] = (uint32_t)csc->num_rows;
    asker_ask(&f.asker, MSG_REVERSE_REQUEST, &head, sizeof head, asked, bytes);
    assert_failed(&f, TR_ERANGE, "in-edges of row 50 asked for, it has 50 rows");
    free(originals);
    free(asked);
    close_fixture(&f);
}

static void an_expired_request_is_dropped_in_the_middle(void **unused)
{
    (void)unused;
    struct fixture f;
    struct request request = { .head = { .version = 3, .num_sections = 1 },
                               .sections = {
                                   { .num_rows = ROWS_MAX, .term = SAMPLE_TERM(40, false) } } };
    struct node_counters counters;
    open_fixture(&f, 5, 1, false); /* a row a turn */
    f.asker.timeout_ns = 20000;
    pack(&request);
    int rv = asker_ask(&f.asker, MSG_SAMPLE_REQUEST, &request.head, sizeof request.head,
                       request.body, request.body_bytes);
    assert_int_equal(rv, TR_ETIMEDOUT);
    uint64_t steps = env_sim_steps(f.asker.env);
    env_sim_run(f.asker.env, NULL, NULL, env_sim_now_ns(f.asker.env) + ENV_SECOND_NS);
    assert_true(env_sim_steps(f.asker.env) - steps < ROWS_MAX / 2);
    node_counters(f.asker.node, &counters);
    assert_int_equal(counters.buffers_live, 0);
    f.asker.timeout_ns = 0;
    struct msg_select_request next = {
        .part = 0, .version = 3, .table = MSG_MASK_ALL, .rows_max = 1
    };
    assert_int_equal(asker_ask(&f.asker, MSG_SELECT_REQUEST, &next, sizeof next, NULL, 0), 0);
    close_fixture(&f);
}

/* Whatever allocation fails, the call ends in one of the ways it may, and nothing stays behind. */
static void without_memory_requests_are_refused(void **unused)
{
    (void)unused;
    struct request *request = malloc(sizeof *request);
    uint64_t state = 21;
    uint32_t refused = 0, answered = 0;
    assert_non_null(request);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct fixture f;
        open_fixture(&f, seed, 50, seed % 2 != 0);
        draw_request(request, &state);
        f.asker.alloc_fail_ppm = 200000;
        int rv = asker_ask(&f.asker, MSG_SAMPLE_REQUEST, &request->head, sizeof request->head,
                           request->body, request->body_bytes);
        bool failed = rv == 0 && f.asker.reply_kind == MSG_ERROR_REPLY;
        if (failed)
            assert_failed(&f, TR_ENOMEM, "memory");
        else
            assert_true(rv == 0 || rv == TR_ENOMEM);
        refused += failed || rv != 0;
        answered += rv == 0 && !failed;
        close_fixture(&f);
    }
    assert_true(refused > 10 && answered > 10);
    free(request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_sample_requests_name_what_is_wrong),
        cmocka_unit_test(bad_rows_requests_name_what_is_wrong),
        cmocka_unit_test(an_expired_request_is_dropped_in_the_middle),
        cmocka_unit_test(without_memory_requests_are_refused),
        cmocka_unit_test(samples_equal_the_reference_in_one_piece_or_many),
        cmocka_unit_test(rows_are_those_of_the_tables),
        cmocka_unit_test(sparse_rows_are_those_of_the_tables),
        cmocka_unit_test(gaps_between_rows_are_zero),
        cmocka_unit_test(many_rows_come_in_slices_but_not_too_many),
        cmocka_unit_test(selections_list_the_set_rows_in_order),
        cmocka_unit_test(edges_are_found_by_their_original_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
