/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tensor of a relation is named layers.LAYER.relations.RELATION.PARAMETER; in RELATION a dot is
 * %2e and a percent sign %25 (struct param_view in params.h).
 */
#include "config.h" /* strndup */

#include "model/model_relations.h"

#include <stdlib.h>
#include <string.h>

#define LAYERS "layers."
#define RELATIONS ".relations."

/* The relation in a tensor's name, as it is escaped there; NULL: it is of something else. */
static const char *find_relation(const char *name, size_t *length)
{
    if (strncmp(name, LAYERS, strlen(LAYERS)) != 0)
        return NULL;
    name += strlen(LAYERS);
    name += strspn(name, "0123456789");
    if (strncmp(name, RELATIONS, strlen(RELATIONS)) != 0)
        return NULL;
    name += strlen(RELATIONS);
    *length = strcspn(name, ".");
    return name[*length] == '.' ? name : NULL;
}

static void unescape_in_place(char *name)
{
    char *to = name;
    while (*name != '\0') {
        bool dot = strncmp(name, "%2e", 3) == 0, percent = strncmp(name, "%25", 3) == 0;
        *to++ = dot ? '.' : *name;
        name += dot || percent ? 3 : 1;
    }
    *to = '\0';
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct model_relation *)a)->name,
                  ((const struct model_relation *)b)->name);
}

/* Adds up what is listed of each name; the list is sorted. */
static void merge_equal(struct model_relations *relations)
{
    size_t kept = 0;
    for (size_t i = 0; i < relations->count; i++) {
        struct model_relation *last = kept == 0 ? NULL : &relations->list[kept - 1];
        if (last != NULL && strcmp(last->name, relations->list[i].name) == 0) {
            last->parameters += relations->list[i].parameters;
            free(relations->list[i].name);
        } else {
            relations->list[kept++] = relations->list[i];
        }
    }
    relations->count = kept;
}

int model_relations_find(struct model_relations *relations, const struct safetensors *tensors,
                         struct error *error)
{
    *relations = (struct model_relations){ .list = calloc(tensors->count + 1,
                                                          sizeof *relations->list) };
    bool full = relations->list == NULL;
    for (size_t i = 0; i < tensors->count && !full; i++) {
        const struct safetensor *tensor = &tensors->tensors[i];
        size_t length;
        const char *name = find_relation(tensor->name, &length);
        if (name == NULL)
            continue;
        struct model_relation *relation = &relations->list[relations->count];
        relation->name = strndup(name, length);
        full = relation->name == NULL;
        if (full)
            break;
        unescape_in_place(relation->name);
        relation->parameters = 1;
        for (uint32_t d = 0; d < tensor->ndim; d++)
            relation->parameters *= tensor->shape[d];
        relations->count++;
    }
    if (full) {
        model_relations_fini(relations);
        return error_set(error, TR_ENOMEM, "no memory for the names of the model's relations");
    }
    qsort(relations->list, relations->count, sizeof *relations->list, compare_names);
    merge_equal(relations);
    return 0;
}

void model_relations_fini(struct model_relations *relations)
{
    for (size_t i = 0; i < relations->count; i++)
        free(relations->list[i].name);
    free(relations->list);
    *relations = (struct model_relations){ 0 };
}
