/* SPDX-License-Identifier: Apache-2.0 */
/* metadata.json and NAME.json with bytes changed or values swapped: what they describe opens or is
 * refused with a message. Mutations come from a fixed seed, so each run makes the same. */
#include "tests/partition/graph_util.h"

#include "partition/raw/raw.h"
#include "tests/json_spots.h"

#define MUTATIONS 400
#define INSERTED "{}[]\",:0-9e\\\x80"

struct document {
    struct sample sample; /* its random alone */
    char path[300];
    char *text;
    size_t size;
    int (*use)(const char *path, struct error *error);
};

static int use_raw(const char *path, struct error *error)
{
    char folder[300];
    struct raw_graph *graph;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    int rv = raw_open(folder, NULL, &graph, error);
    if (rv == 0)
        raw_close(graph);
    return rv;
}

static int use_store(const char *path, struct error *error)
{
    static const struct partition_load all = {
        .mode = PARTITION_MAP, .features = true, .degrees = true, .ranks = true
    };
    struct store *store;
    int rv = store_open(path, &store, error);
    if (rv != 0)
        return rv;
    for (uint32_t p = 0; p < store_book(store)->num_parts && rv == 0; p++) {
        struct graph_part *part;
        rv = store_load(store, p, &all, &part, error);
        if (rv == 0)
            store_unload(store, part);
    }
    store_close(store);
    return rv;
}

static void write_text(const struct document *d, const char *text, size_t size)
{
    FILE *file = fopen(d->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* A document that was changed is summed anew, or its own checksum alone would be looked at. */
static void check(const struct document *d, char *text, size_t size)
{
    struct error error = { 0 };
    checksums_seal(text, size);
    write_text(d, text, size);
    int rv = d->use(d->path, &error);
    if (rv > 0 || (rv < 0 && (error.code != rv || error.text[0] == '\0')))
        fail_msg("%d '%s' of %.*s", rv, error.text, (int)size, text);
}

static void change_bytes(struct document *d)
{
    char *text = malloc(d->size + 1);
    for (int i = 0; i < MUTATIONS; i++) {
        size_t at = sample_random(&d->sample) % d->size, size = d->size;
        uint64_t random = sample_random(&d->sample);
        memcpy(text, d->text, size);
        if (i % 3 == 0) {
            text[at] = (char)(text[at] ^ 1 << random % 8);
        } else if (i % 3 == 1) {
            memmove(text + at + 1, text + at, size++ - at);
            text[at] = INSERTED[random % (sizeof INSERTED - 1)];
        } else {
            memmove(text + at, text + at + 1, --size - at);
        }
        check(d, text, size);
    }
    free(text);
}

/* Copies of one value in another's place and back: both are taken before either is put. */
static void swap_values(struct document *d)
{
    struct json_spot *spots = malloc(JSON_SPOTS_MAX * sizeof *spots);
    for (int i = 0; i < MUTATIONS; i++) {
        json_t *root = json_loadb(d->text, d->size, 0, NULL);
        assert_non_null(root);
        size_t count = json_spots_find(root, spots);
        struct json_spot a = spots[sample_random(&d->sample) % count];
        struct json_spot b = spots[sample_random(&d->sample) % count];
        json_t *of_a = json_deep_copy(a.value), *of_b = json_deep_copy(b.value);
        json_t *in_b = json_incref(b.in); /* it may stand in a */
        json_spot_put(&a, of_b);
        if (json_object_size(in_b) > 0 || b.index < json_array_size(in_b))
            json_spot_put(&b, of_a);
        else
            json_decref(of_a);
        char *text = json_dumps(root, JSON_INDENT(1));
        assert_non_null(text);
        check(d, text, strlen(text));
        free(text);
        json_decref(in_b);
        json_decref(root);
    }
    free(spots);
}

static void mutate(const char *path, int (*use)(const char *path, struct error *error))
{
    struct document d = { .sample.random = 20, .use = use };
    struct error error = { 0 };
    snprintf(d.path, sizeof d.path, "%s", path);
    assert_int_equal(files_read_all(files_posix, path, 1 << 20, &d.text, &d.size, &error), 0);
    assert_int_equal(use(d.path, &error), 0);
    change_bytes(&d);
    swap_values(&d);
    free(d.text);
}

static void mutated_documents_open_or_are_refused(void **state)
{
    struct scratch *scratch = *state;
    struct partition_options options = { .num_parts = 2, .method = PARTITION_RANDOM, .name = "g" };
    struct error error = { 0 };
    struct sample sample;
    sample_init(&sample, true, 30, 60, 3);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    int rv = partition_graph(raw, &options, at(scratch, "parts"), NULL, NULL, NULL, &error);
    if (rv != 0)
        fail_msg("%s", error.text);
    raw_close(raw);
    sample_fini(&sample);
    mutate(at(scratch, "raw/metadata.json"), use_raw);
    mutate(at(scratch, "parts/g.json"), use_store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(mutated_documents_open_or_are_refused, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests_name("json_mutations", tests, NULL, NULL);
}
