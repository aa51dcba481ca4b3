/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/lib/early_signals.h"

#include <signal.h>
#include <unistd.h>

static void say(const char *text, size_t length)
{
    ssize_t written = write(STDERR_FILENO, text, length);
    (void)written; /* nobody is left to be notified */
}

/* The handler is gone when it runs (SA_RESETHAND) and the signal is not blocked (SA_NODEFER), so
 * that it ends the process, as whoever started that expects. */
static void end_process(int number)
{
    static const char BY_KEY[] = "troupe: stopped by Ctrl-C (SIGINT)\n";
    static const char BY_TERM[] = "troupe: stopped by SIGTERM\n";
    if (number == SIGINT)
        say(BY_KEY, sizeof BY_KEY - 1);
    else
        say(BY_TERM, sizeof BY_TERM - 1);
    raise(number);
}

void early_signals_say(void)
{
    static const int NUMBERS[] = { SIGINT, SIGTERM };
    struct sigaction action = { .sa_handler = end_process,
                                .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
        struct sigaction before;
        if (sigaction(NUMBERS[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(NUMBERS[i], &action, NULL);
    }
}

/* A sanitizer's own functions are not there yet so early; main() sets the handlers then. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
__attribute__((section(".preinit_array"),
               used)) static void (*before_libraries)(void) = early_signals_say;
#endif
