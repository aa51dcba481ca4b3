/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One value of an option: from the words of the command line to the field of a struct.
 *
 * Thread rules: pure.
 */
#ifndef CLI_LIB_OPTION_VALUE_H
#define CLI_LIB_OPTION_VALUE_H

#include "cli/lib/options.h"

/* Stores text as the value of spec in values. TR_EINVAL, TR_ERANGE: the message names the
 * option, the value and what would be right. */
int option_value_set(const struct option_spec *spec, void *values, const char *text,
                     struct tr_error *error);

#endif
