/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the sampler to servers. */
#include <string.h>

#include "actors/data/draw.h"
#include "actors/data/sampler_state.h"
#include "actors/data/sparse_reply.h"
#include "graph/samplers.h"
#include "schemas/body.h"

/* Where the loader's options don't say: large enough that asking costs little. */
#define REPLY_BYTES ((uint64_t)8 << 20)

/* A reply of rows is smaller: they are summed, sent, read and placed while a cache has them. */
#define ROWS_BYTES ((uint64_t)1 << 20)

/* Rows that come sparse are widened in the turn in which they come: these are written in 2 ms. */
#define WIDENED_BYTES ((uint64_t)8 << 20)

/* The rows of each section start at a multiple of this. */
#define ROWS_ALIGN 64u

static uint64_t reply_bytes_max(const struct ask *ask)
{
    uint64_t bytes = ask->task->sampler->options->reply_bytes_max;
    return bytes != 0 ? bytes : REPLY_BYTES;
}

bool sampler_samples_etype(const struct ask *ask, uint32_t etype)
{
    const struct batch_builder *builder = &ask->task->builder;
    return ask_list(ask, batch_builder_row_type(builder, etype))->count > 0 &&
           batch_builder_term(builder, etype)->fanout != 0;
}

/* The sections, one an edge type; where not NULL, they are written too. */
static uint32_t put_sections(const struct ask *ask, struct msg_sample_section *sections)
{
    const struct batch_builder *builder = &ask->task->builder;
    uint32_t count = 0, last = UINT32_MAX;
    for (uint32_t e = 0; e < builder->num_etypes; e++) {
        if (!sampler_samples_etype(ask, e))
            continue;
        uint32_t ntype = batch_builder_row_type(builder, e);
        uint64_t excluded;
        batch_builder_excluded(builder, e, ask->part, &excluded);
        if (sections != NULL)
            sections[count] = (struct msg_sample_section){
                .etype = e,
                .num_rows = ask_list(ask, ntype)->count,
                .same_rows = ntype == last,
                .term = *batch_builder_term(builder, e),
                .num_excluded = (uint32_t)excluded,
            };
        last = ntype;
        count++;
    }
    return count;
}

/* The edges that a section leaves out, behind `length` bytes; where the body is not NULL, they are
 * written too. TR_ETOOBIG. */
static int put_excluded(const struct ask *ask, uint32_t etype, uint64_t *length, void *body)
{
    uint64_t count, at = *length;
    const uint64_t *ids = batch_builder_excluded(&ask->task->builder, etype, ask->part, &count);
    int rv = count == 0 ? 0 : body_grow(length, count, sizeof *ids, sizeof *ids);
    if (rv != 0 || count == 0 || body == NULL)
        return rv;
    uint64_t begin = *length - count * sizeof *ids;
    memset((unsigned char *)body + at, 0, begin - at);
    memcpy((unsigned char *)body + begin, ids, count * sizeof *ids);
    return 0;
}

/* The rows of all sections and what comes with them, behind the sections; where the body is not
 * NULL, they are written too. The length of the whole, or 0: no message is as long. */
static uint64_t put_rows(const struct ask *ask, uint32_t num_sections, void *body)
{
    const struct batch_builder *builder = &ask->task->builder;
    uint32_t fields = batch_builder_row_fields(builder), last = UINT32_MAX;
    uint64_t length = num_sections * sizeof(struct msg_sample_section);
    for (uint32_t e = 0; e < builder->num_etypes; e++) {
        uint32_t ntype = batch_builder_row_type(builder, e);
        if (!sampler_samples_etype(ask, e))
            continue;
        if (ntype == last) {
            if (put_excluded(ask, e, &length, body) != 0)
                return 0;
            continue;
        }
        last = ntype;
        const struct batch_builder_list *list = ask_list(ask, ntype);
        uint64_t at = length;
        /* These do not grow past what memory holds, where the lists are. */
        if (body_grow(&length, list->count, sizeof(uint32_t), sizeof(uint32_t)) != 0 ||
            row_fields_grow(&length, fields, list->count,
                            batch_builder_list_excluded(builder, ntype, ask->part)) != 0)
            return 0;
        if (body != NULL) {
            size_t bytes = list->count * sizeof(uint32_t);
            const struct sample_row_fields with = batch_builder_list_fields(builder, ntype,
                                                                            ask->part, 0);
            /* Sections and arrays end at multiples of 4, so rows stand at one. */
            memcpy((unsigned char *)body + at, list->rows.data, bytes);
            row_fields_put(body, at + bytes, fields, list->count, &with);
        }
        if (put_excluded(ask, e, &length, body) != 0)
            return 0;
    }
    return length;
}

/* Bytes of the largest reply, up to reply_bytes_max, which stands for rows that may bring every
 * neighbour. 0: no edge type has a section. */
static size_t samples_bytes(const struct ask *ask)
{
    const struct batch_builder *builder = &ask->task->builder;
    const struct sample_method *method = sample_method_find(builder->plan->spec->kind);
    uint64_t most = reply_bytes_max(ask), bytes = 0;
    for (uint32_t e = 0; e < builder->num_etypes && bytes < most; e++) {
        if (!sampler_samples_etype(ask, e))
            continue;
        uint64_t edges = method->row_edges(batch_builder_term(builder, e), SAMPLE_ANY_DEGREE);
        edges = edges < most ? edges : most;
        uint64_t row = sizeof(uint32_t) + edges * (2 * sizeof(uint64_t) + sizeof(float));
        bytes += sizeof(struct msg_sample_answer) + 4 * sizeof(uint64_t);
        bytes += row * ask_list(ask, batch_builder_row_type(builder, e))->count;
    }
    return (size_t)(bytes < most ? bytes : most);
}

bool sampler_wants_samples(struct ask *ask)
{
    ask->call.reply_bytes = samples_bytes(ask);
    return ask->call.reply_bytes > 0;
}

int sampler_make_samples(const struct ask *ask, struct message **out)
{
    const struct batch_builder *builder = &ask->task->builder;
    struct actor *self = ask->task->sampler->self;
    uint32_t num_sections = put_sections(ask, NULL);
    uint64_t bytes = put_rows(ask, num_sections, NULL);
    struct message *request = bytes == 0 ? NULL : message_create(self, MSG_SAMPLE_REQUEST);
    struct msg_sample_section *sections = request == NULL
                                              ? NULL
                                              : message_body_alloc(self, request, bytes);
    if (sections == NULL) {
        message_release(self, request);
        return TR_ENOMEM;
    }
    put_sections(ask, sections);
    put_rows(ask, num_sections, sections);
    struct msg_sample_request *head = message_head(request);
    *head = (struct msg_sample_request){
        .draw = draw_of(&builder->key),
        .part = ask->part,
        .version = ask->task->loader->versions[ask->part],
        .num_sections = num_sections,
        .sampler = builder->plan->spec->kind,
        .row_fields = batch_builder_row_fields(builder),
        .edge_ids = builder->plan->edge_ids,
        .reply_bytes_max = reply_bytes_max(ask),
        .skip_sections = ask->sections_done,
        .skip_rows = ask->rows_done,
    };
    *out = request;
    return 0;
}

/* Nodes of the list that come before the position `end` of the node list. */
static uint32_t count_before(const struct batch_builder_list *list, uint32_t end)
{
    const uint32_t *positions = list->positions.data;
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (positions[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t sampler_rows_pieces(const struct ask *ask,
                             struct rows_piece pieces[BATCH_BUILDER_TABLES_MAX])
{
    const struct batch_builder *builder = &ask->task->builder;
    uint32_t count = 0;
    for (uint32_t table = 0; table < batch_builder_num_tables(builder); table++) {
        struct rows_piece *piece = &pieces[count];
        if (!batch_builder_table_rows(builder, ask->list, table, &piece->rows))
            continue;
        uint32_t with_rows = count_before(ask_list(ask, ask->list), piece->rows.num_rows);
        uint32_t left = with_rows > ask->at ? with_rows - ask->at : 0;
        piece->count = left < ask->piece ? left : ask->piece;
        count += piece->count > 0;
    }
    return count;
}

/* Bytes that a row takes in a reply, at most. */
static uint64_t piece_row_bytes(const struct rows_piece *piece)
{
    if (piece->rows.sparse == NULL)
        return piece->rows.row_bytes;
    struct sparse_form form = feature_sparse_form(piece->rows.sparse);
    return sparse_row_bytes_max(&form);
}

/* Makes ask->piece as large as a reply may be, and moves past types of which nothing is wanted. */
static uint32_t find_piece(struct ask *ask, struct rows_piece pieces[BATCH_BUILDER_TABLES_MAX])
{
    for (; ask->list < batch_builder_num_lists(&ask->task->builder); ask->list++, ask->at = 0) {
        ask->piece = ask_list(ask, ask->list)->count - ask->at;
        uint32_t count = ask->piece == 0 ? 0 : sampler_rows_pieces(ask, pieces);
        if (count == 0)
            continue;
        uint64_t row_bytes = 0, widened = 0, beside = 0;
        for (uint32_t i = 0; i < count; i++) {
            row_bytes += piece_row_bytes(&pieces[i]);
            beside += pieces[i].rows.sparse != NULL ? SPARSE_SECTION_BYTES : ROWS_ALIGN;
            widened += pieces[i].rows.row_bytes;
        }
        uint64_t most = reply_bytes_max(ask);
        uint64_t room = (most < ROWS_BYTES ? most : ROWS_BYTES) / (row_bytes + 1);
        room = room < WIDENED_BYTES / (widened + 1) ? room : WIDENED_BYTES / (widened + 1);
        room = room == 0 ? 1 : room;
        ask->piece = room < ask->piece ? (uint32_t)room : ask->piece;
        ask->call.reply_bytes = (size_t)(ask->piece * row_bytes + beside);
        return sampler_rows_pieces(ask, pieces);
    }
    return 0;
}

bool sampler_wants_rows(struct ask *ask)
{
    struct rows_piece pieces[BATCH_BUILDER_TABLES_MAX];
    return find_piece(ask, pieces) > 0;
}

int sampler_make_rows(const struct ask *ask, struct message **out)
{
    struct actor *self = ask->task->sampler->self;
    struct rows_piece pieces[BATCH_BUILDER_TABLES_MAX];
    uint32_t count = sampler_rows_pieces(ask, pieces);
    uint64_t bytes = count * sizeof(struct msg_rows_section);
    for (uint32_t i = 0; i < count; i++)
        bytes += i > 0 && pieces[i].count == pieces[i - 1].count
                     ? 0
                     : pieces[i].count * sizeof(uint32_t);
    struct message *request = message_create(self, MSG_ROWS_REQUEST);
    struct msg_rows_section *sections = request == NULL ? NULL
                                                        : message_body_alloc(self, request, bytes);
    if (sections == NULL) {
        message_release(self, request);
        return TR_ENOMEM;
    }
    const uint32_t *rows = (const uint32_t *)ask_list(ask, ask->list)->rows.data + ask->at;
    uint32_t *to = (uint32_t *)(sections + count);
    for (uint32_t i = 0; i < count; i++) {
        bool same = i > 0 && pieces[i].count == pieces[i - 1].count;
        sections[i] = (struct msg_rows_section){ pieces[i].rows.type, pieces[i].rows.table,
                                                 pieces[i].count, same };
        if (!same) {
            memcpy(to, rows, pieces[i].count * sizeof *rows);
            to += pieces[i].count;
        }
    }
    struct msg_rows_request *head = message_head(request);
    head->part = ask->part;
    head->version = ask->task->loader->versions[ask->part];
    head->num_sections = count;
    head->sparse = 1;
    *out = request;
    return 0;
}
