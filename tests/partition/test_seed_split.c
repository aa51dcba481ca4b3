/* SPDX-License-Identifier: Apache-2.0 */
/* A deal is read whole or refused by name, and evened out by moving as few nodes as need be. */
#include "tests/partition/raw_util.h"

#include "partition/store/seed_split.h"
#include "runtime/base/crc32c.h"

/* A .npy file of that type; its CRC-32C is returned. */
static uint32_t put_npy(struct scratch *scratch, const char *descr, const char *shape,
                        const void *data, size_t size)
{
    unsigned char file[512] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0 };
    char header[119];
    int length = snprintf(header, sizeof header,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
    memset(file + 10, ' ', 118);
    memcpy(file + 10, header, (size_t)length);
    file[127] = '\n';
    memcpy(file + 128, data, size);
    put(scratch, "deal.npy", file, 128 + size);
    return crc32c(0, file, 128 + size);
}

static void a_deal_is_read_or_named(void **state)
{
    struct scratch *scratch = *state;
    static const struct {
        const char *descr, *shape;
        int32_t trainers[4];
        size_t size;
        uint64_t num_nodes;
        uint32_t num_trainers;
        int rv;
        const char *says;
    } cases[] = {
        { "<i4", "4,", { 0, 1, -1, 1 }, 16, 4, 2, 0, "" },
        { "<u4", "4,", { 0, 1, -1, 1 }, 16, 4, 2, 0, "" },
        { "<i4", "4,", { -1, -1, -1, -1 }, 16, 4, 2, 0, "" },
        { "<i4", "4,", { 1, 1, -1, -1 }, 16, 4, 2, TR_EMISMATCH, "0 nodes and another 2" },
        { "<i4", "4,", { 1, -1, -1, -1 }, 16, 4, 2, 0, "" },
        { "<i4", "4,", { 0, 1, 2, 0 }, 16, 4, 2, TR_EMISMATCH, "node 2 is dealt to trainer 2" },
        { "<i4", "4,", { 0, 1, 0, -2 }, 16, 4, 2, TR_EMISMATCH, "node 3 is dealt to trainer" },
        { "<i4", "4,", { 0, 1, -1, -1 }, 16, 4, 3, 0, "" },
        { "<i4", "4,", { 0, 1, 1, 1 }, 16, 4, 3, TR_EMISMATCH, "of 3 trainers one has 0 nodes" },
        { "<i4",
          "4,",
          { 0, 1, -1, 1 },
          16,
          3,
          2,
          TR_EMISMATCH,
          "a deal of 4 nodes, the graph has 3" },
        { "<i4",
          "4,",
          { 0, 1, -1, 1 },
          16,
          5,
          2,
          TR_EMISMATCH,
          "a deal of 4 nodes, the graph has 5" },
        { "<f4", "4,", { 0, 0, 0, 0 }, 16, 4, 2, TR_EFORMAT, "1 dimensions of f4" },
        { "<i8", "2,", { 0, 0, 1, 0 }, 16, 2, 2, TR_EFORMAT, "1 dimensions of i8" },
        { "<i4", "2,2", { 0, 1, 0, 1 }, 16, 2, 2, TR_EFORMAT, "2 dimensions of i4" },
        { "<i4", "0,", { 0 }, 0, 0, 2, 0, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct seed_split deal;
        struct error error = { 0 };
        put_npy(scratch, cases[i].descr, cases[i].shape, cases[i].trainers, cases[i].size);
        int rv = seed_split_read(&deal, files_posix, at(scratch, "deal.npy"), cases[i].num_nodes,
                                 cases[i].num_trainers, NULL, &error);
        if (rv != cases[i].rv)
            fail_msg("case %zu: %d '%s'", i, rv, error.text);
        assert_says(&error, cases[i].rv, cases[i].says);
        if (rv != 0) {
            assert_non_null(strstr(error.text, "deal.npy"));
            assert_null(deal.trainers);
            continue;
        }
        assert_memory_equal(deal.trainers, cases[i].trainers, cases[i].size);
        assert_int_equal(deal.num_nodes, cases[i].num_nodes);
        assert_int_equal(deal.num_trainers, cases[i].num_trainers);
        assert_true(deal.hash == seed_split_hash(&deal));
        seed_split_fini(&deal);
        assert_null(deal.trainers);
    }
    struct seed_split deal;
    struct error error = { 0 };
    assert_int_equal(
        seed_split_read(&deal, files_posix, at(scratch, "none.npy"), 4, 2, NULL, &error),
        TR_ENOENT);
    assert_says(&error, TR_ENOENT, "none.npy");
}

/* The sum is that of the file, its header included. */
static void a_deal_with_a_wrong_sum_is_refused(void **state)
{
    struct scratch *scratch = *state;
    static const int32_t trainers[] = { 0, 1, 1, 0, -1 };
    struct seed_split deal;
    struct error error = { 0 };
    uint32_t sum = put_npy(scratch, "<i4", "5,", trainers, sizeof trainers);
    assert_int_equal(
        seed_split_read(&deal, files_posix, at(scratch, "deal.npy"), 5, 2, &sum, &error), 0);
    seed_split_fini(&deal);
    sum++;
    assert_int_equal(
        seed_split_read(&deal, files_posix, at(scratch, "deal.npy"), 5, 2, &sum, &error),
        TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "deal.npy: its checksum is");
    assert_null(deal.trainers);
}

/* Two deals have one hash where they are the same, node for node and trainer for trainer. */
static void hashes_tell_deals_apart(void **state)
{
    (void)state;
    int32_t trainers[] = { 0, 1, 1, 0, -1 };
    struct seed_split deal = { trainers, 5, 2, 0 };
    uint64_t hash = seed_split_hash(&deal);
    /* Books and runs hold it: it stays what it was. */
    assert_true(hash == UINT64_C(0x06296c16a960b5a2));
    deal.num_trainers = 3;
    assert_true(seed_split_hash(&deal) != hash);
    deal.num_trainers = 2;
    for (int i = 0; i < 5; i++) { /* each node counts, the first and the last too */
        trainers[i] ^= 1;
        assert_true(seed_split_hash(&deal) != hash);
        trainers[i] ^= 1;
    }
    trainers[0] = 1;
    trainers[1] = 0; /* swapped */
    assert_true(seed_split_hash(&deal) != hash);
    trainers[0] = 0;
    trainers[1] = 1;
    deal.num_nodes = 4;
    assert_true(seed_split_hash(&deal) != hash);
}

static void shares_are_evened_out(void **state)
{
    (void)state;
    static const struct {
        uint32_t num_trainers, num_nodes;
        int32_t before[8], after[8];
    } cases[] = {
        { 2, 4, { 0, 0, 0, 0 }, { 0, 0, 1, 1 } }, /* the last ones move */
        { 2, 5, { 1, 1, -1, 1, 1 }, { 1, 1, -1, 0, 0 } },
        { 2, 3, { 1, 1, 0 }, { 1, 0, 0 } }, /* the lower number has the larger share */
        { 3, 6, { 0, 0, 0, 0, 1, 2 }, { 0, 0, 2, 1, 1, 2 } }, /* the next one first */
        { 3, 5, { 2, 2, 2, 2, 2 }, { 2, 1, 1, 0, 0 } },       /* behind the last is the first */
        { 3, 3, { 1, 2, 0 }, { 1, 2, 0 } },                   /* even already */
        { 4, 3, { 3, 3, 3 }, { 2, 1, 0 } },                   /* fewer nodes than trainers */
        { 1, 2, { 0, 0 }, { 0, 0 } },
        { 2, 2, { -1, -1 }, { -1, -1 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t trainers[8];
        uint64_t counts[4] = { 0 }, wanted[4] = { 0 };
        memcpy(trainers, cases[i].before, sizeof trainers);
        for (uint32_t v = 0; v < cases[i].num_nodes; v++) {
            if (trainers[v] >= 0)
                counts[trainers[v]]++;
            if (cases[i].after[v] >= 0)
                wanted[cases[i].after[v]]++;
        }
        assert_int_equal(
            seed_split_even_out(trainers, cases[i].num_nodes, counts, cases[i].num_trainers), 0);
        for (uint32_t v = 0; v < cases[i].num_nodes; v++)
            if (trainers[v] != cases[i].after[v])
                fail_msg("case %zu: node %u goes to %d, not to %d", i, v, trainers[v],
                         cases[i].after[v]);
        assert_memory_equal(counts, wanted, sizeof counts);
    }
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH(a_deal_is_read_or_named),
        SCRATCH(a_deal_with_a_wrong_sum_is_refused),
        cmocka_unit_test(hashes_tell_deals_apart),
        cmocka_unit_test(shares_are_evened_out),
    };
    return cmocka_run_group_tests_name("seed split", tests, NULL, NULL);
}
