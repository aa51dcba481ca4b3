/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/process_usage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The second number of proc(5)'s statm is the resident set, in pages. */
static uint64_t read_resident(void)
{
    char text[128];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0)
        return 0;
    text[got] = '\0';
    const char *second = strchr(text, ' ');
    long page = sysconf(_SC_PAGESIZE);
    return second != NULL && page > 0 ? strtoull(second, NULL, 10) * (uint64_t)page : 0;
}

void process_usage_read(struct process_usage *usage)
{
    struct timespec cpu;
    *usage = (struct process_usage){ .resident_bytes = read_resident() };
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0)
        usage->cpu_ns = (uint64_t)cpu.tv_sec * UINT64_C(1000000000) + (uint64_t)cpu.tv_nsec;
}
