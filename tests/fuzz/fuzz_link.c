/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection of a peer that was greeted: records, frames, heads and bodies as a link reads them,
 * up to the actors that they are for.
 *
 * Input: a byte of choices, a byte for the size of the pieces that arrive, then records: type,
 * lane, u16 bytes of the payload, payload. The target makes headers of them, with checksums and
 * sequence numbers that are right, and puts sender and receiver into frames, unless the choices
 * say that all of it is as the input has it. At the end everything that came has been freed.
 */
#include "runtime/base/crc32c.h"
#include "runtime/core/actor.h"
#include "runtime/net/link_impl.h"
#include "runtime/sim/env_sim.h"
#include "schemas/messages.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_stream.h"

enum { CHOICE_RAW = 1, CHOICE_FRAMES = 2, CHOICE_TRUSTED = 4 };

#define OUR_INCARNATION 7u
#define PEER 1u
#define PEER_INCARNATION 3u
#define TYPE_PLAIN 0x80u /* of a record's type: its header is as it stands */
#define RUN_NS (ENV_SECOND_NS / 20)

static int sink_receive(struct actor *self, struct message *message)
{
    fuzz_touch(message_body(message), message->frame.body_bytes);
    if ((message->frame.flags & MESSAGE_REQUEST) && message->frame.body_bytes == 0) {
        struct message *reply = message_create(self, MSG_ERROR_REPLY);
        if (reply != NULL) {
            actor_reply(self, message, reply);
            return 0;
        }
    }
    message_release(self, message);
    return 0;
}

static const struct actor_ops sink_ops = { .name = "sink", .receive = sink_receive };

/* Records in the making. */
struct writing {
    uint8_t *bytes;
    size_t count;
    uint32_t sequence[WIRE_LANES];
    uint8_t choice;
    struct address sink;
};

static void address_frame(const struct writing *writing, uint8_t *payload, size_t count)
{
    struct frame frame;
    if ((writing->choice & CHOICE_FRAMES) || count < sizeof frame)
        return;
    memcpy(&frame, payload, sizeof frame);
    frame.from.node = PEER;
    frame.from.incarnation = PEER_INCARNATION;
    if (frame.to.slot == 0)
        frame.to = writing->sink;
    frame.to.node = 0;
    frame.to.incarnation = OUR_INCARNATION;
    memcpy(payload, &frame, sizeof frame);
}

static void write_record(struct writing *writing, struct fuzz_bytes *bytes)
{
    uint8_t type = fuzz_byte(bytes), lane = fuzz_byte(bytes);
    uint32_t count = fuzz_u16(bytes);
    uint8_t *header_at = writing->bytes + writing->count;
    uint8_t *payload = header_at + WIRE_HEADER_BYTES;
    struct wire_header header = { .type = type & ~TYPE_PLAIN, .lane = lane };
    count = count < bytes->left ? count : (uint32_t)bytes->left;
    if (count > 0)
        memcpy(payload, bytes->at, count);
    bytes->at += count;
    bytes->left -= count;
    header.bytes = count;
    if (header.type == WIRE_MESSAGE && !(type & TYPE_PLAIN)) {
        address_frame(writing, payload, count);
        header.sequence = lane < WIRE_LANES ? writing->sequence[lane]++ : 0;
    }
    if (!(writing->choice & CHOICE_TRUSTED))
        header.crc = crc32c(wire_crc_begin(&header), payload, count);
    memcpy(header_at, &header, sizeof header);
    writing->count += WIRE_HEADER_BYTES + count;
}

static bool link_is_there(void *arg)
{
    struct node *node = arg;
    struct link *link = links_find(links_of(node), PEER);
    return link != NULL && link->self != NULL;
}

static bool node_is_over(void *arg)
{
    return node_is_stopped(arg);
}

static struct node *make_node(struct env *env, struct address *sink)
{
    static struct kinds kinds;
    static const struct links_peer peers[] = { { .node = PEER } };
    struct node_options options = { .incarnation = OUR_INCARNATION, .kinds = &kinds };
    const struct links_options links = {
        .cluster = "job", .peers = peers, .num_peers = 1, .insecure_network = true
    };
    const struct actor_options actor = { .ops = &sink_ops };
    struct node *node;
    if (kinds_find(&kinds, MESSAGES_FIRST_KIND) == NULL)
        messages_register(&kinds, NULL);
    int rv = node_create(env, &options, &node, NULL);
    assert(rv == 0);
    rv = links_create(node, &links, NULL);
    assert(rv == 0);
    rv = node_spawn(node, &actor, sink);
    assert(rv == 0);
    rv = node_start(node);
    assert(rv == 0);
    rv = env_sim_run(env, link_is_there, node, env_sim_now_ns(env) + ENV_SECOND_NS);
    assert(rv == 0);
    return node;
}

/* Does as the listener with a connection that it greeted. */
static void connect_peer(struct node *node, struct stream *stream)
{
    struct link *link = links_find(links_of(node), PEER);
    struct link_arrival *arrival = calloc(1, sizeof *arrival);
    assert(arrival != NULL);
    int rv = transport_create(stream, NULL, false, NULL, &arrival->transport, NULL);
    assert(rv == 0);
    rv = transport_handshake(arrival->transport, NULL);
    assert(rv == 0);
    arrival->link = link;
    arrival->hello = (struct wire_hello){
        .protocol_first = LINKS_PROTOCOL_FIRST,
        .protocol_last = LINKS_PROTOCOL_LAST,
        .schema_hash = links_of(node)->schema_hash,
        .cluster = "job",
        .node = PEER,
        .incarnation = PEER_INCARNATION,
        .nonce = 5,
        .window_bytes = LINKS_WINDOW_BYTES,
    };
    arrival->post.run = link_arrive;
    atomic_fetch_add(&link->references, 1);
    loop_post(link->loop, &arrival->post);
}

static void run_node(struct writing *writing, struct fuzz_bytes *input, size_t piece)
{
    bool raw = (writing->choice & CHOICE_RAW) != 0, trusted = writing->choice & CHOICE_TRUSTED;
    struct env *env;
    uint32_t open = 0;
    int rv = env_sim_create(1, NULL, &env);
    assert(rv == 0);
    struct node *node = make_node(env, &writing->sink);
    while (!raw && input->left > 0)
        write_record(writing, input);
    struct stream *stream = memory_stream_create(raw ? input->at : writing->bytes,
                                                 raw ? input->left : writing->count, piece, trusted,
                                                 &open);
    assert(stream != NULL);
    connect_peer(node, stream);
    env_sim_run(env, NULL, NULL, env_sim_now_ns(env) + RUN_NS);
    node_stop(node, env_sim_now_ns(env) + ENV_SECOND_NS);
    rv = env_sim_run(env, node_is_over, node, env_sim_now_ns(env) + 60 * ENV_SECOND_NS);
    assert(rv == 0 && open == 0);
    node_destroy(node);
    env_destroy(env);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = { data, size };
    struct writing writing = { .choice = fuzz_byte(&bytes) };
    size_t piece = fuzz_byte(&bytes);
    /* A record of the input has 4 bytes of header at least. */
    writing.bytes = malloc((bytes.left / 4 + 1) * WIRE_HEADER_BYTES + bytes.left +
                           WIRE_HEADER_BYTES);
    assert(writing.bytes != NULL);
    run_node(&writing, &bytes, piece);
    free(writing.bytes);
    return 0;
}
