/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live page of a job: a node of its own, whose one actor looks at what the observer saw, once a
 * second, and answers browsers over HTTP.
 *
 * Invariants:
 * - The state of the actor is touched on its loop alone. Callers read `told` and what comes with it
 *   under the mutex, and nothing after that.
 * - Nothing is answered before the request has shown our name as its host, and the token or the
 *   cookie, but its refusal.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <troupe/observe.h>

#include "actors/report/metrics.h"
#include "api/public_error.h"
#include "api/sized.h"
#include "launch/web/live_events.h"
#include "launch/web/live_files.h"
#include "launch/web/live_guard.h"
#include "launch/web/live_history.h"
#include "launch/web/live_lines.h"
#include "runtime/base/fork_mark.h"
#include "runtime/core/call.h"
#include "runtime/core/timer.h"
#include "runtime/event/env_event.h"
#include "runtime/net/http.h"

#define LOOK_NS UINT64_C(1000000000)
#define STOP_NS UINT64_C(2000000000) /* its actor only waits for ENDING_NS */
#define URL_MAX (ENDPOINT_TEXT_MAX + LIVE_TOKEN_TEXT + 32u)
/* A browser waits so long before it connects again. */
#define RETRY_MS 2000
/* The place of a stream that has had its last event. */
#define PLACE_ENDED UINT64_MAX
/* Browsers have so long to take the last event. */
#define ENDING_NS UINT64_C(200000000)

struct tr_live_page {
    struct fork_mark *mark;
    struct tr_observer *observer;
    struct endpoint listen;
    struct live_guard guard;
    char *log, *run; /* NULL: there is none */
    struct env *env;
    struct node *node;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t changed;
    bool told; /* it listens, or error says why not */
    struct error error;
    char url[URL_MAX];
};

/* The actor's state. */
struct live_server {
    struct tr_live_page *page;
    struct http *http;
    struct live_history *history;
    struct live_lines *lines;   /* NULL: there is no log */
    struct live_events *events; /* NULL: no run was named */
    struct tr_status *status;   /* the last look; NULL: there was none */
    struct timer timer;
    bool ending;
};

/* Nothing of the page is run, shown or sent elsewhere than by the page itself. */
static const char *const FIELDS[] = {
    "Content-Security-Policy",
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options",
    "nosniff",
    "X-Frame-Options",
    "DENY",
    "Referrer-Policy",
    "no-referrer",
    "Cross-Origin-Resource-Policy",
    "same-origin",
    "Cross-Origin-Opener-Policy",
    "same-origin",
    "Cache-Control",
    "no-store",
    NULL,
};

static void live_refuse(struct http_answer *answer, unsigned status, const char *why)
{
    answer->status = status;
    answer->type = "text/plain; charset=utf-8";
    answer->lent = (const unsigned char *)why;
    answer->lent_bytes = strlen(why);
}

/* One event of the stream: the last look whole, and of the past what is newer than look *seen. */
static char *next_event(struct actor *self, void *arg, uint64_t *seen)
{
    const struct live_server *server = arg;
    uint64_t last = live_history_last(server->history);
    char *text = NULL;
    size_t size = 0;
    (void)self;
    if (server->ending && *seen == PLACE_ENDED)
        return NULL;
    /* The last look comes before the end, which it may explain. */
    if (server->ending && (server->status == NULL || *seen == last)) {
        *seen = PLACE_ENDED;
        return strdup("event: end\ndata: {}\n\n");
    }
    if (server->status == NULL || *seen == last)
        return NULL;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    fprintf(out, "retry: %d\nid: %" PRIu64 "\nevent: look\ndata: {", RETRY_MS, last);
    live_history_write(server->history, *seen, out);
    if (server->lines != NULL) {
        fputc(',', out);
        live_lines_write(server->lines, *seen <= last ? *seen : 0, out);
    }
    if (server->events != NULL) {
        fputc(',', out);
        live_events_write(server->events, *seen <= last ? *seen : 0, out);
    }
    fprintf(out, ",\"status\":%s}\n\n", tr_status_json(server->status));
    bool whole = ferror(out) == 0;
    /* The text is whole only when the stream was closed without an error. */
    if (fclose(out) != 0 || !whole) {
        free(text);
        return NULL;
    }
    *seen = last;
    return text;
}

/* The browser says it when it connects again by itself, the page when it does. */
static uint64_t last_event(const struct http_request *request)
{
    const char *id = http_header(request, "Last-Event-ID");
    if (id == NULL)
        id = http_argument(request, "seen");
    return id != NULL ? strtoull(id, NULL, 10) : 0;
}

static void answer_status(const struct live_server *server, struct http_answer *answer)
{
    if (server->status == NULL) {
        live_refuse(answer, 503, "the job has not been looked at yet; ask again\n");
        return;
    }
    answer->status = 200;
    answer->type = "application/json";
    answer->body = strdup(tr_status_json(server->status));
}

/* For a request that was let in. */
static void live_answer(const struct live_server *server, const struct http_request *request,
                        struct http_answer *answer)
{
    const char *path = http_path(request);
    const struct live_file *file = live_file_find(path);
    if (file != NULL) {
        answer->status = 200;
        answer->type = file->type;
        answer->lent = file->bytes;
        answer->lent_bytes = file->size;
    } else if (strcmp(path, "/status.json") == 0) {
        answer_status(server, answer);
    } else if (strcmp(path, "/events") == 0) {
        answer->status = 200;
        answer->type = "text/event-stream";
        answer->next = next_event;
        answer->from = last_event(request);
    } else {
        live_refuse(answer, 404, "there is no such page; the live page is at /\n");
    }
}

static void live_asked(struct actor *self, void *arg, const struct http_request *request,
                       struct http_answer *answer)
{
    const struct live_server *server = arg;
    const struct live_guard *guard = &server->page->guard;
    const char *token = http_argument(request, "token");
    (void)self;
    answer->fields = FIELDS;
    if (!live_guard_knows_host(guard, http_header(request, "Host"))) {
        live_refuse(answer, 403, "this page is served to programs of its own host, as localhost\n");
    } else if (strcmp(http_path(request), "/") == 0 && live_guard_knows_token(guard, token)) {
        live_refuse(answer, 303, "the page is at /\n");
        live_guard_cookie(guard, answer->cookie, sizeof answer->cookie);
        answer->location = "/";
    } else if (live_guard_knows_token(guard, http_cookie(request, guard->cookie))) {
        live_answer(server, request, answer);
    } else {
        live_refuse(answer, token != NULL ? 403 : 401,
                    "this page needs its token: open the URL that was printed when it began\n");
    }
}

static uint64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static int add_look(struct live_server *server, const struct tr_status *status)
{
    struct tr_job_status job = TR_JOB_STATUS_INIT;
    int rv = tr_status_job(status, &job, NULL);
    struct tr_process_status *processes = rv == 0 ? calloc(job.num_processes + (size_t)1,
                                                           sizeof *processes)
                                                  : NULL;
    if (processes == NULL)
        return TR_ENOMEM;
    for (uint32_t p = 0; rv == 0 && p < job.num_processes; p++) {
        processes[p].size = sizeof *processes;
        rv = tr_status_process(status, p, &processes[p], NULL);
    }
    if (rv == 0)
        rv = live_history_add(server->history, &job, processes, wall_ms());
    free(processes);
    return rv;
}

/* What is in files: the lines of the log, and the history of the job, which says how it ended. */
static void look_at_files(struct live_server *server)
{
    static const char *const OUTCOMES[] = { [LIVE_RUNS] = NULL,
                                            [LIVE_COMPLETE] = "complete",
                                            [LIVE_FAILED] = "failed",
                                            [LIVE_STOPPED] = "stopped" };
    uint64_t look = live_history_last(server->history);
    if (server->lines != NULL)
        live_lines_look(server->lines, look);
    if (server->events == NULL)
        return;
    live_events_look(server->events, look);
    live_history_outcome(server->history, wall_ms(), OUTCOMES[live_events_outcome(server->events)]);
}

/* A look that fails for want of memory is left out; the next one comes in any case. */
static void live_take_look(struct live_server *server)
{
    struct tr_status *status;
    if (tr_status_read(server->page->observer, &status, NULL) != 0)
        return;
    if (add_look(server, status) != 0) {
        tr_status_close(status);
        return;
    }
    tr_status_close(server->status);
    server->status = status;
    look_at_files(server);
}

static void live_look(struct actor *self, void *arg)
{
    struct live_server *server = arg;
    timer_start(self, &server->timer, actor_now_ns(self) + LOOK_NS, live_look, server);
    live_take_look(server);
    http_wake(server->http);
}

static void live_tell(struct tr_live_page *page, const struct endpoint *at,
                      const struct error *error)
{
    pthread_mutex_lock(&page->mutex);
    page->told = true;
    page->error = *error;
    if (at != NULL)
        snprintf(page->url, sizeof page->url,
                 strchr(at->host, ':') != NULL ? "http://[%s]:%u/?token=%s"
                                               : "http://%s:%u/?token=%s",
                 at->host, at->port, page->guard.token);
    pthread_cond_broadcast(&page->changed);
    pthread_mutex_unlock(&page->mutex);
}

/* What keeps the past. TR_ENOMEM: some of it is there. */
static int make_past(struct live_server *server)
{
    const struct tr_live_page *page = server->page;
    server->history = live_history_create();
    server->lines = page->log != NULL ? live_lines_create(page->log) : NULL;
    server->events = page->run != NULL ? live_events_create(page->run) : NULL;
    bool whole = server->history != NULL && (page->log == NULL || server->lines != NULL) &&
                 (page->run == NULL || server->events != NULL);
    return whole ? 0 : TR_ENOMEM;
}

static int live_start(struct actor *self, const void *arg)
{
    struct tr_live_page *page = (void *)(uintptr_t)arg;
    struct error error = { 0 };
    struct endpoint at;
    struct live_server *server = calloc(1, sizeof *server);
    int rv = server == NULL ? TR_ENOMEM : 0;
    /* The state is the actor's before it listens: fini takes down what is there, and a request
     * finds it. */
    if (rv == 0) {
        *server = (struct live_server){ .page = page };
        actor_set_state(self, server);
        rv = make_past(server);
    }
    if (rv == 0)
        rv = http_listen(self, &page->listen, live_asked, server, &server->http, &at, &error);
    else
        error_set(&error, rv, "no memory for a live page");
    if (rv == 0)
        live_look(self, server);
    /* This comes last: what was told is true from here on. */
    live_tell(page, rv == 0 ? &at : NULL, &error);
    if (rv != 0)
        actor_exit(self, 0); /* its owner was notified */
    return 0;
}

static int live_receive(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

static void end_live(struct actor *self, void *arg)
{
    (void)arg;
    actor_exit(self, 0);
}

/* Pages hear that nothing more will come, so that they need not take it for a lost connection, and
 * what the job came to meanwhile. */
static void live_stop(struct actor *self)
{
    struct live_server *server = actor_state(self);
    if (server == NULL || server->http == NULL) {
        actor_exit(self, 0);
        return;
    }
    server->ending = true;
    live_take_look(server);
    http_wake(server->http);
    timer_start(self, &server->timer, actor_now_ns(self) + ENDING_NS, end_live, NULL);
}

static void live_fini(struct actor *self)
{
    struct live_server *server = actor_state(self);
    if (server == NULL)
        return;
    http_close(server->http);
    live_history_destroy(server->history);
    live_lines_destroy(server->lines);
    live_events_destroy(server->events);
    tr_status_close(server->status);
    free(server);
}

static const struct actor_ops live_ops = {
    .name = "live page",
    .start = live_start,
    .receive = live_receive,
    .stop = live_stop,
    .fini = live_fini,
};

static int read_address(struct tr_live_page *page, const char *address, struct error *error)
{
    if (address == NULL)
        address = "0";
    if (metrics_address(address, &page->listen, NULL) != 0)
        return error_set(error, TR_EINVAL,
                         "%s: not an address to serve a page at; give PORT, localhost:PORT or "
                         "[::1]:PORT",
                         address);
    if (!live_guard_is_loopback(&page->listen))
        return error_set(error, TR_EINVAL,
                         "%s: the page is served on the loopback alone, since HTTP hides nothing "
                         "from a network: give PORT alone, and for a browser elsewhere run "
                         "`ssh -L PORT:localhost:PORT` there",
                         address);
    snprintf(page->guard.host, sizeof page->guard.host, "%s", page->listen.host);
    return 0;
}

static int live_begin(struct tr_live_page *page, struct error *error)
{
    const struct node_options options = { .loops = 1 };
    const struct actor_options root = { .ops = &live_ops, .arg = page };
    struct address ignored;
    int rv = env_event_create(1, &page->env, error);
    if (rv == 0)
        rv = node_create(page->env, &options, &page->node, error);
    if (rv != 0)
        return rv;
    if ((rv = node_spawn(page->node, &root, &ignored)) != 0 || (rv = node_start(page->node)) != 0)
        return error_set(error, rv, "cannot serve a live page: %s", tr_strerror(rv));
    pthread_mutex_lock(&page->mutex);
    while (!page->told)
        pthread_cond_wait(&page->changed, &page->mutex);
    pthread_mutex_unlock(&page->mutex);
    *error = page->error;
    return error->code;
}

static void live_destroy(struct tr_live_page *page)
{
    if (page->node != NULL) {
        node_stop(page->node, env_now_ns(page->env) + STOP_NS);
        node_join(page->node);
        node_destroy(page->node);
    }
    env_destroy(page->env);
    free(page->log);
    free(page->run);
    pthread_cond_destroy(&page->changed);
    pthread_mutex_destroy(&page->mutex);
    fork_mark_destroy(page->mark);
    free(page);
}

int tr_live_page_open(struct tr_observer *observer, const struct tr_live_page_options *caller,
                      struct tr_live_page **out, struct tr_error *error)
{
    struct tr_live_page_options options = TR_LIVE_PAGE_OPTIONS_INIT;
    struct error inner = { 0 };
    *out = NULL;
    int rv = caller != NULL
                 ? sized_read(&options, sizeof options, caller, "tr_live_page_options", error)
                 : 0;
    if (rv != 0)
        return rv;
    struct tr_live_page *page = calloc(1, sizeof *page);
    struct fork_mark *mark = fork_mark_create();
    if (page == NULL || mark == NULL) {
        fork_mark_destroy(mark);
        free(page);
        return tr_error_set(error, TR_ENOMEM, "no memory for a live page");
    }
    page->mark = mark;
    page->observer = observer;
    pthread_mutex_init(&page->mutex, NULL);
    pthread_cond_init(&page->changed, NULL);
    /* All that live_destroy() takes down is there first. */
    rv = live_guard_init(&page->guard, &inner);
    if (rv == 0 && options.log != NULL && (page->log = strdup(options.log)) == NULL)
        rv = error_set(&inner, TR_ENOMEM, "no memory for a live page");
    if (rv == 0 && options.run != NULL && (page->run = strdup(options.run)) == NULL)
        rv = error_set(&inner, TR_ENOMEM, "no memory for a live page");
    if (rv == 0)
        rv = read_address(page, options.address, &inner);
    if (rv == 0)
        rv = live_begin(page, &inner);
    if (rv != 0) {
        live_destroy(page);
        return error_give(&inner, error);
    }
    *out = page;
    return 0;
}

const char *tr_live_page_url(const struct tr_live_page *page)
{
    return page->url;
}

void tr_live_page_close(struct tr_live_page *page)
{
    if (page != NULL && !fork_mark_is_child(page->mark))
        live_destroy(page);
}
