/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/remote_echo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/forked_peer.h"
#include "runtime/core/call.h"
#include "runtime/core/directory.h"
#include "runtime/core/node.h"
#include "runtime/core/port.h"
#include "runtime/event/env_event.h"
#include "runtime/net/links.h"

#define DEADLINE_NS UINT64_C(120000000000)
#define BODY_BYTES_MAX (UINT64_C(64) << 20)
#define NAME "bench"
#define CLUSTER "bench"
/* Latencies that are kept, of the last calls. */
#define SAMPLES (1u << 18)
/* A secret of one run on one machine. */
#define KEY_TEXT "6f1c5ad20b6e4c7f93a7d1e8f0425b3c6f1c5ad20b6e4c7f93a7d1e8f0425b3c\n"

enum { KIND_ASK = 64, KIND_ANSWER, KIND_GO, KIND_GONE };

struct echo_request {
    uint64_t bytes; /* of the reply */
};

struct gone {
    struct remote_echo_result result;
};

static int echo_encode(const void *head, void *out, size_t capacity)
{
    if (capacity < sizeof(struct echo_request))
        return TR_ETOOBIG;
    memcpy(out, head, sizeof(struct echo_request));
    return sizeof(struct echo_request);
}

static int echo_verify(const void *bytes, size_t count)
{
    (void)bytes;
    return count == sizeof(struct echo_request) ? 0 : TR_EFORMAT;
}

static int echo_decode(const void *bytes, size_t count, void *head)
{
    memcpy(head, bytes, count);
    return 0;
}

static const struct kind remote_echo_kinds[] = {
    { .id = KIND_ASK,
      .name = "ask",
      .lane = KIND_DATA,
      .class = KIND_PURE,
      .head_bytes = sizeof(struct echo_request),
      .body_bytes_max = BODY_BYTES_MAX,
      .encode = echo_encode,
      .verify = echo_verify,
      .decode = echo_decode },
    { .id = KIND_ANSWER,
      .name = "answer",
      .lane = KIND_DATA,
      .class = KIND_PURE,
      .head_bytes = sizeof(struct echo_request),
      .body_bytes_max = BODY_BYTES_MAX,
      .encode = echo_encode,
      .verify = echo_verify,
      .decode = echo_decode },
    { .id = KIND_GO,
      .name = "go",
      .class = KIND_ONCE,
      .head_bytes = sizeof(struct remote_echo_load) },
    { .id = KIND_GONE, .name = "gone", .class = KIND_ONCE, .head_bytes = sizeof(struct gone) },
};

/* Bodies that are sent again and again; immutable while they are shared. */
struct bodies {
    struct buffer *buffers[REMOTE_ECHO_WINDOW_MAX];
    uint64_t bytes;
    uint32_t count, next;
};

static void drop_bodies(struct actor *self, struct bodies *bodies)
{
    for (uint32_t i = 0; i < bodies->count; i++)
        buffer_release(self, bodies->buffers[i]);
    bodies->count = bodies->next = 0;
}

/* As many as are under way at a time: more than a cache of the first levels has room for. */
static int make_bodies(struct actor *self, struct bodies *bodies, uint64_t bytes, uint32_t count)
{
    drop_bodies(self, bodies);
    bodies->bytes = bytes;
    for (uint32_t i = 0; i < count; i++) {
        bodies->buffers[i] = buffer_create(self, bytes);
        if (bodies->buffers[i] == NULL)
            return TR_ENOMEM;
        bodies->count++;
        memset(bodies->buffers[i]->data, (int)i, bytes);
    }
    return 0;
}

static void attach_body(struct bodies *bodies, struct message *message)
{
    struct buffer *body = bodies->buffers[bodies->next];
    bodies->next = (bodies->next + 1) % bodies->count;
    message_body_attach(message, buffer_acquire(body), bodies->bytes);
}

/* The other process's actor. */

#define ANSWER_BODIES 2u

static int answerer_start(struct actor *self, const void *arg)
{
    (void)arg;
    struct bodies *bodies = calloc(1, sizeof *bodies);
    actor_set_state(self, bodies);
    return bodies != NULL ? directory_register(self, NAME, NULL, NULL) : TR_ENOMEM;
}

static int answerer_receive(struct actor *self, struct message *request)
{
    struct bodies *bodies = actor_state(self);
    uint64_t bytes = ((struct echo_request *)message_head(request))->bytes;
    struct message *reply = message_create(self, KIND_ANSWER);
    int rv = reply != NULL ? 0 : TR_ENOMEM;
    if (rv == 0 && bytes > 0 && (bodies->count == 0 || bodies->bytes != bytes))
        rv = make_bodies(self, bodies, bytes, ANSWER_BODIES);
    if (rv < 0) {
        message_release(self, reply);
        actor_refuse(self, request, rv);
        return 0;
    }
    if (bytes > 0)
        attach_body(bodies, reply);
    return actor_reply(self, request, reply);
}

static void answerer_fini(struct actor *self)
{
    struct bodies *bodies = actor_state(self);
    if (bodies != NULL)
        drop_bodies(self, bodies);
    free(bodies);
}

static const struct actor_ops answerer_ops = { "answerer", answerer_start, answerer_receive, NULL,
                                               answerer_fini };

/* The driver. */

struct echo_driver;

/* One of the calls under way. */
struct echo_lane {
    struct echo_driver *driver;
    uint64_t from_ns;
};

struct echo_driver {
    struct remote_echo *echo;
    struct remote_echo_load load;
    uint64_t begun, done, from_ns;
    struct message *request;
    struct address to;
    struct bodies bodies;
    struct echo_lane lanes[REMOTE_ECHO_WINDOW_MAX];
    uint32_t *samples; /* [SAMPLES] ns */
};

struct remote_echo {
    struct env *env;
    struct node *node;
    struct kinds kinds;
    struct endpoint endpoint; /* of the other process */
    struct security *security;
    struct address driver;
    struct port *port;
    struct forked_peer peer;
    bool tls, started;
};

static int echo_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void echo_finish(struct actor *self, struct echo_driver *driver, int status)
{
    struct message *request = driver->request;
    struct message *reply = status == 0 ? message_create(self, KIND_GONE) : NULL;
    driver->request = NULL;
    drop_bodies(self, &driver->bodies);
    if (request == NULL) {
        message_release(self, reply);
        return;
    }
    if (reply == NULL) {
        actor_refuse(self, request, status < 0 ? status : TR_ENOMEM);
        return;
    }
    size_t count = driver->done < SAMPLES ? (size_t)driver->done : SAMPLES;
    struct gone *gone = message_head(reply);
    gone->result.seconds = (double)(env_now_ns(driver->echo->env) - driver->from_ns) / 1e9;
    qsort(driver->samples, count, sizeof *driver->samples, echo_compare);
    gone->result.median = (double)driver->samples[count / 2] / 1e9;
    actor_reply(self, request, reply);
}

static int echo_call(struct actor *self, struct echo_lane *lane);

static void echo_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct echo_lane *lane = arg;
    struct echo_driver *driver = lane->driver;
    uint64_t ns = env_now_ns(driver->echo->env) - lane->from_ns;
    message_release(self, reply);
    if (driver->request == NULL)
        return;
    driver->samples[driver->done++ % SAMPLES] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
    if (status == 0 && driver->begun < driver->load.calls)
        status = echo_call(self, lane);
    if (status < 0 || driver->done == driver->load.calls)
        echo_finish(self, driver, status);
}

static int echo_call(struct actor *self, struct echo_lane *lane)
{
    struct echo_driver *driver = lane->driver;
    struct message *request = message_create(self, KIND_ASK);
    if (request == NULL)
        return TR_ENOMEM;
    ((struct echo_request *)message_head(request))->bytes = driver->load.reply_bytes;
    if (driver->load.request_bytes > 0)
        attach_body(&driver->bodies, request);
    driver->begun++;
    lane->from_ns = env_now_ns(driver->echo->env);
    return actor_call(self, driver->to, request, lane->from_ns + DEADLINE_NS, echo_answered, lane,
                      NULL);
}

static void echo_begin(struct actor *self, struct echo_driver *driver)
{
    int rv = 0;
    driver->begun = driver->done = 0;
    if (driver->load.request_bytes > 0)
        rv = make_bodies(self, &driver->bodies, driver->load.request_bytes, driver->load.window);
    driver->from_ns = env_now_ns(driver->echo->env);
    for (uint32_t i = 0; i < driver->load.window && i < driver->load.calls && rv == 0; i++) {
        driver->lanes[i].driver = driver;
        rv = echo_call(self, &driver->lanes[i]);
    }
    if (rv < 0)
        echo_finish(self, driver, rv);
}

static void echo_found(struct actor *self, void *arg, int status, struct address address)
{
    struct echo_driver *driver = arg;
    driver->to = address;
    if (status < 0)
        echo_finish(self, driver, status);
    else
        echo_begin(self, driver);
}

static int driver_start(struct actor *self, const void *arg)
{
    struct echo_driver *driver = calloc(1, sizeof *driver);
    actor_set_state(self, driver);
    if (driver == NULL)
        return TR_ENOMEM;
    driver->echo = (void *)(uintptr_t)arg;
    driver->samples = calloc(SAMPLES, sizeof *driver->samples);
    return driver->samples != NULL ? 0 : TR_ENOMEM;
}

static int driver_receive(struct actor *self, struct message *message)
{
    struct echo_driver *driver = actor_state(self);
    driver->load = *(struct remote_echo_load *)message_head(message);
    driver->request = message;
    return directory_wait_at(self, 0, NAME, actor_now_ns(self) + DEADLINE_NS, echo_found, driver);
}

static void driver_fini(struct actor *self)
{
    struct echo_driver *driver = actor_state(self);
    if (driver == NULL)
        return;
    drop_bodies(self, &driver->bodies);
    message_release(self, driver->request);
    free(driver->samples);
    free(driver);
}

static const struct actor_ops driver_ops = { "driver", driver_start, driver_receive, NULL,
                                             driver_fini };

/* Nodes: the other process is node 0 and listens, this one is 1 and connects. */

static int make_key(struct remote_echo *echo, struct error *error)
{
    char path[] = "/tmp/troupe-bench-key-XXXXXX";
    if (!echo->tls)
        return 0;
    int fd = mkstemp(path); /* mode 0600 */
    if (fd < 0)
        return error_set(error, TR_EIO, "%s: no key can be made", path);
    ssize_t put = write(fd, KEY_TEXT, strlen(KEY_TEXT));
    close(fd);
    struct security_options options = { .shared_key = path };
    int rv = put == (ssize_t)strlen(KEY_TEXT) ? security_create(&options, &echo->security, error)
                                              : error_set(error, TR_EIO, "%s: not written", path);
    unlink(path);
    return rv;
}

static int make_node(struct remote_echo *echo, uint32_t id, struct error *error)
{
    struct node_options options = { .id = id, .kinds = &echo->kinds };
    struct endpoint listen = { .kind = ENDPOINT_TCP, .host = "127.0.0.1" };
    struct links_peer peer = { .node = 1 - id };
    struct links_options links = { .cluster = CLUSTER,
                                   .peers = &peer,
                                   .num_peers = 1,
                                   .security = echo->security,
                                   .insecure_network = !echo->tls };
    if (id == 0) {
        links.listen = &listen;
        links.num_listen = 1;
    } else {
        peer.endpoint = echo->endpoint;
    }
    int rv = env_event_create(1, &echo->env, error);
    if (rv == 0)
        rv = node_create(echo->env, &options, &echo->node, error);
    if (rv == 0)
        rv = links_create(echo->node, &links, error);
    if (rv == 0 && id == 0)
        rv = links_listening(echo->node, 0, &echo->endpoint);
    if (rv == 0) {
        struct actor_options actor = { .ops = id == 0 ? &answerer_ops : &driver_ops, .arg = echo };
        rv = node_spawn(echo->node, &actor, &echo->driver);
    }
    if (rv == 0)
        rv = node_start(echo->node);
    echo->started = rv == 0;
    return rv;
}

static void end_node(struct remote_echo *echo)
{
    if (echo->port != NULL) {
        port_close(echo->port);
        port_destroy(echo->port);
    }
    if (echo->started) {
        node_stop(echo->node, env_now_ns(echo->env) + DEADLINE_NS);
        node_join(echo->node);
    }
    node_destroy(echo->node);
    if (echo->env != NULL)
        env_destroy(echo->env);
    echo->port = NULL;
    echo->node = NULL;
    echo->env = NULL;
    echo->started = false;
}

static int echo_answer(void *arg, const struct forked_peer_child *child)
{
    struct remote_echo *echo = arg;
    struct error error;
    int rv = make_node(echo, 0, &error);
    if (rv == 0)
        rv = forked_peer_say(child, &echo->endpoint, sizeof echo->endpoint);
    else
        fprintf(stderr, "troupe bench: %s\n", error.text);
    if (rv == 0)
        forked_peer_wait(child);
    end_node(echo);
    return rv == 0 ? 0 : 1;
}

int remote_echo_open(bool tls, struct remote_echo **out, struct error *error)
{
    struct remote_echo *echo = calloc(1, sizeof *echo);
    *out = NULL;
    if (echo == NULL)
        return error_set(error, TR_ENOMEM, "bench of links: out of memory");
    echo->tls = tls;
    for (size_t i = 0; i < sizeof remote_echo_kinds / sizeof *remote_echo_kinds; i++)
        kinds_add(&echo->kinds, &remote_echo_kinds[i], NULL);
    int rv = make_key(echo, error);
    if (rv == 0)
        rv = forked_peer_start(&echo->peer, echo_answer, echo, error);
    if (rv == 0)
        rv = forked_peer_hear(&echo->peer, &echo->endpoint, sizeof echo->endpoint, error);
    if (rv < 0) {
        remote_echo_close(echo);
        return rv;
    }
    *out = echo;
    return 0;
}

void remote_echo_close(struct remote_echo *echo)
{
    if (echo == NULL)
        return;
    end_node(echo);
    forked_peer_end(&echo->peer);
    security_destroy(echo->security);
    free(echo);
}

/* With the first load: until then this process has no threads, and others can be started. */
static int echo_join(struct remote_echo *echo, struct error *error)
{
    if (echo->port != NULL)
        return 0;
    int rv = make_node(echo, 1, error);
    return rv == 0 ? port_open(echo->node, 0, &echo->port) : rv;
}

int remote_echo_run(struct remote_echo *echo, const struct remote_echo_load *load,
                    struct remote_echo_result *result, struct error *error)
{
    struct message *reply = NULL;
    int rv = echo_join(echo, error);
    if (rv < 0)
        return rv;
    struct message *go = port_message(echo->port, KIND_GO);
    if (go == NULL)
        return error_set(error, TR_ENOMEM, "bench of links: out of memory");
    *(struct remote_echo_load *)message_head(go) = *load;
    rv = port_call(echo->port, echo->driver, go, port_now_ns(echo->port) + DEADLINE_NS, &reply);
    if (rv < 0)
        return error_set(error, rv, "bench of links: %s", tr_strerror(rv));
    *result = ((struct gone *)message_head(reply))->result;
    port_release(echo->port, reply);
    return 0;
}
