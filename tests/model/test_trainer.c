/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop learns, keeps the best epoch, stops when told to, and stops cleanly on errors.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/key.h"
#include "model/exact.h"
#include "model/state.h"
#include "model/trainer.h"
#include "tests/model/made_batch.h"
#include "tests/model/made_graph.h"

/* The linker puts these before the allocator's, so that an allocation of the trainer can fail. */
void *__real_calloc(size_t count, size_t bytes);
void *__real_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_malloc(size_t bytes);

/* The allocation that fails, counted from now on; 0: none. */
static uint32_t failing_alloc;

static bool alloc_fails(void)
{
    return failing_alloc > 0 && --failing_alloc == 0;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return alloc_fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_malloc(size_t bytes)
{
    return alloc_fails() ? NULL : __real_malloc(bytes);
}

#define NODES 1200
#define CLASSES 4
#define BATCH 64

struct source {
    struct batch_source base;
    struct made_graph *graph;
    uint32_t fanout;
    uint32_t epoch;
    uint32_t next;
    uint32_t end;  /* nodes [0, end) are seeds */
    uint32_t held; /* batches given and not released */
    int fail_at;   /* next() fails for this seed; -1: never */
};

static int start_epoch(struct batch_source *self, uint32_t epoch, struct error *error)
{
    (void)error;
    struct source *source = (struct source *)self;
    source->epoch = epoch;
    source->next = 0;
    return 0;
}

static int next_batch(struct batch_source *self, const struct mini_batch **out, struct error *error)
{
    struct source *source = (struct source *)self;
    if (source->next >= source->end)
        return TR_EEND;
    if ((int)source->next == source->fail_at)
        return error_set(error, TR_EPEERDOWN, "no more");
    uint32_t seeds[BATCH], count = 0;
    for (; count < BATCH && source->next < source->end; source->next++)
        seeds[count++] = source->next;
    struct mini_batch *batch = made_graph_batch(source->graph, seeds, count, 2, source->fanout,
                                                key_mix(source->epoch * 1000 + source->next));
    batch->epoch = source->epoch;
    batch->index = source->next / BATCH;
    source->held++;
    *out = batch;
    return 0;
}

static void release(struct batch_source *self, const struct mini_batch *batch)
{
    ((struct source *)self)->held--;
    made_batch_destroy((struct mini_batch *)(uintptr_t)batch);
}

static int start_at(struct batch_source *self, uint32_t epoch, uint64_t step, struct error *error)
{
    int rc = start_epoch(self, epoch, error);
    ((struct source *)self)->next = (uint32_t)step * BATCH;
    return rc;
}

static struct source make_source(struct made_graph *graph, uint32_t end, uint32_t fanout)
{
    return (struct source){
        { start_epoch, next_batch, release, start_at }, graph, fanout, 0, 0, end, 0, -1
    };
}

static struct model_config configure(enum model_kind kind)
{
    struct model_config config = model_config_default();
    config.kind = kind;
    config.inputs = 8;
    config.hidden = 16;
    config.classes = CLASSES;
    config.seed = 2;
    return config;
}

static struct made_graph *make_graph(void)
{
    return made_graph_create(NODES, 8, CLASSES, 8, 0.85, 0.35, 6);
}

/* Evaluations whose scores are written down beforehand. */
struct script {
    const double *scores;
    uint32_t count;
    float first_weight[16]; /* at each evaluation */
    uint32_t reports;
    struct epoch_report last;
    uint32_t cancel_after; /* steps */
    uint32_t steps;
};

static int scripted(void *arg, struct model *model, struct scores *scores, struct error *error)
{
    (void)error;
    struct script *script = arg;
    script->first_weight[script->count] = model_weights(model)[0];
    *scores = (struct scores){ .labelled = 1,
                               .loss = 1,
                               .accuracy = script->scores[script->count++] };
    return 0;
}

static int noted(void *arg, const struct epoch_report *report, struct error *error)
{
    (void)error;
    struct script *script = arg;
    script->reports++;
    script->last = *report;
    return 0;
}

static bool cancelled(void *arg)
{
    struct script *script = arg;
    return script->cancel_after > 0 && ++script->steps >= script->cancel_after;
}

static void test_errors_end_the_run_and_release_batches(void **state)
{
    (void)state;
    struct made_graph *graph = make_graph();
    struct source source = make_source(graph, 300, 3);
    struct model_config config = configure(MODEL_SAGE);
    struct model *model;
    struct trainer_result result;
    struct trainer_plan plan = { .epochs = 3 };
    struct error error;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    source.fail_at = BATCH;
    assert_int_equal(trainer_run(model, &source.base, &plan, NULL, &result, &error), TR_EPEERDOWN);
    assert_int_equal(source.held, 0);
    source.fail_at = -1;
    graph->labels[70] = CLASSES;
    assert_int_equal(trainer_run(model, &source.base, &plan, NULL, &result, &error), TR_ERANGE);
    assert_int_equal(source.held, 0);
    graph->labels[70] = 0;
    struct script script = { .cancel_after = 7 };
    struct trainer_hooks hooks = { .arg = &script, .cancelled = cancelled, .epoch_done = noted };
    assert_int_equal(trainer_run(model, &source.base, &plan, &hooks, &result, &error),
                     TR_ECANCELED);
    assert_int_equal(source.held, 0);
    assert_int_equal(result.epochs_run, 1);
    assert_int_equal(script.reports, 1);
    model_weights(model)[0] = nanf("");
    assert_int_equal(trainer_run(model, &source.base, &plan, NULL, &result, &error), TR_ERANGE);
    assert_non_null(strstr(error.text, "not finite"));
    assert_int_equal(source.held, 0);
    model_destroy(model);
    made_graph_destroy(graph);
}

/* A trainer whose memory ends when its epoch is summed up, or when it saves. */
struct shortage {
    uint32_t at_sum, at_save; /* which allocation fails from there on; 0: none */
    uint32_t sums, saves;
};

/* Alone, its sums are what they were; the gradients' come first, an epoch's after its last step. */
static int sum_alone(void *arg, float *values, size_t count, struct error *error)
{
    (void)values, (void)count, (void)error;
    ((struct shortage *)arg)->sums++;
    return 0;
}

static void arm_the_sums(void *arg, uint32_t epoch, uint64_t step, double loss)
{
    (void)loss;
    (void)epoch, (void)step;
    failing_alloc = ((struct shortage *)arg)->at_sum;
}

static int evaluate_alone(void *arg, struct model *model, struct scores *scores,
                          struct error *error)
{
    (void)arg, (void)model, (void)error;
    *scores = (struct scores){ .labelled = 1, .loss = 1, .accuracy = 0.5 };
    return 0;
}

static uint64_t arm_the_save(void *arg)
{
    failing_alloc = ((struct shortage *)arg)->at_save;
    return 0;
}

static int take_save(void *arg, uint64_t steps, const void *bytes, size_t count,
                     struct error *error)
{
    (void)steps, (void)bytes, (void)count, (void)error;
    ((struct shortage *)arg)->saves++;
    return 0;
}

static int run_short(struct shortage *shortage, struct error *error)
{
    struct made_graph *graph = make_graph();
    struct source source = make_source(graph, BATCH, 3); /* one step */
    struct model_config config = configure(MODEL_SAGE);
    struct model *model;
    struct trainer_result result;
    struct trainer_plan plan = { .epochs = 1, .save_every = shortage->at_sum == 0 };
    struct trainer_hooks hooks = { .arg = shortage,
                                   .reduce = sum_alone,
                                   .step_done = arm_the_sums,
                                   .evaluate = evaluate_alone,
                                   .mark = arm_the_save,
                                   .save = take_save };
    *error = (struct error){ 0 };
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    int rc = trainer_run(model, &source.base, &plan, &hooks, &result, error);
    failing_alloc = 0;
    assert_int_equal(source.held, 0);
    model_destroy(model);
    made_graph_destroy(graph);
    return rc;
}

/* Each allocation of an epoch's end, and that of a checkpoint: the run ends, and says of what. */
static void test_a_run_without_memory_says_so(void **state)
{
    struct error error;
    struct shortage enough = { 0 }, save = { .at_save = 1 };
    (void)state;
    assert_int_equal(run_short(&enough, &error), 0);
    assert_int_equal(enough.saves, 1);
    assert_int_equal(enough.sums, 3);      /* the gradients', the losses', the scores' */
    for (uint32_t at = 1; at <= 4; at++) { /* two for the losses, two for the scores */
        struct shortage sums = { .at_sum = at };
        assert_int_equal(run_short(&sums, &error), TR_ENOMEM);
        assert_string_equal(error.text, "training: out of memory");
        assert_int_equal(sums.sums, at <= 2 ? 1 : 2);
    }
    assert_int_equal(run_short(&save, &error), TR_ENOMEM);
    assert_string_equal(error.text, "training: no memory for a checkpoint");
    assert_int_equal(save.saves, 0);
}

static void test_patience_stops_and_best_weights_return(void **state)
{
    (void)state;
    const double scores[] = { 0.3, 0.5, 0.4, 0.5, 0.45, 0.9 };
    struct made_graph *graph = make_graph();
    struct source source = make_source(graph, 200, 3);
    struct model_config config = configure(MODEL_GCN);
    struct model *model;
    struct script script = { .scores = scores };
    struct trainer_hooks hooks = { .arg = &script, .evaluate = scripted, .epoch_done = noted };
    struct trainer_plan plan = { .epochs = 6, .patience = 3 };
    struct trainer_result result;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    assert_int_equal(trainer_run(model, &source.base, &plan, &hooks, &result, NULL), 0);
    assert_true(result.stopped_early);
    assert_int_equal(result.epochs_run, 5);
    assert_int_equal(result.best_epoch, 1);
    assert_true(model_weights(model)[0] == script.first_weight[1]);
    assert_true(script.first_weight[1] != script.first_weight[4]);
    assert_int_equal(script.last.epoch, 4);
    assert_int_equal(script.last.steps, 4);
    assert_int_equal(script.last.seeds, 200);
    assert_false(script.last.best);
    model_destroy(model);
    made_graph_destroy(graph);
}

static void test_every_other_epoch_is_evaluated_and_the_last(void **state)
{
    (void)state;
    const double scores[] = { 0.3, 0.5, 0.7 };
    struct made_graph *graph = make_graph();
    struct source source = make_source(graph, 64, 3);
    struct model_config config = configure(MODEL_SAGE);
    struct model *model;
    struct script script = { .scores = scores };
    struct trainer_hooks hooks = { .arg = &script, .evaluate = scripted };
    struct trainer_plan plan = { .epochs = 5, .evaluate_every = 2 };
    struct trainer_result result;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    assert_int_equal(trainer_run(model, &source.base, &plan, &hooks, &result, NULL), 0);
    assert_int_equal(script.count, 3);
    assert_int_equal(result.best_epoch, 4);
    model_destroy(model);
    made_graph_destroy(graph);
}

/* Nodes of the last third, which training never saw. */
static double held_out_accuracy(struct model *model, struct made_graph *graph)
{
    uint32_t owners[NODES] = { 0 };
    struct made_parts *parts = made_parts_create(graph, owners, 1, TR_F32);
    struct exact_graph all = { .parts = (const struct graph_part *const *)parts->parts,
                               .num_parts = 1,
                               .features = "feat" };
    struct exact *exact;
    struct tensor logits = { 0 };
    struct scores scores;
    uint64_t ids[NODES / 3];
    for (uint32_t i = 0; i < NODES / 3; i++)
        ids[i] = NODES - 1 - i;
    assert_int_equal(exact_create(&exact, model, &all, NULL), 0);
    assert_int_equal(exact_infer(exact, &logits, NULL), 0);
    assert_int_equal(exact_scores(exact, &logits, "label", ids, NODES / 3, &scores, NULL), 0);
    tensor_fini(&logits);
    exact_destroy(exact);
    made_parts_destroy(parts);
    return scores.accuracy;
}

static void test_it_learns_what_features_alone_do_not_say(void **state)
{
    (void)state;
    for (int kind = MODEL_SAGE; kind <= MODEL_GCN; kind++) {
        struct made_graph *graph = make_graph();
        struct source source = make_source(graph, NODES / 2, 6);
        struct model_config config = configure((enum model_kind)kind);
        struct model *model;
        struct trainer_plan plan = { .epochs = 12 };
        struct trainer_result result;
        struct scores sampled;
        assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
        double before = held_out_accuracy(model, graph);
        assert_int_equal(trainer_run(model, &source.base, &plan, NULL, &result, NULL), 0);
        double after = held_out_accuracy(model, graph);
        assert_int_equal(trainer_evaluate(model, &source.base, 99, &sampled, NULL), 0);
        if (before > 0.6 || after < 0.88 || sampled.accuracy < 0.85)
            fail_msg("%s: accuracy %.3f, then %.3f; sampled %.3f", model_kind_name(config.kind),
                     before, after, sampled.accuracy);
        assert_int_equal(sampled.labelled, NODES / 2);
        model_destroy(model);
        made_graph_destroy(graph);
    }
}

#define SAVES_MAX 64

/* The saves and files of a run, to go on from. */
struct saves {
    void *bytes[SAVES_MAX];
    size_t counts[SAVES_MAX];
    uint32_t count;
    uint64_t log; /* as long as a log would be: a line an epoch */
    uint64_t evaluations;
};

static int keep(void *arg, uint64_t steps, const void *bytes, size_t count, struct error *error)
{
    (void)error;
    struct saves *saves = arg;
    assert_true(saves->count < SAVES_MAX && steps > 0);
    saves->bytes[saves->count] = malloc(count);
    assert_non_null(saves->bytes[saves->count]);
    memcpy(saves->bytes[saves->count], bytes, count);
    saves->counts[saves->count++] = count;
    return 0;
}

static uint64_t mark(void *arg)
{
    return ((struct saves *)arg)->log;
}

static int go_back(void *arg, uint64_t to, struct error *error)
{
    (void)error;
    ((struct saves *)arg)->log = to;
    return 0;
}

static int write_line(void *arg, const struct epoch_report *report, struct error *error)
{
    (void)error;
    struct saves *saves = arg;
    uint64_t bits;
    memcpy(&bits, &report->train_loss, sizeof bits);
    saves->log = saves->log * 31 + bits;
    return 0;
}

/* The weights say how good it is: the same scores for the same weights. */
static int judge(void *arg, struct model *model, struct scores *scores, struct error *error)
{
    (void)error;
    ((struct saves *)arg)->evaluations++;
    *scores = (struct scores){ .labelled = 1,
                               .loss = 1,
                               .accuracy = fabs((double)model_weights(model)[1]) };
    return 0;
}

static void train_saving(struct made_graph *graph, enum model_optimiser optimiser,
                         const void *saved, size_t saved_count, struct saves *saves,
                         struct model **model, struct trainer_result *result)
{
    struct model_config config = configure(MODEL_SAGE);
    config.optimiser = optimiser;
    config.momentum = 0.5f;
    assert_int_equal(model_create(model, &config, parallel_serial, NULL), 0);
    struct source source = make_source(graph, 300, 4);
    const struct trainer_hooks hooks = { .arg = saves,
                                         .evaluate = judge,
                                         .epoch_done = write_line,
                                         .save = keep,
                                         .mark = mark,
                                         .rewind = go_back };
    const struct trainer_plan plan = {
        .epochs = 4, .save_every = 3, .job = 77, .saved = saved, .saved_count = saved_count
    };
    assert_int_equal(trainer_run(*model, &source.base, &plan, &hooks, result, NULL), 0);
    assert_int_equal(source.held, 0);
}

static void free_saves(struct saves *saves)
{
    for (uint32_t i = 0; i < saves->count; i++)
        free(saves->bytes[i]);
}

static void a_resumed_run_ends_like_one_that_was_not_interrupted(void **unused)
{
    (void)unused;
    struct made_graph *graph = make_graph();
    for (int optimiser = 0; optimiser < 2; optimiser++) {
        struct saves first = { 0 };
        struct model *whole;
        struct trainer_result wanted;
        train_saving(graph, (enum model_optimiser)optimiser, NULL, 0, &first, &whole, &wanted);
        assert_int_equal(first.count, 4 * 5 / 3);
        size_t bytes = model_params(whole)->count * sizeof(float);
        for (uint32_t i = 0; i < first.count; i++) {
            struct saves again = { .log = 999 };
            struct model *resumed;
            struct trainer_result result;
            train_saving(graph, (enum model_optimiser)optimiser, first.bytes[i], first.counts[i],
                         &again, &resumed, &result);
            assert_memory_equal(model_weights(resumed), model_weights(whole), bytes);
            assert_true(again.log == first.log);
            assert_int_equal(again.count, first.count - i - 1);
            assert_int_equal(result.best_epoch, wanted.best_epoch);
            assert_int_equal(result.epochs_run, wanted.epochs_run);
            model_destroy(resumed);
            free_saves(&again);
        }
        model_destroy(whole);
        free_saves(&first);
    }
    made_graph_destroy(graph);
}

static void saved_bytes_of_something_else_are_refused(void **unused)
{
    (void)unused;
    struct made_graph *graph = make_graph();
    struct saves saves = { 0 };
    struct model *model;
    struct trainer_result result;
    train_saving(graph, MODEL_ADAM, NULL, 0, &saves, &model, &result);
    struct trainer_position at;
    struct error error = { 0 };
    size_t params = model_params(model)->count;
    float *best = malloc(params * sizeof *best), *before = malloc(params * sizeof *before);
    assert_non_null(best);
    assert_non_null(before);
    memcpy(before, model_weights(model), params * sizeof *before);
    unsigned char *bytes = saves.bytes[0];
    size_t count = saves.counts[0];
    assert_int_equal(state_read(model, best, &at, 78, bytes, count, &error), TR_EMISMATCH);
    for (size_t cut = 0; cut < count; cut += 1 + cut / 3)
        assert_int_equal(state_read(model, best, &at, 77, bytes, cut, &error), TR_EFORMAT);
    bytes[0] ^= 1;
    assert_int_equal(state_read(model, best, &at, 77, bytes, count, &error), TR_EFORMAT);
    bytes[0] ^= 1;
    assert_memory_equal(model_weights(model), before, params * sizeof *before);
    assert_int_equal(state_read(model, best, &at, 77, bytes, count, &error), 0);
    free(best);
    free(before);
    model_destroy(model);
    free_saves(&saves);
    made_graph_destroy(graph);
}

#define WORLD 3u
#define RANK 1u

/* Two other trainers, whose numbers are known beforehand, and what the hooks saw. */
struct others {
    struct scores scores; /* of rank 0 */
    uint32_t loss_sums, score_sums, gradient_sums;
    uint32_t begun, steps, reports;
    bool computes;
    uint64_t now_ns;
    struct epoch_report last;
    uint32_t leave_at_step, leave_at_sum; /* another rank has this wish there; 0: never */
    enum training_wish wish, left_for;
    uint32_t saved_at; /* steps of the last save */
};

/* In the place of a rank, of which all others say nothing. */
static void say(float *values, size_t place, uint64_t number)
{
    for (size_t d = 0; d < 4; d++) {
        assert_true(values[place * 4 + d] == 0);
        values[place * 4 + d] = (float)(number >> (16 * d) & 0xffff);
    }
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static int add_others(void *arg, float *values, size_t count, struct error *error)
{
    struct others *others = arg;
    const struct scores *scores = &others->scores;
    (void)error;
    assert_false(others->computes); /* it waits for others */
    if (count == WORLD * 3 * 4) {
        others->loss_sums++;
        say(values, 0, bits_of(0.5));
        say(values, 1, 10);
        say(values, 6, bits_of(2.5));
        say(values, 7, (UINT64_C(1) << 40) + 30);
        if (others->leave_at_sum == others->loss_sums)
            say(values, 8, others->wish);
    } else if (count == WORLD * 6 * 4) {
        others->score_sums++;
        say(values, 0, scores->labelled);
        say(values, 1, bits_of(scores->loss));
        say(values, 2, bits_of(scores->accuracy));
        say(values, 3, bits_of(scores->macro_f1));
        say(values, 4, bits_of(scores->roc_auc));
        say(values, 5, bits_of(scores->mrr));
        others->now_ns += UINT64_C(2500000000);
    } else {
        others->gradient_sums++;
        assert_true(values[count - 1] == 0); /* this one is not asked to leave */
        if (others->leave_at_step == others->gradient_sums)
            values[count - 1] = training_wish_write(others->wish);
    }
    return 0;
}

static void computing(void *arg, bool begins)
{
    struct others *others = arg;
    assert_int_equal(others->computes, !begins); /* in turns */
    others->computes = begins;
    others->begun += begins;
}

static void count_step(void *arg, uint32_t epoch, uint64_t step, double loss)
{
    (void)loss;
    struct others *others = arg;
    assert_int_equal(epoch, others->steps / 4);
    assert_int_equal(step, others->steps % 4);
    others->steps++;
}

static int note_last(void *arg, const struct epoch_report *report, struct error *error)
{
    struct others *others = arg;
    (void)error;
    others->reports++;
    others->last = *report;
    return 0;
}

static uint64_t read_clock(void *arg)
{
    return ((struct others *)arg)->now_ns;
}

static int evaluate_here(void *arg, struct model *model, struct scores *scores, struct error *error)
{
    struct others *others = arg;
    (void)model, (void)error;
    assert_true(others->computes);
    *scores = others->scores;
    return 0;
}

static void train_with(struct trainer_hooks *hooks, const struct trainer_plan *plan,
                       struct trainer_result *result)
{
    struct made_graph *graph = make_graph();
    struct source source = make_source(graph, 200, 3); /* four batches */
    struct model_config config = configure(MODEL_SAGE);
    struct model *model;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    assert_int_equal(trainer_run(model, &source.base, plan, hooks, result, NULL), 0);
    model_destroy(model);
    made_graph_destroy(graph);
}

/* Every trainer reports the mean of all, and knows the scores of the one that evaluates, to the
 * last bit of their numbers. */
static void numbers_of_all_trainers_come_together(void **unused)
{
    const struct scores scores = { (UINT64_C(3) << 50) + 7, 0.1, 0.2, 0.3, 0.4, 0.5 };
    struct others alone = { .scores = scores }, among = { .scores = scores };
    struct trainer_result result;
    (void)unused;
    struct trainer_hooks hooks = { .arg = &alone, .epoch_done = note_last };
    train_with(&hooks, &(struct trainer_plan){ .epochs = 2 }, &result);
    hooks = (struct trainer_hooks){ .arg = &among,
                                    .epoch_done = note_last,
                                    .reduce = add_others,
                                    .evaluate = evaluate_here,
                                    .computing = computing,
                                    .step_done = count_step,
                                    .now_ns = read_clock };
    const struct trainer_plan plan = { .epochs = 2, .rank = RANK, .world = WORLD };
    train_with(&hooks, &plan, &result);
    assert_int_equal(among.gradient_sums, 8);
    assert_int_equal(among.loss_sums, 2);
    assert_int_equal(among.score_sums, 2);
    assert_int_equal(among.steps, 8);
    assert_int_equal(among.reports, 2);
    assert_int_equal(among.begun, 2 * 8); /* a step and its weights; it does not evaluate */
    const uint64_t seeds = 200 + 10 + 30 + (UINT64_C(1) << 40);
    assert_int_equal(among.last.seeds, seeds);
    double sum = alone.last.train_loss * 200 + 0.5 + 2.5;
    assert_true(fabs(among.last.train_loss * (double)seeds - sum) < 1e-9 * sum);
    assert_true(among.last.train_loss == result.last_train_loss);
    assert_true(fabs(among.last.seconds - 2.5) < 1e-9);
    assert_true(alone.last.seconds == 0); /* it has no clock */
    assert_memory_equal(&among.last.scores, &scores, sizeof scores);
    assert_memory_equal(&result.best, &scores, sizeof scores);
    assert_true(among.last.evaluated && !alone.last.evaluated);
    assert_int_equal(alone.last.scores.labelled, 0);
    assert_true(isnan(alone.last.scores.loss) && isnan(alone.last.scores.roc_auc));
    assert_int_equal(result.best_epoch, 0); /* the same again is no better */
}

/* The rank that evaluates computes while it does. */
static void rank_0_evaluates_for_all(void **unused)
{
    struct others others = { .scores = { 1, 0.1, 0.2, 0.3, 0.4, 0.5 } };
    struct trainer_result result;
    (void)unused;
    const struct trainer_hooks hooks = { .arg = &others,
                                         .evaluate = evaluate_here,
                                         .computing = computing };
    struct trainer_hooks copy = hooks;
    train_with(&copy, &(struct trainer_plan){ .epochs = 3 }, &result);
    assert_int_equal(others.begun, 3 * (2 * 4 + 1));
    assert_memory_equal(&result.best, &others.scores, sizeof others.scores);
}

static int note_save(void *arg, uint64_t steps, const void *bytes, size_t count,
                     struct error *error)
{
    (void)bytes, (void)count, (void)error;
    ((struct others *)arg)->saved_at = (uint32_t)steps;
    return 0;
}

static void note_left(void *arg, enum training_wish wish)
{
    struct others *others = arg;
    others->reports += 100;
    others->left_for = wish;
}

/* Another rank's wish comes with the sum of a step or of an epoch: this one saves there, and leaves
 * with the others. */
static void a_wish_of_another_rank_ends_the_run_behind_a_checkpoint(void **unused)
{
    static const struct {
        uint32_t step, sum, saved;
    } cases[] = { { 1, 0, 1 }, { 4, 0, 4 }, { 6, 0, 6 }, { 0, 1, 4 }, { 0, 2, 8 } };
    (void)unused;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const enum training_wish wish = i % 2 == 0 ? TRAINING_ASKED : TRAINING_ORPHANED;
        struct others among = { .leave_at_step = cases[i / 2].step,
                                .leave_at_sum = cases[i / 2].sum,
                                .wish = wish };
        const struct trainer_hooks hooks = {
            .arg = &among, .reduce = add_others, .save = note_save, .left = note_left
        };
        const struct trainer_plan plan = { .epochs = 2, .rank = RANK, .world = WORLD };
        struct made_graph *graph = make_graph();
        struct source source = make_source(graph, 200, 3); /* four batches */
        struct model_config config = configure(MODEL_SAGE);
        struct trainer_result result;
        struct model *model;
        struct error error = { 0 };
        assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
        assert_int_equal(trainer_run(model, &source.base, &plan, &hooks, &result, &error),
                         TR_ECANCELED);
        assert_int_equal(among.saved_at, cases[i / 2].saved);
        assert_int_equal(among.reports, 100);
        assert_int_equal(among.left_for, wish);
        assert_non_null(strstr(error.text, "options.resume"));
        model_destroy(model);
        made_graph_destroy(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resumed_run_ends_like_one_that_was_not_interrupted),
        cmocka_unit_test(saved_bytes_of_something_else_are_refused),
        cmocka_unit_test(numbers_of_all_trainers_come_together),
        cmocka_unit_test(a_wish_of_another_rank_ends_the_run_behind_a_checkpoint),
        cmocka_unit_test(rank_0_evaluates_for_all),
        cmocka_unit_test(test_errors_end_the_run_and_release_batches),
        cmocka_unit_test(test_a_run_without_memory_says_so),
        cmocka_unit_test(test_patience_stops_and_best_weights_return),
        cmocka_unit_test(test_every_other_epoch_is_evaluated_and_the_last),
        cmocka_unit_test(test_it_learns_what_features_alone_do_not_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
