/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields that a later version adds to a struct lie behind all that a program of today declares.
 * In padding at its end they would be read of a program that never wrote them, since an initialiser
 * sets fields alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <troupe/model.h>
#include <troupe/troupe.h>

#include "tests/api/struct_ends.h"

/* Bounds of arrays in structs, behind which the other fields lie: they are what the first release
 * had. tests/api/headers.sh fails where one is missing here. */
_Static_assert(TR_BALANCE_CLASSES_MAX == 16, "in tr_partition_report");
_Static_assert(TR_HALO_HOPS_MAX == 8, "in tr_partition_report");
_Static_assert(TR_ERROR_MESSAGE_MAX == 1024, "in tr_error");
_Static_assert(TR_LAYERS_MAX == 16, "in tr_loader_options and tr_train_options");
_Static_assert(TR_LOG_COMPONENT_MAX == 32, "in tr_log_line");
_Static_assert(TR_LOG_TEXT_MAX == 512, "in tr_log_line");
_Static_assert(TR_MODEL_TEXT_MAX == 1280, "in tr_model_event");
_Static_assert(TR_OBSERVER_WHY_MAX == 256, "in tr_process_status");
_Static_assert(TR_SCORE_NAME_MAX == 32, "in tr_process_status and tr_job_status");
_Static_assert(TR_MODEL_THREADS_MAX == 16, "in tr_model_event");
_Static_assert(TR_TABLE_NDIM_MAX == 4, "in tr_table_info");
_Static_assert(TR_TASK_PHASE_MAX == 64, "in tr_task_progress");
_Static_assert(TR_TASK_UNIT_MAX == 16, "in tr_task_progress");
_Static_assert(TR_TENSOR_NDIM_MAX == 8, "in tr_tensor");

/* There are so many at least, or the list was not made. */
#define STRUCTS_LEAST 40u

static void a_field_of_a_later_version_lies_behind_the_struct_of_today(void **state)
{
    size_t count = 0;
    (void)state;
    for (; struct_ends_now[count].tag != NULL; count++) {
        const struct struct_end *now = &struct_ends_now[count], *later = &struct_ends_later[count];
        assert_string_equal(now->tag, later->tag);
        if (later->added < now->bytes)
            fail_msg("struct %s has %zu bytes, and the next field would begin at %zu: name the "
                     "bytes between as its last field, `unsigned char reserved[%zu]`, and set them "
                     "to \"\" in its initialiser",
                     now->tag, now->bytes, later->added, now->bytes - later->added);
    }
    assert_null(struct_ends_later[count].tag);
    assert_true(count >= STRUCTS_LEAST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_of_a_later_version_lies_behind_the_struct_of_today),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("struct_ends", tests, NULL, NULL);
}
