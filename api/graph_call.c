/* Calls of a thread to the owners of partitions. */
#include <time.h>

#include "actors/failed.h"
#include "api/internal.h"

/* An owner that is down or full is asked again after this. */
#define RETRY_NS 5000000L

/* One attempt: a server that lost the request would else cost the whole deadline. */
#define ATTEMPT_NS UINT64_C(10000000000)

uint64_t graph_deadline(const struct tr_graph *graph, const struct port *port, int64_t timeout_ns)
{
    int64_t most = graph->session->options.recovery_deadline_ns;
    uint64_t wait = (uint64_t)(timeout_ns < 0 ? most : timeout_ns);
    return port_now_ns(port) + wait;
}

static int attempt(struct port *port, uint32_t part, uint64_t deadline_ns,
                   int (*make)(void *, struct port *, struct message **), void *arg,
                   struct message **reply)
{
    char name[DIRECTORY_NAME_MAX];
    struct address to;
    struct message *request;
    server_part_name(part, name);
    int rv = port_find(port, name, deadline_ns, &to);
    if (rv == 0)
        rv = make(arg, port, &request);
    uint64_t until = port_now_ns(port) + ATTEMPT_NS;
    if (rv == 0)
        rv = port_call(port, to, request, until < deadline_ns ? until : deadline_ns, reply);
    return rv;
}

static bool is_passing(int status)
{
    return status == TR_EPEERDOWN || status == TR_EFULL || status == TR_ETIMEDOUT;
}

int graph_call_part(struct tr_graph *graph, struct port *port, uint32_t part,
                    uint64_t deadline_ns,
                    int (*make)(void *arg, struct port *port, struct message **request), void *arg,
                    struct message **reply, struct error *error)
{
    (void)graph;
    int rv = attempt(port, part, deadline_ns, make, arg, reply);
    while (is_passing(rv) && port_now_ns(port) < deadline_ns) {
        nanosleep(&(struct timespec){ .tv_nsec = RETRY_NS }, NULL);
        rv = attempt(port, part, deadline_ns, make, arg, reply);
    }
    if (rv != 0)
        return error_set(error, rv, "partition %u: %s", part, tr_strerror(rv));
    rv = failed_read(*reply, error);
    if (rv != 0)
        port_release(port, *reply);
    return rv;
}
