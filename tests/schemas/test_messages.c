/* The kinds that the runtime gets to know are those of messages.h, each with its coding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/kind.h"
#include "schemas/codec.h"
#include "schemas/messages.h"

static void every_kind_is_registered_once(void **unused)
{
    (void)unused;
    struct kinds kinds = { 0 };
    assert_int_equal(messages_register(&kinds, NULL, NULL), 0);
    for (uint32_t id = MSG_FIRST_ + 1; id < MSG_END_; id++) {
        const struct kind *kind = kinds_find(&kinds, id);
        assert_non_null(kind);
        assert_int_equal(kind->id, id);
        assert_int_equal(kind->head_bytes, codec_head_bytes(id));
        assert_true((kind->encode != NULL) == (id != MSG_BATCH_REPLY));
        assert_true((kind->check != NULL) == (id != MSG_BATCH_REPLY));
    }
    assert_null(kinds_find(&kinds, MSG_END_));
    struct error error;
    assert_int_equal(messages_register(&kinds, NULL, &error), TR_EEXIST);
}

static void who_flattens_batches_brings_their_kind(void **unused)
{
    (void)unused;
    static const struct kind batches = {
        .id = MSG_BATCH_REPLY,
        .lane = KIND_DATA,
        .class = KIND_PURE,
        .head_bytes = sizeof(struct msg_batch_reply),
        .name = "batches",
        .encode = messages_batch_reply_encode,
        .verify = messages_batch_reply_verify,
        .decode = messages_batch_reply_decode,
    };
    struct kinds kinds = { 0 };
    assert_int_equal(messages_register(&kinds, &batches, NULL), 0);
    assert_ptr_equal(kinds_find(&kinds, MSG_BATCH_REPLY), &batches);
    struct msg_batch_reply in = { .loader = 3, .batch = 5, .epoch = 7, .object = (void *)&kinds };
    struct msg_batch_reply out;
    unsigned char bytes[CODEC_BYTES_MAX];
    int length = batches.encode(&in, bytes, sizeof bytes);
    assert_true(length > 0);
    assert_int_equal(batches.verify(bytes, (size_t)length), 0);
    assert_int_equal(batches.decode(bytes, (size_t)length, &out), 0);
    assert_true(out.loader == 3 && out.batch == 5 && out.epoch == 7);
    assert_null(out.object); /* a pointer does not travel */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_registered_once),
        cmocka_unit_test(who_flattens_batches_brings_their_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
