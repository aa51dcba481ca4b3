/* SPDX-License-Identifier: Apache-2.0 */
/* An archive in memory becomes a raw graph: dependencies resolved, words hashed, nodes split. */
#define _GNU_SOURCE /* stpcpy */
#include <stdlib.h>
#include <string.h>

#include "partition/import/debian_archive.h"

uint32_t archive_resolve(const struct archive *archive, uint32_t name)
{
    uint32_t package = archive->package_of[name];
    return package != NO_PACKAGE ? package : archive->provider_of[name];
}

static void count_edges(const struct archive *archive, struct debian_facts *facts)
{
    *facts = (struct debian_facts){ .num_packages = archive->num_packages,
                                    .num_sections = archive->sections.count };
    for (size_t i = 0; i < archive->num_dependencies; i++) {
        const struct dependency *dependency = &archive->dependencies[i];
        if (archive_resolve(archive, dependency->name) == NO_PACKAGE) {
            facts->num_unresolved++;
            continue;
        }
        facts->num_dependencies++;
        facts->kinds[dependency->kind]++;
    }
}

static int write_edges(const struct archive *archive, struct raw_writer *writer,
                       const struct debian_facts *facts, struct error *error)
{
    uint32_t table;
    size_t room = 2 * (size_t)facts->num_dependencies, count = 0;
    uint64_t *src = malloc((room + 1) * sizeof *src), *dst = malloc((room + 1) * sizeof *dst);
    int8_t *kind = malloc(room + 1);
    int rv = 0;
    if (src == NULL || dst == NULL || kind == NULL)
        rv = error_set(error, TR_ENOMEM, "no memory for %zu edges", room);
    for (size_t i = 0; rv == 0 && i < archive->num_dependencies; i++) {
        const struct dependency *dependency = &archive->dependencies[i];
        uint32_t needed = archive_resolve(archive, dependency->name);
        if (needed == NO_PACKAGE)
            continue;
        src[count] = dst[count + 1] = dependency->package;
        dst[count] = src[count + 1] = needed;
        kind[count] = (int8_t)dependency->kind;
        kind[count + 1] = (int8_t)(dependency->kind + DEBIAN_KINDS);
        count += 2;
    }
    if (rv == 0)
        rv = raw_writer_edges(writer, 0, count, src, dst, error);
    if (rv == 0)
        rv = raw_writer_add_table(writer, "kind", true, 0, TR_I8, 0, NULL, &table, error);
    if (rv == 0)
        rv = raw_writer_rows(writer, table, count, kind, error);
    free(kind);
    free(dst);
    free(src);
    return rv;
}

/* The lower case of an ASCII letter or digit, or 0 for what separates words. */
static char word_character(char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
        return c;
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : 0;
}

/* Words are cut here; none of a language is as long. */
#define WORD_BYTES_MAX 256

static void hash_words(const char *text, float *row)
{
    char word[WORD_BYTES_MAX];
    size_t length = 0;
    memset(row, 0, DEBIAN_FEATURES * sizeof *row);
    for (;; text++) {
        char c = word_character(*text);
        if (c != 0 && length < sizeof word)
            word[length++] = c;
        if (c == 0 && length > 0) {
            uint64_t hash = hash_text(word, length);
            row[hash % DEBIAN_FEATURES] += hash >> 40 & 1 ? -1.0f : 1.0f;
            length = 0;
        }
        if (*text == '\0')
            break;
    }
}

int archive_write_features(const struct archive *archive, struct raw_writer *writer,
                           struct error *error)
{
    uint32_t table;
    uint64_t width = DEBIAN_FEATURES;
    int rv = raw_writer_add_table(writer, "feat", false, 0, TR_F32, 1, &width, &table, error);
    for (uint32_t i = 0; rv == 0 && i < archive->num_packages; i++) {
        float row[DEBIAN_FEATURES];
        hash_words(archive->texts + archive->packages[i].description, row);
        rv = raw_writer_rows(writer, table, 1, row, error);
    }
    return rv;
}

static int write_lines(const struct names *names, const uint32_t *order, size_t count,
                       struct raw_writer *writer, const char *file_name, struct error *error)
{
    char *text = malloc(names->text_size + 1), *end = text;
    if (text == NULL)
        return error_set(error, TR_ENOMEM, "no memory for %s", file_name);
    for (size_t i = 0; i < count; i++) {
        end = stpcpy(end, names_text(names, order[i]));
        *end++ = '\n';
    }
    int rv = raw_writer_text(writer, file_name, text, (size_t)(end - text), error);
    free(text);
    return rv;
}

int archive_write_labels(const struct archive *archive, struct raw_writer *writer, size_t member,
                         const uint32_t *rank, struct error *error)
{
    uint32_t table;
    int rv = raw_writer_add_table(writer, "label", false, 0, TR_I64, 0, NULL, &table, error);
    for (uint32_t i = 0; rv == 0 && i < archive->num_packages; i++) {
        uint32_t name = package_name(&archive->packages[i], member);
        int64_t label = name == NO_NAME ? -1 : (int64_t)rank[name];
        rv = raw_writer_rows(writer, table, 1, &label, error);
    }
    return rv;
}

/* Sections in alphabetical order are the classes. */
static int write_sections(const struct archive *archive, struct raw_writer *writer,
                          struct error *error)
{
    uint32_t count = archive->sections.count;
    uint32_t *order = names_sorted(&archive->sections);
    if (order == NULL)
        return error_set(error, TR_ENOMEM, "no memory for %u sections", count);
    int rv = archive_write_labels(archive, writer, offsetof(struct package, section), order + count,
                                  error);
    if (rv == 0)
        rv = write_lines(&archive->sections, order, count, writer, "sections.txt", error);
    free(order);
    return rv;
}

int archive_write_masks(const struct archive *archive, struct raw_writer *writer,
                        struct error *error)
{
    static const char *const masks[] = { "train_mask", "val_mask", "test_mask" };
    static const int part_of_quarter[] = { 0, 0, 1, 2 };
    int rv = 0;
    for (int part = 0; rv == 0 && part < 3; part++) {
        uint32_t table;
        rv = raw_writer_add_table(writer, masks[part], false, 0, TR_U8, 0, NULL, &table, error);
        for (uint32_t i = 0; rv == 0 && i < archive->num_packages; i++) {
            const struct package *package = &archive->packages[i];
            const char *name = names_text(&archive->names, package->name);
            bool learned = !archive->typed || package->role != NO_NAME;
            uint8_t in = learned && part_of_quarter[hash_text(name, strlen(name)) >> 62] == part;
            rv = raw_writer_rows(writer, table, 1, &in, error);
        }
    }
    return rv;
}

static int write_names(const struct archive *archive, struct raw_writer *writer,
                       struct error *error)
{
    uint32_t *order = malloc(archive->num_packages * sizeof *order);
    if (order == NULL)
        return error_set(error, TR_ENOMEM, "no memory for names.txt");
    for (uint32_t i = 0; i < archive->num_packages; i++)
        order[i] = archive->packages[i].name;
    int rv = write_lines(&archive->names, order, archive->num_packages, writer, "names.txt", error);
    free(order);
    return rv;
}

int archive_write(const struct archive *archive, const char *path,
                  const struct raw_write_options *write, struct debian_facts *facts,
                  struct error *error)
{
    struct graph_types types;
    struct raw_writer *writer;
    uint64_t num_nodes = archive->num_packages;
    count_edges(archive, facts);
    int rv = graph_types_init_homogeneous(&types);
    if (rv != 0)
        return error_set(error, rv, "%s: no memory to write it", path);
    rv = raw_writer_open(path, write, "debian", &types, &num_nodes, &writer, error);
    graph_types_fini(&types);
    if (rv != 0)
        return rv;
    rv = write_edges(archive, writer, facts, error);
    if (rv == 0)
        rv = archive_write_features(archive, writer, error);
    if (rv == 0)
        rv = write_sections(archive, writer, error);
    if (rv == 0)
        rv = archive_write_masks(archive, writer, error);
    if (rv == 0)
        rv = write_names(archive, writer, error);
    if (rv == 0)
        return raw_writer_commit(writer, error);
    raw_writer_abort(writer);
    return rv;
}
