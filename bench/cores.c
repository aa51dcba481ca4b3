/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h" /* sched_setaffinity */

#include "bench/cores.h"

#include <errno.h>

int cores_begin(struct cores *cores, struct error *error)
{
    cores->first = cores->second = -1;
    if (sched_getaffinity(0, sizeof cores->allowed, &cores->allowed) != 0)
        return error_set_errno(error, errno, "the cores of this process are not told");
    for (int i = 0; i < CPU_SETSIZE && cores->second < 0; i++) {
        if (!CPU_ISSET(i, &cores->allowed))
            continue;
        if (cores->first >= 0)
            cores->second = i;
        else
            cores->first = i;
    }
    if (cores->second < 0)
        cores->second = cores->first;
    return 0;
}

int cores_use(int core, struct error *error)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        return error_set_errno(error, errno, "core %d can't be had alone", core);
    return 0;
}

void cores_end(const struct cores *cores)
{
    sched_setaffinity(0, sizeof cores->allowed, &cores->allowed);
}
