/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/kind.h"

int kinds_add(struct kinds *kinds, const struct kind *kind, struct error *error)
{
    const char *name = kind->name != NULL ? kind->name : "(unnamed)";
    if (kind->id < KIND_ROOMS_FIRST || kind->id >= KINDS_MAX)
        return error_set(error, TR_EINVAL, "kind %s: id %u is not within %u..%u", name, kind->id,
                         KIND_ROOMS_FIRST, KINDS_MAX - 1);
    if (kind->head_bytes > KIND_HEAD_BYTES_MAX)
        return error_set(error, TR_EINVAL, "kind %s: a head of %u bytes is over %u", name,
                         kind->head_bytes, KIND_HEAD_BYTES_MAX);
    if (kind->name == NULL || kind->lane > KIND_DATA || kind->class > KIND_ONCE)
        return error_set(error, TR_EINVAL, "kind %s (%u): name, lane or class is not set", name,
                         kind->id);
    if ((kind->encode != NULL) != (kind->decode != NULL) ||
        (kind->encode != NULL) != (kind->verify != NULL))
        return error_set(error, TR_EINVAL, "kind %s: encode, verify and decode come together",
                         name);
    if (kinds->by_id[kind->id] != NULL)
        return error_set(error, TR_EEXIST, "kind %s: id %u belongs to %s", name, kind->id,
                         kinds->by_id[kind->id]->name);
    kinds->by_id[kind->id] = kind;
    return 0;
}
