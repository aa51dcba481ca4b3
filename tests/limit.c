/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a test and ends it: limit [-s SECONDS] COMMAND...
 * Shows a process and what came of it: limit -p PROCESS
 *
 * A test that still runs after SECONDS (TROUPE_TEST_LIMIT where that is set) is shown, what its
 * processes were at and what they said last, then killed and bailed out of in TAP. Processes that a
 * test leaves behind are killed when it ends: they would hold its output open, and the reader of
 * that would wait for them. This program adopts orphans, so none gets away, whatever group or
 * session it moved to. It is built without sanitizers: it has to work when they don't. A last
 * comment of TAP says how long the test took, and its processes' time on all CPUs: scripts/slowest
 * sorts a folder of tests by it.
 */
#include "config.h"

#include "limit_show.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_DEFAULT 300
#define SECONDS_MAX 86400
#define FAMILY_MAX 1024 /* processes killed in one round */
#define ROUNDS_MAX 1000 /* of killing, 10 ms each */
#define EXIT_LIMIT 99   /* what Automake takes for a hard error */

static pid_t parent_of(pid_t pid)
{
    char path[64], line[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    /* The name, in brackets, may hold anything: what follows its last bracket is in fields. */
    char *end = fgets(line, sizeof line, file) == NULL ? NULL : strrchr(line, ')');
    if (end == NULL || sscanf(end + 1, " %*c %d", &parent) != 1)
        parent = 0;
    fclose(file);
    return parent;
}

static bool descends(pid_t pid, pid_t ancestor)
{
    for (int depth = 0; pid > 1 && depth < FAMILY_MAX; depth++) {
        pid = parent_of(pid);
        if (pid == ancestor)
            return true;
    }
    return false;
}

/* Everything that came of this process, without itself. */
static int list_family(pid_t ancestor, pid_t family[FAMILY_MAX])
{
    int count = 0;
    DIR *folder = opendir("/proc");
    if (folder == NULL)
        return 0;
    for (struct dirent *entry; count < FAMILY_MAX && (entry = readdir(folder)) != NULL;) {
        pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
        if (pid > 1 && descends(pid, ancestor))
            family[count++] = pid;
    }
    closedir(folder);
    return count;
}

/* Kills what is left, also what is born meanwhile, and reaps it. */
static void kill_family(void)
{
    pid_t family[FAMILY_MAX];
    struct timespec nap = { .tv_nsec = 10000000 };
    for (int round = 0; round < ROUNDS_MAX; round++) {
        int count = list_family(getpid(), family);
        for (int i = 0; i < count; i++)
            kill(family[i], SIGKILL);
        while (waitpid(-1, NULL, WNOHANG) > 0) {
        }
        if (count == 0)
            return;
        nanosleep(&nap, NULL);
    }
}

static int give_up(char **command, long seconds)
{
    pid_t family[FAMILY_MAX];
    int count = list_family(getpid(), family);
    limit_show(family, count);
    kill_family();
    printf("\nBail out! limit: still running after %ld s:", seconds);
    for (; *command != NULL; command++)
        printf(" %s", *command);
    printf("\n");
    return EXIT_LIMIT;
}

/* Waits for the test itself; other children are orphans that have ended. 0: ended, with *status. */
static int await(pid_t test, const sigset_t *watched, long seconds, int *status)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    for (;;) {
        for (pid_t ended; (ended = waitpid(-1, status, WNOHANG)) > 0;)
            if (ended == test)
                return 0;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec >= end.tv_sec)
            return SIGALRM;
        struct timespec nap = { .tv_sec = end.tv_sec - now.tv_sec };
        int number = sigtimedwait(watched, NULL, &nap);
        if (number > 0 && number != SIGCHLD)
            return number;
    }
}

static pid_t start(char **command, const sigset_t *before)
{
    pid_t test = fork();
    if (test != 0)
        return test;
    /* A test begins as in a terminal. Where this was started in the background, without job
     * control, a shell has set these to be ignored, and every program after it inherits that. */
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    sigprocmask(SIG_SETMASK, before, NULL);
    execvp(command[0], command);
    fprintf(stderr, "limit: %s: %s\n", command[0], strerror(errno));
    _exit(127);
}

static double seconds_of(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

/* Of all that was waited for since: the test and what it left. */
static void say_time(const struct timespec *begun)
{
    struct timespec now;
    struct rusage used;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0 || getrusage(RUSAGE_CHILDREN, &used) != 0)
        return;
    double took = (double)(now.tv_sec - begun->tv_sec) +
                  (double)(now.tv_nsec - begun->tv_nsec) * 1e-9;
    printf("# took %.1f s, CPU %.1f s\n", took,
           seconds_of(&used.ru_utime) + seconds_of(&used.ru_stime));
}

static int run(char **command, long seconds)
{
    static const int numbers[] = { SIGCHLD, SIGHUP, SIGINT, SIGTERM };
    sigset_t watched, before;
    sigemptyset(&watched);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sigaddset(&watched, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &watched, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int status = 0;
    pid_t test = start(command, &before);
    if (test < 0) {
        perror("limit: fork");
        return EXIT_LIMIT;
    }
    struct timespec begun;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    int why = await(test, &watched, seconds, &status);
    if (why == SIGALRM)
        return give_up(command, seconds);
    kill_family();
    say_time(&begun);
    if (why != 0)
        return 128 + why;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static long read_seconds(const char *text)
{
    char *end;
    errno = 0;
    long seconds = strtol(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && seconds > 0 && seconds <= SECONDS_MAX)
        return seconds;
    fprintf(stderr, "limit: %s: give seconds, 1 to %d\n", text, SECONDS_MAX);
    exit(EXIT_LIMIT);
}

/* Shows what a test finds to hang, before it kills it. */
static int show(const char *text)
{
    pid_t family[FAMILY_MAX];
    char *end;
    long pid = strtol(text, &end, 10);
    if (end == text || *end != '\0' || pid <= 1 || pid > INT_MAX) {
        fprintf(stderr, "limit: %s: give the number of a process\n", text);
        return EXIT_LIMIT;
    }
    int count = list_family((pid_t)pid, family);
    if (count == FAMILY_MAX)
        count--;
    family[count] = (pid_t)pid;
    limit_show(family, count + 1);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "-p") == 0)
        return show(argv[2]);
    const char *text = getenv("TROUPE_TEST_LIMIT");
    long seconds = text != NULL && *text != '\0' ? read_seconds(text) : SECONDS_DEFAULT;
    if (argc > 2 && strcmp(argv[1], "-s") == 0) {
        seconds = read_seconds(argv[2]);
        argv += 2;
        argc -= 2;
    }
    if (argc < 2) {
        fprintf(stderr, "Usage: limit [-s SECONDS] COMMAND... or limit -p PROCESS\n");
        return EXIT_LIMIT;
    }
    return run(argv + 1, seconds);
}
