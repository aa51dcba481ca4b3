/* SPDX-License-Identifier: Apache-2.0 */
/* Documents that people write: each refusal names file, field and what is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/json_field.h"
#include "tests/scratch.h"

static void parse(const char *text, json_t **document, struct json_field *root)
{
    struct error error;
    if (json_parse_document("x.json", text, strlen(text), document, root, &error) != 0)
        fail_msg("%s", error.text);
}

static void a_document_is_an_object(void **state)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        { "[1]", "x.json: the document must be an object, not an array" },
        { "{\"a\": 1,\n \"a\": 2}", "x.json: line 2, column 4: the key 'a' is there twice; "
                                    "correct the JSON" },
        { "{\"a\\\"b\": 1, \"a\\\"b\": 2}", "x.json: line 1, column 18: the key 'a\\\"b' is there "
                                            "twice; correct the JSON" },
        { "{\"\": 1, \"\": 2}", "x.json: line 1, column 10: the key '' is there twice; correct the "
                                "JSON" },
        { "{\"a\": \"b\\u0000c\"}",
          "x.json: line 1, column 16: \\u0000 stands for the character NUL, "
          "which no text may have; correct the JSON" },
        { "{\"a\": 1e999}",
          "x.json: line 1, column 11: a number is too large: whole ones are below 2 to "
          "the 63rd, others below 1.8e308; correct the JSON" },
        { "{\"a\": \"\351\"}",
          "x.json: line 1, column 7: the text has bytes that are not UTF-8 (iconv -f "
          "LATIN1 -t UTF-8 converts them); correct the JSON" },
        { "{} x", "x.json: line 1, column 4: something stands behind the end of the value; correct "
                  "the JSON" },
        { "{\"a\": }", "x.json: line 1, column 7: unexpected token near '}'; correct the JSON" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *document = NULL;
        struct json_field root;
        struct error error;
        assert_int_equal(json_parse_document("x.json", cases[i].text, strlen(cases[i].text),
                                             &document, &root, &error),
                         TR_EFORMAT);
        assert_string_equal(error.text, cases[i].said);
        assert_null(document);
    }
    json_t *document = NULL;
    struct json_field root;
    parse("{}", &document, &root);
    assert_string_equal(root.path, "x.json");
    json_decref(document);
}

static void a_document_is_read_from_its_file(void **state)
{
    char path[64];
    json_t *document = NULL;
    struct json_field root, found;
    struct error error;
    (void)state;
    int fd = mkstemp(scratch_template(path, sizeof path, "json"));
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "{\"a\": 7}", 8), 8);
    close(fd);
    assert_int_equal(json_load_document(files_posix, path, &document, &root, &error), 0);
    assert_string_equal(root.path, path);
    assert_int_equal(json_get(&root, "a", JSON_INTEGER, &found, &error), 0);
    assert_int_equal(json_integer_value(found.value), 7);
    json_decref(document);
    unlink(path);
    assert_int_equal(json_load_document(files_posix, path, &document, &root, &error), TR_ENOENT);
}

/* A field of each type, asked for as each other one. */
static void a_field_of_another_type_is_named_with_both(void **state)
{
    static const struct {
        const char *text, *name;
        json_type type;
    } types[] = {
        { "{}", "an object", JSON_OBJECT },
        { "[]", "an array", JSON_ARRAY },
        { "\"t\"", "a string", JSON_STRING },
        { "7", "an integer", JSON_INTEGER },
        { "7.5", "a number with a point", JSON_REAL },
        { "true", "true or false", JSON_TRUE },
        { "false", "true or false", JSON_FALSE },
        { "null", "null", JSON_NULL },
    };
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char text[64], said[128];
        json_t *document = NULL;
        struct json_field root, found, item;
        struct error error;
        snprintf(text, sizeof text, "{\"one\": %s, \"all\": [%s]}", types[i].text, types[i].text);
        parse(text, &document, &root);
        for (size_t j = 0; j < sizeof types / sizeof *types; j++) {
            int expected = i == j ? 0 : TR_EFORMAT;
            assert_int_equal(json_get(&root, "one", types[j].type, &found, &error), expected);
            assert_string_equal(found.path, "x.json: one");
            snprintf(said, sizeof said, "x.json: one: %s is needed, not %s", types[j].name,
                     types[i].name);
            if (i != j)
                assert_string_equal(error.text, said);
            assert_int_equal(json_get_optional(&root, "one", types[j].type, &found, &error),
                             expected);
            assert_int_equal(json_iterate(&root, json_object_iter_at(root.value, "one"),
                                          types[j].type, &item, &error),
                             expected);
            assert_string_equal(item.path, "x.json: one");
            assert_int_equal(json_get(&root, "all", JSON_ARRAY, &found, &error), 0);
            assert_int_equal(json_at(&found, 0, types[j].type, &item, &error), expected);
            assert_string_equal(item.path, "x.json: all[0]");
            snprintf(said, sizeof said, "x.json: all[0]: %s is needed, not %s", types[j].name,
                     types[i].name);
            if (i != j)
                assert_string_equal(error.text, said);
        }
        json_decref(document);
    }
}

static void what_is_missing_is_named(void **state)
{
    json_t *document = NULL;
    struct json_field root, inner, found;
    struct error error;
    (void)state;
    parse("{\"a\": {\"b c\": [[1, 2]], \"d\": {}}}", &document, &root);
    assert_int_equal(json_get(&root, "z", JSON_ARRAY, &found, &error), TR_EFORMAT);
    assert_string_equal(error.text, "x.json: z: is missing; an array is needed");
    assert_int_equal(json_get_optional(&root, "z", JSON_ARRAY, &found, &error), 0);
    assert_null(found.value);
    assert_int_equal(json_get(&root, "a", JSON_OBJECT, &inner, &error), 0);
    assert_int_equal(json_get(&inner, "e", JSON_STRING, &found, &error), TR_EFORMAT);
    assert_string_equal(error.text, "x.json: a.e: is missing; a string is needed");
    assert_int_equal(json_get(&inner, "b c", JSON_ARRAY, &found, &error), 0);
    assert_string_equal(found.path, "x.json: a[\"b c\"]");
    assert_int_equal(json_at(&found, 1, JSON_ARRAY, &inner, &error), TR_EFORMAT);
    assert_string_equal(error.text, "x.json: a[\"b c\"][1]: is missing; an array is needed");
    assert_int_equal(json_at(&found, 0, JSON_ARRAY, &inner, &error), 0);
    assert_int_equal(json_at(&inner, 1, JSON_INTEGER, &found, &error), 0);
    assert_int_equal(json_integer_value(found.value), 2);
    assert_string_equal(found.path, "x.json: a[\"b c\"][0][1]");
    /* Without a place for the text the code is the same. */
    assert_int_equal(json_fail(&found, NULL, TR_ERANGE, "no"), TR_ERANGE);
    json_decref(document);
}

static void counts_are_integers_from_zero_on(void **state)
{
    static const struct {
        const char *text;
        uint64_t count;
        const char *said; /* NULL: it is one */
    } cases[] = {
        { "0", 0, NULL },
        { "1", 1, NULL },
        { "9223372036854775807", INT64_MAX, NULL },
        { "-1", 0, "x.json: n: a count is needed, a negative number is not one" },
        { "1.0", 0, "x.json: n: a count is needed, a number with a point is not one" },
        { "\"1\"", 0, "x.json: n: a count is needed, a string is not one" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        json_t *document = NULL;
        struct json_field root, found;
        struct error error;
        uint64_t count = 77;
        snprintf(text, sizeof text, "{\"n\": %s}", cases[i].text);
        parse(text, &document, &root);
        json_get_optional(&root, "n", JSON_INTEGER, &found, NULL);
        assert_int_equal(json_count(&found, &count, &error), cases[i].said ? TR_EFORMAT : 0);
        assert_true(count == (cases[i].said ? 77 : cases[i].count));
        if (cases[i].said)
            assert_string_equal(error.text, cases[i].said);
        json_decref(document);
    }
}

static void sums_hold_64_bits(void **state)
{
    static const struct {
        const char *text;
        int rv;
        uint64_t sum;
        const char *said;
    } cases[] = {
        { "[]", 0, 0, NULL },
        { "[3, 0, 5, 7]", 0, 15, NULL },
        { "[9223372036854775807, 9223372036854775807, 1]", 0, UINT64_MAX, NULL },
        { "[9223372036854775807, 9223372036854775807, 1, 1]", TR_EFORMAT, 0,
          "x.json: n[3]: the sum of the counts is above 2^64" },
        { "[1, -2]", TR_EFORMAT, 0,
          "x.json: n[1]: a count is needed, a negative number is not one" },
        { "[1, 2, \"3\"]", TR_EFORMAT, 0, "x.json: n[2]: an integer is needed, not a string" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[96];
        json_t *document = NULL;
        struct json_field root, found;
        struct error error;
        uint64_t sum = 77;
        snprintf(text, sizeof text, "{\"n\": %s}", cases[i].text);
        parse(text, &document, &root);
        assert_int_equal(json_get(&root, "n", JSON_ARRAY, &found, &error), 0);
        assert_int_equal(json_sum(&found, &sum, &error), cases[i].rv);
        if (cases[i].rv == 0)
            assert_true(sum == cases[i].sum);
        else
            assert_string_equal(error.text, cases[i].said);
        json_decref(document);
    }
}

/* A key that is not there leaves the value as it was; one that is wrong does, too. */
static void optional_fields_are_taken(void **state)
{
    json_t *document = NULL;
    struct json_field root;
    struct error error;
    bool yes = true, no = false;
    uint64_t count = 7;
    char *text = strdup("before");
    (void)state;
    parse("{\"yes\": true, \"no\": false, \"n\": 12, \"below\": -1, \"text\": \"after\","
          " \"empty\": \"\", \"null\": null}",
          &document, &root);
    assert_int_equal(json_take_bool(&root, "absent", &yes, &error), 0);
    assert_int_equal(json_take_bool(&root, "absent", &no, &error), 0);
    assert_true(yes && !no);
    assert_int_equal(json_take_bool(&root, "no", &yes, &error), 0);
    assert_int_equal(json_take_bool(&root, "yes", &no, &error), 0);
    assert_true(!yes && no);
    assert_int_equal(json_take_bool(&root, "n", &no, &error), TR_EFORMAT);
    assert_string_equal(error.text, "x.json: n: true or false is needed");
    assert_true(no);

    assert_int_equal(json_take_count(&root, "absent", 1, &count, &error), 0);
    assert_int_equal(count, 7);
    assert_int_equal(json_take_count(&root, "n", 11, &count, &error), TR_ERANGE);
    assert_string_equal(error.text, "x.json: n: 12 is above 11, the most that is possible");
    assert_int_equal(json_take_count(&root, "below", 11, &count, &error), TR_EFORMAT);
    assert_int_equal(json_take_count(&root, "text", 11, &count, &error), TR_EFORMAT);
    assert_int_equal(count, 7);
    assert_int_equal(json_take_count(&root, "n", 12, &count, &error), 0);
    assert_int_equal(count, 12);

    assert_int_equal(json_take_text(&root, "absent", &text, &error), 0);
    assert_int_equal(json_take_text(&root, "empty", &text, &error), TR_EFORMAT);
    assert_string_equal(error.text, "x.json: empty: the text is empty, or contains a zero byte");
    assert_int_equal(json_take_text(&root, "null", &text, &error), TR_EFORMAT);
    assert_string_equal(text, "before");
    assert_int_equal(json_take_text(&root, "text", &text, &error), 0);
    assert_string_equal(text, "after");
    free(text);
    json_decref(document);

    struct json_field zero = { .path = "x.json" };
    zero.value = json_pack("{s: o}", "text", json_stringn("a\0b", 3));
    text = NULL;
    assert_int_equal(json_take_text(&zero, "text", &text, &error), TR_EFORMAT);
    assert_null(text);
    json_decref(zero.value);
}

static void keys_that_are_not_known_are_refused(void **state)
{
    static const char *const names[] = { "hosts", "ports", "seed" };
    static const struct {
        const char *text, *said;
    } cases[] = {
        { "{}", NULL },
        { "{\"seed\": 1, \"hosts\": 2, \"ports\": 3}", NULL },
        { "{\"seed\": 1, \"host\": 2}", "x.json: host: there is no such field; \"hosts\" is one" },
        { "{\"seed\": 1, \"colour\": 2}", "x.json: colour: there is no such field; take it out" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *document = NULL;
        struct json_field root;
        struct error error;
        parse(cases[i].text, &document, &root);
        assert_int_equal(json_check_keys(&root, names, 3, &error), cases[i].said ? TR_EFORMAT : 0);
        if (cases[i].said)
            assert_string_equal(error.text, cases[i].said);
        json_decref(document);
    }
    /* Only as many names as were said. */
    json_t *document = NULL;
    struct json_field root;
    parse("{\"seed\": 1}", &document, &root);
    assert_int_equal(json_check_keys(&root, names, 2, NULL), TR_EFORMAT);
    json_decref(document);
}

/* Deeper than a path is long: it is cut, and what is found is the same. */
static void a_long_path_is_cut(void **state)
{
    char key[JSON_PATH_MAX];
    struct json_field root = { .path = "x.json" }, one, two, three;
    (void)state;
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    root.value = json_pack("{s: {s: [i]}}", key, key, 5);
    assert_int_equal(json_get(&root, key, JSON_OBJECT, &one, NULL), 0);
    assert_int_equal(strlen(one.path), JSON_PATH_MAX - 1);
    assert_int_equal(json_get(&one, key, JSON_ARRAY, &two, NULL), 0);
    assert_string_equal(two.path, one.path);
    assert_int_equal(json_at(&two, 0, JSON_INTEGER, &three, NULL), 0);
    assert_string_equal(three.path, one.path);
    assert_int_equal(json_integer_value(three.value), 5);
    json_decref(root.value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_an_object),
        cmocka_unit_test(a_document_is_read_from_its_file),
        cmocka_unit_test(a_field_of_another_type_is_named_with_both),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(counts_are_integers_from_zero_on),
        cmocka_unit_test(sums_hold_64_bits),
        cmocka_unit_test(optional_fields_are_taken),
        cmocka_unit_test(keys_that_are_not_known_are_refused),
        cmocka_unit_test(a_long_path_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
