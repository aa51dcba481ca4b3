/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server as the owner of tensors: makes, finds, frees, reads and writes its slices.
 *
 * Requests of one client are worked on in the order in which they were sent, as all of a server's
 * are, and each is done before the next begins: so a read sees every write that was acknowledged
 * before it was sent, and a repeated write changes nothing that came after it.
 */
#include <inttypes.h>
#include <string.h>

#include "actors/data/server_work.h"
#include "actors/data/tensor_shelf.h"
#include "graph/gather.h"
#include "schemas/body.h"

/* Copied at 0.5 GB/s, on memory that is slow and busy, these take 4 ms. */
#define SLICE_BYTES ((uint64_t)2 << 20)

struct tensor_work {
    struct server_work work;
    unsigned char *body; /* of a reply with rows */
    uint32_t done;       /* rows */
};

/* The place of a partition among the server's. */
static int find_part(const struct server *server, uint32_t part, uint32_t *at, struct error *error)
{
    const struct server_options *o = server->options;
    for (*at = 0; *at < o->num_parts && o->tensors != NULL; (*at)++)
        if (o->parts[*at] == part)
            return 0;
    return error_set(error, TR_ENOENT, "partition %" PRIu32 " has no tensors here", part);
}

static int tensor_answer(struct actor *self, struct server_work *work, uint64_t number,
                         bool created, struct error *error)
{
    int rv = server_make_reply(self, work, MSG_TENSOR_REPLY, error);
    if (rv == 0)
        *(struct msg_tensor_reply *)message_head(work->reply) = (struct msg_tensor_reply){
            .tensor = number, .era = work->server->options->tensors->era, .created = created
        };
    return rv;
}

static const struct book *server_book(const struct server *server)
{
    return snapshots_book(server->options->snapshots);
}

static bool forms_are_equal(const struct tensor_form *a, const struct tensor_form *b)
{
    return a->dtype == b->dtype && a->num_dims == b->num_dims &&
           memcmp(a->dims, b->dims, a->num_dims * sizeof *a->dims) == 0;
}

static int check_form(const struct server *server, const struct tensor_form *has,
                      const struct tensor_form *wanted, struct error *error)
{
    const struct book *book = server_book(server);
    char is[TENSOR_FORM_TEXT_MAX], asked[TENSOR_FORM_TEXT_MAX];
    if (forms_are_equal(has, wanted))
        return 0;
    tensor_form_text(has, book->num_nodes[has->ntype], is);
    tensor_form_text(wanted, book->num_nodes[wanted->ntype], asked);
    return error_set(error, TR_EMISMATCH,
                     "tensor \"%s\" of node type %s is %s already, %s was asked for; delete it "
                     "first, or give this one another name",
                     has->name, book->types.ntypes[has->ntype], is, asked);
}

struct opening {
    const struct msg_tensor_request *head;
    struct tensor_form form;
    uint64_t row_bytes;
    uint32_t at;
};

static int make_slice(struct server *server, const struct opening *o, struct tensor_slice **out,
                      struct error *error)
{
    const struct extent *rows = &server_book(server)->node_extents[o->form.ntype][o->head->part];
    int rv = tensor_shelf_add(server->options->tensors, o->at, &o->form, o->head->tensor,
                              o->row_bytes, rows->end - rows->begin, out, error);
    if (rv == 0)
        (*out)->held = o->head->part == 0;
    return rv;
}

/* At the home the first that asks makes the tensor. Elsewhere its maker alone asks: what has its
 * name and another number is of one that is gone at the home. */
static int open_slice(struct server *server, const struct opening *o, uint64_t *number,
                      bool *created, struct error *error)
{
    struct tensor_shelf *shelf = server->options->tensors;
    struct tensor_slice *slice = tensor_shelf_named(shelf, o->at, &o->form);
    bool is_home = o->head->part == 0, is_own = slice != NULL && slice->number == o->head->tensor;
    if (slice != NULL && !is_home && !is_own) {
        tensor_shelf_remove(shelf, o->at, slice);
        slice = NULL;
    }
    if (slice == NULL && (o->head->flags & MSG_TENSOR_CREATE) == 0)
        return error_set(error, TR_ENOENT, "there is no tensor \"%s\" of node type %s",
                         o->form.name, server_book(server)->types.ntypes[o->form.ntype]);
    int rv = slice == NULL ? make_slice(server, o, &slice, error)
                           : check_form(server, &slice->form, &o->form, error);
    if (rv != 0)
        return rv;
    /* Those that ask again are answered when its maker is done. */
    *created = slice->number == o->head->tensor;
    if (slice->held && !*created)
        return error_set(error, TR_EFULL,
                         "the process that makes tensor \"%s\" has not written its first values "
                         "yet",
                         o->form.name);
    *number = slice->number;
    return 0;
}

static int drop_slice(struct server *server, const struct opening *o, uint64_t *number)
{
    struct tensor_shelf *shelf = server->options->tensors;
    struct tensor_slice *slice = o->head->tensor != 0
                                     ? tensor_shelf_find(shelf, o->at, o->head->tensor)
                                     : tensor_shelf_named(shelf, o->at, &o->form);
    *number = slice != NULL ? slice->number : 0;
    if (slice != NULL)
        tensor_shelf_remove(shelf, o->at, slice);
    return 0;
}

static int no_such(const struct server *server, uint32_t part, struct error *error)
{
    return error_set(error, TR_ENOENT,
                     "partition %" PRIu32 " does not have it: it was deleted, or server %" PRIu32
                     ", which owns the partition, has been started again since",
                     part, server->options->rank);
}

static int release_slice(struct server *server, const struct opening *o, uint64_t *number,
                         struct error *error)
{
    struct tensor_slice *slice = tensor_shelf_find(server->options->tensors, o->at,
                                                   o->head->tensor);
    if (slice == NULL)
        return no_such(server, o->head->part, error);
    slice->held = false;
    *number = slice->number;
    return 0;
}

static int request_begin(struct actor *self, struct server_work *work, struct error *error)
{
    (void)self;
    uint32_t at;
    const struct msg_tensor_request *head = message_head(work->request);
    return find_part(work->server, head->part, &at, error);
}

/* All in its turn: what a request finds is what those before it left. */
static int request_step(struct actor *self, struct server_work *work, struct error *error)
{
    struct server *server = work->server;
    const struct book *book = server_book(server);
    struct opening o = { .head = message_head(work->request) };
    uint64_t number = 0;
    bool created = false;
    int rv = find_part(server, o.head->part, &o.at, error);
    if (rv == 0 && o.head->ntype >= book->types.num_ntypes)
        rv = error_set(error, TR_ERANGE,
                       "node type %" PRIu32
                       ": types are numbered from 0, and the graph has %" PRIu32,
                       o.head->ntype, book->types.num_ntypes);
    if (rv == 0)
        rv = tensor_form_read(o.head, message_body(work->request), &o.form, &o.row_bytes, error);
    if (rv == 0)
        rv = tensor_shelf_hear(server->options->tensors, o.head->era, error);
    if (rv != 0)
        return rv;
    switch (o.head->action) {
    case MSG_TENSOR_OPEN:
        rv = open_slice(server, &o, &number, &created, error);
        break;
    case MSG_TENSOR_READY:
        rv = release_slice(server, &o, &number, error);
        break;
    case MSG_TENSOR_DROP:
        rv = drop_slice(server, &o, &number);
        break;
    default:
        rv = error_set(error, TR_EUNSUPPORTED, "%" PRIu32 " is not an operation on tensors",
                       o.head->action);
        break;
    }
    return rv != 0 ? rv : tensor_answer(self, work, number, created, error);
}

/* Finds the slice that rows are of; looked for in each step, since an era may end between two. */
static int find_slice(struct server_work *work, uint32_t part, uint32_t era, uint64_t number,
                      uint64_t row_bytes, struct tensor_slice **out, struct error *error)
{
    struct server *server = work->server;
    uint32_t at;
    int rv = find_part(server, part, &at, error);
    if (rv == 0)
        rv = tensor_shelf_hear(server->options->tensors, era, error);
    if (rv != 0)
        return rv;
    *out = tensor_shelf_find(server->options->tensors, at, number);
    if (*out == NULL)
        return no_such(server, part, error);
    if ((*out)->row_bytes != row_bytes)
        return error_set(error, TR_EMISMATCH,
                         "rows of %" PRIu64
                         " bytes were given, and rows of the tensor have %" PRIu64,
                         row_bytes, (*out)->row_bytes);
    return 0;
}

static int check_rows(const struct tensor_slice *slice, uint32_t part, const uint32_t *rows,
                      uint32_t count, struct error *error)
{
    for (uint32_t i = 0; i < count; i++)
        if (rows[i] >= slice->num_rows)
            return error_set(error, TR_ERANGE,
                             "there is no row %" PRIu32 " in partition %" PRIu32
                             ", which has %" PRIu64,
                             rows[i], part, slice->num_rows);
    return 0;
}

static uint32_t rows_now(uint64_t row_bytes, uint32_t left)
{
    uint64_t fit = SLICE_BYTES / (row_bytes + sizeof(uint32_t));
    fit = fit > 0 ? fit : 1;
    return (uint32_t)(fit < left ? fit : left);
}

static int read_step(struct actor *self, struct server_work *work, struct error *error)
{
    struct tensor_work *state = (struct tensor_work *)work;
    const struct msg_tensor_read *head = message_head(work->request);
    struct tensor_slice *slice;
    int rv = find_slice(work, head->part, head->era, head->tensor, head->row_bytes, &slice, error);
    uint64_t bytes = rv == 0 ? head->count * slice->row_bytes : 0;
    if (rv == 0 && bytes > MSG_REPLY_BYTES_MAX)
        rv = error_set(error, TR_ETOOBIG, "%" PRIu32 " rows asked for at once", head->count);
    if (rv == 0 && state->body == NULL) {
        void *body;
        rv = server_make_body(self, work, MSG_ROWS_REPLY, (size_t)bytes, &body, error);
        if (rv == 0)
            ((struct msg_rows_reply *)message_head(work->reply))->num_sections = 1;
        state->body = rv == 0 ? body : NULL;
    }
    if (rv != 0)
        return rv;
    uint32_t now = rows_now(slice->row_bytes, head->count - state->done);
    const uint32_t *rows = now > 0 ? (const uint32_t *)message_body(work->request) + state->done
                                   : NULL;
    rv = check_rows(slice, head->part, rows, now, error);
    if (rv != 0)
        return rv;
    if (now > 0 && slice->row_bytes > 0)
        gather_rows(state->body + state->done * slice->row_bytes, slice->rows, slice->row_bytes,
                    rows, now);
    state->done += now;
    return state->done < head->count ? WORK_MORE : WORK_DONE;
}

static int write_step(struct actor *self, struct server_work *work, struct error *error)
{
    struct tensor_work *state = (struct tensor_work *)work;
    const struct msg_tensor_write *head = message_head(work->request);
    const unsigned char *body = message_body(work->request);
    struct tensor_slice *slice;
    int rv = find_slice(work, head->part, head->era, head->tensor, head->row_bytes, &slice, error);
    /* The reply is there before anything is written, and all rows are checked before the first. */
    if (rv == 0 && work->reply == NULL) {
        rv = check_rows(slice, head->part, (const uint32_t *)(const void *)body, head->count,
                        error);
        if (rv == 0)
            rv = tensor_answer(self, work, head->tensor, false, error);
    }
    if (rv != 0)
        return rv;
    uint32_t now = rows_now(slice->row_bytes, head->count - state->done);
    if (now > 0 && slice->row_bytes > 0)
        scatter_rows(slice->rows, (const uint32_t *)(const void *)body + state->done,
                     body + tensor_rows_begin(head->count, sizeof(uint32_t)) +
                         state->done * slice->row_bytes,
                     slice->row_bytes, now);
    state->done += now;
    return state->done < head->count ? WORK_MORE : WORK_DONE;
}

static int read_begin(struct actor *self, struct server_work *work, struct error *error)
{
    (void)self;
    uint32_t at;
    const struct msg_tensor_read *head = message_head(work->request);
    return find_part(work->server, head->part, &at, error);
}

static int write_begin(struct actor *self, struct server_work *work, struct error *error)
{
    (void)self;
    uint32_t at;
    const struct msg_tensor_write *head = message_head(work->request);
    return find_part(work->server, head->part, &at, error);
}

const struct work_ops server_tensor_ops = {
    .kind = MSG_TENSOR_REQUEST,
    .state_bytes = sizeof(struct server_work),
    .begin = request_begin,
    .step = request_step,
};

const struct work_ops server_tensor_read_ops = {
    .kind = MSG_TENSOR_READ,
    .state_bytes = sizeof(struct tensor_work),
    .begin = read_begin,
    .step = read_step,
};

const struct work_ops server_tensor_write_ops = {
    .kind = MSG_TENSOR_WRITE,
    .state_bytes = sizeof(struct tensor_work),
    .begin = write_begin,
    .step = write_step,
};
