/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relations of a saved rgcn or gat, read from the names of its tensors: config.json does not
 * list them, since they are those of the graph.
 *
 * Ownership: model_relations_find() allocates names; model_relations_fini() frees them.
 * Thread rules: read-only once found.
 */
#ifndef MODEL_MODEL_RELATIONS_H
#define MODEL_MODEL_RELATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "model/safetensors.h"

struct model_relation {
    char *name; /* SOURCE:EDGE:DESTINATION */
    uint64_t parameters;
};

struct model_relations {
    struct model_relation *list; /* [count], in the order of names, each once */
    size_t count;
};

/* TR_ENOMEM, after which there is nothing to free. */
int model_relations_find(struct model_relations *relations, const struct safetensors *tensors,
                         struct error *error);
void model_relations_fini(struct model_relations *relations);

#endif
