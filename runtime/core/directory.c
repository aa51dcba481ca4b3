/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory: names of a node's actors, and lookups that wait for one.
 *
 * Invariants:
 *   - An entry stands in the table while its actor lives: it is added with a monitor and leaves by
 *     the DOWN of that, which comes once. So a name is free again when its actor has ended.
 *   - A waiting lookup is answered when its name is registered, or dropped after its deadline, when
 *     its caller has given it up; an observer's has a deadline of our own, and observers have not
 *     the whole table, so that it is never full for the job.
 */
#include "runtime/core/directory.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/core/actor_impl.h"
#include "runtime/core/call.h"
#include "runtime/core/directory_impl.h"
#include "runtime/core/loop.h"
#include "runtime/core/monitor.h"
#include "runtime/core/node_impl.h"
#include "runtime/core/runtime_kinds.h"

_Static_assert(sizeof(((struct runtime_name *)0)->name) == DIRECTORY_NAME_MAX, "one size of names");

#define BUCKETS 256u /* a job has tens to hundreds of names */
/* A registration that takes longer than this finds the node's first loop stuck. */
#define DIRECTORY_DEADLINE_NS UINT64_C(10000000000)

struct directory_entry {
    struct directory_entry *next;
    struct actor *directory;
    struct address address;
    char name[DIRECTORY_NAME_MAX];
};

struct directory {
    struct directory_entry *buckets[BUCKETS];
    uint32_t num_names, num_waiters, num_observer_waiters;
    struct message *waiters; /* lookups that wait */
};

/* FNV-1a (Fowler, Noll, Vo). */
static uint32_t bucket_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (const char *c = name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return hash % BUCKETS;
}

static struct directory_entry **directory_find(struct directory *directory, const char *name)
{
    struct directory_entry **at = &directory->buckets[bucket_of(name)];
    while (*at != NULL && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

static void directory_answer(struct actor *self, struct message *request, struct address address)
{
    struct message *reply = message_create(self, RUNTIME_FOUND);
    if (reply == NULL) {
        actor_refuse(self, request, TR_ENOMEM);
        return;
    }
    ((struct runtime_found *)message_head(reply))->address = address;
    actor_reply(self, request, reply);
}

/* Answers the lookups that wait for the name, and drops those whose deadline passed: their callers
 * have given them up, even where the name is there now. */
static void serve_waiters(struct actor *self, const char *name, struct address address)
{
    struct directory *directory = actor_state(self);
    for (struct message **at = &directory->waiters; *at != NULL;) {
        struct message *request = *at;
        const struct runtime_name *head = message_head(request);
        bool expired = request->frame.deadline_ns <= actor_now_ns(self);
        bool found = name != NULL && strcmp(head->name, name) == 0;
        if (!expired && !found) {
            at = &request->next;
            continue;
        }
        /* The request leaves the list before it is answered, which consumes it. */
        *at = request->next;
        directory->num_waiters--;
        directory->num_observer_waiters -= request->frame.from.node >= NODE_OBSERVERS;
        if (found && !expired)
            directory_answer(self, request, address);
        else
            loop_free_message(self->loop, request);
    }
}

static void name_down(struct actor *self, void *arg, struct address who, int reason)
{
    struct directory_entry *entry = arg;
    struct directory *directory = actor_state(self);
    (void)who;
    (void)reason;
    struct directory_entry **at = directory_find(directory, entry->name);
    *at = entry->next;
    directory->num_names--;
    free(entry);
}

static int directory_add(struct actor *self, const char *name, struct address address)
{
    struct directory *directory = actor_state(self);
    struct directory_entry **at = directory_find(directory, name);
    /* The name comes before the bound: a name that is taken is reported as such by a full
     * directory, too. */
    if (*at != NULL)
        return TR_EEXIST;
    if (directory->num_names == DIRECTORY_NAMES_MAX)
        return TR_EFULL;
    struct directory_entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return TR_ENOMEM;
    memcpy(entry->name, name, strlen(name) + 1);
    entry->address = address;
    /* The monitor comes before the entry: nothing would remove an entry that is not watched. Its
     * DOWN arrives as a message, so never before the entry stands. */
    int rc = actor_monitor(self, address, name_down, entry, NULL);
    if (rc < 0) {
        free(entry);
        return rc;
    }
    *at = entry;
    directory->num_names++;
    return 0;
}

static void serve_register(struct actor *self, struct message *request)
{
    struct runtime_name name = *(struct runtime_name *)message_head(request);
    struct address who = request->frame.from;
    int rc = directory_add(self, name.name, who);
    if (rc < 0) {
        actor_refuse(self, request, rc);
        return;
    }
    /* In any order: the answers go to different actors. */
    directory_answer(self, request, who);
    serve_waiters(self, name.name, who);
}

static void serve_lookup(struct actor *self, struct message *request)
{
    struct directory *directory = actor_state(self);
    const struct runtime_name *name = message_head(request);
    struct directory_entry *entry = *directory_find(directory, name->name);
    /* This comes first: a name that is there needs no place among the waiters, and is found when
     * they are full. */
    if (entry != NULL) {
        directory_answer(self, request, entry->address);
        return;
    }
    if (name->wait == 0) {
        actor_refuse(self, request, TR_ENOENT);
        return;
    }
    /* Waiters whose deadline has passed give their places back before the bounds are looked at. */
    serve_waiters(self, NULL, ADDRESS_NONE);
    bool observer = request->frame.from.node >= NODE_OBSERVERS;
    if (directory->num_waiters == DIRECTORY_WAITERS_MAX ||
        (observer && directory->num_observer_waiters == DIRECTORY_OBSERVER_WAITERS_MAX)) {
        actor_refuse(self, request, TR_EFULL);
        return;
    }
    uint64_t until_ns = actor_now_ns(self) + DIRECTORY_OBSERVER_WAIT_NS;
    if (observer && request->frame.deadline_ns > until_ns)
        request->frame.deadline_ns = until_ns;
    directory->num_observer_waiters += observer;
    request->next = directory->waiters;
    directory->waiters = request;
    directory->num_waiters++;
}

static int directory_start(struct actor *self, const void *arg)
{
    (void)arg;
    struct directory *directory = calloc(1, sizeof *directory);
    actor_set_state(self, directory);
    return directory != NULL ? 0 : TR_ENOMEM;
}

static int directory_receive(struct actor *self, struct message *message)
{
    bool is_name = message->frame.kind == RUNTIME_REGISTER || message->frame.kind == RUNTIME_LOOKUP;
    if (!is_name) {
        message_release(self, message);
        return 0;
    }
    struct runtime_name *head = message_head(message);
    /* The name is checked before it is read as text: a message may hold any bytes. */
    if (memchr(head->name, '\0', sizeof head->name) == NULL || head->name[0] == '\0')
        actor_refuse(self, message, TR_EINVAL);
    else if (message->frame.kind == RUNTIME_REGISTER)
        serve_register(self, message);
    else
        serve_lookup(self, message);
    return 0;
}

static void directory_fini(struct actor *self)
{
    struct directory *directory = actor_state(self);
    if (directory == NULL)
        return;
    while (directory->waiters != NULL) {
        struct message *request = directory->waiters;
        directory->waiters = request->next;
        message_release(self, request);
    }
    /* The entries have gone: the monitors of this actor ended before fini, and name_down() freed
     * them. */
    free(directory);
}

static const struct actor_ops directory_ops = {
    .name = "directory",
    .start = directory_start,
    .receive = directory_receive,
    .fini = directory_fini,
};

const struct actor_options directory_options = { .ops = &directory_ops };

/* The requester remembers this while its call is under way. */
struct asking {
    directory_registered *registered;
    directory_found *found;
    void *arg;
    /* A question to another node is repeated when that node went down. */
    uint32_t node;
    uint64_t deadline_ns;
    struct runtime_name name;
};

static void directory_answered(struct actor *self, void *arg, int status, struct message *reply);

/* The directory of that node, of whichever incarnation lives there now. */
static struct address directory_of(const struct actor *self, uint32_t node)
{
    const struct node *own = self->loop->node;
    if (node == own->id)
        return own->directory;
    return (struct address){ node, 0, DIRECTORY_SLOT, DIRECTORY_GENERATION };
}

static int send_ask(struct actor *self, uint32_t kind, struct asking *asking)
{
    struct message *request = message_create(self, kind);
    if (request == NULL)
        return TR_ENOMEM;
    *(struct runtime_name *)message_head(request) = asking->name;
    return actor_call(self, directory_of(self, asking->node), request, asking->deadline_ns,
                      directory_answered, asking, NULL);
}

static void directory_answered(struct actor *self, void *arg, int status, struct message *reply)
{
    struct asking asking = *(struct asking *)arg;
    struct address address = ADDRESS_NONE;
    bool again = status == TR_EPEERDOWN && asking.node != self->loop->node->id &&
                 asking.deadline_ns > actor_now_ns(self);
    /* This comes first, since a lookup that goes on keeps `arg`. */
    if (again && send_ask(self, RUNTIME_LOOKUP, arg) == 0)
        return;
    /* The memory is freed before the callbacks, which may ask again or end the actor. */
    free(arg);
    if (reply != NULL && reply->frame.kind != RUNTIME_FOUND)
        status = TR_EFORMAT;
    else if (reply != NULL)
        address = ((struct runtime_found *)message_head(reply))->address;
    message_release(self, reply);
    if (asking.found != NULL)
        asking.found(self, asking.arg, status, address);
    else if (asking.registered != NULL)
        asking.registered(self, asking.arg, status);
    else if (status < 0 && status != TR_ECANCELED)
        actor_exit(self, status);
}

static int directory_ask(struct actor *self, uint32_t kind, uint32_t node, const char *name,
                         bool wait, struct asking asking)
{
    size_t length = strlen(name);
    if (length == 0 || length >= DIRECTORY_NAME_MAX)
        return TR_EINVAL;
    const struct node *own = self->loop->node;
    if (node != own->id && (!node_reaches(own, node)))
        return TR_ENOENT;
    struct asking *kept = malloc(sizeof *kept);
    if (kept == NULL)
        return TR_ENOMEM;
    *kept = asking;
    kept->node = node;
    memcpy(kept->name.name, name, length + 1);
    kept->name.wait = wait;
    int rc = send_ask(self, kind, kept);
    /* A call that did not begin is never completed, so directory_answered() does not free it. */
    if (rc < 0)
        free(kept);
    return rc;
}

int directory_register(struct actor *self, const char *name, directory_registered *done, void *arg)
{
    return directory_ask(
        self, RUNTIME_REGISTER, self->loop->node->id, name, false,
        (struct asking){ .registered = done,
                         .arg = arg,
                         .deadline_ns = actor_now_ns(self) + DIRECTORY_DEADLINE_NS });
}

int directory_lookup(struct actor *self, const char *name, directory_found *done, void *arg)
{
    return directory_lookup_at(self, self->loop->node->id, name,
                               actor_now_ns(self) + DIRECTORY_DEADLINE_NS, done, arg);
}

int directory_wait(struct actor *self, const char *name, uint64_t deadline_ns,
                   directory_found *done, void *arg)
{
    return directory_wait_at(self, self->loop->node->id, name, deadline_ns, done, arg);
}

int directory_lookup_at(struct actor *self, uint32_t node, const char *name, uint64_t deadline_ns,
                        directory_found *done, void *arg)
{
    return directory_ask(self, RUNTIME_LOOKUP, node, name, false,
                         (struct asking){ .found = done, .arg = arg, .deadline_ns = deadline_ns });
}

int directory_wait_at(struct actor *self, uint32_t node, const char *name, uint64_t deadline_ns,
                      directory_found *done, void *arg)
{
    return directory_ask(self, RUNTIME_LOOKUP, node, name, true,
                         (struct asking){ .found = done, .arg = arg, .deadline_ns = deadline_ns });
}
