/* SPDX-License-Identifier: Apache-2.0 */
#include "schemas/messages.h"

#include "runtime/core/kind.h"
#include "schemas/body.h"
#include "schemas/codec.h"

/* Rows of a request, or seeds of a batch: these, and a frontier of 16 million nodes, are beyond any
 * batch. */
#define REQUEST_BYTES_MAX (MSG_BATCH_LISTED_MAX * sizeof(uint64_t))
/* Seeds of a draw, to a proxy in the process that lists them; beside them what to draw. */
#define BULK_BYTES_MAX (MSG_DRAW_LISTED_MAX * sizeof(uint64_t) + REQUEST_BYTES_MAX)
#define TEXT_BYTES_MAX (UINT64_C(16) << 20)

#define BODY_BYTES_MAX(id)                                                                       \
    ((id) == MSG_SAMPLE_REQUEST || (id) == MSG_ROWS_REQUEST || (id) == MSG_FETCH_REQUEST ||      \
             (id) == MSG_BATCH_REQUEST || (id) == MSG_LOADER_OPEN || (id) == MSG_REVERSE_REQUEST \
         ? REQUEST_BYTES_MAX                                                                     \
     : (id) == MSG_SAMPLE_REPLY || (id) == MSG_ROWS_REPLY || (id) == MSG_SELECT_REPLY ||         \
             (id) == MSG_FETCH_REPLY || (id) == MSG_BATCH_PIECE || (id) == MSG_TENSOR_READ ||    \
             (id) == MSG_TENSOR_WRITE || (id) == MSG_TENSOR_STORE || (id) == MSG_REVERSE_REPLY   \
         ? MSG_REPLY_BYTES_MAX                                                                   \
     : (id) == MSG_ERROR_REPLY || (id) == MSG_STATUS_REPLY ? TEXT_BYTES_MAX                      \
     : (id) == MSG_DRAW_REQUEST || (id) == MSG_NODES_REPLY || (id) == MSG_GROUP_REQUEST ||       \
             (id) == MSG_GROUP_REPLY                                                             \
         ? BULK_BYTES_MAX                                                                        \
     : (id) == MSG_REDUCE || (id) == MSG_REDUCED ? MSG_REDUCE_VALUES_MAX * sizeof(float)         \
     : (id) == MSG_RESTORE || (id) == MSG_CHECKPOINT_PART || (id) == MSG_CHECKPOINT_LOOK ||      \
             (id) == MSG_CHECKPOINT_FETCH || (id) == MSG_CHECKPOINT_FIND ||                      \
             (id) == MSG_CHECKPOINT_DROP                                                         \
         ? MSG_PATH_BYTES_MAX                                                                    \
     : (id) == MSG_TENSOR_REQUEST ? MSG_TENSOR_DIMS_MAX * sizeof(uint64_t) + MSG_TENSOR_NAME_MAX \
     : (id) == MSG_CHECKPOINT_COPY || (id) == MSG_CHECKPOINT_PIECE                               \
         ? MSG_CHECKPOINT_PIECE_MAX + MSG_PATH_BYTES_MAX                                         \
     : (id) == MSG_RESTORED || (id) == MSG_CHECKPOINT_FOUND || (id) == MSG_CHECKPOINT_COMMIT     \
         ? TEXT_BYTES_MAX                                                                        \
         : 0)

#define X(kind, type, lane, class)                                                   \
    static int encode_##type(const void *head, void *out, size_t capacity)           \
    {                                                                                \
        return codec_encode(kind, head, out, capacity);                              \
    }                                                                                \
    static int verify_##type(const void *bytes, size_t count)                        \
    {                                                                                \
        return codec_verify(kind, bytes, count);                                     \
    }                                                                                \
    static int decode_##type(const void *bytes, size_t count, void *head)            \
    {                                                                                \
        return codec_decode(kind, bytes, count, head);                               \
    }                                                                                \
    static int check_##type(const void *head, const void *body, uint64_t body_bytes) \
    {                                                                                \
        return messages_verify(kind, head, body, body_bytes);                        \
    }
MESSAGES(X)
#undef X

static const struct kind all[] = {
#define X(number, type, way, repeat)              \
    {                                             \
        .id = number,                             \
        .lane = KIND_##way,                       \
        .class = KIND_##repeat,                   \
        .head_bytes = sizeof(struct type),        \
        .body_bytes_max = BODY_BYTES_MAX(number), \
        .name = #type,                            \
        .encode = encode_##type,                  \
        .verify = verify_##type,                  \
        .decode = decode_##type,                  \
        .observer = number == MSG_STATUS_REQUEST, \
        .check = check_##type,                    \
    },
    MESSAGES(X)
#undef X
};

int messages_register(struct kinds *kinds, struct error *error)
{
    int rv = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && rv == 0; i++)
        rv = kinds_add(kinds, &all[i], error);
    return rv;
}
