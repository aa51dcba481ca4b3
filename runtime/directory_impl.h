/* How a node starts its directory. */
#ifndef RUNTIME_DIRECTORY_IMPL_H
#define RUNTIME_DIRECTORY_IMPL_H

#include "runtime/directory.h"

extern const struct actor_options directory_options;

#endif
