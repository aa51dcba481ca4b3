/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a dump that each loop writes itself, on its own thread. */
#ifndef RUNTIME_CORE_DUMP_IMPL_H
#define RUNTIME_CORE_DUMP_IMPL_H

#include "runtime/core/dump.h"

struct account;
struct loop;
struct node;

void loop_dump(struct loop *loop);

/* A line about an account, for an owner of one (a router). */
void dump_account(struct node *node, struct account *account);

#endif
