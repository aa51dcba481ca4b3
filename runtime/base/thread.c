/* SPDX-License-Identifier: Apache-2.0 */
/* For pthread_setname_np. */
#include "config.h"

#include "runtime/base/thread.h"

#include <semaphore.h>
#include <signal.h>

#include "runtime/base/error.h"

/* On the creator's stack: gone when it has heard that the thread runs. */
struct start {
    void *(*run)(void *arg);
    void *arg;
    sem_t running;
};

static void *begin(void *opaque)
{
    struct start *start = opaque;
    /* Both are copied before the post: after it `start`, on the creator's stack, may be gone. */
    void *(*run)(void *arg) = start->run;
    void *arg = start->arg;
    sem_post(&start->running);
    return run(arg);
}

int thread_create(pthread_t *thread, const char *name, void *(*run)(void *arg), void *arg)
{
    sigset_t all;
    sigset_t before;
    struct start start = { .run = run, .arg = arg };
    sem_init(&start.running, 0, 0);
    sigfillset(&all);
    /* A new thread inherits the mask. Faults (SIGSEGV ...) are delivered in spite of it. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(thread, NULL, begin, &start);
    if (rc == 0)
        while (sem_wait(&start.running) != 0) {
        } /* interrupted */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sem_destroy(&start.running);
    if (rc != 0)
        return TR_ENOMEM;
    pthread_setname_np(*thread, name);
    return 0;
}

void thread_take_stack_signal(void)
{
    sigset_t asked;
    sigemptyset(&asked);
    sigaddset(&asked, THREAD_STACK_SIGNAL);
    pthread_sigmask(SIG_UNBLOCK, &asked, NULL);
}
