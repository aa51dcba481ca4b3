/* SPDX-License-Identifier: Apache-2.0 */
/* The Debian importer on a small archive that holds each rule once. */
#include "tests/partition/raw_util.h"

#include "partition/import/debian.h"
#include "partition/raw/raw.h"

static const char archive[] = "Package: editor\n"
                              "Version: 2\n"
                              "Depends: libc6 (>= 2.3), libc6 (<< 3), libx:any | libnone,\n"
                              " mta [amd64] <!nocheck>\n"
                              "Pre-Depends: libc6\n"
                              "Recommends: nothing-has-this\n"
                              "Enhances: mailer\n"
                              "Section: contrib/editors\n"
                              "Description: An Editor of text; an EDITOR\n"
                              "\n\n"
                              "Package: libc6\n"
                              "Section: libs\n"
                              "Description: library\n"
                              "Tag: a::b,\n"
                              " c::d\n"
                              "\n"
                              "Package: libx\n"
                              "section: libs\n"
                              "Suggests: libc6\n"
                              "\n"
                              "Package: mailer\n"
                              "Provides: mta (= 1), virtual\n"
                              "Section: mail\n"
                              "\n"
                              "Package: postman\n"
                              "Provides: mta\n"
                              "Recommends: virtual | postman\n"
                              "\n"
                              "Package: editor\n"
                              "Version: 1\n"
                              "Depends: postman\n"
                              "Section: games\n";

static int import(struct scratch *scratch, const char *text, size_t size,
                  struct debian_facts *facts, struct error *error)
{
    FILE *input = fmemopen((void *)(uintptr_t)text, size, "r");
    assert_non_null(input);
    int rv = debian_import(&(struct debian_input){ .packages = input, .name = "the archive" },
                           at(scratch, "d"), NULL, facts, error);
    fclose(input);
    return rv;
}

static void rules_of_dependencies(void **state)
{
    struct scratch *scratch = *state;
    struct debian_facts facts;
    struct error error = { 0 };
    struct raw_graph *graph;
    assert_int_equal(import(scratch, archive, sizeof archive - 1, &facts, &error), 0);
    assert_int_equal(facts.num_packages, 5);
    assert_int_equal(facts.num_sections, 3);
    assert_int_equal(facts.num_unresolved, 2); /* libnone, nothing-has-this */
    /* editor, libc6, libx, mailer, postman are nodes 0 to 4; the virtual mta is mailer. */
    static const uint64_t from[] = { 0, 0, 0, 0, 0, 0, 2, 4, 4 };
    static const uint64_t to[] = { 1, 1, 2, 3, 1, 3, 1, 3, 4 };
    static const int8_t kinds[] = { 0, 0, 0, 0, 1, 4, 3, 2, 2 };
    assert_int_equal(facts.num_dependencies, 9);
    assert_int_equal(facts.kinds[0], 4);
    assert_int_equal(raw_open(at(scratch, "d"), NULL, &graph, &error), 0);
    assert_int_equal(graph->num_edges[0], 18);
    uint64_t src[18], dst[18];
    int8_t kind[18];
    assert_int_equal(raw_read_edges(graph, 0, 0, 18, src, dst, &error), 0);
    assert_int_equal(
        raw_read_rows(graph, (uint32_t)raw_find_table(graph, true, 0, "kind"), 0, 18, kind, &error),
        0);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(src[2 * i], from[i]);
        assert_int_equal(dst[2 * i], to[i]);
        assert_int_equal(src[2 * i + 1], to[i]);
        assert_int_equal(dst[2 * i + 1], from[i]);
        assert_int_equal(kind[2 * i], kinds[i]);
        assert_int_equal(kind[2 * i + 1], kinds[i] + DEBIAN_KINDS);
    }
    raw_close(graph);
}

static void labels_features_and_names(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct raw_graph *graph;
    int64_t labels[5];
    static float rows[5][DEBIAN_FEATURES];
    uint8_t masks[3][5];
    static const char *const names[] = { "train_mask", "val_mask", "test_mask" };
    assert_int_equal(import(scratch, archive, sizeof archive - 1, NULL, &error), 0);
    assert_int_equal(raw_open(at(scratch, "d"), NULL, &graph, &error), 0);
    assert_int_equal(raw_read_rows(graph, (uint32_t)raw_find_table(graph, false, 0, "label"), 0, 5,
                                   labels, &error),
                     0);
    static const int64_t want[] = { 0, 1, 1, 2, -1 }; /* editors, libs, mail, none */
    assert_memory_equal(labels, want, sizeof want);
    assert_int_equal(
        raw_read_rows(graph, (uint32_t)raw_find_table(graph, false, 0, "feat"), 0, 5, rows, &error),
        0);
    /* an 2, editor 2, of 1, text 1: absolute counts add up to 6 if no two words collide. */
    float sums[5] = { 0 };
    for (int i = 0; i < 5; i++)
        for (int f = 0; f < DEBIAN_FEATURES; f++)
            sums[i] += rows[i][f] < 0 ? -rows[i][f] : rows[i][f];
    assert_true(sums[0] == 6 && sums[1] == 1 && sums[2] == 0);
    for (int m = 0; m < 3; m++)
        assert_int_equal(raw_read_rows(graph, (uint32_t)raw_find_table(graph, false, 0, names[m]),
                                       0, 5, masks[m], &error),
                         0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(masks[0][i] + masks[1][i] + masks[2][i], 1);
    raw_close(graph);
    char *text;
    size_t size;
    assert_int_equal(
        files_read_all(files_posix, at(scratch, "d/names.txt"), 1000, &text, &size, &error), 0);
    assert_string_equal(text, "editor\nlibc6\nlibx\nmailer\npostman\n");
    free(text);
    assert_int_equal(
        files_read_all(files_posix, at(scratch, "d/sections.txt"), 1000, &text, &size, &error), 0);
    assert_string_equal(text, "editors\nlibs\nmail\n");
    free(text);
}

/* A package stays in its part of the split whatever else the archive holds. */
static void split_depends_on_the_name_alone(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    uint8_t masks[2] = { 9, 9 };
    static const char *const archives[] = { "Package: gcc\n",
                                            "Package: gcc\nDepends: a\n\nPackage: a\n" };
    for (int i = 0; i < 2; i++) {
        struct raw_graph *graph;
        assert_int_equal(import(scratch, archives[i], strlen(archives[i]), NULL, &error), 0);
        assert_int_equal(raw_open(at(scratch, "d"), NULL, &graph, &error), 0);
        assert_int_equal(raw_read_rows(graph,
                                       (uint32_t)raw_find_table(graph, false, 0, "train_mask"), 0,
                                       1, &masks[i], &error),
                         0);
        raw_close(graph);
        files_remove_tree(files_posix, at(scratch, "d"), NULL);
    }
    assert_int_equal(masks[0], masks[1]);
}

static void wrong_archives_are_refused(void **state)
{
    struct scratch *scratch = *state;
    static const struct {
        const char *text;
        size_t size;
        const char *says;
    } cases[] = {
        { "\n\n", 2, "apt-get update" },
        { "Package: a\nno colon here\n", 25, "line 2" },
        { ": a\n", 4, "line 1" },
        { "Section: a\n\nPackage: b\n", 23, "no Package" },
        { "Package: a\0b\n", 13, "line 1: is not text" },
        { " continued\nPackage:\n", 20, "no Package" },
        { "Package: a\nPackage: b\n", 22, "line 2: a second Package in one stanza" },
        { "Package: a b\n", 13, "'a b' is no name of a package" },
        { "Package: a\nSection: \xff\n", 22, "a name that is not UTF-8" },
        { "\x1f\x8b\x08\0", 4, "line 1: is not text; a packed file has to be unpacked" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = { 0 };
        assert_int_equal(import(scratch, cases[i].text, cases[i].size, NULL, &error), TR_EFORMAT);
        assert_says(&error, TR_EFORMAT, cases[i].says);
        assert_says(&error, TR_EFORMAT, "the archive");
        assert_int_equal(count_names(scratch), 0);
    }
}

static const char typed_archive[] = "Package: editor\n"
                                    "Source: text (2.1)\n"
                                    "Maintainer: A <a@example.org>\n"
                                    "Depends: libc6, mta\n"
                                    "Conflicts: libx, mta, absent\n"
                                    "Tag: role::TODO, role::program,\n"
                                    " use::editing, role::plugin\n"
                                    "Section: contrib/editors\n"
                                    "\n"
                                    "Package: libc6\n"
                                    "Maintainer: B\n"
                                    "Tag: use::editing, role::shared-lib\n"
                                    "\n"
                                    "Package: libx\n"
                                    "Source: text\n"
                                    "Maintainer: A <a@example.org>\n"
                                    "Conflicts: libx\n"
                                    "Provides: mta\n";

static const char sources[] = "Package: text\n"
                              "Build-Depends: libc6 (>= 1), mta [amd64],\n"
                              " unheard-of\n"
                              "Build-Depends-Indep: editor\n"
                              "\n"
                              "Package: text\n"
                              "Build-Depends: libx\n"
                              "\n"
                              "Package: other\n"
                              "Build-Depends: libc6\n";

static int import_typed(struct scratch *scratch, const char *packages, const char *of_sources,
                        struct error *error)
{
    struct debian_input input = { .packages = fmemopen((void *)(uintptr_t)packages,
                                                       strlen(packages), "r"),
                                  .name = "the archive",
                                  .typed = true,
                                  .sources_name = "the sources" };
    if (of_sources != NULL)
        input.sources = fmemopen((void *)(uintptr_t)of_sources, strlen(of_sources), "r");
    assert_non_null(input.packages);
    int rv = debian_import(&input, at(scratch, "d"), NULL, NULL, error);
    fclose(input.packages);
    if (input.sources != NULL)
        fclose(input.sources);
    return rv;
}

/* The edges of a type, and turned round those of the next one. */
static void assert_edges(struct raw_graph *graph, const char *name, uint64_t count,
                         const uint64_t *from, const uint64_t *to)
{
    struct error error = { 0 };
    uint64_t src[8], dst[8];
    int etype = graph_types_find_etype(&graph->types, name);
    assert_true(etype >= 0 && count <= 8);
    char reverse[64];
    snprintf(reverse, sizeof reverse, "rev_%s", name);
    assert_int_equal(graph_types_find_etype(&graph->types, reverse), etype + 1);
    for (uint32_t turned = 0; turned < 2; turned++) {
        uint32_t type = (uint32_t)etype + turned;
        assert_int_equal(graph->num_edges[type], count);
        assert_int_equal(
            raw_read_edges(graph, type, 0, count, turned ? dst : src, turned ? src : dst, &error),
            0);
        assert_memory_equal(src, from, count * sizeof *src);
        assert_memory_equal(dst, to, count * sizeof *dst);
    }
}

static void rules_of_types(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct raw_graph *graph;
    static const char *const ntypes[] = { "package", "maintainer", "section", "tag", "source" };
    static const uint64_t nodes[] = { 3, 2, 1, 1, 2 };
    assert_int_equal(import_typed(scratch, typed_archive, sources, &error), 0);
    assert_int_equal(raw_open(at(scratch, "d"), NULL, &graph, &error), 0);
    assert_int_equal(graph->types.num_ntypes, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_string_equal(graph->types.ntypes[i], ntypes[i]);
        assert_int_equal(graph->num_nodes[i], nodes[i]);
    }
    /* mta is libx, which conflicts with itself alone. */
    assert_edges(graph, "depends", 2, (const uint64_t[]){ 0, 0 }, (const uint64_t[]){ 1, 2 });
    assert_edges(graph, "conflicts", 1, (const uint64_t[]){ 0 }, (const uint64_t[]){ 2 });
    assert_edges(graph, "maintained_by", 3, (const uint64_t[]){ 0, 1, 2 },
                 (const uint64_t[]){ 0, 1, 0 });
    assert_edges(graph, "in_section", 1, (const uint64_t[]){ 0 }, (const uint64_t[]){ 0 });
    assert_edges(graph, "has_tag", 2, (const uint64_t[]){ 0, 1 }, (const uint64_t[]){ 0, 0 });
    assert_edges(graph, "built_from", 3, (const uint64_t[]){ 0, 1, 2 },
                 (const uint64_t[]){ 0, 1, 0 });
    assert_edges(graph, "build_depends", 3, (const uint64_t[]){ 0, 0, 0 },
                 (const uint64_t[]){ 1, 2, 0 });
    assert_int_equal(graph->types.num_etypes, 14);
    int64_t labels[3];
    uint8_t mask[3];
    assert_int_equal(raw_read_rows(graph, (uint32_t)raw_find_table(graph, false, 0, "label"), 0, 3,
                                   labels, &error),
                     0);
    /* plugin comes first of the names, but program is the editor's first role. */
    assert_memory_equal(labels, ((const int64_t[]){ 0, 1, -1 }), sizeof labels);
    for (int part = 0; part < 3; part++) {
        static const char *const names[] = { "train_mask", "val_mask", "test_mask" };
        assert_int_equal(raw_read_rows(graph,
                                       (uint32_t)raw_find_table(graph, false, 0, names[part]), 0, 3,
                                       mask, &error),
                         0);
        assert_int_equal(mask[2], 0);
    }
    assert_true(raw_find_table(graph, false, 0, "feat") >= 0);
    raw_close(graph);
}

/* A type without a node or an edge is left out; an archive of one package alone has its source. */
static void types_without_edges_are_left_out(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    struct raw_graph *graph;
    assert_int_equal(import_typed(scratch, "Package: alone\n", NULL, &error), 0);
    assert_int_equal(raw_open(at(scratch, "d"), NULL, &graph, &error), 0);
    assert_int_equal(graph->types.num_ntypes, 2);
    assert_int_equal(graph->types.num_etypes, 2);
    assert_edges(graph, "built_from", 1, (const uint64_t[]){ 0 }, (const uint64_t[]){ 0 });
    assert_true(raw_find_table(graph, false, 0, "label") < 0);
    raw_close(graph);
}

static void sources_of_another_archive_are_refused(void **state)
{
    struct scratch *scratch = *state;
    struct error error = { 0 };
    assert_int_equal(import_typed(scratch, "Package: alone\n", sources, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "the sources: no source of these packages needs another");
    error = (struct error){ 0 };
    assert_int_equal(import_typed(scratch, "Package: alone\n", "Build-Depends: a\n", &error),
                     TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "the sources: line 1: the stanza that ends here has no");
    assert_int_equal(count_names(scratch), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rules_of_dependencies, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(labels_features_and_names, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(split_depends_on_the_name_alone, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(rules_of_types, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(types_without_edges_are_left_out, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(sources_of_another_archive_are_refused, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(wrong_archives_are_refused, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
