/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/fail.h"

#include <stdio.h>

int fail(const struct invocation *invocation, const struct tr_error *error)
{
    fprintf(stderr, "troupe %s: %s\n", invocation->name,
            error->message[0] != '\0' ? error->message : tr_strerror(error->code));
    return EXIT_FAILED;
}

int fail_usage(const struct invocation *invocation, const struct tr_error *error)
{
    fail(invocation, error);
    fprintf(stderr, "See \"troupe %s --help\".\n", invocation->name);
    return EXIT_USAGE;
}
