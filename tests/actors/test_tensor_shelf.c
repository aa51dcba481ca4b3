/* SPDX-License-Identifier: Apache-2.0 */
/* A shelf holds what it was given until an era ends, and never more than its bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/job_era.h"
#include "actors/data/tensor_shelf.h"

struct fixture {
    struct account account;
    struct tensor_shelf shelf;
};

static void open_fixture(struct fixture *f, size_t bytes)
{
    account_init(&f->account, "tensors", bytes);
    assert_int_equal(tensor_shelf_init(&f->shelf, &f->account, 2), 0);
}

static void close_fixture(struct fixture *f)
{
    tensor_shelf_fini(&f->shelf);
    assert_int_equal(account_used(&f->account), 0);
    account_fini(&f->account);
}

static struct tensor_form form_of(uint32_t ntype, const char *name)
{
    struct tensor_form form = { .ntype = ntype, .name_bytes = (uint32_t)strlen(name) };
    snprintf(form.name, sizeof form.name, "%s", name);
    return form;
}

static int add(struct fixture *f, uint32_t at, const char *name, uint64_t number, uint64_t rows,
               struct error *error)
{
    struct tensor_form form = form_of(0, name);
    struct tensor_slice *slice;
    return tensor_shelf_add(&f->shelf, at, &form, number, 4, rows, &slice, error);
}

static void slices_are_found_by_type_and_name_and_by_number(void **state)
{
    (void)state;
    struct fixture f;
    struct error error;
    open_fixture(&f, 1000);
    assert_int_equal(add(&f, 0, "h", 11, 10, &error), 0);
    assert_int_equal(add(&f, 1, "h", 11, 5, &error), 0);
    assert_int_equal(add(&f, 0, "hh", 12, 1, &error), 0);
    struct tensor_form h = form_of(0, "h"), other = form_of(1, "h"), none = form_of(0, "g");
    assert_int_equal(tensor_shelf_named(&f.shelf, 0, &h)->num_rows, 10);
    assert_int_equal(tensor_shelf_named(&f.shelf, 1, &h)->num_rows, 5);
    assert_null(tensor_shelf_named(&f.shelf, 0, &other));
    assert_null(tensor_shelf_named(&f.shelf, 0, &none));
    assert_int_equal(tensor_shelf_find(&f.shelf, 0, 12)->num_rows, 1);
    assert_null(tensor_shelf_find(&f.shelf, 1, 12));
    for (size_t i = 0; i < 40; i++)
        assert_int_equal(tensor_shelf_find(&f.shelf, 0, 11)->rows[i], 0);
    tensor_shelf_remove(&f.shelf, 0, tensor_shelf_find(&f.shelf, 0, 11));
    assert_null(tensor_shelf_find(&f.shelf, 0, 11));
    assert_non_null(tensor_shelf_find(&f.shelf, 0, 12));
    close_fixture(&f);
}

static void what_goes_beyond_a_bound_is_refused_and_charges_nothing(void **state)
{
    (void)state;
    struct fixture f;
    struct error error;
    open_fixture(&f, 100);
    assert_int_equal(add(&f, 0, "a", 1, 25, &error), 0);
    assert_int_equal(add(&f, 1, "b", 2, 1, &error), TR_ETOOBIG);
    assert_non_null(strstr(error.text, "tensor \"b\" needs 4 bytes"));
    assert_non_null(strstr(error.text, "100 of at most 100"));
    assert_int_equal(add(&f, 1, "b", 2, UINT64_C(1) << 32, &error), TR_ETOOBIG);
    assert_non_null(strstr(error.text, "make more partitions"));
    assert_int_equal(account_used(&f.account), 100);
    for (uint32_t i = 0; i < TENSORS_MAX; i++) {
        char name[20];
        snprintf(name, sizeof name, "n%u", i);
        assert_int_equal(add(&f, 1, name, 10 + i, 0, &error), 0);
    }
    assert_int_equal(add(&f, 1, "last", 9, 0, &error), TR_ETOOBIG);
    assert_non_null(strstr(error.text, "there are 1024 already"));
    assert_int_equal(add(&f, 0, "last", 9, 0, &error), 0);
    close_fixture(&f);
}

static bool holds(struct fixture *f)
{
    return tensor_shelf_find(&f->shelf, 0, 1) != NULL;
}

static void the_end_of_an_era_empties_it_once(void **state)
{
    (void)state;
    struct fixture f;
    struct error error;
    open_fixture(&f, 1000);
    /* A process that hears of no era says 0, which changes nothing. */
    assert_int_equal(add(&f, 0, "h", 1, 3, &error), 0);
    assert_int_equal(tensor_shelf_hear(&f.shelf, 0, &error), 0);
    /* The first that is heard of has not ended another. */
    assert_int_equal(tensor_shelf_hear(&f.shelf, 1, &error), 0);
    assert_true(holds(&f));
    tensor_shelf_end_era(&f.shelf, 2);
    assert_false(holds(&f));
    assert_int_equal(tensor_shelf_hear(&f.shelf, 1, &error), TR_EROLLBACK);
    assert_int_equal(tensor_shelf_hear(&f.shelf, 3, &error), 0);
    /* What is made in the new era outlives a notice that comes again. */
    assert_int_equal(add(&f, 0, "h", 1, 3, &error), 0);
    tensor_shelf_end_era(&f.shelf, 2);
    tensor_shelf_end_era(&f.shelf, 1);
    assert_true(holds(&f));
    /* A request may be faster than the notice, which then ends nothing. */
    assert_int_equal(tensor_shelf_hear(&f.shelf, 5, &error), 0);
    assert_false(holds(&f));
    assert_int_equal(add(&f, 0, "h", 1, 3, &error), 0);
    tensor_shelf_end_era(&f.shelf, 4);
    assert_true(holds(&f));
    tensor_shelf_end_era(&f.shelf, 5);
    assert_false(holds(&f));
    close_fixture(&f);
}

static void a_process_hears_of_the_newest_end(void **state)
{
    (void)state;
    struct job_era era;
    job_era_init(&era, false);
    assert_int_equal(job_era_now(&era), 0);
    job_era_init(&era, true);
    assert_int_equal(job_era_now(&era), 1);
    job_era_note(&era, 0);
    assert_int_equal(job_era_now(&era), 1);
    job_era_note(&era, 4);
    assert_int_equal(job_era_now(&era), 5);
    job_era_note(&era, 2);
    job_era_note(&era, 4);
    assert_int_equal(job_era_now(&era), 5);
    job_era_note(NULL, 9);
    assert_int_equal(job_era_now(NULL), 0);
}

static int read_form(uint32_t dtype, uint32_t num_dims, const uint64_t *dims, const char *name,
                     uint64_t *row_bytes, struct error *error)
{
    unsigned char body[MSG_TENSOR_DIMS_MAX * 8 + MSG_TENSOR_NAME_MAX];
    struct msg_tensor_request head = { .dtype = dtype,
                                       .num_dims = num_dims,
                                       .name_bytes = (uint32_t)strlen(name) };
    struct tensor_form form;
    if (num_dims > 0)
        memcpy(body, dims, num_dims * sizeof *dims);
    memcpy(body + num_dims * sizeof *dims, name, strlen(name));
    return tensor_form_read(&head, body, &form, row_bytes, error);
}

static void forms_that_are_wrong_are_refused(void **state)
{
    (void)state;
    struct error error;
    uint64_t bytes;
    const uint64_t huge[] = { UINT64_MAX, UINT64_MAX }, none[] = { 0, UINT64_MAX },
                   most[] = { MSG_TENSOR_ROW_BYTES_MAX / 4 },
                   more[] = { MSG_TENSOR_ROW_BYTES_MAX / 4 + 1 };
    assert_int_equal(read_form(0, 0, NULL, "h", &bytes, &error), 0);
    assert_int_equal(bytes, 4);
    assert_int_equal(read_form(0, 1, most, "h", &bytes, &error), 0);
    assert_int_equal(bytes, MSG_TENSOR_ROW_BYTES_MAX);
    assert_int_equal(read_form(0, 1, more, "h", &bytes, &error), TR_ETOOBIG);
    assert_int_equal(read_form(0, 2, huge, "h", &bytes, &error), TR_ETOOBIG);
    assert_int_equal(read_form(0, 1, none, "h", &bytes, &error), 0);
    assert_int_equal(bytes, 0);
    assert_int_equal(read_form(99, 0, NULL, "h", &bytes, &error), TR_EINVAL);
    assert_int_equal(read_form(0, 0, NULL, "", &bytes, &error), TR_EINVAL);
    assert_int_equal(read_form(0, 0, NULL, "a\x7f", &bytes, &error), TR_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_are_found_by_type_and_name_and_by_number),
        cmocka_unit_test(what_goes_beyond_a_bound_is_refused_and_charges_nothing),
        cmocka_unit_test(the_end_of_an_era_empties_it_once),
        cmocka_unit_test(a_process_hears_of_the_newest_end),
        cmocka_unit_test(forms_that_are_wrong_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
