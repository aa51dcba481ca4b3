/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks that add to a raw graph: partition/prepare/ on a thread of their own.
 *
 * A report is written by the task's thread before it has finished, and read only when
 * tr_task_wait() says that it has, which orders the two.
 */
#include <stdlib.h>
#include <string.h>

#include <troupe/prepare.h>

#include "api/public_error.h"
#include "api/sized.h"
#include "api/task_run.h"
#include "partition/prepare/mask_split.h"

_Static_assert(TR_SPLIT_WHOLE == MASK_SPLIT_WHOLE, "callers and the split have the same whole");

struct preparation {
    char *raw, *ntype, *labels;
    struct mask_split_options split; /* its texts are those above */
    struct mask_split_report split_report;
};

static void preparation_destroy(void *arg)
{
    struct preparation *p = arg;
    free(p->raw);
    free(p->ntype);
    free(p->labels);
    free(p);
}

/* False: no memory. Nothing is copied of NULL. */
static bool copy_text(char **to, const char *from)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from == NULL || *to != NULL;
}

/* Nodes are what both phases count. */
static void report_nodes(void *task, const char *phase, uint64_t done, uint64_t total)
{
    tr_task_report(task, phase, "nodes", done, total);
}

static int check_raw(const char *raw, struct tr_error *error)
{
    if (raw != NULL && raw[0] != '\0')
        return 0;
    return tr_error_set(error, TR_EINVAL, "raw: the folder of the raw graph is not named");
}

static const struct tr_split_options SPLIT_DEFAULTS = { .size = sizeof SPLIT_DEFAULTS,
                                                        .train_share = 600000,
                                                        .validation_share = 200000,
                                                        .test_share = 200000 };

void tr_split_options_init_sized(struct tr_split_options *options, size_t size)
{
    sized_init(options, size, &SPLIT_DEFAULTS, sizeof SPLIT_DEFAULTS);
}

static int run_split(struct tr_task *task, void *arg, struct error *error)
{
    struct preparation *p = arg;
    struct cancel cancel = task_cancel(task);
    p->split.cancel = &cancel;
    p->split.progress = report_nodes;
    p->split.progress_arg = task;
    return mask_split(p->raw, &p->split, &p->split_report, error);
}

static const struct task_work SPLIT_WORK = { "split", run_split, NULL, preparation_destroy, NULL };

int tr_split_start(const struct tr_split_options *caller, struct tr_task **out,
                   struct tr_error *error)
{
    struct tr_split_options options = SPLIT_DEFAULTS;
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_split_options", error);
    if (rv == 0)
        rv = check_raw(options.raw, error);
    if (rv != 0)
        return rv;
    struct preparation *p = calloc(1, sizeof *p);
    if (p == NULL || !copy_text(&p->raw, options.raw) || !copy_text(&p->ntype, options.ntype) ||
        !copy_text(&p->labels, options.labels)) {
        if (p != NULL)
            preparation_destroy(p);
        return tr_error_set(error, TR_ENOMEM, "%s: no memory to begin", options.raw);
    }
    p->split = (struct mask_split_options){
        .ntype = p->ntype,
        .labels = p->labels,
        .share = { options.train_share, options.validation_share, options.test_share },
        .by_class = options.by_class,
        .replace = options.replace,
        .seed = options.seed
    };
    return task_start(&SPLIT_WORK, p, out, error);
}

int tr_split_result(struct tr_task *task, struct tr_split_report *report, struct tr_error *error)
{
    void *arg;
    int rv = task_enter_ended(task, &SPLIT_WORK, "split", &arg, error);
    if (rv != 0)
        return rv;
    const struct mask_split_report *made = &((const struct preparation *)arg)->split_report;
    const struct tr_split_report known = { .size = sizeof known,
                                           .ntype = made->ntype,
                                           .num_classes = made->num_classes,
                                           .num_nodes = made->num_nodes,
                                           .num_train = made->size[MASK_TRAIN],
                                           .num_validation = made->size[MASK_VALIDATION],
                                           .num_test = made->size[MASK_TEST],
                                           .num_unlabelled = made->num_unlabelled,
                                           .num_without_train = made->num_without_train };
    tr_task_leave(task);
    return sized_write(report, &known, sizeof known, "tr_split_report", error);
}
