/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one server holds of tensors (struct msg_tensor_request): of each its slice of each partition
 * that the server owns, in memory that is zero at first.
 *
 * The shelf is beside the server actor, so that one that failed and is started again has what it
 * had: nothing is lost but with the process. At the end of an era it is emptied.
 *
 * Bounds: the bytes of all slices of a process are charged to one account; names, dimensions and
 * the number of tensors are limited.
 *
 * Ownership: the shelf outlives the actor. The account outlives the shelf. Thread rules: those of
 * its server's actor, whose lives follow each other; init and fini while no actor runs.
 */
#ifndef ACTORS_DATA_TENSOR_SHELF_H
#define ACTORS_DATA_TENSOR_SHELF_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/error.h"
#include "runtime/core/account.h"
#include "schemas/messages.h"

/* A program names its tensors; one that makes a new name each step is told early. */
#define TENSORS_MAX 1024u
/* The bound of the account where none is configured. */
#define TENSOR_BYTES_DEFAULT ((size_t)4 << 30)

/* What a tensor is, as those that open it say. */
struct tensor_form {
    uint32_t ntype, dtype, num_dims, name_bytes;
    uint64_t dims[MSG_TENSOR_DIMS_MAX];
    char name[MSG_TENSOR_NAME_MAX + 1];
};

/* Reads and checks what a request says: known elements, rows within MSG_TENSOR_ROW_BYTES_MAX, a
 * name of which each byte may be shown. TR_EINVAL, TR_ETOOBIG. */
int tensor_form_read(const struct msg_tensor_request *head, const void *body,
                     struct tensor_form *form, uint64_t *row_bytes, struct error *error);

/* The rows of one partition. */
struct tensor_slice {
    struct tensor_slice *next;
    struct tensor_form form;
    uint64_t number, row_bytes, num_rows;
    size_t bytes; /* charged */
    bool held;    /* its maker writes its first values */
    unsigned char *rows;
};

struct tensor_shelf {
    struct account *account;
    struct tensor_slice **first; /* [num_parts], in the server's order of its partitions */
    uint32_t num_parts;
    uint32_t era; /* job_era.h; 0: nobody has said one */
};

/* TR_ENOMEM. All zeros is valid for tensor_shelf_fini, and holds no tensor. */
int tensor_shelf_init(struct tensor_shelf *shelf, struct account *account, uint32_t num_parts);
void tensor_shelf_fini(struct tensor_shelf *shelf);

/* Somebody speaks of that era (0: of none): a newer one empties the shelf. TR_EROLLBACK: it is older
 * than what the shelf knows. The first that it hears of empties nothing. */
int tensor_shelf_hear(struct tensor_shelf *shelf, uint32_t era, struct error *error);
/* The notice of an era's end. */
void tensor_shelf_end_era(struct tensor_shelf *shelf, uint32_t era);

/* NULL: there is none of that number there. */
struct tensor_slice *tensor_shelf_find(const struct tensor_shelf *shelf, uint32_t at,
                                       uint64_t number);
struct tensor_slice *tensor_shelf_named(const struct tensor_shelf *shelf, uint32_t at,
                                        const struct tensor_form *form);

/* Makes a slice of zeros. TR_EFULL, TR_ETOOBIG and TR_ENOMEM name the tensor and the bound. */
int tensor_shelf_add(struct tensor_shelf *shelf, uint32_t at, const struct tensor_form *form,
                     uint64_t number, uint64_t row_bytes, uint64_t num_rows,
                     struct tensor_slice **out, struct error *error);
void tensor_shelf_remove(struct tensor_shelf *shelf, uint32_t at, struct tensor_slice *slice);

/* "(300, 16) float32": the form in messages, with the rows of the whole type. */
#define TENSOR_FORM_TEXT_MAX 256u
void tensor_form_text(const struct tensor_form *form, uint64_t num_nodes,
                      char text[TENSOR_FORM_TEXT_MAX]);

#endif
