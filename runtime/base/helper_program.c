/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* environ */

#include "runtime/base/helper_program.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

int helper_program_start(const struct helper_program *helper, pid_t *child)
{
    posix_spawnattr_t attributes;
    sigset_t none, all;
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawnattr_init(&attributes) != 0)
        return ENOMEM;
    int rc = posix_spawnattr_setsigmask(&attributes, &none);
    if (rc == 0)
        rc = posix_spawnattr_setsigdefault(&attributes, &all);
    if (rc == 0 && helper->own_group) {
        rc = posix_spawnattr_setpgroup(&attributes, 0);
        flags |= POSIX_SPAWN_SETPGROUP;
    }
    if (rc == 0)
        rc = posix_spawnattr_setflags(&attributes, flags);
    if (rc == 0)
        rc = (helper->in_path ? posix_spawnp : posix_spawn)(child, helper->program, helper->actions,
                                                            &attributes, helper->argv, environ);
    posix_spawnattr_destroy(&attributes);
    return rc;
}
