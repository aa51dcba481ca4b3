/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of the real env: sockets, on raw events of their loop's base.
 *
 * An event is added only while its readiness is wanted, so a socket that no actor reads costs
 * nothing, however much arrives. Events note what happened (stream_tell); the next turn tells it.
 *
 *     NEW --> LOOKUP --> CONNECTING --> OPEN        LISTENING
 *      \________ \_________ \__________ \--> FAILED
 *
 * Invariants:
 *   - Events exist while the stream is attached to a loop, on that loop's base, in CONNECTING, OPEN
 *     and LISTENING. Nothing of the socket happens while it is detached.
 *   - A lookup may outlive its stream, since nothing ends a getaddrinfo that is under way. Each
 *     knows of the other until one of them ends (`asker`, `lookup`).
 *   - Of several addresses each is tried once, in their order. FAILED is reported when the last one
 *     failed, and is final.
 *   - The state comes before the events: make_events, socket_apply and on_write act by it.
 */
#include "config.h" /* struct addrinfo */

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/event.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/crew.h"
#include "runtime/core/loop.h"
#include "runtime/event/env_event_impl.h"
#include "runtime/event/socket.h"
#include "runtime/event/socket_unix.h"

/* The time that one address of several has to answer before the next is tried. */
static const struct timeval try_time = { 2, 0 };

/* Out of descriptors or memory: connections wait this long before the next look. */
static const struct timeval pause_time = { 0, 100000 };

enum state { STATE_LISTENING, STATE_NEW, STATE_LOOKUP, STATE_CONNECTING, STATE_OPEN, STATE_FAILED };

/* Looks a name up on the crew; outlives the stream that it is for. */
struct lookup {
    struct job job;
    struct socket_stream *asker; /* NULL: it was closed */
    struct endpoint endpoint;
    struct addrinfo *addresses;
    int gai; /* getaddrinfo's result */
};

struct socket_stream {
    struct stream stream;
    enum state state;
    int fd;
    bool reading, writing, paused;
    bool borrowed; /* the descriptor belongs to a library that reads it */
    struct event *read, *write;
    struct event *timer;             /* of a listener that pauses */
    struct socket_listener listener; /* of a listener */
    struct endpoint to;              /* of one that connects, and below */
    struct lookup *lookup;
    struct addrinfo *addresses, *next;
};

static struct socket_stream *socket_of(struct stream *stream)
{
    return (struct socket_stream *)(void *)stream;
}

static void socket_apply(struct socket_stream *self);
static void try_next(struct socket_stream *self);

static struct socket_stream *socket_create(enum state state, int fd)
{
    struct socket_stream *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->stream.ops = &stream_event_ops;
    self->stream.peer.uid = -1;
    self->state = state;
    self->fd = fd;
    self->listener.fd = -1;
    return self;
}

static void drop_events(struct socket_stream *self)
{
    if (self->read != NULL)
        event_free(self->read);
    if (self->write != NULL)
        event_free(self->write);
    if (self->timer != NULL)
        event_free(self->timer);
    self->read = self->write = self->timer = NULL;
    self->reading = self->writing = self->paused = false;
}

static void socket_fail(struct socket_stream *self)
{
    drop_events(self);
    self->state = STATE_FAILED;
    stream_tell(&self->stream, STREAM_FAILED);
}

static void fail_errno(struct socket_stream *self, int number)
{
    char text[ENDPOINT_TEXT_MAX];
    endpoint_format(&self->to, text, sizeof text);
    error_set(&self->stream.error, socket_code(number), "%s: cannot connect: %s", text,
              strerror(number));
    socket_fail(self);
}

static void on_read(evutil_socket_t fd, short what, void *arg)
{
    struct socket_stream *self = arg;
    (void)fd;
    (void)what;
    stream_tell(&self->stream, STREAM_READABLE);
}

static void become_open(struct socket_stream *self)
{
    self->state = STATE_OPEN;
    socket_peer(self->fd, &self->stream.peer);
    stream_tell(&self->stream, STREAM_WRITABLE);
    /* The event is deleted before socket_apply, which would else find it added and leave it its
     * time-out. */
    if (self->writing)
        event_del(self->write); /* it may have a time-out */
    self->writing = false;
    socket_apply(self);
}

static void give_up_try(struct socket_stream *self, int number)
{
    /* The events go before their descriptor: once it is closed its number may be that of another
     * socket, from which the events would then be deleted. */
    drop_events(self);
    close(self->fd);
    self->fd = -1;
    if (self->next != NULL)
        try_next(self);
    else
        fail_errno(self, number);
}

static void socket_connected(struct socket_stream *self, short what)
{
    int number = 0;
    socklen_t length = sizeof number;
    /* The time-out comes first: while a connection is under way SO_ERROR reports no error, which
     * would pass for success. */
    if (what & EV_TIMEOUT)
        number = ETIMEDOUT;
    else if (getsockopt(self->fd, SOL_SOCKET, SO_ERROR, &number, &length) < 0)
        number = errno;
    if (number == 0)
        become_open(self);
    else
        give_up_try(self, number);
}

static void on_write(evutil_socket_t fd, short what, void *arg)
{
    struct socket_stream *self = arg;
    (void)fd;
    if (self->state == STATE_CONNECTING)
        socket_connected(self, what);
    else
        stream_tell(&self->stream, STREAM_WRITABLE);
}

static void on_resume(evutil_socket_t fd, short what, void *arg)
{
    struct socket_stream *self = arg;
    (void)fd;
    (void)what;
    /* The flag is cleared before socket_apply, which watches no listener that pauses. */
    self->paused = false;
    socket_apply(self);
}

static int make_events(struct socket_stream *self)
{
    struct event_base *base = env_event_base(self->stream.actor->loop);
    self->read = event_new(base, self->fd, EV_READ | EV_PERSIST, on_read, self);
    self->write = event_new(base, self->fd, EV_WRITE | EV_PERSIST, on_write, self);
    if (self->state == STATE_LISTENING)
        self->timer = event_new(base, -1, 0, on_resume, self);
    if (self->read != NULL && self->write != NULL &&
        (self->timer != NULL || self->state != STATE_LISTENING))
        return 0;
    drop_events(self);
    return TR_ENOMEM;
}

/* Adds or deletes one event; one that could not be added counts as ready: trying tells. */
static void socket_set(struct socket_stream *self, struct event *event, bool *on, bool wanted,
                       unsigned what)
{
    if (*on == wanted || event == NULL)
        return;
    if (!wanted)
        event_del(event);
    else if (event_add(event, NULL) < 0)
        stream_tell(&self->stream, what);
    else
        *on = true;
    if (!wanted)
        *on = false;
}

/* The events follow from what is wanted. */
static void socket_apply(struct socket_stream *self)
{
    unsigned want = self->stream.want;
    if (self->state != STATE_OPEN && self->state != STATE_LISTENING)
        return;
    socket_set(self, self->read, &self->reading, (want & STREAM_READABLE) && !self->paused,
               STREAM_READABLE);
    socket_set(self, self->write, &self->writing,
               (want & STREAM_WRITABLE) && self->state == STATE_OPEN, STREAM_WRITABLE);
}

/* Begins with one address; the event's time-out lets the next have its turn. */
static void try_address(struct socket_stream *self, const struct sockaddr *address,
                        socklen_t length)
{
    int rc = socket_connect(address, length, &self->fd);
    /* The events are made before the outcome is known: become_open adds those that are wanted. */
    if (rc == -EINPROGRESS || rc == 0) {
        self->state = STATE_CONNECTING;
        rc = make_events(self) < 0 ? -ENOMEM : rc;
    }
    if (rc == -EINPROGRESS) {
        const struct timeval *time = self->next != NULL ? &try_time : NULL;
        self->writing = event_add(self->write, time) == 0;
        rc = self->writing ? rc : -ENOMEM;
    }
    /* This comes last: giving up may begin the next try, which changes everything above. */
    if (rc == 0)
        become_open(self);
    else if (rc != -EINPROGRESS)
        give_up_try(self, -rc);
}

static void try_next(struct socket_stream *self)
{
    struct addrinfo *address = self->next;
    /* This moves on before the try: a try that fails at once goes on with `next`, in the same
     * call. */
    self->next = address->ai_next;
    try_address(self, address->ai_addr, address->ai_addrlen);
}

static int socket_ask(const struct endpoint *endpoint, int flags, struct addrinfo **addresses)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    char port[8];
    snprintf(port, sizeof port, "%u", endpoint->port);
    hints.ai_flags = AI_NUMERICSERV | flags;
    return getaddrinfo(endpoint->host, port, &hints, addresses);
}

static int look_up(struct job *job)
{
    struct lookup *lookup = job->arg;
    lookup->gai = socket_ask(&lookup->endpoint, 0, &lookup->addresses);
    return CREW_DONE;
}

static void looked_up(struct actor *actor, struct job *job, int status)
{
    struct lookup *lookup = job->arg;
    struct socket_stream *self = lookup->asker;
    (void)actor;
    /* The two part first: the steps below may fail the stream, and the lookup is freed at the
     * end. */
    if (self != NULL)
        self->lookup = NULL;
    /* This comes before the result: a lookup that was cancelled before it ran has no error and no
     * address. */
    if (self == NULL || status < 0) {
        if (lookup->addresses != NULL)
            freeaddrinfo(lookup->addresses);
    } else if (lookup->gai != 0) {
        char text[ENDPOINT_TEXT_MAX];
        endpoint_format(&self->to, text, sizeof text);
        error_set(&self->stream.error, TR_ENOENT, "%s: cannot connect: %s has no address: %s", text,
                  self->to.host, gai_strerror(lookup->gai));
        socket_fail(self);
    } else {
        self->addresses = self->next = lookup->addresses;
        try_next(self);
    }
    free(lookup);
}

static int begin_lookup(struct socket_stream *self)
{
    struct lookup *lookup = calloc(1, sizeof *lookup);
    if (lookup == NULL)
        return TR_ENOMEM;
    /* All of this is set before the crew has the job, which may be done before crew_submit
     * returns. */
    lookup->job = (struct job){ .piece = look_up, .done = looked_up, .arg = lookup, .waits = true };
    lookup->endpoint = self->to;
    lookup->asker = self;
    self->lookup = lookup;
    self->state = STATE_LOOKUP;
    crew_submit(self->stream.actor, &lookup->job);
    return 0;
}

static int socket_begin(struct socket_stream *self)
{
    struct sockaddr_un address;
    if (self->to.kind == ENDPOINT_UNIX) {
        if (socket_unix_address(&self->to, &address))
            try_address(self, (struct sockaddr *)&address, sizeof address);
        else
            fail_errno(self, ENAMETOOLONG);
        return 0;
    }
    if (self->to.kind != ENDPOINT_TCP)
        return TR_EINVAL;
    /* A number is read here and now; a name goes to the crew, since the look-up may block for
     * long. */
    if (socket_ask(&self->to, AI_NUMERICHOST, &self->addresses) != 0)
        return begin_lookup(self);
    self->next = self->addresses;
    try_next(self);
    return 0;
}

static int listen_at(struct loop *loop, const struct endpoint *endpoint, struct stream **stream,
                     struct error *error)
{
    (void)loop;
    struct socket_stream *self = socket_create(STATE_LISTENING, -1);
    if (self == NULL)
        return error_set(error, TR_ENOMEM, "%s: cannot listen: out of memory", endpoint->host);
    int rc = socket_listen(endpoint, &self->listener, error);
    if (rc < 0) {
        free(self);
        return rc;
    }
    self->fd = self->listener.fd;
    *stream = &self->stream;
    return 0;
}

static void socket_listening(const struct stream *stream, struct endpoint *endpoint)
{
    *endpoint = ((const struct socket_stream *)(const void *)stream)->listener.endpoint;
}

/* The connection stays in the system's queue, where it would make the listener ready for ever. The
 * listener pauses only with a timer, as nothing else would end the pause. */
static int pause_listener(struct socket_stream *self, int number)
{
    self->paused = event_add(self->timer, &pause_time) == 0;
    socket_apply(self);
    return number == ENOMEM || number == ENOBUFS ? TR_ENOMEM : TR_EIO;
}

static int accept_one(struct stream *listener, struct stream **out)
{
    struct socket_stream *self = socket_of(listener);
    int fd = socket_accept(self->fd);
    /* A lack of descriptors or memory comes before all other failures: taken for "none waits", it
     * would leave the connection in the queue and the listener ready, and each turn would come back
     * here at once for as long as the lack lasts. */
    if (fd == -EMFILE || fd == -ENFILE || fd == -ENOBUFS || fd == -ENOMEM)
        return pause_listener(self, -fd);
    if (fd < 0)
        return 0; /* none waits, or one that broke while it did */
    struct socket_stream *made = socket_create(STATE_OPEN, fd);
    if (made == NULL) {
        close(fd);
        return TR_ENOMEM;
    }
    socket_peer(fd, &made->stream.peer);
    *out = &made->stream;
    return 0;
}

static int connect_to(struct loop *loop, const struct endpoint *endpoint, struct stream **stream)
{
    (void)loop;
    struct socket_stream *self = socket_create(STATE_NEW, -1);
    if (self == NULL)
        return TR_ENOMEM;
    self->to = *endpoint;
    *stream = &self->stream;
    return 0;
}

static int socket_watch(struct loop *loop, int fd, struct stream **stream)
{
    (void)loop;
    struct socket_stream *self = socket_create(STATE_OPEN, fd);
    if (self == NULL)
        return TR_ENOMEM;
    self->borrowed = true;
    *stream = &self->stream;
    return 0;
}

static int socket_attach(struct stream *stream)
{
    struct socket_stream *self = socket_of(stream);
    /* A new stream begins here and not before: it needs the loop of its actor, for events and for
     * the crew. */
    if (self->state == STATE_NEW)
        return socket_begin(self);
    if (self->state == STATE_FAILED)
        stream_tell(stream, STREAM_FAILED);
    return self->state == STATE_FAILED ? 0 : make_events(self);
}

static void socket_detach(struct stream *stream)
{
    struct socket_stream *self = socket_of(stream);
    drop_events(self);
    /* The lookup goes on without the stream, and is freed when it is done. */
    if (self->lookup != NULL)
        self->lookup->asker = NULL;
    self->lookup = NULL;
    if (self->state < STATE_OPEN && self->state != STATE_LISTENING)
        self->state = STATE_FAILED; /* a stream that is detached while it connects gives up */
}

static void socket_want(struct stream *stream)
{
    socket_apply(socket_of(stream));
}

static ssize_t socket_broken(struct socket_stream *self, int number, const char *verb)
{
    if (number == EAGAIN || number == EWOULDBLOCK)
        return 0;
    error_set(&self->stream.error, TR_EPEERDOWN, "%s: cannot %s: %s", self->stream.peer.text, verb,
              strerror(number));
    return TR_EPEERDOWN;
}

static int socket_bounded(int num_parts)
{
    return num_parts < IOV_MAX ? num_parts : IOV_MAX;
}

/* One part, which all small messages are, goes without a list of parts for the system to copy. */
static ssize_t read_some(struct stream *stream, const struct iovec *parts, int num_parts)
{
    struct socket_stream *self = socket_of(stream);
    ssize_t count;
    /* The state comes first: a stream that failed may have no descriptor. */
    if (self->state != STATE_OPEN)
        return self->state == STATE_FAILED ? TR_EPEERDOWN : 0;
    do
        count = num_parts == 1 ? recv(self->fd, parts->iov_base, parts->iov_len, 0)
                               : readv(self->fd, parts, socket_bounded(num_parts));
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return socket_broken(self, errno, "read");
    return count > 0 ? count : TR_EEND;
}

static ssize_t write_some(struct stream *stream, const struct iovec *parts, int num_parts)
{
    struct socket_stream *self = socket_of(stream);
    struct msghdr message = { .msg_iov = (struct iovec *)(uintptr_t)parts };
    ssize_t count;
    /* The state comes first: a stream that failed may have no descriptor. */
    if (self->state != STATE_OPEN)
        return self->state == STATE_FAILED ? TR_EPEERDOWN : 0;
    message.msg_iovlen = (size_t)socket_bounded(num_parts);
    do
        count = num_parts == 1 ? send(self->fd, parts->iov_base, parts->iov_len, MSG_NOSIGNAL)
                               : sendmsg(self->fd, &message, MSG_NOSIGNAL);
    while (count < 0 && errno == EINTR);
    return count < 0 ? socket_broken(self, errno, "write") : count;
}

static void close_it(struct stream *stream)
{
    struct socket_stream *self = socket_of(stream);
    assert(self->read == NULL && self->lookup == NULL);
    if (self->addresses != NULL)
        freeaddrinfo(self->addresses);
    /* The listener comes before the bare descriptor, which is the same one: unlistening also
     * removes the socket's file. */
    if (self->listener.fd >= 0)
        socket_unlisten(&self->listener);
    else if (self->fd >= 0 && !self->borrowed)
        close(self->fd);
    free(self);
}

const struct stream_ops stream_event_ops = {
    .listen = listen_at,
    .listening = socket_listening,
    .accept = accept_one,
    .connect = connect_to,
    .watch = socket_watch,
    .attach = socket_attach,
    .detach = socket_detach,
    .want = socket_want,
    .readv = read_some,
    .writev = write_some,
    .close = close_it,
};
