/* Links as loops, mail and nodes see them. Thread rules: the loop's, but for links_destroy. */
#ifndef RUNTIME_NET_LINKS_IMPL_H
#define RUNTIME_NET_LINKS_IMPL_H

#include <stdbool.h>
#include <stdint.h>

struct link;
struct links;
struct loop;
struct message;
struct node;

/* Is there a link to that node, or may it be an observer? */
bool links_know(struct links *links, uint32_t node);

/* On the loop that has the node's link (node % loops): queues the message; consumes. */
void links_send(struct loop *loop, struct message *message);

/* At the end of a turn: writes what the links of this loop have. */
void links_flush(struct loop *loop);

/* After the outboxes moved: tells all loops of incarnations that are down; and on each of them, at
 * the end of a turn, what follows from it. */
void links_tell_downs(struct loop *loop);
void links_run_downs(struct loop *loop);

/* A message that is charged (MESSAGE_CREDIT) left a mailbox, or was dropped: its sender may send
 * more. */
void links_return_credit(struct loop *loop, struct message *message);

/* A line a link, for a dump. Any thread. */
void links_dump(struct node *node);

/* When all loops ended: what was sent to links that never started. NULL is ignored, in both. */
void links_drop_leftovers(struct links *links);

void links_destroy(struct links *links);

#endif
