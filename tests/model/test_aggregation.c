/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over a block's edges and their transpose, against a dense matrix in double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <troupe/aggregate.h>

#include "graph/key.h"

enum { SRC = 900, DST = 700, EDGES = 4000, WIDTH = 19 };

struct example {
    uint32_t index[DST + 1], sources[EDGES];
    float weights[EDGES], from[SRC], to[DST], own[DST];
    float rows[SRC * WIDTH], grads[DST * WIDTH], added[DST * WIDTH];
    double dense[DST][SRC];
};

static void fill(float *values, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = 2 * key_float(key_mix(seed), i) - 1;
}

static struct example *make_example(void)
{
    struct example *made = calloc(1, sizeof *made);
    assert_non_null(made);
    /* Every fifth destination has no edge. */
    uint32_t e = 0;
    for (uint32_t d = 0; d < DST; d++) {
        made->index[d] = e;
        for (uint32_t i = 0; d % 5 != 0 && i < d % 11 && e < EDGES; i++, e++)
            made->sources[e] = i == 0 ? d : (uint32_t)(key_draw(4, e) % SRC);
    }
    made->index[DST] = e;
    fill(made->weights, EDGES, 1);
    for (size_t i = 0; i < EDGES; i++)
        made->weights[i] = fabsf(made->weights[i]);
    fill(made->from, SRC, 2);
    fill(made->to, DST, 3);
    fill(made->own, DST, 4);
    fill(made->rows, (size_t)SRC * WIDTH, 5);
    fill(made->grads, (size_t)DST * WIDTH, 6);
    fill(made->added, (size_t)DST * WIDTH, 7);
    return made;
}

struct scales {
    bool weights, mean, from, to, own, without_loops;
};

static struct tr_model_aggregation *open_example(const struct example *made, struct scales scales)
{
    struct tr_model_aggregation *aggregation;
    struct tr_error error = TR_ERROR_INIT;
    uint32_t edges = made->index[DST];
    assert_int_equal(tr_model_aggregation_create(SRC, DST, edges, made->index, made->sources,
                                                 &aggregation, &error),
                     0);
    assert_int_equal(tr_model_aggregation_set_weights(
                         aggregation, scales.weights ? made->weights : NULL, edges, &error),
                     0);
    assert_int_equal(tr_model_aggregation_set_scales(
                         aggregation, scales.from ? made->from : NULL, scales.to ? made->to : NULL,
                         scales.own ? made->own : NULL, scales.without_loops, &error),
                     0);
    if (scales.mean)
        assert_int_equal(tr_model_aggregation_set_mean(aggregation, &error), 0);
    return aggregation;
}

static void make_dense(struct example *made, struct scales scales)
{
    memset(made->dense, 0, sizeof made->dense);
    for (uint32_t d = 0; d < DST; d++) {
        double sum = 0;
        for (uint32_t e = made->index[d]; e < made->index[d + 1]; e++)
            sum += scales.weights ? (double)made->weights[e] : 1.0;
        for (uint32_t e = made->index[d]; e < made->index[d + 1]; e++) {
            uint32_t s = made->sources[e];
            if (scales.without_loops && s == d)
                continue;
            double factor = scales.weights ? (double)made->weights[e] : 1.0;
            factor *= scales.from ? (double)made->from[s] : 1.0;
            factor *= scales.to ? (double)made->to[d] : 1.0;
            made->dense[d][s] += scales.mean ? factor / sum : factor;
        }
        made->dense[d][d] += scales.own ? (double)made->own[d] : 0.0;
    }
}

static void check_products(struct example *made, struct scales scales)
{
    struct tr_error error = TR_ERROR_INIT;
    float *out = malloc(sizeof made->grads), *back = malloc(sizeof made->rows);
    struct tr_model_aggregation *aggregation = open_example(made, scales);
    make_dense(made, scales);
    assert_int_equal(
        tr_model_aggregation_forward(aggregation, NULL, WIDTH, made->rows, SRC, out, DST, &error),
        0);
    assert_int_equal(tr_model_aggregation_backward(aggregation, NULL, WIDTH, made->grads, DST,
                                                   made->added, DST, back, SRC, &error),
                     0);
    for (uint32_t i = 0; i < WIDTH; i++) {
        for (uint32_t d = 0; d < DST; d++) {
            double sum = 0;
            for (uint32_t s = 0; s < SRC; s++)
                sum += made->dense[d][s] * (double)made->rows[s * WIDTH + i];
            assert_true(fabs(sum - (double)out[d * WIDTH + i]) < 1e-5);
        }
        for (uint32_t s = 0; s < SRC; s++) {
            double sum = s < DST ? (double)made->added[s * WIDTH + i] : 0.0;
            for (uint32_t d = 0; d < DST; d++)
                sum += made->dense[d][s] * (double)made->grads[d * WIDTH + i];
            assert_true(fabs(sum - (double)back[s * WIDTH + i]) < 1e-5);
        }
    }
    tr_model_aggregation_destroy(aggregation);
    free(out);
    free(back);
}

static void test_sums_are_products_with_a_dense_matrix(void **state)
{
    (void)state;
    struct example *made = make_example();
    check_products(made, (struct scales){ 0 });
    check_products(made, (struct scales){ .weights = true });
    check_products(made, (struct scales){ .mean = true });
    check_products(made, (struct scales){ .weights = true, .mean = true });
    check_products(made, (struct scales){ .from = true, .to = true });
    check_products(
        made, (struct scales){
                  .weights = true, .from = true, .to = true, .own = true, .without_loops = true });
    free(made);
}

static void run_both(const struct example *made, struct tr_model_threads *threads, float *out,
                     float *back)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_model_aggregation *aggregation = open_example(
        made, (struct scales){ .weights = true, .from = true, .to = true });
    assert_int_equal(tr_model_aggregation_forward(aggregation, threads, WIDTH, made->rows, SRC, out,
                                                  DST, &error),
                     0);
    assert_int_equal(tr_model_aggregation_backward(aggregation, threads, WIDTH, made->grads, DST,
                                                   NULL, 0, back, SRC, &error),
                     0);
    tr_model_aggregation_destroy(aggregation);
}

static void test_threads_change_no_bit(void **state)
{
    (void)state;
    struct example *made = make_example();
    static float out[2][DST * WIDTH], back[2][SRC * WIDTH];
    run_both(made, NULL, out[0], back[0]);
    for (uint32_t count = 1; count <= 5; count++) {
        struct tr_model_threads *threads;
        struct tr_error error = TR_ERROR_INIT;
        assert_int_equal(tr_model_threads_create(count, &threads, &error), 0);
        memset(out[1], 0xff, sizeof out[1]);
        memset(back[1], 0xff, sizeof back[1]);
        run_both(made, threads, out[1], back[1]);
        assert_memory_equal(out[0], out[1], sizeof out[0]);
        assert_memory_equal(back[0], back[1], sizeof back[0]);
        tr_model_threads_destroy(threads);
    }
    free(made);
}

/* The child of a fork has none of the threads: it computes on its own. */
static void test_the_child_of_a_fork_computes_alone(void **state)
{
    (void)state;
    struct example *made = make_example();
    static float out[2][DST * WIDTH], back[2][SRC * WIDTH];
    struct tr_model_threads *threads;
    struct tr_error error = TR_ERROR_INIT;
    assert_int_equal(tr_model_threads_create(3, &threads, &error), 0);
    run_both(made, threads, out[0], back[0]);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        run_both(made, threads, out[1], back[1]);
        tr_model_threads_destroy(threads);
        _exit(memcmp(out[0], out[1], sizeof out[0]) != 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    tr_model_threads_destroy(threads);
    free(made);
}

static void test_weights_may_change(void **state)
{
    (void)state;
    struct example *made = make_example();
    struct tr_error error = TR_ERROR_INIT;
    static float first[SRC * WIDTH], second[SRC * WIDTH];
    struct tr_model_aggregation *aggregation = open_example(made, (struct scales){ 0 });
    float *to[2] = { first, second };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tr_model_aggregation_set_weights(
                             aggregation, i == 0 ? NULL : made->weights, made->index[DST], &error),
                         0);
        assert_int_equal(tr_model_aggregation_backward(aggregation, NULL, WIDTH, made->grads, DST,
                                                       NULL, 0, to[i], SRC, &error),
                         0);
    }
    assert_memory_not_equal(first, second, sizeof first);
    tr_model_aggregation_destroy(aggregation);
    free(made);
}

static void refuses(const char *what, int result, const struct tr_error *error)
{
    assert_int_equal(result, TR_EINVAL);
    if (strstr(error->message, what) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error->message, what);
}

static void test_what_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_model_aggregation *no, *aggregation;
    const uint32_t index[] = { 0, 2, 3 }, falls[] = { 0, 4, 3 }, late[] = { 1, 2, 3 };
    const uint32_t sources[] = { 0, 1, 2 }, above[] = { 0, 3, 2 };
    refuses("NULL", tr_model_aggregation_create(3, 2, 3, NULL, sources, &no, &error), &error);
    refuses("NULL", tr_model_aggregation_create(3, 2, 3, index, NULL, &no, &error), &error);
    refuses("goes from 0 to 3", tr_model_aggregation_create(3, 2, 4, index, sources, &no, &error),
            &error);
    refuses("goes from 1 to 3", tr_model_aggregation_create(3, 2, 3, late, sources, &no, &error),
            &error);
    refuses("falls from 4 to 3 at destination 1",
            tr_model_aggregation_create(3, 2, 3, falls, sources, &no, &error), &error);
    refuses("source 3; there are 3",
            tr_model_aggregation_create(3, 2, 3, index, above, &no, &error), &error);
    assert_null(no);

    float rows[6] = { 0 }, out[4], weights[3] = { 0 };
    assert_int_equal(tr_model_aggregation_create(3, 2, 3, index, sources, &aggregation, &error), 0);
    refuses("2 weights of 3 edges",
            tr_model_aggregation_set_weights(aggregation, weights, 2, &error), &error);
    refuses("the block has 3 and 2",
            tr_model_aggregation_forward(aggregation, NULL, 2, rows, 2, out, 2, &error), &error);
    refuses("the block has 3 and 2",
            tr_model_aggregation_backward(aggregation, NULL, 2, out, 3, NULL, 0, rows, 3, &error),
            &error);
    refuses("NULL", tr_model_aggregation_forward(aggregation, NULL, 2, NULL, 3, out, 2, &error),
            &error);
    refuses("4 rows are to be added to 3",
            tr_model_aggregation_backward(aggregation, NULL, 2, out, 2, rows, 4, rows, 3, &error),
            &error);
    tr_model_aggregation_destroy(aggregation);

    assert_int_equal(tr_model_aggregation_create(3, 2, 3, index, sources, &aggregation, &error), 0);
    tr_model_aggregation_destroy(aggregation);
    const uint32_t wide[] = { 0, 1, 1, 1 }, from_none[] = { 0 };
    assert_int_equal(tr_model_aggregation_create(1, 3, 1, wide, from_none, &aggregation, &error),
                     0);
    refuses("not the first of 1 sources",
            tr_model_aggregation_set_scales(aggregation, NULL, NULL, weights, false, &error),
            &error);
    tr_model_aggregation_destroy(aggregation);
    tr_model_aggregation_destroy(NULL);

    struct tr_model_threads *threads;
    assert_int_equal(tr_model_threads_create(TR_AGGREGATION_THREADS_MAX + 1, &threads, &error),
                     TR_ERANGE);
    assert_null(threads);
    assert_int_equal(tr_model_threads_create(0, &threads, &error), 0);
    tr_model_threads_destroy(threads);
    tr_model_threads_destroy(NULL);
}

/* Of a destination without edges, and of a block without anything. */
static void test_nothing_is_zero(void **state)
{
    (void)state;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_model_aggregation *aggregation;
    const uint32_t index[] = { 0, 0 };
    const float row[2] = { 1, 2 };
    float out[2] = { 3, 4 };
    assert_int_equal(tr_model_aggregation_create(1, 1, 0, index, NULL, &aggregation, &error), 0);
    assert_int_equal(tr_model_aggregation_set_mean(aggregation, &error), 0);
    assert_int_equal(tr_model_aggregation_forward(aggregation, NULL, 2, row, 1, out, 1, &error), 0);
    assert_true(out[0] == 0.0f && out[1] == 0.0f);
    tr_model_aggregation_destroy(aggregation);
    assert_int_equal(tr_model_aggregation_create(0, 0, 0, index, NULL, &aggregation, &error), 0);
    assert_int_equal(tr_model_aggregation_forward(aggregation, NULL, 2, NULL, 0, NULL, 0, &error),
                     0);
    assert_int_equal(
        tr_model_aggregation_backward(aggregation, NULL, 2, NULL, 0, NULL, 0, NULL, 0, &error), 0);
    tr_model_aggregation_destroy(aggregation);
}

/* Rows enough for lanes of several blocks each, and for a last block that is not full. */
enum { MANY_DST = 20000, MANY_SRC = 21000, IN = 5, OUT = 3 };

struct many {
    uint32_t index[MANY_DST + 1], sources[2 * MANY_DST];
    float rows[MANY_SRC * IN], neigh[OUT * IN], own[OUT * IN], bias[OUT];
    float out_grads[MANY_DST * OUT];
};

struct product_run {
    float sums[MANY_DST * IN], out[MANY_DST * OUT];
    float neigh_grads[OUT * IN], own_grads[OUT * IN], bias_grads[OUT], row_grads[MANY_SRC * IN];
};

static struct many *make_many(void)
{
    struct many *made = calloc(1, sizeof *made);
    assert_non_null(made);
    for (uint32_t d = 0; d < MANY_DST; d++) {
        made->index[d + 1] = made->index[d] + d % 3;
        for (uint32_t e = made->index[d]; e < made->index[d + 1]; e++)
            made->sources[e] = (uint32_t)(key_draw(9, e) % MANY_SRC);
    }
    fill(made->rows, (size_t)MANY_SRC * IN, 11);
    fill(made->neigh, (size_t)OUT * IN, 12);
    fill(made->own, (size_t)OUT * IN, 13);
    fill(made->bias, OUT, 14);
    fill(made->out_grads, (size_t)MANY_DST * OUT, 15);
    return made;
}

static struct tr_model_aggregation *open_many(const struct many *made)
{
    struct tr_model_aggregation *aggregation;
    struct tr_error error = TR_ERROR_INIT;
    assert_int_equal(tr_model_aggregation_create(MANY_SRC, MANY_DST, made->index[MANY_DST],
                                                 made->index, made->sources, &aggregation, &error),
                     0);
    assert_int_equal(tr_model_aggregation_set_mean(aggregation, &error), 0);
    return aggregation;
}

static void run_product(const struct many *made, bool with_own, struct tr_model_threads *threads,
                        struct product_run *run)
{
    struct tr_model_aggregation *aggregation = open_many(made);
    struct tr_model_product *product;
    struct tr_error error = TR_ERROR_INIT;
    memset(run, 0xff, sizeof *run);
    assert_int_equal(tr_model_product_create(aggregation, IN, OUT, &product, &error), 0);
    assert_int_equal(tr_model_product_set_weights(product, made->neigh, with_own ? made->own : NULL,
                                                  with_own ? made->bias : NULL, &error),
                     0);
    assert_int_equal(tr_model_product_set_gradients(product, run->neigh_grads,
                                                    with_own ? run->own_grads : NULL,
                                                    run->bias_grads, &error),
                     0);
    assert_int_equal(tr_model_product_forward(product, threads, made->rows, MANY_SRC, run->sums,
                                              run->out, MANY_DST, &error),
                     0);
    assert_int_equal(tr_model_product_backward(product, threads, made->rows, MANY_SRC, run->sums,
                                               made->out_grads, MANY_DST, run->row_grads, &error),
                     0);
    tr_model_product_destroy(product);
    tr_model_aggregation_destroy(aggregation);
}

static void check_out(const struct many *made, const struct product_run *run, bool with_own)
{
    for (size_t d = 0; d < MANY_DST; d++)
        for (size_t o = 0; o < OUT; o++) {
            double wanted = with_own ? (double)made->bias[o] : 0.0;
            for (size_t i = 0; i < IN; i++) {
                wanted += (double)run->sums[d * IN + i] * (double)made->neigh[o * IN + i];
                wanted += with_own ? (double)made->rows[d * IN + i] * (double)made->own[o * IN + i]
                                   : 0.0;
            }
            assert_true(fabs(wanted - (double)run->out[d * OUT + o]) < 1e-5);
        }
}

static void check_weight_grads(const struct many *made, const struct product_run *run,
                               bool with_own)
{
    for (size_t o = 0; o < OUT; o++) {
        double bias = 0;
        for (size_t d = 0; d < MANY_DST; d++)
            bias += (double)made->out_grads[d * OUT + o];
        assert_true(fabs(bias - (double)run->bias_grads[o]) < 1e-2);
        for (size_t i = 0; i < IN; i++) {
            double neigh = 0, own = 0;
            for (size_t d = 0; d < MANY_DST; d++) {
                double grad = (double)made->out_grads[d * OUT + o];
                neigh += grad * (double)run->sums[d * IN + i];
                own += grad * (double)made->rows[d * IN + i];
            }
            assert_true(fabs(neigh - (double)run->neigh_grads[o * IN + i]) < 1e-2);
            if (with_own)
                assert_true(fabs(own - (double)run->own_grads[o * IN + i]) < 1e-2);
        }
    }
}

/* By the sums' own transpose, of gradients that are multiplied here. */
static void check_row_grads(const struct many *made, const struct product_run *run, bool with_own)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_model_aggregation *aggregation = open_many(made);
    float *through = calloc((size_t)MANY_DST * IN, sizeof *through);
    float *own = calloc((size_t)MANY_DST * IN, sizeof *own);
    float *wanted = calloc((size_t)MANY_SRC * IN, sizeof *wanted);
    for (size_t d = 0; d < MANY_DST; d++)
        for (size_t i = 0; i < IN; i++)
            for (size_t o = 0; o < OUT; o++) {
                through[d * IN + i] += made->out_grads[d * OUT + o] * made->neigh[o * IN + i];
                own[d * IN + i] += made->out_grads[d * OUT + o] * made->own[o * IN + i];
            }
    assert_int_equal(tr_model_aggregation_backward(aggregation, NULL, IN, through, MANY_DST,
                                                   with_own ? own : NULL, with_own ? MANY_DST : 0,
                                                   wanted, MANY_SRC, &error),
                     0);
    for (size_t i = 0; i < (size_t)MANY_SRC * IN; i++)
        assert_true(fabsf(wanted[i] - run->row_grads[i]) < 1e-4f);
    tr_model_aggregation_destroy(aggregation);
    free(through);
    free(own);
    free(wanted);
}

static void test_a_product_is_that_of_the_sums_on_any_threads(void **state)
{
    (void)state;
    struct many *made = make_many();
    struct product_run *first = malloc(sizeof *first), *other = malloc(sizeof *other);
    for (int with_own = 0; with_own < 2; with_own++) {
        run_product(made, with_own, NULL, first);
        check_out(made, first, with_own);
        check_weight_grads(made, first, with_own);
        check_row_grads(made, first, with_own);
        for (uint32_t count = 2; count <= 5; count += 3) {
            struct tr_model_threads *threads;
            struct tr_error error = TR_ERROR_INIT;
            assert_int_equal(tr_model_threads_create(count, &threads, &error), 0);
            run_product(made, with_own, threads, other);
            assert_memory_equal(first, other, sizeof *first);
            tr_model_threads_destroy(threads);
        }
    }
    free(first);
    free(other);
    free(made);
}

static void test_products_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct tr_error error = TR_ERROR_INIT;
    struct tr_model_aggregation *aggregation;
    struct tr_model_product *product;
    const uint32_t index[] = { 0, 1, 2 }, sources[] = { 0, 0 };
    float rows[4] = { 0 }, weights[4] = { 0 }, out[4];
    assert_int_equal(tr_model_aggregation_create(1, 2, 2, index, sources, &aggregation, &error), 0);
    refuses("rows of 0 and 2 numbers", tr_model_product_create(aggregation, 0, 2, &product, &error),
            &error);
    refuses("rows of 2 and 0 numbers", tr_model_product_create(aggregation, 2, 0, &product, &error),
            &error);
    assert_null(product);
    assert_int_equal(tr_model_product_create(aggregation, 2, 2, &product, &error), 0);
    refuses("has no weights", tr_model_product_forward(product, NULL, rows, 1, out, out, 2, &error),
            &error);
    refuses("NULL", tr_model_product_set_weights(product, NULL, NULL, NULL, &error), &error);
    refuses("not the first of 1 sources",
            tr_model_product_set_weights(product, weights, weights, NULL, &error), &error);
    assert_int_equal(tr_model_product_set_weights(product, weights, NULL, NULL, &error), 0);
    refuses("own rows", tr_model_product_set_gradients(product, NULL, weights, NULL, &error),
            &error);
    refuses("the block has 1 and 2",
            tr_model_product_forward(product, NULL, rows, 1, out, out, 1, &error), &error);
    refuses("the sums are NULL",
            tr_model_product_backward(product, NULL, rows, 1, NULL, out, 2, NULL, &error), &error);
    /* Nothing is asked for. */
    assert_int_equal(tr_model_product_backward(product, NULL, rows, 1, rows, out, 2, NULL, &error),
                     0);
    tr_model_product_destroy(product);
    tr_model_product_destroy(NULL);
    tr_model_aggregation_destroy(aggregation);
}

static void test_relu_and_dropout_follow_from_the_key(void **state)
{
    (void)state;
    enum { ROWS = 2000, COLUMNS = 50, COUNT = ROWS * COLUMNS };
    static float first[COUNT], rows[2][COUNT], grads[COUNT], back[COUNT];
    struct tr_error error = TR_ERROR_INIT;
    struct tr_model_threads *threads;
    assert_int_equal(tr_model_threads_create(3, &threads, &error), 0);
    fill(first, COUNT, 1);
    fill(grads, COUNT, 2);
    memcpy(rows, first, sizeof first);
    memcpy(rows[1], first, sizeof first);
    assert_int_equal(tr_model_activate(NULL, rows[0], ROWS, COLUMNS, 0.25f, 7, &error), 0);
    assert_int_equal(tr_model_activate(threads, rows[1], ROWS, COLUMNS, 0.25f, 7, &error), 0);
    assert_memory_equal(rows[0], rows[1], sizeof first);
    assert_int_equal(
        tr_model_activate_backward(threads, rows[0], grads, ROWS, COLUMNS, 0.25f, back, &error), 0);
    size_t above = 0, kept = 0;
    for (size_t i = 0; i < COUNT; i++) {
        bool is_kept = rows[0][i] != 0.0f;
        above += first[i] > 0;
        kept += is_kept;
        if (is_kept)
            assert_true(fabsf(rows[0][i] - first[i] / 0.75f) < 1e-6f && first[i] > 0);
        assert_true(fabsf(back[i] - (is_kept ? grads[i] / 0.75f : 0.0f)) < 1e-6f);
    }
    /* Five deviations of 50,000 draws. */
    assert_true(fabs((double)kept / (double)above - 0.75) < 0.01);
    memcpy(rows[1], first, sizeof first);
    assert_int_equal(tr_model_activate(threads, rows[1], ROWS, COLUMNS, 0.25f, 8, &error), 0);
    assert_memory_not_equal(rows[0], rows[1], sizeof first);
    assert_int_equal(tr_model_activate(NULL, rows[0], 1, 1, 1.0f, 7, &error), TR_ERANGE);
    assert_int_equal(tr_model_activate(NULL, rows[0], 1, 1, -0.1f, 7, &error), TR_ERANGE);
    refuses("NULL", tr_model_activate(NULL, NULL, 1, 1, 0.1f, 7, &error), &error);
    refuses("NULL", tr_model_activate_backward(NULL, first, NULL, 1, 1, 0.1f, back, &error),
            &error);
    tr_model_threads_destroy(threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_products_with_a_dense_matrix),
        cmocka_unit_test(test_threads_change_no_bit),
        cmocka_unit_test(test_the_child_of_a_fork_computes_alone),
        cmocka_unit_test(test_weights_may_change),
        cmocka_unit_test(test_what_does_not_fit_is_refused),
        cmocka_unit_test(test_nothing_is_zero),
        cmocka_unit_test(test_a_product_is_that_of_the_sums_on_any_threads),
        cmocka_unit_test(test_products_that_do_not_fit_are_refused),
        cmocka_unit_test(test_relu_and_dropout_follow_from_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
