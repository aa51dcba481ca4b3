/* SPDX-License-Identifier: Apache-2.0 */
/* Heads survive their encoding; bytes that are no head are refused, never read beyond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <troupe/error.h>

#include "schemas/codec.h"
#include "schemas/fields.h"
#include "schemas/messages.h"
#include "tests/schemas/random.h"

#define ROUNDS 300
#define DAMAGED_ROUNDS 100000

union any_head {
#define X(kind, type, lane, class) struct type type;
    MESSAGES(X)
#undef X
    unsigned char bytes[512];
};

#define FILL_SCALAR(field) head->field = (__typeof__(head->field))random_edgy(state);
#define FILL_DRAW(field)                                                                         \
    head->field = (struct msg_draw){ random_edgy(state), random_edgy(state),                     \
                                     (uint32_t)random_edgy(state), (uint32_t)random_edgy(state), \
                                     (uint32_t)random_edgy(state) };
#define SAME_SCALAR(field) assert_true(a->field == b->field);
#define SAME_DRAW(field)                                                              \
    assert_true(a->field.seed == b->field.seed && a->field.batch == b->field.batch && \
                a->field.epoch == b->field.epoch && a->field.rank == b->field.rank && \
                a->field.hop == b->field.hop);

#define X(kind, type, lane, class)                                      \
    static void fill_##type(struct type *head, uint64_t *state)         \
    {                                                                   \
        memset(head, 0, sizeof *head);                                  \
        FIELDS_##type(FILL_SCALAR, FILL_DRAW)                           \
    }                                                                   \
    static void same_##type(const struct type *a, const struct type *b) \
    {                                                                   \
        FIELDS_##type(SAME_SCALAR, SAME_DRAW)                           \
    }
MESSAGES(X)
#undef X

static void fill(uint32_t kind, union any_head *head, uint64_t *state)
{
    switch (kind) {
#define X(number, type, lane, class)     \
    case number:                         \
        fill_##type(&head->type, state); \
        break;
        MESSAGES(X)
#undef X
    }
}

static void assert_same(uint32_t kind, const union any_head *a, const union any_head *b)
{
    switch (kind) {
#define X(number, type, lane, class)     \
    case number:                         \
        same_##type(&a->type, &b->type); \
        break;
        MESSAGES(X)
#undef X
    }
}

static void heads_survive_the_way_there_and_back(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (uint32_t kind = MSG_FIRST_ + 1; kind < MSG_END_; kind++) {
        for (int round = 0; round < ROUNDS; round++) {
            union any_head in, out;
            unsigned char bytes[CODEC_BYTES_MAX + 1];
            unsigned char *at = bytes + round % 2; /* links need not align */
            fill(kind, &in, &state);
            int length = codec_encode(kind, &in, at, CODEC_BYTES_MAX);
            assert_true(length > 0);
            memset(&out, 0xff, sizeof out);
            assert_int_equal(codec_verify(kind, at, (size_t)length), 0);
            assert_int_equal(codec_decode(kind, at, (size_t)length, &out), 0);
            assert_same(kind, &in, &out);
        }
    }
}

/* The blocks are exactly as long as claimed, so a sanitizer sees any read beyond. */
static int verify_exactly(uint32_t kind, const unsigned char *bytes, size_t count)
{
    unsigned char *block = malloc(count > 0 ? count : 1);
    union any_head out;
    assert_non_null(block);
    memcpy(block, bytes, count);
    int rv = codec_verify(kind, block, count);
    if (rv == 0)
        assert_int_equal(codec_decode(kind, block, count, &out), 0);
    free(block);
    return rv;
}

static void a_cut_head_is_refused(void **unused)
{
    (void)unused;
    uint64_t state = 2;
    for (uint32_t kind = MSG_FIRST_ + 1; kind < MSG_END_; kind++) {
        union any_head in;
        unsigned char bytes[CODEC_BYTES_MAX];
        fill(kind, &in, &state);
        int length = codec_encode(kind, &in, bytes, sizeof bytes);
        /* The builder may pad the end, so what is short by a whole number must be refused. */
        for (int cut = 0; cut + 8 <= length; cut++)
            if (verify_exactly(kind, bytes, (size_t)cut) == 0)
                assert_true(cut >= length - 8);
        assert_int_equal(verify_exactly(kind, bytes, 4), TR_EFORMAT);
    }
}

static void damaged_heads_do_no_harm(void **unused)
{
    (void)unused;
    uint64_t state = 3, refused = 0;
    for (int round = 0; round < DAMAGED_ROUNDS; round++) {
        uint32_t kind = MSG_FIRST_ + 1 + (uint32_t)random_below(&state, MSG_END_ - MSG_FIRST_ - 1);
        union any_head in;
        unsigned char bytes[CODEC_BYTES_MAX];
        fill(kind, &in, &state);
        int length = codec_encode(kind, &in, bytes, sizeof bytes);
        assert_true(length > 0);
        random_damage(&state, bytes, (size_t)length);
        int rv = verify_exactly(kind, bytes, (size_t)random_below(&state, (uint64_t)length + 1));
        assert_true(rv == 0 || rv == TR_EFORMAT);
        refused += rv != 0;
    }
    assert_true(refused > DAMAGED_ROUNDS / 4);
}

static void a_missing_field_is_refused_where_it_is_required(void **unused)
{
    (void)unused;
    struct msg_join head = { .rank = 7 };
    unsigned char bytes[CODEC_BYTES_MAX];
    int length = codec_encode(MSG_JOIN, &head, bytes, sizeof bytes);
    assert_int_equal(codec_verify(MSG_SAMPLE_REQUEST, bytes, (size_t)length), TR_EFORMAT);
}

static void there_is_no_coding_without_a_kind_or_room(void **unused)
{
    (void)unused;
    struct msg_join head = { .rank = 7 };
    unsigned char bytes[CODEC_BYTES_MAX];
    assert_int_equal(codec_encode(MSG_JOIN, &head, bytes, 3), TR_ETOOBIG);
    assert_int_equal(codec_encode(MSG_END_, &head, bytes, sizeof bytes), TR_EUNSUPPORTED);
    assert_int_equal(codec_verify(MSG_END_, bytes, sizeof bytes), TR_EFORMAT);
    assert_int_equal(codec_head_bytes(MSG_END_), 0);
    assert_int_equal(codec_head_bytes(MSG_JOIN), sizeof head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_no_coding_without_a_kind_or_room),
        cmocka_unit_test(a_cut_head_is_refused),
        cmocka_unit_test(a_missing_field_is_refused_where_it_is_required),
        cmocka_unit_test(damaged_heads_do_no_harm),
        cmocka_unit_test(heads_survive_the_way_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
