/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reducer beside a coordinator, and the store of a second host, that answer as a script says:
 * what each question holds and how often it comes, and what each answer means for the trainer.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/common/error_reply.h"
#include "actors/common/process_member.h"
#include "actors/job/checkpoint_store.h"
#include "actors/job/coordinator.h"
#include "actors/job/reducer.h"
#include "runtime/base/crc32c.h"
#include "runtime/base/files.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/timer.h"
#include "schemas/messages.h"
#include "tests/actors/asker.h"
#include "tests/scratch.h"

#define MS UINT64_C(1000000)
#define RANK 1u
#define WORLD 2u
#define ERA 4u
#define KEEP 3u
#define QUESTIONS_MAX 24
#define JOINS_MAX 4
#define SHORT_NS (20 * MS)
#define HEAD_MAX 128
#define BODY_MAX 64

enum how { TRUTH, REFUSED, ERROR_TEXT, OTHER_KIND, HELD, OUTCOME };

struct answer {
    enum how how;
    int code;             /* of a refusal, or of an outcome */
    const char *text;     /* of an error */
    uint64_t sequence;    /* of an outcome */
    uint32_t era, world;  /* of a restore; 0: ERA, WORLD */
    bool no_era;          /* era 0 */
    bool found;           /* a checkpoint of step 9, saved in era 3; or a part */
    uint64_t offset_more; /* of a piece: added */
    uint32_t count_less;
    bool changed;    /* a byte of the piece */
    bool then_short; /* of memory, for SHORT_NS */
};

struct question {
    uint32_t kind;
    bool called; /* not only sent */
    _Alignas(8) unsigned char head[HEAD_MAX];
    uint64_t body_bytes;
    char body[BODY_MAX + 1]; /* its end */
};

struct stage {
    struct asker asker;
    struct reducer_options options;
    struct plan plan;
    struct plan_process processes[2];
    struct address coordinator, reducer;
    char folder[64];
    const struct answer *answers;
    size_t num_answers, at;
    struct question questions[QUESTIONS_MAX];
    size_t num_questions;
    struct msg_join joins[JOINS_MAX];
    size_t num_joins;
    unsigned char *part; /* of a checkpoint */
    uint64_t part_bytes;
    struct message *held;
    struct address holder;
    bool go; /* the held question is answered */
    struct timer timer, memory;
};

static void note_question(struct stage *s, const struct message *message)
{
    assert_true(s->num_questions < QUESTIONS_MAX);
    struct question *question = &s->questions[s->num_questions++];
    uint64_t bytes = message->frame.body_bytes, kept = bytes < BODY_MAX ? bytes : BODY_MAX;
    *question = (struct question){ .kind = message->frame.kind,
                                   .called = (message->frame.flags & MESSAGE_REQUEST) != 0,
                                   .body_bytes = bytes };
    assert_true(message->frame.head_bytes <= HEAD_MAX);
    memcpy(question->head, message->head, message->frame.head_bytes);
    if (kept > 0)
        memcpy(question->body, (const char *)message_body(message) + bytes - kept, kept);
}

static struct message *answer_restore(struct actor *self, const struct stage *s,
                                      const struct answer *answer)
{
    uint32_t world = answer->world != 0 ? answer->world : WORLD;
    struct message *reply = message_create(self, MSG_RESTORED);
    struct address *peers = message_body_alloc(self, reply, world * sizeof *peers);
    memset(peers, 0, world * sizeof *peers);
    struct msg_restored *head = message_head(reply);
    *head = (struct msg_restored){ .era = answer->no_era     ? 0
                                          : answer->era != 0 ? answer->era
                                                             : ERA,
                                   .world = world };
    if (answer->found) {
        head->found = 1;
        head->step = 9;
        head->saved = 3;
        head->bytes = s->part_bytes;
        head->crc32c = crc32c(0, s->part, s->part_bytes);
    }
    return reply;
}

static struct message *answer_fetch(struct actor *self, const struct stage *s,
                                    const struct msg_checkpoint_fetch *asked,
                                    const struct answer *answer)
{
    uint64_t left = s->part_bytes - asked->offset;
    uint64_t count = left < MSG_CHECKPOINT_PIECE_MAX ? left : MSG_CHECKPOINT_PIECE_MAX;
    count -= answer->count_less;
    struct message *reply = message_create(self, MSG_CHECKPOINT_PIECE);
    unsigned char *body = message_body_alloc(self, reply, count);
    memcpy(body, s->part + asked->offset, count);
    if (answer->changed)
        body[count - 1] ^= 1;
    *(struct msg_checkpoint_piece *)message_head(reply) = (struct msg_checkpoint_piece){
        .offset = asked->offset + answer->offset_more, .count = (uint32_t)count
    };
    return reply;
}

static void answer_well(struct actor *self, const struct stage *s, struct message *request,
                        const struct answer *answer)
{
    const void *asked = request->head;
    struct message *reply;
    switch (request->frame.kind) {
    case MSG_RESTORE:
        reply = answer_restore(self, s, answer);
        break;
    case MSG_BARRIER:
        reply = message_create(self, MSG_BARRIER_DONE);
        *(struct msg_barrier_done *)message_head(reply) = (struct msg_barrier_done){
            .name = ((const struct msg_barrier *)asked)->name,
            .sequence = answer->how == OUTCOME ? answer->sequence
                                               : ((const struct msg_barrier *)asked)->sequence,
            .era = ERA,
            .status = answer->code,
        };
        break;
    case MSG_CHECKPOINT_PART:
        reply = message_create(self, MSG_CHECKPOINT_DONE);
        break;
    case MSG_CHECKPOINT_FETCH:
        reply = answer_fetch(self, s, asked, answer);
        break;
    case MSG_CHECKPOINT_COPY:
        reply = message_create(self, MSG_CHECKPOINT_COPIED);
        break;
    case MSG_JOB_DONE:
        reply = message_copy(self, request);
        break;
    default:
        reply = message_create(self, MSG_CHECKPOINT_SEEN);
        ((struct msg_checkpoint_seen *)message_head(reply))->found = answer->found;
        break;
    }
    actor_reply(self, request, reply);
}

static void have_memory_again(struct actor *self, void *arg)
{
    const struct stage *s = arg;
    (void)self;
    env_sim_set_alloc_fail(s->asker.env, 0);
}

static int answer_as_told(struct actor *self, struct message *request)
{
    static const struct answer truth = { .how = TRUTH };
    struct stage *s = actor_state(self);
    struct error error = { 0 };
    if (request->frame.kind == MSG_JOIN) {
        assert_true(s->num_joins < JOINS_MAX);
        memcpy(&s->joins[s->num_joins++], message_head(request), sizeof *s->joins);
        struct message *reply = message_create(self, MSG_JOINED);
        return actor_reply(self, request, reply);
    }
    note_question(s, request);
    if ((request->frame.flags & MESSAGE_REQUEST) == 0) {
        message_release(self, request);
        return 0;
    }
    const struct answer *answer = s->at < s->num_answers ? &s->answers[s->at++] : &truth;
    switch (answer->how) {
    case REFUSED:
        actor_refuse(self, request, answer->code);
        break;
    case ERROR_TEXT:
        error_set(&error, answer->code, "%s", answer->text);
        error_reply_send(self, request, &error);
        break;
    case OTHER_KIND:
        actor_reply(self, request, message_create(self, MSG_GROUP_REPLY));
        break;
    case HELD:
        assert_null(s->held);
        s->held = request;
        s->holder = actor_address(self);
        break;
    default:
        answer_well(self, s, request, answer);
        break;
    }
    /* The answer was made by now: it is the reducer that finds no memory. */
    if (answer->then_short) {
        env_sim_set_alloc_fail(s->asker.env, 1000000);
        timer_start(self, &s->memory, actor_now_ns(self) + SHORT_NS, have_memory_again, s);
    }
    return 0;
}

static int start_coordinator(struct actor *self, const void *arg)
{
    struct stage *s = (struct stage *)(uintptr_t)arg;
    actor_set_state(self, s);
    s->coordinator = actor_address(self);
    return directory_register(self, COORDINATOR_NAME, NULL, NULL);
}

/* The question that is held is answered when the test says so. */
static void look_at_held(struct actor *self, void *arg)
{
    static const struct answer found = { .found = true };
    struct stage *s = arg;
    if (s->go && s->held != NULL) {
        struct message *held = s->held;
        s->held = NULL;
        answer_well(self, s, held, &found);
    }
    timer_start(self, &s->timer, actor_now_ns(self) + MS, look_at_held, s);
}

static int start_store(struct actor *self, const void *arg)
{
    actor_set_state(self, (void *)(uintptr_t)arg);
    look_at_held(self, (void *)(uintptr_t)arg);
    return directory_register(self, CHECKPOINT_STORE_NAME, NULL, NULL);
}

static void release_held(struct actor *self)
{
    struct stage *s = actor_state(self);
    if (s->held == NULL || !address_equal(s->holder, actor_address(self)))
        return;
    message_release(self, s->held);
    s->held = NULL;
}

static const struct actor_ops coordinator_script = { .name = "coordinator",
                                                     .start = start_coordinator,
                                                     .receive = answer_as_told,
                                                     .fini = release_held };
static const struct actor_ops store_script = {
    .name = "store", .start = start_store, .receive = answer_as_told, .fini = release_held
};

/* second_host: the trainer is said to run on a host that has no process here, and this process is
 * the other host, which keeps copies for it. */
static void open_stage(struct stage *s, const struct answer *answers, size_t num_answers,
                       bool second_host)
{
    *s = (struct stage){ .answers = answers, .num_answers = num_answers };
    assert_non_null(scratch_folder(s->folder, sizeof s->folder, "asks"));
    s->options = (struct reducer_options){ .rank = RANK,
                                           .world = WORLD,
                                           .files = files_posix,
                                           .checkpoints = s->folder,
                                           .checkpoint_keep = KEEP };
    s->processes[0] = (struct plan_process){ .host = 0, .trainers = { 0, WORLD } };
    s->processes[1] = (struct plan_process){ .host = 1 };
    s->plan = (struct plan){ .num_processes = 2,
                             .num_hosts = 2,
                             .trainers = WORLD,
                             .coordinator = 1, /* the node of an asker */
                             .processes = s->processes };
    if (second_host)
        s->options.plan = &s->plan;
    asker_open(&s->asker, 7, true);
    const struct actor_options coordinator = { .ops = &coordinator_script,
                                               .arg = s,
                                               .restart = ACTOR_RESTART_ON_FAILURE };
    assert_int_equal(node_spawn(s->asker.node, &coordinator, &s->asker.to), 0);
    if (second_host)
        asker_spawn(&s->asker, &store_script, s);
    asker_spawn(&s->asker, &reducer_ops, &s->options);
    s->reducer = s->asker.to;
}

static void close_stage(struct stage *s)
{
    asker_close(&s->asker);
    free(s->part);
    assert_int_equal(files_remove_tree(files_posix, s->folder, NULL), 0);
}

static void run_for(struct stage *s, uint64_t ns)
{
    struct env *env = s->asker.env;
    (void)env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + ns);
}

static void make_part(struct stage *s, uint64_t bytes)
{
    s->part = malloc(bytes + 1);
    assert_non_null(s->part);
    s->part_bytes = bytes;
    for (uint64_t i = 0; i < bytes; i++)
        s->part[i] = (unsigned char)(i * 7 + i / 251);
}

static int ask(struct stage *s, uint32_t operation, uint64_t value, uint64_t count)
{
    const struct msg_group_request head = { .operation = operation,
                                            .value = value,
                                            .count = count,
                                            .number = operation == MSG_GROUP_SAVE ? value : 0,
                                            .timeout_ns = ENV_SECOND_NS };
    bool saves = operation == MSG_GROUP_SAVE;
    return asker_ask(&s->asker, MSG_GROUP_REQUEST, &head, sizeof head, saves ? s->part : NULL,
                     saves ? count : 0);
}

/* Asks, and is answered well: the head of the answer. */
static const struct msg_group_reply *ask_well(struct stage *s, uint32_t operation, uint64_t value,
                                              uint64_t count)
{
    int rv = ask(s, operation, value, count);
    if (rv != 0 || s->asker.reply_kind != MSG_GROUP_REPLY)
        fail_msg("operation %" PRIu32 ": %s, kind %" PRIu32 ": %.*s", operation, tr_error_name(rv),
                 s->asker.reply_kind, (int)s->asker.reply_bytes, (const char *)s->asker.reply);
    return (const void *)s->asker.reply_head;
}

static void expect_error(const struct stage *s, int code, const char *text)
{
    const struct msg_error_reply *reply = (const void *)s->asker.reply_head;
    assert_int_equal(s->asker.reply_kind, MSG_ERROR_REPLY);
    assert_int_equal(reply->code, code);
    assert_true(s->asker.reply_bytes >= strlen(text));
    assert_memory_equal(s->asker.reply, text, strlen(text));
}

/* The question of that number, which must be of that kind. */
static const void *question_of(const struct stage *s, size_t number, uint32_t kind)
{
    assert_true(number < s->num_questions);
    assert_int_equal(s->questions[number].kind, kind);
    return s->questions[number].head;
}

static void expect_questions(const struct stage *s, size_t count)
{
    if (s->num_questions != count)
        fail_msg("%zu questions, the last of kind %" PRIu32, s->num_questions,
                 s->num_questions == 0 ? 0 : s->questions[s->num_questions - 1].kind);
}

static void questions_hold_what_the_trainer_asked(void **unused)
{
    (void)unused;
    static const struct answer answers[] = {
        { 0 }, { 0 }, { 0 }, { .how = ERROR_TEXT, .code = TR_EIO, .text = "there is none" }
    };
    struct stage s;
    open_stage(&s, answers, sizeof answers / sizeof *answers, false);
    make_part(&s, 20);
    uint32_t sum = crc32c(0, s.part, 20), path_bytes = (uint32_t)strlen(s.folder);

    const struct msg_group_reply *reply = ask_well(&s, MSG_GROUP_RESTORE, 0, 0);
    assert_int_equal(reply->era, ERA);
    assert_int_equal(reply->found, 0);
    assert_int_equal(reply->step, 0);
    const struct msg_restore *restore = question_of(&s, 0, MSG_RESTORE);
    assert_int_equal(restore->rank, RANK);
    assert_int_equal(restore->world, WORLD);
    assert_int_equal(restore->keep, KEEP);
    assert_int_equal(restore->path_bytes, path_bytes);
    assert_int_equal(s.questions[0].body_bytes, path_bytes);
    assert_string_equal(s.questions[0].body, s.folder);

    assert_int_equal(ask_well(&s, MSG_GROUP_BARRIER, 77, 1)->era, ERA);
    const struct msg_barrier *barrier = question_of(&s, 1, MSG_BARRIER);
    assert_int_equal(barrier->name, 77);
    assert_int_equal(barrier->sequence, 1);
    assert_int_equal(barrier->rank, RANK);
    assert_int_equal(barrier->count, WORLD);
    assert_int_equal(barrier->era, ERA);
    assert_int_equal(s.questions[1].body_bytes, 0);
    /* This one was passed, however often it is called; the next one was not. */
    assert_int_equal(ask_well(&s, MSG_GROUP_BARRIER, 77, 1)->era, ERA);
    expect_questions(&s, 2);

    assert_int_equal(ask_well(&s, MSG_GROUP_SAVE, 12, 20)->step, 12);
    const struct msg_checkpoint_part *part = question_of(&s, 2, MSG_CHECKPOINT_PART);
    assert_int_equal(part->step, 12);
    assert_int_equal(part->bytes, 20);
    assert_int_equal(part->crc32c, sum);
    assert_int_equal(part->sequence, 1);
    assert_int_equal(part->era, ERA);
    assert_int_equal(part->rank, RANK);
    assert_int_equal(part->world, WORLD);
    assert_int_equal(part->keep, KEEP);
    assert_int_equal(part->status, 0);
    assert_int_equal(part->path_bytes, path_bytes);
    assert_string_equal(s.questions[2].body, s.folder);
    /* The same save again has the answer already; nobody is asked. */
    assert_int_equal(ask_well(&s, MSG_GROUP_SAVE, 12, 20)->step, 12);
    expect_questions(&s, 3);

    assert_int_equal(ask(&s, MSG_GROUP_SKIP, 13, (uint64_t)(int64_t)TR_EIO), 0);
    expect_error(&s, TR_EIO, "trainer 1 saves no part of the checkpoint of step 13: ");
    part = question_of(&s, 3, MSG_CHECKPOINT_PART);
    assert_int_equal(part->step, 13);
    assert_int_equal(part->bytes, 0);
    assert_int_equal(part->sequence, 2);
    assert_int_equal(part->status, TR_EIO);

    ask_well(&s, MSG_GROUP_FINISH, 0, 0);
    const struct msg_job_done *done = question_of(&s, 4, MSG_JOB_DONE);
    assert_true(s.questions[4].called);
    assert_int_equal(done->code, 0);
    assert_int_equal(done->rank, RANK);
    assert_int_equal(done->complete, 0);
    run_for(&s, MS);
    done = question_of(&s, 5, MSG_JOB_DONE); /* that it knows of the end */
    assert_false(s.questions[5].called);
    assert_int_equal(done->code, 0);
    assert_int_equal(done->rank, RANK);
    expect_questions(&s, 6);
    close_stage(&s);
}

static int kill_coordinator(struct actor *self, const void *arg)
{
    const struct stage *s = arg;
    return actor_kill(self, s->coordinator, TR_EIO);
}

static int drop(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops killer_ops = { .name = "killer",
                                             .start = kill_coordinator,
                                             .receive = drop };

/* Another coordinator comes in its place, which the reducer joins. */
static void restart_coordinator(struct stage *s)
{
    size_t joins = s->num_joins;
    asker_spawn(&s->asker, &killer_ops, s);
    s->asker.to = s->reducer;
    run_for(s, ENV_SECOND_NS);
    assert_int_equal(s->num_joins, joins + 1);
}

/* A barrier that timed out takes with it those that the coordinator says, this one at least; and
 * the next coordinator hears of all of it. */
static void barriers_are_counted_by_their_outcomes(void **unused)
{
    (void)unused;
    static const struct answer answers[] = {
        { 0 },
        { .how = OUTCOME, .code = TR_ETIMEDOUT, .sequence = 3 },
        { .how = OUTCOME, .code = TR_ETIMEDOUT, .sequence = 2 },
        { .how = OUTCOME, .sequence = 5 },
        { .how = OUTCOME, .code = TR_ETIMEDOUT, .sequence = 5 },
        { .how = OUTCOME, .code = TR_ETIMEDOUT, .sequence = 7 },
        { 0 },
    };
    static const struct {
        int status;
        uint64_t sequence; /* that is asked for */
    } wanted[] = {
        { TR_ETIMEDOUT, 1 }, { TR_ETIMEDOUT, 4 }, { 0, 5 },
        { TR_ETIMEDOUT, 6 }, { TR_ETIMEDOUT, 7 }, { 0, 8 },
    };
    struct stage s;
    open_stage(&s, answers, sizeof answers / sizeof *answers, false);
    ask_well(&s, MSG_GROUP_RESTORE, 0, 0);
    assert_int_equal(s.num_joins, 1);
    assert_int_equal(s.joins[0].role, MSG_ROLE_REDUCER);
    assert_int_equal(s.joins[0].rank, RANK);
    assert_int_equal(s.joins[0].era, 0);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_int_equal(ask(&s, MSG_GROUP_BARRIER, 100 + i, 0), wanted[i].status);
        const struct msg_barrier *asked = question_of(&s, 1 + i, MSG_BARRIER);
        assert_int_equal(asked->sequence, wanted[i].sequence);
        assert_int_equal(asked->name, 100 + i);
        if (i < 3 || i == 5) {
            bool first = i < 2;
            restart_coordinator(&s);
            const struct msg_join *join = &s.joins[s.num_joins - 1];
            assert_int_equal(join->era, ERA);
            assert_int_equal(join->seen, ERA);
            assert_int_equal(join->passed_sequence, first ? 0 : i == 2 ? 5 : 8);
            assert_int_equal(join->passed_name, first ? 0 : 100 + i);
            assert_int_equal(join->over_sequence, i == 0 ? 3 : i == 1 ? 4 : i == 2 ? 5 : 8);
            assert_int_equal(join->over_name, 100 + i);
            s.num_joins = 1;
        }
    }
    expect_questions(&s, 7);
    close_stage(&s);
}

/* An error with a text, and a refusal by its code alone. */
#define TEXT(code_, text_)                                  \
    {                                                       \
        .how = ERROR_TEXT, .code = (code_), .text = (text_) \
    }
#define CODE(code_)                     \
    {                                   \
        .how = REFUSED, .code = (code_) \
    }

/* One operation, and what becomes of it where its first question, or the first two, are answered
 * so. */
struct refusal {
    uint32_t operation;
    uint64_t value, count;
    bool restored; /* before */
    struct answer answers[3];
    int status;       /* of the call */
    int code;         /* of an error reply */
    const char *text; /* of that; NULL: the operation succeeds, or its call fails */
    size_t questions; /* of the operation */
};

static void a_refusal_passes_or_is_the_trainers(void **unused)
{
    (void)unused;
    static const struct refusal cases[] = {
        { .operation = MSG_GROUP_RESTORE,
          .answers = { TEXT(TR_EMISMATCH, "of another world") },
          .code = TR_EMISMATCH,
          .text = "of another world",
          .questions = 1 },
        { .operation = MSG_GROUP_RESTORE,
          .answers = { CODE(TR_EINVAL) },
          .status = TR_EINVAL,
          .questions = 1 },
        { .operation = MSG_GROUP_RESTORE, .answers = { CODE(TR_EROLLBACK) }, .questions = 2 },
        { .operation = MSG_GROUP_RESTORE, .answers = { TEXT(TR_EFULL, "busy") }, .questions = 2 },
        { .operation = MSG_GROUP_RESTORE,
          .answers = { CODE(TR_ETIMEDOUT), CODE(TR_ENOMEM) },
          .questions = 3 },
        { .operation = MSG_GROUP_RESTORE,
          .answers = { { .how = OTHER_KIND } },
          .status = TR_EFORMAT,
          .questions = 1 },
        { .operation = MSG_GROUP_RESTORE,
          .answers = { { .world = WORLD + 1 } },
          .status = TR_EMISMATCH,
          .questions = 1 },
        { .operation = MSG_GROUP_RESTORE,
          .answers = { { .no_era = true } },
          .status = TR_EMISMATCH,
          .questions = 1 },
        { .operation = MSG_GROUP_BARRIER,
          .restored = true,
          .answers = { TEXT(TR_EROLLBACK, "a rank died") },
          .status = TR_EROLLBACK,
          .questions = 1 },
        { .operation = MSG_GROUP_BARRIER,
          .restored = true,
          .answers = { CODE(TR_EFULL) },
          .questions = 2 },
        /* It timed out at the coordinator, whose word for that is asked for. */
        { .operation = MSG_GROUP_BARRIER,
          .restored = true,
          .answers = { CODE(TR_ETIMEDOUT) },
          .questions = 2 },
        { .operation = MSG_GROUP_BARRIER,
          .restored = true,
          .answers = { CODE(TR_ETIMEDOUT), CODE(TR_ETIMEDOUT) },
          .status = TR_ETIMEDOUT,
          .questions = 2 },
        { .operation = MSG_GROUP_BARRIER,
          .restored = true,
          .answers = { TEXT(TR_EMISMATCH, "of another name") },
          .code = TR_EMISMATCH,
          .text = "of another name",
          .questions = 1 },
        { .operation = MSG_GROUP_BARRIER,
          .restored = true,
          .answers = { { .how = OTHER_KIND } },
          .status = TR_EFORMAT,
          .questions = 1 },
        { .operation = MSG_GROUP_SAVE,
          .value = 12,
          .count = 20,
          .restored = true,
          .answers = { TEXT(TR_ENOSPC, "no room") },
          .code = TR_ENOSPC,
          .text = "no room",
          .questions = 1 },
        { .operation = MSG_GROUP_SAVE,
          .value = 12,
          .count = 20,
          .restored = true,
          .answers = { CODE(TR_EIO) },
          .code = TR_EIO,
          .text = "a checkpoint: ",
          .questions = 1 },
        { .operation = MSG_GROUP_SAVE,
          .value = 12,
          .count = 20,
          .restored = true,
          .answers = { CODE(TR_ECLOSED) },
          .questions = 2 },
        { .operation = MSG_GROUP_SAVE,
          .value = 12,
          .count = 20,
          .restored = true,
          .answers = { CODE(TR_EROLLBACK) },
          .status = TR_EROLLBACK,
          .questions = 1 },
        /* The end of an era takes that back for one that is done, and not for one that has written
         * the job's result. The second question of the latter tells that the end is known. */
        { .operation = MSG_GROUP_FINISH,
          .restored = true,
          .answers = { CODE(TR_EROLLBACK) },
          .status = TR_EROLLBACK,
          .questions = 1 },
        { .operation = MSG_GROUP_FINISH,
          .value = 0,
          .count = 1,
          .restored = true,
          .answers = { CODE(TR_EROLLBACK) },
          .questions = 3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct refusal *c = &cases[i];
        struct stage s;
        open_stage(&s, NULL, 0, false);
        make_part(&s, 20);
        if (c->restored)
            ask_well(&s, MSG_GROUP_RESTORE, 0, 0);
        s.answers = c->answers;
        s.num_answers = sizeof c->answers / sizeof *c->answers;
        s.at = 0;
        s.num_questions = 0;
        int rv = ask(&s, c->operation, c->value, c->count);
        if (rv != c->status)
            fail_msg("case %zu: %s instead of %s", i, tr_error_name(rv), tr_error_name(c->status));
        if (c->text != NULL)
            expect_error(&s, c->code, c->text);
        else if (rv == 0 && s.asker.reply_kind != MSG_GROUP_REPLY)
            fail_msg("case %zu: kind %" PRIu32, i, s.asker.reply_kind);
        run_for(&s, MS);
        if (s.num_questions != c->questions)
            fail_msg("case %zu: %zu questions", i, s.num_questions);
        if (c->operation == MSG_GROUP_FINISH && c->count > 0)
            assert_int_equal(
                ((const struct msg_job_done *)question_of(&s, 1, MSG_JOB_DONE))->complete, 1);
        if (c->status == TR_EROLLBACK) {
            /* The era is over for this rank: nothing more of it is done. */
            assert_int_equal(ask(&s, MSG_GROUP_BARRIER, 1, 0), 0);
            expect_error(&s, TR_EROLLBACK, "trainer 1 is not in an era of its group");
        }
        close_stage(&s);
    }
}

/* A rank that is to be restored has left its era: sums of that are refused, though the coordinator
 * has not said a word yet. */
static void a_rank_that_restores_has_left_its_era(void **unused)
{
    (void)unused;
    static const struct answer answers[] = { { 0 }, { .how = HELD } };
    static const float values[3] = { 1, 2, 3 };
    struct stage s;
    open_stage(&s, answers, sizeof answers / sizeof *answers, false);
    ask_well(&s, MSG_GROUP_RESTORE, 0, 0);
    const struct msg_reduce head = { .sequence = 1,
                                     .total = 2 * REDUCER_PIECE_MIN,
                                     .piece_values = REDUCER_PIECE_MIN,
                                     .piece = RANK,
                                     .count = 3,
                                     .era = ERA,
                                     .world = WORLD };
    s.asker.timeout_ns = ENV_SECOND_NS;
    /* In the era it is the shape that is wrong. */
    assert_int_equal(asker_ask(&s.asker, MSG_REDUCE, &head, sizeof head, values, sizeof values), 0);
    assert_int_equal(s.asker.reply_kind, MSG_ERROR_REPLY);
    s.asker.timeout_ns = 0;
    assert_int_equal(ask(&s, MSG_GROUP_RESTORE, 0, 0), TR_ETIMEDOUT);
    assert_int_equal(asker_ask(&s.asker, MSG_REDUCE, &head, sizeof head, values, sizeof values),
                     TR_EROLLBACK);
    expect_questions(&s, 2);
    close_stage(&s);
}

static void check_copy(const struct stage *s, size_t number, uint64_t offset, uint32_t count)
{
    const struct msg_checkpoint_copy *copy = question_of(s, number, MSG_CHECKPOINT_COPY);
    size_t path_bytes = strlen(s->folder);
    assert_int_equal(copy->step, 12);
    assert_int_equal(copy->bytes, s->part_bytes);
    assert_int_equal(copy->offset, offset);
    assert_int_equal(copy->sequence, 1);
    assert_int_equal(copy->crc32c, crc32c(0, s->part, s->part_bytes));
    assert_int_equal(copy->era, ERA);
    assert_int_equal(copy->rank, RANK);
    assert_int_equal(copy->count, count);
    assert_int_equal(copy->path_bytes, path_bytes);
    assert_int_equal(s->questions[number].body_bytes, count + path_bytes);
    /* The path stands behind the bytes. */
    const char *body = s->questions[number].body;
    assert_string_equal(body +
                            (s->questions[number].body_bytes < BODY_MAX
                                 ? s->questions[number].body_bytes
                                 : BODY_MAX) -
                            path_bytes,
                        s->folder);
}

static void check_look(const struct stage *s, size_t number)
{
    const struct msg_checkpoint_look *look = question_of(s, number, MSG_CHECKPOINT_LOOK);
    assert_int_equal(look->step, 12);
    assert_int_equal(look->bytes, s->part_bytes);
    assert_int_equal(look->crc32c, crc32c(0, s->part, s->part_bytes));
    assert_int_equal(look->era, ERA);
    assert_int_equal(look->rank, RANK);
    assert_string_equal(s->questions[number].body, s->folder);
}

/* The part is on the other host, in pieces, before the coordinator hears of it. Pieces that another
 * attempt came between begin again. */
static void a_part_is_copied_before_it_is_reported(void **unused)
{
    (void)unused;
    static const struct answer answers[] = {
        { 0 }, { 0 }, { 0 }, { .how = ERROR_TEXT, .code = TR_EFORMAT, .text = "out of turn" }
    };
    struct stage s;
    open_stage(&s, answers, sizeof answers / sizeof *answers, true);
    make_part(&s, MSG_CHECKPOINT_PIECE_MAX + 5u);
    ask_well(&s, MSG_GROUP_RESTORE, 0, 0);
    assert_int_equal(ask_well(&s, MSG_GROUP_SAVE, 12, s.part_bytes)->step, 12);
    expect_questions(&s, 8);
    check_look(&s, 1);
    check_copy(&s, 2, 0, MSG_CHECKPOINT_PIECE_MAX);
    question_of(&s, 3, MSG_CHECKPOINT_COPY); /* refused */
    check_look(&s, 4);
    check_copy(&s, 5, 0, MSG_CHECKPOINT_PIECE_MAX);
    check_copy(&s, 6, MSG_CHECKPOINT_PIECE_MAX, 5);
    const struct msg_checkpoint_part *part = question_of(&s, 7, MSG_CHECKPOINT_PART);
    assert_int_equal(part->status, 0);
    assert_int_equal(part->bytes, s.part_bytes);
    close_stage(&s);
}

/* While the part is on its way nothing is asked of the coordinator, old or new. */
static void a_part_that_travels_is_not_reported(void **unused)
{
    (void)unused;
    static const struct answer answers[] = { { 0 }, { .how = HELD } };
    struct stage s;
    open_stage(&s, answers, sizeof answers / sizeof *answers, true);
    make_part(&s, 20);
    ask_well(&s, MSG_GROUP_RESTORE, 0, 0);
    assert_int_equal(ask(&s, MSG_GROUP_SAVE, 12, 20), TR_ETIMEDOUT);
    expect_questions(&s, 2);
    restart_coordinator(&s);
    expect_questions(&s, 2);
    s.go = true; /* the host has the part already: nothing is copied */
    run_for(&s, ENV_SECOND_NS);
    expect_questions(&s, 3);
    question_of(&s, 2, MSG_CHECKPOINT_PART);
    assert_int_equal(ask_well(&s, MSG_GROUP_SAVE, 12, 20)->step, 12);
    expect_questions(&s, 3);
    close_stage(&s);
}

/* A save that timed out has its outcome, be its repeat with a part or without: the coordinator has
 * one report of this rank's, and would wait with a second one for ranks that do not come. */
static void a_save_that_is_skipped_at_its_repeat_is_the_same(void **unused)
{
    (void)unused;
    static const struct answer made[] = { { 0 }, { .how = HELD } };
    static const struct answer failed[] = {
        { 0 }, { .how = HELD }, { .how = ERROR_TEXT, .code = TR_EIO, .text = "no part" }
    };
    struct stage s;
    open_stage(&s, made, sizeof made / sizeof *made, false);
    make_part(&s, 20);
    ask_well(&s, MSG_GROUP_RESTORE, 0, 0);
    assert_int_equal(ask(&s, MSG_GROUP_SAVE, 12, 20), TR_ETIMEDOUT);
    restart_coordinator(&s);
    assert_int_equal(ask_well(&s, MSG_GROUP_SKIP, 12, (uint64_t)(int64_t)TR_EIO)->step, 12);
    expect_questions(&s, 3); /* the last is that of the save, of the other coordinator */
    close_stage(&s);

    open_stage(&s, failed, sizeof failed / sizeof *failed, false);
    make_part(&s, 20);
    ask_well(&s, MSG_GROUP_RESTORE, 0, 0);
    assert_int_equal(ask(&s, MSG_GROUP_SKIP, 12, (uint64_t)(int64_t)TR_EIO), TR_ETIMEDOUT);
    restart_coordinator(&s);
    assert_int_equal(ask(&s, MSG_GROUP_SAVE, 12, 20), 0);
    expect_error(&s, TR_EIO, "trainer 1 saves no part of the checkpoint of step 12: ");
    expect_questions(&s, 3);
    close_stage(&s);
}

/* A second host without room: the coordinator hears why before the trainer does, and what that host
 * has of the part is dropped. The next coordinator hears of the failure too. */
/* The same of a save that is skipped for one reason, and at its repeat for another. */
static void a_save_that_is_skipped_for_another_reason_is_the_same(void **unused)
{
    (void)unused;
    static const struct answer answers[] = {
        { 0 }, { .how = HELD }, { .how = ERROR_TEXT, .code = TR_ENOSPC, .text = "no part" }
    };
    struct stage s;
    open_stage(&s, answers, sizeof answers / sizeof *answers, false);
    ask_well(&s, MSG_GROUP_RESTORE, 0, 0);
    assert_int_equal(ask(&s, MSG_GROUP_SKIP, 12, (uint64_t)(int64_t)TR_ENOSPC), TR_ETIMEDOUT);
    restart_coordinator(&s);
    /* The outcome is here, and nobody is asked for another. */
    expect_questions(&s, 3);
    assert_int_equal(ask(&s, MSG_GROUP_SKIP, 12, (uint64_t)(int64_t)TR_EPERM), 0);
    expect_error(&s, TR_ENOSPC, "trainer 1 saves no part of the checkpoint of step 12: ");
    expect_questions(&s, 3);
    close_stage(&s);
}

/* While there is no memory for the trainer's answer the coordinator is asked again, for the same
 * save: by another number this rank would be ahead of the others from then on. */
static void a_save_without_memory_for_its_answer_is_the_same(void **unused)
{
    (void)unused;
    static const struct answer answers[] = { { 0 }, { .then_short = true } };
    struct stage s;
    open_stage(&s, answers, sizeof answers / sizeof *answers, false);
    make_part(&s, 20);
    ask_well(&s, MSG_GROUP_RESTORE, 0, 0);
    assert_int_equal(ask_well(&s, MSG_GROUP_SAVE, 12, 20)->step, 12);
    assert_int_equal(ask_well(&s, MSG_GROUP_SAVE, 13, 20)->step, 13);
    expect_questions(&s, 4);
    const uint64_t sequences[] = { 1, 1, 2 };
    for (size_t i = 0; i < 3; i++) {
        const struct msg_checkpoint_part *part = question_of(&s, 1 + i, MSG_CHECKPOINT_PART);
        assert_int_equal(part->sequence, sequences[i]);
        assert_int_equal(part->step, i < 2 ? 12 : 13);
    }
    close_stage(&s);
}

struct scarce_files {
    struct files files;
    uint32_t left; /* that many files cannot be opened */
};

static int open_scarcely(struct files *self, const char *path, int flags, int mode)
{
    struct scarce_files *scarce = (struct scarce_files *)(void *)self;
    if (scarce->left == 0 || strstr(path, "part") == NULL)
        return files_posix->open(files_posix, path, flags, mode);
    scarce->left--;
    return -ENOMEM;
}

/* The trainer's call is made again after a want of memory. Were that the save's outcome, every
 * repeat of the call would get it. */
static void a_want_of_memory_is_no_outcome_of_a_save(void **unused)
{
    (void)unused;
    struct scarce_files scarce = { .files = *files_posix };
    scarce.files.open = open_scarcely;
    struct stage s;
    open_stage(&s, NULL, 0, false);
    s.options.files = &scarce.files;
    make_part(&s, 20);
    ask_well(&s, MSG_GROUP_RESTORE, 0, 0);
    expect_questions(&s, 1);
    scarce.left = 2; /* the look for the part, and the part */
    assert_int_equal(ask(&s, MSG_GROUP_SAVE, 12, 20), 0);
    assert_int_equal(s.asker.reply_kind, MSG_ERROR_REPLY);
    assert_int_equal(((const struct msg_error_reply *)(const void *)s.asker.reply_head)->code,
                     TR_ENOMEM);
    assert_int_equal(scarce.left, 0);
    expect_questions(&s, 1);
    assert_int_equal(ask_well(&s, MSG_GROUP_SAVE, 12, 20)->step, 12);
    expect_questions(&s, 2);
    close_stage(&s);
}

/* The same where the call has timed out: nothing is kept for its repeat, which begins anew. */
static void a_want_of_memory_is_not_kept_for_a_repeat(void **unused)
{
    (void)unused;
    static const struct answer answers[] = { { .found = true, .then_short = true },
                                             { .era = ERA + 1 } };
    static const struct answer held[] = { { .how = HELD } };
    struct stage s;
    open_stage(&s, held, 1, false);
    make_part(&s, 20);
    assert_int_equal(ask(&s, MSG_GROUP_RESTORE, 0, 0), TR_ETIMEDOUT);
    s.answers = answers;
    s.num_answers = sizeof answers / sizeof *answers;
    s.at = 0;
    restart_coordinator(&s);
    run_for(&s, ENV_SECOND_NS);
    expect_questions(&s, 2);
    assert_int_equal(ask_well(&s, MSG_GROUP_RESTORE, 0, 0)->era, ERA + 1);
    close_stage(&s);
}

/* A rank that skips a save for want of memory gets what the others get of the coordinator. */
static void a_skipped_save_fails_for_good(void **unused)
{
    (void)unused;
    static const int codes[] = { TR_ENOMEM, TR_EFULL, TR_ETIMEDOUT, TR_ECANCELED };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        static const struct answer answers[] = {
            { 0 }, { .how = ERROR_TEXT, .code = TR_EIO, .text = "no part" }
        };
        struct stage s;
        open_stage(&s, answers, sizeof answers / sizeof *answers, false);
        ask_well(&s, MSG_GROUP_RESTORE, 0, 0);
        assert_int_equal(ask(&s, MSG_GROUP_SKIP, 13, (uint64_t)(int64_t)codes[i]), 0);
        expect_error(&s, TR_EIO, "trainer 1 saves no part of the checkpoint of step 13: ");
        const struct msg_checkpoint_part *part = question_of(&s, 1, MSG_CHECKPOINT_PART);
        assert_int_equal(part->status, TR_EIO);
        close_stage(&s);
    }
}

static void a_copy_that_fails_is_reported_and_dropped(void **unused)
{
    (void)unused;
    static const struct answer answers[] = {
        { 0 },
        { 0 },
        { .how = ERROR_TEXT, .code = TR_ENOSPC, .text = "full there" },
        { .how = ERROR_TEXT, .code = TR_ENOSPC, .text = "there is none" },
    };
    struct stage s;
    open_stage(&s, answers, sizeof answers / sizeof *answers, true);
    make_part(&s, 20);
    ask_well(&s, MSG_GROUP_RESTORE, 0, 0);
    assert_int_equal(ask(&s, MSG_GROUP_SAVE, 12, 20), 0);
    expect_error(&s, TR_ENOSPC, "full there");
    run_for(&s, MS);
    expect_questions(&s, 5);
    check_copy(&s, 2, 0, 20);
    const struct msg_checkpoint_part *part = question_of(&s, 3, MSG_CHECKPOINT_PART);
    assert_int_equal(part->status, TR_ENOSPC);
    assert_int_equal(part->sequence, 1);
    const struct msg_checkpoint_drop *dropped = question_of(&s, 4, MSG_CHECKPOINT_DROP);
    assert_int_equal(dropped->step, 12);
    assert_int_equal(dropped->sequence, 1);
    assert_int_equal(dropped->era, ERA);
    assert_int_equal(dropped->rank, RANK);
    assert_string_equal(s.questions[4].body, s.folder);
    restart_coordinator(&s);
    expect_questions(&s, 6);
    const struct msg_checkpoint_done *refused = question_of(&s, 5, MSG_CHECKPOINT_DONE);
    assert_false(s.questions[5].called);
    assert_int_equal(refused->step, 12);
    assert_int_equal(refused->sequence, 1);
    assert_int_equal(refused->era, ERA);
    assert_int_equal(refused->status, TR_ENOSPC);
    /* The save after it has the next number. */
    ask_well(&s, MSG_GROUP_SAVE, 15, 20);
    part = question_of(&s, s.num_questions - 1, MSG_CHECKPOINT_PART);
    assert_int_equal(part->sequence, 2);
    assert_int_equal(part->status, 0);
    close_stage(&s);
}

/* A part that is not here comes from the second host, piece by piece, if it is the one that was
 * saved. */
static void a_part_that_is_gone_is_pulled(void **unused)
{
    (void)unused;
    static const struct {
        struct answer answers[3];
        int status, code; /* of the call, of an error reply */
    } cases[] = {
        { { { .found = true } }, 0, 0 },
        { { { .found = true }, { 0 }, { .offset_more = 1 } }, TR_EFORMAT, 0 },
        { { { .found = true }, { .count_less = 1 } }, TR_EFORMAT, 0 },
        { { { .found = true }, { 0 }, { .changed = true } }, 0, TR_ENOENT },
        { { { .found = true }, { .how = OTHER_KIND } }, TR_EFORMAT, 0 },
        { { { .found = true }, { .how = ERROR_TEXT, .code = TR_EIO, .text = "no disk" } },
          0,
          TR_EIO },
        { { { .found = true }, { .how = REFUSED, .code = TR_EFULL } }, 0, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage s;
        open_stage(&s, cases[i].answers, sizeof cases[i].answers / sizeof *cases[i].answers, true);
        make_part(&s, MSG_CHECKPOINT_PIECE_MAX + 5u);
        int rv = ask(&s, MSG_GROUP_RESTORE, 0, 0);
        if (rv != cases[i].status)
            fail_msg("case %zu: %s", i, tr_error_name(rv));
        for (size_t q = 1; q < s.num_questions; q++) {
            const struct msg_checkpoint_fetch *fetch = question_of(&s, q, MSG_CHECKPOINT_FETCH);
            assert_int_equal(fetch->step, 9);
            assert_int_equal(fetch->bytes, s.part_bytes);
            assert_int_equal(fetch->offset, q + 1 < s.num_questions || s.num_questions == 2
                                                ? 0
                                                : MSG_CHECKPOINT_PIECE_MAX);
            assert_int_equal(fetch->crc32c, crc32c(0, s.part, s.part_bytes));
            assert_int_equal(fetch->era, 3);
            assert_int_equal(fetch->rank, RANK);
            assert_string_equal(s.questions[q].body, s.folder);
        }
        if (cases[i].code != 0) {
            expect_error(&s, cases[i].code, i == 5 ? "no disk" : s.folder);
        } else if (rv == 0) {
            const struct msg_group_reply *reply = (const void *)s.asker.reply_head;
            assert_int_equal(s.asker.reply_kind, MSG_GROUP_REPLY);
            assert_int_equal(reply->found, 1);
            assert_int_equal(reply->step, 9);
            assert_int_equal(reply->count, s.part_bytes);
            assert_int_equal(reply->era, ERA);
            assert_int_equal(s.asker.reply_bytes, s.part_bytes);
            assert_memory_equal(s.asker.reply, s.part, s.part_bytes);
        }
        close_stage(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(questions_hold_what_the_trainer_asked),
        cmocka_unit_test(barriers_are_counted_by_their_outcomes),
        cmocka_unit_test(a_refusal_passes_or_is_the_trainers),
        cmocka_unit_test(a_rank_that_restores_has_left_its_era),
        cmocka_unit_test(a_part_is_copied_before_it_is_reported),
        cmocka_unit_test(a_part_that_travels_is_not_reported),
        cmocka_unit_test(a_save_that_is_skipped_at_its_repeat_is_the_same),
        cmocka_unit_test(a_save_that_is_skipped_for_another_reason_is_the_same),
        cmocka_unit_test(a_save_without_memory_for_its_answer_is_the_same),
        cmocka_unit_test(a_want_of_memory_is_no_outcome_of_a_save),
        cmocka_unit_test(a_want_of_memory_is_not_kept_for_a_repeat),
        cmocka_unit_test(a_skipped_save_fails_for_good),
        cmocka_unit_test(a_copy_that_fails_is_reported_and_dropped),
        cmocka_unit_test(a_part_that_is_gone_is_pulled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
