/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `troupe import debian`: what apt knows of this machine's archive into a raw graph.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>

#include "cli/cmd_import.h"
#include "cli/lib/inside.h"
#include "cli/lib/raw_report.h"
#include "partition/import/debian.h"

#define APT_COMMAND "apt-cache dumpavail"
/* What a shell ends with when there is no such command. */
#define SHELL_NOT_FOUND 127

static int import_file(const struct import_debian_values *values, struct raw_report *making,
                       struct error *error)
{
    FILE *input = fopen(values->from, "re");
    if (input == NULL)
        return error_set_errno(error, errno, "--from %s", values->from);
    int rc = debian_import(input, values->from, values->out, &making->options, NULL, error);
    fclose(input);
    return rc;
}

static int import_apt(const struct import_debian_values *values, struct raw_report *making,
                      struct error *error)
{
    FILE *input = popen("exec " APT_COMMAND, "re");
    if (input == NULL)
        return error_set_errno(error, errno, "cannot run %s", APT_COMMAND);
    int rc = debian_import(input, APT_COMMAND, values->out, &making->options, NULL, error);
    int status = pclose(input);
    if (rc < 0 && WIFEXITED(status) && WEXITSTATUS(status) == SHELL_NOT_FOUND)
        return error_set(error, TR_ENOENT,
                         "there is no apt-cache here; give the output of `%s` of a Debian system "
                         "with --from FILE",
                         APT_COMMAND);
    return rc;
}

int import_debian_run(const struct invocation *invocation, const void *opaque)
{
    const struct import_debian_values *values = opaque;
    struct error error = { 0 };
    struct raw_report making;
    int rc = raw_report_begin(&making, values->quiet, values->replace, &error);
    if (rc < 0)
        return fail_inside(invocation, &error);
    rc = values->from != NULL ? import_file(values, &making, &error)
                              : import_apt(values, &making, &error);
    return raw_report_report(&making, invocation, rc, values->out, values->json, &error);
}
