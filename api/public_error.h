/* SPDX-License-Identifier: Apache-2.0 */
/* From the errors inside to those that a caller declares. */
#ifndef API_PUBLIC_ERROR_H
#define API_PUBLIC_ERROR_H

#include <troupe/error.h>

#include "runtime/base/error.h"

/* Gives *from, with the code's own text where it has none, to the caller; returns its code. */
int error_give(const struct error *from, struct tr_error *to);

/* The other way, for what inside calls a public function. */
int error_take(const struct tr_error *from, struct error *to);

/* Fails with TR_EFORKED: `what` was opened by the parent of this process. */
int error_forked(struct tr_error *error, const char *what);

#endif
