/* SPDX-License-Identifier: Apache-2.0 */
/* Where the public structs of a version end; compiled for two of them (tests.mk). */
#include "tests/api/struct_ends.h"

#include <troupe/model.h>
#include <troupe/report.h>
#include <troupe/run.h>
#include <troupe/trainer_state.h>
#include <troupe/troupe.h>

/* Made of the headers. */
#include "tests/api/grown/list/structs.h"

#ifdef OF_A_LATER_VERSION
#define ADDED(tag) offsetof(struct tag, of_a_later_version)
#else
#define ADDED(tag) 0
#endif

#define X(tag) { #tag, sizeof(struct tag), ADDED(tag) },
const struct struct_end STRUCT_ENDS[] = { STRUCTS(X){ NULL, 0, 0 } };
#undef X
