/* SPDX-License-Identifier: Apache-2.0 */
/* events.jsonl of a run, and the older file beside it: every event that is read has its texts. */
#include <jansson.h>
#include <string.h>

#include "model/run_history.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_files files;
    struct error error = { 0 };
    struct run_history history;
    json_object_seed(1); /* equal inputs run equally */
    memory_files_init(&files, "events.jsonl", data, size);
    int rv = run_history_read(&history, &files.base, FUZZ_FOLDER, &error);
    fuzz_check(rv, &error);
    for (size_t i = 0; rv == 0 && i < history.count; i++) {
        const struct tr_run_event *event = &history.events[i].event;
        const char *const texts[] = { event->event, event->host, event->role, event->outcome,
                                      event->text };
        assert(event->event[0] != '\0' && event->time_ns >= 0);
        assert(event->exit_code >= 0 && event->signal >= 0 && event->pid >= 0);
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            fuzz_touch(texts[t], strlen(texts[t]));
    }
    if (rv == 0)
        run_history_fini(&history);
    memory_files_fini(&files);
    return 0;
}
