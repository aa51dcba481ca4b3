/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacks and output of a test's processes when its time was over, on standard error, for
 * readers that have nothing else: the last lines of a gate's output. So it is short, and the most
 * useful stands last: processes of the system in one line each, then programs built here with one
 * line a thread, its stack where gdb is, then the ends of the files that the test keeps what its
 * processes say in.
 */
#ifndef TESTS_LIMIT_SHOW_H
#define TESTS_LIMIT_SHOW_H

#include <sys/types.h>

/* Takes at most four minutes. */
void limit_show(const pid_t *family, int count);

#endif
