/* SPDX-License-Identifier: Apache-2.0 */
#include "model/attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/matmul.h"

struct attention {
    uint32_t heads;
    bool to_self;
    bool averages; /* over heads: of the last layer */
    const struct block_edges *edges;
    uint32_t num_src, num_dst;
    size_t dim;                 /* of a head */
    struct tensor products;     /* [num_src][heads * dim] */
    struct tensor own_products; /* [num_dst][heads * dim]; where ends are of two types */
    struct tensor left;         /* [num_src][heads] a_src . z */
    struct tensor right;        /* [num_dst][heads] a_dst . z */
    struct tensor shares;       /* [edges, then destinations for themselves][heads] */
    /* On the way back. */
    struct tensor slopes;      /* of what shares has: of left + right */
    struct tensor right_grads; /* [num_dst][heads] */
    struct tensor made_grads;  /* [num_src or num_dst][heads * dim], of products */
    struct tensor row_grads;   /* [num_src][in] */
    struct tensor own_grads;   /* one block of rows for each worker */
    struct storage transposed; /* edges by source */
    const uint32_t *out_index; /* [num_src + 1], of these */
    const uint32_t *out_edges; /* [num_edges] */
    const uint32_t *targets;   /* [num_edges] their destinations */
};

struct attention_job {
    struct attention *attention;
    const struct term_params *params;
    struct layer *layer;
    struct layer_tools *tools;
    const float *weights;
    const float *sources; /* rows */
    const float *own;
    struct lanes lanes;
    bool with_input;
};

struct attention *attention_create(uint32_t heads, bool to_self)
{
    struct attention *attention = calloc(1, sizeof *attention);
    if (attention == NULL)
        return NULL;
    attention->heads = heads;
    attention->to_self = to_self;
    return attention;
}

void attention_destroy(struct attention *attention)
{
    if (attention == NULL)
        return;
    tensor_fini(&attention->products);
    tensor_fini(&attention->own_products);
    tensor_fini(&attention->left);
    tensor_fini(&attention->right);
    tensor_fini(&attention->shares);
    tensor_fini(&attention->slopes);
    tensor_fini(&attention->right_grads);
    tensor_fini(&attention->made_grads);
    tensor_fini(&attention->row_grads);
    tensor_fini(&attention->own_grads);
    storage_fini(&attention->transposed);
    free(attention);
}

void attention_take(struct attention *attention, const struct block_edges *edges, uint32_t num_src)
{
    attention->edges = edges;
    attention->num_src = num_src;
    attention->num_dst = edges->num_dst;
}

const struct tensor *attention_row_grads(const struct attention *attention)
{
    return &attention->row_grads;
}

static size_t rows_of_block(size_t begin, size_t count)
{
    return count - begin < MATMUL_ROWS ? count - begin : MATMUL_ROWS;
}

/* One order of additions, on every CPU. */
static float attention_dot(const float *a, const float *b, size_t count)
{
    float sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* The number that each head adds for a row of products. */
static void score_row(const struct attention *attention, const float *products,
                      const float *vectors, float *scores)
{
    for (uint32_t h = 0; h < attention->heads; h++)
        scores[h] = attention_dot(products + h * attention->dim, vectors + h * attention->dim,
                                  attention->dim);
}

static void multiply_sources(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct attention_job *job = arg;
    struct attention *attention = job->attention;
    const struct term_params *p = job->params;
    size_t begin = block * MATMUL_ROWS, count = rows_of_block(begin, attention->num_src);
    const float *towards = job->weights + p->attention, *away = towards + p->width;
    if (cancel_asked(job->tools->cancel))
        return;
    matmul_forward(count, p->in, p->width, job->sources + begin * p->in, job->weights + p->weight,
                   0, tensor_row(&attention->products, begin));
    for (size_t row = begin; row < begin + count; row++) {
        const float *products = tensor_row(&attention->products, row);
        score_row(attention, products, towards, tensor_row(&attention->left, row));
        /* Destinations are the first sources, where they are of the same type. */
        if (!p->own_weight && row < attention->num_dst)
            score_row(attention, products, away, tensor_row(&attention->right, row));
    }
}

static void multiply_own(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct attention_job *job = arg;
    struct attention *attention = job->attention;
    const struct term_params *p = job->params;
    size_t in = job->layer->params->in;
    size_t begin = block * MATMUL_ROWS, count = rows_of_block(begin, attention->num_dst);
    if (cancel_asked(job->tools->cancel))
        return;
    matmul_forward(count, in, p->width, job->own + begin * in, job->weights + p->dst_weight, 0,
                   tensor_row(&attention->own_products, begin));
    for (size_t row = begin; row < begin + count; row++)
        score_row(attention, tensor_row(&attention->own_products, row),
                  job->weights + p->attention + p->width, tensor_row(&attention->right, row));
}

static size_t num_shares(const struct attention *attention)
{
    return (size_t)attention->edges->num_edges + (attention->to_self ? attention->num_dst : 0);
}

int attention_forward(struct term *term, const struct layer *layer, struct layer_tools *tools,
                      const float *weights, const float *const *rows)
{
    struct attention *attention = term->attention;
    const struct term_params *p = term->params;
    size_t heads = attention->heads;
    attention->dim = p->width / heads;
    attention->averages = layer->last;
    int rc = tensor_resize(&attention->products, attention->num_src, p->width);
    if (rc == 0)
        rc = tensor_resize(&attention->left, attention->num_src, heads);
    if (rc == 0)
        rc = tensor_resize(&attention->right, attention->num_dst, heads);
    if (rc == 0)
        rc = tensor_resize(&attention->shares, num_shares(attention), heads);
    if (rc == 0 && p->own_weight)
        rc = tensor_resize(&attention->own_products, attention->num_dst, p->width);
    if (rc != 0)
        return rc;
    struct attention_job job = { .attention = attention,
                                 .params = p,
                                 .layer = (struct layer *)(uintptr_t)layer,
                                 .tools = tools,
                                 .weights = weights,
                                 .sources = rows[p->src],
                                 .own = rows[layer->params->ntype] };
    parallel_for(tools->parallel, matmul_blocks(attention->num_src), multiply_sources, &job);
    if (p->own_weight)
        parallel_for(tools->parallel, matmul_blocks(attention->num_dst), multiply_own, &job);
    return 0;
}

/* The edges of a destination, then the one to itself. */
struct edge_walk {
    uint32_t begin, count, dst;
};

static struct edge_walk walk_of(const struct attention *attention, uint32_t dst)
{
    const struct block_edges *edges = attention->edges;
    struct edge_walk walk = { .dst = dst };
    if (edges->num_edges > 0) {
        walk.begin = edges->index[dst];
        walk.count = edges->index[dst + 1] - walk.begin;
    }
    walk.count += attention->to_self;
    return walk;
}

/* Edge i of the walk: where its shares lie, and its source. false: it is left out. */
static bool walk_to(const struct attention *attention, const struct edge_walk *walk, uint32_t i,
                    size_t *place, uint32_t *source)
{
    const struct block_edges *edges = attention->edges;
    if (attention->to_self && i + 1 == walk->count) {
        *place = (size_t)edges->num_edges + walk->dst;
        *source = walk->dst;
        return true;
    }
    *place = (size_t)walk->begin + i;
    *source = edges->sources[*place];
    return !(attention->to_self && *source == walk->dst);
}

static float attention_leaky(float x)
{
    return x > 0 ? x : x * ATTENTION_SLOPE;
}

/* An edge that was drawn by weights stands for as many as its block says: its share is that of so
 * many edges beside each other. A node's edge to itself is always there, and stands for itself. */
static float drawn_score(const struct attention *attention, size_t place)
{
    const struct block_edges *edges = attention->edges;
    bool drawn = edges->edge_weights != NULL && place < edges->num_edges;
    return drawn ? logf(edges->edge_weights[place]) : 0;
}

/* Subtracting the largest score changes no share, and keeps powers finite. */
static void find_shares(struct attention *attention, const struct edge_walk *walk, uint32_t head)
{
    float right = tensor_row(&attention->right, walk->dst)[head], largest = -INFINITY, sum = 0;
    size_t place;
    uint32_t source;
    for (uint32_t i = 0; i < walk->count; i++) {
        bool counts = walk_to(attention, walk, i, &place, &source);
        float score = attention_leaky(tensor_row(&attention->left, source)[head] + right) +
                      drawn_score(attention, place);
        tensor_row(&attention->shares, place)[head] = score;
        largest = counts && score > largest ? score : largest;
    }
    for (uint32_t i = 0; i < walk->count; i++) {
        bool counts = walk_to(attention, walk, i, &place, &source);
        float *share = tensor_row(&attention->shares, place) + head;
        *share = counts ? expf(*share - largest) : 0;
        sum += *share;
    }
    for (uint32_t i = 0; i < walk->count; i++) {
        (void)walk_to(attention, walk, i, &place, &source);
        tensor_row(&attention->shares, place)[head] /= sum;
    }
}

void attention_add(struct attention *attention, const struct kernels *kernels, uint32_t dst,
                   float *out, size_t width)
{
    const struct edge_walk walk = walk_of(attention, dst);
    size_t dim = attention->dim, place;
    float scale = attention->averages ? 1.0f / (float)attention->heads : 1.0f;
    uint32_t source;
    (void)width;
    if (walk.count == 0)
        return;
    for (uint32_t h = 0; h < attention->heads; h++) {
        float *to = attention->averages ? out : out + h * dim;
        find_shares(attention, &walk, h);
        for (uint32_t i = 0; i < walk.count; i++) {
            if (!walk_to(attention, &walk, i, &place, &source))
                continue;
            kernels->axpy(to, tensor_row(&attention->products, source) + h * dim,
                          tensor_row(&attention->shares, place)[h] * scale, dim);
        }
    }
}

/* The slopes of left + right of a destination's edges, and their sum. */
static void slope_edges(struct attention *attention, uint32_t dst, uint32_t head,
                        const float *out_grad, float scale)
{
    const struct edge_walk walk = walk_of(attention, dst);
    size_t dim = attention->dim, place;
    uint32_t source;
    float mean = 0, sum = 0, right = tensor_row(&attention->right, dst)[head];
    for (uint32_t i = 0; i < walk.count; i++) {
        float *slope = NULL;
        bool counts = walk_to(attention, &walk, i, &place, &source);
        slope = tensor_row(&attention->slopes, place) + head;
        *slope = 0;
        if (!counts)
            continue;
        *slope = scale * attention_dot(out_grad,
                                       tensor_row(&attention->products, source) + head * dim, dim);
        mean += *slope * tensor_row(&attention->shares, place)[head];
    }
    for (uint32_t i = 0; i < walk.count; i++) {
        if (!walk_to(attention, &walk, i, &place, &source))
            continue;
        float *slope = tensor_row(&attention->slopes, place) + head;
        float before = tensor_row(&attention->left, source)[head] + right;
        *slope = (*slope - mean) * tensor_row(&attention->shares, place)[head] *
                 (before > 0 ? 1.0f : ATTENTION_SLOPE);
        sum += *slope;
    }
    tensor_row(&attention->right_grads, dst)[head] = sum;
}

static void slope_block(void *arg, size_t block, size_t worker)
{
    (void)worker;
    const struct attention_job *job = arg;
    struct attention *attention = job->attention;
    size_t begin = block * MATMUL_ROWS, count = rows_of_block(begin, attention->num_dst);
    float scale = attention->averages ? 1.0f / (float)attention->heads : 1.0f;
    for (size_t dst = begin; dst < begin + count; dst++) {
        const float *grad = tensor_row(&job->layer->out_grads, dst);
        for (uint32_t h = 0; h < attention->heads; h++)
            slope_edges(attention, (uint32_t)dst, h,
                        attention->averages ? grad : grad + h * attention->dim, scale);
    }
}

/* A counting sort: the edges of a source stand by destination. */
static int sort_by_source(struct attention *attention)
{
    const struct block_edges *edges = attention->edges;
    size_t sources = attention->num_src, count = edges->num_edges;
    int rc = storage_reserve(&attention->transposed, sources + 2 + 2 * count, sizeof(uint32_t));
    if (rc != 0)
        return rc;
    uint32_t *index = attention->transposed.data;
    uint32_t *places = index + sources + 2, *targets = places + count;
    memset(index, 0, (sources + 2) * sizeof *index);
    for (size_t e = 0; e < count; e++)
        index[edges->sources[e] + 2]++;
    for (size_t s = 0; s < sources; s++)
        index[s + 2] += index[s + 1];
    for (uint32_t d = 0; count > 0 && d < attention->num_dst; d++) {
        for (uint32_t e = edges->index[d]; e < edges->index[d + 1]; e++) {
            uint32_t to = index[edges->sources[e] + 1]++;
            places[to] = e;
            targets[to] = d;
        }
    }
    attention->out_index = index;
    attention->out_edges = places;
    attention->targets = targets;
    return 0;
}

/* What an edge's share and slope give its source. */
static float back_edge(const struct attention_job *job, size_t place, uint32_t dst, uint32_t head,
                       float *grad)
{
    const struct attention *attention = job->attention;
    const float *out = tensor_row(&job->layer->out_grads, dst);
    float share = tensor_row(&attention->shares, place)[head];
    if (attention->averages)
        share *= 1.0f / (float)attention->heads;
    else
        out += head * attention->dim;
    job->tools->kernels->axpy(grad, out, share, attention->dim);
    return tensor_row(&attention->slopes, place)[head];
}

/* The gradient of a source's products, and of the vectors that it was scored by. */
static void back_source(const struct attention_job *job, uint32_t src, float *vector_grads)
{
    const struct attention *attention = job->attention;
    const struct term_params *p = job->params;
    const struct kernels *kernels = job->tools->kernels;
    const float *towards = job->weights + p->attention, *away = towards + p->width;
    const float *products = tensor_row(&attention->products, src);
    float *grads = tensor_row(&attention->made_grads, src);
    size_t dim = attention->dim;
    memset(grads, 0, p->width * sizeof *grads);
    for (uint32_t h = 0; h < attention->heads; h++) {
        float left = 0;
        size_t at = h * dim;
        for (uint32_t i = attention->out_index[src]; i < attention->out_index[src + 1]; i++)
            left += back_edge(job, attention->out_edges[i], attention->targets[i], h, grads + at);
        bool is_dst = !p->own_weight && src < attention->num_dst;
        if (attention->to_self && is_dst)
            left += back_edge(job, (size_t)attention->edges->num_edges + src, src, h, grads + at);
        kernels->axpy(grads + at, towards + at, left, dim);
        kernels->axpy(vector_grads + at, products + at, left, dim);
        if (!is_dst)
            continue;
        float right = tensor_row(&attention->right_grads, src)[h];
        kernels->axpy(grads + at, away + at, right, dim);
        kernels->axpy(vector_grads + p->width + at, products + at, right, dim);
    }
}

static void back_sources_lane(void *arg, size_t lane, size_t worker)
{
    (void)worker;
    const struct attention_job *job = arg;
    struct attention *attention = job->attention;
    const struct term_params *p = job->params;
    float *partial = tensor_row(&job->tools->partials, lane);
    memset(partial, 0, job->tools->partials.cols * sizeof *partial);
    size_t first = lane * job->lanes.blocks_per_lane;
    for (size_t b = first; b < first + job->lanes.blocks_per_lane && b < job->lanes.blocks; b++) {
        size_t begin = b * MATMUL_ROWS, count = rows_of_block(begin, attention->num_src);
        for (size_t row = begin; row < begin + count; row++)
            back_source(job, (uint32_t)row, partial + (p->attention - p->weight));
        const float *grads = tensor_row(&attention->made_grads, begin);
        matmul_gradient(count, p->in, p->width, grads, job->sources + begin * p->in, 1, partial);
        if (job->with_input)
            matmul_backward(count, p->in, p->width, grads, job->weights + p->weight,
                            tensor_row(&attention->row_grads, begin));
    }
}

/* The same of destinations that have a matrix of their own. */
static void back_own_lane(void *arg, size_t lane, size_t worker)
{
    const struct attention_job *job = arg;
    struct attention *attention = job->attention;
    const struct term_params *p = job->params;
    const struct kernels *kernels = job->tools->kernels;
    size_t in = job->layer->params->in, dim = attention->dim;
    const float *away = job->weights + p->attention + p->width;
    float *partial = tensor_row(&job->tools->partials, lane);
    memset(partial, 0, job->tools->partials.cols * sizeof *partial);
    float *vector_grads = partial + (p->attention - p->weight) + p->width;
    float *rows = tensor_row(&attention->own_grads, worker * MATMUL_ROWS);
    size_t first = lane * job->lanes.blocks_per_lane;
    for (size_t b = first; b < first + job->lanes.blocks_per_lane && b < job->lanes.blocks; b++) {
        size_t begin = b * MATMUL_ROWS, count = rows_of_block(begin, attention->num_dst);
        float *grads = tensor_row(&attention->made_grads, begin);
        memset(grads, 0, count * p->width * sizeof *grads);
        for (size_t row = begin; row < begin + count; row++) {
            for (uint32_t h = 0; h < attention->heads; h++) {
                float right = tensor_row(&attention->right_grads, row)[h];
                kernels->axpy(tensor_row(&attention->made_grads, row) + h * dim, away + h * dim,
                              right, dim);
                kernels->axpy(vector_grads + h * dim,
                              tensor_row(&attention->own_products, row) + h * dim, right, dim);
            }
        }
        matmul_gradient(count, in, p->width, grads, job->own + begin * in, 1,
                        partial + (p->dst_weight - p->weight));
        if (!job->layer->with_own)
            continue;
        matmul_backward(count, in, p->width, grads, job->weights + p->dst_weight, rows);
        kernels->axpy(tensor_row(&job->layer->self_grads, begin), rows, 1.0f, count * in);
    }
}

static int back_own(struct attention_job *job, float *grads, size_t size)
{
    struct attention *attention = job->attention;
    size_t in = job->layer->params->in, workers = job->tools->parallel->workers;
    job->lanes = matmul_lanes(attention->num_dst);
    int rc = tensor_resize(&attention->made_grads, attention->num_dst, job->params->width);
    if (rc == 0)
        rc = tensor_resize(&attention->own_grads, workers * MATMUL_ROWS, in);
    if (rc == 0)
        rc = tensor_resize(&job->tools->partials, job->lanes.count, size);
    if (rc != 0)
        return rc;
    parallel_for(job->tools->parallel, job->lanes.count, back_own_lane, job);
    layer_reduce(job->tools, job->lanes.count, grads, size, false);
    return 0;
}

int attention_backward(struct term *term, struct layer *layer, struct layer_tools *tools,
                       const float *const *rows, const float *weights, float *grads)
{
    struct attention *attention = term->attention;
    const struct term_params *p = term->params;
    /* A term's parameters lie side by side, from its matrix to its vectors. */
    size_t size = p->attention + 2 * (size_t)p->width - p->weight;
    struct attention_job job = { .attention = attention,
                                 .params = p,
                                 .layer = layer,
                                 .tools = tools,
                                 .weights = weights,
                                 .sources = rows[p->src],
                                 .own = rows[layer->params->ntype],
                                 .lanes = matmul_lanes(attention->num_src),
                                 .with_input = term->with_input };
    int rc = tensor_resize(&attention->slopes, num_shares(attention), attention->heads);
    if (rc == 0)
        rc = tensor_resize(&attention->right_grads, attention->num_dst, attention->heads);
    if (rc == 0)
        rc = tensor_resize(&attention->made_grads, attention->num_src, p->width);
    if (rc == 0 && term->with_input)
        rc = tensor_resize(&attention->row_grads, attention->num_src, p->in);
    if (rc == 0)
        rc = tensor_resize(&tools->partials, job.lanes.count, size);
    if (rc == 0)
        rc = sort_by_source(attention);
    if (rc != 0)
        return rc;
    parallel_for(tools->parallel, matmul_blocks(attention->num_dst), slope_block, &job);
    parallel_for(tools->parallel, job.lanes.count, back_sources_lane, &job);
    layer_reduce(tools, job.lanes.count, grads + p->weight, size, false);
    return p->own_weight ? back_own(&job, grads + p->weight, size) : 0;
}
