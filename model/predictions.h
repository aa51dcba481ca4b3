/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predictions as text: a line a node, in the order of original IDs, from outputs that are in memory.
 *
 *  CSV          a header, then "node,class,probability"; with sigmoid a probability for each output,
 *               "node,probability_0,probability_1" and so on.
 *  JSON lines   {"node":0,"class":2,"probability":0.873214}; with sigmoid the outputs that are
 *               more likely than not, and all probabilities:
 *               {"node":0,"classes":[1],"probabilities":[0.100000,0.900000]}.
 *
 * Where the graph has names of its nodes or classes they stand in place of the numbers: in CSV in
 * quotation marks where that is needed, as RFC 4180 has it, in JSON as texts.
 *
 * The class is the largest output, the first of equals, as scores have it (scores.h). Probabilities
 * have six decimals whatever the locale; one that is no number is an empty field, or null.
 *
 * Memory does not grow with the number of nodes.
 *
 * Thread rules: one thread a file.
 */
#ifndef MODEL_PREDICTIONS_H
#define MODEL_PREDICTIONS_H

#include <stdbool.h>

#include "model/model_config.h"
#include "model/name_reader.h"
#include "model/tensor.h"
#include "runtime/base/files.h"

enum predictions_format { PREDICTIONS_CSV, PREDICTIONS_JSONL };

/* Whether the file's name says that it has such lines: it ends with .csv, or with .jsonl. */
bool predictions_find_format(const char *path, enum predictions_format *format);

/* Writes a new file at path, outputs [nodes][classes] before softmax or sigmoid. names: of the nodes
 * and classes, where the graph has some; may be NULL. A failure may leave a part of it. */
int predictions_write(struct files *files, const char *path, enum predictions_format format,
                      enum model_loss loss, const struct tensor *outputs, struct name_reader *names,
                      struct error *error);

#endif
