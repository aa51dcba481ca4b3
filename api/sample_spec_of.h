/* SPDX-License-Identifier: Apache-2.0 */
/* The spec inside a public one, for loaders. */
#ifndef API_SAMPLE_SPEC_OF_H
#define API_SAMPLE_SPEC_OF_H

#include "schemas/sample_spec.h"

struct tr_sample_spec;

const struct sample_spec *sample_spec_of(const struct tr_sample_spec *spec);

#endif
