/* SPDX-License-Identifier: Apache-2.0 */
/* Stanzas of an archive's index, one at a time, into struct archive. */
#define _GNU_SOURCE /* memrchr */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "partition/import/debian_archive.h"
#include "partition/table/table_values.h"

/* The longest line of a Debian archive has about 100,000 bytes. */
#define LINE_BYTES_MAX ((size_t)16 << 20)

enum field {
    /* The kinds of dependency, in the order of their numbers. */
    FIELD_DEPENDS,
    FIELD_PRE_DEPENDS,
    FIELD_RECOMMENDS,
    FIELD_SUGGESTS,
    FIELD_ENHANCES,
    FIELD_CONFLICTS, /* with types */
    FIELD_PROVIDES,
    FIELD_PACKAGE,
    FIELD_SECTION,
    FIELD_DESCRIPTION,
    FIELD_MAINTAINER,
    FIELD_SOURCE,
    FIELD_TAG,
    /* Of sources: */
    FIELD_BUILD_DEPENDS,
    FIELD_BUILD_DEPENDS_INDEP,
    FIELD_BUILD_DEPENDS_ARCH,
    NUM_FIELDS
};
_Static_assert(FIELD_CONFLICTS == DEBIAN_KINDS && FIELD_PROVIDES == DEBIAN_TYPED_KINDS,
               "dependency kinds come first");

static const char *const field_names[NUM_FIELDS] = {
    "Depends",           "Pre-Depends", "Recommends", "Suggests",      "Enhances",
    "Conflicts",         "Provides",    "Package",    "Section",       "Description",
    "Maintainer",        "Source",      "Tag",        "Build-Depends", "Build-Depends-Indep",
    "Build-Depends-Arch"
};

/* What tells what a package is, which is its label. */
static const char role_facet[] = "role::";

/* A field's value, continuation lines included. */
struct value {
    char *text;
    size_t size, room;
};

struct parser {
    struct archive *archive;
    const char *input_name;
    uint64_t line;
    struct value values[NUM_FIELDS];
    int field;                         /* that a continuation line belongs to, or -1 */
    bool begun;                        /* a stanza */
    int (*end)(struct parser *parser); /* takes a stanza that is whole */
    struct error *error;
};

static int no_memory(struct parser *parser)
{
    return error_set(parser->error, TR_ENOMEM, "%s: line %" PRIu64 ": no memory for the archive",
                     parser->input_name, parser->line);
}

static int no_package(struct parser *parser)
{
    return error_set(parser->error, TR_EFORMAT,
                     "%s: line %" PRIu64 ": the stanza that ends here has no Package field",
                     parser->input_name, parser->line);
}

static int append_value(struct parser *parser, const char *text, size_t length)
{
    struct value *value = &parser->values[parser->field];
    if (length + 2 > value->room - value->size) {
        size_t room = 2 * value->room + length + 2;
        char *grown = realloc(value->text, room);
        if (grown == NULL)
            return no_memory(parser);
        value->text = grown;
        value->room = room;
    }
    value->text[value->size++] = ' ';
    memcpy(value->text + value->size, text, length);
    value->size += length;
    value->text[value->size] = '\0';
    return 0;
}

/* Names go to the folder of the graph, and from there to predictions. */
static int check_name(const struct parser *parser, const char *text, size_t length)
{
    const struct table_field field = { .at = text, .length = (uint32_t)length };
    return value_is_utf8(&field) ? 0
                                 : error_set(parser->error, TR_EFORMAT,
                                             "%s: the stanza that ends at line %" PRIu64
                                             " has a name that is not UTF-8",
                                             parser->input_name, parser->line);
}

/* Names of the archive that are new have neither package nor provider. */
static int debian_intern(struct parser *parser, const char *text, size_t length, uint32_t *name)
{
    struct archive *archive = parser->archive;
    int rv = check_name(parser, text, length);
    if (rv != 0)
        return rv;
    if (names_intern(&archive->names, text, length, name) != 0)
        return no_memory(parser);
    if (*name < archive->of_room)
        return 0;
    uint32_t room = archive->names.room;
    uint32_t *package_of = realloc(archive->package_of, room * sizeof *package_of);
    if (package_of == NULL)
        return no_memory(parser);
    archive->package_of = package_of;
    uint32_t *provider_of = realloc(archive->provider_of, room * sizeof *provider_of);
    if (provider_of == NULL)
        return no_memory(parser);
    archive->provider_of = provider_of;
    for (uint32_t i = archive->of_room; i < room; i++)
        package_of[i] = provider_of[i] = NO_PACKAGE;
    archive->of_room = room;
    return 0;
}

/* The next name of a list such as "a (>= 1), b [amd64] | c:any <!x>"; false at its end. */
static bool next_name(const char **at, const char **name, size_t *length)
{
    const char *p = *at;
    while (*p != '\0' && (*p == ',' || *p == '|' || isspace((unsigned char)*p)))
        p++;
    *name = p;
    p += strcspn(p, " \t\r\n,|([<:");
    *length = (size_t)(p - *name);
    *at = p + strcspn(p, ",|");
    return *p != '\0' || *length > 0;
}

static int add_dependency(struct parser *parser, uint32_t package, int kind, uint32_t name)
{
    struct archive *archive = parser->archive;
    void *items = archive->dependencies;
    int rv = grow(&items, sizeof *archive->dependencies, archive->num_dependencies,
                  &archive->dependencies_room);
    archive->dependencies = items;
    if (rv != 0)
        return no_memory(parser);
    archive->dependencies[archive->num_dependencies++] = (struct dependency){ package, name,
                                                                              (uint8_t)kind };
    return 0;
}

/* Pairs of a package or a source with a name. */
static int add_belonging(struct parser *parser, struct belongings *all, uint32_t of, uint32_t name)
{
    void *items = all->items;
    int rv = grow(&items, sizeof *all->items, all->count, &all->room);
    all->items = items;
    if (rv != 0)
        return no_memory(parser);
    all->items[all->count++] = (struct belonging){ of, name };
    return 0;
}

static int add_lists(struct parser *parser, uint32_t package)
{
    for (int field = 0; field <= FIELD_PROVIDES; field++) {
        if (field == FIELD_CONFLICTS && !parser->archive->typed)
            continue;
        const char *at = parser->values[field].text, *text;
        size_t length;
        while (parser->values[field].size > 0 && next_name(&at, &text, &length)) {
            uint32_t name;
            if (length == 0)
                continue;
            int rv = debian_intern(parser, text, length, &name);
            if (rv != 0)
                return rv;
            uint32_t *provider = &parser->archive->provider_of[name];
            if (field == FIELD_PROVIDES)
                *provider = *provider == NO_PACKAGE ? package : *provider;
            else if ((rv = add_dependency(parser, package, field, name)) != 0)
                return rv;
        }
    }
    return 0;
}

/* A value without the blanks around it. */
static const char *debian_trim(const struct value *value, size_t *length)
{
    const char *text = value->size > 0 ? value->text : "";
    while (isspace((unsigned char)*text))
        text++;
    *length = strlen(text);
    while (*length > 0 && isspace((unsigned char)text[*length - 1]))
        --*length;
    return text;
}

/* The whole value as a name; NO_NAME where there is none. */
static int intern_value(struct parser *parser, struct names *names, const char *text, size_t length,
                        uint32_t *name)
{
    *name = NO_NAME;
    int rv = check_name(parser, text, length);
    if (rv != 0 || length == 0)
        return rv;
    return names_intern(names, text, length, name) == 0 ? 0 : no_memory(parser);
}

static int add_section(struct parser *parser, struct package *package)
{
    size_t length;
    const char *text = debian_trim(&parser->values[FIELD_SECTION], &length);
    const char *slash = memrchr(text, '/', length);
    if (slash != NULL) {
        length -= (size_t)(slash + 1 - text);
        text = slash + 1;
    }
    package->section = NO_NAME;
    if (length == 0)
        return 0;
    return intern_value(parser, &parser->archive->sections, text, length, &package->section);
}

static int add_tags(struct parser *parser, struct package *package)
{
    struct archive *archive = parser->archive;
    const size_t facet = sizeof role_facet - 1;
    const char *at = parser->values[FIELD_TAG].text;
    int rv = 0;
    package->role = NO_NAME;
    while (parser->values[FIELD_TAG].size > 0 && *at != '\0' && rv == 0) {
        uint32_t name;
        at += strspn(at, ", \t\r\n");
        size_t length = strcspn(at, ", \t\r\n");
        if (length >= facet && strncmp(at, role_facet, facet) == 0) {
            /* "TODO" says that nobody has looked at the package. */
            bool said = length != facet + 4 || strncmp(at + facet, "TODO", 4) != 0;
            if (package->role == NO_NAME && said && length > facet)
                rv = intern_value(parser, &archive->roles, at + facet, length - facet,
                                  &package->role);
        } else if (length > 0) {
            rv = intern_value(parser, &archive->tags, at, length, &name);
            if (rv == 0)
                rv = add_belonging(parser, &archive->tagged, archive->num_packages, name);
        }
        at += length;
    }
    return rv;
}

/* What a graph with types has beside the packages. */
static int add_others(struct parser *parser, struct package *package)
{
    struct archive *archive = parser->archive;
    size_t length;
    package->maintainer = package->source = package->role = NO_NAME;
    if (!archive->typed)
        return 0;
    const char *text = debian_trim(&parser->values[FIELD_MAINTAINER], &length);
    int rv = intern_value(parser, &archive->maintainers, text, length, &package->maintainer);
    if (rv != 0)
        return rv;
    /* Its version may stand behind it, in brackets. */
    text = debian_trim(&parser->values[FIELD_SOURCE], &length);
    length = strcspn(text, " \t\r\n(");
    if (length == 0) {
        text = archive->names.text + archive->names.starts[package->name];
        length = strlen(text);
    }
    rv = intern_value(parser, &archive->sources, text, length, &package->source);
    return rv == 0 ? add_tags(parser, package) : rv;
}

static int add_description(struct parser *parser, struct package *package)
{
    struct archive *archive = parser->archive;
    size_t length;
    const char *text = debian_trim(&parser->values[FIELD_DESCRIPTION], &length);
    if (length + 1 > archive->texts_room - archive->texts_size) {
        size_t room = 2 * archive->texts_room + length + 1;
        char *grown = realloc(archive->texts, room);
        if (grown == NULL)
            return no_memory(parser);
        archive->texts = grown;
        archive->texts_room = room;
    }
    package->description = archive->texts_size;
    memcpy(archive->texts + archive->texts_size, text, length);
    archive->texts[archive->texts_size + length] = '\0';
    archive->texts_size += length + 1;
    return 0;
}

static int add_package(struct parser *parser)
{
    struct archive *archive = parser->archive;
    struct package package;
    size_t length, room = archive->packages_room;
    const char *text = debian_trim(&parser->values[FIELD_PACKAGE], &length);
    if (length == 0)
        return no_package(parser);
    if (strcspn(text, " \t\r\n") < length)
        return error_set(parser->error, TR_EFORMAT,
                         "%s: the stanza that ends at line %" PRIu64
                         ": '%.40s' is no name of a package, which has no blanks",
                         parser->input_name, parser->line, text);
    int rv = debian_intern(parser, text, length, &package.name);
    if (rv != 0 || archive->package_of[package.name] != NO_PACKAGE)
        return rv;
    void *items = archive->packages;
    rv = grow(&items, sizeof *archive->packages, archive->num_packages, &room);
    archive->packages = items;
    archive->packages_room = (uint32_t)room;
    if (rv != 0)
        return no_memory(parser);
    rv = add_section(parser, &package);
    if (rv == 0)
        rv = add_description(parser, &package);
    if (rv == 0)
        rv = add_others(parser, &package);
    if (rv == 0)
        rv = add_lists(parser, archive->num_packages);
    if (rv != 0)
        return rv;
    /* The name gets its package last: a package counts when all of it is there. */
    archive->package_of[package.name] = archive->num_packages;
    archive->packages[archive->num_packages++] = package;
    return 0;
}

/* A source that packages are built from needs these. */
static int add_source(struct parser *parser)
{
    struct archive *archive = parser->archive;
    size_t length;
    uint32_t source;
    const char *text = debian_trim(&parser->values[FIELD_PACKAGE], &length);
    if (length == 0)
        return no_package(parser);
    if (!names_find(&archive->sources, text, length, &source) || archive->built[source])
        return 0;
    archive->built[source] = true; /* of several versions the first counts */
    for (int field = FIELD_BUILD_DEPENDS; field <= FIELD_BUILD_DEPENDS_ARCH; field++) {
        const char *at = parser->values[field].text;
        while (parser->values[field].size > 0 && next_name(&at, &text, &length)) {
            uint32_t name;
            /* A name that nobody has said is no package and none provides it. */
            if (length == 0 || !names_find(&archive->names, text, length, &name))
                continue;
            int rv = add_belonging(parser, &archive->needed, source, name);
            if (rv != 0)
                return rv;
        }
    }
    return 0;
}

static int end_stanza(struct parser *parser)
{
    if (!parser->begun)
        return 0;
    int rv = parser->end(parser);
    for (int i = 0; i < NUM_FIELDS; i++)
        parser->values[i].size = 0;
    parser->begun = false;
    parser->field = -1;
    return rv;
}

static int add_line(struct parser *parser, const char *line, size_t length)
{
    if (length == 0)
        return end_stanza(parser);
    if (line[0] == ' ' || line[0] == '\t')
        return parser->field < 0 ? 0 : append_value(parser, line, length);
    const char *colon = memchr(line, ':', length);
    if (colon == NULL || colon == line)
        return error_set(parser->error, TR_EFORMAT,
                         "%s: line %" PRIu64 ": '%.*s' is not \"Field: value\"; give what "
                         "apt-cache dumpavail prints",
                         parser->input_name, parser->line, (int)(length < 40 ? length : 40), line);
    size_t name_length = (size_t)(colon - line);
    parser->begun = true;
    parser->field = -1;
    for (int i = 0; i < NUM_FIELDS; i++) {
        if (strlen(field_names[i]) == name_length &&
            strncasecmp(field_names[i], line, name_length) == 0)
            parser->field = i;
    }
    if (parser->field < 0)
        return 0;
    if (parser->field == FIELD_PACKAGE && parser->values[FIELD_PACKAGE].size > 0)
        return error_set(parser->error, TR_EFORMAT,
                         "%s: line %" PRIu64 ": a second Package in one stanza; an empty line "
                         "stands between stanzas",
                         parser->input_name, parser->line);
    parser->values[parser->field].size = 0;
    return append_value(parser, colon + 1, length - name_length - 1);
}

static int parse_stanzas(struct parser *parser, FILE *input, const struct cancel *cancel)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int rv = 0;
    while (rv == 0 && (length = getline(&line, &room, input)) >= 0) {
        parser->line++;
        if (parser->line % 1024 == 0 && cancel_asked(cancel))
            rv = error_set(parser->error, TR_ECANCELED, "%s: interrupted; nothing was written",
                           parser->input_name);
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
            length--;
        line[length] = '\0';
        if (rv == 0 && ((size_t)length > LINE_BYTES_MAX || strlen(line) != (size_t)length))
            rv = error_set(parser->error, TR_EFORMAT, "%s: line %" PRIu64 ": is not text%s",
                           parser->input_name, parser->line,
                           parser->line == 1 ? "; a packed file has to be unpacked first" : "");
        if (rv == 0)
            rv = add_line(parser, line, (size_t)length);
    }
    if (rv == 0 && ferror(input))
        rv = error_set_errno(parser->error, errno, "%s: cannot read line %" PRIu64,
                             parser->input_name, parser->line + 1);
    if (rv == 0)
        rv = end_stanza(parser);
    free(line);
    for (int i = 0; i < NUM_FIELDS; i++)
        free(parser->values[i].text);
    return rv;
}

int archive_parse(struct archive *archive, FILE *input, const char *input_name,
                  const struct cancel *cancel, struct error *error)
{
    struct parser parser = { .archive = archive,
                             .input_name = input_name,
                             .field = -1,
                             .end = add_package,
                             .error = error };
    int rv = parse_stanzas(&parser, input, cancel);
    if (rv == 0 && archive->num_packages == 0)
        rv = error_set(error, TR_EFORMAT, "%s: holds no package; run apt-get update", input_name);
    return rv;
}

int archive_parse_sources(struct archive *archive, FILE *input, const char *input_name,
                          const struct cancel *cancel, struct error *error)
{
    struct parser parser = {
        .archive = archive, .input_name = input_name, .field = -1, .end = add_source, .error = error
    };
    archive->built = calloc((size_t)archive->sources.count + 1, sizeof *archive->built);
    if (archive->built == NULL)
        return no_memory(&parser);
    int rv = parse_stanzas(&parser, input, cancel);
    if (rv == 0 && archive->needed.count == 0)
        rv = error_set(error, TR_EFORMAT,
                       "%s: no source of these packages needs another to be built; give the index "
                       "Sources of the same archive, unpacked",
                       input_name);
    return rv;
}
