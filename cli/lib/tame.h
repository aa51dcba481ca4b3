/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of other programs, made safe to show on a terminal. Thread rules: any thread. */
#ifndef CLI_LIB_TAME_H
#define CLI_LIB_TAME_H

#include <stddef.h>

/* Replaces control characters but tabs by '?': what a process prints must not steer the terminal
 * of its watcher. */
void tame_line(char *line, size_t length);

#endif
