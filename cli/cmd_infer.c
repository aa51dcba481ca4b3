/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe infer`: predicts the class of every node with a trained model.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lib/inside.h"
#include "cli/lib/report.h"
#include "cli/lib/work.h"
#include "cli/train/job_surroundings.h"
#include "model/model_file.h"
#include "model/run_folder.h"
#include "model/run_job.h"
#include "partition/store/npy.h"

struct infer_values {
    const char *run;
    const char *out;
    bool exact;
    uint64_t epoch;
    uint64_t threads;
    uint64_t loops;
    bool map;
    bool verify;
    bool json;
    bool quiet;
};

#define AT(field) offsetof(struct infer_values, field)

static const struct option_spec OPTIONS[] = {
    { .name = "run",
      .kind = OPTION_TEXT,
      .offset = AT(run),
      .metavar = "RUNDIR",
      .required = true,
      .help = "the folder of the training run" },
    { .name = "exact",
      .kind = OPTION_FLAG,
      .offset = AT(exact),
      .help = "use all neighbours of every node, layer by layer" },
    { .name = "out",
      .kind = OPTION_TEXT,
      .offset = AT(out),
      .metavar = "FILE.npy",
      .help = "write the outputs (float32, a row a node by original ID) here" },
    { .name = "epoch",
      .kind = OPTION_COUNT,
      .offset = AT(epoch),
      .metavar = "E",
      .fallback = "0",
      .max = UINT32_MAX,
      .help = "which draws to sample with, without --exact" },
    { .name = "threads",
      .kind = OPTION_COUNT,
      .offset = AT(threads),
      .metavar = "N",
      .fallback = "0",
      .max = 1024,
      .help = "threads that compute; 0: one a processor" },
    { .name = "loops",
      .kind = OPTION_COUNT,
      .offset = AT(loops),
      .metavar = "N",
      .fallback = "0",
      .max = 1024,
      .help = "event loops, each on a thread; 0: one a processor" },
    { .name = "map",
      .kind = OPTION_FLAG,
      .offset = AT(map),
      .help = "serve from mapped files: slower, less memory" },
    { .name = "verify",
      .kind = OPTION_FLAG,
      .offset = AT(verify),
      .help = "with --map: compare the files with their checksums first" },
    OPTION_ROW_JSON(struct infer_values),
    OPTION_ROW_QUIET(struct infer_values),
    OPTION_ROW_END,
};

static const char *const EXAMPLES[] = {
    "troupe infer parts/web.json --run run1 --exact",
    "troupe infer parts/web.json --run run1 --exact --out logits.npy",
    NULL,
};

static int infer(struct run_job *job, const struct infer_values *values, struct error *error)
{
    return values->exact ? run_job_infer(job, error)
                         : run_job_infer_sampled(job, (uint32_t)values->epoch, error);
}

static int score(struct run_job *job, const char *key, const char *mask, struct report *report,
                 struct error *error)
{
    struct run_job_split split;
    struct scores scores;
    int rv = run_job_split_open(job, mask, &split, error);
    if (rv == 0)
        rv = run_job_score(job, &split, &scores, error);
    if (rv == 0) {
        report_row(report, "scores");
        report_text(report, "split", "split", key);
        report_count(report, "labelled", "labelled", scores.labelled);
        report_real(report, "accuracy", "accuracy", scores.accuracy);
        report_real(report, "macro_f1", "macro-F1", scores.macro_f1);
        if (isfinite(scores.roc_auc))
            report_real(report, "roc_auc", "ROC AUC", scores.roc_auc);
    }
    run_job_split_close(&split);
    return rv;
}

static int report_job(struct run_job *job, const struct infer_values *values, struct error *error)
{
    struct report report;
    report_init(&report, values->json);
    report_text(&report, "run", "run", values->run);
    report_count(&report, "nodes", "nodes", job->logits.rows);
    report_text(&report, "inference", "inference", values->exact ? "exact" : "sampled");
    int rv = score(job, "train", job->config->train_mask, &report, error);
    if (rv == 0)
        rv = score(job, "validation", job->config->val_mask, &report, error);
    if (rv == 0)
        rv = score(job, "test", job->config->test_mask, &report, error);
    report_rows_end(&report);
    if (rv != 0) {
        report_fini(&report);
        return rv;
    }
    return report_print_inside(&report, error);
}

static int run(const char *graph, const struct infer_values *values, struct work *work,
               struct error *error)
{
    struct run_config config = { 0 };
    struct run_folder folder = { 0 };
    struct run_job job = { 0 };
    const struct run_job_layout layout = { .threads = (uint32_t)values->threads,
                                           .loops = (uint32_t)values->loops,
                                           .map_files = values->map,
                                           .verify_files = values->verify };
    struct job_surroundings surroundings = { .cancel = &work->cancel,
                                             .interrupter = &work->interrupter };
    const struct run_job_hooks hooks = job_surroundings_hooks(&surroundings);
    int rv = run_folder_find(&folder, files_posix, values->run, error);
    if (rv != 0)
        return rv;
    rv = run_config_read(files_posix, folder.config_path, &config, error);
    if (rv != 0)
        goto err_after_folder;
    config.balanced_weights = false; /* they weigh the loss, not the outputs */
    rv = run_job_open(&job, graph, &config, &layout, &hooks, error);
    if (rv != 0)
        goto err_after_config;
    job_surroundings_warn(&job, graph);
    rv = model_load(job.model, files_posix, folder.model_path, error);
    if (rv == 0)
        rv = infer(&job, values, error);
    if (rv == 0 && values->out != NULL)
        rv = run_job_write_logits(&job, values->out, error);
    if (rv == 0)
        rv = report_job(&job, values, error);
    run_job_close(&job);
err_after_config:
    run_config_fini(&config);
err_after_folder:
    run_folder_close(&folder);
    return rv;
}

static int infer_run(const struct invocation *invocation, const void *values)
{
    const struct infer_values *v = values;
    struct error error = { 0 };
    struct work work;
    int rv = work_begin(&work, v->quiet, &error);
    if (rv == 0) {
        rv = run(invocation->operands[0], v, &work, &error);
        work_end(&work);
    }
    return rv == 0 ? EXIT_DONE : fail_inside(invocation, &error);
}

const struct command command_infer = {
    .name = "infer",
    .summary = "Predict every node with a trained model",
    .operands = "DIR/NAME.json",
    .operands_min = 1,
    .operands_max = 1,
    .options = OPTIONS,
    .values_size = sizeof(struct infer_values),
    .examples = EXAMPLES,
    .run = infer_run,
};
