/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/http.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/loop.h"
#include "runtime/core/stream.h"
#include "runtime/core/timer.h"
#include "runtime/event/socket.h"

/* The memory that libmicrohttpd keeps of a connection: the request's headers, and those of
 * the answer. */
#define MEMORY_BYTES (HTTP_REQUEST_MAX + 4096u)
/* Those that were ended to make room are still there until their next turn. */
#define CONNECTIONS_MAX (2 * HTTP_OPEN_MAX)
/* Seconds without a byte; HTTP_NS ends a connection before, whatever it says. */
#define SILENT_S (unsigned)(HTTP_NS / UINT64_C(1000000000) + 1)

struct visit {
    struct visit *next; /* the one that came after it */
    uint64_t since_ns;
    int fd;
    bool ended;
};

struct http {
    struct actor *self;
    http_asked *asked;
    void *arg;
    struct MHD_Daemon *daemon;
    struct stream *watch; /* of its epoll descriptor */
    struct timer timer;
    struct visit *oldest, *newest;
    uint32_t num_open; /* that were not ended */
};

/* It sees the end of its connection in the next run, and tells of it by http_visited. */
static void end_visit(struct http *http, struct visit *visit)
{
    if (visit->ended)
        return;
    /* The visit is counted off here and not when it is gone, so that one more may come in its place
     * at once. */
    visit->ended = true;
    http->num_open--;
    shutdown(visit->fd, SHUT_RDWR);
}

static void begin_visit(struct http *http, struct MHD_Connection *connection, void **context)
{
    struct visit *visit = calloc(1, sizeof *visit);
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (visit == NULL || info == NULL) {
        /* A connection that is in no list would count for no bound. */
        if (info != NULL)
            shutdown(info->connect_fd, SHUT_RDWR);
        free(visit);
        return;
    }
    visit->fd = info->connect_fd;
    visit->since_ns = http->self->loop->now_ns;
    *context = visit;
    if (http->newest != NULL)
        http->newest->next = visit;
    else
        http->oldest = visit;
    http->newest = visit;
    http->num_open++;
    struct visit *first = http->oldest;
    while (http->num_open > HTTP_OPEN_MAX) {
        end_visit(http, first);
        first = first->next;
    }
}

static void forget_visit(struct http *http, struct visit *visit)
{
    struct visit *before = NULL;
    if (visit == NULL)
        return;
    for (struct visit *at = http->oldest; at != visit; at = at->next)
        before = at;
    if (before != NULL)
        before->next = visit->next;
    else
        http->oldest = visit->next;
    if (http->newest == visit)
        http->newest = before;
    http->num_open -= !visit->ended;
    free(visit);
}

static void http_visited(void *arg, struct MHD_Connection *connection, void **context,
                         enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        begin_visit(arg, connection, context);
    else
        forget_visit(arg, *context);
}

/* Takes the body. */
static enum MHD_Result http_reply(struct MHD_Connection *connection, unsigned status,
                                  const char *type, char *body, enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(strlen(body), body, mode);
    enum MHD_Result result = MHD_NO;
    if (response == NULL) {
        if (mode == MHD_RESPMEM_MUST_FREE)
            free(body);
        return MHD_NO;
    }
    if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES)
        result = MHD_queue_response(connection, status, response);
    /* The response goes in any case: the queue has a reference of its own. */
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result http_refuse(struct MHD_Connection *connection, unsigned status,
                                   const char *why)
{
    return http_reply(connection, status, "text/plain", (char *)(uintptr_t)why,
                      MHD_RESPMEM_PERSISTENT);
}

/* Called when the headers have come, and again when the body has: a GET has none to wait for, and
 * what is no GET is refused before it. */
static enum MHD_Result http_request(void *arg, struct MHD_Connection *connection, const char *path,
                                    const char *method, const char *version, const char *upload,
                                    size_t *upload_bytes, void **context)
{
    static char seen;
    struct http *http = arg;
    struct http_answer made = { 0 };
    (void)version;
    (void)upload;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0)
        return http_refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is served\n");
    if (*context == NULL) {
        *context = &seen;
        return MHD_YES;
    }
    *upload_bytes = 0;
    http->asked(http->self, http->arg, path, &made);
    if (made.body == NULL)
        return http_refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
    return http_reply(connection, made.status, made.type, made.body, MHD_RESPMEM_MUST_FREE);
}

static void http_run(struct http *http);

static void run_late(struct actor *self, void *arg)
{
    (void)self;
    http_run(arg);
}

static void http_ready(struct actor *self, void *arg, struct stream *stream, unsigned what)
{
    (void)self;
    (void)stream;
    (void)what;
    http_run(arg);
}

/* Does what is due, and looks when the next is: those that are too old end, and are gone in a
 * further run. */
static void http_run(struct http *http)
{
    uint64_t now_ns = http->self->loop->now_ns, next_ns = UINT64_MAX;
    MHD_UNSIGNED_LONG_LONG wait_ms;
    /* Old visits end before MHD_run, which sees their ends in this run. The deadline of one that it
     * takes is asked for behind it. */
    for (struct visit *visit = http->oldest; visit != NULL; visit = visit->next) {
        if (visit->since_ns + HTTP_NS <= now_ns)
            end_visit(http, visit);
        else if (!visit->ended && visit->since_ns + HTTP_NS < next_ns)
            next_ns = visit->since_ns + HTTP_NS;
    }
    MHD_run(http->daemon);
    if (MHD_get_timeout(http->daemon, &wait_ms) == MHD_YES &&
        now_ns + wait_ms * UINT64_C(1000000) < next_ns)
        next_ns = now_ns + wait_ms * UINT64_C(1000000);
    /* One that came in this run. */
    if (http->newest != NULL && !http->newest->ended && http->newest->since_ns + HTTP_NS < next_ns)
        next_ns = http->newest->since_ns + HTTP_NS;
    if (next_ns != UINT64_MAX)
        timer_start(http->self, &http->timer, next_ns, run_late, http);
    else
        timer_stop(&http->timer);
}

/* Takes the socket over, whatever the result. */
static int http_begin(struct http *http, int fd)
{
    const union MHD_DaemonInfo *info;
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL, 0, NULL, NULL, http_request, http, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        SILENT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_BYTES,
        MHD_OPTION_NOTIFY_CONNECTION, http_visited, http, MHD_OPTION_END);
    if (http->daemon == NULL) {
        close(fd);
        return TR_ENOMEM;
    }
    /* The daemon has the socket from here on, and http_close() ends both. */
    info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? TR_EUNSUPPORTED
                        : stream_watch(http->self, info->epoll_fd, http_ready, http, &http->watch);
}

int http_listen(struct actor *self, const struct endpoint *endpoint, http_asked *asked, void *arg,
                struct http **out, struct endpoint *at, struct error *error)
{
    struct socket_listener listener;
    char text[ENDPOINT_TEXT_MAX];
    *out = NULL;
    endpoint_format(endpoint, text, sizeof text);
    if (self->loop->simulated)
        return error_set(error, TR_EUNSUPPORTED, "%s: the simulator has no sockets", text);
    struct http *http = calloc(1, sizeof *http);
    if (http == NULL)
        return error_set(error, TR_ENOMEM, "%s: cannot listen: out of memory", text);
    *http = (struct http){ .self = self, .asked = asked, .arg = arg };
    /* The socket comes last, when nothing but http_begin() is left to fail, which takes it over. */
    int rc = socket_listen(endpoint, &listener, error);
    if (rc < 0) {
        free(http);
        return rc;
    }
    rc = http_begin(http, listener.fd);
    if (rc < 0) {
        http_close(http);
        return error_set(error, rc, "%s: cannot serve HTTP: %s", text, tr_strerror(rc));
    }
    *at = listener.endpoint;
    *out = http;
    return 0;
}

void http_close(struct http *http)
{
    if (http == NULL)
        return;
    /* The stream goes before the daemon, whose descriptor it watches. The struct goes last: the
     * daemon tells it of each visit. */
    timer_stop(&http->timer);
    stream_close(http->watch);
    if (http->daemon != NULL)
        MHD_stop_daemon(http->daemon); /* tells of the end of each visit, and closes the socket */
    free(http);
}
