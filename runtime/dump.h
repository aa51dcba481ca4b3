/*
 * A dump of every loop, actor and mailbox as text, for a person who wonders what hangs.
 *
 * node_dump_request only sets a flag and wakes the loops, so a signal watcher may call it; each
 * loop then writes its own part, line by line, to the node's log sink at LOG_LEVEL_INFO.
 */
#ifndef RUNTIME_DUMP_H
#define RUNTIME_DUMP_H

struct node;

/* Any thread, but not a signal handler itself (it takes a mutex): cli/ watches a signalfd. */
void node_dump_request(struct node *node);

#endif
