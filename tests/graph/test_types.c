/* SPDX-License-Identifier: Apache-2.0 */
/* Types are found by their names, and names of tables by type; what is refused is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "graph/extent.h"
#include "graph/graph_meta.h"
#include "graph/vec.h"

static void make_types(struct graph_types *types)
{
    static const char *const ntypes[] = { "a", "ab", "b" };
    static const char *const etypes[] = { "a:to:ab", "ab:to:a", "a:alone:a", "b:to:ab" };
    *types = (struct graph_types){ 0 };
    for (int i = 0; i < 3; i++)
        assert_int_equal(graph_types_add_ntype(types, ntypes[i], NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(graph_types_add_etype(types, etypes[i], NULL), 0);
}

static void types_are_found_by_name(void **unused)
{
    (void)unused;
    struct graph_types types, copy;
    make_types(&types);
    static const struct {
        const char *name;
        int found;
    } cases[] = {
        { "a:to:ab", 0 },    { "ab:to:a", 1 },   { "a:alone:a", 2 }, { "b:to:ab", 3 },
        { "alone", 2 },      { "to", -1 }, /* of which? */
        { "a:to:a", -1 },    { "a:to:abc", -1 }, { "a:tox:ab", -1 }, { "a:t:ab", -1 },
        { "a:to", -1 },      { "a:", -1 },       { ":to:ab", -1 },   { "none", -1 },
        { "b:alone:a", -1 }, { "alon", -1 },     { "", -1 },
    };
    assert_int_equal(graph_types_copy(&copy, &types), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(graph_types_find_etype(&types, cases[i].name), cases[i].found);
        assert_int_equal(graph_types_find_etype(&copy, cases[i].name), cases[i].found);
    }
    assert_int_equal(graph_types_find_ntype(&copy, "a"), 0);
    assert_int_equal(graph_types_find_ntype(&copy, "ab"), 1);
    assert_int_equal(graph_types_find_ntype(&copy, "b"), 2);
    assert_int_equal(graph_types_find_ntype(&copy, "ba"), -1);
    assert_int_equal(graph_types_find_ntype(&copy, ""), -1);
    assert_int_equal(copy.num_ntypes, 3);
    assert_int_equal(copy.num_etypes, 4);
    assert_int_equal(copy.etypes[3].src, 2);
    assert_int_equal(copy.etypes[3].dst, 1);
    assert_string_equal(copy.etypes[3].name, "to");
    char text[8];
    assert_int_equal(graph_types_canonical(&copy, 1, text, sizeof text), 7);
    assert_string_equal(text, "ab:to:a");
    assert_int_equal(graph_types_canonical(&copy, 1, NULL, 0), 7);
    graph_types_fini(&copy);
    assert_int_equal(copy.num_ntypes, 0);
    graph_types_fini(&types);
}

/* The first edge type and another: alone the name says neither. */
static void a_name_of_two_edge_types_is_none(void **unused)
{
    (void)unused;
    struct graph_types types = { 0 };
    assert_int_equal(graph_types_add_ntype(&types, "a", NULL), 0);
    assert_int_equal(graph_types_add_ntype(&types, "b", NULL), 0);
    assert_int_equal(graph_types_add_etype(&types, "a:to:b", NULL), 0);
    assert_int_equal(graph_types_find_etype(&types, "to"), 0);
    assert_int_equal(graph_types_add_etype(&types, "b:to:a", NULL), 0);
    assert_int_equal(graph_types_find_etype(&types, "to"), -1);
    graph_types_fini(&types);
}

static void a_graph_of_one_type_has_its_default_names(void **unused)
{
    (void)unused;
    struct graph_types types;
    assert_int_equal(graph_types_init_homogeneous(&types), 0);
    assert_true(types.num_ntypes == 1 && types.num_etypes == 1);
    assert_int_equal(graph_types_find_ntype(&types, "_N"), 0);
    assert_int_equal(graph_types_find_etype(&types, "_E"), 0);
    assert_int_equal(graph_types_find_etype(&types, "_N:_E:_N"), 0);
    graph_types_fini(&types);
}

static void bad_types_are_refused_by_name(void **unused)
{
    (void)unused;
    static const struct {
        const char *ntype, *etype;
        int rv;
        const char *says;
    } cases[] = {
        { "", NULL, TR_EINVAL, "a type name is empty" },
        { "x:y", NULL, TR_EINVAL, "'x:y' holds ':'" },
        { "/y", NULL, TR_EINVAL, "'/y' holds '/'" },
        { "y~", NULL, TR_EINVAL, "'y~' holds '~'" },
        { "ab", NULL, TR_EEXIST, "node type 'ab' is listed twice" },
        { NULL, "a", TR_EINVAL, "'a' is not of the form source:name:destination" },
        { NULL, "a:to", TR_EINVAL, "'a:to' is not of the form" },
        { NULL, "a::b", TR_EINVAL, "a type name is empty" },
        { NULL, "a:t/:b", TR_EINVAL, "'t/' holds '/'" },
        { NULL, "c:to:a", TR_EINVAL, "'c:to:a' names a node type that is not listed" },
        { NULL, "a:to:c", TR_EINVAL, "'a:to:c' names a node type that is not listed" },
        { NULL, "a:to:ab", TR_EEXIST, "edge type 'a:to:ab' is listed twice" },
    };
    struct graph_types types;
    make_types(&types);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = { 0 };
        int rv = cases[i].ntype != NULL ? graph_types_add_ntype(&types, cases[i].ntype, &error)
                                        : graph_types_add_etype(&types, cases[i].etype, &error);
        assert_int_equal(rv, cases[i].rv);
        assert_int_equal(error.code, cases[i].rv);
        if (strstr(error.text, cases[i].says) == NULL)
            fail_msg("'%s' does not say '%s'", error.text, cases[i].says);
        assert_true(types.num_ntypes == 3 && types.num_etypes == 4);
    }
    graph_types_fini(&types);
}

static void types_end_at_their_bound(void **unused)
{
    (void)unused;
    struct graph_types types = { 0 };
    char name[32];
    struct error error = { 0 };
    for (uint32_t i = 0; i <= GRAPH_TYPES_MAX; i++) {
        snprintf(name, sizeof name, "n%u", i);
        assert_int_equal(graph_types_add_ntype(&types, name, &error),
                         i < GRAPH_TYPES_MAX ? 0 : TR_ETOOBIG);
    }
    assert_non_null(strstr(error.text, "more than 4096 node types"));
    for (uint32_t i = 0; i <= GRAPH_TYPES_MAX; i++) {
        snprintf(name, sizeof name, "n0:e%u:n1", i);
        assert_int_equal(graph_types_add_etype(&types, name, &error),
                         i < GRAPH_TYPES_MAX ? 0 : TR_ETOOBIG);
    }
    assert_non_null(strstr(error.text, "more than 4096 edge types"));
    graph_types_fini(&types);
}

/* A name has one number, at whichever types it stands; tables are numbered by type. */
static void names_of_tables_are_numbered_once(void **unused)
{
    (void)unused;
    struct graph_meta meta;
    assert_int_equal(graph_meta_create(&meta, 2, 2), 0);
    assert_int_equal(graph_meta_add_table(&meta, false, 0, "x", TR_F32, 3, 12), 0);
    assert_int_equal(graph_meta_add_table(&meta, false, 0, "y", TR_I64, 1, 8), 0);
    assert_int_equal(graph_meta_add_table(&meta, false, 1, "y", TR_U8, 5, 5), 0);
    assert_int_equal(graph_meta_add_table(&meta, true, 1, "w", TR_F64, 2, 16), 0);
    assert_int_equal(graph_meta_add_table(&meta, true, 1, "y", TR_F32, 1, 4), 0);
    assert_int_equal(graph_meta_add_table(&meta, true, 0, "w", TR_F32, 1, 4), 0);
    assert_int_equal(meta.num_names, 3);
    assert_int_equal(graph_meta_name(&meta, "x"), 0);
    assert_int_equal(graph_meta_name(&meta, "y"), 1);
    assert_int_equal(graph_meta_name(&meta, "w"), -1);
    assert_int_equal(graph_meta_edge_name(&meta, "w"), 2);
    assert_int_equal(graph_meta_edge_name(&meta, "y"), 1);
    assert_int_equal(graph_meta_edge_name(&meta, "x"), -1);
    static const int of_nodes[2][4] = { { 0, 1, -1, -1 }, { -1, 0, -1, -1 } };
    static const int of_edges[2][4] = { { -1, -1, 0, -1 }, { -1, 1, 0, -1 } };
    for (uint32_t t = 0; t < 2; t++)
        for (uint32_t name = 0; name < 4; name++) {
            assert_int_equal(graph_meta_table(&meta, t, name), of_nodes[t][name]);
            assert_int_equal(graph_meta_edge_table(&meta, t, name), of_edges[t][name]);
        }
    const struct feature_meta *y = &meta.nodes[1].features[0];
    assert_string_equal(y->name, "y");
    assert_true(y->dtype == TR_U8 && y->width == 5 && y->row_bytes == 5 && y->name_number == 1);
    graph_meta_fini(&meta);
    assert_null(meta.nodes);
}

/* Where one edge type lists its sources in 8 bytes, all of that source type do. */
static void columns_of_one_source_type_are_alike(void **unused)
{
    (void)unused;
    static const uint64_t globals[] = { 7, 8 };
    struct graph_types types;
    make_types(&types);
    struct node_part nodes[3] = { { .num_nodes = 0 } };
    struct edge_part edges[4] = { { .csc = { .num_edges = 1 } } };
    const struct graph_part part = {
        .part_id = 6, .types = &types, .nodes = nodes, .edges = edges
    };
    for (int e = 0; e < 4; e++)
        edges[e].csc.num_edges = 1;
    edges[2].csc.column_global = globals; /* a:alone:a, of the source type of a:to:ab */
    struct graph_meta meta;
    struct error error = { 0 };
    assert_int_equal(graph_meta_init(&meta, &part), 0);
    assert_int_equal(graph_meta_check_part(&meta, &part, &error), 0);
    graph_meta_add_part(&meta, &part);
    assert_true(meta.nodes[0].wide && !meta.nodes[1].wide && !meta.nodes[2].wide);
    assert_int_equal(graph_meta_check_part(&meta, &part, &error), TR_EFORMAT);
    assert_int_equal(error.code, TR_EFORMAT);
    assert_non_null(strstr(error.text, "partition 6, edge type to: it has no column table"));
    assert_non_null(strstr(error.text, "nodes of type a "));
    edges[0].csc.num_edges = 0; /* no edges need no columns */
    assert_int_equal(graph_meta_check_part(&meta, &part, &error), 0);
    edges[0].csc.num_edges = 1;
    edges[0].csc.column_global = globals;
    assert_int_equal(graph_meta_check_part(&meta, &part, &error), 0);
    graph_meta_fini(&meta);
    graph_types_fini(&types);
}

/* An ID belongs to the extent that has it, whatever empty ones lie between. */
static void owners_are_found_among_empty_extents(void **unused)
{
    (void)unused;
    static const struct extent extents[] = { { 0, 0, 0, 0 }, { 0, 3, 1, 0 }, { 3, 3, 2, 0 },
                                             { 3, 4, 3, 0 }, { 4, 9, 4, 0 }, { 9, 9, 5, 0 } };
    static const int owners[] = { 1, 1, 1, 3, 4, 4, 4, 4, 4, TR_ERANGE, TR_ERANGE };
    for (uint64_t id = 0; id < sizeof owners / sizeof *owners; id++)
        assert_int_equal(extents_owner(extents, 6, id), owners[id]);
    assert_int_equal(extents_owner(extents, 0, 0), TR_ERANGE);
}

/* Elements that are to be kept are kept, room never shrinks, and sizes that no memory has are
 * refused. */
static void a_vec_keeps_what_it_is_asked_to(void **unused)
{
    (void)unused;
    struct vec vec = { NULL, 0 };
    assert_int_equal(vec_reserve(&vec, 0, 4, 0), 0);
    assert_non_null(vec.data);
    assert_int_equal(vec_reserve(&vec, 100, 4, 0), 0);
    assert_true(vec.capacity >= 400);
    for (uint32_t i = 0; i < 100; i++)
        ((uint32_t *)vec.data)[i] = i * i;
    const void *before = vec.data;
    assert_int_equal(vec_reserve(&vec, vec.capacity, 1, 0), 0);
    assert_ptr_equal(vec.data, before); /* it is just full */
    size_t capacity = vec.capacity;
    assert_int_equal(vec_reserve(&vec, capacity + 1, 1, 400), 0);
    assert_true(vec.capacity >= capacity + capacity / 2); /* so that growing is rare */
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(((uint32_t *)vec.data)[i], i * i);
    capacity = vec.capacity;
    assert_int_equal(vec_reserve(&vec, SIZE_MAX / 2, 4, 0), TR_ENOMEM);
    assert_int_equal(vec_reserve(&vec, SIZE_MAX / 4 + 1, 1, 0), TR_ENOMEM);
    assert_int_equal(vec.capacity, capacity);
    vec_fini(&vec);
    assert_true(vec.data == NULL && vec.capacity == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_found_by_name),
        cmocka_unit_test(a_name_of_two_edge_types_is_none),
        cmocka_unit_test(a_graph_of_one_type_has_its_default_names),
        cmocka_unit_test(bad_types_are_refused_by_name),
        cmocka_unit_test(types_end_at_their_bound),
        cmocka_unit_test(names_of_tables_are_numbered_once),
        cmocka_unit_test(columns_of_one_source_type_are_alike),
        cmocka_unit_test(owners_are_found_among_empty_extents),
        cmocka_unit_test(a_vec_keeps_what_it_is_asked_to),
    };
    return cmocka_run_group_tests_name("types", tests, NULL, NULL);
}
