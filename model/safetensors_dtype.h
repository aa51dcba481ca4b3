/* SPDX-License-Identifier: Apache-2.0 */
/* Element types as safetensors spells them. Thread rules: pure functions. */
#ifndef MODEL_SAFETENSORS_DTYPE_H
#define MODEL_SAFETENSORS_DTYPE_H

#include <string.h>

#include <troupe/types.h>

static inline const char *safetensors_dtype_name(enum tr_dtype dtype)
{
    static const char *const names[] = {
        [TR_F32] = "F32", [TR_F16] = "F16", [TR_BF16] = "BF16", [TR_F64] = "F64", [TR_I8] = "I8",
        [TR_U8] = "U8",   [TR_I16] = "I16", [TR_I32] = "I32",   [TR_I64] = "I64", [TR_BOOL] = "BOOL"
    };
    return names[dtype];
}

/* -1 for a type that is not among ours. */
static inline int safetensors_dtype_parse(const char *name)
{
    for (int i = TR_F32; i <= TR_BOOL; i++) {
        if (strcmp(safetensors_dtype_name((enum tr_dtype)i), name) == 0)
            return i;
    }
    return -1;
}

#endif
