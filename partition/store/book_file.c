/* SPDX-License-Identifier: Apache-2.0 */
/* What a NAME.json says, in memory. */
#include "partition/store/book_json.h"

#include <stdlib.h>
#include <string.h>

size_t book_table_row_bytes(const struct book_table *table, uint64_t *width)
{
    uint64_t items = 1;
    for (uint32_t d = 0; d < table->ndim; d++)
        items *= table->shape[d];
    if (width != NULL)
        *width = items;
    return (size_t)items * tr_dtype_size(table->dtype);
}

uint64_t book_table_bytes(const struct book_table *table, uint32_t part, uint64_t num_rows)
{
    uint64_t element = table->has_values ? tr_dtype_size(table->dtype) : 0;
    if (table->form == TABLE_DENSE)
        return num_rows * book_table_row_bytes(table, NULL);
    return (num_rows + 1) * sizeof(uint64_t) + table->nnz[part] * (sizeof(uint32_t) + element);
}

uint64_t book_table_nnz(const struct book_table *table, uint32_t num_parts)
{
    uint64_t nnz = 0;
    for (uint32_t part = 0; table->form == TABLE_CSR && part < num_parts; part++)
        nnz += table->nnz[part];
    return nnz;
}

void book_file_fini(struct book_file *file)
{
    for (uint32_t i = 0; i < file->num_tables; i++) {
        free(file->tables[i].name);
        free(file->tables[i].nnz);
    }
    for (uint32_t i = 0; file->part_folders != NULL && i < file->book.num_parts; i++)
        free(file->part_folders[i]);
    for (uint32_t i = 0; i < file->num_names; i++)
        free(file->names[i].key.table);
    free(file->names);
    free(file->tables);
    free(file->part_folders);
    free(file->column_tables);
    free(file->train_mask);
    checksums_fini(&file->checksums);
    book_fini(&file->book);
    *file = (struct book_file){ 0 };
}

int book_file_add_names(struct book_file *file, const struct names_key *key, uint64_t count)
{
    struct book_names *grown = realloc(file->names, (file->num_names + 1) * sizeof *grown);
    if (grown == NULL)
        return TR_ENOMEM;
    file->names = grown;
    struct book_names *added = &grown[file->num_names];
    *added = (struct book_names){ .key = *key, .count = count };
    added->key.table = key->table != NULL ? strdup(key->table) : NULL;
    if (key->table != NULL && added->key.table == NULL)
        return TR_ENOMEM;
    file->num_names++;
    return 0;
}
