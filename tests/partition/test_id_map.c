/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names have the numbers of their first appearance, whatever the pieces in which they are given,
 * and a name takes the bytes that id_map.h promises, at every moment.
 */
#include "tests/partition/raw_util.h"

#include "graph/key.h"
#include "partition/table/id_map.h"
#include "tests/partition/equal_hash.h"
#include "tests/short_memory.h"

#define NAMES 300000u

void *__real_hotmem_alloc(size_t bytes);
void *__wrap_hotmem_alloc(size_t bytes);

void *__wrap_hotmem_alloc(size_t bytes)
{
    return is_refused() ? NULL : __real_hotmem_alloc(bytes);
}

/* Name n: some are beginnings of others, some are long. */
static struct id_text name_of(uint64_t n, char *text)
{
    int length = snprintf(text, ID_TEXT_MAX + 1, "%s%llx%.*s", n % 5 == 0 ? "user" : "u",
                          (unsigned long long)(n % 7 == 0 ? n : key_draw(1, n)), (int)(n % 40),
                          "----------------------------------------");
    return (struct id_text){ text, (uint32_t)length };
}

static void numbers_are_those_of_first_appearance(void **state)
{
    (void)state;
    static const size_t pieces[] = { 1, 2, 63, 64, 65, 500 };
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        struct id_map map = { 0 };
        uint64_t next = 0;
        for (uint64_t round = 0; next < 20000; round++) {
            static char texts[512][ID_TEXT_MAX + 1];
            struct id_text ids[512];
            uint64_t names[512], numbers[512], known = next;
            /* New names in turns with old ones, some of them twice in a piece. */
            for (size_t i = 0; i < pieces[p]; i++) {
                uint64_t draw = key_draw(2, round * 512 + i);
                names[i] = draw % 2 == 0 || known == 0 ? known++ : (draw >> 8) % known;
                ids[i] = name_of(names[i], texts[i]);
            }
            assert_int_equal(id_map_add(&map, ids, pieces[p], numbers), 0);
            for (size_t i = 0; i < pieces[p]; i++)
                assert_true(numbers[i] == names[i]);
            id_map_find(&map, ids, pieces[p], numbers);
            for (size_t i = 0; i < pieces[p]; i++)
                assert_true(numbers[i] == names[i]);
            next = known;
        }
        assert_true(map.count == next);
        for (uint64_t n = 0; n < next + 1000; n++) {
            char text[ID_TEXT_MAX + 1];
            struct id_text id = name_of(n, text);
            uint64_t number;
            id_map_find(&map, &id, 1, &number);
            assert_true(number == (n < next ? n : ID_NONE));
            if (n >= next)
                continue;
            struct id_text kept = id_map_text(&map, n);
            assert_int_equal(kept.length, id.length);
            assert_memory_equal(kept.at, id.at, id.length);
        }
        id_map_fini(&map);
    }
}

static void empty_and_longest_names_are_names(void **state)
{
    (void)state;
    static char longest[ID_TEXT_MAX];
    struct id_map map = { 0 };
    memset(longest, 'x', sizeof longest);
    struct id_text ids[] = { { longest, ID_TEXT_MAX }, { "", 0 }, { longest, ID_TEXT_MAX - 1 } };
    uint64_t numbers[3];
    /* Many of the longest, so that segments end with room that none fits. */
    for (int i = 0; i < 2000; i++) {
        snprintf(longest, sizeof longest, "%04d", i);
        longest[4] = 'x';
        assert_int_equal(id_map_add(&map, ids, 3, numbers), 0);
        assert_true(numbers[0] == (i == 0 ? 0 : 2 * (uint64_t)i + 1) && numbers[1] == 1);
    }
    assert_int_equal(id_map_text(&map, 1).length, 0);
    assert_int_equal(id_map_text(&map, 0).length, ID_TEXT_MAX);
    id_map_fini(&map);
}

static void a_name_takes_forty_bytes_beside_its_text(void **state)
{
    (void)state;
    struct id_map map = { 0 };
    for (uint64_t n = 0; n < NAMES; n++) {
        char text[ID_TEXT_MAX + 1];
        struct id_text id = name_of(n, text);
        uint64_t number;
        assert_int_equal(id_map_add(&map, &id, 1, &number), 0);
        assert_true(map.peak_bytes <=
                    ID_MAP_BYTES_ALWAYS + ID_MAP_BYTES_MAX * map.count + map.text_bytes);
    }
    assert_true(map.held_bytes > 8 * map.count + map.text_bytes);
    id_map_fini(&map);
}

/* Short names, whose texts hide nothing, through many doublings: in steps, since a page that splits
 * and a directory that doubles take memory for a moment. */
static void millions_of_short_names_take_forty_bytes_each(void **state)
{
    (void)state;
    enum { AT_ONCE = 100 };
    struct id_map map = { 0 };
    uint64_t largest = 0;
    for (uint64_t n = 0; n < 3000000; n += AT_ONCE) {
        static char texts[AT_ONCE][16];
        struct id_text ids[AT_ONCE];
        uint64_t numbers[AT_ONCE];
        for (uint64_t i = 0; i < AT_ONCE; i++)
            ids[i] = (struct id_text){ texts[i],
                                       (uint32_t)snprintf(texts[i], sizeof texts[i], "%llx",
                                                          (unsigned long long)(n + i)) };
        assert_int_equal(id_map_add(&map, ids, AT_ONCE, numbers), 0);
        assert_true(numbers[0] == n && numbers[AT_ONCE - 1] == n + AT_ONCE - 1);
        assert_true(map.peak_bytes <=
                    ID_MAP_BYTES_ALWAYS + ID_MAP_BYTES_MAX * map.count + map.text_bytes);
        /* Nothing is given back and taken anew: the kernel would clear it each time. Only lists of
         * pages are copied where they grow. */
        largest = map.held_bytes > largest ? map.held_bytes : largest;
        assert_true(map.peak_bytes - map.held_bytes <= map.count);
    }
    assert_true(map.held_bytes == largest);
    id_map_fini(&map);
}

/* Without the bytes that end a text. */
static bool put_equal_hash(uint64_t draw, char text[16])
{
    equal_hash_text(draw, text);
    return memchr(text, '\0', 16) == NULL && memchr(text, '\n', 16) == NULL;
}

/* A message says what is full. */
static void what_failed_is_said(void **state)
{
    (void)state;
    static const struct {
        struct id_map map;
        int rv;
        const char *says;
    } CASES[] = {
        { { .count = 7 }, TR_ENOMEM, "no memory for 7 names" },
        { { .count = ID_MAP_MAX, .num_segments = UINT64_MAX },
          TR_ETOOBIG,
          "more than 2147483648 names" },
        { { .count = 7, .num_segments = UINT64_MAX }, TR_ETOOBIG, "names of more than 31 GiB" },
        { { .count = 7 }, TR_ETOOBIG, "names that were made so that their hashes are equal" },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char text[ID_MAP_FAULT_MAX];
        const char *said = id_map_fault(&CASES[i].map, CASES[i].rv, text);
        assert_true(strncmp(said, CASES[i].says, strlen(CASES[i].says)) == 0);
    }
}

/* Such texts never part, however often their page is split. */
static void texts_of_one_hash_end_within_bounds(void **state)
{
    (void)state;
    struct id_map map = { 0 };
    uint64_t number, count = 0, draw = 0;
    char text[16], last[16];
    struct id_text id = { text, sizeof text };
    int rv = 0;
    while (rv == 0) {
        while (!put_equal_hash(key_draw(3, draw++), text))
            ;
        rv = id_map_add(&map, &id, 1, &number);
        assert_true(rv != 0 || number == count++);
        if (rv == 0)
            memcpy(last, text, sizeof last);
    }
    assert_int_equal(rv, TR_ETOOBIG);
    assert_true(map.count == ID_PAGE_SLOTS - 1);
    assert_true(map.peak_bytes <=
                ID_MAP_BYTES_ALWAYS + ID_MAP_BYTES_MAX * map.count + map.text_bytes);
    id.at = last;
    id_map_find(&map, &id, 1, &number);
    assert_true(number == count - 1);
    id.at = text;
    id_map_find(&map, &id, 1, &number);
    assert_true(number == ID_NONE);
    id = (struct id_text){ "another", 7 };
    assert_int_equal(id_map_add(&map, &id, 1, &number), 0);
    id_map_fini(&map);
}

/* The memory that ends is asked for again: what was there before is still there. */
static void memory_may_end(void **state)
{
    (void)state;
    for (int left = 0, failed = 1; failed; left++) {
        struct id_map map = { 0 };
        failed = 0;
        allocations_left = left;
        for (uint64_t n = 0; n < 9000; n++) {
            char text[ID_TEXT_MAX + 1];
            struct id_text id = name_of(n, text);
            uint64_t number, count = map.count;
            int rv = id_map_add(&map, &id, 1, &number);
            if (rv != 0) {
                assert_int_equal(rv, TR_ENOMEM);
                assert_true(map.count == count && !failed);
                failed = 1;
                rv = id_map_add(&map, &id, 1, &number);
            }
            assert_int_equal(rv, 0);
            assert_true(number == n);
        }
        allocations_left = -1;
        id_map_fini(&map);
        left += left / 8;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_first_appearance),
        cmocka_unit_test(empty_and_longest_names_are_names),
        cmocka_unit_test(a_name_takes_forty_bytes_beside_its_text),
        cmocka_unit_test(millions_of_short_names_take_forty_bytes_each),
        cmocka_unit_test(texts_of_one_hash_end_within_bounds),
        cmocka_unit_test(what_failed_is_said),
        cmocka_unit_test(memory_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
