/*
 * What a batch has to be: computed plainly, in one thread, from one partition, by the kernels alone.
 *
 * No actor, message, partition book or placement is involved, so whatever faults a run saw, its
 * batches are compared with what nothing could disturb. The check goes through everything in a
 * batch: the walk, the rows, the degrees, the names of its edges.
 *
 * Ownership: the struct owns its placement and scratch memory, borrows the raw graph.
 */
#ifndef SIM_REFERENCE_H
#define SIM_REFERENCE_H

#include "graph/arena.h"
#include "graph/builder.h"
#include "runtime/error.h"
#include "schemas/messages.h"
#include "sim/placed.h"

struct reference {
    struct placed placed; /* one partition */
    struct batch_builder builder;
    struct batch_arena arena;
    struct sample_space space;
};

/* The batches of one trainer. */
struct wanted_loader {
    struct msg_loader_open open;
    uint64_t *seeds; /* [open.num_seeds], original IDs, increasing */
};

void reference_init(struct reference *reference, const struct raw *raw);
void reference_fini(struct reference *reference);

/* How many batches an epoch has. */
uint64_t reference_steps(const struct msg_loader_open *open);

/* The batch with everything but rows and degrees, in original IDs; until the next one is built. */
void reference_build(struct reference *reference, const struct wanted_loader *loader,
                     uint32_t epoch, uint64_t step, struct mini_batch *batch);

/* Compares a batch that came, whose IDs are those of a placement: 0, or TR_EMISMATCH with a
 * sentence that says where it is wrong. */
int reference_check(struct reference *reference, const struct placed *placed,
                    const struct wanted_loader *loader, uint32_t epoch, uint64_t step,
                    const struct mini_batch *batch, struct error *error);

#endif
