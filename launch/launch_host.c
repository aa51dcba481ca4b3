/* SPDX-License-Identifier: Apache-2.0 */
/* How a command gets to a host: run here, by ssh, by Slurm's srun, or by a command of the user's. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/launch_plan.h"
#include "launch/line_reader.h"
#include "runtime/base/deadline.h"

/* A helper that was asked to end and does not. */
#define HELPER_GRACE_NS INT64_C(5000000000)
/* The last lines of an ended helper fit in a pipe. */
#define HELPER_READS_MAX 256

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

/* The word with what stands for `name` in it replaced, in malloc'ed memory, or NULL. */
static char *replace_in(const char *word, const char *name, const char *with)
{
    size_t count = 0, size = strlen(name);
    for (const char *at = strstr(word, name); at != NULL; at = strstr(at + size, name))
        count++;
    char *made = malloc(strlen(word) + count * strlen(with) + 1), *end = made;
    if (made == NULL)
        return NULL;
    for (const char *at; (at = strstr(word, name)) != NULL; word = at + size) {
        end = mempcpy(end, word, (size_t)(at - word));
        end = stpcpy(end, with);
    }
    strcpy(end, word);
    return made;
}

/* What runs on the host, in its folder. */
static void add_in_folder(const struct launch_plan *plan, const struct argv_builder *environment,
                          const struct argv_builder *command, struct argv_builder *words)
{
    if (plan->cluster.launcher.workdir != NULL) {
        argv_builder_add(words, "sh");
        argv_builder_add(words, "-c");
        argv_builder_add(words, "cd -- \"$1\" && shift && exec \"$@\"");
        argv_builder_add(words, "sh");
        argv_builder_add(words, plan->cluster.launcher.workdir);
    }
    add_with_environment(words, environment, command);
}

/* The command of the cluster file, with the words that are to run behind its own, or as one text for
 * a shell where it says. */
static int wrap_command(const struct launch_plan *plan, const struct cluster_host *host,
                        const struct argv_builder *command, const struct argv_builder *environment,
                        struct argv_builder *wrapped)
{
    const struct cluster_launcher *launcher = &plan->cluster.launcher;
    struct argv_builder run = { 0 };
    bool placed = false;
    add_in_folder(plan, environment, command, &run);
    char *line = argv_builder_failed(&run) ? NULL : argv_builder_quote(&run);
    int rv = line != NULL ? 0 : TR_ENOMEM;
    const char *const names[][2] = {
        { CLUSTER_COMMAND_HOST, host->name },
        { CLUSTER_COMMAND_ADDRESS, host->address != NULL ? host->address : host->name },
        { CLUSTER_COMMAND_RUN, line }, /* behind the others: it may have their names in it */
    };
    for (uint32_t i = 0; rv == 0 && i < launcher->num_command; i++) {
        char *word = strdup(launcher->command[i]);
        placed = placed || strstr(launcher->command[i], CLUSTER_COMMAND_RUN) != NULL;
        for (int n = 0; n < 3 && word != NULL; n++) {
            char *next = replace_in(word, names[n][0], names[n][1]);
            free(word);
            word = next;
        }
        if (word != NULL)
            argv_builder_add(wrapped, word);
        rv = word != NULL ? 0 : TR_ENOMEM;
        free(word);
    }
    if (!placed)
        argv_builder_add_all(wrapped, &run);
    argv_builder_fini(&run);
    free(line);
    return rv;
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
    else if (plan->kind == CLUSTER_LAUNCH_SRUN)
        wrap_srun(plan, where, command, environment, wrapped);
    else
        rv = wrap_command(plan, where, command, environment, wrapped);
    /* Elsewhere the environment is among the words by now; here child_start() adds it. */
    if (rv == 0 && plan->kind != CLUSTER_LAUNCH_LOCAL)
        argv_builder_fini(environment);
    if (rv == 0 && !argv_builder_failed(wrapped) && !argv_builder_failed(environment))
        return 0;
    return error_set(error, TR_ENOMEM, "host %s: no memory for its commands, or too many words",
                     where->name);
}

/* A line of a helper, or what it left without an end. */
struct helper_stream {
    struct launch_job *job;
    uint32_t host;
    int fd; /* 1 or 2 */
    struct line_reader lines;
};

static void take_line(void *arg, char *line, size_t length)
{
    const struct helper_stream *stream = arg;
    const struct tr_launch_event event = {
        .kind = TR_LAUNCH_HELPER,
        .process = LAUNCHER_NOBODY,
        .host = stream->job->plan->cluster.hosts[stream->host].name,
        .stream = stream->fd,
    };
    launch_events_put(&stream->job->events, &event, line, length);
}

/* False: it has ended. */
static bool take_output(int fd, struct line_reader *lines)
{
    size_t room;
    char *at = line_reader_room(lines, &room);
    ssize_t got = read(fd, at, room);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN;
    if (got == 0) {
        line_reader_end(lines);
        return false;
    }
    line_reader_grew(lines, (size_t)got);
    return true;
}

static void clear_wake(int fd)
{
    uint64_t count;
    ssize_t got = read(fd, &count, sizeof count);
    (void)got;
}

/* Until it has ended; a stop ends it. Its pipes may be held open by what it left behind: they are
 * read until it has ended, and then what is there. */
static void launch_host_follow(struct launch_job *job, struct child_process *child,
                               struct helper_stream streams[2], int *code, int *signal)
{
    int *const fds[] = { &child->out, &child->err };
    struct deadline kill = { .never = true }; /* until it is asked to stop */
    while (!child_ended(child, code, signal)) {
        /* The wish to stop is read in each round behind the wake that was cleared in the one
         * before, so none is missed. */
        bool full = launch_events_full(&job->events), asked = launch_is_stopped(job);
        struct pollfd polled[] = { { .fd = job->wake, .events = POLLIN },
                                   { .fd = child->pidfd, .events = POLLIN },
                                   { .fd = full ? -1 : child->out, .events = POLLIN },
                                   { .fd = full ? -1 : child->err, .events = POLLIN } };
        if (asked && kill.never) {
            child_signal(child, SIGTERM);
            kill = deadline_after(HELPER_GRACE_NS);
        } else if (asked && deadline_passed(&kill)) {
            child_signal(child, SIGKILL);
        }
        poll(polled, 4, child->pidfd < 0 || asked ? CHILD_LOOK_MS : -1);
        if (polled[0].revents != 0)
            clear_wake(job->wake);
        for (int i = 0; i < 2; i++)
            if (*fds[i] >= 0 && polled[2 + i].revents != 0 &&
                !take_output(*fds[i], &streams[i].lines)) {
                close(*fds[i]);
                *fds[i] = -1;
            }
    }
    for (int i = 0; i < 2; i++) {
        for (int reads = 0; *fds[i] >= 0 && reads < HELPER_READS_MAX; reads++) {
            struct pollfd polled = { .fd = *fds[i], .events = POLLIN };
            if (poll(&polled, 1, 0) <= 0 || !take_output(*fds[i], &streams[i].lines))
                break;
        }
        line_reader_end(&streams[i].lines);
    }
}

int launch_help(struct launch_job *job, uint32_t host, const struct argv_builder *words, int *code,
                int *signal, struct error *error)
{
    struct child_process child;
    struct helper_stream *streams = calloc(2, sizeof *streams);
    const struct child_start start = { .words = words->list, .orphan_signal = SIGTERM };
    if (streams == NULL)
        return error_set(error, TR_ENOMEM, "no memory to launch");
    int rv = child_start(&child, &start, error);
    if (rv == 0) {
        for (int i = 0; i < 2; i++) {
            streams[i] = (struct helper_stream){ .job = job, .host = host, .fd = i + 1 };
            line_reader_init(&streams[i].lines, take_line, &streams[i]);
        }
        child_close_input(&child);
        launch_host_follow(job, &child, streams, code, signal);
        child_close(&child);
        /* This is asked behind the end, whatever the exit code: a helper that was ended by a stop
         * has not failed. */
        if (launch_is_stopped(job))
            rv = error_set(error, TR_ECANCELED, "stopped while '%s' ran for host %s",
                           words->list[0], job->plan->cluster.hosts[host].name);
    }
    free(streams);
    return rv;
}

static int launch_host_judge(const char *name, int code, int signal, bool *yes, struct error *error)
{
    /* The signal is asked for first: the code is 0 then. */
    if (signal != 0)
        return error_set(error, TR_ECHILD, "%s was ended by signal %d", name, signal);
    if (code > 1)
        return error_set(error, TR_ECHILD, "cannot run a command there (exit code %d of %s)", code,
                         name);
    *yes = code == 0;
    return 0;
}

int launch_host_ask(struct launch_job *job, uint32_t host, const struct argv_builder *command,
                    bool *yes, struct error *error)
{
    struct argv_builder words = { 0 }, environment = { 0 };
    int code = 0, signal = 0;
    int rv = launch_host_wrap(job->plan, host, command, &environment, &words, error);
    if (rv == 0)
        rv = launch_help(job, host, &words, &code, &signal, error);
    if (rv == 0)
        rv = launch_host_judge(words.list[0], code, signal, yes, error);
    if (rv != 0)
        error_prefix(error, "host %s", job->plan->cluster.hosts[host].name);
    argv_builder_fini(&words);
    argv_builder_fini(&environment);
    return rv;
}
