/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the BLAS from making threads of its own.
 *
 * OpenBLAS makes a thread for each further processor while the program is loaded. Each takes 128
 * MiB of addresses at once; where there are none (ulimit -v) it asks for them for ever, and the end
 * of the process waits for it, whatever the command was. Here every call of the BLAS is computed by
 * the thread that makes it, so none of them is of use. There is no setting in time for that but the
 * environment; but OpenBLAS counts the processors that the process may use, and while libraries
 * are initialised that is one here.
 *
 * Linked into the program, since only a program's functions run before those of its libraries.
 */
#include "config.h" /* CPU_COUNT, syscall */

#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Between the two functions there is nobody who could hand this over. */
static cpu_set_t allowed;
static bool narrowed;

/* Bare calls of the system: a sanitizer, which watches those of the C library, is not ready yet. */
__attribute__((no_sanitize("address"), no_sanitize("thread"), no_sanitize("undefined"))) static void
narrow(void)
{
    cpu_set_t one;
    if (syscall(SYS_sched_getaffinity, 0, sizeof allowed, &allowed) < 0)
        return; /* more processors than fit: then as many threads as it likes */
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            CPU_SET(cpu, &one);
    narrowed = syscall(SYS_sched_setaffinity, 0, sizeof one, &one) == 0;
}

__attribute__((constructor)) static void widen(void)
{
    if (narrowed)
        (void)syscall(SYS_sched_setaffinity, 0, sizeof allowed, &allowed);
}

__attribute__((section(".preinit_array"),
               used)) static void (*const before_libraries)(void) = narrow;
