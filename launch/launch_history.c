/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* PACKAGE_VERSION */

#include "launch/launch_history.h"

#include <stdlib.h>

#include "actors/cluster/launcher.h"
#include "actors/cluster/process_notice.h"

int launch_history_init(struct launch_history *history, const struct launch_plan *plan)
{
    *history = (struct launch_history){ .plan = plan, .file = { .fd = -1 } };
    return plan->run_here != NULL ? history_file_init(&history->file, files_posix, plan->run_here)
                                  : 0;
}

void launch_history_fini(struct launch_history *history)
{
    history_file_fini(&history->file);
}

/* Before the first event, so that a launch that starts nothing has none. */
static void launch_history_start(struct launch_history *history)
{
    const struct launch_plan *plan = history->plan;
    if (history->began)
        return;
    history->began = true;
    history_file_add(&history->file, "begun",
                     json_pack("{s:s, s:o, s:s, s:I}", "by", "launch", "job",
                               history_text(plan->cluster.name), "version", PACKAGE_VERSION,
                               "processes", (json_int_t)plan->plan.plan.num_processes));
}

/* NULL: no memory. */
static json_t *fields_of(const struct launch_history *history, uint32_t process)
{
    const struct plan *plan = &history->plan->plan.plan;
    const struct plan_process *plays = &plan->processes[process];
    return json_pack("{s:I, s:o, s:s}", "process", (json_int_t)process, "host",
                     history_text(history->plan->cluster.hosts[plays->host].name), "role",
                     launcher_role_name(launcher_role_of(plan, process)));
}

/* Sets a field of an object that may be NULL; the reference is taken over. */
static void add_field(json_t *fields, const char *key, json_t *value)
{
    if (json_object_set_new(fields, key, value) != 0)
        return; /* a line without it is worth more than none */
}

void launch_history_event(struct launch_history *history, const struct tr_launch_event *event,
                          const char *text)
{
    if (history->file.files == NULL)
        return;
    launch_history_start(history);
    json_t *fields = fields_of(history, event->process);
    const char *name = NULL;
    switch (event->kind) {
    case TR_LAUNCH_STARTED:
        name = "started";
        add_field(fields, "pid", json_integer(event->pid));
        break;
    case TR_LAUNCH_FAILED:
        name = "failed";
        add_field(fields, "text", history_text(text));
        break;
    case TR_LAUNCH_KERNELS:
        name = "kernels";
        add_field(fields, "text", history_text(text));
        break;
    case TR_LAUNCH_STOPPING:
        name = "stopping";
        break;
    case TR_LAUNCH_KILLED:
        name = "killed";
        break;
    case TR_LAUNCH_ENDED:
        name = "ended";
        if (event->signal != 0)
            add_field(fields, "signal", json_integer(event->signal));
        else
            add_field(fields, "exit_code", json_integer(event->exit_code));
        break;
    case TR_LAUNCH_LINE:
    case TR_LAUNCH_HELPER:
    case TR_LAUNCH_NOTE:
        json_decref(fields);
        return;
    }
    history_file_add(&history->file, name, fields);
}

static bool is_chief(const struct launch_history *history, uint32_t process)
{
    const struct plan_range *ranks = &history->plan->plan.plan.processes[process].trainers;
    return ranks->count > 0 && ranks->first == 0;
}

static void take_silent(struct launch_history *history, uint32_t witness, const char *line)
{
    uint32_t process, incarnation;
    if (!notice_silent(line, &process, &incarnation) ||
        process >= history->plan->plan.plan.num_processes)
        return;
    json_t *fields = fields_of(history, process);
    add_field(fields, "by", json_integer(witness));
    history_file_add(&history->file, "silent", fields);
}

static void take_step(struct launch_history *history, uint32_t process, const char *line,
                      const char *notice, const char *event)
{
    uint64_t step;
    if (!notice_step(line, notice, &step))
        return;
    json_t *fields = json_pack("{s:I}", "step", (json_int_t)step);
    add_field(fields, "process", json_integer(process));
    history_file_add(&history->file, event, fields);
}

void launch_history_line(struct launch_history *history, uint32_t process, const char *line)
{
    if (history->file.files == NULL)
        return;
    if (notice_is(line, NOTICE_READY)) {
        history_file_add(&history->file, "ready", fields_of(history, process));
        if (is_chief(history, process))
            history_file_begin(&history->file);
    } else if (notice_is(line, NOTICE_CHECKPOINT)) {
        take_step(history, process, line, NOTICE_CHECKPOINT, "checkpoint");
    } else if (notice_is(line, NOTICE_ERA)) {
        take_step(history, process, line, NOTICE_ERA, "era");
    } else if (notice_is(line, NOTICE_SILENT)) {
        take_silent(history, process, line);
    } else if (notice_is(line, NOTICE_LEFT)) {
        json_t *fields = fields_of(history, process);
        add_field(fields, "asked", json_boolean(notice_left_asked(line)));
        history_file_add(&history->file, "left", fields);
    } else if (notice_is(line, NOTICE_COMPLETE)) {
        history_file_add(&history->file, "complete", fields_of(history, process));
    }
}

void launch_history_end(struct launch_history *history, int result, const char *text)
{
    if (history->file.files == NULL || !history->began)
        return;
    json_t *fields = json_pack("{s:s}", "outcome",
                               result == 0              ? "complete"
                               : result == TR_ECANCELED ? "stopped"
                                                        : "failed");
    if (result != 0)
        add_field(fields, "text", history_text(text));
    history_file_add(&history->file, "finished", fields);
}
