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
#include "partition/prepare/feature.h"
#include "partition/prepare/mask_split.h"

_Static_assert(TR_SPLIT_PAIRS_NONE == (int)MASK_PAIRS_NONE &&
                   TR_SPLIT_PAIRS_HALVES == (int)MASK_PAIRS_HALVES &&
                   TR_SPLIT_PAIRS_ADJACENT == (int)MASK_PAIRS_ADJACENT,
               "callers and the split number the pairs alike");
_Static_assert(TR_SPLIT_WHOLE == MASK_SPLIT_WHOLE, "callers and the split have the same whole");
_Static_assert(TR_FEATURE_ONE_HOT_MAX == FEATURE_ONE_HOT_MAX &&
                   TR_FEATURE_WIDTH_MAX == FEATURE_WIDTH_MAX,
               "callers and features have the same bounds");

struct preparation {
    char *raw, *ntype, *etype;
    char *table;                     /* the labels of a split, the feature's name */
    struct mask_split_options split; /* its texts are those above */
    struct mask_split_report split_report;
    struct feature_options feature; /* so are its */
    struct feature_report feature_report;
};

static void preparation_destroy(void *arg)
{
    struct preparation *p = arg;
    free(p->raw);
    free(p->ntype);
    free(p->etype);
    free(p->table);
    free(p);
}

/* False: no memory. Nothing is copied of NULL. */
static bool copy_text(char **to, const char *from)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from == NULL || *to != NULL;
}

static struct preparation *preparation_create(const char *raw, const char *ntype, const char *table,
                                              struct tr_error *error)
{
    struct preparation *p = calloc(1, sizeof *p);
    if (p != NULL && copy_text(&p->raw, raw) && copy_text(&p->ntype, ntype) &&
        copy_text(&p->table, table))
        return p;
    if (p != NULL)
        preparation_destroy(p);
    tr_error_set(error, TR_ENOMEM, "%s: no memory to begin", raw);
    return NULL;
}

static void report_pass(void *task, const char *phase, const char *unit, uint64_t done,
                        uint64_t total)
{
    tr_task_report(task, phase, unit, done, total);
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
    p->split.progress = report_pass;
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
    if (rv == 0 && (unsigned)options.pairs > TR_SPLIT_PAIRS_ADJACENT)
        rv = tr_error_set(error, TR_EINVAL,
                          "pairs: %d; give TR_SPLIT_PAIRS_NONE, _HALVES or "
                          "_ADJACENT",
                          (int)options.pairs);
    if (rv != 0)
        return rv;
    struct preparation *p = preparation_create(options.raw, options.ntype, options.labels, error);
    if (p == NULL)
        return TR_ENOMEM;
    if (!copy_text(&p->etype, options.etype)) {
        preparation_destroy(p);
        return tr_error_set(error, TR_ENOMEM, "%s: no memory to begin", options.raw);
    }
    p->split = (struct mask_split_options){
        .edges = options.edges,
        .etype = p->etype,
        .pairs = (enum mask_pairs)options.pairs,
        .ntype = p->ntype,
        .labels = p->table,
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
                                           .num_without_train = made->num_without_train,
                                           .num_edges = made->num_edges,
                                           .num_single = made->num_single,
                                           .etype = made->etype };
    tr_task_leave(task);
    return sized_write(report, &known, sizeof known, "tr_split_report", error);
}

static int run_feature(struct tr_task *task, void *arg, struct error *error)
{
    struct preparation *p = arg;
    struct cancel cancel = task_cancel(task);
    p->feature.cancel = &cancel;
    p->feature.progress = report_pass;
    p->feature.progress_arg = task;
    return feature_add(p->raw, &p->feature, &p->feature_report, error);
}

static const struct task_work FEATURE_WORK = { "feature", run_feature, NULL, preparation_destroy,
                                               NULL };

/* The number that a caller gave may be none of the kinds. */
static int kind_of(enum tr_feature_kind given, enum feature_kind *kind, struct tr_error *error)
{
    switch (given) {
    case TR_FEATURE_DEGREE:
        *kind = FEATURE_DEGREE;
        return 0;
    case TR_FEATURE_ONE_HOT:
        *kind = FEATURE_ONE_HOT;
        return 0;
    case TR_FEATURE_RANDOM:
        *kind = FEATURE_RANDOM;
        return 0;
    case TR_FEATURE_PAGERANK:
        *kind = FEATURE_PAGERANK;
        return 0;
    }
    return tr_error_set(error, TR_EINVAL, "kind %d is not a value of enum tr_feature_kind",
                        (int)given);
}

int tr_feature_start(const struct tr_feature_options *caller, struct tr_task **out,
                     struct tr_error *error)
{
    struct tr_feature_options options = TR_FEATURE_OPTIONS_INIT;
    enum feature_kind kind = FEATURE_DEGREE;
    *out = NULL;
    int rv = sized_read(&options, sizeof options, caller, "tr_feature_options", error);
    if (rv == 0)
        rv = check_raw(options.raw, error);
    if (rv == 0)
        rv = kind_of(options.kind, &kind, error);
    if (rv != 0)
        return rv;
    struct preparation *p = preparation_create(options.raw, options.ntype, options.name, error);
    if (p == NULL)
        return TR_ENOMEM;
    p->feature = (struct feature_options){ .kind = kind,
                                           .ntype = p->ntype,
                                           .name = p->table,
                                           .width = options.width,
                                           .replace = options.replace,
                                           .seed = options.seed };
    return task_start(&FEATURE_WORK, p, out, error);
}

int tr_feature_result(struct tr_task *task, struct tr_feature_report *report,
                      struct tr_error *error)
{
    void *arg;
    int rv = task_enter_ended(task, &FEATURE_WORK, "making of features", &arg, error);
    if (rv != 0)
        return rv;
    const struct feature_report *made = &((const struct preparation *)arg)->feature_report;
    const struct tr_feature_report known = { .size = sizeof known,
                                             .ntype = made->ntype,
                                             .rounds = made->rounds,
                                             .num_nodes = made->num_nodes,
                                             .width = made->width };
    tr_task_leave(task);
    return sized_write(report, &known, sizeof known, "tr_feature_report", error);
}
