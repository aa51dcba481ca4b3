/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints as a person names them: one, or the folder that holds several.
 *
 * Ownership: checkpoints_open allocates, checkpoints_close frees. Thread rules: one thread at a
 * time; everything here reads files.
 */
#ifndef CLI_LIB_CHECKPOINT_LIST_H
#define CLI_LIB_CHECKPOINT_LIST_H

#include "actors/job/checkpoint.h"
#include "cli/lib/report.h"
#include "cli/lib/work.h"

struct checkpoints {
    bool single;         /* one was named itself */
    size_t count;        /* newest first */
    char **inside;       /* [count], the folder of each */
    uint32_t unfinished; /* folders without a manifest */
};

/* Whether that is what the path names; a raw graph never is. */
bool checkpoints_named(const char *path);

/* TR_ENOENT: there is none that is finished. */
int checkpoints_open(const char *path, struct checkpoints *checkpoints, struct error *error);
void checkpoints_close(struct checkpoints *checkpoints);

/* `troupe verify`: every byte. some: parts that are not here may be another host's. */
struct checkpoints_found {
    uint64_t checkpoints, parts, elsewhere, bytes;
    uint32_t unfinished;
};
int checkpoints_verify(const char *path, bool some, struct work *work,
                       struct checkpoints_found *found, struct error *error);

#endif
