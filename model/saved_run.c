/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of a run as anybody may read it. */
#include <stdlib.h>

#include <troupe/run.h>

#include "api/sized.h"
#include "model/run_options.h"
#include "model/run_record.h"
#include "model/run_same.h"
#include "runtime/base/files.h"

struct tr_run {
    struct run_record record;
};

bool tr_run_named(const char *path)
{
    return run_record_named(path);
}

int tr_run_open(const char *path, struct tr_run **out, struct tr_error *error)
{
    *out = NULL;
    if (path == NULL)
        return tr_error_set(error, TR_EINVAL, "the folder of a run is NULL");
    struct tr_run *run = malloc(sizeof *run);
    if (run == NULL)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory for a run", path);
    int rv = run_record_open(&run->record, path, error);
    if (rv == 0)
        *out = run;
    else
        free(run);
    return rv;
}

void tr_run_close(struct tr_run *run)
{
    if (run == NULL)
        return;
    run_record_close(&run->record);
    free(run);
}

int tr_run_info(const struct tr_run *run, struct tr_run_info *info, struct tr_error *error)
{
    const struct run_record *record = &run->record;
    const struct run_epoch *best = run_record_best(record);
    const struct tr_run_info known = { .size = sizeof known,
                                       .path = record->path,
                                       .version = record->version,
                                       .graph = record->graph,
                                       .kernels = record->kernels,
                                       .num_options = record->num_options,
                                       .num_epochs = record->num_epochs,
                                       .best = best != NULL ? (uint64_t)(best - record->epochs) : 0,
                                       .parameters = record->parameters,
                                       .has_best = best != NULL,
                                       .has_model = record->has_model,
                                       .complete = run_record_is_complete(record),
                                       .tested = record->tested };
    return sized_write(info, &known, sizeof known, "tr_run_info", error);
}

int tr_run_option(const struct tr_run *run, uint64_t index, const char **name, const char **value,
                  struct tr_error *error)
{
    if (index >= run->record.num_options)
        return tr_error_set(error, TR_ERANGE, "%s: there is no option %llu; it has %zu",
                            run->record.path, (unsigned long long)index, run->record.num_options);
    if (name != NULL)
        *name = run->record.options[index].name;
    if (value != NULL)
        *value = run->record.options[index].value;
    return 0;
}

const char *tr_run_value(const struct tr_run *run, const char *name)
{
    return run_record_value(&run->record, name);
}

int tr_run_get_epoch(const struct tr_run *run, uint64_t index, struct tr_run_epoch *epoch,
                     struct tr_scores *validation, struct tr_error *error)
{
    if (index >= run->record.num_epochs)
        return tr_error_set(error, TR_ERANGE, "%s: there is no epoch %llu, from 0; it has %zu",
                            run->record.path, (unsigned long long)index, run->record.num_epochs);
    const struct run_epoch *from = &run->record.epochs[index];
    const struct tr_run_epoch known = { .size = sizeof known,
                                        .epoch = from->epoch,
                                        .steps = from->steps,
                                        .train_loss = from->train_loss,
                                        .seconds = from->seconds,
                                        .evaluated = from->evaluated,
                                        .best = from->best };
    int rv = sized_write(epoch, &known, sizeof known, "tr_run_epoch", error);
    if (rv == 0 && validation != NULL)
        rv = sized_write(validation, &from->validation, sizeof from->validation, "tr_scores",
                         error);
    return rv;
}

int tr_run_get_test(const struct tr_run *run, struct tr_scores *test, struct tr_error *error)
{
    if (!run->record.tested)
        return tr_error_set(error, TR_EEND, "%s: it was not tested", run->record.path);
    return sized_write(test, &run->record.test, sizeof run->record.test, "tr_scores", error);
}

uint64_t tr_run_num_events(const struct tr_run *run)
{
    return run->record.history.count;
}

int tr_run_get_event(const struct tr_run *run, uint64_t index, struct tr_run_event *event,
                     struct tr_error *error)
{
    const struct run_history *history = &run->record.history;
    if (index >= history->count)
        return tr_error_set(error, TR_ERANGE, "%s: there is no event %llu, from 0; it has %zu",
                            run->record.path, (unsigned long long)index, history->count);
    return sized_write(event, &history->events[index].event, sizeof history->events[index].event,
                       "tr_run_event", error);
}

int tr_run_compare(const struct tr_run *run, const struct tr_train_options *options, bool *longer,
                   struct tr_error *error)
{
    struct tr_train_options read = run_options_defaults();
    struct error why = { 0 };
    *longer = false;
    int rv = sized_read(&read, sizeof read, options, "tr_train_options", error);
    if (rv != 0)
        return rv;
    char *path = files_join(run->record.path, "config.json");
    if (path == NULL)
        return tr_error_set(error, TR_ENOMEM, "%s: no memory", run->record.path);
    rv = run_compare_options(path, run->record.config, &read, longer, &why);
    free(path);
    return rv == 0 ? 0 : tr_error_set(error, rv, "%s", why.text);
}
