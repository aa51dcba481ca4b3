/* SPDX-License-Identifier: Apache-2.0 */
/* The documents that processes answer `troupe status` with, one a line: each is shown, whatever it
 * says, and a process says nothing for another. */
#include <math.h>
#include <string.h>

#include "cli/lib/report.h"
#include "launch/status_view.h"
#include "tests/fuzz/fuzz.h"

#define PROCESSES 4u

static struct cluster_process processes[PROCESSES];
static struct cluster_host hosts[1] = { { .name = (char *)(uintptr_t) "a" } };
static struct cluster cluster = { .hosts = hosts, .num_hosts = 1 };
static const struct cluster_plan plan = { .cluster = &cluster, .processes = processes };

static void use(struct job_progress_now *job, uint32_t process, json_t *document)
{
    struct status_view view;
    struct job_progress_now before = *job;
    status_view_fill(&plan, process, document, 1000, &view);
    assert(view.up == (document != NULL) && view.links_up <= view.links);
    struct status_link_view link;
    for (uint32_t i = 0; i <= view.links; i++)
        assert(status_view_link(document, i, &link) == (i < view.links));
    assert(isfinite(view.progress.loss) && isfinite(view.progress.score));
    assert(view.seeds_per_s >= 0 && view.cpu_s >= 0 && view.cpus >= 0);
    assert(strlen(view.progress.score_name) < sizeof view.progress.score_name);
    if (document == NULL)
        return;
    status_view_add_job(job, document);
    /* The knowledge of an era only grows. */
    assert(job->era >= before.era);
    assert(job->era > before.era || job->epoch >= before.epoch);
    struct report report;
    report_init(&report, true);
    report_row(&report, "processes");
    report_seconds(&report, "uptime_seconds", "uptime", view.uptime_s);
    report_bytes(&report, "bytes_sent", "sent", view.sent_bytes);
    report_count(&report, "mailbox_messages", "mailboxes", view.mailbox_messages);
    report_rows_end(&report);
    report_fini(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct job_progress_now job = { 0 };
    json_object_seed(1); /* equal inputs run equally */
    for (uint32_t process = 0; process < PROCESSES; process++) {
        const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
        size_t length = end != NULL ? (size_t)(end - data) : size;
        void *line = fuzz_block(data, length);
        json_t *document = status_view_parse(line, length);
        use(&job, process, document);
        json_decref(document);
        free(line);
        data += length + (end != NULL);
        size -= length + (end != NULL);
    }
    return 0;
}
