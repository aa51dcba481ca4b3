/* SPDX-License-Identifier: Apache-2.0 */
#include "model/kernels.h"

#include <math.h>
#include <string.h>

#include "graph/key.h"

/* The bodies below are compiled once for each variant; the vectors are split by the compiler
 * where the CPU has narrower ones. */
#define BODY static inline __attribute__((always_inline))

typedef float vec16 __attribute__((vector_size(64), aligned(4), may_alias));
typedef float vec4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t int16v __attribute__((vector_size(64), aligned(4), may_alias));
typedef float vec8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t int8v __attribute__((vector_size(32), aligned(4), may_alias));
typedef double double8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef uint16_t half16 __attribute__((vector_size(32), aligned(2), may_alias));
typedef uint64_t word8 __attribute__((vector_size(64), aligned(8), may_alias));

#define LINE_FLOATS 16
/* Rows on their way at once; more than fill the line buffers of a core evict each other. */
#define GATHER_AHEAD 6
/* The part of a row that the CPU does not fetch ahead by itself once the row is being read. */
#define GATHER_AHEAD_FLOATS 256

struct dropout dropout_make(float rate, uint64_t key)
{
    uint32_t threshold = (uint32_t)(rate * 65536.0f + 0.5f);
    if (threshold == 0)
        return (struct dropout){ .key = key, .scale = 1.0f };
    if (threshold > 65535)
        threshold = 65535;
    return (struct dropout){ .key = key,
                             .threshold = threshold,
                             .scale = 65536.0f / (float)(65536 - threshold) };
}

BODY void add_body(float *y, const float *x, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        *(vec16 *)(y + i) += *(const vec16 *)(x + i);
    for (; i + 4 <= n; i += 4)
        *(vec4 *)(y + i) += *(const vec4 *)(x + i);
    for (; i < n; i++)
        y[i] += x[i];
}

BODY void axpy_body(float *y, const float *x, float a, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        *(vec16 *)(y + i) += *(const vec16 *)(x + i) * a;
    for (; i + 4 <= n; i += 4)
        *(vec4 *)(y + i) += *(const vec4 *)(x + i) * a;
    for (; i < n; i++)
        y[i] += x[i] * a;
}

BODY void scale_body(float *x, float a, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        *(vec16 *)(x + i) *= a;
    for (; i < n; i++)
        x[i] *= a;
}

BODY void gather_body(float *out, size_t width, const float *rows, const struct gather_list *list)
{
    memset(out, 0, width * sizeof *out);
    for (size_t e = 0; e < list->count; e++) {
        if (e + GATHER_AHEAD < list->readable) {
            const float *next = rows + (size_t)list->ids[e + GATHER_AHEAD] * width;
            for (size_t i = 0; i < width && i < GATHER_AHEAD_FLOATS; i += LINE_FLOATS)
                __builtin_prefetch(next + i);
        }
        uint32_t id = list->ids[e];
        if (id == list->skip)
            continue;
        const float *row = rows + (size_t)id * width;
        /* A weight of 1 changes no bit: neither of a factor nor of an element. */
        float weight = list->weights == NULL ? 1.0f : list->weights[e];
        if (list->scales != NULL)
            axpy_body(out, row, weight * list->scales[id], width);
        else if (list->weights != NULL)
            axpy_body(out, row, weight, width);
        else
            add_body(out, row, width);
    }
}

#define MASK_CHUNK 256 /* elements whose mask is made at once: 64 words, 512 bytes */

/* 16 random bits for each of the chunk's elements: word w, which is key_draw(key, w), serves the
 * elements 4w .. 4w + 3. */
BODY void mask_body(uint16_t bits[MASK_CHUNK], uint64_t key, uint64_t first_word, size_t elements)
{
    const word8 steps = { 1, 2, 3, 4, 5, 6, 7, 8 };
    for (size_t w = 0; w * 4 < elements; w += 8) {
        word8 z = (steps + (first_word + w)) * (uint64_t)KEY_STEP + key;
        z = (z ^ (z >> 30)) * (uint64_t)0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * (uint64_t)0x94d049bb133111ebu;
        z = z ^ (z >> 31);
        memcpy(bits + w * 4, &z, sizeof z);
    }
}

BODY void drop_body(float *to, const float *from, size_t n, const struct dropout *dropout,
                    size_t row_number)
{
    uint64_t words = (n + 3) / 4;
    uint16_t bits[MASK_CHUNK] __attribute__((aligned(64)));
    int32_t threshold = (int32_t)dropout->threshold;
    for (size_t begin = 0; begin < n; begin += MASK_CHUNK) {
        size_t count = n - begin < MASK_CHUNK ? n - begin : MASK_CHUNK;
        mask_body(bits, dropout->key, row_number * words + begin / 4, count);
        float *y = to + begin;
        const float *x = from + begin;
        size_t i = 0;
        for (; i + 16 <= count; i += 16) {
            int16v kept = __builtin_convertvector(*(const half16 *)(bits + i), int16v) >= threshold;
            vec16 scaled = *(const vec16 *)(x + i) * dropout->scale;
            *(int16v *)(y + i) = *(int16v *)&scaled & kept;
        }
        for (; i < count; i++)
            y[i] = bits[i] >= threshold ? x[i] * dropout->scale : 0.0f;
    }
}

/* NaN passes, so that a loss shows it. */
BODY void activate_body(float *row, const float *bias, size_t n, const struct dropout *dropout,
                        size_t row_number)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        vec16 sum = *(vec16 *)(row + i) + *(const vec16 *)(bias + i);
        *(int16v *)(row + i) = *(int16v *)&sum & ~(sum <= 0.0f);
    }
    for (; i < n; i++) {
        float sum = row[i] + bias[i];
        row[i] = sum <= 0.0f ? 0.0f : sum;
    }
    if (dropout->threshold > 0)
        drop_body(row, row, n, dropout, row_number);
}

BODY void deactivate_body(float *grad, const float *h, float scale, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        vec16 scaled = *(vec16 *)(grad + i) * scale;
        *(int16v *)(grad + i) = *(int16v *)&scaled & (*(const vec16 *)(h + i) > 0.0f);
    }
    for (; i < n; i++)
        grad[i] = h[i] > 0.0f ? grad[i] * scale : 0.0f;
}

BODY double magnitude_body(const float *x, size_t n)
{
    double8 sums = { 0 };
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        int8v bits = *(const int8v *)(x + i) & INT32_MAX; /* without the sign */
        sums += __builtin_convertvector(*(vec8 *)&bits, double8);
    }
    for (; i < n; i++)
        sums[i % 8] += fabs((double)x[i]);
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

BODY void adam_body(float *weights, const float *grads, float *first, float *second, size_t n,
                    const struct adam_step *step)
{
    float rest1 = 1.0f - step->beta1, rest2 = 1.0f - step->beta2;
    for (size_t i = 0; i < n; i++) {
        float g = grads[i] + step->l2 * weights[i];
        first[i] = step->beta1 * first[i] + rest1 * g;
        second[i] = step->beta2 * second[i] + rest2 * g * g;
        float denominator = sqrtf(second[i]) / step->bias2_root + step->eps;
        weights[i] = weights[i] * step->shrink - step->lr * (first[i] / denominator);
    }
}

#define VARIANT(suffix, text, attribute)                                                          \
    attribute static void gather_##suffix(float *out, size_t width, const float *rows,            \
                                          const struct gather_list *list)                         \
    {                                                                                             \
        gather_body(out, width, rows, list);                                                      \
    }                                                                                             \
    attribute static void axpy_##suffix(float *y, const float *x, float a, size_t n)              \
    {                                                                                             \
        axpy_body(y, x, a, n);                                                                    \
    }                                                                                             \
    attribute static void scale_##suffix(float *x, float a, size_t n)                             \
    {                                                                                             \
        scale_body(x, a, n);                                                                      \
    }                                                                                             \
    attribute static void activate_##suffix(float *row, const float *bias, size_t n,              \
                                            const struct dropout *dropout, size_t row_number)     \
    {                                                                                             \
        activate_body(row, bias, n, dropout, row_number);                                         \
    }                                                                                             \
    attribute static void deactivate_##suffix(float *grad, const float *h, float scale, size_t n) \
    {                                                                                             \
        deactivate_body(grad, h, scale, n);                                                       \
    }                                                                                             \
    attribute static void drop_##suffix(float *to, const float *from, size_t n,                   \
                                        const struct dropout *dropout, size_t row_number)         \
    {                                                                                             \
        drop_body(to, from, n, dropout, row_number);                                              \
    }                                                                                             \
    attribute static double magnitude_##suffix(const float *x, size_t n)                          \
    {                                                                                             \
        return magnitude_body(x, n);                                                              \
    }                                                                                             \
    attribute static void adam_##suffix(float *weights, const float *grads, float *first,         \
                                        float *second, size_t n, const struct adam_step *step)    \
    {                                                                                             \
        adam_body(weights, grads, first, second, n, step);                                        \
    }                                                                                             \
    static const struct kernels variant_##suffix = {                                              \
        .name = text,                                                                             \
        .gather = gather_##suffix,                                                                \
        .axpy = axpy_##suffix,                                                                    \
        .scale = scale_##suffix,                                                                  \
        .activate = activate_##suffix,                                                            \
        .deactivate = deactivate_##suffix,                                                        \
        .drop = drop_##suffix,                                                                    \
        .magnitude = magnitude_##suffix,                                                          \
        .adam = adam_##suffix,                                                                    \
    };

VARIANT(base, "baseline", )
#ifdef __x86_64__
VARIANT(avx2, "avx2", __attribute__((target("avx2"))))
VARIANT(avx512, "avx512", __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))))
#endif

const struct kernels *kernels_variant(size_t i)
{
    const struct kernels *usable[3] = { &variant_base };
    size_t count = 1;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        usable[count++] = &variant_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        usable[count++] = &variant_avx512;
#endif
    return i < count ? usable[i] : NULL;
}

const struct kernels *kernels_best(void)
{
    size_t i = 0;
    while (kernels_variant(i + 1) != NULL)
        i++;
    return kernels_variant(i);
}
