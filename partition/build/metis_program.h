/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where troupe-metis is.
 *
 * The program lies in the folder that was configured. A library that was moved there from elsewhere
 * (another prefix, a Python package) and one that was built but not installed have it near the file
 * that they were loaded from, which is the program itself where the library is linked into one.
 * TROUPE_METIS names another.
 *
 * Thread rules: any thread. Ownership: the caller frees the path.
 */
#ifndef PARTITION_BUILD_METIS_PROGRAM_H
#define PARTITION_BUILD_METIS_PROGRAM_H

#include "runtime/base/error.h"

/* TR_ENOENT with the places that were looked at. */
int metis_program_find(char **path, struct error *error);

#endif
