/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/runtime/raw_peer.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/core/runtime_kinds.h"

int raw_connect(const struct cluster *cluster)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    memcpy(address.sun_path, cluster->endpoints[0].host, sizeof address.sun_path - 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    struct timeval wait = { .tv_sec = 20 };
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

struct wire_hello raw_hello(uint32_t node, uint32_t incarnation)
{
    struct kinds kinds = *link_kinds();
    runtime_kinds_add(&kinds);
    return (struct wire_hello){
        .protocol_first = LINKS_PROTOCOL_FIRST,
        .protocol_last = LINKS_PROTOCOL_LAST,
        .schema_hash = wire_schema_hash(&kinds),
        .cluster = "test",
        .node = node,
        .incarnation = incarnation,
        .nonce = 99,
        .window_bytes = 1 << 20,
    };
}

/* The type of the answer, 0: none came. */
static uint8_t greet_once(int fd, const struct wire_hello *hello, uint32_t *refusal)
{
    unsigned char record[WIRE_HEADER_BYTES + HELLO_CODEC_BYTES_MAX];
    uint32_t bytes = greeting_record(WIRE_HELLO, hello, 0, record);
    struct wire_header header;
    if (send(fd, record, bytes, MSG_NOSIGNAL) != bytes ||
        recv(fd, &header, sizeof header, MSG_WAITALL) != sizeof header)
        return 0;
    assert_true(header.bytes <= sizeof record);
    assert_int_equal(recv(fd, record, header.bytes, MSG_WAITALL), header.bytes);
    if (header.type == WIRE_REFUSE && refusal != NULL)
        assert_int_equal(refuse_decode(record, header.bytes, refusal), 0);
    return header.type;
}

uint8_t raw_greet(const struct cluster *cluster, const struct wire_hello *hello, int *fd,
                  uint32_t *refusal)
{
    for (;;) {
        *fd = raw_connect(cluster);
        uint8_t type = greet_once(*fd, hello, refusal);
        if (type != 0)
            return type;
        close(*fd);
        usleep(1000);
    }
}

void raw_open(struct raw_peer *peer, const struct cluster *cluster, uint32_t node,
              uint32_t incarnation)
{
    struct wire_hello hello = raw_hello(node, incarnation);
    *peer = (struct raw_peer){ .cluster = cluster, .node = node, .incarnation = incarnation };
    while (raw_greet(cluster, &hello, &peer->fd, NULL) != WIRE_WELCOME) {
        close(peer->fd);
        usleep(1000);
    }
}

uint32_t raw_record(struct raw_peer *peer, uint8_t lane, struct frame frame, const void *head,
                    uint32_t head_bytes, unsigned char *record)
{
    if (frame.from.node == 0)
        frame.from = (struct address){ peer->node, peer->incarnation, 1, 1 };
    frame.head_bytes = head_bytes;
    struct wire_header header = { .type = WIRE_MESSAGE,
                                  .lane = lane,
                                  .bytes = (uint32_t)sizeof frame + head_bytes,
                                  .sequence = peer->sent[lane]++ };
    memcpy(record, &header, sizeof header);
    memcpy(record + sizeof header, &frame, sizeof frame);
    if (head_bytes > 0)
        memcpy(record + sizeof header + sizeof frame, head, head_bytes);
    return (uint32_t)sizeof header + header.bytes;
}

void raw_send(struct raw_peer *peer, uint8_t lane, struct frame frame, const void *head,
              uint32_t head_bytes)
{
    unsigned char record[512];
    assert_true(WIRE_HEADER_BYTES + sizeof frame + head_bytes <= sizeof record);
    uint32_t bytes = raw_record(peer, lane, frame, head, head_bytes, record);
    ssize_t sent = send(peer->fd, record, bytes, MSG_NOSIGNAL);
    assert_true(sent == bytes || sent < 0); /* the other side may have closed */
}

bool raw_receive(struct raw_peer *peer, struct frame *frame, void *head, size_t head_bytes)
{
    unsigned char payload[WIRE_LEAD_BYTES_MAX];
    struct wire_header header;
    do {
        if (recv(peer->fd, &header, sizeof header, MSG_WAITALL) != sizeof header)
            return false;
        assert_true(header.bytes <= sizeof payload);
        if (header.bytes > 0 &&
            recv(peer->fd, payload, header.bytes, MSG_WAITALL) != (ssize_t)header.bytes)
            return false;
    } while (header.type != WIRE_MESSAGE);
    memcpy(frame, payload, sizeof *frame);
    assert_true(frame->head_bytes <= head_bytes);
    memcpy(head, payload + sizeof *frame, frame->head_bytes);
    return true;
}
