/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathers rows of tables into one body: checks and sizes first, then copies, slice by slice. Where
 * the requester takes sparse rows, their elements are counted, also in slices, before the body can
 * be sized.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "actors/data/server_work.h"
#include "graph/local_rows.h"
#include "schemas/body.h"

/* Gathered at 0.5 GB/s, on memory that is slow and busy, these take 4 ms. */
#define SLICE_BYTES ((size_t)2 << 20)
#define SLICE_ROWS 32768u
#define SECTION_ALIGN 64u

_Static_assert(
    MSG_TABLE_ORIGINAL_ID == TABLE_ORIGINAL_ID && MSG_TABLE_IN_DEGREE == TABLE_IN_DEGREE &&
        MSG_TABLE_OUT_DEGREE == TABLE_OUT_DEGREE && MSG_TABLE_EDGES == TABLE_EDGES &&
        MSG_TABLE_EDGE_ENDS == TABLE_EDGE_ENDS && MSG_TABLE_EDGE_RANKS == TABLE_EDGE_RANKS &&
        MSG_TABLE_IN_EDGES == TABLE_IN_EDGES && MSG_TABLE_EDGE_SOURCES == TABLE_EDGE_SOURCES &&
        MSG_TABLE_OUT_EDGES == TABLE_OUT_EDGES && MSG_TABLE_OUT_PLACES == TABLE_OUT_PLACES &&
        MSG_TABLE_EDGE_ORIGINALS == TABLE_EDGE_ORIGINALS,
    "messages number tables as partitions do");

struct rows_part {
    struct local_table table;
    const uint32_t *rows;
    uint64_t begin; /* of its rows in the body, or of what a sparse section begins with */
    uint32_t num_rows;
    bool sparse; /* answered by struct msg_sparse_rows */
    struct sparse_form form;
    uint64_t num_elements;       /* counted so far */
    struct sparse_layout layout; /* when all are counted */
    uint64_t elements_done;      /* copied */
};

struct rows_work {
    struct server_work work;
    struct rows_part *parts; /* [num_parts] */
    uint32_t num_parts;
    uint32_t at;         /* the section being counted, then that being copied */
    uint32_t rows_done;  /* of it */
    bool sized;          /* nothing is to be counted any more */
    uint64_t bytes;      /* of the reply */
    unsigned char *body; /* made when its turn comes: those that wait cost a request each */
};

static struct sparse_form form_of(const struct csr_rows *csr)
{
    return (struct sparse_form){ .width = csr->width,
                                 .element_bytes = (uint32_t)tr_dtype_size(csr->dtype),
                                 .row_max = csr->row_nnz_max,
                                 .has_values = csr->values != NULL };
}

static int find_parts(struct rows_work *state, struct error *error)
{
    const struct msg_rows_request *head = message_head(state->work.request);
    struct request_walk walk;
    const struct msg_rows_section *section;
    const uint32_t *rows;
    int rv = rows_walk_begin(&walk, head, message_body(state->work.request),
                             state->work.request->frame.body_bytes);
    state->sized = true;
    while (rv == 0 && (rv = rows_walk_next(&walk, &section, &rows)) == 1) {
        struct rows_part *part = &state->parts[state->num_parts++];
        *part = (struct rows_part){ .rows = rows, .num_rows = section->num_rows };
        rv = local_table_find(state->work.part, section->ntype, section->table, &part->table,
                              error);
        if (rv != 0)
            return rv;
        part->sparse = head->sparse != 0 && part->table.csr != NULL;
        if (part->sparse)
            part->form = form_of(part->table.csr);
        state->sized = state->sized && !part->sparse;
    }
    assert(rv >= 0); /* messages_verify walked it */
    return 0;
}

/* Where each section lies in the body, once the elements of sparse ones are counted. */
static int size_reply(struct rows_work *state, struct error *error)
{
    const struct msg_rows_request *head = message_head(state->work.request);
    uint64_t length = 0;
    for (uint32_t i = 0; i < state->num_parts; i++) {
        struct rows_part *part = &state->parts[i];
        int rv = part->sparse
                     ? sparse_layout_make(&part->layout, length, part->num_rows, part->num_elements,
                                          &part->form)
                     : body_grow(&length, part->num_rows, part->table.row_bytes, SECTION_ALIGN);
        if (rv == 0 && part->sparse)
            length = part->layout.end;
        if (rv != 0 || length > MSG_REPLY_BYTES_MAX)
            return error_set(error, TR_ETOOBIG,
                             "partition %u: the rows asked for are more than "
                             "%llu bytes; ask for fewer at once",
                             head->part, (unsigned long long)MSG_REPLY_BYTES_MAX);
        part->begin = part->sparse ? part->layout.head
                                   : length - part->num_rows * (uint64_t)part->table.row_bytes;
    }
    state->bytes = length;
    return 0;
}

/* The head of a sparse section, and its own gaps; returns its end. */
static uint64_t begin_sparse(struct rows_work *state, const struct rows_part *part)
{
    const struct sparse_layout *to = &part->layout;
    struct msg_sparse_rows head = { .dense = to->dense };
    uint64_t end = to->head + sizeof head;
    if (to->dense) {
        memset(state->body + end, 0, to->rows - end);
    } else {
        head.num_elements = part->num_elements;
        head.has_values = part->form.has_values;
        memset(state->body + to->columns_end, 0, to->values - to->columns_end);
    }
    memcpy(state->body + to->head, &head, sizeof head);
    return to->end;
}

/* The gaps between sections are sent too, so it must not be what was there before. */
static void zero_gaps(struct rows_work *state)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < state->num_parts; i++) {
        const struct rows_part *part = &state->parts[i];
        memset(state->body + end, 0, part->begin - end);
        end = part->sparse ? begin_sparse(state, part)
                           : part->begin + part->num_rows * (uint64_t)part->table.row_bytes;
    }
}

static int make_body(struct actor *self, struct rows_work *state, struct error *error)
{
    void *body;
    int rv = server_make_body(self, &state->work, MSG_ROWS_REPLY, (size_t)state->bytes, &body,
                              error);
    if (rv != 0)
        return rv;
    state->body = body;
    ((struct msg_rows_reply *)message_head(state->work.reply))->num_sections = state->num_parts;
    zero_gaps(state);
    return 0;
}

static int rows_begin(struct actor *self, struct server_work *work, struct error *error)
{
    (void)self;
    struct rows_work *state = (struct rows_work *)work;
    const struct msg_rows_request *head = message_head(work->request);
    int rv = server_pin(work, head->part, head->version, error);
    if (rv != 0)
        return rv;
    state->parts = calloc(head->num_sections > 0 ? head->num_sections : 1, sizeof *state->parts);
    if (state->parts == NULL)
        return error_set(error, TR_ENOMEM, "the server has no memory for a request");
    rv = find_parts(state, error);
    return rv == 0 && state->sized ? size_reply(state, error) : rv;
}

/* Counts a slice of the elements of sparse sections, whose rows are checked for it. */
static int count_slice(struct rows_work *state, struct error *error)
{
    uint32_t left = SLICE_ROWS;
    while (state->at < state->num_parts && left > 0) {
        struct rows_part *part = &state->parts[state->at];
        uint32_t todo = part->sparse ? part->num_rows - state->rows_done : 0;
        uint32_t rows = todo < left ? todo : left;
        const uint32_t *first = rows > 0 ? part->rows + state->rows_done : NULL;
        int rv = local_rows_check(state->work.part, &part->table, first, rows, error);
        if (rv != 0)
            return rv;
        part->num_elements += csr_count(part->table.csr, first, rows);
        state->rows_done += rows;
        left -= rows;
        if (rows < todo)
            continue;
        state->at++;
        state->rows_done = 0;
    }
    if (state->at < state->num_parts)
        return 0;
    state->at = 0;
    state->sized = true;
    return size_reply(state, error);
}

/* Copies rows as they are kept until the slice is full; returns how many. */
static uint32_t copy_sparse(const struct rows_work *state, struct rows_part *part, uint32_t rows,
                            size_t *bytes_left)
{
    const struct csr_rows *csr = part->table.csr;
    const struct sparse_layout *to = &part->layout;
    size_t size = part->form.element_bytes;
    uint32_t *counts = (uint32_t *)(void *)(state->body + to->counts);
    uint32_t done = 0;
    for (; done<rows && * bytes_left> 0; done++) {
        uint64_t row = part->rows[state->rows_done + done], begin = csr->index[row];
        size_t count = (size_t)(csr->index[row + 1] - begin);
        size_t bytes = sizeof *counts + count * (sizeof *csr->columns + size);
        if (done + CSR_AHEAD < rows)
            csr_prefetch(csr, part->rows[state->rows_done + done + CSR_AHEAD]);
        counts[state->rows_done + done] = (uint32_t)count;
        memcpy(state->body + to->columns + part->elements_done * sizeof *csr->columns,
               csr->columns + begin, count * sizeof *csr->columns);
        if (csr->values != NULL)
            memcpy(state->body + to->values + part->elements_done * size,
                   (const unsigned char *)csr->values + begin * size, count * size);
        part->elements_done += count;
        *bytes_left -= *bytes_left < bytes ? *bytes_left : bytes;
    }
    return done;
}

static uint32_t slice_rows(const struct rows_part *part, size_t bytes_left)
{
    size_t row_bytes = part->table.row_bytes, fit = SLICE_ROWS / local_rows_cost(&part->table);
    if (row_bytes > 0 && bytes_left / row_bytes < fit)
        fit = bytes_left / row_bytes;
    return fit > 0 ? (uint32_t)fit : 1;
}

/* Copies a slice of the section's rows; rows_left and bytes_left are what the slice may take. */
static int copy_slice(struct rows_work *state, struct rows_part *part, uint32_t *rows_left,
                      size_t *bytes_left, struct error *error)
{
    size_t row_bytes = part->table.row_bytes;
    uint32_t todo = part->num_rows - state->rows_done;
    if (part->sparse && !part->layout.dense) {
        uint32_t rows = copy_sparse(state, part, todo < *rows_left ? todo : *rows_left, bytes_left);
        state->rows_done += rows;
        *rows_left -= *rows_left < rows + 1 ? *rows_left : rows + 1;
        return 0;
    }
    uint32_t most = slice_rows(part, *bytes_left);
    uint32_t rows = todo < most ? todo : most;
    const uint32_t *first = rows > 0 ? part->rows + state->rows_done : NULL;
    /* Rows are checked in the slice that reads them: all of them at once may take longer than a
     * turn. */
    int rv = local_rows_check(state->work.part, &part->table, first, rows, error);
    if (rv != 0)
        return rv;
    local_rows_read(&part->table, first, rows,
                    state->body + (part->sparse ? part->layout.rows : part->begin) +
                        state->rows_done * (uint64_t)row_bytes);
    state->rows_done += rows;
    *bytes_left -= *bytes_left < rows * row_bytes ? *bytes_left : rows * row_bytes;
    uint32_t cost = rows * local_rows_cost(&part->table) + 1;
    *rows_left -= *rows_left < cost ? *rows_left : cost;
    return 0;
}

static int rows_step(struct actor *self, struct server_work *work, struct error *error)
{
    struct rows_work *state = (struct rows_work *)work;
    size_t left = SLICE_BYTES;
    uint32_t rows_left = SLICE_ROWS;
    if (!state->sized) {
        int counted = count_slice(state, error);
        return counted != 0 ? counted : WORK_MORE;
    }
    int rv = state->body == NULL ? make_body(self, state, error) : 0;
    while (rv == 0 && state->at < state->num_parts && left > 0 && rows_left > 0) {
        struct rows_part *part = &state->parts[state->at];
        rv = copy_slice(state, part, &rows_left, &left, error);
        if (rv == 0 && state->rows_done == part->num_rows) {
            state->at++;
            state->rows_done = 0;
        }
    }
    if (rv != 0)
        return rv;
    return state->at == state->num_parts ? WORK_DONE : WORK_MORE;
}

static void rows_fini(struct actor *self, struct server_work *work)
{
    (void)self;
    free(((struct rows_work *)work)->parts);
}

const struct work_ops server_rows_ops = {
    .kind = MSG_ROWS_REQUEST,
    .state_bytes = sizeof(struct rows_work),
    .begin = rows_begin,
    .step = rows_step,
    .fini = rows_fini,
};
