/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `troupe inspect` says of a graph that describes itself: a raw one, or one that is partitioned.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_INSPECT_GRAPH_H
#define CLI_INSPECT_GRAPH_H

#include "cli/lib/report.h"

/* path: DIR/NAME.json of a partition directory. */
int inspect_book(struct report *report, const char *path, struct tr_error *error);

int inspect_raw(struct report *report, const char *path, struct tr_error *error);

#endif
