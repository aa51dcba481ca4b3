/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training as a task: the trainers of this process, the run's folder where rank 0 is here, and
 * what is pulled of it. troupe train and any other program begin it by tr_train_start().
 *
 *     train_task.c         the task: opening, training, the end
 *     training_options.c   what a program asks for
 *     training_folder.c    the run's folder and its checkpoints before the first step
 *     training_finished.c  a run that was trained to its end before
 *     training_keeper.c    what rank 0 does for all: evaluates, writes, says
 *     training_tensorboard.c  the scalars that TensorBoard shows
 *     training_results.c   what is pulled
 *
 * All but what the mutex guards is the task's thread's and, of those parts that keep the run, rank
 * 0's thread's while the trainers run.
 *
 * Ownership: the task's arg. Thread rules: as said beside the members.
 */
#ifndef MODEL_TRAINING_H
#define MODEL_TRAINING_H

#include <pthread.h>
#include <stdatomic.h>

#include <troupe/model.h>

#include "model/loss_trend.h"
#include "model/run_folder.h"
#include "model/run_job.h"
#include "model/task_events.h"
#include "model/tensorboard_file.h"
#include "model/train_ranks.h"
#include "runtime/base/history_file.h"

struct training {
    struct task_events events; /* first: see task_events.h */
    struct tr_task *task;
    struct tr_train_options options; /* strings are copies: training_options.c */
    struct tr_process_info process;  /* with options.process */
    struct run_config config;
    struct run_job_layout layout;
    struct cancel cancel;           /* asked to stop */
    struct cancel working;          /* the same, polled between pieces of long work: it gets on */
    struct cancel leave;            /* asked to stop behind a checkpoint; before the two above */
    atomic_bool leaves;             /* it trains, and may make one */
    atomic_uint_least64_t asked_ns; /* when it was asked to, then; 0: it was not yet */
    atomic_bool woken;              /* it took too long, and its session was interrupted */
    struct run_job job;
    struct run_folder folder;
    struct history_file history;         /* where no launcher writes it */
    struct tensorboard_file tensorboard; /* closed: none is asked for */
    bool tensorboard_began;              /* it says from which epoch on it goes */
    bool tensorboard_warned;             /* of a disk that takes nothing */
    struct run_job_split val, test;
    struct train_ranks ranks;
    struct shape_entry *entries; /* [num_entries], where the shape was heard of another process */
    uint32_t num_entries;
    bool tries; /* it was said that shapes are tried */
    struct trainer_hooks hooks;
    char *checkpoints;         /* their folder; NULL: none are kept */
    uint64_t save_every;       /* steps; 0: none */
    uint32_t epoch;            /* under way */
    struct loss_trend losses;  /* of the epochs of this life of the process */
    bool advised;              /* of a rising loss */
    bool folder_ours;          /* the run's folder is this run's */
    uint64_t parts[RUN_PARTS]; /* what the run is known by again, where it is kept */
    json_t *record;     /* what config.json is to be from where the run goes on; NULL: it is so */
    bool ended_before;  /* there is nothing left to train */
    bool model_kept;    /* the run's folder has the best model so far */
    bool any_kept;      /* or one of this run that is older */
    bool test_appended; /* the line of the test's scores, which a rewind takes back */
    uint64_t warned_ns[2]; /* of a disk that is waited for, that is gone on without; 0: not yet */
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t changed;
    struct epoch_report *epochs; /* ascending; of this life of the process */
    uint32_t num_epochs, room;
    struct trainer_result result;
    struct scores test_scores;
    bool tested, done, confirmed;
};

static inline bool training_in_cluster(const struct training *t)
{
    return t->options.process != NULL;
}

/* Rank 0's process keeps the run: its folder, evaluation, model and report. */
static inline bool training_keeps_run(const struct training *t)
{
    return t->ranks.first == 0;
}

/* A process of a cluster goes on from the last checkpoint when it is not the first of its kind. */
static inline bool training_resumes(const struct training *t)
{
    return t->options.resume || (training_in_cluster(t) && t->process.restarted);
}

/* The trainers of all processes keep a checkpoint when one is asked to stop, where they have a
 * folder for it. */
static inline bool training_leaves(const struct training *t)
{
    bool has_folder = !training_in_cluster(t) || t->process.checkpoints != NULL ||
                      t->save_every != 0;
    return t->options.checkpoint_at_cancel && has_folder;
}

uint64_t training_now_ns(void *arg);

/* training_options.c: takes copies. */
int training_read_options(struct training *t, const struct tr_train_options *options,
                          struct tr_error *error);
void training_free_options(struct training *t);

/* training_folder.c: where checkpoints are kept; before the job is opened. */
int training_name_checkpoints(struct training *t, struct error *error);
/* In one process: what the options leave open, from the run that is gone on with. */
int training_adopt_run(struct training *t, struct error *error);
/* In rank 0's process of a cluster: *known: the run that is gone on with says what came of trials. */
int training_recall_tried(const struct training *t, struct run_tried *tried, bool *known,
                          struct error *error);
/* Fills the hashes of t->ranks: of the whole job, and of what a checkpoint of it belongs to. */
int training_hash_job(struct training *t, struct error *error);
/* Takes the run's folder where there is one, and refuses one that the options do not allow: before
 * anything long is done for it. Once it is taken: nothing. In a cluster a training that leaves it is
 * waited for. */
int training_claim_folder(struct training *t, struct error *error);
/* The run's folder, new or gone on with, and that no other run's checkpoints are in the way. */
int training_open_folder(struct training *t, struct error *error);
/* Before the first line that a run that goes on adds to its folder: config.json says what the run is
 * from there on. Until then it says what the files are, also where the run is refused meanwhile. */
int training_write_record(struct training *t, struct error *error);
/* training_history.c: the history of a run that no launcher keeps, from the time when the folder is the
 * run's. Steps are those that a checkpoint is of. */
void training_begin_history(struct training *t, bool resumes);
void training_note_saved(struct training *t, uint64_t steps);
void training_note_era(struct training *t, uint64_t steps);
void training_end_history(struct training *t, int result, const char *text);
/* After a failure, while the graph is open: nothing stays of a run in which nothing was found, so
 * that it may be tried again. */
void training_forget_untrained(struct training *t);

/* training_finished.c: where the run that is gone on with, on the same graph, came to its end before,
 * its epochs and result are those of this training, and ended_before is set. Then
 * training_tell_end() is all that is left to do. */
int training_recall_end(struct training *t, struct error *error);
void training_tell_end(struct training *t);

/* training_keeper.c: of rank 0, but refused, which any rank calls. */
struct trainer_hooks training_hooks(struct training *t);
/* The result can be pulled: says so to the program, which may have to confirm it. */
void training_say_trained(struct training *t, uint32_t epochs);
void training_begin_epoch(struct training *t, uint32_t epoch);

/* training_tensorboard.c: of rank 0. Before the run's folder is changed: refuses a folder in which
 * no file can be made. */
int training_open_tensorboard(struct training *t, struct error *error);
void training_plot_epoch(struct training *t, const struct epoch_report *report);
/* The scores of the test after so many epochs. */
void training_plot_test(struct training *t, uint32_t epochs);
/* The epochs that come stand for those that the folder has from there on. */
void training_restart_plots(struct training *t);

/* training_results.c: before the run's folder has the line of an epoch. Those from that epoch on
 * are found again. */
int training_add_epoch(struct training *t, const struct epoch_report *report);
void training_set_tested(struct training *t, const struct scores *scores);
/* Forgets the result: what was found since a checkpoint is found again. */
void training_forget_end(struct training *t);
void training_set_result(struct training *t, const struct trainer_result *result);
/* Says that so many epochs were trained, and waits until tr_train_confirm(), or the task is
 * cancelled. */
void training_ask_confirmed(struct training *t, uint32_t epochs);

#endif
