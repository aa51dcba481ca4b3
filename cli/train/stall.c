/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* tgkill */

#include "cli/train/stall.h"

#include <dirent.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cli/lib/command.h"
#include "cli/lib/command_log.h"

#define FRAMES_MAX 48
/* The most threads whose stacks are shown, helpers included: the first ones say it all. */
#define STACKS_MAX 16u
/* A thread that does not even take a signal is in the kernel: how often, a millisecond each, the
 * watchdog polls for its stack. */
#define STACK_LOOKS 300

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
    fprintf(stderr, "troupe: the stack of thread %d (%s):\n", (int)thread, name);
    /* The flag is cleared before the signal is sent, whose handler sets it. */
    atomic_store(&shown, 0);
    if (syscall(SYS_tgkill, getpid(), thread, TR_MODEL_STACK_SIGNAL) != 0)
        return;
    for (int i = 0; i < STACK_LOOKS && atomic_load(&shown) == 0; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
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

static void show_stacks(const struct tr_model_event *event)
{
    uint32_t left = STACKS_MAX;
    for (uint32_t i = 0; i < event->num_threads && left > 0; i++, left--)
        ask_for_stack((pid_t)event->threads[i], "that trains");
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

void stall_prepare(void)
{
    void *frame;
    struct sigaction action = { .sa_handler = show_stack, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    (void)backtrace(&frame, 1); /* loads what it needs, which a handler may not */
    sigaction(TR_MODEL_STACK_SIGNAL, &action, NULL);
}

void stall_end_process(const struct tr_model_event *event, struct tr_log_file *log)
{
    char text[sizeof event->text + 64];
    snprintf(text, sizeof text, "%s%s; this process ends", event->text,
             event->number != 0 ? "" : " (--step-limit)");
    /* The stacks are not of the log: a handler writes them. */
    command_log_fail(log, "troupe train", text);
    show_stacks(event);
    fflush(NULL);
    _exit(EXIT_FAILED);
}
