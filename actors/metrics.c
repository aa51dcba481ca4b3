#include "actors/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/call.h"
#include "runtime/stream.h"
#include "runtime/timer.h"

#define HEADER_MAX 256u /* ours: a status, a content type and a length */

struct visit {
    struct actor *self;
    struct metrics *metrics;
    struct visit *next;
    struct stream *stream;
    struct timer timer;
    size_t used;
    char request[METRICS_REQUEST_MAX + 1];
    char *answer; /* NULL: the request is still read */
    size_t answer_bytes, written;
};

struct metrics {
    const struct metrics_options *options;
    struct stream *listener;
    struct visit *visits;
    uint32_t num_visits;
};

static void end_visit(struct visit *visit)
{
    struct visit **at = &visit->metrics->visits;
    while (*at != visit)
        at = &(*at)->next;
    *at = visit->next;
    visit->metrics->num_visits--;
    timer_stop(&visit->timer);
    stream_close(visit->stream);
    free(visit->answer);
    free(visit);
}

static void too_late(struct actor *self, void *arg)
{
    (void)self;
    end_visit(arg);
}

static void write_answer(struct visit *visit)
{
    while (visit->written < visit->answer_bytes) {
        const struct iovec part = { visit->answer + visit->written,
                                    visit->answer_bytes - visit->written };
        ssize_t wrote = stream_writev(visit->stream, &part, 1);
        if (wrote == 0) {
            stream_want(visit->stream, STREAM_WRITABLE);
            return;
        }
        if (wrote < 0)
            break;
        visit->written += (size_t)wrote;
    }
    end_visit(visit);
}

/* HTTP/1.0: the end of the answer is the end of the connection (RFC 1945). */
static void answer(struct visit *visit, const char *status, const char *type, const char *body)
{
    size_t room = HEADER_MAX + strlen(body);
    visit->answer = malloc(room);
    if (visit->answer == NULL) {
        end_visit(visit);
        return;
    }
    int length = snprintf(visit->answer, room,
                          "HTTP/1.0 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                          "Connection: close\r\n\r\n%s",
                          status, type, strlen(body), body);
    visit->answer_bytes = (size_t)length;
    write_answer(visit);
}

static void answer_metrics(struct visit *visit)
{
    char *text = metrics_text(visit->metrics->options->status, actor_node(visit->self),
                              actor_now_ns(visit->self));
    if (text != NULL)
        answer(visit, "200 OK", "application/openmetrics-text; version=1.0.0; charset=utf-8",
               text);
    else
        answer(visit, "503 Service Unavailable", "text/plain", "out of memory\n");
    free(text);
}

/* Is it that path, alone or with a query? */
static bool asks_for(const char *request, const char *path)
{
    size_t length = strlen(path);
    return strncmp(request, path, length) == 0 &&
           (request[length] == ' ' || request[length] == '?' || request[length] == '\r' ||
            request[length] == '\n');
}

static void serve(struct visit *visit)
{
    if (strncmp(visit->request, "GET ", 4) != 0)
        answer(visit, "405 Method Not Allowed", "text/plain", "only GET is served\n");
    else if (!asks_for(visit->request + 4, "/metrics"))
        answer(visit, "404 Not Found", "text/plain", "only /metrics is here\n");
    else
        answer_metrics(visit);
}

static bool is_whole(const struct visit *visit)
{
    return strstr(visit->request, "\r\n\r\n") != NULL || strstr(visit->request, "\n\n") != NULL;
}

static void ready(struct actor *self, void *arg, struct stream *stream, unsigned what)
{
    struct visit *visit = arg;
    (void)self;
    if (visit->answer != NULL) {
        write_answer(visit);
        return;
    }
    if (what & STREAM_FAILED) {
        end_visit(visit);
        return;
    }
    const struct iovec part = { visit->request + visit->used, METRICS_REQUEST_MAX - visit->used };
    ssize_t got = stream_readv(stream, &part, 1);
    if (got < 0) {
        end_visit(visit);
        return;
    }
    if (memchr(visit->request + visit->used, '\0', (size_t)got) != NULL) {
        end_visit(visit); /* no HTTP */
        return;
    }
    visit->used += (size_t)got;
    visit->request[visit->used] = '\0';
    if (is_whole(visit))
        serve(visit);
    else if (visit->used == METRICS_REQUEST_MAX)
        answer(visit, "431 Request Header Fields Too Large", "text/plain", "too long\n");
}

/* False: nobody waits, or no one more can be let in. */
static bool let_in(struct actor *self, struct metrics *metrics)
{
    struct stream *stream = NULL;
    struct visit *visit = calloc(1, sizeof *visit);
    if (visit == NULL)
        return false;
    if (stream_accept(self, metrics->listener, ready, visit, &stream) != 0 || stream == NULL) {
        free(visit);
        return false;
    }
    visit->self = self;
    visit->metrics = metrics;
    visit->stream = stream;
    visit->next = metrics->visits;
    metrics->visits = visit;
    metrics->num_visits++;
    timer_start(self, &visit->timer, actor_now_ns(self) + METRICS_NS, too_late, visit);
    if (metrics->num_visits > METRICS_OPEN_MAX)
        end_visit(visit);
    return true;
}

static void knock(struct actor *self, void *arg, struct stream *listener, unsigned what)
{
    struct metrics *metrics = arg;
    (void)listener;
    (void)what;
    for (uint32_t i = 0; i < METRICS_OPEN_MAX && let_in(self, metrics); i++)
        ;
}

static int start(struct actor *self, const void *arg)
{
    struct metrics *metrics = calloc(1, sizeof *metrics);
    if (metrics == NULL)
        return TR_ENOMEM;
    struct error error = { 0 };
    struct endpoint endpoint;
    metrics->options = arg;
    actor_set_state(self, metrics);
    int rv = stream_listen(self, &metrics->options->listen, knock, metrics, &metrics->listener,
                           &error);
    if (rv == 0)
        stream_listening(metrics->listener, &endpoint);
    if (metrics->options->listening != NULL)
        metrics->options->listening(metrics->options->arg, rv == 0 ? &endpoint : NULL, &error);
    if (rv != 0)
        actor_exit(self, 0); /* whoever wanted metrics was told; the job goes on without */
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

static void fini(struct actor *self)
{
    struct metrics *metrics = actor_state(self);
    while (metrics != NULL && metrics->visits != NULL)
        end_visit(metrics->visits);
    if (metrics != NULL)
        stream_close(metrics->listener);
    free(metrics);
}

const struct actor_ops metrics_ops = {
    .name = "metrics",
    .start = start,
    .receive = receive,
    .fini = fini,
};
