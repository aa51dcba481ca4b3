/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kind of message as a link takes it: verified, decoded, its counts held against the body,
 * and then read as its receiver reads it.
 *
 * Input: which of the kinds, whether the head lies unaligned, u16 bytes of the head, head, body.
 * A head that decodes must encode to bytes that verify and decode to the same.
 */
#include "runtime/core/kind.h"
#include "schemas/body.h"
#include "schemas/messages.h"
#include "tests/fuzz/fuzz.h"

static void touch_requests(const struct kind *kind, const void *head, const void *body,
                           uint64_t length)
{
    struct request_walk walk;
    const struct msg_sample_section *samples;
    const struct msg_rows_section *rows;
    const uint32_t *numbers;
    if (kind->id == MSG_SAMPLE_REQUEST && sample_walk_begin(&walk, head, body, length) == 0)
        while (sample_walk_next(&walk, &samples, &numbers) == 1)
            fuzz_touch(numbers, samples->num_rows * sizeof *numbers);
    if (kind->id == MSG_ROWS_REQUEST && rows_walk_begin(&walk, head, body, length) == 0)
        while (rows_walk_next(&walk, &rows, &numbers) == 1)
            fuzz_touch(numbers, rows->num_rows * sizeof *numbers);
}

/* Rows of a sparse table: whoever widens them counts on what the reader checked. */
static void touch_sparse(const void *body, uint64_t length)
{
    for (int i = 0; i < 2; i++) {
        const struct sparse_form form = {
            .width = 5, .element_bytes = 4, .row_max = 4, .has_values = i == 0
        };
        struct body_reader reader;
        struct sparse_answer answer;
        uint64_t count = 0;
        assert(rows_reply_begin(&reader, body, length) == 0);
        while (rows_reply_next_sparse(&reader, 3, &form, &answer) == 0) {
            fuzz_touch(answer.dense, answer.dense != NULL ? 3 * 5 * 4 : 0);
            for (int r = 0; r < 3 && answer.dense == NULL; r++)
                count += answer.counts[r];
            for (uint64_t e = 0; e < count; e++)
                assert(answer.columns[e] < 5);
            fuzz_touch(answer.values, answer.values != NULL ? count * 4 : 0);
            count = 0;
        }
    }
}

static void touch_replies(const struct kind *kind, const void *head, const void *body,
                          uint64_t length)
{
    struct sample_reply_walk walk;
    struct sample_answer answer;
    struct body_reader reader;
    const void *rows;
    if (kind->id == MSG_SAMPLE_REPLY && sample_reply_begin(&walk, head, body, length) == 0)
        while (sample_reply_next(&walk, &answer) == 1) {
            fuzz_touch(answer.counts, answer.num_rows * sizeof *answer.counts);
            fuzz_touch(answer.columns, answer.columns != NULL ? answer.num_edges * 4 : 0);
            fuzz_touch(answer.wide_columns, answer.wide_columns != NULL ? answer.num_edges * 8 : 0);
            fuzz_touch(answer.edge_ids, answer.edge_ids != NULL ? answer.num_edges * 8 : 0);
        }
    /* The requester knows how many rows of what size it asked for. */
    if (kind->id == MSG_ROWS_REPLY && rows_reply_begin(&reader, body, length) == 0)
        while (rows_reply_next(&reader, 3, 5, &rows) == 0)
            fuzz_touch(rows, 15);
    if (kind->id == MSG_ROWS_REPLY)
        touch_sparse(body, length);
}

static void check_same(const struct kind *kind, const void *head)
{
    uint64_t once[KIND_ENCODED_BYTES_MAX / 8], twice[KIND_ENCODED_BYTES_MAX / 8];
    void *back = calloc(1, kind->head_bytes);
    assert(back != NULL);
    int bytes = kind->encode(head, once, sizeof once);
    assert(bytes > 0 && kind->verify(once, (size_t)bytes) == 0);
    assert(kind->decode(once, (size_t)bytes, back) == 0);
    assert(kind->encode(back, twice, sizeof twice) == bytes);
    assert(memcmp(once, twice, (size_t)bytes) == 0);
    free(back);
}

static void use(const struct kind *kind, const void *encoded, size_t count, const void *body,
                uint64_t length)
{
    void *head = calloc(1, kind->head_bytes);
    assert(head != NULL);
    if (kind->decode(encoded, count, head) == 0) {
        check_same(kind, head);
        if (kind->check == NULL || kind->check(head, body, length) == 0) {
            touch_requests(kind, head, body, length);
            touch_replies(kind, head, body, length);
        }
    }
    free(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct kinds kinds;
    struct fuzz_bytes bytes = { data, size };
    if (kinds_find(&kinds, MESSAGES_FIRST_KIND) == NULL)
        messages_register(&kinds, NULL);
    uint32_t id = MSG_FIRST_ + 1 + fuzz_byte(&bytes) % (MSG_END_ - MSG_FIRST_ - 1);
    const struct kind *kind = kinds_find(&kinds, id);
    size_t shift = fuzz_byte(&bytes) % 8, count = fuzz_u16(&bytes);
    assert(kind != NULL);
    if (count > bytes.left)
        count = bytes.left;
    uint8_t *head = malloc(shift + count > 0 ? shift + count : 1), *body;
    assert(head != NULL);
    if (count > 0)
        memcpy(head + shift, bytes.at, count);
    body = fuzz_block(bytes.at + count, bytes.left - count);
    if (kind->verify(head + shift, count) == 0)
        use(kind, head + shift, count, bytes.left > count ? body : NULL, bytes.left - count);
    free(head);
    free(body);
    return 0;
}
