/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/npz_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "partition/table/id_map.h"
#include "partition/table/table_values.h"

/* Names that are read together. */
#define NAMES_AT_ONCE ((uint64_t)16)

/* Names [0, count) of the array one after the other, whatever its size. */
static int copy_names(struct npz_job *job, struct npz_stream *stream, uint32_t list)
{
    struct npz_array some = { .header = stream->header };
    uint64_t left = stream->header.num_items, done = 0;
    memcpy(some.place, stream->place, sizeof some.place);
    some.data = malloc((size_t)(NAMES_AT_ONCE * stream->header.item_bytes) + 1);
    char *text = malloc(npz_text_room(&some));
    int rv = some.data == NULL || text == NULL ? npz_job_no_memory(job, "names") : 0;
    while (rv == 0 && done < left) {
        uint64_t count = left - done < NAMES_AT_ONCE ? left - done : NAMES_AT_ONCE;
        rv = npz_read(stream, some.data, (size_t)(count * stream->header.item_bytes), job->error);
        for (uint64_t i = 0; rv == 0 && i < count; i++) {
            size_t length = 0;
            rv = npz_text(&some, i, text, &length, job->error);
            const struct table_field field = { text, (uint32_t)length };
            if (rv == 0 && !value_is_name(&field))
                rv = error_set(job->error, TR_EFORMAT,
                               "%s: element %" PRIu64
                               " cannot be kept as a name: a name is UTF-8 without control "
                               "characters, and not longer than %u bytes",
                               some.place, done + i, ID_TEXT_MAX);
            if (rv == 0)
                rv = raw_writer_name(job->writer, list, text, length, job->error);
        }
        done += count;
    }
    free(text);
    npz_array_fini(&some);
    return rv == 0 ? npz_finish(stream, job->error) : rv;
}

/* count: as many names as there must be; 0: any number. */
static int write_names(struct npz_job *job, const char *name, enum names_of of, const char *table,
                       uint64_t count)
{
    struct npz_stream stream;
    uint32_t list;
    if (!npz_has(&job->npz, name))
        return 0;
    int rv = npz_open_texts(&stream, &job->npz, name, job->error);
    /* Python objects, or a type that is not read: the report lists the array. */
    if (rv == TR_EUNSUPPORTED)
        return 0;
    if (rv != 0)
        return rv;
    if (stream.header.kind == 'S' || stream.header.kind == 'U') {
        if (stream.header.ndim != 1)
            rv = error_set(job->error, TR_EFORMAT, "%s: has %u dimensions; names need 1",
                           stream.place, stream.header.ndim);
        if (rv == 0 && count > 0 && stream.header.num_items != count)
            rv = error_set(job->error, TR_EMISMATCH,
                           "%s: shape: %" PRIu64 " names for %" PRIu64 " %s", stream.place,
                           stream.header.num_items, count,
                           of == NAMES_NODES ? "nodes" : "columns of features");
        if (rv == 0)
            rv = raw_writer_add_names(job->writer, of, 0, table, &list, job->error);
        if (rv == 0)
            rv = copy_names(job, &stream, list);
        npz_job_mark(job, name);
    }
    npz_close(&stream);
    return rv;
}

int npz_names_write(struct npz_job *job, uint64_t feature_width, bool has_labels)
{
    int rv = write_names(job, "node_names", NAMES_NODES, NULL, job->num_nodes);
    if (rv == 0 && has_labels)
        rv = write_names(job, "class_names", NAMES_VALUES, "label", 0);
    if (rv == 0 && feature_width > 0)
        rv = write_names(job, "attr_names", NAMES_COLUMNS, "feat", feature_width);
    return rv;
}
