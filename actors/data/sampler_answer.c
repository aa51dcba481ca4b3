/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of servers, checked and copied to where the builder wants them. */
#include <inttypes.h>

#include "actors/data/sampler_state.h"
#include "actors/data/sparse_reply.h"
#include "graph/csr.h"
#include "graph/gather.h"
#include "schemas/body.h"

static int bad(const struct ask *ask, struct error *error, const char *what)
{
    return error_set(error, TR_EFORMAT, "partition %" PRIu32 " answered with %s", ask->part, what);
}

/* The edge type of the section that the ask stands at; num_etypes when all are answered. */
static uint32_t etype_at(const struct ask *ask)
{
    uint32_t left = ask->sections_done, e = 0;
    for (; e < ask->task->builder.num_etypes; e++)
        if (sampler_samples_etype(ask, e) && left-- == 0)
            break;
    return e;
}

static int take_section(struct ask *ask, const struct sample_answer *got, struct error *error)
{
    struct batch_builder *builder = &ask->task->builder;
    uint32_t etype = etype_at(ask);
    if (etype == builder->num_etypes)
        return bad(ask, error, "more edge types than were asked for");
    const struct batch_builder_piece piece = { .num_edges = got->num_edges,
                                               .counts = got->counts,
                                               .columns = got->columns,
                                               .wide_columns = got->wide_columns,
                                               .edge_ids = got->edge_ids,
                                               .edge_weights = got->edge_weights };
    int rv = batch_builder_add_answer(builder, etype, ask->part, got->num_rows, &piece, error);
    if (rv != 0)
        return rv;
    ask->rows_done += got->num_rows;
    if (ask->rows_done == ask_list(ask, batch_builder_row_type(builder, etype))->count) {
        ask->sections_done++;
        ask->rows_done = 0;
    }
    return 0;
}

int sampler_take_samples(struct ask *ask, struct message *reply, struct error *error)
{
    const struct msg_sample_reply *head = message_head(reply);
    uint32_t sections = ask->sections_done, rows = ask->rows_done;
    struct sample_reply_walk walk;
    struct sample_answer answer;
    int rv = sample_reply_begin(&walk, head, message_body(reply), reply->frame.body_bytes);
    while (rv == 0 && (rv = sample_reply_next(&walk, &answer)) == 1)
        rv = take_section(ask, &answer, error);
    if (rv != 0)
        return error->code != 0 ? rv : bad(ask, error, "a body of the wrong shape");
    bool all = etype_at(ask) == ask->task->builder.num_etypes;
    if (all)
        return 0;
    /* An answer that gets no further is refused too: it would be asked for again for ever. */
    if (head->done || (sections == ask->sections_done && rows == ask->rows_done))
        return bad(ask, error, "less than was asked for");
    return 1;
}

/* Rows of a table that is kept sparse, widened where the batch has them. */
static int take_sparse(struct body_reader *reader, const struct rows_piece *piece,
                       const uint32_t *positions)
{
    const struct batch_builder_rows *to = &piece->rows;
    const struct sparse_form form = feature_sparse_form(to->sparse);
    struct sparse_answer answer;
    int rv = rows_reply_next_sparse(reader, piece->count, &form, &answer);
    if (rv == 0 && answer.dense != NULL)
        scatter_rows(to->rows, positions, answer.dense, to->row_bytes, piece->count);
    else if (rv == 0)
        csr_widen_answer(to->rows, to->row_bytes, to->sparse->dtype, positions, answer.counts,
                         answer.columns, answer.values, piece->count);
    return rv;
}

int sampler_take_rows(struct ask *ask, struct message *reply, struct error *error)
{
    struct rows_piece pieces[BATCH_BUILDER_TABLES_MAX];
    uint32_t count = sampler_rows_pieces(ask, pieces);
    const uint32_t *positions = (const uint32_t *)ask_list(ask, ask->list)->positions.data +
                                ask->at;
    struct body_reader reader;
    int rv = rows_reply_begin(&reader, message_body(reply), reply->frame.body_bytes);
    for (uint32_t i = 0; i < count && rv == 0; i++) {
        const void *rows;
        if (pieces[i].rows.sparse != NULL) {
            rv = take_sparse(&reader, &pieces[i], positions);
            continue;
        }
        /* Rows are placed before the end of the body is checked: a wrong body fails the whole
         * batch, with what it wrote. */
        rv = rows_reply_next(&reader, pieces[i].count, pieces[i].rows.row_bytes, &rows);
        if (rv == 0)
            scatter_rows(pieces[i].rows.rows, positions, rows, pieces[i].rows.row_bytes,
                         pieces[i].count);
    }
    if (rv == 0)
        rv = rows_reply_end(&reader);
    if (rv != 0)
        return bad(ask, error, "rows of the wrong shape");
    ask->at += ask->piece;
    return 1;
}
