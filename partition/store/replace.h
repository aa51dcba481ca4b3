/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of what --replace may remove: a folder of the kind that is made, or an empty one. A
 * wrong path would else cost whatever it names.
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

#endif
