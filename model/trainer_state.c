/* SPDX-License-Identifier: Apache-2.0 */
/* The public view of a state's head (model/state.h). */
#include <troupe/trainer_state.h>

#include "api/sized.h"
#include "model/state.h"

_Static_assert(STATE_HEAD_BYTES == TR_TRAINER_HEAD_BYTES, "callers read as much as a head has");

int tr_trainer_position_read(const void *head, struct tr_trainer_position *position,
                             struct tr_error *error)
{
    struct state_facts facts;
    if (state_look(head, &facts) != 0)
        return tr_error_set(error, TR_EFORMAT,
                            "the part does not begin with a position of the built-in trainer");
    const struct tr_trainer_position known = { .size = sizeof known,
                                               .job = facts.job,
                                               .parameters = facts.params,
                                               .epoch = facts.epoch,
                                               .step = facts.step,
                                               .steps = facts.steps };
    return sized_write(position, &known, sizeof known, "tr_trainer_position", error);
}
