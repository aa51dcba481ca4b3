/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An archive in memory, between parsing and writing. Private to debian*.c.
 *
 * Names (of packages, virtual packages and whatever is depended on) are interned: a name is a
 * small number. Ownership: archive_fini frees all.
 */
#ifndef PARTITION_IMPORT_DEBIAN_ARCHIVE_H
#define PARTITION_IMPORT_DEBIAN_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include "partition/import/debian.h"

#define NO_PACKAGE UINT32_MAX
#define NO_SECTION UINT32_MAX

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
    uint32_t section;   /* in sections, or NO_SECTION */
    size_t description; /* in texts */
};

struct dependency {
    uint32_t package;
    uint32_t name;
    uint8_t kind;
};

struct archive {
    struct names names;
    struct names sections;
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

/* 64 bits of a string: FNV-1a, then mixed. */
uint64_t hash_text(const char *text, size_t length);

void archive_fini(struct archive *archive);

/* Interns text[0, length); 0 or TR_ENOMEM (or TR_ETOOBIG at 2^31 names). */
int names_intern(struct names *names, const char *text, size_t length, uint32_t *name);
void names_fini(struct names *names);

/* Makes room for one more item; returns 0 or TR_ENOMEM. */
int grow(void **items, size_t item_size, size_t count, size_t *room);

int archive_parse(struct archive *archive, FILE *input, const char *input_name,
                  const struct cancel *cancel, struct error *error);
int archive_write(const struct archive *archive, const char *path,
                  const struct raw_write_options *write, struct debian_facts *facts,
                  struct error *error);

#endif
