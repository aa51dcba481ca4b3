/* How a node starts its directory. */
#ifndef RUNTIME_DIRECTORY_IMPL_H
#define RUNTIME_DIRECTORY_IMPL_H

#include "runtime/directory.h"

/* The directory is the second actor of its node, so others know where it lives. */
#define DIRECTORY_SLOT 1u
#define DIRECTORY_GENERATION 1u

extern const struct actor_options directory_options;

#endif
