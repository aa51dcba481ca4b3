/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An archive in memory, between parsing and writing. Private to debian*.c.
 *
 * Names (of packages, virtual packages and whatever is depended on) are interned: a name is a
 * small number. Ownership: archive_fini frees all.
 */
#ifndef PARTITION_IMPORT_DEBIAN_ARCHIVE_H
#define PARTITION_IMPORT_DEBIAN_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "partition/import/debian.h"

#define NO_PACKAGE UINT32_MAX
#define NO_NAME UINT32_MAX

/* Interned strings: name i is text + starts[i]. */
struct names {
    char *text;
    size_t text_size, text_room;
    size_t *starts;
    uint32_t count, room;
    uint32_t *slots; /* open addressing: name + 1, 0 = free */
    uint32_t num_slots;
};

struct package {
    uint32_t name;
    uint32_t section;   /* in sections, or NO_NAME */
    size_t description; /* in texts */
    /* With types, else NO_NAME: */
    uint32_t maintainer, source, role; /* in the lists of these names, or NO_NAME */
};

struct dependency {
    uint32_t package;
    uint32_t name;
    uint8_t kind;
};

/* A tag of a package, or what a source needs to be built. */
struct belonging {
    uint32_t of;   /* a package; a source */
    uint32_t name; /* in tags; in names */
};

struct belongings {
    struct belonging *items;
    size_t count, room;
};

struct archive {
    bool typed; /* said before parsing */
    struct names names;
    struct names sections;
    struct names maintainers, sources, tags, roles; /* with types */
    struct belongings tagged, needed;               /* tags of packages; what sources need */
    bool *built;           /* [sources.count]: the source is in the index of sources */
    uint32_t *package_of;  /* [names.room]: the package of a name, or NO_PACKAGE */
    uint32_t *provider_of; /* [names.room]: the first that provides it, or NO_PACKAGE */
    uint32_t of_room;
    struct package *packages;
    uint32_t num_packages, packages_room;
    struct dependency *dependencies;
    size_t num_dependencies, dependencies_room;
    char *texts; /* descriptions, each ended by NUL */
    size_t texts_size, texts_room;
};

/* The number of a name that the package has, or NO_NAME; member: its offset in struct package. */
static inline uint32_t package_name(const struct package *package, size_t member)
{
    return *(const uint32_t *)(const void *)((const char *)package + member);
}

static inline const char *names_text(const struct names *names, uint32_t name)
{
    return names->text + names->starts[name];
}

/* 64 bits of a string: FNV-1a, then mixed. */
uint64_t hash_text(const char *text, size_t length);

void archive_fini(struct archive *archive);

/* Interns text[0, length); 0 or TR_ENOMEM (or TR_ETOOBIG at 2^31 names). */
int names_intern(struct names *names, const char *text, size_t length, uint32_t *name);
/* Whether the text is among them. */
bool names_find(const struct names *names, const char *text, size_t length, uint32_t *name);
void names_fini(struct names *names);

/* Makes room for one more item; returns 0 or TR_ENOMEM. */
int grow(void **items, size_t item_size, size_t count, size_t *room);

int archive_parse(struct archive *archive, FILE *input, const char *input_name,
                  const struct cancel *cancel, struct error *error);
/* The index of sources, after the packages: other sources than theirs are passed over. */
int archive_parse_sources(struct archive *archive, FILE *input, const char *input_name,
                          const struct cancel *cancel, struct error *error);

/* The package that a depended name stands for, or NO_PACKAGE. */
uint32_t archive_resolve(const struct archive *archive, uint32_t name);

/* Both write the graph: of one type; of many. */
int archive_write_typed(const struct archive *archive, const char *path,
                        const struct raw_write_options *write, struct error *error);
int archive_write(const struct archive *archive, const char *path,
                  const struct raw_write_options *write, struct debian_facts *facts,
                  struct error *error);

/* What both write of packages, whose type of nodes is 0 in either graph: "feat"; "label", by the ranks
 * of the names that a member of struct package numbers; and the masks, which with types leave out
 * packages without a role. */
int archive_write_features(const struct archive *archive, struct raw_writer *writer,
                           struct error *error);
int archive_write_labels(const struct archive *archive, struct raw_writer *writer, size_t member,
                         const uint32_t *rank, struct error *error);
int archive_write_masks(const struct archive *archive, struct raw_writer *writer,
                        struct error *error);

/* The numbers of the names in their alphabetical order, [count], and behind them the place of each in
 * it, [count]; to free(). NULL: no memory. */
uint32_t *names_sorted(const struct names *names);

#endif
