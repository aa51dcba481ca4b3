/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors: tables that a program makes while a job runs, and all of its processes read and write.
 *
 * A tensor has a row for each node of one type, by the nodes' per-type global IDs. All rows have one
 * shape (none: a number; {16}: 16 numbers; {3, 4}: three times four) and one type of elements, and
 * lie in C order, without gaps. Each row lies once, in the memory of the process that owns its node's
 * partition: the first in the cluster file that serves it. Rows are read and written there, whoever
 * asks.
 *
 * A tensor is known by its node type and its name in the whole job. It is there until it is deleted,
 * its era ends (troupe/group.h) or the process that owns some of its rows ends; from then on calls
 * on handles that were open give TR_ENOENT or TR_EROLLBACK, and never the rows of a newer tensor of
 * the same name. No checkpoint has it.
 *
 * What is promised. A write returns when all owners have its rows; a read that begins after that,
 * in any process, has them. Of a row that several write at once one write stays; of a row that is
 * given twice in one write the last one. A call that fails, times out or is interrupted may have
 * written some of its rows; it may be made again.
 *
 * Bounds: names have 1 to 255 bytes, rows at most 7 dimensions and 16 MiB, 1024 tensors may exist at
 * once, and all rows that a process owns take at most tensor_bytes_max of its session's options.
 *
 * Ownership: tr_dist_tensor_close() frees the handle, not the tensor; it may outlive graph and session.
 * Thread rules: any thread, any number at once on one handle; a handle is closed when no call on it
 * is under way. In a child of fork() calls give TR_EFORKED, and closing does nothing.
 */
#ifndef TROUPE_DIST_TENSOR_H
#define TROUPE_DIST_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_graph;
struct tr_dist_tensor;

struct tr_dist_tensor_options {
    size_t size;
    const char *name;     /* without control characters */
    const uint64_t *dims; /* [num_dims] of a row; may be NULL where that is 0 */
    uint32_t num_dims;
    uint32_t ntype;
    uint32_t dtype; /* enum tr_dtype (troupe/types.h) */
    bool attach;    /* it must be there already; else it is made where it is not */
    /* The process that makes it writes its first values, and then calls tr_dist_tensor_publish(): until
     * then others wait in tr_dist_tensor_open(). */
    bool hold;
    unsigned char reserved[2];
};
#define TR_DIST_TENSOR_OPTIONS_INIT                                                  \
    {                                                                                \
        sizeof(struct tr_dist_tensor_options), NULL, NULL, 0, 0, 0, false, false, "" \
    }

struct tr_dist_tensor_info {
    size_t size;
    const char *name;     /* as long as the handle is open, as are the dimensions */
    const uint64_t *dims; /* [num_dims] */
    uint64_t num_rows;    /* the nodes of the type */
    uint64_t row_bytes;
    uint32_t num_dims;
    uint32_t ntype;
    uint32_t dtype;
    bool made; /* this handle's tr_dist_tensor_open() made it */
    unsigned char reserved[3];
};
#define TR_DIST_TENSOR_INFO_INIT                                                 \
    {                                                                            \
        sizeof(struct tr_dist_tensor_info), NULL, NULL, 0, 0, 0, 0, 0, false, "" \
    }

/* Finds the tensor of that name and node type, or makes it, all zeros; where several open it at
 * once one of them makes it. TR_EMISMATCH: it has another shape or type of elements, and the message
 * names both. TR_ENOENT: it is to be attached, and not there. TR_ETOOBIG: one of the bounds above.
 * TR_EINVAL and TR_ERANGE name an option. TR_ETIMEDOUT: also where its maker does not publish it.
 * *out is NULL after a failure. */
TR_API int tr_dist_tensor_open(struct tr_graph *graph, const struct tr_dist_tensor_options *options,
                               int64_t timeout_ns, struct tr_dist_tensor **out,
                               struct tr_error *error);

/* Its first values are written: others may open it. Of a handle that did not make it, and of one
 * without hold, this does nothing. */
TR_API int tr_dist_tensor_publish(struct tr_dist_tensor *tensor, int64_t timeout_ns,
                                  struct tr_error *error);

/* NULL is ignored. */
TR_API void tr_dist_tensor_close(struct tr_dist_tensor *tensor);

TR_API int tr_dist_tensor_info(const struct tr_dist_tensor *tensor,
                               struct tr_dist_tensor_info *info, struct tr_error *error);

/* Rows of nodes in any order, also several times: rows[count * row_bytes]. TR_ERANGE names an ID
 * that there is not, before anything is read. */
TR_API int tr_dist_tensor_read(struct tr_dist_tensor *tensor, const uint64_t *ids, size_t count,
                               int64_t timeout_ns, void *rows, struct tr_error *error);

/* Writes rows[count * row_bytes]. TR_ERANGE names an ID that there is not, before anything is
 * written. */
TR_API int tr_dist_tensor_write(struct tr_dist_tensor *tensor, const uint64_t *ids, size_t count,
                                const void *rows, int64_t timeout_ns, struct tr_error *error);

/* Frees the rows of a tensor, whoever has handles on it; one that is not there is well. */
TR_API int tr_dist_tensor_delete(struct tr_graph *graph, uint32_t ntype, const char *name,
                                 int64_t timeout_ns, struct tr_error *error);
/* The same of this very tensor: a newer one of its name stays. */
TR_API int tr_dist_tensor_drop(struct tr_dist_tensor *tensor, int64_t timeout_ns,
                               struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
