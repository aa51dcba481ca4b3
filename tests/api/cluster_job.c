/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/api/cluster_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "runtime/base/files.h"
#include "tests/api/outcome.h"
#include "tests/scratch.h"

static void write_cluster(struct cluster_job *job, const char *path, const char *limits)
{
    assert_non_null(scratch_folder(job->folder, sizeof job->folder, "job"));
    snprintf(job->file, sizeof job->file, "%s/c.json", job->folder);
    FILE *to = fopen(job->file, "w");
    assert_non_null(to);
    fprintf(to,
            "{\"name\": \"job\", \"graph\": \"%s\", \"seed\": 9, \"limits\": {%s}, \"hosts\": [",
            path, limits);
    for (uint32_t p = 0; p < CLUSTER_JOB_PROCESSES; p++)
        fprintf(to,
                "%s{\"name\": \"h%u\", \"unix\": \"%s/s%u\", \"servers\": 1, \"samplers\": 1, "
                "\"trainers\": 1, \"loops\": 1}",
                p > 0 ? ", " : "", p, job->folder, p);
    fprintf(to, "]}");
    assert_int_equal(fclose(to), 0);
}

void cluster_job_open(struct cluster_job *job, const char *path, const char *limits)
{
    *job = (struct cluster_job){ .folder = "" };
    write_cluster(job, path, limits);
    for (uint32_t p = 0; p < CLUSTER_JOB_PROCESSES; p++) {
        struct tr_session_options o;
        tr_session_options_init(&o);
        o.cluster = job->file;
        o.process = p;
        o.incarnation = 1;
        ok(tr_session_open(&o, &job->sessions[p], &failure));
        ok(tr_graph_open(job->sessions[p], NULL, TR_WAIT_FOREVER, &job->graphs[p], &failure));
    }
}

void cluster_job_close(struct cluster_job *job)
{
    for (uint32_t p = 0; p < CLUSTER_JOB_PROCESSES; p++) {
        tr_graph_close(job->graphs[p]);
        tr_session_close(job->sessions[p]);
    }
    assert_int_equal(files_remove_tree(files_posix, job->folder, NULL), 0);
}
