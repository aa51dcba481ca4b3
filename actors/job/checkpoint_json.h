/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest as JSON text. */
#ifndef ACTORS_JOB_CHECKPOINT_JSON_H
#define ACTORS_JOB_CHECKPOINT_JSON_H

#include "actors/job/checkpoint.h"

/* In malloc'ed memory; NULL: memory is out. */
char *checkpoint_to_json(const struct checkpoint_manifest *manifest);

/* TR_EFORMAT names the path and the field. */
int checkpoint_from_json(const char *path, const char *text, size_t size,
                         struct checkpoint_manifest *manifest, struct error *error);

#endif
