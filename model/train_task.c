/* SPDX-License-Identifier: Apache-2.0 */
/* tr_train_start(): this process's trainers, from opening the graph to the end of the job. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/graph.h>
#include <troupe/observe.h>
#include <troupe/process.h>

#include "api/sized.h"
#include "model/run_compare.h"
#include "model/run_options.h"
#include "model/run_survey.h"
#include "model/run_task.h"
#include "model/training.h"
#include "runtime/base/deadline.h"
#include "runtime/base/failpoint.h"

/* A process that waits for the others polls this often whether it is asked to stop. */
#define END_LOOK_NS 100000000
#define SECOND_NS UINT64_C(1000000000)

static bool train_task_orphaned(void *arg)
{
    const struct training *t = arg;
    return training_in_cluster(t) && tr_process_is_orphaned(t->options.process);
}

static bool train_task_wished(void *arg)
{
    const struct training *t = arg;
    return tr_task_is_cancelled(t->task) || train_task_orphaned(arg);
}

/* A training that may make a checkpoint first has this long for it; then what it waits for is
 * interrupted. A launcher kills a process that takes longer. */
static uint64_t leave_ns(const struct training *t)
{
    return (uint64_t)(training_in_cluster(t) ? TR_PROCESS_LINGER_NS : TR_TRAIN_LEAVE_NS);
}

static bool has_time_to_leave(struct training *t)
{
    uint_least64_t since = 0, now = training_now_ns(NULL);
    if (!atomic_load(&t->leaves) || atomic_load(&t->ranks.idle) > 0)
        return false;
    /* The first trainer that asks starts the clock; the others read its time. */
    if (atomic_compare_exchange_strong(&t->asked_ns, &since, now))
        since = now;
    if (now - since < leave_ns(t))
        return true;
    if (!atomic_exchange(&t->woken, true))
        live_session_interrupt(&t->events.live);
    return false;
}

static bool train_task_asked(void *arg)
{
    struct training *t = arg;
    return train_task_wished(t) && !has_time_to_leave(t);
}

static bool asked_at_work(void *arg)
{
    watchdog_beat(&((struct training *)arg)->ranks.watchdog);
    return train_task_asked(arg);
}

/* Calls that wait are left to wait where all come to their end by themselves. */
static void train_task_interrupt(void *arg)
{
    struct training *t = arg;
    if (!atomic_load(&t->leaves))
        live_session_interrupt(&t->events.live);
}

static void train_task_place(void *arg, struct tr_session_options *options)
{
    const struct training *t = arg;
    if (training_in_cluster(t))
        (void)tr_process_session(t->options.process, options, NULL);
}

static void train_task_opened(void *arg, struct tr_session *session)
{
    struct training *t = arg;
    if (training_in_cluster(t))
        (void)tr_process_attach(t->options.process, session, NULL);
    live_session_set(&t->events.live, session);
}

static void train_task_stuck(void *arg, const struct error *error)
{
    task_events_say(&((struct training *)arg)->events, TR_MODEL_STUCK, error->code == TR_ENOMEM,
                    "%s", error->text);
}

static bool train_task_stalled(void *arg, const struct watchdog_stall *stall)
{
    struct training *t = arg;
    char text[100];
    snprintf(text, sizeof text, "trainer %u made no progress for %llu s%s", (unsigned)stall->rank,
             (unsigned long long)(stall->ns / SECOND_NS),
             stall->asked ? " after it was asked to stop" : "");
    return task_events_say_threads(&t->events, TR_MODEL_STALLED, stall->asked, stall->threads,
                                   stall->num_threads, text);
}

static void train_task_saved(void *arg, uint64_t steps)
{
    task_events_say(&((struct training *)arg)->events, TR_MODEL_CHECKPOINT, steps, "%s", "");
    training_note_saved(arg, steps);
}

static void train_task_restored(void *arg, uint64_t steps)
{
    training_note_era(arg, steps);
}

/* A launcher that lives reads sooner or later; one that does not has gone. */
static void train_task_left(void *arg, enum training_wish wish)
{
    struct training *t = arg;
    bool asked = wish == TRAINING_ASKED;
    while (tr_process_say_left(asked, TR_PROCESS_SAY_NS, NULL) == TR_ETIMEDOUT &&
           !train_task_asked(t))
        continue;
}

/* The deal of the run: NULL shuffles. */
static const char *choose_deal(const struct training *t, uint32_t world)
{
    const char *deal = t->options.deal;
    if (!t->job.task->has_deals)
        return NULL;
    bool beside = world > 1 && tr_graph_deal_trainers(t->job.graph) == world;
    if (deal == NULL)
        return beside ? "affinity" : NULL;
    return strcmp(deal, "shuffle") == 0 ? NULL : deal;
}

static int open_ranks(struct training *t, struct error *error)
{
    struct tr_graph_place here = TR_GRAPH_PLACE_INIT;
    int rv = tr_graph_place(t->job.graph, &here, NULL);
    if (rv != 0)
        return error_set(error, rv, "the graph: %s", tr_strerror(rv));
    t->hooks = training_hooks(t);
    t->ranks = (struct train_ranks){
        .job = &t->job,
        .folder = &t->folder,
        .deal = choose_deal(t, here.world),
        .first = here.first_trainer,
        .count = here.num_trainers,
        .world = here.world,
        .grouped = training_in_cluster(t) || t->layout.trainers > 1 || t->checkpoints != NULL,
        .reproducible = t->options.reproducible,
        .finishes = training_in_cluster(t),
        .entries = t->entries,
        .save_every = t->save_every,
        .watchdog = { .limit_ns = (uint64_t)t->options.step_limit_ns,
                      .stalled = train_task_stalled,
                      .arg = t },
        .patience_ns = (uint64_t)t->options.disk_wait_ns,
        .hooks = &t->hooks,
        .saved = train_task_saved,
        .restored = train_task_restored,
        .cancel = &t->cancel,
        .leave = training_leaves(t) ? &t->leave : NULL,
        .orphaned = train_task_orphaned,
        .left = training_in_cluster(t) ? train_task_left : NULL,
    };
    /* The hash comes last: it covers the deal, which is known when the splits are open. */
    rv = train_ranks_open(&t->ranks, error);
    return rv == 0 ? training_hash_job(t, error) : rv;
}

static int open_splits(struct training *t, struct error *error)
{
    int rv = open_ranks(t, error);
    /* This stands behind open_ranks, which says whether rank 0 is here. */
    bool keeps = training_keeps_run(t);
    if (rv == 0 && keeps && run_job_holds_out(&t->job, TR_SPLIT_VALIDATION))
        rv = run_job_split_held(&t->job, TR_SPLIT_VALIDATION, &t->val, error);
    if (rv == 0 && keeps && run_job_holds_out(&t->job, TR_SPLIT_TEST))
        rv = run_job_split_held(&t->job, TR_SPLIT_TEST, &t->test, error);
    return rv;
}

/* A port that the last life of this process still holds must not end this one. */
static int serve_metrics(struct training *t, struct error *error)
{
    char at[TR_ADDRESS_TEXT_MAX];
    const char *address = t->options.metrics;
    struct tr_error why = TR_ERROR_INIT;
    if (address == NULL)
        return 0;
    int rv = tr_graph_serve_metrics(t->job.graph, address, TR_WAIT_FOREVER, at, sizeof at, &why);
    if (rv == TR_EINVAL)
        return error_set(error, rv, "options.metrics: %s", why.message);
    task_events_say(&t->events, TR_MODEL_METRICS, rv == 0, "%s", rv == 0 ? at : why.message);
    return 0;
}

static void train_task_surveyed(void *arg, bool advice, const char *text)
{
    task_events_say(&((struct training *)arg)->events, advice ? TR_MODEL_ADVICE : TR_MODEL_HEAD, 0,
                    "%s", text);
}

static void train_task_tries(void *arg, enum run_shape shape, uint64_t done, uint64_t total)
{
    struct training *t = arg;
    char phase[TR_TASK_PHASE_MAX];
    /* Once, and when it is sure that there are enough nodes for it. */
    if (training_in_cluster(t) && !t->tries)
        task_events_say(&t->events, TR_MODEL_HEAD, 0, "%s",
                        "shapes of the model are tried; the other processes wait for the choice");
    t->tries = true;
    snprintf(phase, sizeof phase, "trying %s", run_shape_name(shape));
    tr_task_report(t->task, phase, "steps", done, total);
}

/* Another process of the job is asked, which takes the trainers here into their group; that of rank 0
 * looks whether it chose in a life before. */
static int train_task_tried(void *arg, struct run_job *job, struct run_tried *tried, bool *known,
                            struct error *error)
{
    struct training *t = arg;
    struct tr_graph_place here = TR_GRAPH_PLACE_INIT;
    *known = false;
    if (!training_in_cluster(t))
        return 0;
    int rv = tr_graph_place(job->graph, &here, NULL);
    if (rv != 0)
        return error_set(error, rv, "the graph: %s", tr_strerror(rv));
    if (here.first_trainer == 0) {
        rv = training_claim_folder(t, error);
        return rv == 0 ? training_recall_tried(t, tried, known, error) : rv;
    }
    t->entries = calloc(here.num_trainers, sizeof *t->entries);
    if (t->entries == NULL)
        return error_set(error, TR_ENOMEM, "no memory for %u trainers", here.num_trainers);
    t->num_entries = here.num_trainers;
    tr_task_report(t->task, "waiting for the shape that trainer 0 chooses", "", 0, 0);
    *known = true;
    return shape_choice_await(job->graph, here.first_trainer, here.num_trainers, &t->cancel,
                              t->entries, tried, error);
}

static int survey_run(struct training *t, struct error *error)
{
    const struct run_survey_splits splits = { .val = t->val.nodes,
                                              .test = t->test.nodes,
                                              .steps = tr_loader_num_batches(
                                                  train_ranks_loader(&t->ranks)) };
    return run_survey(&t->job, &splits, train_task_surveyed, t, error);
}

/* A model that begins with another run's weights reads features as that one does, by as many layers,
 * unless something else was named. What is wrong with the folder is said when the weights are
 * read. */
static void adopt_beginning(struct training *t)
{
    struct run_config from = { 0 };
    char *path = files_join(t->options.from, "config.json");
    if (path != NULL && run_config_read(files_posix, path, &from, NULL) == 0) {
        run_config_begin_from(&t->config, &from);
        run_config_fini(&from);
    }
    free(path);
}

/* The job, the loaders before the folder (a mask that is missing leaves none behind), and what is
 * said once the process is of use to others. */
static int open_all(struct training *t, struct error *error)
{
    const struct run_job_hooks around = { .cancel = &t->working,
                                          .stuck = train_task_stuck,
                                          .place = train_task_place,
                                          .opened = train_task_opened,
                                          .tries = train_task_tries,
                                          .tried = train_task_tried,
                                          .arg = t };
    tr_task_report(t->task, "loading the graph", "", 0, 0);
    /* The folder of checkpoints is named before the session is opened with it. */
    int rv = training_name_checkpoints(t, error);
    /* In a cluster, the graph says which process keeps the run: train_task_tried() claims it there. */
    if (rv == 0 && !training_in_cluster(t))
        rv = training_claim_folder(t, error);
    if (rv == 0)
        rv = training_adopt_run(t, error);
    if (rv == 0 && t->options.from != NULL)
        adopt_beginning(t);
    t->layout.task = run_task_of(&t->config);
    if (rv == 0)
        rv = run_job_open(&t->job, t->options.graph, &t->config, &t->layout, &around, error);
    if (rv == 0 && t->options.from != NULL)
        rv = run_job_begin_from(&t->job, t->options.from, error);
    if (rv == 0 && !training_in_cluster(t))
        task_events_warn_unchecked(&t->events, t->job.graph, t->options.graph);
    if (rv == 0)
        rv = open_splits(t, error);
    if (rv == 0)
        rv = training_open_folder(t, error);
    failpoint_reach(FAILPOINTS_OF_PROCESS, FAILPOINT_START_OPENED);
    if (rv == 0)
        rv = serve_metrics(t, error);
    if (rv == 0)
        task_events_say(&t->events, TR_MODEL_READY, 0, "%s", model_kernels_text(t->job.model));
    failpoint_reach(FAILPOINTS_OF_PROCESS, FAILPOINT_START_READY);
    /* In a cluster the other processes would wait for this one meanwhile. */
    if (rv == 0 && !training_in_cluster(t) && !t->ended_before)
        rv = survey_run(t, error);
    else if (rv == 0 && training_keeps_run(t))
        run_survey_tried(&t->job, train_task_surveyed, t);
    return rv;
}

/* Until every process of the job has been stopped, for they may still need this one. */
static int wait_for_end(struct training *t, struct error *error)
{
    struct tr_error why = TR_ERROR_INIT;
    int rv;
    do
        rv = tr_graph_wait_end(t->job.graph, END_LOOK_NS, &why);
    while (rv == TR_ETIMEDOUT && !train_task_asked(t));
    /* The job's end is known here: that the coordinator died since takes nothing back. */
    bool done = rv == 0 || rv == TR_ETIMEDOUT || rv == TR_EPEERDOWN || rv == TR_ECANCELED;
    return done ? 0 : session_failed(&why, rv, error);
}

static int train_task_work(struct training *t, struct error *error)
{
    struct trainer_result result = { 0 };
    training_begin_epoch(t, 0);
    /* A wish that came before this is no wish to leave: nothing is there to be kept. */
    bool leaves = training_leaves(t) && !train_task_wished(t);
    atomic_store(&t->leaves, leaves);
    if (leaves && training_in_cluster(t))
        (void)tr_process_linger(t->options.process, TR_PROCESS_LINGER_NS, NULL);
    int rv = train_ranks_run(&t->ranks, &result, error);
    failpoint_reach(FAILPOINTS_OF_PROCESS, FAILPOINT_END_TRAINED);
    /* The end of the job comes before the result: one that is lost until then is taken back
     * below. */
    if (rv == 0 && training_in_cluster(t))
        rv = wait_for_end(t, error);
    atomic_store(&t->leaves, false);
    if (leaves && training_in_cluster(t))
        (void)tr_process_linger(t->options.process, 0, NULL);
    failpoint_reach(FAILPOINTS_OF_PROCESS, FAILPOINT_END_FINISHED);
    if (rv == 0)
        training_set_result(t, &result);
    else
        training_forget_end(t);
    return rv;
}

/* Gives back what training needed, before the task has ended; its results stay. */
static void close_all(struct training *t)
{
    /* Loaders and groups go before the job, whose graph they use. */
    train_ranks_close(&t->ranks);
    for (uint32_t i = 0; i < t->num_entries; i++)
        shape_entry_fini(&t->entries[i]);
    free(t->entries);
    t->entries = NULL;
    t->num_entries = 0;
    run_job_split_close(&t->val);
    run_job_split_close(&t->test);
    run_job_close(&t->job);
    tensorboard_file_close(&t->tensorboard);
    run_folder_close(&t->folder);
    json_decref(t->record);
    t->record = NULL;
    free(t->checkpoints);
    t->checkpoints = NULL;
}

static int train_task_run(struct tr_task *task, void *arg, struct tr_error *error)
{
    struct training *t = arg;
    struct error why = { 0 };
    t->task = task;
    t->cancel = (struct cancel){ .asked = train_task_asked, .arg = t };
    t->working = (struct cancel){ .asked = asked_at_work, .arg = t };
    t->leave = (struct cancel){ .asked = train_task_wished, .arg = t };
    int rv = open_all(t, &why);
    if (rv == 0 && t->ended_before)
        training_tell_end(t);
    else if (rv == 0)
        rv = train_task_work(t, &why);
    /* This comes before close_all: whether there are checkpoints is asked of the graph. */
    if (rv != 0)
        training_forget_untrained(t);
    training_end_history(t, rv, why.text[0] != '\0' ? why.text : tr_strerror(rv));
    close_all(t);
    /* The events end last: a program that has pulled them to their end finds the training
     * closed. */
    task_events_end(&t->events);
    return rv == 0
               ? 0
               : tr_error_set(error, rv, "%s", why.text[0] != '\0' ? why.text : tr_strerror(rv));
}

static void train_task_destroy(void *arg)
{
    struct training *t = arg;
    training_free_options(t);
    task_events_fini(&t->events);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->mutex);
    free(t->epochs);
    free(t);
}

int tr_train_start(const struct tr_train_options *options, struct tr_task **out,
                   struct tr_error *error)
{
    struct tr_train_options read = run_options_defaults();
    struct tr_task_work work = TR_TASK_WORK_INIT;
    *out = NULL;
    int rv = sized_read(&read, sizeof read, options, "tr_train_options", error);
    if (rv != 0)
        return rv;
    struct training *t = calloc(1, sizeof *t);
    if (t == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a training");
    loss_trend_init(&t->losses);
    /* The events come first, the only step of these that can fail: from then on
     * train_task_destroy() takes all down. */
    rv = task_events_init(&t->events, error);
    if (rv != 0) {
        free(t);
        return rv;
    }
    atomic_init(&t->leaves, false);
    atomic_init(&t->woken, false);
    atomic_init(&t->asked_ns, 0);
    pthread_mutex_init(&t->mutex, NULL);
    deadline_init_cond(&t->changed);
    rv = training_read_options(t, &read, error);
    if (rv != 0) {
        train_task_destroy(t);
        return rv;
    }
    work.name = train_task_kind.name;
    work.kind = &train_task_kind;
    work.run = train_task_run;
    work.interrupt = train_task_interrupt;
    work.destroy = train_task_destroy;
    work.closing = task_events_closing;
    return tr_task_start(&work, t, out, error);
}
