/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics actor: a listener for HTTP, whose answers are made when they are asked for. */
#include "actors/report/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/call.h"
#include "runtime/net/http.h"

struct metrics_actor {
    const struct metrics_options *options;
    struct http *http;
};

static void asked(struct actor *self, void *arg, const struct http_request *request,
                  struct http_answer *answer)
{
    const struct metrics_actor *metrics = arg;
    const char *accept = http_header(request, "Accept");
    bool open_metrics = accept != NULL && strstr(accept, "application/openmetrics-text") != NULL;
    if (strcmp(http_path(request), "/metrics") == 0) {
        char *text = metrics_text(metrics->options->status, actor_node(self), actor_now_ns(self));
        *answer = (struct http_answer){
            .status = 200,
            .type = open_metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                 : "text/plain; version=0.0.4; charset=utf-8",
            .body = open_metrics ? text : metrics_plain(text),
        };
    } else {
        *answer = (struct http_answer){ .status = 404,
                                        .type = "text/plain",
                                        .body = strdup("only /metrics is served here\n") };
    }
}

static int start(struct actor *self, const void *arg)
{
    struct metrics_actor *metrics = calloc(1, sizeof *metrics);
    if (metrics == NULL)
        return TR_ENOMEM;
    struct error error = { 0 };
    struct endpoint endpoint;
    metrics->options = arg;
    /* The state is the actor's before it listens: fini takes down what is there, and a request
     * finds it. */
    actor_set_state(self, metrics);
    int rv = http_listen(self, &metrics->options->listen, asked, metrics, &metrics->http, &endpoint,
                         &error);
    if (metrics->options->listening != NULL)
        metrics->options->listening(metrics->options->arg, rv == 0 ? &endpoint : NULL, &error);
    if (rv != 0)
        actor_exit(self, 0); /* its owner was notified; the job goes on without */
    return 0;
}

static int receive(struct actor *self, struct message *message)
{
    actor_refuse(self, message, TR_EUNSUPPORTED);
    return 0;
}

static void fini(struct actor *self)
{
    struct metrics_actor *metrics = actor_state(self);
    if (metrics != NULL)
        http_close(metrics->http);
    free(metrics);
}

const struct actor_ops metrics_ops = {
    .name = "metrics",
    .start = start,
    .receive = receive,
    .fini = fini,
};
