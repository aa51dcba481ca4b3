/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs one job and strikes its processes: strike_job [options] COMMAND...
 *
 * The command is a launcher that prints "[who N] started, process number P" for each process, as
 * `troupe launch` does. Its output goes to standard output, with the milliseconds since the
 * beginning. A shell would be milliseconds late; here a strike comes within a fraction of one.
 *
 *   -m end      process 0 dies 0 to 5 ms after the last line of the report
 *   -m random   one to four strikes at drawn moments: a process dies, stands still for a while, or
 *               the launcher dies and is started anew
 *   -m kill     one process dies at a drawn moment
 *   -m none     nothing is struck from here; TROUPE_FAILPOINT may do it
 *   -f FOLDER   TROUPE_FAILPOINT_FOLDER of processes that stop themselves: -w SECONDS later each
 *               goes on
 *   -s SEED     draws it all
 *   -w SECONDS  -m end: another process stands still as long, from 0 to 5 ms after the report on
 *   -t MS       -m random: the time that a job takes undisturbed
 *   -l SECONDS  the job hangs when it runs so long after the last strike
 *   -p LIMIT    the program whose "-p PROCESS" shows what a process is at, run on one that hangs
 *
 * Exit status: 0 the last launcher ended with 0, 1 with something else, 3 the job hung, 4 processes
 * were left behind. Whatever happened, no process of the job is left when this ends: it adopts
 * orphans.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES_MAX 16
#define STRIKES_MAX 16
#define SEEN_MAX 8
#define FOLDER_LOOK_US (50 * US_PER_MS)
#define FAMILY_MAX 256
#define LINE_MAX_BYTES 4096
#define US_PER_MS INT64_C(1000)
#define US_PER_S INT64_C(1000000)
/* A process whose launcher was killed ends by itself within 30 s (troupe-launch(1)). */
#define ORPHANS_US (35 * US_PER_S)
/* A launcher that ended left nothing; the kernel may be slow to take away what is dead. */
#define REMAINS_US (3 * US_PER_S)

enum mode { MODE_NONE, MODE_END, MODE_RANDOM, MODE_KILL };
enum action { KILL_PROCESS, STOP_PROCESS, CONTINUE_PROCESS, RELAUNCH };

struct strike {
    int64_t at_us;
    enum action action;
    int process;
    pid_t pid;        /* CONTINUE_PROCESS: what was stopped */
    int64_t lasts_us; /* STOP_PROCESS */
};

struct job {
    enum mode mode;
    uint64_t state; /* of the draws */
    int64_t whole_us, limit_us, stop_us, begun_us, calm_us;
    const char *limit_program;
    const char *folder;      /* of fail-points that stop a process */
    char seen[SEEN_MAX][64]; /* their files that were seen */
    int num_seen;
    char **command;
    pid_t launcher;
    int fd;
    bool reported, relaunched;
    pid_t pids[PROCESSES_MAX];
    int num_processes;
    struct strike strikes[STRIKES_MAX]; /* in no order */
    int num_strikes;
    char line[LINE_MAX_BYTES];
    size_t line_count;
};

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(struct job *job, uint64_t below)
{
    uint64_t z = job->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % below;
}

static double since_ms(const struct job *job)
{
    return (double)(now_us() - job->begun_us) / 1000;
}

static void add_strike(struct job *job, struct strike strike)
{
    if (job->num_strikes < STRIKES_MAX)
        job->strikes[job->num_strikes++] = strike;
}

static void launch(struct job *job)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0 || (job->launcher = fork()) < 0) {
        perror("strike_job: starting the job");
        exit(1);
    }
    if (job->launcher == 0) {
        int null = open("/dev/null", O_RDONLY);
        dup2(null, 0);
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        execvp(job->command[0], job->command);
        _exit(127);
    }
    close(ends[1]);
    job->fd = ends[0];
    job->line_count = 0;
}

/* The strikes of -m end, whose moments count from the report. */
static void plan_end(struct job *job)
{
    int64_t now = now_us();
    add_strike(job,
               (struct strike){ .at_us = now + (int64_t)draw(job, 5000), .action = KILL_PROCESS });
    if (job->stop_us == 0 || job->num_processes < 2)
        return;
    int other = 1 + (int)draw(job, (uint64_t)job->num_processes - 1);
    add_strike(job, (struct strike){ .at_us = now + (int64_t)draw(job, 5000),
                                     .action = STOP_PROCESS,
                                     .process = other,
                                     .lasts_us = job->stop_us });
}

/* Shorter and longer than it takes to be taken for dead. */
static int64_t draw_pause_us(struct job *job)
{
    return (int64_t)(UINT64_C(50000) << draw(job, 8)) + (int64_t)draw(job, 50000);
}

static void plan_random(struct job *job)
{
    for (uint64_t n = job->mode == MODE_KILL ? 1 : 1 + draw(job, 4); n > 0; n--) {
        uint64_t kind = job->mode == MODE_KILL ? 0 : draw(job, 10);
        add_strike(
            job, (struct strike){ .at_us = job->begun_us +
                                           (int64_t)draw(job, (uint64_t)job->whole_us * 5 / 4 + 1),
                                  .action = kind < 6   ? KILL_PROCESS
                                            : kind < 8 ? STOP_PROCESS
                                                       : RELAUNCH,
                                  .process = (int)draw(job, PROCESSES_MAX),
                                  .lasts_us = draw_pause_us(job) });
    }
}

static bool was_seen(const struct job *job, const char *name)
{
    for (int i = 0; i < job->num_seen; i++)
        if (strcmp(job->seen[i], name) == 0)
            return true;
    return false;
}

/* Processes that stopped themselves at a fail-point left their numbers in a file of its name. */
static void look_for_stopped(struct job *job)
{
    DIR *folder = opendir(job->folder);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char path[4096];
        int pid = 0;
        if (entry->d_name[0] == '.' || job->num_seen == SEEN_MAX || was_seen(job, entry->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s", job->folder, entry->d_name);
        FILE *file = fopen(path, "re");
        bool whole = file != NULL && fscanf(file, "%d", &pid) == 1 && pid > 1;
        if (file != NULL)
            fclose(file);
        if (!whole)
            continue;
        snprintf(job->seen[job->num_seen++], sizeof job->seen[0], "%.63s", entry->d_name);
        add_strike(job, (struct strike){ .at_us = now_us() + job->stop_us,
                                         .action = CONTINUE_PROCESS,
                                         .pid = pid });
        printf("%10.3f --- process number %d stands still at %s\n", since_ms(job), pid,
               entry->d_name);
    }
    if (folder != NULL)
        closedir(folder);
}

static void take_line(struct job *job)
{
    char *line = job->line, who[64];
    int process, pid;
    line[job->line_count] = '\0';
    printf("%10.3f %s\n", since_ms(job), line);
    job->line_count = 0;
    if (sscanf(line, "[%63s %d] started, process number %d", who, &process, &pid) == 3 &&
        process >= 0 && process < PROCESSES_MAX) {
        job->pids[process] = pid;
        if (process >= job->num_processes)
            job->num_processes = process + 1;
    }
    const char *said = strstr(line, "] run ");
    if (said != NULL && !job->reported) {
        job->reported = true;
        if (job->mode == MODE_END)
            plan_end(job);
    }
}

/* False at the end of what the launcher says. */
static bool read_some(struct job *job)
{
    char bytes[4096];
    ssize_t count = read(job->fd, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR)
        return true;
    for (ssize_t i = 0; i < count; i++) {
        if (bytes[i] == '\n' || job->line_count + 1 == sizeof job->line)
            take_line(job);
        else
            job->line[job->line_count++] = bytes[i];
    }
    return count > 0;
}

static void relaunch(struct job *job)
{
    kill(job->launcher, SIGKILL);
    waitpid(job->launcher, NULL, 0);
    close(job->fd);
    job->relaunched = true;
    printf("%10.3f --- the launcher died and is started anew\n", since_ms(job));
    launch(job);
}

static void strike(struct job *job, const struct strike *strike)
{
    pid_t pid = job->num_processes > 0 ? job->pids[strike->process % job->num_processes] : 0;
    job->calm_us = now_us();
    switch (strike->action) {
    case RELAUNCH:
        relaunch(job);
        return;
    case CONTINUE_PROCESS:
        kill(strike->pid, SIGCONT);
        printf("%10.3f --- process number %d goes on\n", since_ms(job), (int)strike->pid);
        return;
    case STOP_PROCESS:
        if (pid == 0 || kill(pid, SIGSTOP) != 0)
            return;
        add_strike(job, (struct strike){ .at_us = job->calm_us + strike->lasts_us,
                                         .action = CONTINUE_PROCESS,
                                         .pid = pid });
        printf("%10.3f --- process number %d stands still for %.3f s\n", since_ms(job), (int)pid,
               (double)strike->lasts_us / 1e6);
        return;
    default:
        if (pid != 0 && kill(pid, SIGKILL) == 0)
            printf("%10.3f --- process number %d is killed\n", since_ms(job), (int)pid);
        return;
    }
}

/* The next strike's place, or -1. */
static int next_strike(const struct job *job)
{
    int next = -1;
    for (int i = 0; i < job->num_strikes; i++)
        if (next < 0 || job->strikes[i].at_us < job->strikes[next].at_us)
            next = i;
    return next;
}

/* Shows what a process and all that came of it are at. Not this one: the program stops what it
 * shows. */
static void show(const struct job *job, pid_t shown)
{
    pid_t child;
    char pid[16];
    int status;
    fflush(NULL);
    if (job->limit_program == NULL || (child = fork()) < 0)
        return;
    if (child == 0) {
        snprintf(pid, sizeof pid, "%d", (int)shown);
        dup2(1, 2);
        execl(job->limit_program, job->limit_program, "-p", pid, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
}

/* The children of this process, zombies reaped. */
static int list_children(pid_t family[FAMILY_MAX])
{
    char path[64];
    int count = 0;
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)getpid(), (int)getpid());
    FILE *file = fopen(path, "re");
    while (file != NULL && count < FAMILY_MAX && fscanf(file, "%d", &family[count]) == 1)
        count++;
    if (file != NULL)
        fclose(file);
    return count;
}

/* True when all have gone in time; otherwise kills them, and what they leave to us. */
static bool all_gone(struct job *job, int64_t patience_us)
{
    pid_t family[FAMILY_MAX];
    int64_t until_us = now_us() + patience_us;
    int count;
    while ((count = list_children(family)) > 0 && now_us() < until_us)
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    if (count == 0)
        return true;
    for (int i = 0; i < count; i++) {
        show(job, family[i]);
    }
    for (int round = 0; round < 1000 && (count = list_children(family)) > 0; round++) {
        for (int i = 0; i < count; i++) {
            kill(family[i], SIGKILL);
        }
        nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    }
    return false;
}

/* Plays until the launcher says no more; false: it hangs. */
static bool play(struct job *job)
{
    for (;;) {
        int at = next_strike(job);
        int64_t now = now_us(), hang_us = job->calm_us + job->limit_us;
        int64_t until_us = at >= 0 ? job->strikes[at].at_us : hang_us;
        if (at >= 0 && until_us <= now) {
            struct strike due = job->strikes[at];
            job->strikes[at] = job->strikes[--job->num_strikes];
            strike(job, &due);
            continue;
        }
        if (until_us <= now)
            return false;
        if (job->folder != NULL) {
            look_for_stopped(job);
            until_us = until_us < now + FOLDER_LOOK_US ? until_us : now + FOLDER_LOOK_US;
        }
        struct pollfd polled = { .fd = job->fd, .events = POLLIN };
        int64_t left_us = until_us - now;
        struct timespec wait = { .tv_sec = left_us / US_PER_S,
                                 .tv_nsec = left_us % US_PER_S * 1000 };
        if (ppoll(&polled, 1, &wait, NULL) > 0 && !read_some(job))
            return true;
    }
}

static int run(struct job *job)
{
    int status = 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    job->begun_us = job->calm_us = now_us();
    if (job->mode == MODE_RANDOM || job->mode == MODE_KILL)
        plan_random(job);
    launch(job);
    if (!play(job)) {
        printf("%10.3f --- the job hangs\n", since_ms(job));
        show(job, job->launcher);
        kill(job->launcher, SIGKILL);
        job->limit_program = NULL;
        all_gone(job, 0);
        return 3;
    }
    waitpid(job->launcher, &status, 0);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    printf("%10.3f --- the launcher ended with %d\n", since_ms(job), code);
    /* A process that stands still can't end by itself; it would go on when it is continued. */
    for (int i = 0; i < job->num_strikes; i++)
        if (job->strikes[i].action == CONTINUE_PROCESS)
            kill(job->strikes[i].pid, SIGCONT);
    if (!all_gone(job, job->relaunched ? ORPHANS_US : REMAINS_US)) {
        printf("%10.3f --- processes were left behind\n", since_ms(job));
        return 4;
    }
    return code == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct job job = { .whole_us = 100 * US_PER_MS, .limit_us = 90 * US_PER_S };
    int option;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while ((option = getopt(argc, argv, "+m:s:w:t:l:p:f:")) != -1) {
        switch (option) {
        case 'm':
            job.mode = strcmp(optarg, "end") == 0      ? MODE_END
                       : strcmp(optarg, "random") == 0 ? MODE_RANDOM
                       : strcmp(optarg, "kill") == 0   ? MODE_KILL
                                                       : MODE_NONE;
            break;
        case 's':
            job.state = strtoull(optarg, NULL, 10);
            break;
        case 'w':
            job.stop_us = strtoll(optarg, NULL, 10) * US_PER_S;
            break;
        case 't':
            job.whole_us = strtoll(optarg, NULL, 10) * US_PER_MS;
            break;
        case 'l':
            job.limit_us = strtoll(optarg, NULL, 10) * US_PER_S;
            break;
        case 'f':
            job.folder = optarg;
            break;
        case 'p':
            job.limit_program = optarg;
            break;
        default:
            return 2;
        }
    }
    if (optind >= argc) {
        fprintf(stderr, "strike_job: give a command\n");
        return 2;
    }
    job.command = argv + optind;
    return run(&job);
}
