/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/actors/asker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/call.h"
#include "schemas/messages.h"

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct asker *asker = arg;
    asker->answered = true;
    asker->status = status;
    if (reply != NULL) {
        asker->reply_kind = reply->frame.kind;
        asker->reply_bytes = reply->frame.body_bytes;
        memcpy(asker->reply_head, message_head(reply), reply->frame.head_bytes);
        void *bytes = NULL;
        assert_int_equal(posix_memalign(&bytes, 64, asker->reply_bytes + 1), 0);
        asker->reply = bytes;
        if (asker->reply_bytes > 0)
            memcpy(asker->reply, message_body(reply), asker->reply_bytes);
        message_release(self, reply);
    }
    if (!asker->stays)
        actor_exit(self, 0);
}

static int start(struct actor *self, const void *arg)
{
    struct asker *asker = (struct asker *)(uintptr_t)arg;
    struct message *request = message_create(self, asker->kind);
    assert_non_null(request);
    if (asker->head_bytes > 0)
        memcpy(message_head(request), asker->head, asker->head_bytes);
    if (asker->body_bytes > 0)
        memcpy(message_body_alloc(self, request, asker->body_bytes), asker->body,
               asker->body_bytes);
    uint64_t timeout_ns = asker->timeout_ns != 0 ? asker->timeout_ns : 60 * ENV_SECOND_NS;
    env_sim_set_alloc_fail(asker->env, asker->alloc_fail_ppm);
    int rv = actor_call(self, asker->to, request, actor_now_ns(self) + timeout_ns, answered, asker,
                        NULL);
    if (rv != 0) {
        asker->status = rv;
        asker->answered = true;
        actor_exit(self, 0);
    }
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static const struct actor_ops ops = { .name = "asker", .start = start, .receive = receive };

void asker_open(struct asker *asker, uint64_t seed, bool codec)
{
    *asker = (struct asker){ 0 };
    assert_int_equal(env_sim_create(seed, NULL, &asker->env), 0);
    assert_int_equal(messages_register(&asker->kinds, NULL), 0);
    asker->lists = seed_lists_create();
    assert_non_null(asker->lists);
    struct node_options options = { .id = 1, .loops = 2, .kinds = &asker->kinds, .codec = codec };
    assert_int_equal(node_create(asker->env, &options, &asker->node, NULL), 0);
    assert_int_equal(node_start(asker->node), 0);
}

void asker_spawn(struct asker *asker, const struct actor_ops *asked, const void *arg)
{
    struct actor_options options = { .ops = asked, .arg = arg };
    assert_int_equal(node_spawn(asker->node, &options, &asker->to), 0);
}

static bool is_answered(void *arg)
{
    return ((struct asker *)arg)->answered;
}

int asker_ask(struct asker *asker, uint32_t kind, const void *head, size_t head_bytes,
              const void *body, size_t body_bytes)
{
    asker->kind = kind;
    asker->head = head;
    asker->head_bytes = head_bytes;
    asker->body = body;
    asker->body_bytes = body_bytes;
    asker->answered = false;
    asker->reply_kind = 0;
    free(asker->reply);
    asker->reply = NULL;
    asker->reply_bytes = 0;
    struct actor_options options = { .ops = &ops, .arg = asker, .loop = 1 };
    struct address self;
    assert_int_equal(node_spawn(asker->node, &options, &self), 0);
    int rv = env_sim_run(asker->env, is_answered, asker,
                         env_sim_now_ns(asker->env) + 600 * ENV_SECOND_NS);
    env_sim_set_alloc_fail(asker->env, 0);
    assert_int_equal(rv, 0);
    return asker->status;
}

int asker_open_spec(struct asker *asker, const struct msg_loader_open *open, const uint64_t *seeds,
                    const struct sample_spec *spec)
{
    struct msg_loader_open head = *open;
    head.spec_bytes = (uint32_t)sample_spec_bytes(spec);
    unsigned char *body = malloc(head.spec_bytes);
    assert_non_null(body);
    sample_spec_write(spec, body);
    if (open->seeds == MSG_SEEDS_LISTED && seeds != NULL) {
        struct seed_list *list = seed_list_create(open->num_seeds);
        assert_non_null(list);
        memcpy(list->ids, seeds, open->num_seeds * sizeof *seeds);
        assert_int_equal(seed_lists_put(asker->lists, open->loader, &list, 1), 0);
        seed_list_release(list);
    }
    int rv = asker_ask(asker, MSG_LOADER_OPEN, &head, sizeof head, body, head.spec_bytes);
    free(body);
    return rv;
}

int asker_open_loader(struct asker *asker, const struct msg_loader_open *open,
                      const uint64_t *seeds, uint32_t num_layers, const int32_t *fanout,
                      uint32_t num_etypes)
{
    struct sample_spec spec;
    assert_int_equal(sample_spec_alloc(&spec, num_layers, num_etypes), 0);
    for (uint32_t l = 0; l < num_layers; l++) {
        const struct sample_term term = SAMPLE_TERM(fanout[l], false);
        sample_spec_set_layer(&spec, l, &term);
    }
    int rv = asker_open_spec(asker, open, seeds, &spec);
    sample_spec_free(&spec);
    return rv;
}

void asker_close(struct asker *asker)
{
    node_stop(asker->node, env_sim_now_ns(asker->env) + 10 * ENV_SECOND_NS);
    env_sim_run(asker->env, NULL, NULL, env_sim_now_ns(asker->env) + 60 * ENV_SECOND_NS);
    assert_true(node_is_stopped(asker->node));
    struct node_counters counters;
    node_counters(asker->node, &counters);
    assert_int_equal(counters.messages_live, 0);
    assert_int_equal(counters.buffers_live, 0);
    assert_int_equal(counters.calls_open, 0);
    node_destroy(asker->node);
    env_destroy(asker->env);
    seed_lists_destroy(asker->lists);
    free(asker->reply);
}
