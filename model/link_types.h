/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which edges of a graph a model of links scores: those of one type, and the type that has the same
 * edges the other way, if there is one, which would tell of them.
 *
 * An edge type has the reverses of another where it bears the other's name with LINK_REVERSE before
 * it, as imports call it, with the ends swapped, or where an option names it.
 *
 * Thread rules: pure.
 */
#ifndef MODEL_LINK_TYPES_H
#define MODEL_LINK_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include <troupe/book.h>

#include "model/model_types.h"
#include "runtime/base/error.h"

#define LINK_REVERSE "rev_"

/* All zero: of a graph with one type of each. */
struct link_types {
    uint32_t etype;              /* those that are scored */
    uint32_t reverse;            /* the type that has them the other way; `etype`: no other has */
    uint32_t ntypes[MODEL_ENDS]; /* of their sources, and of their destinations */
};

static inline bool link_types_differ(const struct link_types *types)
{
    return types->ntypes[MODEL_SOURCES] != types->ntypes[MODEL_DESTINATIONS];
}

/* By names of edge types, "SRC:REL:DST" or a relation that one type has, each of which may be NULL:
 * the only type that is not another's reverse is scored then. TR_EINVAL: there are several, or ends
 * do not fit; TR_ENOENT: there is no such type; TR_ENOMEM. */
int link_types_find(struct link_types *types, const struct tr_book *book, const char *scored,
                    const char *reverse, struct error *error);

/* Whether an edge type has the reverses of another by its name; both are "SRC:REL:DST". */
bool link_types_name_reverse(const char *name, const char *of);

/* A type that goes the other way between the same two node types and has as many edges: likely, and
 * not by name, the reverses of the scored one. `etype`: none. */
uint32_t link_types_suspect(const struct link_types *types, const struct tr_book *book);

#endif
