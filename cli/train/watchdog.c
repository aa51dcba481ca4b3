/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* tgkill */

#include "cli/train/watchdog.h"

#include <dirent.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/lib/command.h"
#include "model/ticks.h"
#include "runtime/base/thread.h"

#define LOOK_NS UINT64_C(100000000)
#define FRAMES_MAX 48
/* Of threads whose stacks are shown, helpers included: the first ones say it all. */
#define STACKS_MAX 16
/* A thread that does not even take a signal is in the kernel. */
#define STACK_NS UINT64_C(300000000)

/* Written by the handler, for the watchdog that waits for it. */
static atomic_int shown;

/* On the thread whose stack it is. */
static void show_stack(int number)
{
    void *frames[FRAMES_MAX];
    (void)number;
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX), STDERR_FILENO);
    atomic_store(&shown, 1);
}

static void ask_for_stack(pid_t thread, const char *name)
{
    struct ticks ticks;
    fprintf(stderr, "troupe: the stack of thread %d (%s):\n", (int)thread, name);
    atomic_store(&shown, 0);
    ticks_init(&ticks);
    if (syscall(SYS_tgkill, getpid(), thread, THREAD_STACK_SIGNAL) != 0)
        return;
    while (atomic_load(&shown) == 0 && ticks.counted_ns < STACK_NS)
        ticks_wait(&ticks, LOOK_NS / 100);
}

/* A helper may be what the thread waits for. */
static bool is_helper(const char *thread, char *name, size_t size)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", thread);
    FILE *file = fopen(path, "r");
    bool read = file != NULL && fgets(name, (int)size, file) != NULL;
    if (file != NULL)
        fclose(file);
    if (read)
        name[strcspn(name, "\n")] = '\0';
    return read && strcmp(name, "tr-parallel") == 0;
}

static void show_stacks(const struct watchdog *dog)
{
    uint32_t left = STACKS_MAX;
    for (uint32_t i = 0; i < dog->count && left > 0; i++)
        if (atomic_load(&dog->watched[i]->busy)) {
            ask_for_stack(atomic_load(&dog->watched[i]->thread), "that trains");
            left--;
        }
    DIR *threads = opendir("/proc/self/task");
    struct dirent *entry;
    while (threads != NULL && left > 0 && (entry = readdir(threads)) != NULL) {
        char name[64];
        if (is_helper(entry->d_name, name, sizeof name)) {
            ask_for_stack((pid_t)atoi(entry->d_name), name);
            left--;
        }
    }
    if (threads != NULL)
        closedir(threads);
}

static bool is_any_busy(const struct watchdog *dog, uint32_t *rank)
{
    for (uint32_t i = 0; i < dog->count; i++)
        if (atomic_load(&dog->watched[i]->busy)) {
            *rank = dog->watched[i]->rank;
            return true;
        }
    return false;
}

/* No other end is possible: the thread cannot be ended, and hears nothing. */
static void end_process(const struct watchdog *dog, uint32_t rank, uint64_t ns, bool asked)
{
    fprintf(stderr, "troupe train: trainer %u made no progress for %llu s%s; this process ends\n",
            (unsigned)rank, (unsigned long long)(ns / UINT64_C(1000000000)),
            asked ? " after it was asked to stop" : " (--step-limit)");
    show_stacks(dog);
    fflush(NULL);
    _exit(EXIT_FAILED);
}

/* One count for all: where one computes and another does not get on, the first soon waits for it. */
static void *watch(void *arg)
{
    struct watchdog *dog = arg;
    struct ticks ticks;
    uint64_t beats = 0, still_ns = 0, asked_ns = 0;
    ticks_init(&ticks);
    while (!atomic_load(&dog->stopping)) {
        nanosleep(&(struct timespec){ .tv_nsec = (long)LOOK_NS }, NULL);
        uint64_t passed_ns = ticks_read(&ticks), now = atomic_load(&dog->beats);
        uint32_t rank = 0;
        bool moved = now != beats || !is_any_busy(dog, &rank);
        beats = now;
        still_ns = moved ? 0 : still_ns + passed_ns;
        asked_ns = moved || !cancel_asked(dog->cancel) ? 0 : asked_ns + passed_ns;
        if (asked_ns >= WATCHDOG_STOP_NS)
            end_process(dog, rank, asked_ns, true);
        if (dog->limit_ns != 0 && still_ns >= dog->limit_ns)
            end_process(dog, rank, still_ns, false);
    }
    return NULL;
}

int watchdog_start(struct watchdog *dog, struct error *error)
{
    void *frame;
    struct sigaction action = { .sa_handler = show_stack, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    (void)backtrace(&frame, 1); /* loads what it needs, which a handler may not */
    sigaction(THREAD_STACK_SIGNAL, &action, NULL);
    atomic_init(&dog->stopping, false);
    int rv = thread_create(&dog->thread, "tr-watchdog", watch, dog);
    dog->running = rv == 0;
    return rv == 0 ? 0 : error_set(error, rv, "cannot start the thread that watches trainers");
}

void watchdog_stop(struct watchdog *dog)
{
    if (!dog->running)
        return;
    atomic_store(&dog->stopping, true);
    pthread_join(dog->thread, NULL);
    signal(THREAD_STACK_SIGNAL, SIG_DFL);
    dog->running = false;
}

void watchdog_beat(struct watchdog *dog)
{
    atomic_fetch_add(&dog->beats, 1);
}

void watchdog_enter(struct watchdog *dog, struct watched *watched)
{
    watchdog_beat(dog);
    atomic_store(&watched->thread, (int)syscall(SYS_gettid));
    atomic_store(&watched->busy, true);
}

void watchdog_leave(struct watchdog *dog, struct watched *watched)
{
    watchdog_beat(dog);
    atomic_store(&watched->busy, false);
}
