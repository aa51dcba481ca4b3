/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a training notes in the history of its run, events.jsonl. A launcher writes that of its job by
 * itself, and is notified of what it cannot see.
 */
#include "config.h" /* PACKAGE_VERSION */

#include <troupe/process.h>

#include "model/training.h"

static void add_step(struct training *t, const char *event, uint64_t steps)
{
    history_file_add(&t->history, event, json_pack("{s:I}", "step", (json_int_t)steps));
}

void training_begin_history(struct training *t, bool resumes)
{
    if (tr_process_is_launched())
        return;
    /* Without memory there is no history, and the training goes on. */
    if (history_file_init(&t->history, files_posix, t->folder.path) != 0)
        return;
    history_file_add(&t->history, "begun",
                     json_pack("{s:s, s:s, s:b}", "by", "train", "version", PACKAGE_VERSION,
                               "resumed", resumes));
    history_file_begin(&t->history);
}

void training_note_saved(struct training *t, uint64_t steps)
{
    add_step(t, "checkpoint", steps);
}

void training_note_era(struct training *t, uint64_t steps)
{
    /* A launcher that does not take the line goes without. */
    if (training_in_cluster(t))
        (void)tr_process_say_era(steps, TR_PROCESS_SAY_NS, NULL);
    add_step(t, "era", steps);
}

void training_end_history(struct training *t, int result, const char *text)
{
    if (t->history.files == NULL)
        return;
    json_t *fields = json_pack("{s:s}", "outcome",
                               result == 0              ? "complete"
                               : result == TR_ECANCELED ? "stopped"
                                                        : "failed");
    if (result != 0 && json_object_set_new(fields, "text", history_text(text)) != 0)
        result = 0; /* a line without it is worth more than none */
    history_file_add(&t->history, "finished", fields);
    history_file_fini(&t->history);
}
