/* The other side of a keeper: who asks it. */
#include <stdlib.h>
#include <string.h>

#include "actors/keeper.h"
#include "runtime/directory.h"
#include "schemas/messages.h"

struct asking {
    struct message *request;
    uint64_t deadline_ns;
    call_done *done;
    void *arg;
};

static void finish(struct actor *self, struct asking *asking, int status, struct message *reply)
{
    call_done *done = asking->done;
    void *arg = asking->arg;
    message_release(self, asking->request);
    free(asking);
    done(self, arg, status, reply);
}

static void answered(struct actor *self, void *arg, int status, struct message *reply)
{
    finish(self, arg, status, reply);
}

static void found(struct actor *self, void *arg, int status, struct address address)
{
    struct asking *asking = arg;
    if (status == 0) {
        struct message *request = asking->request;
        asking->request = NULL;
        status = actor_call(self, address, request, asking->deadline_ns, answered, asking, NULL);
    }
    if (status != 0)
        finish(self, asking, status, NULL);
}

int keeper_call(struct actor *self, uint32_t node, struct message *request, uint64_t deadline_ns,
                call_done *done, void *arg)
{
    struct asking *asking = malloc(sizeof *asking);
    if (asking == NULL) {
        message_release(self, request);
        return TR_ENOMEM;
    }
    *asking = (struct asking){ request, deadline_ns, done, arg };
    int rv = directory_wait_at(self, node, KEEPER_NAME, deadline_ns, found, asking);
    if (rv != 0) {
        message_release(self, request);
        free(asking);
    }
    return rv;
}

struct message *keeper_request(struct actor *self, uint32_t kind, const void *bytes, size_t count,
                               const char *folder)
{
    size_t length = strlen(folder);
    struct message *request = message_create(self, kind);
    char *body = request == NULL ? NULL : message_body_alloc(self, request, count + length);
    if (body == NULL) {
        message_release(self, request);
        return NULL;
    }
    if (count > 0)
        memcpy(body, bytes, count);
    memcpy(body + count, folder, length);
    return request;
}

struct message *keeper_look(struct actor *self, const char *folder, uint64_t step, uint32_t era,
                            uint32_t rank, const struct checkpoint_part *part)
{
    struct message *request = keeper_request(self, MSG_CHECKPOINT_LOOK, NULL, 0, folder);
    if (request != NULL)
        *(struct msg_checkpoint_look *)message_head(request) = (struct msg_checkpoint_look){
            .step = step, .bytes = part->bytes, .crc32c = part->crc32c, .era = era, .rank = rank,
            .path_bytes = (uint32_t)strlen(folder) };
    return request;
}

struct message *keeper_commit(struct actor *self, const char *folder, uint32_t keep,
                              const struct checkpoint_manifest *manifest)
{
    size_t count = manifest->world * sizeof(struct msg_checkpoint_entry);
    struct msg_checkpoint_entry *entries = malloc(count + 1);
    for (uint32_t rank = 0; rank < manifest->world && entries != NULL; rank++)
        entries[rank] = (struct msg_checkpoint_entry){ manifest->parts[rank].bytes,
                                                       manifest->parts[rank].crc32c };
    struct message *request = NULL;
    if (entries != NULL)
        request = keeper_request(self, MSG_CHECKPOINT_COMMIT, entries, count, folder);
    free(entries);
    if (request != NULL)
        *(struct msg_checkpoint_commit *)message_head(request) = (struct msg_checkpoint_commit){
            .step = manifest->step, .era = manifest->era, .world = manifest->world, .keep = keep,
            .path_bytes = (uint32_t)strlen(folder) };
    return request;
}
