/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_child.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct answer {
    int rv;
    double value;
    struct error error;
};

/* A line "VmRSS:  123 kB" of the process's status, in bytes; 0 where there is none. */
static uint64_t read_status(const char *field)
{
    char line[256];
    uint64_t kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "re");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, field, strlen(field)) == 0)
            sscanf(line + strlen(field), ": %" SCNu64, &kilobytes);
    fclose(file);
    return kilobytes * 1024;
}

uint64_t child_resident(void)
{
    return read_status("VmRSS");
}

uint64_t child_resident_peak(void)
{
    return read_status("VmHWM");
}

static int await(pid_t child, int from, double *value, struct error *error)
{
    struct answer answer;
    ssize_t got = read(from, &answer, sizeof answer);
    waitpid(child, NULL, 0);
    if (got != (ssize_t)sizeof answer)
        return error_set(error, TR_ECHILD, "the measuring process ended without an answer");
    *value = answer.value;
    if (answer.rv != 0 && error != NULL)
        *error = answer.error;
    return answer.rv;
}

int child_measure(int (*measure)(void *arg, double *value, struct error *error), void *arg,
                  double *value, struct error *error)
{
    int ends[2];
    fflush(NULL);
    if (pipe(ends) != 0)
        return error_set(error, TR_EIO, "no pipe for the measuring process");
    pid_t child = fork();
    if (child == 0) {
        struct answer answer = { 0 };
        answer.rv = measure(arg, &answer.value, &answer.error);
        /* An answer is far below PIPE_BUF: written whole or not at all. */
        _exit(write(ends[1], &answer, sizeof answer) == (ssize_t)sizeof answer ? 0 : 1);
    }
    close(ends[1]);
    int rv = child < 0 ? error_set(error, TR_EIO, "no measuring process can be started")
                       : await(child, ends[0], value, error);
    close(ends[0]);
    return rv;
}
