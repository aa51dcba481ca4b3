/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost that a link adds to a hop of 1024 seeds: the records, encoding and verifying both heads,
 * checking both bodies, checksums at both ends, and an acknowledgement with credit each way; beside
 * the hop itself: drawing 15 neighbours of each seed into the answer, and sending both messages
 * over TCP loopback. All by the CPU time of this thread.
 */
#include "bench/benches.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/biggraph.h"
#include "bench/clock.h"
#include "bench/walk.h"
#include "graph/key.h"
#include "graph/sample.h"
#include "runtime/base/crc32c.h"
#include "runtime/net/wire.h"
#include "schemas/messages.h"

#define FANOUT 15u
#define GOAL 0.05
#define TURNS 2000u
#define BODY_ROOM ((size_t)1 << 18)

/* One of the two messages. */
struct parcel {
    const struct kind *kind;
    union {
        struct msg_sample_request request;
        struct msg_sample_reply reply;
    } head;
    unsigned char *body; /* [BODY_ROOM], aligned to 64 bytes */
    uint64_t body_bytes;
};

struct link_cost {
    struct biggraph graph;
    struct walk walk;
    struct sample_space space;
    struct kinds kinds;
    struct parcel request, reply;
    uint64_t batch;
    int fds[2];
    unsigned char *landing; /* where the other end reads to */
};

/* The answer's body: one answer, its counts, its columns. */
static int link_cost_draw(struct link_cost *cost)
{
    const struct graph_part *part = &cost->graph.part;
    struct draw_key key = { .seed = cost->walk.seed,
                            .batch = cost->batch++,
                            .purpose = KEY_NEIGHBOURS };
    walk_deal(&cost->walk, cost->batch);
    struct msg_sample_answer *answer = (void *)cost->reply.body;
    uint32_t *counts = (uint32_t *)(void *)(answer + 1);
    struct sample_request request = {
        .csc = &part->edges[0].csc,
        .original_ids = part->nodes[0].original_ids,
        .rows = cost->walk.seeds,
        .num_rows = WALK_SEEDS,
        .term = SAMPLE_TERM(FANOUT, false),
        .key_base = key_base(&key),
    };
    struct sample_result result = { .counts = counts, .columns = counts + WALK_SEEDS };
    int rv = sample_uniform(&cost->space, &request, &result);
    *answer = (struct msg_sample_answer){ .num_rows = WALK_SEEDS,
                                          .column_bytes = 4,
                                          .num_edges = result.num_edges };
    cost->reply.head.reply = (struct msg_sample_reply){ .num_sections = 1, .done = 1 };
    cost->reply.body_bytes = sizeof *answer + (WALK_SEEDS + result.num_edges) * sizeof *counts;
    return rv;
}

static void link_cost_ask(struct link_cost *cost)
{
    struct msg_sample_section *section = (void *)cost->request.body;
    cost->request.head.request = (struct msg_sample_request){ .num_sections = 1 };
    *section = (struct msg_sample_section){ .num_rows = WALK_SEEDS,
                                            .term = SAMPLE_TERM(FANOUT, false) };
    memcpy(section + 1, cost->walk.seeds, sizeof cost->walk.seeds);
    cost->request.body_bytes = sizeof *section + sizeof cost->walk.seeds;
}

/* Both ends of a record without its way. */
static int link_cost_record(const struct parcel *parcel)
{
    unsigned char lead[sizeof(struct frame) + KIND_ENCODED_BYTES_MAX];
    union {
        struct msg_sample_request request;
        struct msg_sample_reply reply;
    } head = { .reply = { 0 } };
    struct frame frame = { .kind = parcel->kind->id, .body_bytes = parcel->body_bytes };
    int bytes = parcel->kind->encode(&parcel->head, lead + sizeof frame, KIND_ENCODED_BYTES_MAX);
    if (bytes < 0)
        return bytes;
    frame.head_bytes = (uint32_t)bytes;
    memcpy(lead, &frame, sizeof frame);
    size_t lead_bytes = sizeof frame + (size_t)bytes;
    struct wire_header header = { .type = WIRE_MESSAGE,
                                  .bytes = (uint32_t)(lead_bytes + parcel->body_bytes) };
    header.crc = crc32c(crc32c(wire_crc_begin(&header), lead, lead_bytes), parcel->body,
                        parcel->body_bytes);
    int rv = wire_check_header(&header, false);
    if (rv == 0)
        rv = parcel->kind->verify(lead + sizeof frame, frame.head_bytes);
    if (rv == 0)
        rv = parcel->kind->decode(lead + sizeof frame, frame.head_bytes, &head);
    uint32_t crc = crc32c(crc32c(wire_crc_begin(&header), lead, lead_bytes), parcel->body,
                          parcel->body_bytes);
    if (rv == 0 && parcel->kind->check != NULL)
        rv = parcel->kind->check(&head, parcel->body, parcel->body_bytes);
    return crc != header.crc ? TR_EFORMAT : rv;
}

static int link_cost_acknowledge(uint64_t number)
{
    struct wire_header header = { .type = WIRE_ACK, .bytes = sizeof(struct wire_ack) };
    struct wire_ack ack = { .received = { number }, .released_bytes = number };
    header.crc = crc32c(wire_crc_begin(&header), &ack, sizeof ack);
    uint32_t crc = crc32c(wire_crc_begin(&header), &ack, sizeof ack);
    return crc == header.crc ? wire_check_header(&header, false) : TR_EFORMAT;
}

static int measure_link(void *arg, double *value, struct error *error)
{
    struct link_cost *cost = arg;
    int rv = link_cost_draw(cost);
    link_cost_ask(cost);
    double start = clock_thread();
    for (uint32_t i = 0; i < TURNS && rv == 0; i++) {
        rv = link_cost_record(&cost->request);
        if (rv == 0)
            rv = link_cost_record(&cost->reply);
        if (rv == 0)
            rv = link_cost_acknowledge(i);
        if (rv == 0)
            rv = link_cost_acknowledge(i + 1);
    }
    *value = (clock_thread() - start) / TURNS;
    return rv == 0 ? 0 : error_set(error, rv, "link_cost: a message did not verify");
}

static int link_cost_transfer(struct link_cost *cost, int from, const struct parcel *parcel)
{
    uint64_t sent = 0, got = 0;
    while (got < parcel->body_bytes) {
        ssize_t put = sent == parcel->body_bytes ? 0
                                                 : send(cost->fds[from], parcel->body + sent,
                                                        parcel->body_bytes - sent, MSG_DONTWAIT);
        sent += put > 0 ? (uint64_t)put : 0;
        ssize_t came = recv(cost->fds[!from], cost->landing + got, BODY_ROOM - got, MSG_DONTWAIT);
        if (came == 0)
            return TR_EIO;
        got += came > 0 ? (uint64_t)came : 0;
    }
    return 0;
}

static int measure_hop(void *arg, double *value, struct error *error)
{
    struct link_cost *cost = arg;
    int rv = 0;
    double start = clock_thread();
    for (uint32_t i = 0; i < TURNS / 4 && rv == 0; i++) {
        rv = link_cost_draw(cost);
        link_cost_ask(cost);
        if (rv == 0)
            rv = link_cost_transfer(cost, 0, &cost->request);
        if (rv == 0)
            rv = link_cost_transfer(cost, 1, &cost->reply);
    }
    *value = (clock_thread() - start) / (TURNS / 4);
    return rv == 0 ? 0 : error_set(error, rv, "link_cost: no hop");
}

static int connect_ends(int fds[2], struct error *error)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected = listener >= 0 && fds[0] >= 0 &&
                     bind(listener, (struct sockaddr *)&address, length) == 0 &&
                     listen(listener, 1) == 0 &&
                     getsockname(listener, (struct sockaddr *)&address, &length) == 0 &&
                     connect(fds[0], (struct sockaddr *)&address, length) == 0;
    fds[1] = connected ? accept(listener, NULL, NULL) : -1;
    if (listener >= 0)
        close(listener);
    return fds[1] >= 0 ? 0 : error_set(error, TR_EIO, "no connection over TCP loopback");
}

static void link_cost_fini(struct link_cost *cost)
{
    for (int i = 0; i < 2; i++)
        if (cost->fds[i] >= 0)
            close(cost->fds[i]);
    free(cost->request.body);
    free(cost->reply.body);
    free(cost->landing);
    sample_space_fini(&cost->space);
    walk_fini(&cost->walk);
    biggraph_fini(&cost->graph);
}

static int link_cost_init(struct link_cost *cost, const struct bench_options *options,
                          struct error *error)
{
    *cost = (struct link_cost){ .fds = { -1, -1 } };
    int rv = biggraph_init(&cost->graph, options->scale);
    if (rv != 0)
        return error_set(error, rv, "link_cost: no graph of scale %g", options->scale);
    rv = walk_init(&cost->walk, &cost->graph.part, options->seed, error);
    if (rv == 0)
        rv = messages_register(&cost->kinds, error);
    if (rv == 0)
        rv = connect_ends(cost->fds, error);
    if (rv != 0)
        return rv;
    cost->request.kind = kinds_find(&cost->kinds, MSG_SAMPLE_REQUEST);
    cost->reply.kind = kinds_find(&cost->kinds, MSG_SAMPLE_REPLY);
    cost->request.body = aligned_alloc(64, BODY_ROOM);
    cost->reply.body = aligned_alloc(64, BODY_ROOM);
    cost->landing = aligned_alloc(64, BODY_ROOM);
    if (cost->request.body == NULL || cost->reply.body == NULL || cost->landing == NULL)
        return error_set(error, TR_ENOMEM, "out of memory");
    return 0;
}

int link_cost_bench(const struct bench_options *options, bench_emit *emit, void *arg,
                    struct error *error)
{
    struct link_cost cost;
    struct figure figure = { .name = "link_cost",
                             .unit = "seconds/hop",
                             .goal = GOAL,
                             .lower_is_better = true,
                             .reference = "a hop of 1024 seeds over bare sockets" };
    int rv = link_cost_init(&cost, options, error);
    if (rv == 0)
        rv = figure_pair(&figure, options->rounds, measure_link, measure_hop, &cost, error);
    if (rv == 0)
        emit(arg, &figure);
    link_cost_fini(&cost);
    return rv;
}
