/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/table/node_ids.h"

#include <string.h>

#include "partition/table/table_values.h"

int node_ids_flush(struct node_ids *waiting, struct table_reader *reader)
{
    uint64_t numbers[NODE_IDS_AT_ONCE];
    char fault[ID_MAP_FAULT_MAX];
    int rv = id_map_add(waiting->ids, waiting->names, waiting->count, numbers);
    if (rv != 0)
        return table_reader_fail(reader, rv, "%s", id_map_fault(waiting->ids, rv, fault));
    for (uint32_t i = 0; i < waiting->count; i++) {
        if (numbers[i] == waiting->first + i)
            continue;
        char shown[VALUE_SHOWN];
        const struct table_field field = { waiting->names[i].at, waiting->names[i].length };
        reader->line = waiting->lines[i];
        return table_reader_fail(
            reader, TR_EFORMAT, "the ID '%s' is that of an earlier row; give each node one row%s",
            value_show(&field, shown),
            waiting->of_graphs ? ", or import one of the graphs by \"graph\"" : "");
    }
    waiting->first += waiting->count;
    waiting->count = 0;
    return 0;
}

int node_ids_take(struct node_ids *waiting, struct table_reader *reader,
                  const struct table_field *field)
{
    char shown[VALUE_SHOWN];
    if (field->length == 0)
        return table_reader_fail(reader, TR_EFORMAT, "the ID is missing");
    if (!value_is_utf8(field))
        return table_reader_fail(reader, TR_EFORMAT,
                                 "the ID '%s' holds bytes that are not UTF-8; convert the table "
                                 "(iconv -f LATIN1 -t UTF-8)",
                                 value_show(field, shown));
    if (!value_is_name(field))
        return table_reader_fail(
            reader, TR_EFORMAT,
            "the ID '%s' cannot be kept as a name: names are UTF-8 of at most %u bytes, without "
            "line ends and other control characters; write it so",
            value_show(field, shown), ID_TEXT_MAX);
    uint32_t at = waiting->count++;
    memcpy(waiting->texts[at], field->at, field->length);
    waiting->names[at] = (struct id_text){ waiting->texts[at], field->length };
    waiting->lines[at] = reader->line;
    return waiting->count == NODE_IDS_AT_ONCE ? node_ids_flush(waiting, reader) : 0;
}
