/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tools/inside.h"

#include "api/public_error.h"

int fail_inside(const struct invocation *invocation, const struct error *error)
{
    struct tr_error given = TR_ERROR_INIT;
    error_give(error, &given);
    return fail(invocation, &given);
}

int fail_usage_inside(const struct invocation *invocation, const struct error *error)
{
    struct tr_error given = TR_ERROR_INIT;
    error_give(error, &given);
    return fail_usage(invocation, &given);
}

int report_print_inside(struct report *report, struct error *error)
{
    struct tr_error given = TR_ERROR_INIT;
    int rv = report_print(report, &given);
    return rv != 0 ? error_take(&given, error) : 0;
}

int signals_start_inside(struct signals *signals, void (*on_cancel)(void *arg),
                         void (*on_dump)(void *arg), void *arg, struct error *error)
{
    struct tr_error given = TR_ERROR_INIT;
    int rv = signals_start(signals, on_cancel, on_dump, arg, NULL, &given);
    return rv != 0 ? error_take(&given, error) : 0;
}
