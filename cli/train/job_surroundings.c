/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/train/job_surroundings.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/lib/command.h"

/* Threads that are stuck in the BLAS end with the process alone. Where memory was lacking, another
 * start would end in the same way, which the exit code says to a launcher; a process that was only
 * interrupted meanwhile may well be started again. */
static void end_stuck(void *arg, const struct error *error)
{
    (void)arg;
    fprintf(stderr, "troupe: %s\n", error->text);
    fflush(NULL);
    _exit(error->code == TR_ENOMEM && tr_process_is_launched() ? EXIT_USAGE : EXIT_FAILED);
}

static void place(void *arg, struct tr_session_options *options)
{
    const struct job_surroundings *surroundings = arg;
    if (surroundings->process != NULL)
        process_session(surroundings->process, options);
}

static void opened(void *arg, struct tr_session *session)
{
    const struct job_surroundings *surroundings = arg;
    if (surroundings->process != NULL)
        process_attach(surroundings->process, session);
    if (surroundings->interrupter != NULL)
        interrupter_watch(surroundings->interrupter, session);
}

struct run_job_hooks job_surroundings_hooks(struct job_surroundings *surroundings)
{
    return (struct run_job_hooks){ .cancel = surroundings->cancel,
                                   .stuck = end_stuck,
                                   .place = place,
                                   .opened = opened,
                                   .arg = surroundings };
}

void job_surroundings_warn(const struct run_job *job, const char *graph)
{
    if (!tr_graph_has_checksums(job->graph))
        fprintf(stderr,
                "troupe: %s: an older version wrote it without checksums: its files are "
                "loaded unchecked; partition again to have them\n",
                graph);
}
