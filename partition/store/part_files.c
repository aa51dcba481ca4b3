/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "partition/store/part_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends a feature's name with what a file name can't hold written as %XX. */
static void escape(char *out, const char *name)
{
    static const char digits[] = "0123456789ABCDEF";
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        if (c < 0x20 || c == 0x7f || strchr("/~%", c) != NULL) {
            *out++ = '%';
            *out++ = digits[c >> 4];
            *out++ = digits[c & 15];
        } else {
            *out++ = (char)c;
        }
    }
    *out = '\0';
}

static char *name_of(const struct graph_types *types, bool on_edges, uint32_t type,
                     const char *array, const char *feature)
{
    const struct graph_etype *e = on_edges ? &types->etypes[type] : NULL;
    char *escaped = malloc(3 * strlen(feature) + 1), *name = NULL;
    if (escaped == NULL)
        return NULL;
    escape(escaped, feature);
    int length = on_edges
                     ? asprintf(&name, "edge~%s:%s:%s~%s%s.npy", types->ntypes[e->src], e->name,
                                types->ntypes[e->dst], array, escaped)
                     : asprintf(&name, "node~%s~%s%s.npy", types->ntypes[type], array, escaped);
    free(escaped);
    return length < 0 ? NULL : name;
}

char *part_file_node(const struct graph_types *types, uint32_t ntype, const char *array)
{
    return name_of(types, false, ntype, array, "");
}

char *part_file_edge(const struct graph_types *types, uint32_t etype, const char *array)
{
    return name_of(types, true, etype, array, "");
}

char *part_file_halo(const struct graph_types *types, uint32_t ntype, uint32_t hop)
{
    char array[32];
    snprintf(array, sizeof array, "halo%u", hop);
    return name_of(types, false, ntype, array, "");
}

char *part_file_feature(const struct graph_types *types, bool on_edges, uint32_t type,
                        const char *feature)
{
    return name_of(types, on_edges, type, "feature~", feature);
}

char *part_file_csr(const struct graph_types *types, uint32_t ntype, const char *feature,
                    const char *array)
{
    char *escaped = malloc(3 * strlen(feature) + 1), *name = NULL;
    if (escaped == NULL)
        return NULL;
    escape(escaped, feature);
    int length = asprintf(&name, "node~%s~feature~%s~%s.npy", types->ntypes[ntype], escaped, array);
    free(escaped);
    return length < 0 ? NULL : name;
}

char *part_file_ranks(const struct graph_types *types, const struct rank_table *table)
{
    if (table->set == RANKS_MASK)
        return name_of(types, false, table->ntype, "ranks~", table->mask);
    return part_file_node(types, table->ntype, table->set == RANKS_ALL ? "ranks" : "dealt_ranks");
}

char *part_file_deal(const struct graph_types *types, uint32_t ntype)
{
    char *name = NULL;
    return asprintf(&name, "deal~%s.npy", types->ntypes[ntype]) < 0 ? NULL : name;
}

char *part_file_names(const struct graph_types *types, const struct names_key *names)
{
    const char *table = names->table != NULL ? names->table : "";
    char *escaped = malloc(3 * strlen(table) + 1), *name = NULL;
    if (escaped == NULL)
        return NULL;
    escape(escaped, table);
    int length = asprintf(&name, "dict~%s~%s%s%s", types->ntypes[names->ntype],
                          names_of_word(names->of), names->table != NULL ? "~" : "", escaped);
    free(escaped);
    return length < 0 ? NULL : name;
}
