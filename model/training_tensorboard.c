/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rank 0 writes for TensorBoard, where options.tensorboard names a folder: the scalars of
 * metrics.jsonl. A step is an epoch, counted from 1 as there.
 *
 * An epoch that comes behind a start of the process, or behind a return to a checkpoint, is preceded by
 * a record that voids what the folder has of it and of later ones.
 */
#include <math.h>

#include "model/training.h"

static const char *const TRAIN_TAGS[] = { "loss/train",    "epoch/learning_rate",
                                          "epoch/seconds", "epoch/seeds_per_second",
                                          "epoch/seeds",   "epoch/steps" };
static const char *const VALIDATION_TAGS[] = { "loss/validation", "accuracy/validation",
                                               "macro_f1/validation", "roc_auc/validation",
                                               "mrr/validation" };
static const char *const TEST_TAGS[] = { "loss/test", "accuracy/test", "macro_f1/test",
                                         "roc_auc/test", "mrr/test" };
#define TRAIN_TAGS_COUNT (sizeof TRAIN_TAGS / sizeof *TRAIN_TAGS)
#define SCORE_TAGS_COUNT (sizeof TEST_TAGS / sizeof *TEST_TAGS)
_Static_assert(TRAIN_TAGS_COUNT + SCORE_TAGS_COUNT <= TENSORBOARD_SCALARS_MAX, "one record");

int training_open_tensorboard(struct training *t, struct error *error)
{
    struct error why = { 0 };
    if (t->options.tensorboard == NULL)
        return 0;
    int rv = tensorboard_file_open(&t->tensorboard, files_posix, t->options.tensorboard, &why);
    if (rv == 0)
        return 0;
    /* A process that comes back had the folder: the job is worth more than its curves. */
    if (training_in_cluster(t) && t->process.restarted) {
        task_events_say(&t->events, TR_MODEL_WARNING, 0,
                        "%s; training goes on without files for TensorBoard", why.text);
        return 0;
    }
    /* It is an option that is wrong: a launcher starts no process again for it. */
    return error_set(error, rv == TR_ENOMEM ? rv : TR_EINVAL,
                     "%s: no files for TensorBoard can be written there; make it writable, or give "
                     "another folder as options.tensorboard",
                     why.text);
}

/* Appends those that are numbers. */
static size_t append(struct tensorboard_scalar *scalars, size_t count, const char *const *tags,
                     const double *values, size_t num_values)
{
    for (size_t i = 0; i < num_values; i++)
        if (isfinite(values[i]))
            scalars[count++] = (struct tensorboard_scalar){ tags[i], values[i] };
    return count;
}

static size_t append_scores(struct tensorboard_scalar *scalars, size_t count,
                            const char *const *tags, const struct scores *of)
{
    const double values[SCORE_TAGS_COUNT] = { of->loss, of->accuracy, of->macro_f1, of->roc_auc,
                                              of->mrr };
    return append(scalars, count, tags, values, SCORE_TAGS_COUNT);
}

/* A disk that takes nothing is warned of once: what waits is written with the next epoch. */
static void write_scalars(struct training *t, int64_t step,
                          const struct tensorboard_scalar *scalars, size_t count)
{
    struct tensorboard_record record;
    struct error why = { 0 };
    tensorboard_record_scalars(&record, tensorboard_wall_time(), step, scalars, count);
    (void)tensorboard_file_add(&t->tensorboard, &record);
    if (tensorboard_file_flush(&t->tensorboard, &why) == 0 || t->tensorboard_warned)
        return;
    t->tensorboard_warned = true;
    task_events_say(&t->events, TR_MODEL_WARNING, 0,
                    "%s; training goes on, and writes these scalars later", why.text);
}

void training_plot_epoch(struct training *t, const struct epoch_report *report)
{
    struct tensorboard_scalar scalars[TENSORBOARD_SCALARS_MAX];
    struct tensorboard_record start;
    int64_t step = (int64_t)report->epoch + 1;
    double rate = report->seconds > 0 ? (double)report->seeds / report->seconds : (double)NAN;
    const double values[TRAIN_TAGS_COUNT] = { report->train_loss,    report->rate,
                                              report->seconds,       rate,
                                              (double)report->seeds, (double)report->steps };
    if (t->tensorboard.file.path == NULL)
        return;
    if (!t->tensorboard_began) {
        tensorboard_record_start(&start, tensorboard_wall_time(), step);
        t->tensorboard_began = tensorboard_file_add(&t->tensorboard, &start);
    }
    size_t count = append(scalars, 0, TRAIN_TAGS, values, TRAIN_TAGS_COUNT);
    if (report->evaluated)
        count = append_scores(scalars, count, VALIDATION_TAGS, &report->scores);
    write_scalars(t, step, scalars, count);
}

void training_plot_test(struct training *t, uint32_t epochs)
{
    struct tensorboard_scalar scalars[SCORE_TAGS_COUNT];
    if (t->tensorboard.file.path == NULL)
        return;
    size_t count = append_scores(scalars, 0, TEST_TAGS, &t->test_scores);
    write_scalars(t, (int64_t)epochs, scalars, count);
}

void training_restart_plots(struct training *t)
{
    t->tensorboard_began = false;
}
