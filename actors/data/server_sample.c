/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws neighbours. First the reply is planned: how many rows of which sections fit in the
 * caller's room, by an upper bound of their edges. Then it is filled, slice by slice, into one
 * body of that size. A reply may hold less than would fit exactly, never more.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "actors/data/draw.h"
#include "actors/data/server_work.h"
#include "graph/local_sample.h"
#include "graph/samplers.h"
#include "schemas/body.h"

/* Rows planned a turn: a random read each, 4 ms on slow memory. */
#define PLAN_ROWS 65536u
/* Bytes of a section beside its rows and edges: its head and at most 7 of padding, four times. */
#define SECTION_BYTES (sizeof(struct msg_sample_answer) + 32)
#define COUNT_BYTES sizeof(uint32_t)

struct section_plan {
    const struct msg_sample_section *section;
    const uint32_t *rows;          /* of the section, those skipped left out */
    struct sample_row_fields with; /* of these rows */
    const uint64_t *excluded;      /* [section->num_excluded] */
    uint32_t with_row;             /* the row that with_at begins at: rows are taken in order */
    struct sample_row_fields with_at;
    uint32_t rows_left;   /* asked for */
    uint32_t num_rows;    /* that fit */
    uint64_t edges_bound; /* that these can draw */
    uint32_t column_bytes;
};

struct sample_work {
    struct server_work work;
    const struct msg_sample_request *head;
    struct section_plan *plans; /* [num_plans] from skip_sections on */
    uint32_t num_plans;
    uint32_t at; /* the section being planned or filled */
    uint32_t num_answered;
    uint64_t room; /* bytes that planning has left */
    bool planned, full;
    struct buffer *body;
    uint64_t filled;    /* bytes of it */
    uint32_t rows_done; /* of the section being filled */
    uint64_t edges_done;
    unsigned char *head_at, *columns_at, *edge_ids_at, *weights_at;
    struct sample_excluded *excluded; /* [edge types], where some is left out of draws in total */
    uint32_t made;                    /* sections whose draws have what they are made by */
};

static bool gives_weights(const struct sample_work *state, const struct section_plan *plan)
{
    return sample_gives_weights(state->head->sampler, &plan->section->term);
}

static uint64_t edge_bytes(const struct sample_work *state, const struct section_plan *plan)
{
    return plan->column_bytes + (state->head->edge_ids ? sizeof(uint64_t) : 0) +
           (gives_weights(state, plan) ? sizeof(float) : 0);
}

/* The fields of the rows from that one on, which are looked for from where they were before. */
static struct sample_row_fields fields_of(struct section_plan *plan, uint32_t first)
{
    if (first < plan->with_row) {
        plan->with_at = plan->with;
        plan->with_row = 0;
    }
    sample_row_fields_skip(&plan->with_at, first - plan->with_row);
    plan->with_row = first;
    return plan->with_at;
}

/* `count` rows of a section, from the `first` of those that were not skipped on. */
static struct local_sample rows_of(const struct sample_work *state, struct section_plan *plan,
                                   const struct draw_key *key, uint32_t first, uint32_t count)
{
    return (struct local_sample){ .part = state->work.part,
                                  .draw = key,
                                  .kind = state->head->sampler,
                                  .row_fields = state->head->row_fields,
                                  .etype = plan->section->etype,
                                  .term = plan->section->term,
                                  .rows = plan->rows + first,
                                  .with = fields_of(plan, first),
                                  .num_rows = count,
                                  .excluded = plan->excluded,
                                  .num_excluded = plan->section->num_excluded,
                                  .excluded_by_type = state->excluded };
}

static int server_sample_prepare(const struct sample_work *state, struct section_plan *plan,
                                 uint32_t first, uint32_t count, struct sample_request *request,
                                 struct error *error)
{
    const struct draw_key key = draw_key_of(&state->head->draw);
    const struct local_sample what = rows_of(state, plan, &key, first, count);
    return local_sample_prepare(&what, request, error);
}

/* Draws in total read what is left out of every edge type, also where its section is done. */
static int keep_excluded(struct sample_work *state, const struct msg_sample_section *section,
                         const uint64_t *ids)
{
    if (state->excluded == NULL)
        state->excluded = calloc(state->work.part->types->num_etypes, sizeof *state->excluded);
    if (state->excluded == NULL)
        return TR_ENOMEM;
    state->excluded[section->etype] = (struct sample_excluded){ ids, section->num_excluded };
    return 0;
}

static int read_sections(struct sample_work *state, struct error *error)
{
    struct request_walk walk;
    const struct msg_sample_section *section;
    const uint32_t *rows;
    const struct msg_sample_request *head = state->head;
    uint32_t number = 0;
    const struct graph_types *types = state->work.part->types;
    int rv = sample_walk_begin(&walk, head, message_body(state->work.request),
                               state->work.request->frame.body_bytes);
    while (rv == 0 && (rv = sample_walk_next(&walk, &section, &rows)) == 1) {
        rv = 0;
        if (section->etype >= types->num_etypes)
            return error_set(error, TR_ERANGE,
                             "partition %u: edge type %u asked for, the graph "
                             "has %u",
                             head->part, section->etype, types->num_etypes);
        if (section->num_excluded > 0 && (section->term.flags & SAMPLE_TOTAL) != 0 &&
            (rv = keep_excluded(state, section, walk.excluded)) != 0)
            return error_set(error, rv, "the server has no memory for a request");
        if (number++ < head->skip_sections)
            continue;
        uint32_t skip = number - 1 == head->skip_sections ? head->skip_rows : 0;
        if (skip > section->num_rows)
            return error_set(error, TR_ERANGE, "partition %u: %u rows to skip of a section of %u",
                             head->part, skip, section->num_rows);
        struct sample_row_fields with = walk.with;
        sample_row_fields_skip(&with, skip);
        state->plans[state->num_plans++] = (struct section_plan){
            .section = section,
            .rows = rows != NULL ? rows + skip : NULL,
            .with = with,
            .with_at = with,
            .excluded = walk.excluded,
            .rows_left = section->num_rows - skip,
            .column_bytes = local_sample_column_bytes(state->work.part, section->etype,
                                                      section->term.direction),
        };
        if (number == head->num_sections)
            break;
    }
    assert(rv >= 0); /* messages_verify walked it */
    return 0;
}

static int server_sample_begin(struct actor *self, struct server_work *work, struct error *error)
{
    (void)self;
    struct sample_work *state = (struct sample_work *)work;
    const struct msg_sample_request *head = message_head(work->request);
    state->head = head;
    /* The pin comes first: what is asked for is checked against the types of that version. */
    int rv = server_pin(work, head->part, head->version, error);
    if (rv != 0)
        return rv;
    if (head->skip_sections > head->num_sections)
        return error_set(error, TR_ERANGE, "partition %u: %u sections to skip of %u", head->part,
                         head->skip_sections, head->num_sections);
    uint32_t count = head->num_sections - head->skip_sections;
    state->plans = calloc(count > 0 ? count : 1, sizeof *state->plans);
    if (state->plans == NULL)
        return error_set(error, TR_ENOMEM, "the server has no memory for a request");
    uint64_t most = head->reply_bytes_max;
    state->room = most == 0 || most > MSG_REPLY_BYTES_MAX ? MSG_REPLY_BYTES_MAX : most;
    return read_sections(state, error);
}

/* The first row of the reply alone, exactly: progress is made or the caller learns why not. */
static int plan_one_row(struct sample_work *state, struct section_plan *plan, struct error *error)
{
    struct sample_request request;
    uint64_t edges = 0;
    if (plan->rows_left > 0) {
        int rv = server_sample_prepare(state, plan, 0, 1, &request, error);
        if (rv != 0)
            return rv;
        edges = local_sample_count(&request, 0);
    }
    uint64_t need = SECTION_BYTES + COUNT_BYTES + edges * edge_bytes(state, plan);
    uint64_t room = state->room + (state->at < state->num_answered ? SECTION_BYTES : 0);
    if (need > room)
        return error_set(error, TR_ETOOBIG,
                         "partition %u: one row of edge type %u takes %llu "
                         "bytes of reply, there is room for %llu; ask for fewer neighbours",
                         state->head->part, plan->section->etype, (unsigned long long)need,
                         (unsigned long long)room);
    plan->num_rows = plan->rows_left > 0 ? 1 : 0;
    plan->edges_bound = edges;
    state->num_answered = 1;
    state->full = true;
    return 0;
}

/* Plans a piece of a section: *rows of at most PLAN_ROWS fit. */
static int plan_rows(struct sample_work *state, struct section_plan *plan, uint32_t count,
                     uint32_t *rows, struct error *error)
{
    struct sample_request request;
    uint64_t edges, per_edge = edge_bytes(state, plan), edges_max;
    int rv = server_sample_prepare(state, plan, plan->num_rows, count, &request, error);
    if (rv != 0)
        return rv;
    uint64_t most = local_sample_row_edges(&request);
    if (most != SAMPLE_ANY_DEGREE) {
        uint64_t fit = state->room / (COUNT_BYTES + most * per_edge);
        request.num_rows = fit < count ? (uint32_t)fit : count;
        edges_max = UINT64_MAX;
    } else {
        /* This does not wrap: plan_slice() chose so many. */
        edges_max = (state->room - count * COUNT_BYTES) / per_edge;
    }
    *rows = local_sample_fit(&request, edges_max, &edges);
    state->room -= *rows * COUNT_BYTES + edges * per_edge;
    plan->num_rows += *rows;
    plan->edges_bound += edges;
    return 0;
}

/* Enters a section, if there is room for its head. */
static bool open_section(struct sample_work *state)
{
    if (state->at < state->num_answered)
        return true;
    if (state->room < SECTION_BYTES)
        return false;
    state->room -= SECTION_BYTES;
    state->num_answered++;
    return true;
}

static int plan_slice(struct sample_work *state, struct error *error)
{
    uint32_t budget = PLAN_ROWS;
    while (!state->full && state->at < state->num_plans && budget > 0) {
        struct section_plan *plan = &state->plans[state->at];
        bool open = open_section(state);
        uint32_t left = plan->rows_left - plan->num_rows, rows = 0;
        uint32_t count = left < budget ? left : budget;
        /* Near the end of the room pieces are smaller, so that counts leave space for edges:
         * where every neighbour is drawn, plan_rows() takes all counts off the room first.
         * Counts that nearly fill it would let no row fit; more than it holds would wrap to a
         * huge rest, and the reply would outgrow its bound. This stands after open_section(),
         * since the section's head takes of the same room. */
        if (open && count * COUNT_BYTES > state->room / 2)
            count = (uint32_t)(state->room / (4 * COUNT_BYTES));
        if (open && count > 0) {
            int rv = plan_rows(state, plan, count, &rows, error);
            if (rv != 0)
                return rv;
        }
        budget -= rows > 0 ? rows : 1;
        if (open && rows == left)
            state->at++;
        else if (!open || rows < count || count == 0)
            state->full = true;
    }
    /* Only when the planning has ended is it known which sections are answered, and whether any. */
    state->planned = state->full || state->at == state->num_plans;
    if (!state->planned || !state->full)
        return 0;
    /* An opened section without a row of it is left for the next reply. */
    if (state->num_answered > 0 && state->num_answered - 1 == state->at &&
        state->plans[state->at].num_rows == 0 && state->at > 0)
        state->num_answered--;
    bool nothing = state->at == 0 && state->plans[0].num_rows == 0;
    return nothing ? plan_one_row(state, &state->plans[0], error) : 0;
}

/* Makes a piece of what the sections draw by, before anything is planned: 1 more, 0 all is there. */
static int make_slice(struct sample_work *state, struct error *error)
{
    const struct draw_key key = draw_key_of(&state->head->draw);
    while (state->made < state->num_plans) {
        const struct local_sample what = rows_of(state, &state->plans[state->made], &key, 0, 0);
        int rv = local_sample_make(&what, error);
        if (rv != 0)
            return rv;
        state->made++;
    }
    return 0;
}

static uint64_t planned_bytes(const struct sample_work *state)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < state->num_answered; i++) {
        const struct section_plan *plan = &state->plans[i];
        bytes += SECTION_BYTES + plan->num_rows * COUNT_BYTES +
                 plan->edges_bound * edge_bytes(state, plan);
    }
    return bytes;
}

static int start_filling(struct actor *self, struct sample_work *state, struct error *error)
{
    uint64_t bytes = planned_bytes(state);
    state->body = buffer_create(self, bytes > 0 ? bytes : 1);
    if (state->body == NULL)
        return error_set(error, TR_ENOMEM, "the server has no memory for a reply of %llu bytes",
                         (unsigned long long)bytes);
    state->at = 0;
    return 0;
}

/* Zeroes up to the next multiple of 8: what is sent was written. */
static uint64_t server_sample_pad(struct sample_work *state, uint64_t at)
{
    unsigned char *body = state->body->data;
    uint64_t end = (at + 7) & ~UINT64_C(7);
    memset(body + at, 0, end - at);
    return end;
}

static void begin_section(struct sample_work *state, const struct section_plan *plan)
{
    state->filled = server_sample_pad(state, state->filled);
    state->head_at = (unsigned char *)state->body->data + state->filled;
    uint64_t at = state->filled + sizeof(struct msg_sample_answer) + plan->num_rows * COUNT_BYTES;
    at = server_sample_pad(state, at);
    state->columns_at = (unsigned char *)state->body->data + at;
    at += (plan->edges_bound * plan->column_bytes + 7) & ~UINT64_C(7);
    state->edge_ids_at = (unsigned char *)state->body->data + at;
    at += state->head->edge_ids != 0 ? plan->edges_bound * sizeof(uint64_t) : 0;
    state->weights_at = (unsigned char *)state->body->data + at;
    state->rows_done = 0;
    state->edges_done = 0;
}

static void end_section(struct sample_work *state, const struct section_plan *plan)
{
    *(struct msg_sample_answer *)state->head_at = (struct msg_sample_answer){
        .num_rows = plan->num_rows,
        .column_bytes = plan->column_bytes,
        .num_edges = state->edges_done,
        .edge_ids = state->head->edge_ids != 0,
        .weights = gives_weights(state, plan),
    };
    unsigned char *body = state->body->data;
    uint64_t at = (uint64_t)(state->columns_at - body) + state->edges_done * plan->column_bytes;
    if (state->head->edge_ids != 0) {
        /* Fewer edges than bounded: the IDs close up before the gap is padded. */
        uint64_t ids_at = (at + 7) & ~UINT64_C(7), bytes = state->edges_done * sizeof(uint64_t);
        memmove(body + ids_at, state->edge_ids_at, bytes);
        server_sample_pad(state, at);
        at = ids_at + bytes;
    }
    if (gives_weights(state, plan)) {
        uint64_t weights_at = (at + 7) & ~UINT64_C(7), bytes = state->edges_done * sizeof(float);
        memmove(body + weights_at, state->weights_at, bytes);
        server_sample_pad(state, at);
        at = weights_at + bytes;
    }
    state->filled = at;
    state->head_at = NULL;
    state->at++;
}

/* Draws some rows of a section; *budget falls by the edges they could draw. */
static int fill_rows(struct sample_work *state, struct section_plan *plan, uint64_t *budget,
                     struct error *error)
{
    struct sample_request request;
    uint64_t edges, per_turn = *budget;
    uint32_t left = plan->num_rows - state->rows_done;
    int rv = server_sample_prepare(state, plan, state->rows_done,
                                   left < PLAN_ROWS ? left : PLAN_ROWS, &request, error);
    if (rv != 0)
        return rv;
    uint32_t rows = local_sample_fit(&request, per_turn, &edges);
    if (rows == 0) /* one row is a slice of its own */
        rows = 1, edges = per_turn;
    request.num_rows = rows;
    uint32_t *counts = (uint32_t *)(state->head_at + sizeof(struct msg_sample_answer));
    struct sample_result result = {
        .counts = counts + state->rows_done,
        .columns = (uint32_t *)state->columns_at + state->edges_done,
        .wide_columns = (uint64_t *)state->columns_at + state->edges_done,
        .edge_ids = state->head->edge_ids != 0 ? (uint64_t *)state->edge_ids_at + state->edges_done
                                               : NULL,
        .edge_weights = gives_weights(state, plan) ? (float *)state->weights_at + state->edges_done
                                                   : NULL,
    };
    rv = local_sample_draw(&state->work.server->space, &request, &result);
    if (rv != 0)
        return error_set(error, rv, "partition %u: drawing neighbours of edge type %u failed",
                         state->head->part, plan->section->etype);
    state->rows_done += rows;
    state->edges_done += result.num_edges;
    assert(state->edges_done <= plan->edges_bound);
    edges += rows; /* rows without edges take time too */
    *budget -= edges < *budget ? edges : *budget;
    return 0;
}

static int fill_slice(struct sample_work *state, struct error *error)
{
    uint32_t slice = state->work.server->options->slice_edges;
    uint64_t budget = slice != 0 ? slice : SERVER_SLICE_EDGES;
    while (state->at < state->num_answered && budget > 0) {
        struct section_plan *plan = &state->plans[state->at];
        if (state->head_at == NULL)
            begin_section(state, plan);
        /* This is asked before rows are filled: a section may have none, and fill_rows() draws
         * one at least. */
        if (state->rows_done == plan->num_rows) {
            end_section(state, plan);
            budget--;
            continue;
        }
        int rv = fill_rows(state, plan, &budget, error);
        if (rv != 0)
            return rv;
    }
    return 0;
}

static int server_sample_finish(struct actor *self, struct sample_work *state, struct error *error)
{
    int rv = server_make_reply(self, &state->work, MSG_SAMPLE_REPLY, error);
    if (rv != 0)
        return rv;
    struct msg_sample_reply *head = message_head(state->work.reply);
    uint32_t last = state->num_answered;
    head->num_sections = last;
    head->done = last == state->num_plans &&
                 (last == 0 || state->plans[last - 1].num_rows == state->plans[last - 1].rows_left);
    /* The body is attached last: where no reply could be made, it is still server_sample_fini()'s
     * to release. */
    message_body_attach(state->work.reply, state->body, state->filled);
    state->body = NULL;
    return WORK_DONE;
}

static int server_sample_step(struct actor *self, struct server_work *work, struct error *error)
{
    struct sample_work *state = (struct sample_work *)work;
    int rv = make_slice(state, error);
    if (rv != 0)
        return rv < 0 ? rv : WORK_MORE;
    /* Each stage begins in the slice that ends the one before: most requests take one slice. */
    if (!state->planned)
        rv = plan_slice(state, error);
    if (rv == 0 && state->planned && state->body == NULL)
        rv = start_filling(self, state, error);
    if (rv == 0 && state->body != NULL)
        rv = fill_slice(state, error);
    if (rv != 0)
        return rv;
    return state->body != NULL && state->at == state->num_answered
               ? server_sample_finish(self, state, error)
               : WORK_MORE;
}

static void server_sample_fini(struct actor *self, struct server_work *work)
{
    struct sample_work *state = (struct sample_work *)work;
    buffer_release(self, state->body);
    free(state->plans);
    free(state->excluded);
}

const struct work_ops server_sample_ops = {
    .kind = MSG_SAMPLE_REQUEST,
    .state_bytes = sizeof(struct sample_work),
    .begin = server_sample_begin,
    .step = server_sample_step,
    .fini = server_sample_fini,
};
