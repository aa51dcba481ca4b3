/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/core/runtime_kinds.h"

#include "runtime/core/actor_impl.h"
#include "runtime/core/kind.h"
#include "runtime/core/loop.h"
#include "runtime/core/runtime_codec.h"

/* X(kind) for each that may travel. */
#define TRAVELLING(X) X(STOP) X(KILL) X(MONITOR) X(DEMONITOR) X(LOOKUP) X(FOUND)

#define X(kind)                                                            \
    static int encode_##kind(const void *head, void *out, size_t capacity) \
    {                                                                      \
        return runtime_encode(RUNTIME_##kind, head, out, capacity);        \
    }                                                                      \
    static int verify_##kind(const void *bytes, size_t count)              \
    {                                                                      \
        return runtime_verify(RUNTIME_##kind, bytes, count);               \
    }                                                                      \
    static int decode_##kind(const void *bytes, size_t count, void *head)  \
    {                                                                      \
        return runtime_decode(RUNTIME_##kind, bytes, count, head);         \
    }
TRAVELLING(X)
#undef X

#define ENCODING(kind) .encode = encode_##kind, .verify = verify_##kind, .decode = decode_##kind

static void handle_kill(struct loop *loop, struct actor *actor, struct message *message)
{
    actor_be_killed(actor, ((struct runtime_kill *)message_head(message))->reason);
    loop_free_message(loop, message);
}

static void handle_monitor(struct loop *loop, struct actor *actor, struct message *message)
{
    (void)loop;
    monitor_keep(actor, message);
}

static void handle_demonitor(struct loop *loop, struct actor *actor, struct message *message)
{
    monitor_forget(actor, message->frame.from,
                   ((struct runtime_demonitor *)message_head(message))->call);
    loop_free_message(loop, message);
}

/* Observers watch and look up; they start and end nothing. */
static const struct kind runtime_kinds[] = {
    { .id = RUNTIME_STOP, .name = "stop", .class = KIND_ONCE, ENCODING(STOP) },
    { .id = RUNTIME_KILL,
      .name = "kill",
      .class = KIND_ONCE,
      .head_bytes = sizeof(struct runtime_kill),
      .handle = handle_kill,
      ENCODING(KILL) },
    { .id = RUNTIME_MONITOR,
      .name = "monitor",
      .handle = handle_monitor,
      .class = KIND_ONCE,
      .observer = true,
      ENCODING(MONITOR) },
    { .id = RUNTIME_DEMONITOR,
      .name = "demonitor",
      .handle = handle_demonitor,
      .class = KIND_ONCE,
      .observer = true,
      .head_bytes = sizeof(struct runtime_demonitor),
      ENCODING(DEMONITOR) },
    { .id = RUNTIME_REGISTER,
      .name = "register",
      .class = KIND_ONCE,
      .head_bytes = sizeof(struct runtime_name) },
    { .id = RUNTIME_LOOKUP,
      .name = "lookup",
      .class = KIND_PURE,
      .observer = true,
      .head_bytes = sizeof(struct runtime_name),
      ENCODING(LOOKUP) },
    { .id = RUNTIME_FOUND,
      .name = "found",
      .class = KIND_PURE,
      .head_bytes = sizeof(struct runtime_found),
      ENCODING(FOUND) },
};

void runtime_kinds_add(struct kinds *kinds)
{
    for (size_t i = 0; i < sizeof runtime_kinds / sizeof *runtime_kinds; i++)
        kinds->by_id[runtime_kinds[i].id] = &runtime_kinds[i];
}
