/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Element types of features, labels and ID arrays.
 *
 * Ownership: texts are of static storage. Thread rules: all functions are pure.
 */
#ifndef TROUPE_TYPES_H
#define TROUPE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, number, NumPy name, bytes); bf16 has no NumPy type of its own. */
#define TR_DTYPES(X)             \
    X(TR_F32, 0, "float32", 4)   \
    X(TR_F16, 1, "float16", 2)   \
    X(TR_BF16, 2, "bfloat16", 2) \
    X(TR_F64, 3, "float64", 8)   \
    X(TR_I8, 4, "int8", 1)       \
    X(TR_U8, 5, "uint8", 1)      \
    X(TR_I16, 6, "int16", 2)     \
    X(TR_I32, 7, "int32", 4)     \
    X(TR_I64, 8, "int64", 8)     \
    X(TR_BOOL, 9, "bool", 1)

enum tr_dtype {
#define X(name, number, text, bytes) name = number,
    TR_DTYPES(X)
#undef X
};

/* Bytes of one element; 0 for a number that names no type. */
TR_API size_t tr_dtype_size(enum tr_dtype dtype);

/* "float32" for TR_F32; "unknown" for a number that names no type. */
TR_API const char *tr_dtype_name(enum tr_dtype dtype);

#ifdef __cplusplus
}
#endif

#endif
