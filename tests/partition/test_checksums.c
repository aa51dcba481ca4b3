/* SPDX-License-Identifier: Apache-2.0 */
/* A wrong byte anywhere in a partition directory ends loading with the name of its file, wherever
 * the byte stands: in headers, in data, in NAME.json, in what lies beside it. */
#include "tests/partition/graph_util.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "partition/store/npy.h"
#include "runtime/base/crc32c.h"

#define PARTS 2
#define HOPS 2
#define FILES_MAX 128
/* Places in a file that are tried, spread over it; primes, so that they fall on all parts of it. */
#define PLACES 61

struct made {
    char out[128];
    char json[160];
    uint32_t num_files;
    char files[FILES_MAX][300];
};

struct listing {
    struct made *made;
    const char *folder;
};

static int list_file(void *arg, const char *name)
{
    struct listing *listing = arg;
    struct made *made = listing->made;
    if (strstr(name, ".npy") == NULL)
        return 0;
    assert_true(made->num_files < FILES_MAX);
    snprintf(made->files[made->num_files++], sizeof made->files[0], "%s/%s", listing->folder, name);
    return 0;
}

/* A directory with every kind of file: features and rows of edges, halos, a deal, column tables. */
static void make(struct made *made, struct scratch *scratch)
{
    struct partition_options options = { .method = PARTITION_RANDOM,
                                         .num_parts = PARTS,
                                         .halo_hops = HOPS,
                                         .trainers = 2,
                                         .columns_max = 40 };
    struct error error = { 0 };
    struct sample sample;
    memset(made, 0, sizeof *made);
    snprintf(made->out, sizeof made->out, "%s/out", scratch->folder);
    snprintf(made->json, sizeof made->json, "%s/sample.json", made->out);
    sample_init(&sample, true, 90, 300, 4);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    if (partition_graph(raw, &options, made->out, NULL, NULL, NULL, &error) != 0)
        fail_msg("%s", error.text);
    raw_close(raw);
    sample_fini(&sample);
    for (int i = 0; i <= PARTS; i++) {
        char folder[160];
        snprintf(folder, sizeof folder, i == PARTS ? "%s" : "%s/part%d", made->out, i);
        struct listing listing = { .made = made, .folder = folder };
        assert_int_equal(files_posix->list(files_posix, folder, list_file, &listing), 0);
    }
    assert_true(made->num_files > 60);
}

/* Loads all that a job may load. */
static int load_all(const struct made *made, enum partition_mode mode, struct error *error)
{
    struct partition_load load = { .mode = mode,
                                   .check = PARTITION_CHECK_ALL,
                                   .features = true,
                                   .degrees = true,
                                   .ranks = true,
                                   .edge_rank = true,
                                   .original_edge_ids = true };
    struct store *store;
    int rv = store_open(made->json, &store, error);
    if (rv != 0)
        return rv;
    uint32_t num_ntypes = store_book(store)->types.num_ntypes;
    for (uint32_t p = 0; p < PARTS && rv == 0; p++) {
        struct graph_part *part;
        rv = store_load(store, p, &load, &part, error);
        if (rv == 0)
            store_unload(store, part);
        for (uint32_t i = 0; i < num_ntypes * HOPS && rv == 0; i++) {
            uint64_t *ids, count;
            rv = store_read_halo(store, p, i / HOPS, i % HOPS + 1, &ids, &count, error);
            if (rv == 0)
                free(ids);
        }
    }
    for (uint32_t t = 0; t < num_ntypes && rv == 0; t++) {
        int32_t *trainers;
        rv = store_read_deal(store, t, &trainers, error);
        if (rv == 0)
            free(trainers);
    }
    store_close(store);
    return rv;
}

static int check_files(const struct made *made, struct error *error)
{
    struct store_checked checked;
    struct store *store;
    int rv = store_open(made->json, &store, error);
    if (rv != 0)
        return rv;
    rv = store_check_files(store, false, NULL, NULL, NULL, NULL, &checked, error);
    if (rv == 0)
        assert_int_equal(checked.num_files, made->num_files);
    store_close(store);
    return rv;
}

static void assert_whole(const struct made *made)
{
    struct error error = { 0 };
    if (load_all(made, PARTITION_COPY, &error) != 0 || load_all(made, PARTITION_MAP, &error) != 0 ||
        check_files(made, &error) != 0)
        fail_msg("%s", error.text);
}

#define WAYS 3

/* One way of loading refuses, and names the file. */
static void assert_found_by(const struct made *made, size_t way, const char *path, const char *what,
                            size_t place)
{
    struct error error = { 0 };
    int rv = way == 0   ? load_all(made, PARTITION_COPY, &error)
             : way == 1 ? load_all(made, PARTITION_MAP, &error)
                        : check_files(made, &error);
    if (rv == 0 || strstr(error.text, path) == NULL)
        fail_msg("%s: %s at %zu, way %zu: %d '%s'", path, what, place, way, rv, error.text);
}

static void assert_found(const struct made *made, const char *path, const char *what, size_t place)
{
    for (size_t way = 0; way < WAYS; way++)
        assert_found_by(made, way, path, what, place);
}

static void read_file(const char *path, char **data, size_t *size)
{
    assert_int_equal(files_read_all(files_posix, path, SIZE_MAX / 2, data, size, NULL), 0);
}

static void write_file(const char *path, const char *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* In place: file systems write a file that was cut and filled again to the disk at once. */
static void write_byte(int fd, size_t place, char byte)
{
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)place), 1);
}

static void a_wrong_byte_is_found_in_every_file(void **state)
{
    struct made made;
    make(&made, *state);
    assert_whole(&made);
    for (uint32_t f = 0; f < made.num_files; f++) {
        size_t size;
        char *data;
        read_file(made.files[f], &data, &size);
        int fd = open(made.files[f], O_WRONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        /* The ends in every way; each place between in one, and its neighbours in the others. */
        size_t step = size / PLACES + 1, turn = f;
        for (size_t place = 0; place < size;) {
            bool is_end = place == 0 || place == size - 1;
            write_byte(fd, place, (char)(data[place] ^ 1 << place % 8));
            for (size_t way = 0; way < WAYS; way++) {
                if (is_end || turn % WAYS == way)
                    assert_found_by(&made, way, made.files[f], "a wrong byte", place);
            }
            write_byte(fd, place, data[place]);
            size_t next = place == 0 ? f % step + 1 : place + step;
            place = next < size || is_end ? next : size - 1;
            turn++;
        }
        assert_int_equal(close(fd), 0);
        free(data);
    }
    assert_whole(&made);
}

/* Every byte of the document, whitespace and key names too, changed to what may pass for it. */
static void a_wrong_byte_is_found_in_the_book(void **state)
{
    static const unsigned char masks[] = { 0x01, 0x02, 0x20, ' ' ^ '\t', ' ' ^ '\n', 0x80 };
    struct made made;
    size_t size;
    make(&made, *state);
    char *data;
    read_file(made.json, &data, &size);
    int fd = open(made.json, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (size_t place = 0; place < size; place++) {
        for (size_t m = 0; m < sizeof masks; m++) {
            struct error error = { 0 };
            struct store *store;
            write_byte(fd, place, (char)(data[place] ^ masks[m]));
            int rv = store_open(made.json, &store, &error);
            if (rv == 0 || strstr(error.text, made.json) == NULL)
                fail_msg("byte %zu ^ %02x: %d '%s'", place, masks[m], rv, error.text);
        }
        write_byte(fd, place, data[place]);
    }
    assert_int_equal(close(fd), 0);
    free(data);
    assert_whole(&made);
}

static void cut_and_grown_files_are_found(void **state)
{
    struct made made;
    make(&made, *state);
    for (uint32_t f = 0; f < made.num_files; f++) {
        size_t size;
        char *data;
        read_file(made.files[f], &data, &size);
        const size_t cuts[] = { 1, 8, size / 2, size };
        for (size_t i = 0; i < 4; i++) {
            write_file(made.files[f], data, size - cuts[i]);
            assert_found(&made, made.files[f], "cut", cuts[i]);
        }
        data = realloc(data, size + 1);
        data[size] = 0;
        write_file(made.files[f], data, size + 1);
        assert_found(&made, made.files[f], "grown", size);
        write_file(made.files[f], data, size);
        free(data);
    }
    assert_whole(&made);
}

/* Files of one form in each other's place differ in nothing but what they hold. */
static void swapped_files_are_found(void **state)
{
    struct made made;
    uint32_t swaps = 0;
    make(&made, *state);
    for (uint32_t a = 0; a < made.num_files; a++) {
        for (uint32_t b = a + 1; b < made.num_files; b++) {
            size_t a_size, b_size;
            char *of_a;
            read_file(made.files[a], &of_a, &a_size);
            char *of_b;
            read_file(made.files[b], &of_b, &b_size);
            if (a_size == b_size && memcmp(of_a, of_b, a_size) != 0) {
                struct error error = { 0 };
                write_file(made.files[a], of_b, b_size);
                write_file(made.files[b], of_a, a_size);
                assert_int_not_equal(load_all(&made, PARTITION_COPY, &error), 0);
                if (strstr(error.text, made.files[a]) == NULL &&
                    strstr(error.text, made.files[b]) == NULL)
                    fail_msg("%s and %s: '%s'", made.files[a], made.files[b], error.text);
                write_file(made.files[a], of_a, a_size);
                write_file(made.files[b], of_b, b_size);
                swaps++;
            }
            free(of_a);
            free(of_b);
        }
    }
    assert_true(swaps > 5);
    assert_whole(&made);
}

/* The document as an older version wrote it, or without some of its three keys. */
static void write_without(const struct made *made, const char *text, unsigned keys)
{
    static const char *const names[] = { "checksum", "part_checksums", "graph_checksums" };
    json_t *root = json_loads(text, 0, NULL);
    for (unsigned k = 0; k < 3; k++) {
        if (keys & 1u << k)
            assert_int_equal(json_object_del(json_object_get(root, "troupe"), names[k]), 0);
    }
    char *changed = json_dumps(root, JSON_INDENT(4));
    size_t size = strlen(changed);
    if (!(keys & 1))
        checksums_seal(changed, size);
    write_file(made->json, changed, size);
    free(changed);
    json_decref(root);
}

static void older_folders_load_and_say_so(void **state)
{
    struct made made;
    struct error error = { 0 };
    struct store *store;
    struct store_checked checked;
    size_t size;
    make(&made, *state);
    char *text;
    read_file(made.json, &text, &size);
    for (unsigned keys = 1; keys < 7; keys++) {
        write_without(&made, text, keys);
        assert_int_equal(store_open(made.json, &store, &error), TR_EFORMAT);
        assert_non_null(strstr(error.text, made.json));
    }
    write_without(&made, text, 7);
    assert_int_equal(load_all(&made, PARTITION_COPY, &error), 0);
    assert_int_equal(load_all(&made, PARTITION_MAP, &error), 0);
    assert_int_equal(store_open(made.json, &store, &error), 0);
    assert_false(store_has_checksums(store));
    assert_int_equal(store_check_files(store, false, NULL, NULL, NULL, NULL, &checked, &error),
                     TR_ENOENT);
    assert_says(&error, TR_ENOENT, "partition again");
    store_close(store);
    free(text);
}

/* The array with one row more than the partition book says, or one less. */
static void write_rows(const char *path, int more)
{
    struct npy npy;
    struct error error = { 0 };
    char descr[] = { '<', 'u', '4', '\0' };
    assert_int_equal(npy_open(&npy, files_posix, path, &error), 0);
    uint64_t shape[NPY_NDIM_MAX], rows = npy.num_rows;
    memcpy(shape, npy.header.shape, sizeof shape);
    descr[1] = npy.header.kind;
    descr[2] = (char)('0' + npy.header.item_bytes);
    char *data = calloc(rows + 1, npy.row_bytes + 1);
    assert_int_equal(npy_read_rows(&npy, 0, rows, data, &error), 0);
    uint32_t ndim = npy.header.ndim;
    npy_close(&npy);
    shape[0] = more > 0 ? rows + 1 : rows - 1;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(npy_write(files_posix, path, descr, ndim, shape, data, &error), 0);
    free(data);
}

/* Well-formed files that don't belong here are refused without any sums, as in older folders. */
static void rows_are_those_of_the_book(void **state)
{
    struct made made;
    size_t size;
    make(&made, *state);
    char *text;
    read_file(made.json, &text, &size);
    write_without(&made, text, 7);
    for (uint32_t f = 0; f < made.num_files; f++) {
        /* The book does not say how many these are. */
        if (strstr(made.files[f], "~halo") != NULL ||
            strstr(made.files[f], "column_global") != NULL ||
            strstr(made.files[f], "edge_runs") != NULL)
            continue;
        char *data;
        read_file(made.files[f], &data, &size);
        for (int more = -1; more <= 1; more += 2) {
            struct error error = { 0 };
            write_rows(made.files[f], more);
            assert_int_equal(load_all(&made, PARTITION_COPY, &error), TR_EFORMAT);
            if (strstr(error.text, made.files[f]) == NULL || strstr(error.text, "shape[0]") == NULL)
                fail_msg("%s: %s", made.files[f], error.text);
            write_file(made.files[f], data, size);
        }
        free(data);
    }
    free(text);
}

/* A file that the document knows nothing of is not loaded beside those that it does. */
static void a_file_without_a_sum_is_refused(void **state)
{
    struct made made;
    struct error error = { 0 };
    size_t size;
    make(&made, *state);
    char *text;
    read_file(made.json, &text, &size);
    json_t *root = json_loads(text, 0, NULL);
    json_t *sums = json_object_get(json_object_get(root, "troupe"), "part_checksums");
    assert_int_equal(json_object_del(sums, "node~paper~in_degrees.npy"), 0);
    char *changed = json_dumps(root, JSON_INDENT(4));
    checksums_seal(changed, strlen(changed));
    write_file(made.json, changed, strlen(changed));
    assert_int_equal(load_all(&made, PARTITION_COPY, &error), TR_EFORMAT);
    assert_says(&error, TR_EFORMAT, "node~paper~in_degrees.npy");
    free(changed);
    json_decref(root);
    free(text);
}

/* Partitions of other hosts are counted where that is asked for, and missed where it is not. */
static void partitions_may_be_elsewhere(void **state)
{
    struct scratch *scratch = *state;
    struct made made;
    struct error error = { 0 };
    struct store *store;
    struct store_checked checked;
    make(&made, scratch);
    assert_int_equal(files_remove_tree(files_posix, at(scratch, "out/part1"), NULL), 0);
    assert_int_equal(store_open(made.json, &store, &error), 0);
    assert_int_equal(store_check_files(store, true, NULL, NULL, NULL, NULL, &checked, &error), 0);
    assert_int_equal(checked.elsewhere, 1);
    assert_true(checked.num_files < made.num_files);
    assert_int_not_equal(store_check_files(store, false, NULL, NULL, NULL, NULL, &checked, &error),
                         0);
    assert_non_null(strstr(error.text, "part1"));
    store_close(store);
}

/* Whether these are the eight digits of the bytes' sum, which the plain table says. */
static void assert_digits(const char *at, const char *bytes, size_t count)
{
    char digits[9];
    snprintf(digits, sizeof digits, "%08x", crc32c_table(0, bytes, count));
    assert_memory_equal(at, digits, 8);
}

/* The stated form: sums of whole files, and that of the document with zeros for its own. */
static void sums_are_those_of_the_format(void **state)
{
    struct made made;
    size_t size, bytes;
    char quoted[300], said[8];
    make(&made, *state);
    char *text;
    read_file(made.json, &text, &size);
    for (uint32_t f = 0; f < made.num_files; f++) {
        const char *part = strstr(made.files[f], "/part");
        char *data;
        read_file(made.files[f], &data, &bytes);
        snprintf(quoted, sizeof quoted, "\"%s\": \"", strrchr(made.files[f], '/') + 1);
        const char *sums = strstr(text, quoted);
        assert_non_null(sums);
        sums += strlen(quoted) + (part == NULL ? 0 : 9 * (size_t)(part[5] - '0'));
        assert_digits(sums, data, bytes);
        free(data);
    }
    char *own = strstr(text, "\"checksum\": \"") + 13;
    memcpy(said, own, sizeof said);
    memcpy(own, "00000000", sizeof said);
    assert_digits(said, text, size);
    free(text);
}

/* A graph of one partition whose edges are looked through in pieces; the wrong source is named by
 * its place in the file, in whichever piece it lies. */
static void a_source_that_is_not_there_is_named_by_its_place(void **state)
{
    enum { NODES = 60, EDGES = 9000 };
    static const uint64_t places[] = { 0, 4095, 4096, 5000, 8191, 8192, EDGES - 1 };
    struct scratch *scratch = *state;
    struct partition_options options = { .method = PARTITION_RANDOM, .num_parts = 1 };
    struct partition_load load = { .check = PARTITION_CHECK_ALL };
    struct error error = { 0 };
    struct made made = { 0 };
    struct sample sample;
    struct graph_part *part;
    struct store *store;
    size_t size;
    snprintf(made.out, sizeof made.out, "%s/out", scratch->folder);
    snprintf(made.json, sizeof made.json, "%s/sample.json", made.out);
    sample_init(&sample, false, NODES, EDGES, 6);
    struct raw_graph *raw = sample_raw(&sample, at(scratch, "raw"));
    assert_int_equal(partition_graph(raw, &options, made.out, NULL, NULL, NULL, &error), 0);
    raw_close(raw);
    sample_fini(&sample);
    char *text;
    read_file(made.json, &text, &size);
    write_without(&made, text, 7);
    free(text);
    struct listing listing = { .made = &made, .folder = at(scratch, "out/part0") };
    assert_int_equal(files_posix->list(files_posix, listing.folder, list_file, &listing), 0);
    uint32_t f = 0;
    while (f < made.num_files && strstr(made.files[f], ":_N~indices.npy") == NULL)
        f++;
    assert_true(f < made.num_files);
    int fd = open(made.files[f], O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    off_t data = lseek(fd, 0, SEEK_END) - (off_t)(EDGES * sizeof(uint32_t));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        uint32_t before, wrong = i % 2 == 0 ? NODES : UINT32_MAX;
        off_t place = data + (off_t)(places[i] * sizeof wrong);
        char says[64];
        assert_int_equal(pread(fd, &before, sizeof before, place), sizeof before);
        assert_int_equal(pwrite(fd, &wrong, sizeof wrong, place), sizeof wrong);
        assert_int_equal(store_open(made.json, &store, &error), 0);
        assert_int_equal(store_load(store, 0, &load, &part, &error), TR_EFORMAT);
        snprintf(says, sizeof says, "indices.npy: element %u is %u, but", (unsigned)places[i],
                 (unsigned)wrong);
        assert_says(&error, TR_EFORMAT, says);
        store_close(store);
        assert_int_equal(pwrite(fd, &before, sizeof before, place), sizeof before);
    }
    assert_int_equal(close(fd), 0);
    assert_int_equal(store_open(made.json, &store, &error), 0);
    assert_int_equal(store_load(store, 0, &load, &part, &error), 0);
    store_unload(store, part);
    store_close(store);
}

/* Every range of the IDs that an input has is the same range of all; of edges where they were
 * kept. */
static void original_ids_are_read_over_partitions(void **state)
{
    struct scratch *scratch = *state;
    for (int kept = 1; kept >= 0; kept--) {
        struct partition_options options = { .method = PARTITION_RANDOM,
                                             .num_parts = 3,
                                             .drop_edge_ids = !kept };
        struct error error = { 0 };
        struct sample sample;
        struct store *store;
        char out[128], json[160], name[16];
        snprintf(name, sizeof name, "raw%d", kept);
        snprintf(out, sizeof out, "%s/out%d", scratch->folder, kept);
        snprintf(json, sizeof json, "%s/sample.json", out);
        sample_init(&sample, true, 40, 60, 4);
        struct raw_graph *raw = sample_raw(&sample, at(scratch, name));
        assert_int_equal(partition_graph(raw, &options, out, NULL, NULL, NULL, &error), 0);
        raw_close(raw);
        assert_int_equal(store_open(json, &store, &error), 0);
        for (uint32_t i = 0; i < sample.types.num_ntypes + sample.types.num_etypes; i++) {
            bool edges = i >= sample.types.num_ntypes;
            uint32_t type = edges ? i - sample.types.num_ntypes : i;
            uint64_t count = edges ? sample.num_edges[type] : sample.num_nodes[type];
            uint64_t all[64], some[64];
            bool seen[64] = { false };
            assert_true(count > 3 && count <= 64);
            int rv = store_read_original_ids(store, edges, type, 0, count, all, &error);
            if (edges && !kept) {
                assert_int_equal(rv, TR_ENOENT);
                assert_says(&error, TR_ENOENT, "without original edge IDs; partition it again");
                continue;
            }
            assert_int_equal(rv, 0);
            for (uint64_t k = 0; k < count; k++) {
                assert_true(all[k] < count && !seen[all[k]]);
                seen[all[k]] = true;
            }
            for (uint64_t first = 0; first <= count; first++) {
                for (uint64_t n = 0; n <= count - first; n += 1 + n / 3) {
                    assert_int_equal(
                        store_read_original_ids(store, edges, type, first, n, some, &error), 0);
                    assert_memory_equal(some, all + first, n * sizeof *some);
                }
            }
            const uint64_t bad[][2] = {
                { 0, count + 1 }, { count, 1 }, { count + 1, 0 }, { 1, SIZE_MAX }
            };
            for (size_t b = 0; b < 4; b++) {
                assert_int_equal(
                    store_read_original_ids(store, edges, type, bad[b][0], bad[b][1], some, &error),
                    TR_ERANGE);
                assert_says(&error, TR_ERANGE, edges ? "edge IDs from" : "node IDs from");
            }
        }
        for (int edges = 0; edges < 2; edges++) {
            uint32_t types = edges ? sample.types.num_etypes : sample.types.num_ntypes;
            assert_int_equal(store_read_original_ids(store, edges, types, 0, 0, NULL, &error),
                             TR_ERANGE);
            assert_says(&error, TR_ERANGE, edges ? "no edge type 3" : "no node type 2");
        }
        store_close(store);
        sample_fini(&sample);
    }
}

struct asked {
    int times, yes_at; /* the first question that is answered with yes */
};

static bool count_question(void *arg)
{
    struct asked *asked = arg;
    return ++asked->times >= asked->yes_at;
}

static int load_one(const struct made *made, enum partition_mode mode, struct asked *asked,
                    struct error *error)
{
    const struct cancel cancel = { count_question, asked };
    const struct partition_load load = { .mode = mode,
                                         .check = PARTITION_CHECK_ALL,
                                         .features = true,
                                         .degrees = true,
                                         .ranks = true,
                                         .cancel = &cancel };
    struct store *store;
    struct graph_part *part;
    int rv = store_open(made->json, &store, error);
    assert_int_equal(rv, 0);
    rv = store_load(store, 0, &load, &part, error);
    if (rv == 0)
        store_unload(store, part);
    store_close(store);
    return rv;
}

/* Whenever it comes, nothing more is read, and nothing is left open. */
static void loading_ends_within_a_partition(void **state)
{
    struct made made;
    struct error error = { 0 };
    make(&made, *state);
    for (int way = 0; way < 2; way++) {
        enum partition_mode mode = way == 0 ? PARTITION_COPY : PARTITION_MAP;
        struct asked all = { 0, INT_MAX };
        assert_int_equal(load_one(&made, mode, &all, &error), 0);
        assert_true(all.times > 10);
        for (int at = 1; at <= all.times; at++) {
            struct asked asked = { 0, at };
            assert_int_equal(load_one(&made, mode, &asked, &error), TR_ECANCELED);
            assert_int_equal(asked.times, at);
            assert_non_null(strstr(error.text, "part0/"));
        }
    }
    struct store *store;
    struct store_checked checked;
    struct asked asked = { 0, 3 };
    const struct cancel cancel = { count_question, &asked };
    assert_int_equal(store_open(made.json, &store, &error), 0);
    assert_int_equal(store_check_files(store, false, NULL, &cancel, NULL, NULL, &checked, &error),
                     TR_ECANCELED);
    assert_int_equal(asked.times, 3);
    store_close(store);
}

int main(void)
{
#define SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH(a_wrong_byte_is_found_in_every_file),
        SCRATCH(a_wrong_byte_is_found_in_the_book),
        SCRATCH(cut_and_grown_files_are_found),
        SCRATCH(swapped_files_are_found),
        SCRATCH(older_folders_load_and_say_so),
        SCRATCH(a_file_without_a_sum_is_refused),
        SCRATCH(rows_are_those_of_the_book),
        SCRATCH(partitions_may_be_elsewhere),
        SCRATCH(sums_are_those_of_the_format),
        SCRATCH(loading_ends_within_a_partition),
        SCRATCH(a_source_that_is_not_there_is_named_by_its_place),
        SCRATCH(original_ids_are_read_over_partitions),
    };
    return cmocka_run_group_tests_name("checksums", tests, NULL, NULL);
}
