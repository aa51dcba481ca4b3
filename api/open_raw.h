/* SPDX-License-Identifier: Apache-2.0 */
/* How a raw graph is read, from a caller's options. Thread rules: pure. */
#ifndef API_OPEN_RAW_H
#define API_OPEN_RAW_H

#include <troupe/raw.h>

#include "partition/raw/raw.h"

/* given NULL: the defaults. As sized_take. */
int raw_options_take(struct raw_options *read, const struct tr_raw_options *given,
                     struct error *error);

/* TR_EINVAL: a rule is none that there is. */
int raw_options_check(const struct raw_options *read, struct error *error);

#endif
