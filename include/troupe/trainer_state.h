/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The position of a run, from a part of a checkpoint that the built-in trainer saved. Part of
 * libtroupe-model, not of libtroupe: to all others a part is bytes (troupe/checkpoint.h).
 *
 * Thread rules: any thread.
 */
#ifndef TROUPE_TRAINER_STATE_H
#define TROUPE_TRAINER_STATE_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes that a part begins with, by which its trainer is known. */
#define TR_TRAINER_HEAD_BYTES 176

struct tr_trainer_position {
    size_t size;
    uint64_t job;        /* a hash of the run: of its graph, model and options */
    uint64_t parameters; /* of the model */
    uint64_t epoch;      /* that was under way, from 0 */
    uint64_t step;       /* steps of it that were done */
    uint64_t steps;      /* of all epochs */
};
#define TR_TRAINER_POSITION_INIT                          \
    {                                                     \
        sizeof(struct tr_trainer_position), 0, 0, 0, 0, 0 \
    }

/* Reads the first bytes of a part, head [TR_TRAINER_HEAD_BYTES]; for display: nothing is proved by
 * it. TR_EFORMAT: it is not of the built-in trainer. */
TR_API int tr_trainer_position_read(const void *head, struct tr_trainer_position *position,
                                    struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
