/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies are read within their bounds, whatever head and body claim. */
#include <setjmp.h>
#include <stdarg.h>
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

/* Two seeds, and a spec of two layers of one edge type. */
static void a_loader_ends_with_its_spec(void **unused)
{
    (void)unused;
    struct sample_spec spec, read;
    assert_int_equal(sample_spec_alloc(&spec, 2, 1), 0);
    *sample_spec_term(&spec, 1, 0) = SAMPLE_TERM(-1, true);
    size_t bytes = sample_spec_bytes(&spec), length = 16 + bytes;
    unsigned char whole[256] = { 0 };
    assert_true(length <= sizeof whole);
    sample_spec_write(&spec, whole + 16);
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
    open.spec_bytes = (uint32_t)bytes;
    open.num_seeds = UINT64_MAX / 8 + 3;
    assert_int_equal(messages_verify(MSG_LOADER_OPEN, &open, block.bytes, length), TR_EFORMAT);
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
    assert_int_equal(sample_spec_alloc(&spec, SAMPLE_LAYERS_MAX + 1, 1), TR_ETOOBIG);
    assert_int_equal(sample_spec_alloc(&spec, 16, UINT32_MAX), TR_ETOOBIG);
}

/* Tables come last, in their order; one of nothing, for nothing, or beyond their number is refused. */
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

/* Salts, times and exclusions come after the rows of a section, and are not read beyond the body. */
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
        cmocka_unit_test(a_draw_has_seeds_and_its_spec),
        cmocka_unit_test(a_spec_that_lies_is_refused),
        cmocka_unit_test(a_spec_lists_tables),
        cmocka_unit_test(fields_of_rows_follow_them),
        cmocka_unit_test(a_piece_ends_with_its_part_at_most),
        cmocka_unit_test(rows_are_read_as_far_as_they_go),
        cmocka_unit_test(damaged_bodies_do_no_harm),
        cmocka_unit_test(a_request_is_walked_section_by_section),
        cmocka_unit_test(a_reply_is_walked_section_by_section),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
