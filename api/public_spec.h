/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What draws and loaders read of a program's spec.
 *
 * Ownership: both results are the spec's and live as long as it. Thread rules: any thread, while no
 * other one sets the spec.
 */
#ifndef API_PUBLIC_SPEC_H
#define API_PUBLIC_SPEC_H

#include "schemas/sample_spec.h"

struct tr_graph;
struct tr_sample_spec;

/* What it draws. */
const struct sample_spec *public_spec_draws(const struct tr_sample_spec *spec);
/* The graph that its types and features were checked against. */
const struct tr_graph *public_spec_graph(const struct tr_sample_spec *spec);

#endif
