/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An archive in memory becomes a raw graph with types: packages, and what they name.
 *
 * Each relation is walked twice, to count its edges and to write them, so that types without any are
 * left out before the writer is opened.
 */
#include <stdlib.h>
#include <string.h>

#include "partition/import/debian_archive.h"

enum node_type { PACKAGE, MAINTAINER, SECTION, TAG, SOURCE, NODE_TYPES };

static const char *const node_names[NODE_TYPES] = { "package", "maintainer", "section", "tag",
                                                    "source" };

struct relation {
    const char *name;
    enum node_type from, to;
    /* The pair with that number of the relation, in all `count` of it; false: it is no edge. */
    size_t (*count)(const struct archive *archive);
    bool (*pair)(const struct archive *archive, size_t which, size_t i, uint64_t *src,
                 uint64_t *dst);
    size_t which; /* the kind of a dependency; the member of a package that numbers the name */
};

static size_t count_dependencies(const struct archive *archive)
{
    return archive->num_dependencies;
}

static size_t count_packages(const struct archive *archive)
{
    return archive->num_packages;
}

static size_t count_tagged(const struct archive *archive)
{
    return archive->tagged.count;
}

static size_t count_needed(const struct archive *archive)
{
    return archive->needed.count;
}

static bool pair_dependency(const struct archive *archive, size_t kind, size_t i, uint64_t *src,
                            uint64_t *dst)
{
    const struct dependency *dependency = &archive->dependencies[i];
    bool conflicts = kind == DEBIAN_KINDS;
    /* A package that provides a virtual one may conflict with all others that do: that names no
     * package (Debian policy, 7.6.2). */
    *src = dependency->package;
    *dst = conflicts ? archive->package_of[dependency->name]
                     : archive_resolve(archive, dependency->name);
    return dependency->kind == kind && *dst != NO_PACKAGE && !(conflicts && *dst == *src);
}

static bool pair_package(const struct archive *archive, size_t member, size_t i, uint64_t *src,
                         uint64_t *dst)
{
    *src = i;
    *dst = package_name(&archive->packages[i], member);
    return *dst != NO_NAME;
}

static bool pair_tag(const struct archive *archive, size_t which, size_t i, uint64_t *src,
                     uint64_t *dst)
{
    (void)which;
    *src = archive->tagged.items[i].of;
    *dst = archive->tagged.items[i].name;
    return true;
}

static bool pair_needed(const struct archive *archive, size_t which, size_t i, uint64_t *src,
                        uint64_t *dst)
{
    (void)which;
    *src = archive->needed.items[i].of;
    *dst = archive_resolve(archive, archive->needed.items[i].name);
    return *dst != NO_PACKAGE;
}

#define DEPENDENCY(name, kind)                                            \
    {                                                                     \
        name, PACKAGE, PACKAGE, count_dependencies, pair_dependency, kind \
    }
static const struct relation relations[] = {
    DEPENDENCY("depends", 0),
    DEPENDENCY("pre_depends", 1),
    DEPENDENCY("recommends", 2),
    DEPENDENCY("suggests", 3),
    DEPENDENCY("enhances", 4),
    DEPENDENCY("conflicts", DEBIAN_KINDS),
    { "maintained_by", PACKAGE, MAINTAINER, count_packages, pair_package,
      offsetof(struct package, maintainer) },
    { "in_section", PACKAGE, SECTION, count_packages, pair_package,
      offsetof(struct package, section) },
    { "has_tag", PACKAGE, TAG, count_tagged, pair_tag, 0 },
    { "built_from", PACKAGE, SOURCE, count_packages, pair_package,
      offsetof(struct package, source) },
    { "build_depends", SOURCE, PACKAGE, count_needed, pair_needed, 0 },
};
#define RELATIONS (sizeof relations / sizeof *relations)

struct typed {
    const struct archive *archive;
    struct raw_writer *writer;
    struct graph_types types;
    uint64_t num_nodes[NODE_TYPES]; /* of those that are there */
    uint32_t ntypes[NODE_TYPES];    /* their numbers; NO_NAME: left out */
    int etypes[RELATIONS];          /* the number of the edges, before that of the reverse; -1 */
    struct error *error;
};

/* The names of a type's nodes; of packages they are in another order. */
static const struct names *names_of(const struct archive *archive, enum node_type type)
{
    const struct names *const names[NODE_TYPES] = { &archive->names, &archive->maintainers,
                                                    &archive->sections, &archive->tags,
                                                    &archive->sources };
    return names[type];
}

static uint64_t nodes_of(const struct archive *archive, enum node_type type)
{
    return type == PACKAGE ? archive->num_packages : names_of(archive, type)->count;
}

static uint64_t edges_of(const struct archive *archive, const struct relation *relation)
{
    uint64_t src, dst, count = 0;
    for (size_t i = 0; i < relation->count(archive); i++)
        count += relation->pair(archive, relation->which, i, &src, &dst);
    return count;
}

static int add_relation(struct typed *typed, size_t r)
{
    const struct relation *relation = &relations[r];
    const char *from = node_names[relation->from], *to = node_names[relation->to];
    char canonical[96];
    typed->etypes[r] = -1;
    if (edges_of(typed->archive, relation) == 0)
        return 0;
    typed->etypes[r] = (int)typed->types.num_etypes;
    snprintf(canonical, sizeof canonical, "%s:%s:%s", from, relation->name, to);
    int rv = graph_types_add_etype(&typed->types, canonical, typed->error);
    snprintf(canonical, sizeof canonical, "%s:rev_%s:%s", to, relation->name, from);
    return rv == 0 ? graph_types_add_etype(&typed->types, canonical, typed->error) : rv;
}

static int add_types(struct typed *typed)
{
    int rv = 0;
    for (int type = 0; type < NODE_TYPES && rv == 0; type++) {
        uint64_t count = nodes_of(typed->archive, type);
        typed->ntypes[type] = count > 0 ? typed->types.num_ntypes : NO_NAME;
        if (count == 0)
            continue;
        typed->num_nodes[typed->types.num_ntypes] = count;
        rv = graph_types_add_ntype(&typed->types, node_names[type], typed->error);
    }
    for (size_t r = 0; r < RELATIONS && rv == 0; r++)
        rv = add_relation(typed, r);
    if (rv == 0 && typed->types.num_etypes == 0)
        rv = error_set(typed->error, TR_EFORMAT,
                       "no package of the archive names another, a "
                       "maintainer, a section, a tag or a source");
    return rv;
}

static int write_relation(struct typed *typed, size_t r)
{
    const struct relation *relation = &relations[r];
    if (typed->etypes[r] < 0)
        return 0;
    uint32_t etype = (uint32_t)typed->etypes[r];
    size_t room = relation->count(typed->archive), count = 0;
    uint64_t *src = malloc(room * sizeof *src), *dst = malloc(room * sizeof *dst);
    int rv = src == NULL || dst == NULL
                 ? error_set(typed->error, TR_ENOMEM, "no memory for %zu edges", room)
                 : 0;
    for (size_t i = 0; i < room && rv == 0; i++)
        count += relation->pair(typed->archive, relation->which, i, &src[count], &dst[count]);
    if (rv == 0)
        rv = raw_writer_edges(typed->writer, etype, count, src, dst, typed->error);
    if (rv == 0)
        rv = raw_writer_edges(typed->writer, etype + 1, count, dst, src, typed->error);
    free(dst);
    free(src);
    return rv;
}

static int write_name(struct typed *typed, uint32_t list, const struct names *names, uint32_t name)
{
    const char *text = names_text(names, name);
    return raw_writer_name(typed->writer, list, text, strlen(text), typed->error);
}

static int write_node_names(struct typed *typed, enum node_type type)
{
    const struct archive *archive = typed->archive;
    uint32_t list;
    if (typed->ntypes[type] == NO_NAME)
        return 0;
    int rv = raw_writer_add_names(typed->writer, NAMES_NODES, typed->ntypes[type], NULL, &list,
                                  typed->error);
    for (uint32_t i = 0; rv == 0 && i < nodes_of(archive, type); i++)
        rv = write_name(typed, list, names_of(archive, type),
                        type == PACKAGE ? archive->packages[i].name : i);
    return rv;
}

/* Roles in alphabetical order are the classes. */
static int write_roles(struct typed *typed)
{
    const struct archive *archive = typed->archive;
    uint32_t count = archive->roles.count, list;
    uint32_t *order = names_sorted(&archive->roles);
    if (order == NULL)
        return error_set(typed->error, TR_ENOMEM, "no memory for %u roles", count);
    int rv = archive_write_labels(archive, typed->writer, offsetof(struct package, role),
                                  order + count, typed->error);
    if (rv == 0)
        rv = raw_writer_add_names(typed->writer, NAMES_VALUES, PACKAGE, "label", &list,
                                  typed->error);
    for (uint32_t i = 0; rv == 0 && i < count; i++)
        rv = write_name(typed, list, &archive->roles, order[i]);
    free(order);
    return rv;
}

static int write_all(struct typed *typed)
{
    int rv = 0;
    for (size_t r = 0; r < RELATIONS && rv == 0; r++)
        rv = write_relation(typed, r);
    if (rv == 0)
        rv = archive_write_features(typed->archive, typed->writer, typed->error);
    /* Without a role there is nothing to learn: masks would be of packages without a label. */
    if (rv == 0 && typed->archive->roles.count > 0)
        rv = write_roles(typed);
    if (rv == 0 && typed->archive->roles.count > 0)
        rv = archive_write_masks(typed->archive, typed->writer, typed->error);
    for (int type = 0; type < NODE_TYPES && rv == 0; type++)
        rv = write_node_names(typed, type);
    return rv;
}

int archive_write_typed(const struct archive *archive, const char *path,
                        const struct raw_write_options *write, struct error *error)
{
    struct typed typed = { .archive = archive, .error = error };
    int rv = add_types(&typed);
    if (rv == 0)
        rv = raw_writer_open(path, write, "debian", &typed.types, typed.num_nodes, &typed.writer,
                             error);
    graph_types_fini(&typed.types);
    if (rv != 0)
        return rv;
    rv = write_all(&typed);
    if (rv == 0)
        return raw_writer_commit(typed.writer, error);
    raw_writer_abort(typed.writer);
    return rv;
}
