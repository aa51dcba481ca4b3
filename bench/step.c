/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/step.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "graph/key.h"
#include "model/matmul.h"
#include "model/model.h"
#include "runtime/base/hotmem.h"

#define LAYERS 3
#define INPUTS 100
#define HIDDEN 256
#define CLASSES 47
#define REPEATS_MAX 101

static const uint32_t fanouts[LAYERS] = { 5, 10, 15 }; /* input layer first */

/* The made batch and what it needs; all zero = nothing held. */
struct made {
    uint32_t *position; /* [num_nodes], of a node in the batch, or UINT32_MAX */
    uint32_t counts[LAYERS + 1];
    uint32_t *index[LAYERS];
    uint32_t *sources[LAYERS];
    size_t rows_bytes;
    float *rows;
    float *labels;
    struct block_edges edges[LAYERS];
    struct block blocks[LAYERS];
    struct batch_nodes nodes;
    struct mini_batch batch;
};

/* A node with the skew of the big graph: N u^2, ids scattered by a keyed multiplication. */
static uint64_t draw_node(uint64_t key, uint64_t draw, uint64_t num_nodes)
{
    double u = key_double(key, draw);
    return (uint64_t)((double)num_nodes * u * u) * UINT64_C(1000003) % num_nodes;
}

static uint32_t step_place(struct made *made, uint64_t node, uint32_t *count)
{
    if (made->position[node] == UINT32_MAX)
        made->position[node] = (*count)++;
    return made->position[node];
}

static int make_block(struct made *made, uint32_t l, uint64_t key, uint64_t num_nodes)
{
    uint32_t num_dst = made->counts[l + 1], count = num_dst, fanout = fanouts[l];
    made->index[l] = malloc(((size_t)num_dst + 1) * sizeof(uint32_t));
    made->sources[l] = malloc((size_t)num_dst * fanout * sizeof(uint32_t));
    if (made->index[l] == NULL || made->sources[l] == NULL)
        return TR_ENOMEM;
    for (uint32_t d = 0; d <= num_dst; d++)
        made->index[l][d] = d * fanout;
    for (uint32_t e = 0; e < num_dst * fanout; e++)
        made->sources[l][e] = step_place(made, draw_node(key, e, num_nodes), &count);
    made->counts[l] = count;
    made->edges[l] = (struct block_edges){ .num_dst = num_dst,
                                           .num_edges = num_dst * fanout,
                                           .index = made->index[l],
                                           .sources = made->sources[l] };
    made->blocks[l] = (struct block){ &made->counts[l], &made->counts[l + 1], &made->edges[l] };
    return 0;
}

static int make_rows(struct made *made, uint64_t key)
{
    uint32_t seeds = made->counts[LAYERS], inputs = made->counts[0];
    made->rows_bytes = (size_t)inputs * INPUTS * sizeof(float);
    made->rows = hotmem_alloc(made->rows_bytes);
    made->labels = malloc(seeds * sizeof(float));
    if (made->rows == NULL || made->labels == NULL)
        return TR_ENOMEM;
    for (size_t i = 0; i < (size_t)inputs * INPUTS; i++)
        made->rows[i] = key_float(key, i) - 0.5f;
    for (uint32_t i = 0; i < seeds; i++)
        made->labels[i] = (float)(key_mix(key + i) % CLASSES);
    made->nodes = (struct batch_nodes){
        .num_nodes = inputs,
        .num_seeds = seeds,
        .features = { TR_F32, inputs, INPUTS, INPUTS * sizeof(float), made->rows },
        .labels = { TR_F32, seeds, 1, sizeof(float), made->labels },
    };
    made->batch = (struct mini_batch){ .step_seeds = seeds,
                                       .num_ntypes = 1,
                                       .num_etypes = 1,
                                       .num_layers = LAYERS,
                                       .blocks = made->blocks,
                                       .nodes = &made->nodes };
    return 0;
}

static int make_batch(struct made *made, uint64_t num_nodes, uint32_t seeds, uint64_t seed)
{
    made->position = malloc(num_nodes * sizeof *made->position);
    if (made->position == NULL)
        return TR_ENOMEM;
    memset(made->position, 0xff, num_nodes * sizeof *made->position);
    uint32_t placed = 0;
    for (uint64_t draw = 0; placed < seeds; draw++)
        step_place(made, key_draw(seed, draw) % num_nodes, &placed);
    made->counts[LAYERS] = seeds;
    for (uint32_t l = LAYERS; l-- > 0;) {
        int rc = make_block(made, l, key_mix(seed + l + 1), num_nodes);
        if (rc != 0)
            return rc;
    }
    return make_rows(made, key_mix(seed + 99));
}

static void made_fini(struct made *made)
{
    free(made->position);
    for (int l = 0; l < LAYERS; l++) {
        free(made->index[l]);
        free(made->sources[l]);
    }
    hotmem_free(made->rows, made->rows_bytes);
    free(made->labels);
}

/* The products of one layer: their sizes, and memory of theirs alone. */
struct products {
    size_t rows, in, out;
    int with_input;
    size_t x_bytes, y_bytes;
    float *x, *y, *weight;
    float *partials; /* [lanes][out][in] */
    struct lanes lanes;
};

static int products_init(struct products *products, size_t rows, size_t in, size_t out,
                         int with_input)
{
    *products = (struct products){
        rows, in,   out,  with_input, rows * in * sizeof(float), rows * out * sizeof(float),
        NULL, NULL, NULL, NULL,       matmul_lanes(rows)
    };
    products->x = hotmem_alloc(products->x_bytes);
    products->y = hotmem_alloc(products->y_bytes);
    products->weight = calloc(in * out, sizeof(float));
    products->partials = calloc((products->lanes.count + 1) * in * out, sizeof(float));
    if (products->x == NULL || products->y == NULL || products->weight == NULL ||
        products->partials == NULL)
        return TR_ENOMEM;
    /* Denormal or zero operands would not be the same work. */
    for (size_t i = 0; i < rows * in; i++)
        products->x[i] = (float)(i % 97) * 0.01f;
    for (size_t i = 0; i < in * out; i++)
        products->weight[i] = (float)(i % 89) * 0.01f - 0.4f;
    return 0;
}

static void products_fini(struct products *products)
{
    hotmem_free(products->x, products->x_bytes);
    hotmem_free(products->y, products->y_bytes);
    free(products->weight);
    free(products->partials);
}

static size_t rows_of(const struct products *p, size_t block)
{
    size_t rest = p->rows - block * MATMUL_ROWS;
    return rest < MATMUL_ROWS ? rest : MATMUL_ROWS;
}

/* Twice each: W_neigh and W_self. */
static void forward_products(void *arg, size_t block, size_t worker)
{
    (void)worker;
    struct products *p = arg;
    size_t begin = block * MATMUL_ROWS, count = rows_of(p, block);
    for (int i = 0; i < 2; i++)
        matmul_forward(count, p->in, p->out, p->x + begin * p->in, p->weight, (float)i,
                       p->y + begin * p->out);
}

static void backward_products(void *arg, size_t lane, size_t worker)
{
    (void)worker;
    struct products *p = arg;
    float *partial = p->partials + lane * p->in * p->out;
    size_t first = lane * p->lanes.blocks_per_lane, end = first + p->lanes.blocks_per_lane;
    for (size_t b = first; b < end && b < p->lanes.blocks; b++) {
        size_t begin = b * MATMUL_ROWS, count = rows_of(p, b);
        for (int i = 0; i < 2; i++) {
            matmul_gradient(count, p->in, p->out, p->y + begin * p->out, p->x + begin * p->in,
                            b == first ? 0.0f : 1.0f, partial);
            if (p->with_input)
                matmul_backward(count, p->in, p->out, p->y + begin * p->out, p->weight,
                                p->x + begin * p->in);
        }
    }
}

static void step_refill(struct products *p)
{
    for (size_t i = 0; p->with_input && i < p->rows * p->in; i++)
        p->x[i] = (float)(i % 97) * 0.01f;
}

static double step_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double time_products(struct products *products, struct parallel *parallel)
{
    for (int l = 0; l < LAYERS; l++)
        step_refill(&products[l]);
    double start = step_now();
    for (int l = 0; l < LAYERS; l++)
        parallel_for(parallel, products[l].lanes.blocks, forward_products, &products[l]);
    for (int l = LAYERS; l-- > 0;)
        parallel_for(parallel, products[l].lanes.count, backward_products, &products[l]);
    return step_now() - start;
}

static int time_step(struct model *model, const struct mini_batch *batch, double *seconds,
                     struct error *error)
{
    struct loss_sum loss;
    double start = step_now();
    int rc = model_step(model, batch, &loss, error);
    if (rc == 0)
        model_apply(model, 0.001);
    *seconds = step_now() - start;
    return rc;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double step_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

/* One turn more than asked for: the first touches the memory. */
static int take_turns(struct model *model, const struct mini_batch *batch,
                      struct products *products, uint32_t repeats, struct parallel *parallel,
                      struct bench_step *result, struct error *error)
{
    double steps[REPEATS_MAX + 1], bare[REPEATS_MAX + 1], ratios[REPEATS_MAX + 1];
    for (uint32_t i = 0; i <= repeats; i++) {
        int rc = time_step(model, batch, &steps[i], error);
        if (rc != 0)
            return rc;
        bare[i] = time_products(products, parallel);
        ratios[i] = steps[i] / bare[i];
    }
    result->step_s = step_median(steps + 1, repeats);
    result->products_s = step_median(bare + 1, repeats);
    result->ratio = step_median(ratios + 1, repeats);
    return 0;
}

static int products_make(struct products *products, const struct made *made, double *flops)
{
    int rc = 0;
    *flops = 0;
    for (int l = 0; rc == 0 && l < LAYERS; l++) {
        size_t in = l == 0 ? INPUTS : HIDDEN, out = l + 1 == LAYERS ? CLASSES : HIDDEN;
        rc = products_init(&products[l], made->counts[l + 1], in, out, l > 0);
        *flops += 2.0 * made->counts[l + 1] * (double)(in * out) * 2 * (l > 0 ? 3 : 2);
    }
    return rc;
}

int bench_step(const struct bench_step_plan *plan, struct parallel *parallel,
               struct bench_step *result, struct error *error)
{
    uint64_t num_nodes = plan->num_nodes == 0 ? 2449029 : plan->num_nodes;
    uint32_t seeds = plan->seeds == 0 ? 1024 : plan->seeds;
    uint32_t repeats = plan->repeats == 0 ? 7 : plan->repeats;
    if (repeats > REPEATS_MAX || seeds > num_nodes || seeds > 65536)
        return error_set(error, TR_ERANGE,
                         "bench step: at most %d repeats and 65536 seeds of the "
                         "graph",
                         REPEATS_MAX);
    struct model_config config = model_config_default();
    config.layers = LAYERS;
    config.inputs = INPUTS;
    config.hidden = HIDDEN;
    config.classes = CLASSES;
    config.dropout = plan->dropout;
    struct made made = { 0 };
    struct products products[LAYERS] = { 0 };
    struct model *model = NULL;
    int rc = make_batch(&made, num_nodes, seeds, plan->seed);
    if (rc == 0)
        rc = products_make(products, &made, &result->flops);
    if (rc != 0) {
        error_set(error, rc, "bench step: out of memory");
        goto done;
    }
    rc = model_create(&model, &config, parallel, error);
    if (rc != 0)
        goto done;
    result->input_nodes = made.counts[0];
    result->edges = made.edges[0].num_edges + made.edges[1].num_edges + made.edges[2].num_edges;
    rc = take_turns(model, &made.batch, products, repeats, parallel, result, error);
done:
    model_destroy(model);
    for (int l = 0; l < LAYERS; l++)
        products_fini(&products[l]);
    made_fini(&made);
    return rc;
}
