/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/env.h"

void env_destroy(struct env *env)
{
    if (env != NULL)
        env->ops->destroy(env);
}
