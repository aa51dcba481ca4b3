/* The part of a dump that each loop writes itself, on its own thread. */
#ifndef RUNTIME_CORE_DUMP_IMPL_H
#define RUNTIME_CORE_DUMP_IMPL_H

#include "runtime/core/dump.h"

struct loop;

void loop_dump(struct loop *loop);

#endif
