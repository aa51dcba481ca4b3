/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathers rows of tables into one body: checks and sizes first, then copies, slice by slice.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "actors/data/server_work.h"
#include "graph/local_rows.h"
#include "schemas/body.h"

/* Gathered at 0.5 GB/s, on memory that is slow and busy, these take 4 ms. */
#define SLICE_BYTES ((size_t)2 << 20)
#define SLICE_ROWS 32768u
#define SECTION_ALIGN 64u

_Static_assert(MSG_TABLE_ORIGINAL_ID == TABLE_ORIGINAL_ID &&
                   MSG_TABLE_IN_DEGREE == TABLE_IN_DEGREE &&
                   MSG_TABLE_OUT_DEGREE == TABLE_OUT_DEGREE && MSG_TABLE_EDGES == TABLE_EDGES &&
                   MSG_TABLE_EDGE_ENDS == TABLE_EDGE_ENDS &&
                   MSG_TABLE_EDGE_RANKS == TABLE_EDGE_RANKS,
               "messages number tables as partitions do");

struct rows_part {
    struct local_table table;
    const uint32_t *rows;
    uint64_t begin; /* in the body */
    uint32_t num_rows;
};

struct rows_work {
    struct server_work work;
    struct rows_part *parts; /* [num_parts] */
    uint32_t num_parts;
    uint32_t at;         /* the section being copied */
    uint32_t rows_done;  /* of it */
    uint64_t bytes;      /* of the reply */
    unsigned char *body; /* made when its turn comes: those that wait cost a request each */
};

static int size_reply(struct rows_work *state, struct error *error)
{
    const struct msg_rows_request *head = message_head(state->work.request);
    struct request_walk walk;
    const struct msg_rows_section *section;
    const uint32_t *rows;
    uint64_t length = 0;
    int rv = rows_walk_begin(&walk, head, message_body(state->work.request),
                             state->work.request->frame.body_bytes);
    while (rv == 0 && (rv = rows_walk_next(&walk, &section, &rows)) == 1) {
        struct rows_part *part = &state->parts[state->num_parts++];
        *part = (struct rows_part){ .rows = rows, .num_rows = section->num_rows };
        rv = local_table_find(state->work.part, section->ntype, section->table, &part->table,
                              error);
        if (rv != 0)
            return rv;
        rv = body_grow(&length, section->num_rows, part->table.row_bytes, SECTION_ALIGN);
        if (rv != 0 || length > MSG_REPLY_BYTES_MAX)
            return error_set(error, TR_ETOOBIG,
                             "partition %u: the rows asked for are more than "
                             "%llu bytes; ask for fewer at once",
                             head->part, (unsigned long long)MSG_REPLY_BYTES_MAX);
        part->begin = length - section->num_rows * (uint64_t)part->table.row_bytes;
    }
    assert(rv >= 0); /* messages_verify walked it */
    state->bytes = length;
    return 0;
}

/* The gaps between sections are sent too, so it must not be what was there before. */
static void zero_gaps(struct rows_work *state)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < state->num_parts; i++) {
        const struct rows_part *part = &state->parts[i];
        memset(state->body + end, 0, part->begin - end);
        end = part->begin + part->num_rows * (uint64_t)part->table.row_bytes;
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

static int begin(struct actor *self, struct server_work *work, struct error *error)
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
    return size_reply(state, error);
}

static uint32_t slice_rows(const struct rows_part *part, size_t bytes_left)
{
    size_t row_bytes = part->table.row_bytes, fit = SLICE_ROWS / local_rows_cost(&part->table);
    if (row_bytes > 0 && bytes_left / row_bytes < fit)
        fit = bytes_left / row_bytes;
    return fit > 0 ? (uint32_t)fit : 1;
}

static int step(struct actor *self, struct server_work *work, struct error *error)
{
    struct rows_work *state = (struct rows_work *)work;
    size_t left = SLICE_BYTES;
    uint32_t rows_left = SLICE_ROWS;
    int rv = state->body == NULL ? make_body(self, state, error) : 0;
    if (rv != 0)
        return rv;
    while (state->at < state->num_parts && left > 0 && rows_left > 0) {
        const struct rows_part *part = &state->parts[state->at];
        size_t row_bytes = part->table.row_bytes;
        uint32_t todo = part->num_rows - state->rows_done, most = slice_rows(part, left);
        uint32_t rows = todo < most ? todo : most;
        const uint32_t *first = rows > 0 ? part->rows + state->rows_done : NULL;
        /* Rows are checked in the slice that reads them: all of them at once may take longer
         * than a turn. */
        rv = local_rows_check(work->part, &part->table, first, rows, error);
        if (rv != 0)
            return rv;
        local_rows_read(&part->table, first, rows,
                        state->body + part->begin + state->rows_done * (uint64_t)row_bytes);
        state->rows_done += rows;
        left -= left < rows * row_bytes ? left : rows * row_bytes;
        uint32_t cost = rows * local_rows_cost(&part->table) + 1;
        rows_left -= rows_left < cost ? rows_left : cost;
        if (state->rows_done == part->num_rows) {
            state->at++;
            state->rows_done = 0;
        }
    }
    return state->at == state->num_parts ? WORK_DONE : WORK_MORE;
}

static void fini(struct actor *self, struct server_work *work)
{
    (void)self;
    free(((struct rows_work *)work)->parts);
}

const struct work_ops server_rows_ops = {
    .kind = MSG_ROWS_REQUEST,
    .state_bytes = sizeof(struct rows_work),
    .begin = begin,
    .step = step,
    .fini = fini,
};
