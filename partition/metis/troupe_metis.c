/* SPDX-License-Identifier: Apache-2.0 */
/*
 * troupe-metis: METIS in a program of its own, which libtroupe starts.
 *
 * METIS replaces signal handlers, can't be cancelled and may run out of memory. Here it does so
 * alone: the library waits for this process, kills it when somebody cancels, and says what ended
 * it. The question and the answer are one memfd (metis_exchange.h). This process ends with the one
 * that asks, and offers itself to the kernel's out-of-memory killer before it.
 *
 * The exit status says what kept it from asking METIS; 0 means that the answer is in the memory,
 * METIS's own failure included.
 */
#include "config.h"

#include <fcntl.h>
#include <metis.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "partition/metis/metis_exchange.h"

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "this METIS has 64-bit indices");

static double read_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The most memory that this program had: what wait4() reports counts the process that started
 * it. */
static uint64_t read_peak(void)
{
    char line[256];
    unsigned long long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "VmHWM: %llu kB", &kilobytes) == 1)
            break;
    }
    if (file != NULL)
        fclose(file);
    return (uint64_t)kilobytes * 1024;
}

/* The signal first: where the parent ended before that was asked for, getppid() gives another. */
static bool ends_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == parent;
}

static void offer_to_oom_killer(void)
{
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score < 0)
        return;
    ssize_t ignored = write(score, "1000", 4); /* only a preference */
    (void)ignored;
    close(score);
}

/* The answer is whole when `answered` says so, hence last. */
static void call_metis(struct metis_exchange *head, const struct metis_layout *layout)
{
    char *bytes = (char *)head;
    idx_t options[METIS_NOPTIONS], objective = 0;
    idx_t num_nodes = (idx_t)head->num_nodes, num_parts = (idx_t)head->num_parts;
    idx_t num_constraints = (idx_t)head->num_constraints;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_OBJTYPE] = head->volume ? METIS_OBJTYPE_VOL : METIS_OBJTYPE_CUT;
    options[METIS_OPTION_SEED] = (idx_t)head->seed;
    double begin = read_clock();
    int status = METIS_PartGraphKway(
        &num_nodes, &num_constraints, (idx_t *)(void *)(bytes + layout->index),
        (idx_t *)(void *)(bytes + layout->adjacency),
        head->weighted ? (idx_t *)(void *)(bytes + layout->weights) : NULL, NULL, NULL, &num_parts,
        NULL, NULL, options, &objective, (idx_t *)(void *)(bytes + layout->parts));
    head->seconds = read_clock() - begin;
    head->objective = objective;
    head->status = status;
    head->peak_bytes = read_peak();
    head->answered = 1;
}

/* Memory that may shrink under this process would end it by SIGBUS: only sealed memory is taken. */
static void *map_exchange(size_t *size)
{
    struct stat status;
    int seals = fcntl(METIS_EXCHANGE_FD, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(METIS_EXCHANGE_FD, &status) != 0)
        return NULL;
    *size = (size_t)status.st_size;
    void *data = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, METIS_EXCHANGE_FD, 0);
    return data == MAP_FAILED ? NULL : data;
}

int main(int argc, char **argv)
{
    struct metis_layout layout;
    size_t size = 0;
    if (argc > 1 && strcmp(argv[1], "--version") == 0)
        return puts("troupe-metis " PACKAGE_VERSION) < 0;
    if (argc > 1 || fcntl(METIS_EXCHANGE_FD, F_GET_SEALS) < 0) {
        fputs("troupe-metis is started by libtroupe: see troupe-partition(1)\n", stderr);
        return METIS_EXIT_REFUSED;
    }
    /* Whatever else the process that started this one left open is not kept open by METIS. */
    close_range(METIS_EXCHANGE_FD + 1, ~0U, 0);
    struct metis_exchange *head = map_exchange(&size);
    if (head == NULL)
        return METIS_EXIT_NO_MEMORY;
    /* The memory is checked before anything of it is used, the parent's number included. The
     * last two come before METIS takes its time and its memory. */
    if (metis_exchange_check(head, size, &layout) != NULL)
        return METIS_EXIT_REFUSED;
    if (!ends_with(head->parent))
        return METIS_EXIT_ORPHAN;
    offer_to_oom_killer();
    call_metis(head, &layout);
    _exit(METIS_EXIT_ANSWERED); /* METIS's own handlers and buffers have nothing left to do */
}
