/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* pipe2, pthread_setname_np */

#include "cli/lib/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The exit code that a shell shows for a process that Ctrl-C ended. */
#define EXIT_INTERRUPTED 130

static const int CAUGHT[SIGNALS_CAUGHT] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };

/* Where handlers write. A signal belongs to the process, so its handler has no other place to find
 * this; it is set while no handler is installed. */
static volatile sig_atomic_t handler_fd = -1;

/* Tells the thread to end: no signal has this number. */
#define STOP 0

static const char NOTICE[] = "\ntroupe: stopping; press Ctrl-C again to stop at once\n";

/* Only a person who presses Ctrl-C again is in a hurry: timeout(1) and the like send SIGTERM to the
 * process and again to its group, and must not leave half-written folders behind. */
static void cancel(struct signals *signals, int number)
{
    /* The flag is set before on_cancel, which wakes threads that then ask for it. Relaxed: it
     * carries no other data, and threads that poll it see it soon enough. */
    if (atomic_exchange_explicit(&signals->cancelled, true, memory_order_relaxed)) {
        if (number == SIGINT)
            _exit(EXIT_INTERRUPTED);
        return;
    }
    if (isatty(STDERR_FILENO) == 1) {
        ssize_t written = write(STDERR_FILENO, NOTICE, sizeof NOTICE - 1);
        (void)written; /* nobody is left to be notified */
    }
    if (signals->on_cancel != NULL)
        signals->on_cancel(signals->arg);
}

static void write_number(int fd, int number)
{
    unsigned char byte = (unsigned char)number;
    ssize_t written = write(fd, &byte, 1);
    (void)written; /* a full pipe holds enough Ctrl-Cs */
}

static void handle(int number)
{
    int saved = errno;
    write_number((int)handler_fd, number);
    errno = saved;
}

static void *wait_for_signals(void *arg)
{
    struct signals *signals = arg;
    unsigned char number = STOP;
    sem_post(&signals->running);
    for (;;) {
        ssize_t got = read(signals->pipe[0], &number, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != 1 || number == STOP)
            return NULL;
        if (number == SIGHUP && signals->log != NULL)
            (void)tr_log_file_reopen(signals->log, NULL);
        else if (number == SIGINT || number == SIGTERM || number == SIGHUP)
            cancel(signals, number);
        else if (number == SIGUSR1 && signals->on_dump != NULL)
            signals->on_dump(signals->arg);
    }
}

/* The thread takes no signals itself: it would then run handlers while it waits for them. */
static bool start_thread(struct signals *signals)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    sem_init(&signals->running, 0, 0);
    bool started = pthread_create(&signals->thread, NULL, wait_for_signals, signals) == 0;
    /* A thread that is being set up may hold the lock of an allocator (a sanitizer's does), and the
     * child of a fork in that moment would wait for it forever: return when it runs. */
    while (started && sem_wait(&signals->running) != 0) {
    } /* interrupted */
    sem_destroy(&signals->running);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_setname_np(signals->thread, "tr-signals");
    return started;
}

static void install(struct signals *signals)
{
    /* The descriptor is set before the handlers: a signal may come as soon as its handler is
     * there. */
    handler_fd = signals->pipe[1];
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS_CAUGHT; i++) {
        sigaction(CAUGHT[i], NULL, &signals->before[i]);
        bool rotates = CAUGHT[i] == SIGHUP && signals->log != NULL;
        if (signals->before[i].sa_handler != SIG_IGN || rotates)
            sigaction(CAUGHT[i], &action, NULL);
    }
}

int signals_start(struct signals *signals, void (*on_cancel)(void *arg), void (*on_dump)(void *arg),
                  void *arg, struct tr_log_file *log, struct tr_error *error)
{
    atomic_init(&signals->cancelled, false);
    signals->on_cancel = on_cancel;
    signals->on_dump = on_dump;
    signals->arg = arg;
    signals->log = log;
    if (pipe2(signals->pipe, O_CLOEXEC) != 0)
        return tr_error_set(error, TR_EIO, "cannot make the pipe for Ctrl-C: %s", strerror(errno));
    /* The thread starts before the handlers: where it cannot be started none is to be undone,
     * and a signal that was caught is never without a reader. */
    if (start_thread(signals)) {
        install(signals);
        return 0;
    }
    close(signals->pipe[0]);
    close(signals->pipe[1]);
    return tr_error_set(error, TR_ENOMEM, "cannot start the thread that waits for Ctrl-C");
}

void signals_stop(struct signals *signals)
{
    /* The handlers go first: a signal that was caught behind STOP would be read by nobody. The
     * thread ends before the pipe that it reads. */
    for (int i = 0; i < SIGNALS_CAUGHT; i++)
        sigaction(CAUGHT[i], &signals->before[i], NULL);
    write_number(signals->pipe[1], STOP);
    pthread_join(signals->thread, NULL);
    handler_fd = -1;
    close(signals->pipe[0]);
    close(signals->pipe[1]);
}
