/* SPDX-License-Identifier: Apache-2.0 */
/* How a command gets to a host: run here, by ssh, or by Slurm's srun. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/launch/child.h"
#include "cli/launch/launch.h"

/* `env A=1 ... command`: neither ssh nor srun carries an environment everywhere. */
static void add_with_environment(struct argv_builder *words, const struct argv_builder *environment,
                                 const struct argv_builder *command)
{
    if (environment->count > 0) {
        argv_builder_add(words, "env");
        argv_builder_add_all(words, environment);
    }
    argv_builder_add_all(words, command);
}

static int wrap_ssh(const struct launch_plan *plan, const struct cluster_host *host,
                    const struct argv_builder *command, const struct argv_builder *environment,
                    struct argv_builder *wrapped)
{
    const char *name = host->address != NULL ? host->address : host->name;
    struct argv_builder remote = { 0 };
    add_with_environment(&remote, environment, command);
    char *line = argv_builder_failed(&remote) ? NULL : argv_builder_quote(&remote);
    argv_builder_fini(&remote);
    struct argv_builder folder = { 0 };
    if (plan->cluster.launcher.workdir != NULL)
        argv_builder_add(&folder, plan->cluster.launcher.workdir);
    char *where = argv_builder_quote(&folder);
    argv_builder_fini(&folder);
    argv_builder_add(wrapped, "ssh");
    argv_builder_add(wrapped, "-o");
    argv_builder_add(wrapped, "BatchMode=yes"); /* nobody is there to type a password */
    if (plan->cluster.launcher.user != NULL) {
        argv_builder_add(wrapped, "-l");
        argv_builder_add(wrapped, plan->cluster.launcher.user);
    }
    argv_builder_add(wrapped, "--");
    argv_builder_add(wrapped, name);
    if (line != NULL && where != NULL && where[0] != '\0')
        argv_builder_addf(wrapped, "cd %s && exec %s", where, line);
    else if (line != NULL)
        argv_builder_addf(wrapped, "exec %s", line);
    bool made = line != NULL && where != NULL;
    free(line);
    free(where);
    return made ? 0 : TR_ENOMEM;
}

static void wrap_srun(const struct launch_plan *plan, const struct cluster_host *host,
                      const struct argv_builder *command, const struct argv_builder *environment,
                      struct argv_builder *wrapped)
{
    argv_builder_add(wrapped, "srun");
    argv_builder_add(wrapped, "--nodes=1");
    argv_builder_add(wrapped, "--ntasks=1");
    argv_builder_add(wrapped, "--overlap"); /* processes of one host share its allocation */
    argv_builder_addf(wrapped, "--nodelist=%s", host->name);
    if (plan->cluster.launcher.workdir != NULL)
        argv_builder_addf(wrapped, "--chdir=%s", plan->cluster.launcher.workdir);
    add_with_environment(wrapped, environment, command);
}

int launch_host_wrap(const struct launch_plan *plan, uint32_t host,
                     const struct argv_builder *command, struct argv_builder *environment,
                     struct argv_builder *wrapped, struct error *error)
{
    const struct cluster_host *where = &plan->cluster.hosts[host];
    int rv = 0;
    if (plan->kind == CLUSTER_LAUNCH_LOCAL)
        argv_builder_add_all(wrapped, command);
    else if (plan->kind == CLUSTER_LAUNCH_SSH)
        rv = wrap_ssh(plan, where, command, environment, wrapped);
    else
        wrap_srun(plan, where, command, environment, wrapped);
    if (rv == 0 && plan->kind != CLUSTER_LAUNCH_LOCAL)
        argv_builder_fini(environment);
    if (rv == 0 && !argv_builder_failed(wrapped) && !argv_builder_failed(environment))
        return 0;
    return error_set(error, TR_ENOMEM, "host %s: no memory for its commands, or too many words",
                     where->name);
}

/* Waits for the end of a command that prints where we do. */
static int wait_for(struct child_process *child, const char *name, bool *yes, struct error *error)
{
    int status;
    while (waitpid(child->pid, &status, 0) < 0)
        if (errno != EINTR)
            return error_set_errno(error, errno, "%s: cannot wait for its end", name);
    child->pid = 0;
    if (WIFSIGNALED(status))
        return error_set(error, TR_ECHILD, "%s was ended by signal %d", name, WTERMSIG(status));
    if (WEXITSTATUS(status) > 1)
        return error_set(error, TR_ECHILD, "cannot run a command there (exit code %d of %s)",
                         WEXITSTATUS(status), name);
    *yes = WEXITSTATUS(status) == 0;
    return 0;
}

int launch_host_ask(const struct launch_plan *plan, uint32_t host,
                    const struct argv_builder *command, bool *yes, struct error *error)
{
    struct argv_builder words = { 0 }, environment = { 0 };
    struct child_process child;
    int rv = launch_host_wrap(plan, host, command, &environment, &words, error);
    if (rv == 0) {
        const struct child_start start = { .words = words.list,
                                           .orphan_signal = SIGTERM,
                                           .inherit = true };
        rv = child_start(&child, &start, error);
    }
    if (rv == 0) {
        child_close_input(&child);
        rv = wait_for(&child, words.list[0], yes, error);
        child_close(&child);
    }
    if (rv != 0)
        error_prefix(error, "host %s", plan->cluster.hosts[host].name);
    argv_builder_fini(&words);
    argv_builder_fini(&environment);
    return rv;
}
