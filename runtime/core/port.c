/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/port.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/deadline.h"
#include "runtime/core/actor_impl.h"
#include "runtime/core/call.h"
#include "runtime/core/log.h"
#include "runtime/core/loop.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/runtime_kinds.h"

/*
 * The port is shared by the thread's handle, its actor, its closing post and its errands; the last
 * one frees it. Posts are made under its mutex and only while the actor is not gone, so every post
 * finds its loop still there, and node_join's last look at the inboxes finds every post.
 *
 * Several reasons to stop waiting may hold at once. They are asked in this order: what was waited
 * for, which counts whatever else is true; that the port closed, which is final; an interrupt; the
 * deadline. A caller that only polls has always reached its deadline, which would hide the others.
 */
struct port {
    struct node *node;
    struct loop *loop;
    struct address address;
    struct post close_post;
    const atomic_uint *interrupts; /* of the thread that calls; NULL: it is never interrupted */
    unsigned seen;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* Below: under the mutex. */
    uint32_t references;
    uint32_t errands; /* that the loop has not finished */
    bool closed, gone, waiting;
};

/* One send or call under way; holds a reference to the port until its part on the loop is over. */
struct port_errand {
    struct post post; /* first: a post is its errand */
    struct port *port;
    struct address to;
    struct message *message;
    uint64_t deadline_ns;
    /* Below: under the port's mutex. */
    bool done, abandoned;
    int status;
    struct message *reply;
};

/* Unlocks, and frees a port that nothing refers to any more. */
static void unref_and_unlock(struct port *port)
{
    bool last = --port->references == 0;
    pthread_mutex_unlock(&port->mutex);
    if (!last)
        return;
    pthread_cond_destroy(&port->changed);
    pthread_mutex_destroy(&port->mutex);
    free(port);
}

static int port_start(struct actor *self, const void *arg)
{
    actor_set_state(self, (void *)(uintptr_t)arg);
    return 0;
}

static int port_receive(struct actor *self, struct message *message)
{
    message_release(self, message);
    return 0;
}

static void port_fini(struct actor *self)
{
    /* This reads the argument, not the state: start never ran if the node stopped before. */
    struct port *port = (void *)(uintptr_t)self->arg;
    pthread_mutex_lock(&port->mutex);
    port->gone = true;
    pthread_cond_broadcast(&port->changed);
    unref_and_unlock(port);
}

static const struct actor_ops port_ops = {
    .name = "port",
    .start = port_start,
    .receive = port_receive,
    .fini = port_fini,
};

int port_open(struct node *node, uint32_t loop, struct port **out)
{
    if (loop >= node->num_loops)
        return TR_ERANGE;
    struct port *port = calloc(1, sizeof *port);
    if (port == NULL)
        return TR_ENOMEM;
    deadline_init_cond(&port->changed);
    pthread_mutex_init(&port->mutex, NULL);
    port->node = node;
    port->loop = &node->loops[loop];
    port->references = 2; /* the handle and the actor */
    struct actor_options options = { .ops = &port_ops, .arg = port, .loop = loop };
    /* The actor may end at once on its own thread; the mutex keeps it from freeing the port. */
    pthread_mutex_lock(&port->mutex);
    int rc = node_spawn(node, &options, &port->address);
    if (rc < 0) {
        /* The actor's reference goes: there is no actor whose fini would give it up. */
        port->references = 1;
        unref_and_unlock(port);
        return rc;
    }
    pthread_mutex_unlock(&port->mutex);
    *out = port;
    return 0;
}

struct message *port_message(struct port *port, uint32_t kind)
{
    const struct kind *found = kinds_find(&port->node->kinds, kind);
    assert(found != NULL);
    return node_message_create(port->node, found);
}

void *port_body_alloc(struct port *port, struct message *message, size_t bytes)
{
    struct buffer *buffer = buffer_create_any(&port->node->message_account, bytes);
    if (buffer == NULL) {
        log_refusal(port->node, "body", bytes);
        return NULL;
    }
    message_body_attach(message, buffer, bytes);
    return buffer->data;
}

void port_release(struct port *port, struct message *message)
{
    if (message == NULL)
        return;
    buffer_release_any(message->body);
    message->body = NULL;
    if (message->home != NULL)
        loop_return_to_home(message->home, message, NULL);
    else
        node_free_message(port->node, message);
}

/* On the loop, under the mutex, which it unlocks. */
static void end_errand(struct port *port)
{
    port->errands--;
    pthread_cond_broadcast(&port->changed);
    unref_and_unlock(port);
}

/* On the loop: the call is over. The thread is notified, unless it had given the call up. */
static void port_finish(struct loop *loop, struct port_errand *errand, int status,
                        struct message *reply)
{
    struct port *port = errand->port;
    pthread_mutex_lock(&port->mutex);
    /* The mutex decides who frees the errand: the loop, here, if the thread has given it up; else
     * the thread, from `done` on, as soon as the mutex is given back. */
    bool abandoned = errand->abandoned;
    if (abandoned) {
        free(errand);
    } else {
        errand->done = true;
        errand->status = status == TR_ECANCELED ? TR_ECLOSED : status;
        errand->reply = reply;
    }
    end_errand(port);
    /* The reply is freed after the mutex, and after the port may be gone: only the loop is needed
     * for it. */
    if (abandoned)
        loop_free_message(loop, reply);
}

static void port_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    port_finish(self->loop, arg, status, reply);
}

static struct actor *run_call(struct loop *loop, struct post *post)
{
    struct port_errand *errand = (struct port_errand *)(void *)post;
    struct actor *actor = loop_actor(loop, errand->port->address);
    struct message *request = errand->message;
    int rc = TR_ECLOSED;
    if (actor == NULL || actor->phase == ACTOR_ENDING)
        loop_free_message(loop, request);
    else
        rc = actor_call(actor, errand->to, request, errand->deadline_ns, port_answered, errand,
                        NULL);
    /* A call that did not begin is never completed, so the errand ends here. */
    if (rc < 0)
        port_finish(loop, errand, rc, NULL);
    return NULL;
}

static struct actor *run_send(struct loop *loop, struct post *post)
{
    struct port_errand *errand = (struct port_errand *)(void *)post;
    struct actor *actor = loop_actor(loop, errand->port->address);
    if (actor == NULL)
        loop_free_message(loop, errand->message);
    else
        actor_send(actor, errand->to, errand->message);
    /* The port is read before the errand is freed; it lives by the reference that end_errand()
     * gives up. */
    struct port *port = errand->port;
    free(errand);
    pthread_mutex_lock(&port->mutex);
    end_errand(port);
    return NULL;
}

void port_watch(struct port *port, const atomic_uint *interrupts, unsigned seen)
{
    port->interrupts = interrupts;
    port->seen = seen;
}

bool port_is_interrupted(const struct port *port)
{
    return port->interrupts != NULL &&
           atomic_load_explicit(port->interrupts, memory_order_acquire) != port->seen;
}

/* A waiter looks at the number under the mutex before it sleeps; so it either sees what was counted
 * up before this call, or sleeps already and is woken. */
void port_wake(struct port *port)
{
    pthread_mutex_lock(&port->mutex);
    pthread_cond_broadcast(&port->changed);
    pthread_mutex_unlock(&port->mutex);
}

/* Under the mutex: hands the errand to the loop when that has room. */
static int post_errand(struct port *port, struct port_errand *errand, uint64_t deadline_ns)
{
    const struct deadline until = deadline_at(deadline_ns);
    int rc = 0;
    while (port->errands >= PORT_ERRANDS_MAX && !port->closed && !port->gone &&
           !port_is_interrupted(port) && rc == 0)
        rc = deadline_wait(&until, &port->changed, &port->mutex);
    /* Several may hold at once. A port that closed takes no errand, whatever room there is, and the
     * thread learns that it closed and not that its time is over, which would be worth another try.
     * Room that is there counts before an interrupt and before the deadline. */
    if (port->closed || port->gone)
        return TR_ECLOSED;
    if (port->errands >= PORT_ERRANDS_MAX)
        return port_is_interrupted(port) ? TR_ECANCELED : TR_ETIMEDOUT;
    port->errands++;
    port->references++; /* the errand's, until it is finished on the loop */
    loop_post(port->loop, &errand->post);
    return 0;
}

static struct port_errand *errand_create(struct port *port, struct address to,
                                         struct message *message)
{
    struct port_errand *errand = calloc(1, sizeof *errand);
    if (errand == NULL) {
        port_release(port, message);
        return NULL;
    }
    errand->port = port;
    errand->to = to;
    errand->message = message;
    return errand;
}

int port_send(struct port *port, struct address to, struct message *message)
{
    struct port_errand *errand = errand_create(port, to, message);
    if (errand == NULL)
        return TR_ENOMEM;
    errand->post.run = run_send;
    pthread_mutex_lock(&port->mutex);
    int rc = post_errand(port, errand, UINT64_MAX);
    pthread_mutex_unlock(&port->mutex);
    if (rc == 0)
        return 0;
    /* The errand was not posted, so it and the message are still this thread's. */
    free(errand);
    port_release(port, message);
    return rc;
}

/* Under the mutex: until it is done, the port closed or interrupted, or the deadline passed. */
static int wait_for(struct port *port, struct port_errand *errand, uint64_t deadline_ns)
{
    const struct deadline until = deadline_at(deadline_ns);
    int rc = 0;
    while (!errand->done && !port->closed && !port_is_interrupted(port) && rc == 0)
        rc = deadline_wait(&until, &port->changed, &port->mutex);
    /* The order is that of the file's top: an answer that came counts, though the deadline
     * passed. */
    if (errand->done)
        return errand->status;
    return port->closed ? TR_ECLOSED : port_is_interrupted(port) ? TR_ECANCELED : TR_ETIMEDOUT;
}

int port_begin(struct port *port, struct address to, struct message *request, uint64_t deadline_ns,
               struct port_errand **out)
{
    struct port_errand *errand = errand_create(port, to, request);
    if (errand == NULL)
        return TR_ENOMEM;
    errand->post.run = run_call;
    errand->deadline_ns = deadline_ns;
    pthread_mutex_lock(&port->mutex);
    int rc = post_errand(port, errand, deadline_ns);
    pthread_mutex_unlock(&port->mutex);
    /* An errand that was not posted is still this thread's, and so is its request. */
    if (rc != 0) {
        free(errand);
        port_release(port, request);
        return rc;
    }
    *out = errand;
    return 0;
}

static int wait_errand(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
                       bool keeps, struct message **reply)
{
    *reply = NULL;
    pthread_mutex_lock(&port->mutex);
    assert(!port->waiting);
    port->waiting = true;
    int rc = wait_for(port, errand, deadline_ns);
    port->waiting = false;
    /* This is read under the same mutex as `abandoned` is set: an errand that is not done is freed
     * by the loop from here on; one that is done is freed by this thread, and the loop does not
     * touch it. */
    bool done = errand->done;
    errand->abandoned = !done && !(keeps && rc == TR_ECANCELED);
    if (done)
        *reply = errand->reply;
    pthread_mutex_unlock(&port->mutex);
    if (done)
        free(errand);
    if (rc < 0 && *reply != NULL) {
        port_release(port, *reply);
        *reply = NULL;
    }
    return rc;
}

int port_wait(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
              struct message **reply)
{
    return wait_errand(port, errand, deadline_ns, false, reply);
}

int port_wait_or_keep(struct port *port, struct port_errand *errand, uint64_t deadline_ns,
                      struct message **reply)
{
    return wait_errand(port, errand, deadline_ns, true, reply);
}

void port_abandon(struct port *port, struct port_errand *errand)
{
    struct message *reply;
    port_wait(port, errand, 0, &reply);
    port_release(port, reply);
}

int port_call(struct port *port, struct address to, struct message *request, uint64_t deadline_ns,
              struct message **reply)
{
    struct port_errand *errand;
    *reply = NULL;
    int rc = port_begin(port, to, request, deadline_ns, &errand);
    return rc != 0 ? rc : port_wait(port, errand, deadline_ns, reply);
}

int port_find(struct port *port, const char *name, uint64_t deadline_ns, struct address *address)
{
    size_t length = strlen(name);
    struct message *request = port_message(port, RUNTIME_LOOKUP);
    if (request == NULL)
        return TR_ENOMEM;
    struct runtime_name *head = message_head(request);
    if (length == 0 || length >= sizeof head->name) {
        port_release(port, request);
        return TR_EINVAL;
    }
    memcpy(head->name, name, length + 1);
    head->wait = 1;
    struct message *reply = NULL;
    int rc = port_call(port, port->node->directory, request, deadline_ns, &reply);
    if (rc == 0)
        *address = ((struct runtime_found *)message_head(reply))->address;
    port_release(port, reply);
    return rc;
}

uint64_t port_now_ns(const struct port *port)
{
    return env_now_ns(port->node->env);
}

static struct actor *run_close(struct loop *loop, struct post *post)
{
    struct port *port = (struct port *)(void *)((char *)post - offsetof(struct port, close_post));
    struct actor *actor = loop_actor(loop, port->address);
    if (actor != NULL) {
        actor_exit(actor, 0);
        /* The actor is settled here, since the post returns no actor: fini may run in this call. */
        actor_settle(actor);
    }
    /* The post's reference goes last: fini, above, gives up the actor's and still uses the port. */
    pthread_mutex_lock(&port->mutex);
    unref_and_unlock(port);
    return NULL;
}

void port_close(struct port *port)
{
    pthread_mutex_lock(&port->mutex);
    if (!port->closed) {
        port->closed = true;
        /* The post goes only to an actor that is not gone: after its end the loop may end without
         * running the post. */
        if (!port->gone) {
            port->references++;
            port->close_post.run = run_close;
            loop_post(port->loop, &port->close_post);
        }
        pthread_cond_broadcast(&port->changed);
    }
    pthread_mutex_unlock(&port->mutex);
}

void port_destroy(struct port *port)
{
    if (port == NULL)
        return;
    port_close(port);
    pthread_mutex_lock(&port->mutex);
    unref_and_unlock(port);
}
