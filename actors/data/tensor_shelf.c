/* SPDX-License-Identifier: Apache-2.0 */
#include "actors/data/tensor_shelf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/types.h>

/* A name goes into messages as it is, so it has no control characters. */
static bool is_shown(const char *name, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            return false;
    return true;
}

int tensor_form_read(const struct msg_tensor_request *head, const void *body,
                     struct tensor_form *form, uint64_t *row_bytes, struct error *error)
{
    *form = (struct tensor_form){ .ntype = head->ntype,
                                  .dtype = head->dtype,
                                  .num_dims = head->num_dims,
                                  .name_bytes = head->name_bytes };
    if (head->num_dims > 0)
        memcpy(form->dims, body, head->num_dims * sizeof *form->dims);
    if (head->name_bytes > 0)
        memcpy(form->name, (const char *)body + head->num_dims * sizeof *form->dims,
               head->name_bytes);
    if (head->name_bytes == 0 || !is_shown(form->name, head->name_bytes))
        return error_set(error, TR_EINVAL,
                         "the name of a tensor has 1 to %u bytes, and no control characters",
                         MSG_TENSOR_NAME_MAX);
    uint64_t bytes = tr_dtype_size((enum tr_dtype)head->dtype);
    if (bytes == 0)
        return error_set(error, TR_EINVAL,
                         "tensor \"%s\": %" PRIu32 " is not a value of enum tr_dtype", form->name,
                         head->dtype);
    for (uint32_t i = 0; i < head->num_dims; i++)
        if (__builtin_mul_overflow(bytes, form->dims[i], &bytes))
            bytes = UINT64_MAX;
    if (bytes > MSG_TENSOR_ROW_BYTES_MAX)
        return error_set(error, TR_ETOOBIG, "tensor \"%s\": a row has more than %" PRIu64 " bytes",
                         form->name, MSG_TENSOR_ROW_BYTES_MAX);
    *row_bytes = bytes;
    return 0;
}

int tensor_shelf_init(struct tensor_shelf *shelf, struct account *account, uint32_t num_parts)
{
    *shelf = (struct tensor_shelf){ .account = account, .num_parts = num_parts };
    shelf->first = calloc((size_t)num_parts + 1, sizeof(struct tensor_slice *));
    return shelf->first != NULL ? 0 : TR_ENOMEM;
}

void tensor_shelf_remove(struct tensor_shelf *shelf, uint32_t at, struct tensor_slice *slice)
{
    struct tensor_slice **link = &shelf->first[at];
    while (*link != slice)
        link = &(*link)->next;
    *link = slice->next;
    free(slice->rows);
    /* The charge goes behind the memory that it stands for. */
    account_release(shelf->account, slice->bytes);
    free(slice);
}

static void tensor_shelf_clear(struct tensor_shelf *shelf)
{
    for (uint32_t at = 0; shelf->first != NULL && at < shelf->num_parts; at++)
        while (shelf->first[at] != NULL)
            tensor_shelf_remove(shelf, at, shelf->first[at]);
}

void tensor_shelf_fini(struct tensor_shelf *shelf)
{
    tensor_shelf_clear(shelf);
    free(shelf->first);
    *shelf = (struct tensor_shelf){ .account = NULL };
}

int tensor_shelf_hear(struct tensor_shelf *shelf, uint32_t era, struct error *error)
{
    if (era == 0 || era == shelf->era)
        return 0;
    if (era < shelf->era)
        return error_set(error, TR_EROLLBACK,
                         "the tensor is gone: it ended with an era of the job, as tensors do when "
                         "trainers go back to a checkpoint");
    if (shelf->era != 0)
        tensor_shelf_clear(shelf);
    shelf->era = era;
    return 0;
}

void tensor_shelf_end_era(struct tensor_shelf *shelf, uint32_t era)
{
    if (era < shelf->era)
        return;
    tensor_shelf_clear(shelf);
    shelf->era = era + 1;
}

struct tensor_slice *tensor_shelf_find(const struct tensor_shelf *shelf, uint32_t at,
                                       uint64_t number)
{
    struct tensor_slice *slice = shelf->first[at];
    while (slice != NULL && slice->number != number)
        slice = slice->next;
    return slice;
}

struct tensor_slice *tensor_shelf_named(const struct tensor_shelf *shelf, uint32_t at,
                                        const struct tensor_form *form)
{
    struct tensor_slice *slice = shelf->first[at];
    while (slice != NULL &&
           (slice->form.ntype != form->ntype || slice->form.name_bytes != form->name_bytes ||
            memcmp(slice->form.name, form->name, form->name_bytes) != 0))
        slice = slice->next;
    return slice;
}

static int check_number(const struct tensor_shelf *shelf, uint32_t at,
                        const struct tensor_form *form, struct error *error)
{
    uint32_t count = 0;
    for (const struct tensor_slice *slice = shelf->first[at]; slice != NULL; slice = slice->next)
        count++;
    return count < TENSORS_MAX
               ? 0
               : error_set(error, TR_ETOOBIG,
                           "tensor \"%s\": there are %u already; delete those that are not "
                           "needed any more",
                           form->name, TENSORS_MAX);
}

int tensor_shelf_add(struct tensor_shelf *shelf, uint32_t at, const struct tensor_form *form,
                     uint64_t number, uint64_t row_bytes, uint64_t num_rows,
                     struct tensor_slice **out, struct error *error)
{
    uint64_t bytes;
    int rv = check_number(shelf, at, form, error);
    if (rv != 0)
        return rv;
    if (num_rows > UINT32_MAX)
        return error_set(error, TR_ETOOBIG,
                         "tensor \"%s\": %" PRIu64 " rows in one partition, at most 2^32 - 1 fit; "
                         "make more partitions",
                         form->name, num_rows);
    if (__builtin_mul_overflow(num_rows, row_bytes, &bytes) || bytes > SIZE_MAX)
        bytes = SIZE_MAX;
    /* Room comes only when a program deletes something, so nobody waits for it. */
    if (account_reserve(shelf->account, (size_t)bytes, NULL) != 0)
        return error_set(
            error, TR_ETOOBIG,
            "tensor \"%s\" needs %" PRIu64
            " bytes, and the tensors of this process have %zu of at most %zu already; delete some, "
            "or raise the option tensor_bytes_max, or limits.tensors of the cluster file",
            form->name, bytes, account_used(shelf->account), shelf->account->bound_bytes);
    struct tensor_slice *slice = malloc(sizeof *slice);
    unsigned char *rows = calloc(bytes > 0 ? (size_t)bytes : 1, 1);
    if (slice == NULL || rows == NULL) {
        free(slice);
        free(rows);
        account_release(shelf->account, (size_t)bytes);
        return error_set(error, TR_ENOMEM, "tensor \"%s\": no memory for %" PRIu64 " bytes",
                         form->name, bytes);
    }
    *slice = (struct tensor_slice){ .next = shelf->first[at],
                                    .form = *form,
                                    .number = number,
                                    .row_bytes = row_bytes,
                                    .num_rows = num_rows,
                                    .bytes = (size_t)bytes,
                                    .rows = rows };
    shelf->first[at] = slice;
    *out = slice;
    return 0;
}

void tensor_form_text(const struct tensor_form *form, uint64_t num_nodes,
                      char text[TENSOR_FORM_TEXT_MAX])
{
    /* At most 8 numbers of 20 digits. */
    int at = snprintf(text, TENSOR_FORM_TEXT_MAX, "(%" PRIu64, num_nodes);
    for (uint32_t i = 0; i < form->num_dims; i++)
        at += snprintf(text + at, TENSOR_FORM_TEXT_MAX - (size_t)at, ", %" PRIu64, form->dims[i]);
    snprintf(text + at, TENSOR_FORM_TEXT_MAX - (size_t)at, "%s) %s", form->num_dims == 0 ? "," : "",
             tr_dtype_name((enum tr_dtype)form->dtype));
}
