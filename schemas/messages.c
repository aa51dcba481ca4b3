#include "schemas/messages.h"

#include "runtime/kind.h"
#include "schemas/body.h"
#include "schemas/codec.h"

/* Rows of a request: a frontier of 16 million nodes is beyond any batch. */
#define REQUEST_BYTES_MAX (UINT64_C(64) << 20)
/* Seeds of a loader, 16 bytes each; a batch flattened. */
#define BULK_BYTES_MAX (UINT64_C(4) << 30)
#define TEXT_BYTES_MAX (UINT64_C(16) << 20)

#define BODY_BYTES_MAX(id)                                                                       \
    ((id) == MSG_SAMPLE_REQUEST || (id) == MSG_ROWS_REQUEST ? REQUEST_BYTES_MAX                  \
     : (id) == MSG_SAMPLE_REPLY || (id) == MSG_ROWS_REPLY || (id) == MSG_SELECT_REPLY            \
         ? MSG_REPLY_BYTES_MAX                                                                   \
     : (id) == MSG_META_REPLY || (id) == MSG_FAILED || (id) == MSG_MEMBERS_REPLY ? TEXT_BYTES_MAX \
     : (id) == MSG_LOADER_OPEN || (id) == MSG_BATCH_REPLY ? BULK_BYTES_MAX                       \
                                                          : 0)

#define X(kind, type, lane, class)                                       \
    static int encode_##type(const void *head, void *out, size_t capacity) \
    {                                                                    \
        return codec_encode(kind, head, out, capacity);                  \
    }                                                                    \
    static int verify_##type(const void *bytes, size_t count)            \
    {                                                                    \
        return codec_verify(kind, bytes, count);                         \
    }                                                                    \
    static int decode_##type(const void *bytes, size_t count, void *head) \
    {                                                                    \
        return codec_decode(kind, bytes, count, head);                   \
    }                                                                    \
    static int check_##type(const void *head, const void *body, uint64_t body_bytes) \
    {                                                                    \
        return messages_verify(kind, head, body, body_bytes);            \
    }
MESSAGES(X)
#undef X

static const struct kind all[] = {
#define X(number, type, way, repeat)           \
    {                                          \
        .id = number,                          \
        .lane = KIND_##way,                    \
        .class = KIND_##repeat,                \
        .head_bytes = sizeof(struct type),     \
        .body_bytes_max = BODY_BYTES_MAX(number), \
        .name = #type,                         \
        .encode = encode_##type,               \
        .verify = verify_##type,               \
        .decode = decode_##type,               \
        .check = check_##type,                 \
    },
    MESSAGES(X)
#undef X
};

/* Its head has a pointer, which an encoding alone would lose. */
static const struct kind batch_reply_here = {
    .id = MSG_BATCH_REPLY,
    .lane = KIND_DATA,
    .class = KIND_PURE,
    .head_bytes = sizeof(struct msg_batch_reply),
    .body_bytes_max = BULK_BYTES_MAX,
    .name = "msg_batch_reply",
};

int messages_register(struct kinds *kinds, const struct kind *batch_reply, struct error *error)
{
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const struct kind *kind = &all[i];
        if (kind->id == MSG_BATCH_REPLY)
            kind = batch_reply != NULL ? batch_reply : &batch_reply_here;
        int rv = kinds_add(kinds, kind, error);
        if (rv != 0)
            return rv;
    }
    return 0;
}

int messages_batch_reply_encode(const void *head, void *out, size_t capacity)
{
    return codec_encode(MSG_BATCH_REPLY, head, out, capacity);
}

int messages_batch_reply_verify(const void *bytes, size_t count)
{
    return codec_verify(MSG_BATCH_REPLY, bytes, count);
}

int messages_batch_reply_decode(const void *bytes, size_t count, void *head)
{
    return codec_decode(MSG_BATCH_REPLY, bytes, count, head);
}
