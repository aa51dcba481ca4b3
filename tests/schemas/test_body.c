/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies are read within their bounds, whatever head and body claim. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <troupe/error.h>

#include "schemas/body.h"
#include "tests/schemas/random.h"

#define DAMAGED_ROUNDS 100000

/* A body on a block of exactly its length, 64-byte aligned as a message's is. */
struct block {
    void *bytes;
    uint64_t length;
};

static struct block block_of(const void *from, uint64_t length)
{
    struct block block = { NULL, length };
    assert_int_equal(posix_memalign(&block.bytes, 64, length > 0 ? length : 1), 0);
    memcpy(block.bytes, from, length);
    return block;
}

static void taking_never_overflows(void **unused)
{
    (void)unused;
    unsigned char bytes[64] = { 0 };
    const void *out;
    struct body_reader reader = { bytes, sizeof bytes, 1 };
    assert_int_equal(body_take(&reader, UINT64_MAX, UINT64_MAX, 8, &out), TR_EFORMAT);
    assert_int_equal(body_take(&reader, UINT64_C(1) << 62, 4, 8, &out), TR_EFORMAT);
    assert_int_equal(body_take(&reader, UINT64_MAX, 1, 8, &out), TR_EFORMAT);
    assert_int_equal(body_take(&reader, 57, 1, 8, &out), TR_EFORMAT);
    assert_int_equal(reader.at, 1);
    assert_int_equal(body_take(&reader, 56, 1, 8, &out), 0);
    assert_ptr_equal(out, bytes + 8);
    assert_int_equal(body_take(&reader, 0, 8, 64, &out), 0);
    assert_int_equal(body_take(&reader, 1, 1, 1, &out), TR_EFORMAT);
    reader = (struct body_reader){ bytes, UINT64_MAX, UINT64_MAX - 3 };
    assert_int_equal(body_take(&reader, 0, 1, 64, &out), TR_EFORMAT);
    uint64_t length = UINT64_MAX - 3;
    assert_int_equal(body_grow(&length, 1, 1, 64), TR_ETOOBIG);
    assert_int_equal(body_grow(&length, UINT64_C(1) << 62, 4, 1), TR_ETOOBIG);
}

struct request {
    struct msg_sample_request head;
    struct msg_sample_section sections[3];
    uint32_t rows[5];
};

static const struct request good_request = {
    .head = { .num_sections = 3 },
    .sections = { { .num_rows = 2, .term = SAMPLE_TERM(5, false) },
                  { .etype = 1, .num_rows = 2, .same_rows = 1, .term = SAMPLE_TERM(-1, false) },
                  { .etype = 2, .num_rows = 3, .term = SAMPLE_TERM(1, false) } },
    .rows = { 10, 11, 12, 13, 14 },
};
#define REQUEST_BODY_BYTES (sizeof good_request.sections + sizeof good_request.rows)

static int verify_request(const struct request *request, uint64_t length)
{
    struct block block = block_of(request->sections, length);
    int rv = messages_verify(MSG_SAMPLE_REQUEST, &request->head, block.bytes, length);
    free(block.bytes);
    return rv;
}

static void a_request_is_walked_section_by_section(void **unused)
{
    (void)unused;
    struct request_walk walk;
    const struct msg_sample_section *section;
    const uint32_t *rows, *first;
    assert_int_equal(
        sample_walk_begin(&walk, &good_request.head, good_request.sections, REQUEST_BODY_BYTES), 0);
    assert_int_equal(sample_walk_next(&walk, &section, &first), 1);
    assert_int_equal(first[1], 11);
    assert_int_equal(sample_walk_next(&walk, &section, &rows), 1);
    assert_ptr_equal(rows, first);
    assert_int_equal(section->term.fanout, -1);
    assert_int_equal(sample_walk_next(&walk, &section, &rows), 1);
    assert_int_equal(rows[2], 14);
    assert_int_equal(sample_walk_next(&walk, &section, &rows), 0);
}

static void a_request_that_lies_is_refused(void **unused)
{
    (void)unused;
    for (uint64_t length = 0; length < REQUEST_BODY_BYTES; length++)
        assert_int_equal(verify_request(&good_request, length), TR_EFORMAT);
    assert_int_equal(verify_request(&good_request, REQUEST_BODY_BYTES), 0);
    struct request bad = good_request;
    bad.sections[0].same_rows = 1; /* of which section? */
    assert_int_equal(verify_request(&bad, REQUEST_BODY_BYTES), TR_EFORMAT);
    bad = good_request;
    bad.sections[1].num_rows = 3; /* not the rows before */
    assert_int_equal(verify_request(&bad, REQUEST_BODY_BYTES), TR_EFORMAT);
    bad = good_request;
    bad.sections[2].num_rows = 2; /* a row left over */
    assert_int_equal(verify_request(&bad, REQUEST_BODY_BYTES), TR_EFORMAT);
    bad = good_request;
    bad.sections[2].num_rows = UINT32_MAX;
    assert_int_equal(verify_request(&bad, REQUEST_BODY_BYTES), TR_EFORMAT);
    bad = good_request;
    bad.head.num_sections = UINT32_MAX;
    assert_int_equal(verify_request(&bad, REQUEST_BODY_BYTES), TR_EFORMAT);
    assert_int_equal(messages_verify(MSG_SAMPLE_REQUEST, &bad.head, NULL, 0), TR_EFORMAT);
}

/* Two sections: one narrow with an odd number of rows, one wide with edge IDs. */
struct reply {
    struct msg_sample_answer narrow;
    uint32_t counts[4]; /* three and padding */
    uint32_t columns[4];
    struct msg_sample_answer wide;
    uint32_t wide_counts[2];
    uint64_t wide_columns[2];
    uint64_t edge_ids[2];
};

static const struct msg_sample_reply reply_head = { .num_sections = 2, .done = 1 };
static const struct reply good_reply = {
    .narrow = { .num_rows = 3, .column_bytes = 4, .num_edges = 3 },
    .counts = { 2, 0, 1, 0 },
    .columns = { 7, 8, 9, 0 },
    .wide = { .num_rows = 2, .column_bytes = 8, .num_edges = 2, .edge_ids = 1 },
    .wide_counts = { 1, 1 },
    .wide_columns = { UINT64_C(1) << 40, 3 },
    .edge_ids = { 5, 6 },
};

static int verify_reply(const struct reply *reply, uint64_t length)
{
    struct block block = block_of(reply, length);
    int rv = messages_verify(MSG_SAMPLE_REPLY, &reply_head, block.bytes, length);
    free(block.bytes);
    return rv;
}

static void a_reply_is_walked_section_by_section(void **unused)
{
    (void)unused;
    struct sample_reply_walk walk;
    struct sample_answer answer;
    assert_int_equal(sample_reply_begin(&walk, &reply_head, &good_reply, sizeof good_reply), 0);
    assert_int_equal(sample_reply_next(&walk, &answer), 1);
    assert_ptr_equal(answer.columns, good_reply.columns);
    assert_null(answer.wide_columns);
    assert_null(answer.edge_ids);
    assert_int_equal(sample_reply_next(&walk, &answer), 1);
    assert_ptr_equal(answer.counts, good_reply.wide_counts);
    assert_ptr_equal(answer.wide_columns, good_reply.wide_columns);
    assert_ptr_equal(answer.edge_ids, good_reply.edge_ids);
    assert_int_equal(sample_reply_next(&walk, &answer), 0);
}

static void a_reply_that_lies_is_refused(void **unused)
{
    (void)unused;
    for (uint64_t length = 0; length < sizeof good_reply; length++)
        assert_int_equal(verify_reply(&good_reply, length), TR_EFORMAT);
    assert_int_equal(verify_reply(&good_reply, sizeof good_reply), 0);
    struct reply bad = good_reply;
    bad.counts[0] = 3; /* sums to more than there are */
    assert_int_equal(verify_reply(&bad, sizeof bad), TR_EFORMAT);
    bad = good_reply;
    bad.narrow.column_bytes = 5;
    assert_int_equal(verify_reply(&bad, sizeof bad), TR_EFORMAT);
    bad = good_reply;
    bad.wide.num_edges = UINT64_MAX / 8 + 2;
    assert_int_equal(verify_reply(&bad, sizeof bad), TR_EFORMAT);
}

static void counts_of_plain_arrays_match_their_bodies(void **unused)
{
    (void)unused;
    uint64_t ids[4] = { 0 };
    struct msg_select_reply select = { .count = 2 };
    struct msg_join join = { 0 };
    assert_int_equal(messages_verify(MSG_SELECT_REPLY, &select, ids, 32), 0);
    assert_int_equal(messages_verify(MSG_SELECT_REPLY, &select, ids, 31), TR_EFORMAT);
    assert_int_equal(messages_verify(MSG_JOIN, &join, NULL, 0), 0);
    assert_int_equal(messages_verify(MSG_JOIN, &join, ids, 8), TR_EFORMAT);
}

/* A spec of two layers of one edge type, and nothing before it. */
static void a_loader_ends_with_its_spec(void **unused)
{
    (void)unused;
    struct sample_spec spec, read;
    assert_int_equal(sample_spec_alloc(&spec, 2, 1), 0);
    *sample_spec_term(&spec, 1, 0) = SAMPLE_TERM(-1, true);
    size_t bytes = sample_spec_bytes(&spec), length = bytes;
    unsigned char whole[256] = { 0 };
    assert_true(length <= sizeof whole);
    sample_spec_write(&spec, whole);
    struct msg_loader_open open = { .num_seeds = 2, .spec_bytes = (uint32_t)bytes };
    struct block block = block_of(whole, length);
    assert_int_equal(messages_verify(MSG_LOADER_OPEN, &open, block.bytes, length), 0);
    assert_int_equal(loader_open_spec(&open, block.bytes, length, &read), 0);
    assert_int_equal(read.num_layers, 2);
    assert_memory_equal(read.terms, spec.terms, 2 * sizeof *spec.terms);
    for (uint64_t cut = 0; cut < length; cut++)
        assert_int_equal(messages_verify(MSG_LOADER_OPEN, &open, block.bytes, cut), TR_EFORMAT);
    for (uint32_t other = 0; other < 2 * bytes; other++) {
        open.spec_bytes = other;
        assert_int_equal(messages_verify(MSG_LOADER_OPEN, &open, block.bytes, length),
                         other == bytes ? 0 : TR_EFORMAT);
    }
    free(block.bytes);
    sample_spec_free(&spec);
}

/* A reader of a spec that did not verify the message is safe as well. */
static void a_spec_is_only_read_where_there_is_one(void **unused)
{
    (void)unused;
    struct sample_spec spec, read;
    uint64_t words[32] = { 0 };
    assert_int_equal(sample_spec_alloc(&spec, 1, 1), 0);
    size_t bytes = sample_spec_bytes(&spec);
    sample_spec_write(&spec, words);
    struct msg_loader_open open = { .spec_bytes = 0 };
    assert_int_equal(loader_open_spec(&open, NULL, 0, &read), TR_EFORMAT);
    assert_int_equal(loader_open_spec(&open, words, bytes, &read), TR_EFORMAT);
    for (uint32_t other = (uint32_t)bytes - 8; other <= bytes + 8; other++) {
        open.spec_bytes = other;
        assert_int_equal(loader_open_spec(&open, words, bytes, &read),
                         other == bytes ? 0 : TR_EFORMAT);
    }
    /* A spec that would begin before the body is none, whatever lies there. */
    open.spec_bytes = (uint32_t)bytes;
    assert_int_equal(loader_open_spec(&open, words + 1, bytes - sizeof *words, &read), TR_EFORMAT);
    sample_spec_free(&spec);
}

/* Two segments, of which the second is listed elsewhere, and a spec: nothing more, and nothing
 * less. */
static void several_types_begin_with_their_segments(void **unused)
{
    (void)unused;
    struct sample_spec spec;
    assert_int_equal(sample_spec_alloc(&spec, 1, 1), 0);
    const struct msg_seed_segment made[] = { { .seeds = MSG_SEEDS_RANKS, .num_seeds = 9 },
                                             { .seeds = MSG_SEEDS_LISTED, .num_seeds = 3 } };
    const struct msg_seed_segment *segments;
    size_t bytes = sample_spec_bytes(&spec), length = sizeof made + bytes;
    unsigned char whole[256] = { 0 };
    assert_true(length <= sizeof whole);
    memcpy(whole, made, sizeof made);
    sample_spec_write(&spec, whole + sizeof made);
    const struct msg_loader_open good = { .num_seeds = 12,
                                          .seeds = MSG_SEEDS_SEVERAL,
                                          .num_segments = 2,
                                          .spec_bytes = (uint32_t)bytes };
    struct msg_loader_open bad[] = { good, good, good, good };
    struct block block = block_of(whole, length);
    assert_int_equal(messages_verify(MSG_LOADER_OPEN, &good, block.bytes, length), 0);
    assert_int_equal(loader_open_seeds(&good, block.bytes, length, &segments), 0);
    assert_memory_equal(segments, made, sizeof made);
    for (uint64_t cut = 0; cut < length; cut++)
        assert_int_equal(messages_verify(MSG_LOADER_OPEN, &good, block.bytes, cut), TR_EFORMAT);
    bad[0].num_segments = 1;
    bad[1].num_segments = 0;
    bad[2].num_segments = UINT32_MAX;
    bad[3].seeds = MSG_SEEDS_LISTED;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(messages_verify(MSG_LOADER_OPEN, &bad[i], block.bytes, length),
                         TR_EFORMAT);
    free(block.bytes);
    sample_spec_free(&spec);
}

static void a_draw_has_seeds_and_its_spec(void **unused)
{
    (void)unused;
    struct sample_spec spec;
    assert_int_equal(sample_spec_alloc(&spec, 2, 1), 0);
    size_t bytes = sample_spec_bytes(&spec), length = 24 + bytes;
    unsigned char whole[256] = { 0 };
    assert_true(length <= sizeof whole);
    sample_spec_write(&spec, whole + 24);
    struct msg_draw_request draw = { .num_seeds = 3, .spec_bytes = (uint32_t)bytes };
    struct block block = block_of(whole, length);
    assert_int_equal(messages_verify(MSG_DRAW_REQUEST, &draw, block.bytes, length), 0);
    for (uint64_t cut = 0; cut < length; cut++)
        assert_int_equal(messages_verify(MSG_DRAW_REQUEST, &draw, block.bytes, cut), TR_EFORMAT);
    for (uint32_t seeds = 0; seeds < 8; seeds++) {
        draw.num_seeds = seeds;
        assert_int_equal(messages_verify(MSG_DRAW_REQUEST, &draw, block.bytes, length),
                         seeds == 3 ? 0 : TR_EFORMAT);
    }
    draw.num_seeds = 0;
    assert_int_equal(messages_verify(MSG_DRAW_REQUEST, &draw, whole + 24, bytes), TR_EFORMAT);
    free(block.bytes);
    sample_spec_free(&spec);
}

/* Bounds, and numbers that no product of may overflow. */
static void a_spec_that_lies_is_refused(void **unused)
{
    (void)unused;
    static const uint32_t bad[][4] = {
        { 0, 0, 0, 1 },          { 0, 0, SAMPLE_LAYERS_MAX + 1, 1 }, { 0, 0, 1, 2 },
        { 0, 0, 2, 0x80000001 }, { 0, 0, 16, SAMPLE_TERMS_MAX },     { 0, 8, 1, 1 },
        { 0, 0, 1, UINT32_MAX },
    };
    struct sample_spec spec, read;
    uint32_t words[32] = { 0 };
    assert_int_equal(sample_spec_alloc(&spec, 1, 1), 0);
    size_t bytes = sample_spec_bytes(&spec);
    sample_spec_write(&spec, words);
    assert_int_equal(sample_spec_read(words, bytes, &read), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sample_spec_write(&spec, words);
        memcpy(words, bad[i], sizeof bad[i]);
        assert_int_equal(sample_spec_read(words, bytes, &read), TR_EFORMAT);
    }
    sample_spec_write(&spec, words);
    words[6] = (uint32_t)-2; /* a fanout that is none */
    assert_int_equal(sample_spec_read(words, bytes, &read), TR_EFORMAT);
    sample_spec_free(&spec);
    /* Heads without terms, whose length is right. */
    static const uint32_t layers[] = { 0, 1, SAMPLE_LAYERS_MAX, SAMPLE_LAYERS_MAX + 1 };
    for (size_t i = 0; i < 4; i++) {
        memset(words, 0, sizeof words);
        words[2] = layers[i];
        assert_int_equal(sample_spec_read(words, 24, &read), i % 3 == 0 ? TR_EFORMAT : 0);
    }
    assert_int_equal(sample_spec_alloc(&spec, SAMPLE_LAYERS_MAX + 1, 1), TR_ETOOBIG);
    assert_int_equal(sample_spec_alloc(&spec, 16, UINT32_MAX), TR_ETOOBIG);
}

/* Tables come last, in their order; one of nothing, for nothing, or beyond their number is
 * refused. */
static void a_spec_lists_tables(void **unused)
{
    (void)unused;
    static const struct sample_table good[] = { { SAMPLE_OF_NODES, 9, 4, SAMPLE_FOR_SEEDS },
                                                { SAMPLE_OF_EDGES, 2, 0, SAMPLE_FOR_ALL },
                                                { SAMPLE_OF_EDGES, 0, 1, 1 } };
    static const struct sample_table bad[] = { { 2, 0, 0, SAMPLE_FOR_ALL },
                                               { SAMPLE_OF_EDGES, 3, 0, SAMPLE_FOR_ALL },
                                               { SAMPLE_OF_EDGES, 0, 0, SAMPLE_FOR_SEEDS },
                                               { SAMPLE_OF_NODES, 0, 0, 2 } };
    struct sample_spec spec, read, copy;
    uint64_t words[64];
    assert_int_equal(sample_spec_alloc(&spec, 2, 3), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(sample_spec_add_table(&spec, &good[i]), 0);
    size_t bytes = sample_spec_bytes(&spec);
    assert_true(bytes <= sizeof words);
    sample_spec_write(&spec, words);
    assert_int_equal(sample_spec_read(words, bytes, &read), 0);
    assert_int_equal(read.num_tables, 3);
    assert_memory_equal(read.tables, good, sizeof good);
    for (size_t cut = 0; cut < bytes; cut += 8)
        assert_int_equal(sample_spec_read(words, cut, &read), TR_EFORMAT);
    assert_int_equal(sample_spec_copy(&copy, &spec), 0);
    assert_memory_equal(copy.tables, good, sizeof good);
    sample_spec_free(&copy);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        spec.tables[i % 3] = bad[i];
        sample_spec_write(&spec, words);
        assert_int_equal(sample_spec_read(words, bytes, &read), TR_EFORMAT);
        spec.tables[i % 3] = good[i % 3];
    }
    while (spec.num_tables < SAMPLE_TABLES_MAX)
        assert_int_equal(sample_spec_add_table(&spec, &good[0]), 0);
    assert_int_equal(sample_spec_add_table(&spec, &good[0]), TR_ETOOBIG);
    assert_int_equal(spec.num_tables, SAMPLE_TABLES_MAX);
    sample_spec_free(&spec);
}

/* Salts, times and exclusions come after the rows of a section, and are not read beyond the
 * body. */
static void fields_of_rows_follow_them(void **unused)
{
    (void)unused;
    static const struct {
        struct msg_sample_section section;
        uint32_t rows[2], salts[2];
        int64_t times[2];
        uint32_t exclusions[2];
        uint64_t excluded[3];
    } body = { .section = { .num_rows = 2, .term = SAMPLE_TERM(5, false) },
               .rows = { 4, 4 },
               .salts = { 0, 1 },
               .times = { -5, 7 },
               .exclusions = { 1, 2 },
               .excluded = { 100, 200, 300 } };
    const struct msg_sample_request head = { .num_sections = 1, .row_fields = SAMPLE_ROW_FIELDS };
    const struct msg_sample_section *section;
    const uint32_t *rows;
    struct request_walk walk;
    assert_int_equal(sample_walk_begin(&walk, &head, &body, sizeof body), 0);
    assert_int_equal(sample_walk_next(&walk, &section, &rows), 1);
    assert_ptr_equal(rows, body.rows);
    assert_ptr_equal(walk.with.salts, body.salts);
    assert_ptr_equal(walk.with.times, body.times);
    assert_ptr_equal(walk.with.exclusions, body.exclusions);
    assert_ptr_equal(walk.with.excluded, body.excluded);
    assert_int_equal(sample_walk_next(&walk, &section, &rows), 0);
    for (uint64_t length = 0; length < sizeof body; length++) {
        struct block block = block_of(&body, length);
        assert_int_equal(messages_verify(MSG_SAMPLE_REQUEST, &head, block.bytes, length),
                         TR_EFORMAT);
        free(block.bytes);
    }
    const struct msg_sample_request other = { .num_sections = 1,
                                              .row_fields = SAMPLE_ROW_FIELDS + 1 };
    assert_int_equal(messages_verify(MSG_SAMPLE_REQUEST, &other, &body, sizeof body), TR_EFORMAT);
}

/* Edges that a section leaves out come behind its rows, or alone where these are those of the section
 * before, and are in order, each once. */
static void edges_that_are_left_out_follow_rows(void **unused)
{
    (void)unused;
    static const struct body {
        struct msg_sample_section sections[2];
        uint32_t rows[2];
        uint64_t first[3], second[2];
    } good = { .sections = { { .num_rows = 2, .num_excluded = 3 },
                             { .etype = 1, .num_rows = 2, .same_rows = 1, .num_excluded = 2 } },
               .rows = { 4, 9 },
               .first = { 1, 2, UINT64_MAX },
               .second = { 0, 5 } };
    const struct msg_sample_request head = { .num_sections = 2 };
    const struct msg_sample_section *section;
    const uint32_t *rows;
    struct request_walk walk;
    assert_int_equal(sample_walk_begin(&walk, &head, &good, sizeof good), 0);
    assert_int_equal(sample_walk_next(&walk, &section, &rows), 1);
    assert_ptr_equal(walk.excluded, good.first);
    assert_int_equal(sample_walk_next(&walk, &section, &rows), 1);
    assert_ptr_equal(rows, good.rows);
    assert_ptr_equal(walk.excluded, good.second);
    assert_int_equal(sample_walk_next(&walk, &section, &rows), 0);
    for (uint64_t length = 0; length < sizeof good; length++) {
        struct block block = block_of(&good, length);
        assert_int_equal(messages_verify(MSG_SAMPLE_REQUEST, &head, block.bytes, length),
                         TR_EFORMAT);
        free(block.bytes);
    }
    struct body bad = good;
    bad.first[1] = 1;
    assert_int_equal(messages_verify(MSG_SAMPLE_REQUEST, &head, &bad, sizeof bad), TR_EFORMAT);
    bad = good;
    bad.second[0] = 6;
    assert_int_equal(messages_verify(MSG_SAMPLE_REQUEST, &head, &bad, sizeof bad), TR_EFORMAT);
}

/* One below the end of the part, at it, and one above. */
static void a_piece_ends_with_its_part_at_most(void **unused)
{
    (void)unused;
    static const unsigned char body[16];
    struct msg_checkpoint_copy copy = { .bytes = 100, .path_bytes = 3 };
    for (uint32_t count = 9; count <= 11; count++) {
        copy.offset = 90;
        copy.count = count;
        assert_int_equal(messages_verify(MSG_CHECKPOINT_COPY, &copy, body, count + 3),
                         count <= 10 ? 0 : TR_EFORMAT);
    }
    copy.offset = 100;
    copy.count = 0;
    assert_int_equal(messages_verify(MSG_CHECKPOINT_COPY, &copy, body, 3), 0);
    copy.offset = 101;
    assert_int_equal(messages_verify(MSG_CHECKPOINT_COPY, &copy, body, 3), TR_EFORMAT);
    copy.offset = UINT64_MAX - 5; /* offset and count may not wrap around */
    copy.count = 10;
    assert_int_equal(messages_verify(MSG_CHECKPOINT_COPY, &copy, body, 13), TR_EFORMAT);
}

static void rows_are_read_as_far_as_they_go(void **unused)
{
    (void)unused;
    _Alignas(64) unsigned char body[76] = { 0 };
    struct body_reader reader;
    const void *rows;
    assert_int_equal(rows_reply_begin(&reader, body, sizeof body), 0);
    assert_int_equal(rows_reply_next(&reader, 3, 20, &rows), 0);
    assert_int_equal(rows_reply_end(&reader), TR_EFORMAT);
    assert_int_equal(rows_reply_next(&reader, 2, 7, &rows), TR_EFORMAT);
    assert_int_equal(rows_reply_next(&reader, 2, 6, &rows), 0);
    assert_ptr_equal(rows, body + 64);
    assert_int_equal(rows_reply_end(&reader), 0);
    assert_int_equal(rows_reply_next(&reader, UINT64_MAX, UINT64_MAX, &rows), TR_EFORMAT);
}

/* Three rows of 6 columns with 3, 0 and 1 elements, behind 12 bytes of another section. */
struct sparse_body {
    _Alignas(64) unsigned char bytes[256];
    struct sparse_layout layout;
};

static const struct sparse_form sparse_forms[] = {
    { .width = 6, .element_bytes = 4, .row_max = 3, .has_values = true },
    { .width = 6, .element_bytes = 4, .row_max = 3, .has_values = false },
};

static void make_sparse(struct sparse_body *body, const struct sparse_form *form)
{
    static const uint32_t counts[] = { 3, 0, 1 }, columns[] = { 0, 2, 5, 5 };
    static const float values[] = { 1, 2, 3, 4 };
    struct msg_sparse_rows head = { .num_elements = 4, .has_values = form->has_values };
    memset(body->bytes, 0, sizeof body->bytes);
    assert_int_equal(sparse_layout_make(&body->layout, 12, 3, 4, form), 0);
    assert_false(body->layout.dense);
    assert_int_equal(body->layout.head, 64);
    assert_true(body->layout.end <= 12 + 3 * sparse_row_bytes_max(form) + SPARSE_SECTION_BYTES);
    memcpy(body->bytes + body->layout.head, &head, sizeof head);
    memcpy(body->bytes + body->layout.counts, counts, sizeof counts);
    memcpy(body->bytes + body->layout.columns, columns, sizeof columns);
    if (form->has_values)
        memcpy(body->bytes + body->layout.values, values, sizeof values);
}

static int read_sparse(const struct sparse_body *body, uint64_t length,
                       const struct sparse_form *form, struct sparse_answer *answer)
{
    struct body_reader reader;
    const void *before;
    assert_int_equal(rows_reply_begin(&reader, body->bytes, length), 0);
    assert_int_equal(rows_reply_next(&reader, 3, 4, &before), 0);
    int rv = rows_reply_next_sparse(&reader, 3, form, answer);
    return rv != 0 ? rv : rows_reply_end(&reader);
}

static void sparse_rows_are_read_as_they_were_laid_out(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        const struct sparse_form *form = &sparse_forms[i];
        struct sparse_body body;
        struct sparse_answer answer;
        make_sparse(&body, form);
        assert_int_equal(read_sparse(&body, body.layout.end, form, &answer), 0);
        assert_null(answer.dense);
        assert_int_equal(answer.counts[0], 3);
        assert_int_equal(answer.columns[3], 5);
        assert_true((answer.values != NULL) == form->has_values);
        if (form->has_values)
            assert_true(((const float *)answer.values)[3] == 4);
        for (uint64_t length = 12; length < sizeof body.bytes; length++)
            if (length != body.layout.end)
                assert_int_equal(read_sparse(&body, length, form, &answer), TR_EFORMAT);
    }
}

/* Whatever is wrong in it: no column leads outside of a row. */
static void wrong_sparse_rows_are_refused(void **unused)
{
    (void)unused;
    const struct sparse_form *form = &sparse_forms[0];
    struct sparse_body good;
    make_sparse(&good, form);
    const struct {
        uint64_t at;
        uint32_t value;
    } cases[] = {
        { good.layout.head, 5 },                          /* more elements than came */
        { good.layout.head, 3 },                          /* fewer */
        { good.layout.head + 4, UINT32_MAX },             /* a size that overflows */
        { good.layout.head + 8, 1 },                      /* dense, with elements */
        { good.layout.head + 8, 2 },                      /* no form at all */
        { good.layout.head + 12, 0 },                     /* no values, where the table has some */
        { good.layout.counts, 4 },                        /* more than a row has */
        { good.layout.counts, 2 },                        /* fewer than there are */
        { good.layout.counts + 8, UINT32_MAX },           /* a sum that wraps around */
        { good.layout.columns + 8, 6 },                   /* a column that there is not */
        { good.layout.columns + 4, 0 },                   /* one that is there again */
        { good.layout.columns + 4, 5 },                   /* one that is too late */
        { good.layout.columns + 12, (uint32_t)INT32_MIN } /* a negative one */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sparse_body bad = good;
        struct sparse_answer answer;
        memcpy(bad.bytes + cases[i].at, &cases[i].value, sizeof cases[i].value);
        assert_int_equal(read_sparse(&bad, bad.layout.end, form, &answer), TR_EFORMAT);
    }
}

/* Where rows are nearly full they come dense, and take no more than was reserved for them. */
static void full_rows_come_dense(void **unused)
{
    (void)unused;
    const struct sparse_form form = {
        .width = 6, .element_bytes = 4, .row_max = 6, .has_values = true
    };
    struct sparse_body body = { .bytes = { 0 } };
    struct sparse_answer answer;
    const struct msg_sparse_rows head = { .dense = 1 };
    const float row = 7;
    assert_int_equal(sparse_row_bytes_max(&form), 24);
    assert_int_equal(sparse_layout_make(&body.layout, 12, 3, 18, &form), 0);
    assert_true(body.layout.dense);
    assert_int_equal(body.layout.end, 128 + 72);
    assert_true(body.layout.end <= 12 + 3 * 24 + SPARSE_SECTION_BYTES);
    memcpy(body.bytes + body.layout.head, &head, sizeof head);
    memcpy(body.bytes + body.layout.rows, &row, sizeof row);
    assert_int_equal(read_sparse(&body, body.layout.end, &form, &answer), 0);
    assert_true(*(const float *)answer.dense == 7);
    assert_int_equal(read_sparse(&body, body.layout.end - 1, &form, &answer), TR_EFORMAT);
    assert_int_equal(sparse_layout_make(&body.layout, 12, 3, UINT64_MAX, &form), TR_ETOOBIG);
    assert_int_equal(sparse_layout_make(&body.layout, UINT64_MAX, 3, 1, &form), TR_ETOOBIG);
}

/* Bodies whose length follows from the head: exactly so long, not one byte less or more. */
static void each_kind_has_the_body_that_its_head_says(void **unused)
{
    (void)unused;
    static const unsigned char body[64];
    const struct {
        uint32_t kind;
        const void *head;
        uint64_t length;
    } cases[] = {
        { MSG_SELECT_REPLY, &(struct msg_select_reply){ .count = 3 }, 48 },
        { MSG_REVERSE_REQUEST, &(struct msg_reverse_request){ .count = 3 }, 60 },
        { MSG_REVERSE_REPLY, &(struct msg_reverse_reply){ .count = 3 }, 24 },
        { MSG_FETCH_REQUEST, &(struct msg_fetch_request){ .count = 3 }, 24 },
        { MSG_FETCH_REPLY, &(struct msg_fetch_reply){ .count = 3, .row_bytes = 5 }, 15 },
        { MSG_NODES_REPLY, &(struct msg_nodes_reply){ .count = 3 }, 48 },
        { MSG_BATCH_REQUEST, &(struct msg_batch_request){ .num_seeds = 3 }, 24 },
        { MSG_BATCH_PIECE, &(struct msg_batch_piece){ .count = 7 }, 7 },
        { MSG_REDUCE, &(struct msg_reduce){ .count = 3 }, 12 },
        { MSG_REDUCED, &(struct msg_reduced){ .count = 3 }, 12 },
        { MSG_STATUS_REPLY, &(struct msg_status_reply){ .count = 7 }, 7 },
        { MSG_GROUP_REQUEST,
          &(struct msg_group_request){ .count = 3, .operation = MSG_GROUP_REDUCE }, 12 },
        { MSG_GROUP_REQUEST, &(struct msg_group_request){ .count = 7, .operation = MSG_GROUP_SAVE },
          7 },
        { MSG_GROUP_REQUEST,
          &(struct msg_group_request){ .count = 7, .operation = MSG_GROUP_BARRIER }, 0 },
        { MSG_GROUP_REQUEST,
          &(struct msg_group_request){ .count = 1, .operation = MSG_GROUP_FINISH }, 0 },
        { MSG_RESTORE, &(struct msg_restore){ .path_bytes = 5 }, 5 },
        { MSG_CHECKPOINT_PART, &(struct msg_checkpoint_part){ .path_bytes = 5 }, 5 },
        { MSG_CHECKPOINT_LOOK, &(struct msg_checkpoint_look){ .path_bytes = 5 }, 5 },
        { MSG_CHECKPOINT_FETCH, &(struct msg_checkpoint_fetch){ .path_bytes = 5 }, 5 },
        { MSG_CHECKPOINT_PIECE, &(struct msg_checkpoint_piece){ .count = 7 }, 7 },
        { MSG_CHECKPOINT_FIND, &(struct msg_checkpoint_find){ .path_bytes = 5 }, 5 },
        { MSG_CHECKPOINT_DROP, &(struct msg_checkpoint_drop){ .path_bytes = 5 }, 5 },
        { MSG_CHECKPOINT_FOUND, &(struct msg_checkpoint_found){ .world = 3 }, 48 },
        { MSG_CHECKPOINT_COMMIT, &(struct msg_checkpoint_commit){ .world = 3, .path_bytes = 5 },
          53 },
        { MSG_CHECKPOINT_COPY,
          &(struct msg_checkpoint_copy){ .bytes = 4, .count = 4, .path_bytes = 3 }, 7 },
        { MSG_RESTORED, &(struct msg_restored){ .world = 3 }, 48 },
        { MSG_TENSOR_REQUEST, &(struct msg_tensor_request){ .num_dims = 2, .name_bytes = 5 }, 21 },
        { MSG_TENSOR_REPLY, &(struct msg_tensor_reply){ 0 }, 0 },
        { MSG_TENSOR_READ, &(struct msg_tensor_read){ .count = 3, .row_bytes = 5 }, 12 },
        { MSG_TENSOR_WRITE, &(struct msg_tensor_write){ .row_bytes = 5 }, 0 },
        { MSG_TENSOR_STORE, &(struct msg_tensor_store){ .row_bytes = 5 }, 0 },
        { MSG_BARRIER, &(struct msg_barrier){ 0 }, 0 },
        { MSG_BATCH_PULL, &(struct msg_batch_pull){ 0 }, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t length = 0; length < sizeof body; length++)
            assert_int_equal(messages_verify(cases[i].kind, cases[i].head, body, length),
                             length == cases[i].length ? 0 : TR_EFORMAT);
    static const uint32_t free_of_shape[] = { MSG_ROWS_REPLY, MSG_ERROR_REPLY, MSG_GROUP_REPLY };
    static const uint64_t head[16];
    for (size_t i = 0; i < sizeof free_of_shape / sizeof *free_of_shape; i++)
        for (uint64_t length = 0; length < 3; length++)
            assert_int_equal(messages_verify(free_of_shape[i], head, body, length), 0);
    const struct msg_fetch_reply wraps = { .count = 1u << 31, .row_bytes = UINT64_C(1) << 33 };
    assert_int_equal(messages_verify(MSG_FETCH_REPLY, &wraps, body, 0), TR_EFORMAT);
}

/* Rows begin behind their numbers, at the next multiple of 64; of those that no body can have, the
 * length does not wrap. */
static void rows_to_write_follow_their_numbers(void **unused)
{
    (void)unused;
    static const unsigned char body[256];
    const struct msg_tensor_write write = { .count = 3, .row_bytes = 5 };
    const struct msg_tensor_store store = { .count = 17, .row_bytes = 2 };
    for (uint64_t length = 0; length < sizeof body; length++) {
        assert_int_equal(messages_verify(MSG_TENSOR_WRITE, &write, body, length),
                         length == 64 + 15 ? 0 : TR_EFORMAT);
        assert_int_equal(messages_verify(MSG_TENSOR_STORE, &store, body, length),
                         length == 192 + 34 ? 0 : TR_EFORMAT);
    }
    const struct msg_tensor_write wraps = { .count = 1u << 31, .row_bytes = UINT64_C(1) << 33 };
    assert_int_equal(messages_verify(MSG_TENSOR_WRITE, &wraps, body, UINT64_C(1) << 33),
                     TR_EFORMAT);
    const struct msg_tensor_request long_name = { .name_bytes = MSG_TENSOR_NAME_MAX + 1 };
    assert_int_equal(messages_verify(MSG_TENSOR_REQUEST, &long_name, body, 256), TR_EFORMAT);
    const struct msg_tensor_request deep = { .num_dims = MSG_TENSOR_DIMS_MAX + 1 };
    assert_int_equal(messages_verify(MSG_TENSOR_REQUEST, &deep, body, 64), TR_EFORMAT);
}

/* The greatest that is allowed, and one more; the bytes themselves are not looked at. */
static void paths_and_pieces_end_at_their_bounds(void **unused)
{
    (void)unused;
    static const unsigned char body[1];
    struct msg_checkpoint_commit commit = { .world = 1, .path_bytes = MSG_PATH_BYTES_MAX };
    uint64_t entry = sizeof(struct msg_checkpoint_entry);
    assert_int_equal(
        messages_verify(MSG_CHECKPOINT_COMMIT, &commit, body, entry + commit.path_bytes), 0);
    commit.path_bytes++;
    assert_int_equal(
        messages_verify(MSG_CHECKPOINT_COMMIT, &commit, body, entry + commit.path_bytes),
        TR_EFORMAT);
    commit = (struct msg_checkpoint_commit){ .world = 0, .path_bytes = 3 };
    assert_int_equal(messages_verify(MSG_CHECKPOINT_COMMIT, &commit, body, 3), 0);
    assert_int_equal(messages_verify(MSG_CHECKPOINT_COMMIT, &commit, body, 2), TR_EFORMAT);
    struct msg_checkpoint_copy copy = { .bytes = UINT64_MAX, .count = MSG_CHECKPOINT_PIECE_MAX };
    assert_int_equal(messages_verify(MSG_CHECKPOINT_COPY, &copy, body, copy.count), 0);
    copy.count++;
    assert_int_equal(messages_verify(MSG_CHECKPOINT_COPY, &copy, body, copy.count), TR_EFORMAT);
}

/* As many sections as there may be, and one more, of each kind that has sections. */
static void sections_end_at_their_bound(void **unused)
{
    (void)unused;
    for (uint32_t more = 0; more < 2; more++) {
        uint32_t count = MSG_SECTIONS_MAX + more;
        int wanted = more == 0 ? 0 : TR_EFORMAT;
        const struct msg_sample_request sample = { .num_sections = count };
        const struct msg_rows_request rows = { .num_sections = count };
        const struct msg_sample_reply reply = { .num_sections = count };
        struct msg_sample_section *sections = calloc(count, sizeof *sections);
        struct msg_rows_section *of_rows = calloc(count, sizeof *of_rows);
        struct msg_sample_answer *answers = calloc(count, sizeof *answers);
        assert_true(sections != NULL && of_rows != NULL && answers != NULL);
        for (uint32_t i = 0; i < count; i++)
            answers[i].column_bytes = 4;
        assert_int_equal(
            messages_verify(MSG_SAMPLE_REQUEST, &sample, sections, count * sizeof *sections),
            wanted);
        assert_int_equal(messages_verify(MSG_ROWS_REQUEST, &rows, of_rows, count * sizeof *of_rows),
                         wanted);
        assert_int_equal(
            messages_verify(MSG_SAMPLE_REPLY, &reply, answers, count * sizeof *answers), wanted);
        free(sections);
        free(of_rows);
        free(answers);
    }
}

/* A request for rows: three sections, of which the second has the rows of the first. */
static void a_request_for_rows_is_walked_and_checked(void **unused)
{
    (void)unused;
    static const struct {
        struct msg_rows_section sections[3];
        uint32_t rows[5];
    } good = { { { .table = 1, .num_rows = 2 },
                 { .table = 2, .num_rows = 2, .same_rows = 1 },
                 { .table = 3, .num_rows = 3 } },
               { 10, 11, 12, 13, 14 } };
    const struct msg_rows_request head = { .num_sections = 3 };
    struct request_walk walk;
    const struct msg_rows_section *section;
    const uint32_t *rows;
    assert_int_equal(rows_walk_begin(&walk, &head, &good, sizeof good), 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(rows_walk_next(&walk, &section, &rows), 1);
        assert_int_equal(section->table, i + 1);
        assert_ptr_equal(rows, i < 2 ? good.rows : good.rows + 2);
    }
    assert_int_equal(rows_walk_next(&walk, &section, &rows), 0);
    for (uint64_t length = 0; length <= sizeof good; length++) {
        struct block block = block_of(&good, length);
        assert_int_equal(messages_verify(MSG_ROWS_REQUEST, &head, block.bytes, length),
                         length == sizeof good ? 0 : TR_EFORMAT);
        free(block.bytes);
    }
    struct msg_rows_section bad[3];
    for (uint32_t same = 0; same < 4; same++) { /* nothing but 0 and 1, and 1 not at first */
        memcpy(bad, good.sections, sizeof bad);
        bad[1].same_rows = same;
        const struct msg_rows_request two = { .num_sections = 2 };
        unsigned char bytes[2 * sizeof *bad + 16] = { 0 };
        memcpy(bytes, bad, 2 * sizeof *bad);
        struct block block = block_of(bytes, 2 * sizeof *bad + (same == 0 ? 16 : 8));
        assert_int_equal(messages_verify(MSG_ROWS_REQUEST, &two, block.bytes, block.length),
                         same < 2 ? 0 : TR_EFORMAT);
        free(block.bytes);
    }
    struct msg_rows_section first = { .num_rows = 0, .same_rows = 1 };
    const struct msg_rows_request one = { .num_sections = 1 };
    assert_int_equal(messages_verify(MSG_ROWS_REQUEST, &one, &first, sizeof first), TR_EFORMAT);
}

/* Each field of rows may come without the others, and only what was named is handed out. */
static void fields_of_rows_come_one_by_one(void **unused)
{
    (void)unused;
    enum { ROWS = 3, EXCLUDED = 4 };
    for (uint32_t fields = 0; fields <= SAMPLE_ROW_FIELDS; fields++) {
        unsigned char bytes[256] = { 0 };
        const uint32_t exclusions[ROWS] = { 1, 0, 3 };
        struct msg_sample_section section = { .num_rows = ROWS };
        const struct msg_sample_request head = { .num_sections = 1, .row_fields = fields };
        bool salts = (fields & SAMPLE_ROW_SALT) != 0, times = (fields & SAMPLE_ROW_TIME) != 0;
        bool excludes = (fields & SAMPLE_ROW_EXCLUDE) != 0;
        uint64_t length = 0, at_salts, at_times, at_exclusions, at_excluded;
        memcpy(bytes, &section, sizeof section);
        assert_int_equal(body_grow(&length, 1, sizeof section, 4), 0);
        assert_int_equal(body_grow(&length, ROWS, 4, 4), 0);
        at_salts = length;
        assert_int_equal(body_grow(&length, salts ? ROWS : 0, 4, 4), 0);
        at_times = (length + 7) & ~UINT64_C(7);
        if (times)
            assert_int_equal(body_grow(&length, ROWS, 8, 8), 0);
        at_exclusions = length;
        if (excludes) {
            memcpy(bytes + at_exclusions, exclusions, sizeof exclusions);
            assert_int_equal(body_grow(&length, ROWS, 4, 4), 0);
        }
        at_excluded = (length + 7) & ~UINT64_C(7);
        if (excludes)
            assert_int_equal(body_grow(&length, EXCLUDED, 8, 8), 0);
        struct request_walk walk;
        const struct msg_sample_section *got;
        const uint32_t *rows;
        struct block block = block_of(bytes, length);
        const unsigned char *body = block.bytes;
        assert_int_equal(sample_walk_begin(&walk, &head, body, length), 0);
        assert_int_equal(sample_walk_next(&walk, &got, &rows), 1);
        assert_ptr_equal(rows, body + sizeof section);
        assert_ptr_equal(walk.with.salts, salts ? body + at_salts : NULL);
        assert_ptr_equal(walk.with.times, times ? body + at_times : NULL);
        assert_ptr_equal(walk.with.exclusions, excludes ? body + at_exclusions : NULL);
        assert_ptr_equal(walk.with.excluded, excludes ? body + at_excluded : NULL);
        assert_int_equal(sample_walk_next(&walk, &got, &rows), 0);
        free(block.bytes);
    }
}

/* Writer and reader of a body agree on where everything lies. */
static void a_body_grows_as_it_is_read(void **unused)
{
    (void)unused;
    static unsigned char bytes[4096];
    for (uint64_t begin = 0; begin < 20; begin++)
        for (uint64_t count = 0; count < 4; count++)
            for (uint64_t align = 1; align <= 64; align *= 2) {
                struct body_reader reader = { bytes, sizeof bytes, begin };
                uint64_t length = begin;
                const void *out;
                assert_int_equal(body_grow(&length, count, 5, align), 0);
                assert_int_equal(body_take(&reader, count, 5, align, &out), 0);
                assert_int_equal(length, reader.at);
                uint64_t first = (begin + align - 1) / align * align;
                assert_int_equal(length, first + count * 5);
                assert_ptr_equal(out, bytes + first);
            }
    uint64_t length = UINT64_MAX - 7; /* to the last byte that has a number */
    assert_int_equal(body_grow(&length, 7, 1, 8), 0);
    assert_true(length == UINT64_MAX);
    length = UINT64_MAX - 7;
    assert_int_equal(body_grow(&length, 8, 1, 8), TR_ETOOBIG);
    length = UINT64_MAX - 6; /* the next multiple has none */
    assert_int_equal(body_grow(&length, 0, 1, 8), TR_ETOOBIG);
}

/* A flag that is neither 0 nor 1, and columns of neither width. */
static void answers_have_no_other_flags_or_widths(void **unused)
{
    (void)unused;
    const struct msg_sample_reply head = { .num_sections = 1 };
    for (uint32_t width = 0; width < 17; width++)
        for (uint32_t edge_ids = 0; edge_ids < 4; edge_ids++) {
            const struct msg_sample_answer answer = { .column_bytes = width, .edge_ids = edge_ids };
            assert_int_equal(messages_verify(MSG_SAMPLE_REPLY, &head, &answer, sizeof answer),
                             (width == 4 || width == 8) && edge_ids < 2 ? 0 : TR_EFORMAT);
        }
}

/* Seeds of no kind are in the body, however many there are: lists are shared beside the message. */
static void no_seeds_of_a_loader_are_in_the_body(void **unused)
{
    (void)unused;
    struct sample_spec spec;
    uint64_t words[32] = { 0 };
    assert_int_equal(sample_spec_alloc(&spec, 1, 1), 0);
    size_t bytes = sample_spec_bytes(&spec);
    sample_spec_write(&spec, words + 2);
    static const uint32_t seeds[] = {
        MSG_SEEDS_LISTED, MSG_SEEDS_RANKS,       MSG_SEEDS_GIVEN,      MSG_SEEDS_PAIRS_GIVEN,
        MSG_SEEDS_EDGES,  MSG_SEEDS_EDGES_GIVEN, MSG_SEEDS_EDGE_RANKS, MSG_SEEDS_PAIRS,
    };
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        struct msg_loader_open open = { .num_seeds = 2,
                                        .seeds = seeds[i],
                                        .spec_bytes = (uint32_t)bytes };
        for (uint32_t with = 0; with <= 2; with++)
            assert_int_equal(messages_verify(MSG_LOADER_OPEN, &open, words + 2 - with,
                                             with * sizeof *words + bytes),
                             with == 0 ? 0 : TR_EFORMAT);
        open.num_seeds = UINT64_MAX;
        assert_int_equal(messages_verify(MSG_LOADER_OPEN, &open, words + 2, bytes), 0);
    }
    sample_spec_free(&spec);
}

/* As many IDs as its kind of seeds has, which is one that can be listed. */
static void draws_bring_the_ids_of_their_seeds(void **unused)
{
    (void)unused;
    struct sample_spec spec;
    uint64_t words[32] = { 0 };
    assert_int_equal(sample_spec_alloc(&spec, 1, 1), 0);
    size_t bytes = sample_spec_bytes(&spec);
    sample_spec_write(&spec, words + 6);
    for (uint32_t kind = 0; kind < 12; kind++)
        for (uint32_t i = 0; i <= 6; i++) {
            const struct msg_draw_request draw = { .num_seeds = 3,
                                                   .seeds = kind,
                                                   .spec_bytes = (uint32_t)bytes };
            bool good = kind == MSG_SEEDS_PAIRS || kind == MSG_SEEDS_EDGES_REVERSED
                            ? i == 6
                            : (kind == MSG_SEEDS_LISTED || kind == MSG_SEEDS_EDGES) && i == 3;
            assert_int_equal(
                messages_verify(MSG_DRAW_REQUEST, &draw, words + 6 - i, i * sizeof *words + bytes),
                good ? 0 : TR_EFORMAT);
        }
    sample_spec_free(&spec);
}

/* Segments come first, whose seeds are given and are as many as the draw has; then all of their IDs. */
static void draws_of_several_types_begin_with_segments(void **unused)
{
    (void)unused;
    struct sample_spec spec;
    struct {
        struct msg_seed_segment segments[2];
        uint64_t words[32];
    } body = { { { .seeds = MSG_SEEDS_EDGES_GIVEN, .num_seeds = 2 },
                 { .seeds = MSG_SEEDS_EDGES_REVERSED_GIVEN, .etype = 1, .num_seeds = 1 } },
               { 5, 6, 7, 8 } };
    assert_int_equal(sample_spec_alloc(&spec, 1, 2), 0);
    const size_t bytes = sample_spec_bytes(&spec);
    sample_spec_write(&spec, body.words + 4);
    const size_t length = sizeof body.segments + 4 * sizeof *body.words + bytes;
    const struct msg_draw_request good = {
        .num_seeds = 3, .seeds = MSG_SEEDS_SEVERAL, .num_segments = 2, .spec_bytes = (uint32_t)bytes
    };
    const uint64_t *ids;
    uint64_t num_ids;
    assert_int_equal(messages_verify(MSG_DRAW_REQUEST, &good, &body, length), 0);
    assert_int_equal(draw_request_ids(&good, &body, length, &ids, &num_ids), 0);
    assert_ptr_equal(ids, body.words);
    assert_int_equal(num_ids, 4);
    for (int i = 0; i < 6; i++) {
        struct msg_draw_request draw = good;
        const struct msg_seed_segment kept = body.segments[0];
        draw.num_seeds += i == 0;
        draw.num_segments -= i == 1;
        draw.seeds = i == 2 ? MSG_SEEDS_EDGES : draw.seeds;
        body.segments[0].seeds = i == 3 ? MSG_SEEDS_EDGE_RANKS : kept.seeds;
        body.segments[0].num_seeds = i == 4 ? UINT64_MAX - 1 : kept.num_seeds;
        draw.num_segments = i == 5 ? MSG_SEGMENTS_MAX + 1 : draw.num_segments;
        assert_int_equal(messages_verify(MSG_DRAW_REQUEST, &draw, &body, length), TR_EFORMAT);
        body.segments[0] = kept;
    }
    sample_spec_free(&spec);
}

/* Behind listed nodes, and no others, lie the times and exclusions that the spec names; then, behind
 * any seeds, the edges that the draw leaves out. */
static void draws_bring_the_fields_that_their_spec_names(void **unused)
{
    (void)unused;
    static const int64_t times[3] = { -5, 7, INT64_MAX };
    static const uint32_t exclusions[3] = { 1, 0, 2 };
    static const uint64_t excluded[3] = { 100, 200, 300 };
    const struct sample_row_fields with = { NULL, times, exclusions, excluded };
    for (uint32_t fields = 0; fields <= SAMPLE_ROW_FIELDS; fields++) {
        /* Which occurrence of its node a seed is follows from the seeds. */
        uint32_t brought = fields & SAMPLE_SEED_FIELDS;
        struct sample_spec spec;
        struct sample_row_fields got;
        static const struct msg_excluded_edge left_out[2] = { { 0, 7 }, { 3, 1 } };
        const struct msg_excluded_edge *found;
        unsigned char whole[512] = { 0 };
        uint64_t length = 3 * sizeof(uint64_t);
        assert_int_equal(sample_spec_alloc(&spec, 1, 1), 0);
        spec.row_fields = fields;
        size_t bytes = sample_spec_bytes(&spec);
        assert_int_equal(row_fields_grow(&length, brought, 3, 3), 0);
        assert_true(length + bytes <= sizeof whole);
        assert_int_equal(row_fields_put(whole, 3 * sizeof(uint64_t), brought, 3, &with), length);
        assert_int_equal(body_grow(&length, 2, sizeof *left_out, sizeof(uint64_t)), 0);
        memcpy(whole + length - sizeof left_out, left_out, sizeof left_out);
        sample_spec_write(&spec, whole + length);
        struct msg_draw_request draw = { .num_seeds = 3,
                                         .spec_bytes = (uint32_t)bytes,
                                         .num_excluded = 2 };
        for (uint64_t cut = 0; cut <= length; cut++) {
            /* The spec keeps its end: what is missing are fields, or seeds. */
            struct block block = block_of(whole + length - cut, cut + bytes);
            int rv = messages_verify(MSG_DRAW_REQUEST, &draw, block.bytes, cut + bytes);
            assert_int_equal(rv, cut == length ? 0 : TR_EFORMAT);
            free(block.bytes);
        }
        struct block block = block_of(whole, length + bytes);
        assert_int_equal(
            draw_request_fields(&draw, block.bytes, length + bytes, &spec, &got, &found), 0);
        assert_memory_equal(found, left_out, sizeof left_out);
        assert_null(got.salts);
        assert_int_equal(got.times != NULL, (fields & SAMPLE_ROW_TIME) != 0);
        assert_int_equal(got.exclusions != NULL, (fields & SAMPLE_ROW_EXCLUDE) != 0);
        if (got.times != NULL)
            assert_memory_equal(got.times, times, sizeof times);
        if (got.exclusions != NULL)
            assert_memory_equal(got.excluded, excluded, sizeof excluded);
        if (got.exclusions != NULL)
            sample_row_fields_skip(&got, 2);
        assert_true(got.exclusions == NULL || (got.exclusions[0] == 2 && got.excluded[1] == 300));
        draw.seeds = MSG_SEEDS_EDGES;
        assert_int_equal(messages_verify(MSG_DRAW_REQUEST, &draw, block.bytes, length + bytes),
                         brought == 0 ? 0 : TR_EFORMAT);
        draw.seeds = MSG_SEEDS_LISTED;
        draw.num_excluded = MSG_EXCLUDED_MAX + 1;
        assert_int_equal(messages_verify(MSG_DRAW_REQUEST, &draw, block.bytes, length + bytes),
                         TR_EFORMAT);
        free(block.bytes);
        sample_spec_free(&spec);
    }
}

/* A draw is the one batch of a loader that has no other. */
static void a_draw_is_a_loader_of_one_batch(void **unused)
{
    (void)unused;
    const struct msg_draw_request draw = { .draw = 11,
                                           .seed = 12,
                                           .num_seeds = 13,
                                           .ntype = 14,
                                           .features = 15,
                                           .labels = 16,
                                           .flags = UINT32_MAX,
                                           .spec_bytes = 24,
                                           .num_negatives = 17,
                                           .negative_ranks = 18,
                                           .negative_ends = 19,
                                           .negative_source_ranks = 20 };
    const struct msg_loader_open open = draw_as_loader(&draw);
    assert_int_equal(open.loader, 11);
    assert_int_equal(open.seed, 12);
    assert_int_equal(open.num_seeds, 13);
    assert_int_equal(open.batch_size, 13);
    assert_int_equal(open.ntype, 14);
    assert_int_equal(open.features, 15);
    assert_int_equal(open.labels, 16);
    assert_int_equal(open.spec_bytes, 24);
    assert_int_equal(open.num_negatives, 17);
    assert_int_equal(open.negative_ranks, 18);
    assert_int_equal(open.negative_ends, 19);
    assert_int_equal(open.negative_source_ranks, 20);
    assert_int_equal(open.rank, 0);
    assert_int_equal(open.world, 1);
    assert_int_equal(open.prefetch, 1);
    assert_int_equal(open.all_seeds, 0);
    assert_int_equal(open.seeds, MSG_SEEDS_GIVEN);
    for (uint32_t kind = MSG_SEEDS_EDGES; kind <= MSG_SEEDS_PAIRS; kind++) {
        const struct msg_draw_request other = { .seeds = kind, .etype = 5 };
        assert_int_equal(draw_as_loader(&other).seeds, seed_kind_given(kind));
        assert_int_equal(draw_as_loader(&other).etype, 5);
    }
    /* The seeds stand as they were given, and none is left out. */
    assert_int_equal(open.flags, UINT32_MAX & ~(MSG_LOADER_SHUFFLE | MSG_LOADER_DROP_LAST));
}

/* A spec that was allocated draws nothing, until a layer says otherwise; the others are as they
 * were. */
static void a_new_spec_draws_nothing(void **unused)
{
    (void)unused;
    struct sample_spec spec, copy;
    const struct sample_term all = SAMPLE_TERM(SAMPLE_EVERY, true);
    assert_int_equal(sample_spec_alloc(&spec, 3, 2), 0);
    assert_int_equal(spec.num_layers, 3);
    assert_int_equal(spec.num_etypes, 2);
    assert_int_equal(spec.kind, SAMPLE_UNIFORM);
    sample_spec_set_layer(&spec, 1, &all);
    spec.row_fields = SAMPLE_ROW_TIME;
    spec.kind = 9;
    assert_int_equal(sample_spec_copy(&copy, &spec), 0);
    assert_int_equal(copy.row_fields, SAMPLE_ROW_TIME);
    assert_int_equal(copy.kind, 9);
    assert_int_equal(copy.num_layers, 3);
    assert_int_equal(copy.num_etypes, 2);
    assert_int_equal(copy.num_tables, 0);
    for (uint32_t layer = 0; layer < 3; layer++)
        for (uint32_t e = 0; e < 2; e++) {
            const struct sample_term *term = sample_spec_term(&copy, layer, e);
            assert_int_equal(term->fanout, layer == 1 ? SAMPLE_EVERY : 0);
            assert_int_equal(term->flags, layer == 1 ? SAMPLE_REPLACE : 0);
            assert_int_equal(term->direction, SAMPLE_IN);
            assert_int_equal(term->weights, SAMPLE_NO_TABLE);
            assert_int_equal(term->mask, SAMPLE_NO_TABLE);
        }
    sample_spec_free(&spec);
    assert_null(spec.terms);
    assert_null(spec.tables);
    sample_spec_free(&copy);
}

/* The greatest specs that there are, and those one above. */
static void specs_end_at_their_bounds(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t layers, etypes;
        int rv;
    } cases[] = {
        { 0, 1, TR_ETOOBIG },
        { 1, 0, 0 },
        { SAMPLE_LAYERS_MAX, SAMPLE_TERMS_MAX / SAMPLE_LAYERS_MAX, 0 },
        { SAMPLE_LAYERS_MAX, SAMPLE_TERMS_MAX / SAMPLE_LAYERS_MAX + 1, TR_ETOOBIG },
        { SAMPLE_LAYERS_MAX + 1, 1, TR_ETOOBIG },
        { 1, SAMPLE_TERMS_MAX, 0 },
        { 1, SAMPLE_TERMS_MAX + 1, TR_ETOOBIG },
    };
    const struct sample_table table = { SAMPLE_OF_NODES, 0, 0, SAMPLE_FOR_ALL };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sample_spec spec, read;
        assert_int_equal(sample_spec_alloc(&spec, cases[i].layers, cases[i].etypes), cases[i].rv);
        if (cases[i].rv != 0) {
            sample_spec_free(&spec);
            continue;
        }
        spec.row_fields = SAMPLE_ROW_FIELDS;
        for (uint32_t t = 0; t < SAMPLE_TABLES_MAX; t++)
            assert_int_equal(sample_spec_add_table(&spec, &table), 0);
        size_t bytes = sample_spec_bytes(&spec);
        uint64_t *words = malloc(bytes);
        assert_non_null(words);
        sample_spec_write(&spec, words);
        assert_int_equal(sample_spec_read(words, bytes, &read), 0);
        assert_int_equal(read.num_tables, SAMPLE_TABLES_MAX);
        assert_int_equal(read.row_fields, SAMPLE_ROW_FIELDS);
        free(words);
        sample_spec_free(&spec);
    }
}

/* A head whose counts are above their bounds is refused where its length would fit them too. */
static void heads_of_specs_are_checked_one_by_one(void **unused)
{
    (void)unused;
    struct sample_spec spec, read;
    const struct sample_table table = { SAMPLE_OF_NODES, 0, 0, SAMPLE_FOR_ALL };
    assert_int_equal(sample_spec_alloc(&spec, 2, 3), 0);
    for (uint32_t t = 0; t < SAMPLE_TABLES_MAX; t++)
        assert_int_equal(sample_spec_add_table(&spec, &table), 0);
    assert_int_equal(sample_spec_add_table(&spec, &table), TR_ETOOBIG);
    size_t bytes = sample_spec_bytes(&spec);
    unsigned char *whole = calloc(1, bytes + sizeof table), *last;
    assert_non_null(whole);
    sample_spec_write(&spec, (uint64_t *)(void *)whole);
    assert_int_equal(sample_spec_read(whole, bytes, &read), 0);
    /* One table more, in its count and in its bytes. */
    last = whole + bytes;
    memcpy(last, last - sizeof table, sizeof table);
    uint32_t *words = (uint32_t *)(void *)whole;
    size_t at = 0;
    while (words[at] != SAMPLE_TABLES_MAX)
        at++;
    words[at]++;
    assert_int_equal(sample_spec_read(whole, bytes + sizeof table, &read), TR_EFORMAT);
    words[at]--;
    assert_int_equal(sample_spec_read(whole, bytes, &read), 0);
    for (uint64_t less = 1; less < 64; less++) {
        assert_int_equal(sample_spec_read(whole, bytes - less, &read), TR_EFORMAT);
        assert_int_equal(sample_spec_read(whole, less - 1, &read), TR_EFORMAT);
    }
    free(whole);
    sample_spec_free(&spec);
}

/* Each term and each table at the bounds of what it may say. */
static void terms_and_tables_are_checked_one_by_one(void **unused)
{
    (void)unused;
    static const struct {
        struct sample_term term;
        int rv;
    } terms[] = {
        { { .fanout = SAMPLE_EVERY, .flags = SAMPLE_FLAGS, .direction = SAMPLE_OUT }, 0 },
        { { .fanout = 0 }, 0 },
        { { .fanout = INT32_MAX }, 0 },
        { { .fanout = SAMPLE_EVERY - 1 }, TR_EFORMAT },
        { { .flags = SAMPLE_FLAGS + 1 }, TR_EFORMAT },
        { { .direction = SAMPLE_OUT + 1 }, TR_EFORMAT },
    };
    static const struct {
        struct sample_table table;
        int rv;
    } tables[] = {
        { { SAMPLE_OF_NODES, UINT32_MAX, 0, SAMPLE_FOR_SEEDS }, 0 },
        { { SAMPLE_OF_NODES, 0, 0, 1 }, 0 },
        { { SAMPLE_OF_NODES, 0, 0, 2 }, TR_EFORMAT },
        { { SAMPLE_OF_EDGES, 2, 0, 1 }, 0 },
        { { SAMPLE_OF_EDGES, 2, 0, 2 }, TR_EFORMAT },
        { { SAMPLE_OF_EDGES, 2, 0, SAMPLE_FOR_ALL }, 0 },
        { { SAMPLE_OF_EDGES, 3, 0, SAMPLE_FOR_ALL }, TR_EFORMAT },
        { { SAMPLE_OF_EDGES, 2, 0, SAMPLE_FOR_SEEDS }, TR_EFORMAT },
        { { SAMPLE_OF_EDGES + 1, 0, 0, SAMPLE_FOR_ALL }, TR_EFORMAT },
    };
    struct sample_spec spec, read;
    uint64_t words[64];
    assert_int_equal(sample_spec_alloc(&spec, 2, 3), 0);
    size_t bytes = sample_spec_bytes(&spec);
    for (uint32_t i = 0; i < 6 * sizeof terms / sizeof *terms; i++) { /* at each place */
        struct sample_term *term = &spec.terms[i % 6], before = *term;
        *term = terms[i / 6].term;
        sample_spec_write(&spec, words);
        assert_int_equal(sample_spec_read(words, bytes, &read), terms[i / 6].rv);
        *term = before;
    }
    const struct sample_table good = { SAMPLE_OF_NODES, 0, 0, SAMPLE_FOR_ALL };
    for (int i = 0; i < 3; i++)
        assert_int_equal(sample_spec_add_table(&spec, &good), 0);
    bytes = sample_spec_bytes(&spec);
    for (uint32_t i = 0; i < 3 * sizeof tables / sizeof *tables; i++) {
        spec.tables[i % 3] = tables[i / 3].table;
        sample_spec_write(&spec, words);
        assert_int_equal(sample_spec_read(words, bytes, &read), tables[i / 3].rv);
        spec.tables[i % 3] = good;
    }
    sample_spec_free(&spec);
}

/* An odd number of terms leaves four bytes, which are sent as zeroes, not as what was there. */
static void an_encoded_spec_is_padded_with_zeroes(void **unused)
{
    (void)unused;
    for (uint32_t etypes = 0; etypes < 5; etypes++) {
        struct sample_spec spec;
        unsigned char bytes[160];
        assert_int_equal(sample_spec_alloc(&spec, 1, etypes), 0);
        size_t used = 24 + etypes * sizeof(struct sample_term), whole = sample_spec_bytes(&spec);
        assert_int_equal(whole, (used + 7) / 8 * 8);
        memset(bytes, 0xff, sizeof bytes);
        sample_spec_write(&spec, bytes);
        for (size_t i = used; i < sizeof bytes; i++)
            assert_int_equal(bytes[i], i < whole ? 0 : 0xff);
        sample_spec_free(&spec);
    }
}

static void damaged_bodies_do_no_harm(void **unused)
{
    (void)unused;
    uint64_t state = 4, refused = 0;
    for (int round = 0; round < DAMAGED_ROUNDS; round++) {
        int rv;
        if (round % 2 == 0) {
            struct reply bad = good_reply;
            random_damage(&state, (unsigned char *)&bad, sizeof bad);
            rv = verify_reply(&bad, sizeof bad - random_below(&state, 2) * 8);
        } else {
            struct request bad = good_request;
            random_damage(&state, (unsigned char *)bad.sections, REQUEST_BODY_BYTES);
            rv = verify_request(&bad, REQUEST_BODY_BYTES - random_below(&state, 2) * 4);
        }
        assert_true(rv == 0 || rv == TR_EFORMAT);
        refused += rv != 0;
    }
    assert_true(refused > DAMAGED_ROUNDS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taking_never_overflows),
        cmocka_unit_test(a_request_that_lies_is_refused),
        cmocka_unit_test(a_reply_that_lies_is_refused),
        cmocka_unit_test(counts_of_plain_arrays_match_their_bodies),
        cmocka_unit_test(a_loader_ends_with_its_spec),
        cmocka_unit_test(several_types_begin_with_their_segments),
        cmocka_unit_test(a_draw_has_seeds_and_its_spec),
        cmocka_unit_test(a_spec_is_only_read_where_there_is_one),
        cmocka_unit_test(a_spec_that_lies_is_refused),
        cmocka_unit_test(a_spec_lists_tables),
        cmocka_unit_test(fields_of_rows_follow_them),
        cmocka_unit_test(edges_that_are_left_out_follow_rows),
        cmocka_unit_test(a_piece_ends_with_its_part_at_most),
        cmocka_unit_test(rows_are_read_as_far_as_they_go),
        cmocka_unit_test(sparse_rows_are_read_as_they_were_laid_out),
        cmocka_unit_test(wrong_sparse_rows_are_refused),
        cmocka_unit_test(full_rows_come_dense),
        cmocka_unit_test(rows_to_write_follow_their_numbers),
        cmocka_unit_test(each_kind_has_the_body_that_its_head_says),
        cmocka_unit_test(paths_and_pieces_end_at_their_bounds),
        cmocka_unit_test(sections_end_at_their_bound),
        cmocka_unit_test(a_request_for_rows_is_walked_and_checked),
        cmocka_unit_test(fields_of_rows_come_one_by_one),
        cmocka_unit_test(a_body_grows_as_it_is_read),
        cmocka_unit_test(answers_have_no_other_flags_or_widths),
        cmocka_unit_test(no_seeds_of_a_loader_are_in_the_body),
        cmocka_unit_test(draws_bring_the_ids_of_their_seeds),
        cmocka_unit_test(draws_of_several_types_begin_with_segments),
        cmocka_unit_test(draws_bring_the_fields_that_their_spec_names),
        cmocka_unit_test(a_draw_is_a_loader_of_one_batch),
        cmocka_unit_test(a_new_spec_draws_nothing),
        cmocka_unit_test(specs_end_at_their_bounds),
        cmocka_unit_test(heads_of_specs_are_checked_one_by_one),
        cmocka_unit_test(terms_and_tables_are_checked_one_by_one),
        cmocka_unit_test(an_encoded_spec_is_padded_with_zeroes),
        cmocka_unit_test(damaged_bodies_do_no_harm),
        cmocka_unit_test(a_request_is_walked_section_by_section),
        cmocka_unit_test(a_reply_is_walked_section_by_section),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
