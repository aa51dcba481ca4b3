/* SPDX-License-Identifier: Apache-2.0 */
/* Files come back as they were written, equal tensors give equal bytes, lies are refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/model_file.h"
#include "model/safetensors.h"
#include "tests/scratch.h"

static char folder[44];
static char path[64];

static int enter(void **state)
{
    (void)state;
    if (scratch_folder(folder, sizeof folder, "safetensors") == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    return files_remove_tree(files_posix, folder, NULL);
}

static void test_round_trip_in_any_order(void **state)
{
    (void)state;
    const float a[] = { 1, 2, 3, 4, 5, 6 };
    const int64_t b[] = { -1, INT64_MAX };
    const uint8_t c[] = { 7, 8, 9 };
    struct safetensor one[] = { { "zebra", TR_F32, 2, { 2, 3 }, a, 0 },
                                { "a \"quoted\" name", TR_I64, 1, { 2 }, b, 0 },
                                { "bytes", TR_U8, 1, { 3 }, c, 0 },
                                { "empty", TR_F64, 2, { 0, 5 }, NULL, 0 },
                                { "scalar", TR_F32, 0, { 0 }, a, 0 } };
    struct safetensor two[] = { one[4], one[2], one[0], one[3], one[1] };
    char *first, *second;
    size_t first_size, second_size;
    assert_int_equal(safetensors_write(files_posix, path, one, 5, NULL), 0);
    assert_int_equal(files_read_all(files_posix, path, 1 << 20, &first, &first_size, NULL), 0);
    assert_int_equal(safetensors_write(files_posix, path, two, 5, NULL), 0);
    assert_int_equal(files_read_all(files_posix, path, 1 << 20, &second, &second_size, NULL), 0);
    assert_int_equal(first_size, second_size);
    assert_memory_equal(first, second, first_size);
    free(first);
    free(second);
    struct safetensors file;
    struct error error = { 0 };
    if (safetensors_open(&file, files_posix, path, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(file.count, 5);
    for (int i = 0; i < 5; i++) {
        const struct safetensor *tensor = safetensors_find(&file, one[i].name);
        assert_non_null(tensor);
        assert_int_equal(tensor->dtype, one[i].dtype);
        assert_int_equal(tensor->ndim, one[i].ndim);
        assert_memory_equal(tensor->shape, one[i].shape, tensor->ndim * sizeof(uint64_t));
        if (tensor->bytes > 0)
            assert_memory_equal(tensor->data, one[i].data, tensor->bytes);
    }
    assert_null(safetensors_find(&file, "none"));
    safetensors_close(&file);
}

static void write_raw(uint64_t length, const char *header, size_t data_bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < 8; i++)
        fputc((int)(length >> (8 * i) & 255), file);
    fputs(header, file);
    for (size_t i = 0; i < data_bytes; i++)
        fputc('x', file);
    assert_int_equal(fclose(file), 0);
}

#define T(offsets) "{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" offsets "}"

static void test_malformed_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data_bytes;
    } cases[] = {
        { "[]", 0 },
        { "", 0 },
        { " {}", 0 },
        { "{\"a\":", 0 },
        { "{\"a\":1}", 0 },
        { "{\"a\":{}}", 0 },
        { "{}", 1 },
        { "{\"a\":" T("[0,8]") "}", 7 },
        { "{\"a\":" T("[0,8]") "}", 9 },
        { "{\"a\":" T("[0,4]") "}", 4 },
        { "{\"a\":" T("[4,12]") "}", 12 },
        { "{\"a\":" T("[8,0]") "}", 8 },
        { "{\"a\":" T("[-8,0]") "}", 8 },
        { "{\"a\":" T("[0.0,8]") "}", 8 },
        { "{\"a\":" T("[0,8,8]") "}", 8 },
        { "{\"a\":" T("8") "}", 8 },
        { "{\"a\":" T("[0,8]") ",\"a\":" T("[8,16]") "}", 16 },
        { "{\"a\":" T("[0,8]") ",\"b\":" T("[0,8]") "}", 8 },
        { "{\"a\":" T("[0,8]") ",\"b\":" T("[4,12]") "}", 12 },
        { "{\"a\":" T("[0,8]") ",\"b\":" T("[12,20]") "}", 20 },
        { "{\"a\":{\"dtype\":\"F33\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8 },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", 8 },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8 },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[\"2\"],\"data_offsets\":[0,8]}}", 8 },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],"
          "\"data_offsets\":[0,8]}}",
          8 },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4 },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"more\":1}}", 4 },
        { "{\"__metadata__\":1}", 0 },
        { "{\"__metadata__\":{\"a\":1}}", 0 },
    };
    struct safetensors file;
    struct error error;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_raw(strlen(cases[i].header), cases[i].header, cases[i].data_bytes);
        if (safetensors_open(&file, files_posix, path, &error) != TR_EFORMAT)
            fail_msg("accepted: %s + %zu bytes", cases[i].header, cases[i].data_bytes);
        assert_non_null(strstr(error.text, path));
    }
    write_raw(UINT64_MAX, "{}", 0);
    assert_int_equal(safetensors_open(&file, files_posix, path, &error), TR_EFORMAT);
    write_raw(3, "{}", 0);
    assert_int_equal(safetensors_open(&file, files_posix, path, &error), TR_EFORMAT);
    assert_int_equal(truncate(path, 7), 0);
    assert_int_equal(safetensors_open(&file, files_posix, path, &error), TR_EFORMAT);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(safetensors_open(&file, files_posix, path, &error), TR_EFORMAT);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(safetensors_open(&file, files_posix, path, &error), TR_ENOENT);
}

static void test_equal_names_are_refused(void **state)
{
    (void)state;
    const float a[] = { 1 };
    struct safetensor same[] = { { "a", TR_F32, 1, { 1 }, a, 0 }, { "a", TR_F32, 1, { 1 }, a, 0 } };
    struct error error;
    assert_int_equal(safetensors_write(files_posix, path, same, 2, &error), TR_EINVAL);
    assert_false(files_exists(files_posix, path));
}

static struct model *make_model(enum model_kind kind, uint64_t seed, uint32_t hidden)
{
    struct model_config config = model_config_default();
    config.kind = kind;
    config.inputs = 3;
    config.hidden = hidden;
    config.classes = 2;
    config.seed = seed;
    struct model *model;
    assert_int_equal(model_create(&model, &config, parallel_serial, NULL), 0);
    return model;
}

static void test_models_come_back(void **state)
{
    (void)state;
    struct model *saved = make_model(MODEL_SAGE, 1, 5), *other = make_model(MODEL_SAGE, 2, 5);
    struct model *wider = make_model(MODEL_SAGE, 1, 6), *gcn = make_model(MODEL_GCN, 1, 5);
    struct error error;
    size_t count;
    model_gradients(saved, &count);
    assert_memory_not_equal(model_weights(saved), model_weights(other), count * sizeof(float));
    assert_int_equal(model_save(saved, files_posix, path, &error), 0);
    assert_int_equal(model_load(other, files_posix, path, &error), 0);
    assert_memory_equal(model_weights(saved), model_weights(other), count * sizeof(float));
    assert_int_equal(model_load(wider, files_posix, path, &error), TR_EMISMATCH);
    assert_int_equal(model_load(gcn, files_posix, path, &error), TR_EMISMATCH);
    struct safetensors file;
    assert_int_equal(safetensors_open(&file, files_posix, path, NULL), 0);
    assert_non_null(safetensors_find(&file, "layers.0.self.weight"));
    assert_non_null(safetensors_find(&file, "layers.1.bias"));
    assert_int_equal(safetensors_find(&file, "layers.1.neigh.weight")->shape[0], 2);
    safetensors_close(&file);
    model_weights(saved)[4] = (float)NAN;
    assert_int_equal(model_save(saved, files_posix, path, &error), 0);
    assert_int_equal(model_load(other, files_posix, path, &error), TR_EFORMAT);
    model_destroy(saved);
    model_destroy(other);
    model_destroy(wider);
    model_destroy(gcn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed_files_are_refused),
        cmocka_unit_test(test_equal_names_are_refused),
        cmocka_unit_test(test_round_trip_in_any_order),
        cmocka_unit_test(test_models_come_back),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
