/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds that the runtime gets to know are those of messages.h, each with its coding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/core/kind.h"
#include "schemas/codec.h"
#include "schemas/messages.h"

static void every_kind_is_registered_once(void **unused)
{
    (void)unused;
    struct kinds kinds = { 0 };
    assert_int_equal(messages_register(&kinds, NULL), 0);
    for (uint32_t id = MSG_FIRST_ + 1; id < MSG_END_; id++) {
        const struct kind *kind = kinds_find(&kinds, id);
        assert_non_null(kind);
        assert_int_equal(kind->id, id);
        assert_int_equal(kind->head_bytes, codec_head_bytes(id));
        assert_non_null(kind->encode);
        assert_non_null(kind->check);
        /* An observer of a job may ask how it is, and nothing else. */
        assert_int_equal(kind->observer, id == MSG_STATUS_REQUEST);
    }
    assert_null(kinds_find(&kinds, MSG_END_));
    struct error error;
    assert_int_equal(messages_register(&kinds, &error), TR_EEXIST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_registered_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
