/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocking shell over a reducer: a thread posts an operation and waits.
 *
 *     not restored -> restored -> (an operation at a time)* -> not restored, after a rollback
 *
 * Invariants: one thread at most is inside (`waiting`), and all but the mutex's fields is its own.
 * An operation that failed without a known outcome (its time is over, it was cancelled) is counted
 * nowhere, so a repeat has its number, by which the reducer gives it the first one's outcome; one
 * that ended is counted before the thread leaves. Reductions and barriers count from the restore
 * on, saves from the beginning. Once `closed`, no call begins, and the one inside ends.
 */
#include <troupe/group.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "actors/common/error_reply.h"
#include "actors/job/reducer.h"
#include "api/internal.h"
#include "runtime/base/deadline.h"

/* A reducer that was not ready is asked again after this. */
#define RETRY_NS 5000000L
/* The reducer ends an operation at its deadline by itself, with a message; a barrier's outcome it
 * asks for a little longer. So much later it is given up. */
#define GRACE_NS UINT64_C(5000000000)
/* The actors of a job that ends are gone so soon after its reducers. */
#define END_NS INT64_C(5000000000)
/* How often a thread that closes a group wakes the one that waits in it. */
#define WAKE_NS 20000000L
/* A reducer dismisses a call within a turn or a few; without memory for that it may not. */
#define DISMISS_NS UINT64_C(1000000000)

struct tr_group {
    struct tr_graph *graph; /* a reference */
    uint32_t rank, world;
    struct address reducer;        /* of the thread inside */
    bool restored;                 /* of the thread inside */
    uint64_t reductions, barriers; /* done since then: see msg_group_operation */
    uint64_t saves;        /* that ended, whatever their outcome; not those that timed out */
    void *checkpoint;      /* what tr_group_restore gave */
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t left;
    bool waiting;
    bool closed;
};

/* What numbers an operation, which a repeat has too. */
enum asked_number { NUMBER_NONE, NUMBER_REDUCTION, NUMBER_BARRIER, NUMBER_SAVE };

/* An operation as the caller gave it; its number is the group's. */
struct asked {
    const char *name;
    uint32_t operation;
    enum asked_number numbered;
    uint64_t value;
    const void *body;
    size_t count;
    size_t bytes;
    uint64_t number; /* of a save */
};

int tr_group_open(struct tr_graph *graph, uint32_t rank, struct tr_group **out,
                  struct tr_error *error)
{
    *out = NULL;
    int mine = session_mine(graph->session, error);
    if (mine != 0)
        return mine;
    struct plan_range here = graph_plays(graph)->trainers;
    if (rank < here.first || rank - here.first >= here.count)
        return tr_error_set(error, TR_ERANGE,
                            "group: trainer %" PRIu32 " is not of this "
                            "process, which has %" PRIu32 " from %" PRIu32 " on",
                            rank, here.count, here.first);
    struct tr_group *group = calloc(1, sizeof *group);
    if (group == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for a group");
    graph_acquire(graph);
    group->graph = graph;
    group->rank = rank;
    group->world = graph->plan->trainers;
    pthread_mutex_init(&group->mutex, NULL);
    deadline_init_cond(&group->left);
    *out = group;
    return 0;
}

uint32_t tr_group_rank(const struct tr_group *group)
{
    return group->rank;
}

uint32_t tr_group_world(const struct tr_group *group)
{
    return group->world;
}

static bool is_closed(struct tr_group *group)
{
    pthread_mutex_lock(&group->mutex);
    bool closed = group->closed;
    pthread_mutex_unlock(&group->mutex);
    return closed;
}

static struct message *group_make(struct port *port, const struct asked *asked, uint64_t timeout_ns)
{
    struct message *request = port_message(port, MSG_GROUP_REQUEST);
    if (request == NULL)
        return NULL;
    *(struct msg_group_request *)message_head(request) = (struct msg_group_request){
        .value = asked->value,
        .count = asked->count,
        .timeout_ns = timeout_ns,
        .number = asked->number,
        .operation = asked->operation,
    };
    void *body = asked->bytes == 0 ? NULL : port_body_alloc(port, request, asked->bytes);
    if (asked->bytes != 0 && body == NULL) {
        port_release(port, request);
        return NULL;
    }
    if (asked->bytes != 0)
        memcpy(body, asked->body, asked->bytes);
    return request;
}

/* An interrupt does not leave the call as it is: an answer that came then would be lost, and the
 * others would have gone on. So the reducer, which is in this process, is asked to dismiss
 * the call. It either has answered before, and the call ends with that, or keeps the outcome
 * for a repeat. */
static int call_reducer(struct tr_group *group, struct port *port, struct message *request,
                        uint64_t deadline_ns, struct message **reply)
{
    const struct asked dismissal = { .operation = MSG_GROUP_DISMISS };
    struct port_errand *errand;
    int rv = port_begin(port, group->reducer, request, deadline_ns, &errand);
    if (rv != 0)
        return rv;
    rv = port_wait_or_keep(port, errand, deadline_ns, reply);
    if (rv != TR_ECANCELED)
        return rv;
    /* The port stops watching first: the interrupt would end the second wait as well. */
    port_watch(port, NULL, 0);
    struct message *message = group_make(port, &dismissal, 0);
    if (message != NULL)
        port_send(port, group->reducer, message);
    rv = port_wait(port, errand, port_now_ns(port) + DISMISS_NS, reply);
    return rv != 0 ? TR_ECANCELED : 0;
}

static int group_attempt(struct tr_group *group, struct port *port, const struct asked *asked,
                         uint64_t deadline_ns, struct message **reply, struct error *error)
{
    char name[DIRECTORY_NAME_MAX];
    reducer_name(group->rank, name, sizeof name);
    int rv = 0;
    if (address_is_none(group->reducer))
        rv = port_find(port, name, deadline_ns, &group->reducer);
    if (rv != 0)
        return rv;
    uint64_t now_ns = port_now_ns(port);
    /* The request is made behind the search, since it says how much time is left. */
    struct message *request = group_make(port, asked,
                                         deadline_ns > now_ns ? deadline_ns - now_ns : 0);
    if (request == NULL)
        return TR_ENOMEM;
    rv = call_reducer(group, port, request, deadline_ns + GRACE_NS, reply);
    if (rv == 0) {
        rv = error_reply_read(*reply, error);
        if (rv != 0)
            port_release(port, *reply);
    }
    return rv;
}

/* True: another attempt may change it. */
static bool may_pass(struct tr_group *group, const struct asked *asked, int *rv)
{
    bool completes = asked->operation == MSG_GROUP_FINISH && asked->count != 0;
    /* The address is forgotten before the code is judged: the next attempt, or has_ended(), must
     * not take it for alive. */
    if (*rv == TR_EPEERDOWN)
        group->reducer = ADDRESS_NONE;
    int code = reducer_call_failed(asked->operation, completes, *rv);
    *rv = code != 0 ? code : *rv;
    return code == 0;
}

static int group_operate(struct tr_group *group, struct port *port, const struct asked *asked,
                         int64_t timeout_ns, struct message **reply, struct error *error)
{
    uint64_t deadline_ns = graph_deadline(group->graph, port, timeout_ns);
    int rv = group_attempt(group, port, asked, deadline_ns, reply, error);
    /* The close is asked for before another attempt: it has ended this one, and would wait for the
     * next. */
    while (rv != 0 && !is_closed(group) && may_pass(group, asked, &rv) &&
           port_now_ns(port) < deadline_ns) {
        nanosleep(&(struct timespec){ .tv_nsec = RETRY_NS }, NULL);
        *error = (struct error){ 0 };
        rv = group_attempt(group, port, asked, deadline_ns, reply, error);
    }
    return rv != 0 && is_closed(group) ? TR_ECANCELED : rv;
}

static int group_enter(struct tr_group *group)
{
    pthread_mutex_lock(&group->mutex);
    int rv = group->closed ? TR_ECLOSED : group->waiting ? TR_EINVAL : 0;
    if (rv == 0)
        group->waiting = true;
    pthread_mutex_unlock(&group->mutex);
    return rv;
}

static void group_leave(struct tr_group *group)
{
    pthread_mutex_lock(&group->mutex);
    group->waiting = false;
    pthread_cond_broadcast(&group->left);
    pthread_mutex_unlock(&group->mutex);
}

static int group_fail(struct tr_group *group, const struct asked *asked, int rv,
                      const struct error *why, struct tr_error *error)
{
    /* The state changes before the text is made, under whichever return below. */
    if (rv == TR_EROLLBACK)
        group->restored = false;
    if (rv == TR_ECLOSED) {
        char call[64];
        snprintf(call, sizeof call, "trainer %" PRIu32 ": %s", group->rank, asked->name);
        return graph_say_closed(group->graph, call, why->text[0] != '\0' ? why : NULL, error);
    }
    if (why->code == rv && why->text[0] != '\0')
        return error_give(why, error);
    return tr_error_set(error, rv, "trainer %" PRIu32 ": %s: %s", group->rank, asked->name,
                        tr_strerror(rv));
}

/* An interrupted call has said that this trainer is done. If the others then were done too, the job
 * has ended before the call is repeated, and with it the reducer that would answer. */
static bool has_ended(struct tr_group *group, const struct asked *asked, int rv)
{
    bool lost = rv == TR_ECLOSED || (rv != 0 && address_is_none(group->reducer));
    return lost && asked->operation == MSG_GROUP_FINISH &&
           tr_graph_wait_end(group->graph, END_NS, NULL) == 0;
}

/* The sum over one rank is its values, so nobody is asked for it. */
static bool is_known(const struct tr_group *group, const struct asked *asked)
{
    return asked->operation == MSG_GROUP_REDUCE && group->world == 1 && group->restored;
}

static int group_ask(struct tr_group *group, struct port *port, const struct asked *asked,
                     int64_t timeout_ns,
                     int (*take)(struct tr_group *group, const struct message *reply, void *arg),
                     void *arg, struct error *why)
{
    struct message *reply;
    int rv = group_operate(group, port, asked, timeout_ns, &reply, why);
    if (rv != 0)
        return rv;
    rv = take != NULL ? take(group, reply, arg) : 0;
    port_release(port, reply);
    /* A reduction or barrier counts when its answer is kept. */
    if (rv == 0 && asked->numbered == NUMBER_REDUCTION)
        group->reductions++;
    else if (rv == 0 && asked->numbered == NUMBER_BARRIER)
        group->barriers++;
    return rv;
}

/* The thread inside takes the number, since the counts are its own: another thread's call has
 * another number. */
static void group_number(const struct tr_group *group, struct asked *asked)
{
    if (asked->numbered == NUMBER_REDUCTION)
        asked->value = group->reductions + 1;
    else if (asked->numbered == NUMBER_BARRIER)
        asked->count = group->barriers + 1;
    else if (asked->numbered == NUMBER_SAVE)
        asked->number = group->saves + 1;
}

/* take may be NULL; it keeps what it wants of the reply: after run another thread may have closed
 * the group. */
static int group_run(struct tr_group *group, struct asked *asked, int64_t timeout_ns,
                     int (*take)(struct tr_group *group, const struct message *reply, void *arg),
                     void *arg, struct tr_error *error)
{
    struct error why = { 0 };
    struct graph_port *port;
    int rv = session_mine(group->graph->session, error);
    if (rv != 0)
        return rv;
    rv = group_enter(group);
    if (rv != 0)
        return tr_error_set(
            error, rv, "trainer %" PRIu32 ": %s: %s", group->rank, asked->name,
            rv == TR_ECLOSED
                ? "the group is closed"
                : "another thread is in a call on this group; make one call at a time");
    group_number(group, asked);
    /* The caller's until its next call, whatever comes of that; this thread alone is inside. */
    free(group->checkpoint);
    group->checkpoint = NULL;
    rv = graph_enter(group->graph, &port);
    if (rv == 0) {
        /* An answer that is known is given only behind the two entries: they refuse the call of a
         * thread beside another one, and where the graph is closed or interrupted. */
        if (!is_known(group, asked))
            rv = group_ask(group, port->port, asked, timeout_ns, take, arg, &why);
        graph_leave(group->graph, port);
    }
    /* The port is given back before, since a thread that closes the graph waits for it: this waits
     * by itself. */
    rv = has_ended(group, asked, rv) ? 0 : rv;
    /* After these two the outcome is not known: a repeat has the same number. */
    if (asked->numbered == NUMBER_SAVE && rv != TR_ETIMEDOUT && rv != TR_ECANCELED)
        group->saves++;
    rv = rv != 0 ? group_fail(group, asked, rv, &why, error) : 0;
    /* This comes last: another thread may close and free the group from here on. */
    group_leave(group);
    return rv;
}

struct values {
    float *values;
    size_t count;
};

static int take_sums(struct tr_group *group, const struct message *reply, void *arg)
{
    const struct values *to = arg;
    (void)group;
    if (reply->frame.body_bytes != to->count * sizeof(float))
        return TR_EFORMAT;
    if (to->count > 0)
        memcpy(to->values, message_body(reply), to->count * sizeof(float));
    return 0;
}

int tr_group_reduce(struct tr_group *group, float *values, size_t count, int64_t timeout_ns,
                    struct tr_error *error)
{
    struct values to = { values, count };
    int rv = session_mine(group->graph->session, error);
    if (rv != 0)
        return rv;
    struct asked asked = { .name = "reduce",
                           .operation = MSG_GROUP_REDUCE,
                           .numbered = NUMBER_REDUCTION,
                           .body = values,
                           .count = count,
                           .bytes = count * sizeof(float) };
    if (count > REDUCER_VALUES_MAX)
        return tr_error_set(error, TR_ETOOBIG, "reduce: %zu values; at most %" PRIu64, count,
                            (uint64_t)REDUCER_VALUES_MAX);
    return group_run(group, &asked, timeout_ns, take_sums, &to, error);
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t hash_name(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

int tr_group_barrier(struct tr_group *group, const char *name, int64_t timeout_ns,
                     struct tr_error *error)
{
    struct asked asked = { .name = "barrier",
                           .operation = MSG_GROUP_BARRIER,
                           .numbered = NUMBER_BARRIER,
                           .value = hash_name(name) };
    return group_run(group, &asked, timeout_ns, NULL, NULL, error);
}

int tr_group_save(struct tr_group *group, uint64_t step, const void *bytes, size_t count,
                  int64_t timeout_ns, struct tr_error *error)
{
    struct asked asked = { .name = "save",
                           .operation = MSG_GROUP_SAVE,
                           .value = step,
                           .body = bytes,
                           .count = count,
                           .bytes = count,
                           .numbered = NUMBER_SAVE };
    return group_run(group, &asked, timeout_ns, NULL, NULL, error);
}

int tr_group_skip_save(struct tr_group *group, uint64_t step, int code, int64_t timeout_ns,
                       struct tr_error *error)
{
    struct asked asked = { .name = "save",
                           .operation = MSG_GROUP_SKIP,
                           .value = step,
                           .count = (uint32_t)code,
                           .numbered = NUMBER_SAVE };
    return group_run(group, &asked, timeout_ns, NULL, NULL, error);
}

static int take_checkpoint(struct tr_group *group, const struct message *reply, void *arg)
{
    const struct msg_group_reply *head = (const void *)reply->head;
    struct tr_checkpoint *checkpoint = arg;
    size_t bytes = reply->frame.body_bytes;
    if (head->found != 0) {
        group->checkpoint = malloc(bytes + 1);
        if (group->checkpoint == NULL)
            return TR_ENOMEM;
        if (bytes > 0)
            memcpy(group->checkpoint, message_body(reply), bytes);
        *checkpoint = (struct tr_checkpoint){ sizeof *checkpoint, head->step, group->checkpoint,
                                              bytes };
    }
    /* These follow when the bytes are kept: a call that had no memory for them restores again. */
    group->restored = true;
    group->reductions = group->barriers = 0;
    return 0;
}

int tr_group_restore(struct tr_group *group, int64_t timeout_ns, struct tr_checkpoint *checkpoint,
                     struct tr_error *error)
{
    struct asked asked = { .name = "restore", .operation = MSG_GROUP_RESTORE };
    struct tr_checkpoint full = TR_CHECKPOINT_INIT;
    /* The caller's struct is written first: one that is not sound fails before the other ranks are
     * waited for. */
    int rv = sized_write(checkpoint, &full, sizeof full, "tr_checkpoint", error);
    if (rv == 0)
        rv = group_run(group, &asked, timeout_ns, take_checkpoint, &full, error);
    return rv == 0 ? sized_write(checkpoint, &full, sizeof full, "tr_checkpoint", error) : rv;
}

int tr_group_done(struct tr_group *group, int64_t timeout_ns, struct tr_error *error)
{
    struct asked asked = { .name = "the end of the job", .operation = MSG_GROUP_FINISH };
    return group_run(group, &asked, timeout_ns, NULL, NULL, error);
}

int tr_group_complete(struct tr_group *group, int64_t timeout_ns, struct tr_error *error)
{
    struct asked asked = { .name = "the end of the job",
                           .operation = MSG_GROUP_FINISH,
                           .count = 1 };
    return group_run(group, &asked, timeout_ns, NULL, NULL, error);
}

int tr_group_finish(struct tr_group *group, int64_t timeout_ns, struct tr_error *error)
{
    const struct deadline until = deadline_after(timeout_ns);
    int rv = tr_group_done(group, deadline_left_ns(&until), error);
    if (rv == TR_ECLOSED && tr_graph_wait_end(group->graph, 0, NULL) == 0)
        return 0; /* its actors heard of the end before it could be answered */
    /* Do not return before the job has ended: closing the session would stop actors that other
     * ranks still wait for. */
    return rv == 0 ? tr_graph_wait_end(group->graph, deadline_left_ns(&until), error) : rv;
}

/* Ends what the reducer does for the thread that waits. */
static void group_cancel(struct tr_group *group)
{
    const struct asked asked = { .operation = MSG_GROUP_CANCEL };
    char name[DIRECTORY_NAME_MAX];
    struct graph_port *port;
    struct address reducer;
    if (graph_enter_to_tell(group->graph, &port) != 0)
        return;
    reducer_name(group->rank, name, sizeof name);
    /* The search is short, and a reducer that is not found is asked again by the next attempt
     * (tr_group_shut). */
    struct message *message = NULL;
    if (port_find(port->port, name, port_now_ns(port->port) + WAKE_NS, &reducer) == 0)
        message = group_make(port->port, &asked, 0);
    if (message != NULL)
        port_send(port->port, reducer, message);
    graph_leave(group->graph, port);
}

void tr_group_shut(struct tr_group *group)
{
    if (session_is_child(group->graph->session))
        return;
    pthread_mutex_lock(&group->mutex);
    /* The flag stands before the reducer is asked: the call that ends by this finds it, and makes
     * no other attempt. The cancel is repeated, since the thread that waits may not have reached
     * its reducer yet, and the mutex is given up for it, which that thread needs to leave. */
    group->closed = true;
    while (group->waiting) {
        pthread_mutex_unlock(&group->mutex);
        group_cancel(group);
        const struct deadline again = deadline_after(WAKE_NS);
        pthread_mutex_lock(&group->mutex);
        if (group->waiting)
            (void)deadline_wait(&again, &group->left, &group->mutex);
    }
    pthread_mutex_unlock(&group->mutex);
}

void tr_group_close(struct tr_group *group)
{
    if (group == NULL || session_is_child(group->graph->session))
        return;
    tr_group_shut(group);
    struct tr_graph *graph = group->graph;
    pthread_cond_destroy(&group->left);
    pthread_mutex_destroy(&group->mutex);
    free(group->checkpoint);
    free(group);
    /* The graph goes last: it may be the last reference. */
    graph_release(graph);
}
