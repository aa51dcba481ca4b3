/* SPDX-License-Identifier: Apache-2.0 */
/* The table alone: a test that brings a sampler of its own has one in its place. */
#include "graph/samplers.h"

#define ROW(kind, method) [kind] = &(method),
static const struct sample_method *const METHODS[] = { SAMPLE_METHODS(ROW) };
#undef ROW

const struct sample_method *sample_method_find(uint32_t kind)
{
    return kind < sizeof METHODS / sizeof *METHODS ? METHODS[kind] : NULL;
}
