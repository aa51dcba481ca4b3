/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions are written a line a node, and nothing of a failure is taken for a success. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/predictions.h"
#include "tests/scratch.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    return scratch_folder(folder, sizeof folder, "test") == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    return files_remove_tree(files_posix, folder, NULL);
}

/* What is written of those outputs; free it. */
static char *write_text(enum predictions_format format, enum model_loss loss, float *data,
                        size_t rows, size_t cols)
{
    const struct tensor outputs = { .data = data, .rows = rows, .cols = cols };
    struct error error = { 0 };
    char *path = files_join(folder, "out"), *text;
    size_t size;
    assert_int_equal(files_remove_tree(files_posix, path, NULL), 0);
    assert_int_equal(predictions_write(files_posix, path, format, loss, &outputs, NULL, &error), 0);
    assert_int_equal(files_read_all(files_posix, path, 1 << 28, &text, &size, &error), 0);
    assert_int_equal(strlen(text), size);
    free(path);
    return text;
}

static void expect_text(enum predictions_format format, enum model_loss loss, float *data,
                        size_t rows, size_t cols, const char *expected)
{
    char *text = write_text(format, loss, data, rows, cols);
    assert_string_equal(text, expected);
    free(text);
}

static void a_line_has_the_class_and_its_probability(void **state)
{
    (void)state;
    /* The logarithms of 1, 2 and 5; equals, of which the first counts; numbers whose exponentials
     * overflow; and no number. */
    float data[] = { 0, 0.69314718f, 1.60943791f, 3, 3, 3, 0, 1000, -1000, 0, NAN, 0 };
    expect_text(PREDICTIONS_CSV, MODEL_SOFTMAX, data, 4, 3,
                "node,class,probability\n0,2,0.625000\n1,0,0.333333\n2,1,1.000000\n3,0,\n");
    expect_text(PREDICTIONS_JSONL, MODEL_SOFTMAX, data, 4, 3,
                "{\"node\":0,\"class\":2,\"probability\":0.625000}\n"
                "{\"node\":1,\"class\":0,\"probability\":0.333333}\n"
                "{\"node\":2,\"class\":1,\"probability\":1.000000}\n"
                "{\"node\":3,\"class\":0,\"probability\":null}\n");
    expect_text(PREDICTIONS_CSV, MODEL_SOFTMAX, data, 0, 3, "node,class,probability\n");
    expect_text(PREDICTIONS_JSONL, MODEL_SOFTMAX, data, 0, 3, "");
}

static void several_classes_have_a_probability_each(void **state)
{
    (void)state;
    /* The logits of 3/4, 1/2 and 1/4. */
    float data[] = { 1.0986123f, 0, -1.0986123f, 1000, -1000, 1 };
    expect_text(PREDICTIONS_CSV, MODEL_SIGMOID, data, 2, 3,
                "node,probability_0,probability_1,probability_2\n"
                "0,0.750000,0.500000,0.250000\n1,1.000000,0.000000,0.731059\n");
    expect_text(PREDICTIONS_JSONL, MODEL_SIGMOID, data, 2, 3,
                "{\"node\":0,\"classes\":[0],\"probabilities\":[0.750000,0.500000,0.250000]}\n"
                "{\"node\":1,\"classes\":[0,2],\"probabilities\":[1.000000,0.000000,0.731059]}\n");
}

/* Far more than the writer holds at a time, and rows that are wider than that. */
static void no_line_is_lost_between_pieces(void **state)
{
    (void)state;
    size_t rows = 30000, cols = 20000;
    float *data = calloc(rows > cols ? 2 * rows : 2 * cols, sizeof *data);
    for (size_t i = 0; i < rows; i++)
        data[2 * i + i % 2] = 1;
    char *text = write_text(PREDICTIONS_CSV, MODEL_SOFTMAX, data, rows, 2), *at = text;
    at = strchr(at, '\n') + 1;
    for (size_t i = 0; i < rows; i++) {
        char expected[64];
        int length = snprintf(expected, sizeof expected, "%zu,%zu,0.731059\n", i, i % 2);
        assert_memory_equal(at, expected, (size_t)length);
        at += length;
    }
    assert_int_equal(*at, '\0');
    free(text);
    memset(data, 0, 2 * cols * sizeof *data);
    text = write_text(PREDICTIONS_CSV, MODEL_SIGMOID, data, 1, cols);
    size_t values = 0;
    for (at = strchr(text, '\n'); (at = strstr(at, ",0.500000")) != NULL; at++)
        values++;
    assert_int_equal(values, cols);
    free(text);
    free(data);
}

static ssize_t full_pwrite(struct files *self, int fd, const void *data, size_t size,
                           uint64_t offset)
{
    (void)self, (void)fd, (void)data;
    return offset + size > 100000 ? -ENOSPC : (ssize_t)size;
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    struct files full = *files_posix;
    full.pwrite = full_pwrite;
    float *data = calloc(20000, sizeof *data);
    const struct tensor outputs = { .data = data, .rows = 10000, .cols = 2 };
    struct error error = { 0 };
    char *path = files_join(folder, "full");
    assert_int_equal(
        predictions_write(&full, path, PREDICTIONS_CSV, MODEL_SOFTMAX, &outputs, NULL, &error),
        TR_ENOSPC);
    assert_non_null(strstr(error.text, "full"));
    assert_int_equal(predictions_write(files_posix, path, PREDICTIONS_CSV, MODEL_SOFTMAX, &outputs,
                                       NULL, &error),
                     TR_EEXIST);
    free(path);
    free(data);
}

static void the_name_says_the_format(void **state)
{
    (void)state;
    enum predictions_format format;
    assert_true(predictions_find_format("a/b.csv", &format) && format == PREDICTIONS_CSV);
    assert_true(predictions_find_format("b.jsonl", &format) && format == PREDICTIONS_JSONL);
    assert_false(predictions_find_format("b.npy", &format));
    assert_false(predictions_find_format("csv", &format));
    assert_false(predictions_find_format("b.csv.gz", &format));
    assert_false(predictions_find_format("", &format));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_the_class_and_its_probability),
        cmocka_unit_test(several_classes_have_a_probability_each),
        cmocka_unit_test(no_line_is_lost_between_pieces),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(the_name_says_the_format),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
