/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants:
 * - Row of look n lies at (n - 1) % LIVE_ROWS; the last LIVE_ROWS looks have one.
 * - Notice n, counted from 0, lies at n % LIVE_NOTICES, as the text of a JSON object.
 * - seen[p] is process p at the last look; before the first one there is none.
 */
#include "launch/web/live_history.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/json_text.h"

enum live_column {
    COLUMN_TIME,
    COLUMN_UP,
    COLUMN_ERA,
    COLUMN_EPOCH,
    COLUMN_STEP,
    COLUMN_LOSS,
    COLUMN_SCORE,
    COLUMN_SEEDS,
    COLUMN_MADE,
    COLUMN_TAKEN,
    COLUMN_SENT,
    COLUMN_MESSAGES,
    COLUMN_MAILBOX,
    COLUMN_QUEUED,
    COLUMNS,
};

static const char *const NAMES[COLUMNS] = {
    [COLUMN_TIME] = "time_ms",
    [COLUMN_UP] = "up",
    [COLUMN_ERA] = "era",
    [COLUMN_EPOCH] = "epoch",
    [COLUMN_STEP] = "step",
    [COLUMN_LOSS] = "loss",
    [COLUMN_SCORE] = "score",
    [COLUMN_SEEDS] = "seeds_per_second",
    [COLUMN_MADE] = "batches_made_per_second",
    [COLUMN_TAKEN] = "batches_taken_per_second",
    [COLUMN_SENT] = "bytes_sent_per_second",
    [COLUMN_MESSAGES] = "mailbox_messages",
    [COLUMN_MAILBOX] = "mailbox_bytes",
    [COLUMN_QUEUED] = "queued_bytes",
};

struct live_row {
    double values[COLUMNS]; /* NaN: not known */
};

/* What of a process is compared with its next look. */
struct live_process {
    bool up;
    uint32_t incarnation, restarts; /* of when it was up last */
    uint64_t at_ns, sent, made, taken;
    double sent_rate, made_rate, taken_rate; /* between its last two answers */
};

struct live_notice {
    uint64_t look;
    char *json;
    bool checkpoint;
};

struct live_history {
    uint64_t looks, num_notices;
    struct live_row rows[LIVE_ROWS];
    struct live_notice notices[LIVE_NOTICES];
    struct live_process *seen; /* [num_processes] */
    uint32_t num_processes;
    struct tr_job_status job; /* of the last look, without its name */
    bool ended;
    const char *outcome; /* NULL: it is not known */
};

struct live_history *live_history_create(void)
{
    return calloc(1, sizeof(struct live_history));
}

void live_history_destroy(struct live_history *history)
{
    if (history == NULL)
        return;
    for (uint32_t i = 0; i < LIVE_NOTICES; i++)
        free(history->notices[i].json);
    free(history->seen);
    free(history);
}

uint64_t live_history_last(const struct live_history *history)
{
    return history->looks;
}

/* A notice that there is no memory for is left out: the figures say the same. Takes the document. */
static void history_note(struct live_history *history, uint64_t time_ms, const char *what,
                         json_t *notice)
{
    json_object_set_new(notice, "time_ms", json_integer((json_int_t)time_ms));
    json_object_set_new(notice, "what", json_string(what));
    char *text = json_write_text(notice, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(notice);
    if (text == NULL)
        return;
    /* Of checkpoints in a row the last one stays, or they would push everything else out. */
    const bool checkpoint = strcmp(what, "checkpoint") == 0;
    if (checkpoint && history->num_notices > 0 &&
        history->notices[(history->num_notices - 1) % LIVE_NOTICES].checkpoint)
        history->num_notices--;
    struct live_notice *at = &history->notices[history->num_notices++ % LIVE_NOTICES];
    free(at->json);
    *at = (struct live_notice){ history->looks, text, checkpoint };
}

/* A text that is no UTF-8 is left out of its notice. */
static json_t *process_notice_json(uint32_t process, const struct tr_process_status *line)
{
    return json_pack("{s:I, s:s*, s:s*}", "process", (json_int_t)process, "host", line->host,
                     "roles", line->roles);
}

static void note_process(struct live_history *history, uint64_t time_ms, uint32_t process,
                         const struct tr_process_status *line)
{
    struct live_process *seen = &history->seen[process];
    if (seen->up && !line->up) {
        json_t *notice = process_notice_json(process, line);
        json_object_set_new(notice, "why", json_string(line->why));
        history_note(history, time_ms, "down", notice);
    }
    if (line->up && seen->incarnation != 0 &&
        (!seen->up || line->incarnation != seen->incarnation)) {
        json_t *notice = process_notice_json(process, line);
        bool again = line->incarnation != seen->incarnation;
        json_object_set_new(notice, "incarnation", json_integer((json_int_t)line->incarnation));
        history_note(history, time_ms, again ? "restarted" : "up", notice);
    }
    if (line->up && seen->incarnation == line->incarnation && line->restarts > seen->restarts) {
        json_t *notice = process_notice_json(process, line);
        json_object_set_new(notice, "restarts", json_integer((json_int_t)line->restarts));
        history_note(history, time_ms, "actors restarted", notice);
    }
}

/* Whether the last step of the last epoch was taken, as far as anybody said. */
static bool is_complete(const struct tr_job_status *job)
{
    return job->epochs != 0 && job->steps != 0 && job->epoch >= job->epochs &&
           job->step >= job->steps;
}

static void note_job(struct live_history *history, uint64_t time_ms,
                     const struct tr_job_status *job)
{
    const struct tr_job_status *before = &history->job;
    if (history->looks > 1 && job->num_up > 0 && job->era > before->era && before->era > 0)
        history_note(history, time_ms, "era", json_pack("{s:I}", "era", (json_int_t)job->era));
    if (job->has_checkpoint && (!before->has_checkpoint || job->checkpoint != before->checkpoint))
        history_note(history, time_ms, "checkpoint",
                     json_pack("{s:I}", "step", (json_int_t)job->checkpoint));
}

/* What nobody knows any more, since nobody answers, stays as it was. */
static void note_end(struct live_history *history, uint64_t time_ms,
                     const struct tr_job_status *job)
{
    if (job->num_up > 0) {
        history->job = *job;
        history->job.name = NULL;
        history->ended = false;
    } else if (history->job.num_up > 0 && !history->ended) {
        history->ended = true;
        if (history->outcome != NULL)
            return;
        history_note(history, time_ms, is_complete(&history->job) ? "complete" : "silent",
                     json_object());
    }
}

void live_history_outcome(struct live_history *history, uint64_t time_ms, const char *outcome)
{
    if (outcome != NULL && history->outcome == NULL && history->looks > 1)
        history_note(history, time_ms, outcome, json_object());
    history->outcome = outcome;
}

static double history_rate(uint64_t now, uint64_t before, double seconds)
{
    return now >= before && seconds > 0 ? (double)(now - before) / seconds : 0;
}

/* Looks and answers each come once a second, and not in step: where no answer came since the last
 * look, the rates are as they were. */
static void see_process(struct live_process *seen, const struct tr_process_status *line)
{
    bool same = seen->up && seen->incarnation == line->incarnation;
    if (!line->up || (same && line->at_ns == seen->at_ns)) {
        seen->up = line->up;
        return;
    }
    double seconds = same ? (double)(line->at_ns - seen->at_ns) / 1e9 : 0;
    *seen = (struct live_process){
        .up = true,
        .incarnation = line->incarnation,
        .restarts = line->restarts,
        .at_ns = line->at_ns,
        .sent = line->sent_bytes,
        .made = line->batches_made,
        .taken = line->batches_taken,
        .sent_rate = history_rate(line->sent_bytes, seen->sent, seconds),
        .made_rate = history_rate(line->batches_made, seen->made, seconds),
        .taken_rate = history_rate(line->batches_taken, seen->taken, seconds)
    };
}

static void add_process(struct live_row *row, const struct live_process *seen,
                        const struct tr_process_status *line)
{
    double *values = row->values;
    if (!line->up)
        return;
    values[COLUMN_MADE] += seen->made_rate;
    values[COLUMN_TAKEN] += seen->taken_rate;
    values[COLUMN_SENT] += seen->sent_rate;
    values[COLUMN_MESSAGES] += (double)line->mailbox_messages;
    values[COLUMN_MAILBOX] += (double)line->mailbox_bytes;
    values[COLUMN_QUEUED] += (double)line->queued_bytes;
}

int live_history_add(struct live_history *history, const struct tr_job_status *job,
                     const struct tr_process_status *processes, uint64_t time_ms)
{
    if (history->seen == NULL) {
        history->seen = calloc(job->num_processes + (size_t)1, sizeof *history->seen);
        if (history->seen == NULL)
            return TR_ENOMEM;
        history->num_processes = job->num_processes;
    }
    struct live_row *row = &history->rows[history->looks++ % LIVE_ROWS];
    *row = (struct live_row){ .values = { [COLUMN_TIME] = (double)time_ms,
                                          [COLUMN_UP] = job->num_up,
                                          [COLUMN_ERA] = job->era,
                                          [COLUMN_EPOCH] = job->epoch,
                                          [COLUMN_STEP] = (double)job->step,
                                          [COLUMN_LOSS] = job->has_loss ? job->loss : NAN,
                                          [COLUMN_SCORE] = job->has_score ? job->score : NAN,
                                          [COLUMN_SEEDS] = job->seeds_per_s } };
    for (uint32_t p = 0; p < job->num_processes && p < history->num_processes; p++) {
        note_process(history, time_ms, p, &processes[p]);
        see_process(&history->seen[p], &processes[p]);
        add_process(row, &history->seen[p], &processes[p]);
    }
    note_job(history, time_ms, job);
    note_end(history, time_ms, job);
    return 0;
}

static void write_row(const struct live_row *row, FILE *out)
{
    for (int c = 0; c < COLUMNS; c++) {
        fputc(c == 0 ? '[' : ',', out);
        if (isfinite(row->values[c]))
            fprintf(out, c == COLUMN_TIME ? "%.0f" : "%.7g", row->values[c]);
        else
            fputs("null", out);
    }
    fputc(']', out);
}

void live_history_write(const struct live_history *history, uint64_t seen, FILE *out)
{
    uint64_t first = history->looks > LIVE_ROWS ? history->looks - LIVE_ROWS : 0;
    uint64_t oldest = history->num_notices > LIVE_NOTICES ? history->num_notices - LIVE_NOTICES : 0;
    const char *between = "";
    if (seen > history->looks)
        seen = 0;
    fputs("\"columns\":[", out);
    for (int c = 0; c < COLUMNS; c++)
        fprintf(out, "%s\"%s\"", c == 0 ? "" : ",", NAMES[c]);
    fputs("],\"rows\":[", out);
    for (uint64_t look = seen > first ? seen : first; look < history->looks; look++) {
        fputs(between, out);
        write_row(&history->rows[look % LIVE_ROWS], out);
        between = ",";
    }
    fputs("],\"notices\":[", out);
    between = "";
    for (uint64_t n = oldest; n < history->num_notices; n++) {
        const struct live_notice *notice = &history->notices[n % LIVE_NOTICES];
        if (notice->look <= seen)
            continue;
        fprintf(out, "%s%s", between, notice->json);
        between = ",";
    }
    fputc(']', out);
}
