#include "cli/signals.h"

#include <unistd.h>

/* What a shell shows for a process that Ctrl-C ended. */
#define EXIT_INTERRUPTED 130

/* Tells the thread to end; no person sends it. */
#define SIGNAL_STOP SIGUSR2

static const char NOTICE[] = "\ntroupe: stopping; press Ctrl-C again to stop at once\n";

static void cancel(struct signals *signals)
{
    /* Relaxed: the flag carries no other data; whoever polls it sees it soon enough. */
    if (atomic_exchange_explicit(&signals->cancelled, true, memory_order_relaxed))
        _exit(EXIT_INTERRUPTED);
    ssize_t written = write(STDERR_FILENO, NOTICE, sizeof NOTICE - 1);
    (void)written; /* nobody is left to be told */
    if (signals->on_cancel != NULL)
        signals->on_cancel(signals->arg);
}

static void *wait_for_signals(void *arg)
{
    struct signals *signals = arg;
    int number;
    while (sigwait(&signals->waited, &number) == 0 && number != SIGNAL_STOP) {
        if (number == SIGINT || number == SIGTERM)
            cancel(signals);
        else if (number == SIGUSR1 && signals->on_dump != NULL)
            signals->on_dump(signals->arg);
    }
    return NULL;
}

int signals_start(struct signals *signals, void (*on_cancel)(void *arg),
                  void (*on_dump)(void *arg), void *arg, struct error *error)
{
    atomic_init(&signals->cancelled, false);
    signals->on_cancel = on_cancel;
    signals->on_dump = on_dump;
    signals->arg = arg;
    sigemptyset(&signals->waited);
    sigaddset(&signals->waited, SIGINT);
    sigaddset(&signals->waited, SIGTERM);
    sigaddset(&signals->waited, SIGUSR1);
    sigaddset(&signals->waited, SIGNAL_STOP);
    pthread_sigmask(SIG_BLOCK, &signals->waited, &signals->before);
    int rc = pthread_create(&signals->thread, NULL, wait_for_signals, signals);
    if (rc == 0)
        return 0;
    pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
    return error_set_errno(error, rc, "cannot start the thread that waits for Ctrl-C");
}

void signals_stop(struct signals *signals)
{
    pthread_kill(signals->thread, SIGNAL_STOP);
    pthread_join(signals->thread, NULL);
    pthread_sigmask(SIG_SETMASK, &signals->before, NULL);
}
