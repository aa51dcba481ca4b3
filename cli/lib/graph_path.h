/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph that a word of the command line names: DIR/NAME.json, or DIR alone where it holds one
 * graph.
 *
 * Ownership: the path is the caller's to free. Thread rules: one thread.
 */
#ifndef CLI_LIB_GRAPH_PATH_H
#define CLI_LIB_GRAPH_PATH_H

#include <troupe/error.h>

/* TR_ENOENT: the folder holds no graph; TR_EINVAL: it holds several, which the message names. A
 * word that names no folder is the path itself. */
int graph_path_find(const char *word, char **path, struct tr_error *error);

/* For commands that take other folders too: the word itself, unless it is a folder with partition 0
 * and one graph; checkpoints have parts of that name too. */
int graph_path_try(const char *word, char **path, struct tr_error *error);

#endif
