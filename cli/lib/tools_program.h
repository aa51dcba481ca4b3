/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that are programs of their own: those which use what stands behind the public API.
 *
 * A process that had the library and, linked into the program, a second copy of what is inside it
 * would have two of whatever that keeps; so `troupe` stands on the library alone, and becomes the
 * other program when such a command is named.
 */
#ifndef CLI_LIB_TOOLS_PROGRAM_H
#define CLI_LIB_TOOLS_PROGRAM_H

#include <troupe/error.h>

/* Becomes the program of that name, with these words (argv[0] is "troupe"). It is looked for beside
 * the running one (a build), in ../libexec/troupe from there, and where it was configured to be.
 * Returns only to say what failed: TR_ENOENT names the places. */
int tools_program_become(const char *name, char **argv, struct tr_error *error);

#endif
