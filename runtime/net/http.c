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
#define CONNECTIONS_MAX (2 * (HTTP_OPEN_MAX + HTTP_STREAMS_MAX))
/* Seconds without a byte; HTTP_NS ends a connection before, whatever it says. */
#define SILENT_S (unsigned)(HTTP_NS / UINT64_C(1000000000) + 1)
#define STREAM_BLOCK 16384u /* so much of a stream is copied at a time */

struct visit {
    struct visit *next; /* the one that came after it */
    uint64_t since_ns;
    int fd;
    bool ended;
    struct http_stream *stream; /* NULL: it is none, and has a deadline */
};

/* A visit that goes on. Invariant: it is suspended where its text was sent and it had no other;
 * one that was ended is not, or it would never be gone. */
struct http_stream {
    struct http *http;
    const struct visit *visit;
    struct MHD_Connection *connection;
    http_next *next;
    uint64_t at;
    char *text;
    size_t bytes, sent; /* of the text */
    bool suspended;
};

struct http_request {
    struct MHD_Connection *connection;
    const char *path;
};

struct http {
    struct actor *self;
    http_asked *asked;
    void *arg;
    struct MHD_Daemon *daemon;
    struct stream *watch; /* of its epoll descriptor */
    struct timer timer;
    struct visit *oldest, *newest;
    uint32_t num_open;    /* that were not ended, and are no streams */
    uint32_t num_streams; /* that were not ended */
};

static uint32_t *visit_count(struct http *http, const struct visit *visit)
{
    return visit->stream != NULL ? &http->num_streams : &http->num_open;
}

/* What is suspended sees neither its end nor its deadline. */
static void http_resume(struct http_stream *stream)
{
    if (!stream->suspended)
        return;
    stream->suspended = false;
    MHD_resume_connection(stream->connection);
}

/* It sees the end of its connection in the next run, and tells of it by http_visited. */
static void end_visit(struct http *http, struct visit *visit)
{
    if (visit->ended)
        return;
    /* The visit is counted off here and not when it is gone, so that one more may come in its place
     * at once. */
    visit->ended = true;
    *visit_count(http, visit) -= 1;
    shutdown(visit->fd, SHUT_RDWR);
    if (visit->stream != NULL)
        http_resume(visit->stream);
}

/* The oldest of a kind ends where there are more of it than may be. */
static void end_oldest(struct http *http, bool streams, uint32_t max)
{
    const uint32_t *count = streams ? &http->num_streams : &http->num_open;
    for (struct visit *visit = http->oldest; visit != NULL && *count > max; visit = visit->next)
        if ((visit->stream != NULL) == streams)
            end_visit(http, visit);
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
    end_oldest(http, false, HTTP_OPEN_MAX);
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
    *visit_count(http, visit) -= !visit->ended;
    if (visit->stream != NULL)
        free(visit->stream->text);
    free(visit->stream);
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

/* Takes the response. The connection ends with it: there is one request a visit. */
static enum MHD_Result http_queue(struct MHD_Connection *connection, unsigned status,
                                  const struct http_answer *answer, struct MHD_Response *response)
{
    if (response == NULL)
        return MHD_NO;
    bool whole = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type) ==
                     MHD_YES &&
                 MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close") == MHD_YES;
    for (const char *const *field = answer->fields; whole && field != NULL && field[0] != NULL;
         field += 2)
        whole = MHD_add_response_header(response, field[0], field[1]) == MHD_YES;
    if (whole && answer->location != NULL)
        whole = MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, answer->location) ==
                MHD_YES;
    if (whole && answer->cookie[0] != '\0')
        whole = MHD_add_response_header(response, MHD_HTTP_HEADER_SET_COOKIE, answer->cookie) ==
                MHD_YES;
    enum MHD_Result result = whole ? MHD_queue_response(connection, status, response) : MHD_NO;
    /* The response goes in any case: the queue has a reference of its own. */
    MHD_destroy_response(response);
    return result;
}

/* static_bytes are lent. */
static enum MHD_Result http_lend(struct MHD_Connection *connection, unsigned status,
                                 const struct http_answer *answer, const void *static_bytes,
                                 size_t bytes)
{
    return http_queue(connection, status, answer,
                      MHD_create_response_from_buffer(bytes, (void *)(uintptr_t)static_bytes,
                                                      MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result http_refuse(struct MHD_Connection *connection, unsigned status,
                                   const char *why)
{
    const struct http_answer plain = { .type = "text/plain" };
    return http_lend(connection, status, &plain, why, strlen(why));
}

/* As libmicrohttpd asks for the bytes of a stream. A stream without more is suspended here, where
 * nothing else of the connection is under way. */
static ssize_t read_stream(void *arg, uint64_t position, char *buffer, size_t size)
{
    struct http_stream *stream = arg;
    (void)position;
    if (stream->visit->ended)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (stream->sent == stream->bytes) {
        free(stream->text);
        stream->text = stream->next(stream->http->self, stream->http->arg, &stream->at);
        stream->bytes = stream->text != NULL ? strlen(stream->text) : 0;
        stream->sent = 0;
    }
    if (stream->bytes == 0) {
        stream->suspended = true;
        MHD_suspend_connection(stream->connection);
        return 0;
    }
    size_t left = stream->bytes - stream->sent, part = left < size ? left : size;
    memcpy(buffer, stream->text + stream->sent, part);
    stream->sent += part;
    return (ssize_t)part;
}

static enum MHD_Result http_stream_begin(struct http *http, struct MHD_Connection *connection,
                                         const struct http_answer *answer)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct visit *visit = info != NULL ? info->socket_context : NULL;
    struct http_stream *stream = calloc(1, sizeof *stream);
    if (visit == NULL || visit->ended || stream == NULL) {
        free(stream);
        return http_refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
    }
    *stream = (struct http_stream){ .http = http,
                                    .visit = visit,
                                    .connection = connection,
                                    .next = answer->next,
                                    .at = answer->from };
    /* The visit changes its count and is a stream from here on; its end frees the stream, so that
     * nothing has to be undone. */
    http->num_open--;
    http->num_streams++;
    visit->stream = stream;
    end_oldest(http, true, HTTP_STREAMS_MAX);
    return http_queue(connection, answer->status, answer,
                      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream,
                                                        stream, NULL));
}

/* Called when the headers have come, and again when the body has: a GET has none to wait for, and
 * what is neither GET nor HEAD is refused before it. */
static enum MHD_Result http_request(void *arg, struct MHD_Connection *connection, const char *path,
                                    const char *method, const char *version, const char *upload,
                                    size_t *upload_bytes, void **context)
{
    static char seen;
    struct http *http = arg;
    struct http_answer made = { 0 };
    const struct http_request request = { connection, path };
    bool head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    (void)version;
    (void)upload;
    if (!head && strcmp(method, MHD_HTTP_METHOD_GET) != 0)
        return http_refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is served\n");
    if (*context == NULL) {
        *context = &seen;
        return MHD_YES;
    }
    *upload_bytes = 0;
    http->asked(http->self, http->arg, &request, &made);
    if (made.next != NULL)
        return head ? http_lend(connection, made.status, &made, "", 0)
                    : http_stream_begin(http, connection, &made);
    if (made.lent != NULL)
        return http_lend(connection, made.status, &made, made.lent, made.lent_bytes);
    if (made.body == NULL)
        return http_refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n");
    struct MHD_Response *response = MHD_create_response_from_buffer(strlen(made.body), made.body,
                                                                    MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        free(made.body);
    return http_queue(connection, made.status, &made, response);
}

const char *http_path(const struct http_request *request)
{
    return request->path;
}

const char *http_argument(const struct http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *http_header(const struct http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *http_cookie(const struct http_request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND, name);
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
        if (visit->stream != NULL)
            continue;
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
    if (http->newest != NULL && http->newest->stream == NULL && !http->newest->ended &&
        http->newest->since_ns + HTTP_NS < next_ns)
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
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, http_request, http,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, SILENT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)MEMORY_BYTES, MHD_OPTION_NOTIFY_CONNECTION, http_visited, http, MHD_OPTION_END);
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

void http_wake(struct http *http)
{
    for (struct visit *visit = http->oldest; visit != NULL; visit = visit->next)
        if (visit->stream != NULL)
            http_resume(visit->stream);
    http_run(http);
}

void http_close(struct http *http)
{
    if (http == NULL)
        return;
    /* The stream goes before the daemon, whose descriptor it watches. The struct goes last: the
     * daemon tells it of each visit. */
    timer_stop(&http->timer);
    stream_close(http->watch);
    /* libmicrohttpd takes no end while a connection is suspended. */
    for (struct visit *visit = http->oldest; visit != NULL; visit = visit->next)
        end_visit(http, visit);
    if (http->daemon != NULL)
        MHD_stop_daemon(http->daemon); /* tells of the end of each visit, and closes the socket */
    free(http);
}
