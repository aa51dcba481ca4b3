/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command that repeats a run: `troupe train` with every option of it that is not the default,
 * quoted as a shell takes it.
 *
 * Thread rules: pure.
 */
#ifndef MODEL_REPORT_REPEAT_COMMAND_H
#define MODEL_REPORT_REPEAT_COMMAND_H

#include <stdbool.h>

#include "model/run_record.h"

/* An option of the command, and where a run's config.json has its value. */
struct repeat_option {
    const char *name;
    const char *key; /* in config.json */
    bool flag;
    const char *fallback; /* the command's default; NULL: it has none */
};

/* In the order of the command's help, ended by one without a name. Options that change no result are
 * left out. */
extern const struct repeat_option repeat_options[];

/* For free(); NULL: no memory. */
char *repeat_command(const struct run_record *run);

#endif
