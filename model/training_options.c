/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and checks what a program asks of a training, beside what decides its result
 * (run_options.h). */
#include <stdlib.h>
#include <string.h>

#include <troupe/process.h>

#include "api/sized.h"
#include "model/public_scores.h"
#include "model/run_options.h"
#include "model/training.h"

_Static_assert(TR_MODEL_WIDTH_MAX == MODEL_WIDTH_MAX, "what the public header says");

void tr_train_options_init_sized(struct tr_train_options *options, size_t size)
{
    const struct tr_train_options defaults = run_options_defaults();
    public_options_init(options, size, &defaults, sizeof defaults);
}

static int read_process(struct training *t, const struct tr_train_options *from,
                        struct tr_error *error)
{
    const struct tr_process_info unknown = TR_PROCESS_INFO_INIT;
    t->process = unknown;
    if (from->process == NULL)
        return 0;
    int rv = tr_process_info(from->process, &t->process, error);
    if (rv != 0)
        return rv;
    t->layout.trainers = t->process.num_trainers;
    /* Never as many as the machine has: what others compute beside these trainers is not known. */
    uint32_t each = t->process.threads != 0 ? t->process.threads : 1;
    if (t->process.threads != 0 || from->threads == 0)
        t->layout.threads = each * t->process.num_trainers;
    if (t->process.has_seed)
        t->config.model.seed = t->process.seed;
    return 0;
}

/* The program's, else the cluster file's, else the default. */
static int64_t choose_limit(int64_t asked_ns, int64_t said_ns)
{
    if (asked_ns != TR_TRAIN_LIMIT_UNSAID)
        return asked_ns;
    return said_ns != TR_PROCESS_LIMIT_UNSAID ? said_ns : TR_TRAIN_LIMIT_NS;
}

/* NULL stays NULL. */
static int copy_text(const char **text)
{
    if (*text != NULL && (*text = strdup(*text)) == NULL)
        return TR_ENOMEM;
    return 0;
}

/* All are copied or NULL: none is freed that is the caller's. */
static int copy_texts(struct tr_train_options *to, const struct tr_train_options *from)
{
    *to = *from;
    to->model = to->optimiser = to->schedule = to->loss = to->metric = to->evaluation = NULL;
    to->norm = to->task = NULL;
    to->features = to->labels = to->train_mask = to->val_mask = to->test_mask = NULL;
    to->edge_weight = to->label_type = to->etype_fanout = NULL;
    to->sampler = to->draw_by = to->draw_mask = NULL;
    to->edge_type = to->reverse_edge_type = to->negative_ends = to->negatives_by = NULL;
    int rv = copy_text(&to->graph);
    rv |= copy_text(&to->run);
    rv |= copy_text(&to->deal);
    rv |= copy_text(&to->checkpoints);
    rv |= copy_text(&to->metrics);
    rv |= copy_text(&to->from);
    rv |= copy_text(&to->tensorboard);
    return rv != 0 ? TR_ENOMEM : 0;
}

void training_free_options(struct training *t)
{
    free((char *)(uintptr_t)t->options.graph);
    free((char *)(uintptr_t)t->options.run);
    free((char *)(uintptr_t)t->options.deal);
    free((char *)(uintptr_t)t->options.checkpoints);
    free((char *)(uintptr_t)t->options.metrics);
    free((char *)(uintptr_t)t->options.from);
    free((char *)(uintptr_t)t->options.tensorboard);
    run_config_fini(&t->config);
}

static int training_options_check(const struct tr_train_options *from, const char *graph,
                                  struct tr_error *error)
{
    if (graph == NULL || from->run == NULL)
        return tr_error_set(error, TR_EINVAL, RUN_OPTIONS_NEEDED);
    if (from->resume && from->replace)
        return tr_error_set(error, TR_EINVAL,
                            "tr_train_options: resume goes on with the run that replace would "
                            "remove");
    if (from->step_limit_ns < TR_TRAIN_LIMIT_UNSAID || from->disk_wait_ns < TR_TRAIN_LIMIT_UNSAID)
        return tr_error_set(error, TR_ERANGE,
                            "tr_train_options: step_limit_ns and disk_wait_ns are at least 0, or "
                            "TR_TRAIN_LIMIT_UNSAID");
    return 0;
}

int training_read_options(struct training *t, const struct tr_train_options *from,
                          struct tr_error *error)
{
    struct tr_train_options asked = *from;
    t->layout = (struct run_job_layout){ .trainers = from->trainers != 0 ? from->trainers : 1,
                                         .checkpoint_keep = from->checkpoint_keep,
                                         .servers = from->servers,
                                         .samplers = from->samplers,
                                         .loops = from->loops,
                                         .threads = from->threads,
                                         .messages = from->messages,
                                         .codec = from->codec,
                                         .map_files = from->map_files,
                                         .log = from->log,
                                         .trains = true,
                                         .watched = from->stack_signal,
                                         .verify_files = from->verify_files,
                                         .memory_bytes = from->memory_bytes_max };
    int rv = run_options_read(&t->config, from, error);
    /* The cluster file comes behind the options, whose seed and threads it may replace. */
    if (rv == 0)
        rv = read_process(t, from, error);
    if (rv == 0 && from->process != NULL)
        asked.graph = t->process.graph;
    asked.step_limit_ns = choose_limit(from->step_limit_ns, t->process.step_limit_ns);
    asked.disk_wait_ns = choose_limit(from->disk_wait_ns, t->process.disk_wait_ns);
    /* The graph is checked when the cluster file has had its say. */
    if (rv == 0)
        rv = training_options_check(from, asked.graph, error);
    if (rv != 0)
        return rv;
    if (copy_texts(&t->options, &asked) != 0)
        return tr_error_set(error, TR_ENOMEM, "no memory for the options of a training");
    return 0;
}
