/* SPDX-License-Identifier: Apache-2.0 */
#include "model/link_types.h"

#include <stdio.h>
#include <string.h>

#include <troupe/error.h>

/* A message lists edge types in so many bytes at most. */
#define TYPES_BYTES 600

static struct tr_etype_info etype_info(const struct tr_book *book, uint32_t etype)
{
    struct tr_etype_info info = TR_ETYPE_INFO_INIT;
    (void)tr_book_etype(book, etype, &info, NULL); /* there is such a type */
    return info;
}

static uint32_t count_etypes(const struct tr_book *book)
{
    struct tr_book_info info = TR_BOOK_INFO_INIT;
    (void)tr_book_info(book, &info, NULL);
    return info.num_etypes;
}

/* The parts of "SRC:REL:DST", which are no texts of their own. */
struct type_name {
    const char *source, *relation, *destination;
    int source_length, relation_length;
};

static struct type_name split_name(const char *name)
{
    const char *first = strchr(name, ':'), *last = strrchr(name, ':');
    if (first == last) /* no such name */
        return (struct type_name){ name, "", "", 0, 0 };
    return (struct type_name){ name, first + 1, last + 1, (int)(first - name),
                               (int)(last - first - 1) };
}

bool link_types_name_reverse(const char *name, const char *of)
{
    const int prefix = (int)strlen(LINK_REVERSE);
    const struct type_name a = split_name(name), b = split_name(of);
    return a.relation_length == prefix + b.relation_length &&
           strncmp(a.relation, LINK_REVERSE, (size_t)prefix) == 0 &&
           strncmp(a.relation + prefix, b.relation, (size_t)b.relation_length) == 0 &&
           (size_t)a.source_length == strlen(b.destination) &&
           strncmp(a.source, b.destination, (size_t)a.source_length) == 0 &&
           (size_t)b.source_length == strlen(a.destination) &&
           strncmp(b.source, a.destination, (size_t)b.source_length) == 0;
}

static bool is_reverse_of_any(const struct tr_book *book, uint32_t etype)
{
    const struct tr_etype_info info = etype_info(book, etype);
    for (uint32_t e = 0; e < count_etypes(book); e++) {
        const struct tr_etype_info other = etype_info(book, e);
        if (link_types_name_reverse(info.name, other.name))
            return true;
    }
    return false;
}

/* Lists edge types for a message, and counts them; *last: the last one. */
static uint32_t list_etypes(const struct tr_book *book, bool reverses, char *names, uint32_t *last)
{
    uint32_t count = 0;
    size_t used = 0;
    names[0] = '\0';
    for (uint32_t e = 0; e < count_etypes(book); e++) {
        if (!reverses && is_reverse_of_any(book, e))
            continue;
        *last = e;
        if (used < TYPES_BYTES)
            used += (size_t)snprintf(names + used, TYPES_BYTES - used, "%s'%s'",
                                     count > 0 ? ", " : "", etype_info(book, e).name);
        count++;
    }
    return count;
}

static int find_only(const struct tr_book *book, uint32_t *etype, struct error *error)
{
    char names[TYPES_BYTES];
    uint32_t count = list_etypes(book, false, names, etype);
    if (count == 1)
        return 0;
    return count == 0 ? error_set(error, TR_ENOENT, "the graph has no edges to learn from")
                      : error_set(error, TR_EINVAL,
                                  "the graph has edges of the types %s: say by options.edge_type "
                                  "which of them are learned",
                                  names);
}

static int find_named(const struct tr_book *book, const char *option, const char *name,
                      uint32_t *etype, struct error *error)
{
    char names[TYPES_BYTES];
    uint32_t last;
    if (tr_book_find_etype(book, name, etype, NULL) == 0)
        return 0;
    (void)list_etypes(book, true, names, &last);
    return error_set(error, TR_ENOENT, "%s: '%s' names no edge type, or several; there are %s",
                     option, name, names);
}

static uint32_t find_reverse(const struct tr_book *book, uint32_t etype)
{
    const struct tr_etype_info info = etype_info(book, etype);
    for (uint32_t e = 0; e < count_etypes(book); e++) {
        const struct tr_etype_info other = etype_info(book, e);
        if (link_types_name_reverse(other.name, info.name) ||
            link_types_name_reverse(info.name, other.name))
            return e;
    }
    return etype;
}

int link_types_find(struct link_types *types, const struct tr_book *book, const char *scored,
                    const char *reverse, struct error *error)
{
    *types = (struct link_types){ 0 };
    int rv = scored == NULL ? find_only(book, &types->etype, error)
                            : find_named(book, "options.edge_type", scored, &types->etype, error);
    if (rv != 0)
        return rv;
    const struct tr_etype_info info = etype_info(book, types->etype);
    if (info.num_edges == 0)
        return error_set(error, TR_EINVAL,
                         "the graph has no edges of '%s' to learn from; give options.edge_type a "
                         "type that has edges",
                         info.name);
    types->ntypes[MODEL_SOURCES] = info.src_ntype;
    types->ntypes[MODEL_DESTINATIONS] = info.dst_ntype;
    types->reverse = find_reverse(book, types->etype);
    if (reverse == NULL)
        return 0;
    rv = find_named(book, "options.reverse_edge_type", reverse, &types->reverse, error);
    if (rv != 0)
        return rv;
    const struct tr_etype_info other = etype_info(book, types->reverse);
    if (other.src_ntype != info.dst_ntype || other.dst_ntype != info.src_ntype)
        return error_set(error, TR_EINVAL,
                         "options.reverse_edge_type: edges of '%s' do not go the other way than "
                         "those of '%s'",
                         other.name, info.name);
    return 0;
}

uint32_t link_types_suspect(const struct link_types *types, const struct tr_book *book)
{
    const struct tr_etype_info info = etype_info(book, types->etype);
    for (uint32_t e = 0; types->reverse == types->etype && e < count_etypes(book); e++) {
        const struct tr_etype_info other = etype_info(book, e);
        if (e != types->etype && other.src_ntype == info.dst_ntype &&
            other.dst_ntype == info.src_ntype && other.num_edges == info.num_edges)
            return e;
    }
    return types->etype;
}
