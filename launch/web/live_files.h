/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that the live page is made of, as the build put them into the library (scripts/embed).
 *
 * Ownership: static. Thread rules: any thread.
 */
#ifndef LAUNCH_WEB_LIVE_FILES_H
#define LAUNCH_WEB_LIVE_FILES_H

#include <stddef.h>

struct live_file {
    const char *path, *type;
    const unsigned char *bytes;
    size_t size;
};

/* NULL: there is none of that path. */
const struct live_file *live_file_find(const char *path);

#endif
