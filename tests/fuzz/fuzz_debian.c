/* SPDX-License-Identifier: Apache-2.0 */
/* The output of apt-cache dumpavail: the archive that comes of it holds together. */
#define _GNU_SOURCE /* fmemopen */
#include <stdio.h>

#include "partition/import/debian_archive.h"
#include "tests/fuzz/fuzz.h"

static void check_package(const struct archive *archive, uint32_t number)
{
    const struct package *package = &archive->packages[number];
    assert(package->name < archive->names.count);
    assert(archive->package_of[package->name] == number);
    assert(package->section == NO_NAME || package->section < archive->sections.count);
    assert(package->description < archive->texts_size);
    if (archive->typed) {
        assert(package->maintainer == NO_NAME || package->maintainer < archive->maintainers.count);
        assert(package->source < archive->sources.count);
        assert(package->role == NO_NAME || package->role < archive->roles.count);
    }
    fuzz_touch(archive->texts + package->description,
               strlen(archive->texts + package->description));
}

/* Interning gives each text one number. */
static void check_names(struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t again;
        const char *text = names->text + names->starts[i];
        assert(names->starts[i] < names->text_size);
        assert(names_intern(names, text, strlen(text), &again) == 0 && again == i);
    }
}

static void use(struct archive *archive)
{
    assert(archive->num_packages > 0);
    for (uint32_t i = 0; i < archive->num_packages; i++)
        check_package(archive, i);
    for (size_t i = 0; i < archive->num_dependencies; i++) {
        const struct dependency *dependency = &archive->dependencies[i];
        assert(dependency->package < archive->num_packages);
        assert(dependency->name < archive->names.count);
        assert(dependency->kind < (archive->typed ? DEBIAN_TYPED_KINDS : DEBIAN_KINDS));
    }
    for (size_t i = 0; i < archive->tagged.count; i++)
        assert(archive->tagged.items[i].of < archive->num_packages &&
               archive->tagged.items[i].name < archive->tags.count);
    for (size_t i = 0; i < archive->needed.count; i++)
        assert(archive->needed.items[i].of < archive->sources.count &&
               archive->needed.items[i].name < archive->names.count);
    for (uint32_t i = 0; i < archive->names.count; i++)
        assert(archive->provider_of[i] == NO_PACKAGE ||
               archive->provider_of[i] < archive->num_packages);
    check_names(&archive->names);
    check_names(&archive->sections);
    check_names(&archive->maintainers);
    check_names(&archive->sources);
    check_names(&archive->tags);
    check_names(&archive->roles);
}

/* With types the same text is the index of sources too. */
static void parse(void *text, size_t size, bool typed)
{
    struct archive archive = { .typed = typed };
    struct error error = { 0 };
    /* fmemopen() makes no file of no bytes. */
    FILE *input = size > 0 ? fmemopen(text, size, "r") : fopen("/dev/null", "re");
    assert(input != NULL);
    int rv = archive_parse(&archive, input, "the archive", NULL, &error);
    fuzz_check(rv, &error);
    bool parsed = rv == 0;
    if (parsed && typed) {
        rewind(input);
        rv = archive_parse_sources(&archive, input, "the sources", NULL, &error);
        fuzz_check(rv, &error);
    }
    if (parsed)
        use(&archive);
    archive_fini(&archive);
    fclose(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *text = fuzz_block(data, size);
    parse(text, size, false);
    parse(text, size, true);
    free(text);
    return 0;
}
