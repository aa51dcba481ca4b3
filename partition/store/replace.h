/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks of what --replace may remove: a folder of the kind that is made, or an empty one, and
 * none that holds what is read. A wrong path would else cost whatever it names.
 *
 * Thread rules: pure but for the files it looks at.
 */
#ifndef PARTITION_STORE_REPLACE_H
#define PARTITION_STORE_REPLACE_H

#include "runtime/base/files.h"

/* mark: a name that each folder of the kind holds; kind: "a raw graph". Nothing there is fine;
 * TR_EEXIST names the folder and why it stays. */
int replace_check(struct files *files, const char *path, const char *mark, const char *kind,
                  struct error *error);

/* TR_EINVAL: the input lies in the folder at path, and would be removed with what is there. NULL,
 * an input that is that folder itself, and a folder that is not there yet are fine. */
int replace_check_input(struct files *files, const char *path, const char *input,
                        struct error *error);

#endif
