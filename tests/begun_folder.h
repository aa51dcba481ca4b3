/* SPDX-License-Identifier: Apache-2.0 */
/* A run's folder as a training has it: taken and ready to be written. */
#ifndef TESTS_BEGUN_FOLDER_H
#define TESTS_BEGUN_FOLDER_H

#include "model/run_folder.h"

static inline int begin_folder(struct run_folder *folder, struct files *files, const char *path,
                               enum run_folder_use use, struct error *error)
{
    bool busy;
    int rv = run_folder_claim(folder, files, path, use, &busy, error);
    if (rv == 0)
        rv = run_folder_hold(folder, error);
    return rv == 0 ? run_folder_begin(folder, error) : rv;
}

#endif
