/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes first inputs of the binary fuzz targets, made by the encoders themselves, into a folder
 * that has one for each target: `tests/fuzz/make_corpus tests/fuzz/corpus`. The text formats'
 * inputs beside them were written by hand, others found by the fuzzers.
 */
#include "tests/partition/graph_util.h"
#include "tests/scratch.h"

#include "actors/data/batch_flat.h"
#include "actors/job/checkpoint_json.h"
#include "model/model.h"
#include "model/run_config.h"
#include "model/safetensors.h"
#include "model/state.h"
#include "partition/metis/metis_exchange.h"
#include "partition/store/npy.h"
#include "runtime/base/parallel.h"
#include "runtime/core/kind.h"
#include "runtime/core/runtime_codec.h"
#include "runtime/core/runtime_kinds.h"
#include "runtime/net/hello_codec.h"
#include "runtime/net/wire.h"
#include "schemas/body.h"
#include "schemas/fields.h"
#include "schemas/messages.h"
#include "tests/fuzz/memory_files.h"
#include "tests/schemas/random.h"

#define FAIL_IF(what)                                            \
    do {                                                         \
        if (what) {                                              \
            fprintf(stderr, "make_corpus: line %d\n", __LINE__); \
            exit(1);                                             \
        }                                                        \
    } while (0)

static const char *to; /* the folder of corpora */

static FILE *open_input(const char *target, const char *name)
{
    char path[500];
    snprintf(path, sizeof path, "%s/%s", to, target);
    FAIL_IF(files_make_folders(files_posix, path, NULL) != 0);
    snprintf(path, sizeof path, "%s/%s/%s", to, target, name);
    FILE *file = fopen(path, "wb");
    FAIL_IF(file == NULL);
    return file;
}

static void put_input(const char *target, const char *name, const void *data, size_t size)
{
    FILE *file = open_input(target, name);
    FAIL_IF(fwrite(data, 1, size, file) != size || fclose(file) != 0);
}

static void copy_file(const char *path, FILE *file)
{
    char *data;
    size_t size;
    FAIL_IF(files_read_all(files_posix, path, 1 << 20, &data, &size, NULL) != 0);
    FAIL_IF(fwrite(data, 1, size, file) != size);
    free(data);
}

/* Every element type, and shapes of none to three dimensions. */
static void make_npy(const char *scratch)
{
    static const char *const descrs[] = { "<f4", "<f2", "<f8", "|b1", "|i1", "<i2",
                                          "<i4", "<i8", "|u1", "<u2", "<u4", "<u8" };
    static const uint64_t shape[] = { 2, 3, 1 };
    static const unsigned char zeroes[64];
    char path[300], name[32];
    for (uint32_t i = 0; i < sizeof descrs / sizeof *descrs; i++) {
        snprintf(path, sizeof path, "%s/%u.npy", scratch, i);
        snprintf(name, sizeof name, "%s-%u", descrs[i] + 1, i % 4);
        FAIL_IF(npy_write(files_posix, path, descrs[i], i % 4, shape, zeroes, NULL) != 0);
        FILE *file = open_input("npy", name);
        copy_file(path, file);
        FAIL_IF(fclose(file) != 0);
    }
}

static void make_safetensors(const char *scratch)
{
    static const float weights[6] = { 1, 2, 3, 4, 5, 6 };
    static const int64_t steps[1] = { 7 };
    const struct safetensor tensors[] = {
        { .name = "layers.0.weight",
          .dtype = TR_F32,
          .ndim = 2,
          .shape = { 2, 3 },
          .data = weights },
        { .name = "layers.0.bias", .dtype = TR_F32, .ndim = 1, .shape = { 0 }, .data = weights },
        { .name = "step", .dtype = TR_I64, .ndim = 0, .data = steps },
    };
    char path[300];
    snprintf(path, sizeof path, "%s/model.safetensors", scratch);
    for (size_t count = 0; count <= 3; count++) {
        char name[] = { 't', 'e', 'n', 's', 'o', 'r', 's', (char)('0' + count), '\0' };
        FAIL_IF(files_remove_tree(files_posix, path, NULL) != 0);
        FAIL_IF(safetensors_write(files_posix, path, tensors, count, NULL) != 0);
        FILE *file = open_input("safetensors", name);
        copy_file(path, file);
        FAIL_IF(fclose(file) != 0);
    }
}

static void make_config(void)
{
    struct run_config config = { .model = model_config_default(),
                                 .fanout = { 10, -1 },
                                 .batch_size = 32 };
    config.model.inputs = 4;
    config.model.classes = 3;
    FAIL_IF(run_config_names(&config, "feat", "label", "train", "val", "test", NULL) != 0);
    json_t *root = json_pack("{s:o}", "run", run_config_to_json(&config));
    char *text = json_dumps(root, JSON_INDENT(1));
    FAIL_IF(text == NULL);
    put_input("config", "default", text, strlen(text));
    free(text);
    json_decref(root);
    run_config_fini(&config);
}

/* A folder as one input: the file `first`, then all that `visit` finds. */
struct packing {
    FILE *file;
    const char *folder, *below, *first;
};

static int pack(void *arg, const char *name)
{
    struct packing *packing = arg;
    char path[500], below[400];
    snprintf(below, sizeof below, "%s%s%s", packing->below, packing->below[0] == '\0' ? "" : "/",
             name);
    snprintf(path, sizeof path, "%s/%s", packing->folder, below);
    if (strcmp(below, packing->first) == 0)
        return 0;
    if (files_is_folder(files_posix, path)) {
        struct packing inside = *packing;
        inside.below = below;
        return files_posix->list(files_posix, path, pack, &inside);
    }
    fprintf(packing->file, MEMORY_FILES_MARK "%s\n", below);
    copy_file(path, packing->file);
    return 0;
}

static void pack_folder(const char *target, const char *name, const char *folder, const char *first)
{
    char path[500];
    struct packing packing = { open_input(target, name), folder, "", first };
    snprintf(path, sizeof path, "%s/%s", folder, first);
    copy_file(path, packing.file);
    FAIL_IF(files_posix->list(files_posix, folder, pack, &packing) != 0);
    FAIL_IF(fclose(packing.file) != 0);
    /* And the document alone. */
    char alone[64];
    snprintf(alone, sizeof alone, "%s-alone", name);
    packing.file = open_input(target, alone);
    copy_file(path, packing.file);
    FAIL_IF(fclose(packing.file) != 0);
}

static void make_graph(const char *scratch, bool hetero, uint32_t parts, const char *name)
{
    struct partition_options options = { .num_parts = parts,
                                         .method = PARTITION_RANDOM,
                                         .name = "g",
                                         .columns_max = hetero ? 3 : 0,
                                         .out_edges = !hetero,
                                         .halo_hops = 1 };
    struct sample sample;
    struct error error = { 0 };
    char raw_path[300], parts_path[300];
    snprintf(raw_path, sizeof raw_path, "%s/raw-%s", scratch, name);
    snprintf(parts_path, sizeof parts_path, "%s/parts-%s", scratch, name);
    sample_init(&sample, hetero, 6, 8, 3);
    struct raw_graph *raw = sample_raw(&sample, raw_path);
    int rv = partition_graph(raw, &options, parts_path, NULL, NULL, NULL, &error);
    if (rv != 0)
        fprintf(stderr, "%s\n", error.text);
    FAIL_IF(rv != 0);
    raw_close(raw);
    sample_fini(&sample);
    pack_folder("chunked", name, raw_path, "metadata.json");
    pack_folder("partition", name, parts_path, "g.json");
}

union any_head {
#define X(kind, type, lane, class) struct type type;
    MESSAGES(X)
#undef X
    unsigned char bytes[KIND_HEAD_BYTES_MAX];
};

static void fill(uint32_t id, union any_head *head, bool edgy, uint64_t *state)
{
    const uint64_t one = 1;
    memset(head, 0, sizeof *head);
    switch (id) {
#define S(field) at->field = (__typeof__(at->field))(edgy ? random_edgy(state) : one);
#define D(field) at->field = (struct msg_draw){ one, 2, 3, 4, 1 };
#define X(kind, type, lane, class)     \
    case kind: {                       \
        struct type *at = &head->type; \
        FIELDS_##type(S, D) break;     \
    }
        MESSAGES(X)
#undef X
    }
}

/* Kind, no shift, length of the head, head, body: as fuzz_messages reads them. */
static void put_message(const struct kind *kind, const char *name, const void *head,
                        const void *body, size_t body_bytes)
{
    unsigned char bytes[4 + KIND_ENCODED_BYTES_MAX + 4096];
    char file[100];
    int count = kind->encode(head, bytes + 4, KIND_ENCODED_BYTES_MAX);
    FAIL_IF(count < 0 || body_bytes > 4096);
    bytes[0] = (unsigned char)(kind->id - MSG_FIRST_ - 1);
    bytes[1] = 0;
    bytes[2] = (unsigned char)count;
    bytes[3] = (unsigned char)(count >> 8);
    if (body_bytes > 0)
        memcpy(bytes + 4 + count, body, body_bytes);
    snprintf(file, sizeof file, "%s-%s", kind->name, name);
    put_input("messages", file, bytes, 4 + (size_t)count + body_bytes);
}

static void make_sample_messages(const struct kinds *kinds)
{
    static const struct {
        struct msg_sample_section sections[2];
        uint32_t rows[3];
        uint64_t excluded[2];
    } request = { { { .num_rows = 3, .term = SAMPLE_TERM(5, false), .num_excluded = 2 },
                    { .etype = 1,
                      .num_rows = 3,
                      .same_rows = 1,
                      .term = { .fanout = -1,
                                .flags = SAMPLE_TOTAL,
                                .direction = SAMPLE_OUT,
                                .weights = SAMPLE_NO_TABLE,
                                .mask = SAMPLE_NO_TABLE } } },
                  { 10, 11, 12 },
                  { 7, 9 } };
    static const struct {
        struct msg_sample_answer narrow;
        uint32_t counts[4], columns[4];
        struct msg_sample_answer wide;
        uint32_t wide_counts[2];
        uint64_t wide_columns[2], edge_ids[2];
        float weights[2];
    } reply = { { .num_rows = 3, .column_bytes = 4, .num_edges = 3 },
                { 2, 0, 1 },
                { 7, 8, 9 },
                { .num_rows = 2, .column_bytes = 8, .num_edges = 2, .edge_ids = 1, .weights = 1 },
                { 1, 1 },
                { UINT64_C(1) << 40, 3 },
                { 5, 6 },
                { 1.5f, 2 } };
    const struct msg_sample_request asked = { .num_sections = 2 };
    const struct msg_sample_reply answered = { .num_sections = 2, .done = 1 };
    put_message(kinds_find(kinds, MSG_SAMPLE_REQUEST), "two", &asked, &request, sizeof request);
    put_message(kinds_find(kinds, MSG_SAMPLE_REPLY), "two", &answered, &reply, sizeof reply);
}

/* Edges of two types, of which one brings reverses: of a single draw, and of a loader. */
static void make_pair_messages(const struct kinds *kinds)
{
    uint64_t words[64] = { 0 };
    const struct msg_seed_segment segments[] = {
        { .seeds = MSG_SEEDS_EDGES_GIVEN, .num_seeds = 2, .reverse_rule = 3 },
        { .seeds = MSG_SEEDS_EDGES_REVERSED_GIVEN, .etype = 1, .num_seeds = 1, .reverse_rule = 4 },
    };
    const uint64_t ids[] = { 5, 6, 7, MSG_NO_EDGE };
    struct sample_spec spec;
    FAIL_IF(sample_spec_alloc(&spec, 1, 2) != 0);
    const size_t bytes = sample_spec_bytes(&spec), body = sizeof segments + sizeof ids + bytes;
    FAIL_IF(body > sizeof words);
    memcpy(words, segments, sizeof segments);
    memcpy((unsigned char *)words + sizeof segments, ids, sizeof ids);
    sample_spec_write(&spec, (unsigned char *)words + sizeof segments + sizeof ids);
    const struct msg_draw_request draw = {
        .num_seeds = 3, .seeds = MSG_SEEDS_SEVERAL, .num_segments = 2, .spec_bytes = (uint32_t)bytes
    };
    put_message(kinds_find(kinds, MSG_DRAW_REQUEST), "types", &draw, words, body);
    sample_spec_write(&spec, (unsigned char *)words + sizeof segments);
    const struct msg_loader_open open = {
        .num_seeds = 3, .seeds = MSG_SEEDS_SEVERAL, .num_segments = 2, .spec_bytes = (uint32_t)bytes
    };
    put_message(kinds_find(kinds, MSG_LOADER_OPEN), "types", &open, words, sizeof segments + bytes);
    sample_spec_free(&spec);
}

/* Each kind with ones and the body that fits them, and with edgy numbers. */
static void make_messages(void)
{
    static const _Alignas(64) unsigned char zeroes[256];
    static struct kinds kinds;
    uint64_t state = 1;
    FAIL_IF(messages_register(&kinds, NULL) != 0);
    for (uint32_t id = MSG_FIRST_ + 1; id < MSG_END_; id++) {
        const struct kind *kind = kinds_find(&kinds, id);
        union any_head head;
        size_t bytes = 0;
        fill(id, &head, false, &state);
        while (bytes < sizeof zeroes && kind->check(&head, zeroes, bytes) != 0)
            bytes++;
        put_message(kind, "ones", &head, zeroes, bytes < sizeof zeroes ? bytes : 0);
        if (id == MSG_LOADER_OPEN)
            continue;
        fill(id, &head, true, &state);
        put_message(kind, "edgy", &head, NULL, 0);
    }
    make_sample_messages(&kinds);
    make_pair_messages(&kinds);
}

static void *fill_vec(struct vec *vec, size_t count, size_t size)
{
    FAIL_IF(vec_reserve(vec, count, size, 0) != 0);
    if (count > 0)
        memset(vec->data, 0, count * size);
    return vec->data;
}

static const float *fill_weights(struct vec *vec, uint32_t count)
{
    float *weights = fill_vec(vec, count, sizeof *weights);
    for (uint32_t i = 0; i < count; i++)
        weights[i] = 1.5f;
    return weights;
}

/* Two layers, two types of nodes and edges: of each type 2 nodes above 1 above 1 seed. */
static struct sampled_batch *make_batch(void)
{
    struct sampled_batch *b = sampled_batch_create(2, 2, 2);
    FAIL_IF(b == NULL);
    struct batch_space *s = &b->space;
    for (uint32_t t = 0; t < 2; t++) {
        struct node_space *space = &s->node_space[t];
        s->num_src[t] = 2;
        s->num_dst[t] = s->num_src[2 + t] = s->num_dst[2 + t] = 1;
        s->nodes[t] = (struct batch_nodes){
            .num_nodes = 2,
            .num_seeds = 1,
            .ids = fill_vec(&space->ids, 2, 8),
            .original_ids = t == 0 ? fill_vec(&space->original_ids, 2, 8) : NULL,
            .in_degrees = t == 1 ? fill_vec(&space->in_degrees, 2, 4) : NULL,
            .features = { TR_F32, 2, 3, 12, fill_vec(&space->features, 2, 12) },
            .labels = { TR_I64, 1, 1, 8, fill_vec(&space->labels, 1, 8) },
        };
    }
    for (uint32_t l = 0; l < 2; l++)
        for (uint32_t e = 0; e < 2; e++) {
            struct edge_space *space = batch_space_edge_space(s, l, e);
            uint32_t *index = fill_vec(&space->index, 2, 4);
            index[1] = e == 0 ? 1 : 0;
            *batch_space_edges(s, l, e) = (struct block_edges){
                1,
                index[1],
                index,
                fill_vec(&space->sources, index[1], 4),
                e == 0 ? fill_vec(&space->edge_ids, index[1], 8) : NULL,
                e == 0 ? fill_weights(&space->edge_weights, index[1]) : NULL,
                SAMPLE_IN
            };
        }
    *batch_space_edges(s, 1, 1) = (struct block_edges){ .num_dst = 1 };
    /* Both ends of each type have as many nodes. */
    batch_space_edges(s, 0, 1)->direction = SAMPLE_OUT;
    FAIL_IF(batch_space_set_tables(s, 2) != 0);
    s->tables[0] = (struct batch_table){
        0, SAMPLE_OF_NODES, 1, 0, { TR_F32, 2, 3, 12, fill_vec(&s->table_space[0], 2, 12) }
    };
    s->tables[1] = (struct batch_table){
        1, SAMPLE_OF_EDGES, 0, 1, { TR_I64, 1, 1, 8, fill_vec(&s->table_space[1], 1, 8) }
    };
    return b;
}

static void make_batches(void)
{
    static const char *const names[] = { "small",     "empty",     "pairs",
                                         "negatives", "both_ends", "pair_types" };
    struct sampled_batch *batch = make_batch(), *empty = sampled_batch_create(2, 2, 2);
    struct sampled_batch *pairs = make_batch(), *negatives = make_batch(), *both = make_batch();
    struct sampled_batch *types = make_batch();
    struct sampled_batch *all[] = { batch, empty, pairs, negatives, both, types };
    FAIL_IF(empty == NULL);
    for (int i = 2; i < 6; i++) {
        struct pair_space *space = all[i]->space.pair_space;
        all[i]->space.batch.num_pair_types = 1;
        all[i]->space.pairs[0] = (struct batch_pairs){
            .etype = 1,
            .count = 3,
            .sources = fill_vec(&space->sources, 3, 4),
            .destinations = fill_vec(&space->destinations, 3, 4),
            .edge_ids = fill_vec(&space->edge_ids, 3, 8),
        };
    }
    for (int i = 3; i < 5; i++) {
        struct pair_space *space = all[i]->space.pair_space;
        struct batch_pairs *with = all[i]->space.pairs;
        with->negatives_rule = (struct negatives_rule){ .each = 2 };
        with->count_negatives = 6;
        with->negatives = fill_vec(&space->negatives, 6, 4);
    }
    both->space.pairs->negatives_rule.ends = NEGATIVE_BOTH;
    both->space.pairs->count_negative_sources = 6;
    both->space.pairs->negatives_rule.no_edges = 1;
    both->space.pairs->negatives_rule.by_degree = 1;
    both->space.pairs->negative_edges = 1;
    both->space.pairs->negative_sources = fill_vec(&both->space.pair_space->negative_sources, 6, 4);
    /* Of a second edge type there are pairs too, as many, the other way round. */
    types->space.batch.num_pair_types = 2;
    types->space.pairs[1] = types->space.pairs[0];
    types->space.pairs[1].etype = 0;
    for (int i = 0; i < 6; i++) {
        uint64_t bytes;
        void *flat = NULL;
        FAIL_IF(batch_flat_bytes(all[i], &bytes) != 0 || posix_memalign(&flat, 64, bytes) != 0);
        batch_flatten(all[i], flat);
        put_input("batch", names[i], flat, bytes);
        free(flat);
        sampled_batch_release(all[i]);
    }
}

/* A byte that says what it is, then its encoding: as fuzz_hello reads them. */
static void put_words(uint8_t choice, const char *name, int count, unsigned char *bytes)
{
    FAIL_IF(count < 0);
    bytes[0] = choice;
    put_input("hello", name, bytes, (size_t)count + 1);
}

static void make_words(void)
{
    unsigned char bytes[1 + HELLO_CODEC_BYTES_MAX], *at = bytes + 1;
    const struct wire_hello hello = { .protocol_first = 1,
                                      .protocol_last = 2,
                                      .cluster = "job",
                                      .node = 1,
                                      .incarnation = 7,
                                      .nonce = 9,
                                      .received = { 1, 2, 3 },
                                      .window_bytes = 1 << 27 };
    const struct wire_header header = { .bytes = 64, .type = WIRE_MESSAGE, .lane = WIRE_DATA };
    const struct runtime_kill kill = { TR_ECANCELED };
    const struct runtime_demonitor demonitor = { 5 };
    const struct runtime_name name = { "part/7", 1 };
    const struct runtime_found found = { { 1, 2, 3, 4 } };
    const size_t room = HELLO_CODEC_BYTES_MAX;
    int count = hello_encode(&hello, at, room - 2);
    put_words(0, "hello", count, bytes);
    /* The same as a whole record: its type, and in pieces of what size it comes. */
    memmove(at + 2, at, (size_t)count);
    memcpy(at, "\1\0", 2);
    put_words(15, "greeting", count + 2, bytes);
    put_words(1, "refuse", refuse_encode(3, at, room), bytes);
    memcpy(at, &header, sizeof header);
    put_words(2, "header", sizeof header, bytes);
    put_words(2 + RUNTIME_KILL, "kill", runtime_encode(RUNTIME_KILL, &kill, at, room), bytes);
    put_words(2 + RUNTIME_DEMONITOR, "demonitor",
              runtime_encode(RUNTIME_DEMONITOR, &demonitor, at, room), bytes);
    put_words(2 + RUNTIME_LOOKUP, "lookup", runtime_encode(RUNTIME_LOOKUP, &name, at, room), bytes);
    put_words(2 + RUNTIME_FOUND, "found", runtime_encode(RUNTIME_FOUND, &found, at, room), bytes);
}

/* Two choices, a MESSAGE record, and what else a link reads: as fuzz_link does. */
static void put_record(FILE *file, uint8_t type, uint8_t lane, const void *payload, size_t count)
{
    unsigned char head[] = { type, lane, (unsigned char)count, (unsigned char)(count >> 8) };
    FAIL_IF(fwrite(head, 1, sizeof head, file) != sizeof head);
    FAIL_IF(fwrite(payload, 1, count, file) != count);
}

static void put_link_message(FILE *file, uint32_t id, const struct kinds *kinds, uint8_t flags,
                             size_t body_bytes, size_t now_bytes)
{
    unsigned char bytes[sizeof(struct frame) + KIND_ENCODED_BYTES_MAX + 256] = { 0 };
    const struct kind *kind = kinds_find(kinds, id);
    uint64_t state = 1;
    union any_head head;
    fill(id, &head, false, &state);
    int count = kind->encode(&head, bytes + sizeof(struct frame), KIND_ENCODED_BYTES_MAX);
    FAIL_IF(count < 0 || now_bytes > 256);
    uint8_t lane = kind->lane == KIND_DATA ? WIRE_DATA : WIRE_CONTROL;
    const struct frame frame = {
        .kind = (uint16_t)id,
        .flags = (uint8_t)(flags | (lane == WIRE_DATA ? MESSAGE_DATA : 0)),
        .call = flags != 0 ? 5 : 0,
        .head_bytes = (uint32_t)count,
        .body_bytes = body_bytes,
    };
    memcpy(bytes, &frame, sizeof frame);
    put_record(file, WIRE_MESSAGE, lane, bytes, sizeof frame + (size_t)count + now_bytes);
    if (now_bytes < body_bytes)
        put_record(file, WIRE_MORE, lane, bytes + 8, body_bytes - now_bytes);
}

static void make_link(void)
{
    static struct kinds kinds;
    static const unsigned char nothing[sizeof(struct wire_ack)];
    FAIL_IF(messages_register(&kinds, NULL) != 0);
    for (uint8_t choice = 0; choice < 8; choice++) {
        char name[] = { 'a', (char)('0' + choice), '\0' };
        FILE *file = open_input("link", name);
        fputc(choice, file);
        fputc(choice % 3 * 40, file);
        put_record(file, WIRE_PING, 0, nothing, 0);
        put_link_message(file, MSG_JOIN, &kinds, MESSAGE_REQUEST, 0, 0);
        put_link_message(file, MSG_FETCH_REQUEST, &kinds, MESSAGE_REQUEST, 8, choice % 2 * 8u);
        put_link_message(file, MSG_BATCH_REQUEST, &kinds, 0, 0, 0);
        put_record(file, WIRE_ACK, 0, nothing, sizeof nothing);
        if (choice & 1)
            put_record(file, WIRE_GOODBYE, 0, nothing, 0);
        FAIL_IF(fclose(file) != 0);
    }
}

/* One array as a file of an input: after a line that names it, unless it is the first. */
static void put_array(const char *scratch, FILE *file, const char *name, const char *descr,
                      uint32_t ndim, const uint64_t *shape, const void *data)
{
    char path[300];
    snprintf(path, sizeof path, "%s/array.npy", scratch);
    FAIL_IF(files_remove_tree(files_posix, path, NULL) != 0);
    FAIL_IF(npy_write(files_posix, path, descr, ndim, shape, data, NULL) != 0);
    if (name != NULL)
        fprintf(file, "%s%s\n", MEMORY_FILES_MARK, name);
    copy_file(path, file);
}

/* Partitions and trainers of as many nodes as the targets know of. */
static void make_numbers(const char *scratch)
{
    static const int32_t parts[7] = { 0, 1, 2, 0, 1, 2, 0 };
    static const int64_t wide[7] = { 2, 2, 1, 1, 0, 0, 0 };
    static const int32_t trainers[9] = { 0, 1, 2, -1, 0, 1, 2, -1, -1 };
    static const uint64_t nodes[1] = { 7 }, all[1] = { 9 };
    FILE *file = open_input("assign", "npy-4");
    fputc(1, file);
    put_array(scratch, file, NULL, "<i4", 1, nodes, parts);
    FAIL_IF(fclose(file) != 0);
    file = open_input("assign", "npy-8");
    fputc(1, file);
    put_array(scratch, file, NULL, "<i8", 1, nodes, wide);
    FAIL_IF(fclose(file) != 0);
    put_input("assign", "text", "\0000\n1\n 2 \n0\r\n1\n2\n0", 18);
    file = open_input("deal", "three");
    put_array(scratch, file, NULL, "<i4", 1, all, trainers);
    FAIL_IF(fclose(file) != 0);
}

/* A folder of arrays as other people leave them: edges, features, labels, splits. */
static void make_folder(const char *scratch)
{
    static const int64_t edges[8] = { 0, 1, 2, 3, 1, 2, 3, 0 };
    static const float feat[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    static const int64_t label[4] = { 0, 1, 1, 0 };
    static const uint8_t mask[4] = { 1, 0, 1, 0 };
    static const uint64_t pairs[2] = { 2, 4 }, rows[2] = { 4, 2 };
    static const char meta[] = MEMORY_FILES_MARK "meta.json\n{\"num_nodes\": 4}";
    for (int choice = 0; choice < 2; choice++) {
        FILE *file = open_input("folder", choice == 0 ? "bare" : "whole");
        put_array(scratch, file, NULL, "<i8", 2, pairs, edges);
        if (choice == 1) {
            put_array(scratch, file, "feat.npy", "<f4", 2, rows, feat);
            put_array(scratch, file, "label.npy", "<i8", 1, rows, label);
            put_array(scratch, file, "train_mask.npy", "|u1", 1, rows, mask);
            FAIL_IF(fwrite(meta, 1, sizeof meta - 1, file) != sizeof meta - 1);
        }
        FAIL_IF(fclose(file) != 0);
    }
}

/* Makes states of the model that fuzz_state.c makes. */
static void make_state(void)
{
    struct model_config config = model_config_default();
    struct trainer_position at = { .epoch = 3, .step = 5, .steps = 25, .mark = 100 };
    const float best[64] = { 1, 2, 3 };
    struct model *model;
    config.layers = 1;
    config.inputs = config.hidden = config.classes = 2;
    FAIL_IF(model_create(&model, &config, parallel_serial, NULL) != 0);
    for (int choice = 0; choice < 2; choice++) {
        void *bytes;
        size_t count;
        at.result.has_best = choice == 1;
        FAIL_IF(state_write(model, best, &at, 77, &bytes, &count) != 0);
        put_input("state", choice == 1 ? "best" : "first", bytes, count);
        free(bytes);
    }
    model_destroy(model);
}

static void make_checkpoint(void)
{
    struct checkpoint_part parts[] = { { 10, 0xffffffff }, { 0, 1 } };
    const struct checkpoint_manifest manifest = { 100, 3, 2, parts };
    char *text = checkpoint_to_json(&manifest);
    FAIL_IF(text == NULL);
    put_input("checkpoint", "two", text, strlen(text));
    free(text);
}

/* A ring of four nodes, without weights and with two columns of them. */
static void make_exchange(void)
{
    static const int32_t index[] = { 0, 2, 4, 6, 8 };
    static const int32_t adjacency[] = { 1, 3, 0, 2, 1, 3, 0, 2 };
    static const int32_t weights[] = { 1, 2, 1, 2, 1, 2, 1, 2 };
    for (uint32_t choice = 0; choice < 2; choice++) {
        _Alignas(METIS_EXCHANGE_ALIGN) char bytes[1024] = { 0 };
        struct metis_layout layout;
        const struct metis_exchange head = {
            .magic = METIS_EXCHANGE_MAGIC,
            .num_nodes = 4,
            .num_entries = 8,
            .num_parts = 2 + choice,
            .num_constraints = 1 + choice,
            .weighted = choice,
            .volume = choice,
        };
        FAIL_IF(metis_exchange_layout(&head, &layout) != NULL || layout.size > sizeof bytes);
        memcpy(bytes, &head, sizeof head);
        memcpy(bytes + layout.index, index, sizeof index);
        memcpy(bytes + layout.adjacency, adjacency, sizeof adjacency);
        if (choice == 1)
            memcpy(bytes + layout.weights, weights, sizeof weights);
        FAIL_IF(metis_exchange_check(bytes, layout.size, &layout) != NULL);
        put_input("exchange", choice == 1 ? "weighted" : "ring", bytes, layout.size);
    }
}

int main(int argc, char **argv)
{
    char scratch[64];
    if (argc != 2) {
        fprintf(stderr, "make_corpus FOLDER\n");
        return 2;
    }
    to = argv[1];
    FAIL_IF(scratch_folder(scratch, sizeof scratch, "corpus") == NULL);
    make_npy(scratch);
    make_safetensors(scratch);
    make_config();
    make_graph(scratch, false, 1, "one");
    make_graph(scratch, true, 2, "two");
    make_messages();
    make_batches();
    make_words();
    make_link();
    make_checkpoint();
    make_numbers(scratch);
    make_folder(scratch);
    make_state();
    make_exchange();
    FAIL_IF(files_remove_tree(files_posix, scratch, NULL) != 0);
    return 0;
}
