/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/runtime/link_support.h"
#include "tests/scratch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/core/directory.h"

static int encode(const void *head, void *out, size_t capacity)
{
    if (capacity < sizeof(struct number))
        return TR_ETOOBIG;
    memcpy(out, head, sizeof(struct number));
    return sizeof(struct number);
}

static int verify(const void *bytes, size_t count)
{
    (void)bytes;
    return count == sizeof(struct number) ? 0 : TR_EFORMAT;
}

static int decode(const void *bytes, size_t count, void *head)
{
    memcpy(head, bytes, count);
    return 0;
}

const struct kinds *link_kinds(void)
{
    static struct kind copies[KINDS_MAX];
    static struct kinds kinds;
    if (kinds.by_id[KIND_NUMBER] != NULL)
        return &kinds; /* loops may be reading it */
    for (uint32_t id = 0; id < KINDS_MAX; id++) {
        const struct kind *kind = kinds_find(support_kinds(), id);
        if (kind == NULL)
            continue;
        copies[id] = *kind;
        copies[id].encode = encode;
        copies[id].verify = verify;
        copies[id].decode = decode;
        copies[id].observer = id == KIND_ASK;
        kinds.by_id[id] = &copies[id];
    }
    return &kinds;
}

static void to_stderr(void *arg, enum log_level level, const char *component, const char *line)
{
    (void)component;
    (void)arg;
    (void)level;
    fprintf(stderr, "# %s\n", line);
}

static struct endpoint endpoint_of(const struct cluster *cluster, uint32_t id)
{
    struct endpoint endpoint = { .kind = cluster->kind };
    if (cluster->kind == ENDPOINT_UNIX)
        snprintf(endpoint.host, sizeof endpoint.host, "%s/%u.sock", cluster->folder, id);
    else
        snprintf(endpoint.host, sizeof endpoint.host, "127.0.0.1");
    return endpoint;
}

void cluster_make_as(struct cluster *cluster, uint32_t id, uint32_t number, uint32_t incarnation)
{
    struct node_options options = {
        .id = number, .incarnation = incarnation, .loops = cluster->loops, .kinds = link_kinds()
    };
    if (getenv("TEST_LOG") != NULL)
        options.log = (struct log_sink){ to_stderr, NULL, LOG_LEVEL_DEBUG };
    struct links_peer peers[CLUSTER_NODES_MAX];
    struct error error;
    uint32_t count = 0;
    for (uint32_t i = 0; i < cluster->num_peers; i++)
        if (i != id)
            peers[count++] = (struct links_peer){
                .node = i,
                .endpoint = i < number ? cluster->endpoints[i] : (struct endpoint){ 0 },
            };
    struct links_options links = cluster->links;
    links.cluster = "test";
    links.listen = &cluster->endpoints[id];
    links.num_listen = 1;
    links.peers = peers;
    links.num_peers = count;
    links.insecure_network = links.security == NULL;
    assert_int_equal(node_create(cluster->env, &options, &cluster->nodes[id], NULL), 0);
    if (links_create(cluster->nodes[id], &links, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(links_listening(cluster->nodes[id], 0, &cluster->endpoints[id]), 0);
}

static void open_for(struct cluster *cluster, uint32_t count, uint32_t peers, uint32_t loops,
                     enum endpoint_kind kind, const struct links_options *options)
{
    *cluster = (struct cluster){
        .num_nodes = count, .num_peers = peers, .loops = loops, .kind = kind
    };
    if (options != NULL)
        cluster->links = *options;
    pthread_mutex_init(&cluster->mutex, NULL);
    pthread_cond_init(&cluster->changed, NULL);
    assert_non_null(scratch_folder(cluster->folder, sizeof cluster->folder, "link"));
    assert_int_equal(env_event_create(1, &cluster->env, NULL), 0);
    for (uint32_t id = 0; id < count; id++) {
        cluster->endpoints[id] = endpoint_of(cluster, id);
        cluster_make(cluster, id, 1);
    }
}

void cluster_make(struct cluster *cluster, uint32_t id, uint32_t incarnation)
{
    cluster_make_as(cluster, id, id, incarnation);
}

void cluster_open_with(struct cluster *cluster, uint32_t count, uint32_t loops,
                       enum endpoint_kind kind, const struct links_options *options)
{
    open_for(cluster, count, count, loops, kind, options);
}

void cluster_open_for(struct cluster *cluster, uint32_t count, uint32_t peers, uint32_t loops,
                      const struct links_options *options)
{
    open_for(cluster, count, peers, loops, ENDPOINT_UNIX, options);
}

void cluster_open(struct cluster *cluster, uint32_t count, uint32_t loops, enum endpoint_kind kind)
{
    cluster_open_with(cluster, count, loops, kind, NULL);
}

struct address cluster_spawn(struct cluster *cluster, uint32_t node, const struct actor_ops *ops,
                             const void *arg, uint32_t loop)
{
    struct actor_options options = { .ops = ops, .arg = arg, .loop = loop };
    struct address address;
    assert_int_equal(node_spawn(cluster->nodes[node], &options, &address), 0);
    return address;
}

void cluster_start(struct cluster *cluster)
{
    for (uint32_t id = 0; id < cluster->num_nodes; id++)
        assert_int_equal(node_start(cluster->nodes[id]), 0);
}

void cluster_done(struct cluster *cluster)
{
    pthread_mutex_lock(&cluster->mutex);
    cluster->done++;
    pthread_cond_signal(&cluster->changed);
    pthread_mutex_unlock(&cluster->mutex);
}

void cluster_wait(struct cluster *cluster, uint32_t count)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    int rc = 0;
    pthread_mutex_lock(&cluster->mutex);
    while (cluster->done < count && rc == 0)
        rc = pthread_cond_timedwait(&cluster->changed, &cluster->mutex, &until);
    pthread_mutex_unlock(&cluster->mutex);
    assert_int_equal(rc, 0);
}

void cluster_close(struct cluster *cluster)
{
    for (uint32_t id = cluster->num_nodes; id-- > 0;)
        if (cluster->nodes[id] != NULL)
            support_finish(cluster->nodes[id]);
    env_destroy(cluster->env);
    for (uint32_t id = 0; id < cluster->num_nodes; id++)
        if (cluster->kind == ENDPOINT_UNIX)
            unlink(cluster->endpoints[id].host);
    rmdir(cluster->folder);
    pthread_cond_destroy(&cluster->changed);
    pthread_mutex_destroy(&cluster->mutex);
}

static int echo_start(struct actor *self, const void *arg)
{
    (void)arg;
    return directory_register(self, "echo", NULL, NULL);
}

static int echo_receive(struct actor *self, struct message *request)
{
    struct message *reply = message_create(self, KIND_ANSWER);
    if (reply == NULL) {
        actor_refuse(self, request, TR_ENOMEM);
        return 0;
    }
    *(struct number *)message_head(reply) = *(struct number *)message_head(request);
    uint64_t bytes = request->frame.body_bytes;
    struct buffer *body = message_body_detach(request);
    if (body != NULL)
        message_body_attach(reply, body, bytes);
    actor_reply(self, request, reply);
    return 0;
}

const struct actor_ops echo_ops = { "echo", echo_start, echo_receive, NULL, NULL };
