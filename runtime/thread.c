/* For pthread_setname_np. */
#include "config.h"

#include "runtime/thread.h"

#include <signal.h>

#include "runtime/error.h"

int thread_create(pthread_t *thread, const char *name, void *(*run)(void *arg), void *arg)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    /* A new thread inherits the mask. Faults (SIGSEGV ...) are delivered in spite of it. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0)
        return TR_ENOMEM;
    pthread_setname_np(*thread, name);
    return 0;
}
