# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libtr_partition.la
libtr_partition_la_CPPFLAGS = $(AM_CPPFLAGS) -DTROUPE_LIBEXECDIR='"$(pkglibexecdir)"'
libtr_partition_la_SOURCES = \
    partition/build/assign.c \
    partition/build/assign.h \
    partition/build/assign_file.c \
    partition/build/assign_metis.c \
    partition/build/assign_random.c \
    partition/build/check.c \
    partition/build/check.h \
    partition/build/classes.c \
    partition/build/classes.h \
    partition/build/columns.c \
    partition/build/columns.h \
    partition/build/edge_stream.c \
    partition/build/edge_stream.h \
    partition/build/id_plan.c \
    partition/build/id_plan.h \
    partition/build/job.c \
    partition/build/job.h \
    partition/build/metis_child.c \
    partition/build/metis_child.h \
    partition/build/metis_program.c \
    partition/build/metis_program.h \
    partition/build/partition.c \
    partition/build/partition.h \
    partition/build/rank_writer.c \
    partition/build/rank_writer.h \
    partition/build/scatter.c \
    partition/build/scatter.h \
    partition/build/symmetric.c \
    partition/build/symmetric.h \
    partition/build/train_mask.c \
    partition/build/train_mask.h \
    partition/build/verify.c \
    partition/build/verify.h \
    partition/build/verify_edges.c \
    partition/build/verify_halos.c partition/build/verify_names.c \
    partition/build/verify_out_edges.c \
    partition/build/verify_private.h \
    partition/build/verify_ranks.c \
    partition/build/verify_rows.c \
    partition/build/write.h \
    partition/build/write_csr.c \
    partition/build/write_deal.c \
    partition/build/write_edge_rows.c \
    partition/build/write_edge_runs.c \
    partition/build/write_edges.c \
    partition/build/write_halos.c \
    partition/build/write_names.c \
    partition/build/write_out_edges.c \
    partition/build/write_nodes.c \
    partition/build/write_ranks.c \
    partition/build/write_rows.c \
    partition/build/write_set.c \
    partition/build/write_set.h \
    partition/metis/metis_exchange.c \
    partition/metis/metis_exchange.h \
    partition/store/book.c \
    partition/store/book_hash.c \
    partition/store/book.h \
    partition/store/book_json.h \
    partition/store/book_file.c \
    partition/store/book_json_book.c \
    partition/store/book_json_fields.h \
    partition/store/book_json_read.c \
    partition/store/book_json_tables.c \
    partition/store/book_json_write.c \
    partition/store/book_paths.c \
    partition/store/book_paths.h \
    partition/store/checksums.c \
    partition/store/checksums.h \
    partition/store/inspect.c \
    partition/store/inspect.h \
    partition/store/numbering.c \
    partition/store/numbering.h \
    partition/store/part_files.c \
    partition/store/part_files.h \
    partition/store/seed_split.c \
    partition/store/seed_split.h \
    partition/store/store.c \
    partition/store/store.h \
    partition/store/store_array.c \
    partition/store/store_check.c \
    partition/store/store_ids.c \
    partition/store/store_private.h

# Raw graphs: readers, writers, generators.
libtr_partition_la_SOURCES += \
    partition/store/npy.c partition/store/npy.h partition/store/npy_header.c partition/store/npy_write.c \
    partition/raw/raw.c partition/raw/raw.h partition/raw/raw_open.c partition/raw/raw_source.h \
    partition/raw/raw_chunked.c partition/raw/raw_series.c partition/raw/raw_series.h \
    partition/store/replace.c partition/store/replace.h \
    partition/raw/raw_write.c partition/raw/raw_write.h partition/raw/raw_copy.c \
    partition/raw/raw_csr.c partition/raw/raw_csr.h
libtr_partition_la_SOURCES += \
    partition/generate/generate.c partition/generate/generate.h \
    partition/generate/generate_draw.c partition/generate/generate_draw.h
libtr_partition_la_SOURCES += \
    partition/raw/raw_amend.c partition/raw/raw_amend.h \
    partition/prepare/feature.c partition/prepare/feature.h \
    partition/prepare/feature_edges.c partition/prepare/feature_edges.h \
    partition/prepare/mask_split.c partition/prepare/mask_split.h
libtr_partition_la_SOURCES += \
    partition/store/name_list.c partition/store/name_list.h \
    partition/table/end_kinds.c partition/table/end_kinds.h \
    partition/table/end_names.c partition/table/end_names.h \
    partition/table/value_lists.c partition/table/value_lists.h \
    partition/table/row_graph.c partition/table/row_graph.h \
    partition/table/id_map.c partition/table/id_map.h \
    partition/table/node_column.c partition/table/node_column.h \
    partition/table/node_ids.c partition/table/node_ids.h \
    partition/table/node_values.c partition/table/node_values.h \
    partition/table/table_edges.c partition/table/table_edges.h \
    partition/table/table_import.c partition/table/table_import.h \
    partition/table/table_nodes.c partition/table/table_nodes.h \
    partition/table/plain_rows.c partition/table/plain_rows.h \
    partition/table/table_reader.c partition/table/table_reader.h \
    partition/table/table_roles.c partition/table/table_roles.h \
    partition/table/table_values.c partition/table/table_values.h \
    partition/table/table_write.c partition/table/table_write.h
libtr_partition_la_SOURCES += \
    partition/import/debian.c partition/import/debian.h partition/import/debian_archive.h \
    partition/import/debian_names.c partition/import/debian_parse.c partition/import/debian_typed.c \
    partition/import/debian_write.c \
    partition/import/npz_edges.c partition/import/npz_edges.h \
    partition/import/npz_import.c partition/import/npz_import.h \
    partition/import/npz_job.c partition/import/npz_job.h \
    partition/import/npz_masks.c partition/import/npz_masks.h \
    partition/import/npz_names.c partition/import/npz_names.h \
    partition/import/npz_sparse.c partition/import/npz_sparse.h \
    partition/import/npz_table.c partition/import/npz_table.h \
    partition/import/ogb_finder.c partition/import/ogb_finder.h \
    partition/import/ogb_import.c partition/import/ogb_import.h \
    partition/import/ogb_layout.c partition/import/ogb_layout.h \
    partition/import/ogb_layout_arrays.c partition/import/ogb_layout_split.c partition/import/ogb_layout_text.c \
    partition/import/row_stream.c partition/import/row_stream.h \
    partition/raw/reverse_pairs.c partition/raw/reverse_pairs.h
libtr_partition_la_SOURCES += \
    partition/raw/column_roles.c partition/raw/column_roles.h \
    partition/raw/csv.c partition/raw/csv.h \
    partition/raw/duplicates.c partition/raw/duplicates.h \
    partition/raw/edge_blocks.c partition/raw/edge_blocks.h \
    partition/raw/edge_import.c partition/raw/edge_import.h \
    partition/raw/edge_lines.c partition/raw/edge_lines.h \
    partition/raw/end_signs.c partition/raw/end_signs.h \
    partition/raw/file_kind.c partition/raw/file_kind.h \
    partition/raw/node_features.c partition/raw/node_features.h \
    partition/raw/npz.c partition/raw/npz.h \
    partition/raw/npz_csr.c partition/raw/npz_csr.h \
    partition/raw/read_ahead.c partition/raw/read_ahead.h \
    partition/raw/text.c partition/raw/text.h partition/raw/text_reading.h \
    partition/raw/unpack.c partition/raw/unpack.h \
    partition/raw/unpack_archive.c partition/raw/unpack_gzip.c \
    partition/raw/raw_memory.c partition/raw/raw_memory.h \
    partition/raw/feature_rows.c partition/raw/feature_rows.h \
    partition/raw/svmlight.c partition/raw/svmlight.h \
    partition/raw/raw_edgelist.c partition/raw/raw_metis.c partition/raw/raw_mtx.c partition/raw/raw_npy.c

# METIS's own program, which alone links METIS. It is built of its sources, not of the library.
pkglibexec_PROGRAMS += troupe-metis
troupe_metis_SOURCES = \
    partition/metis/metis_exchange.c \
    partition/metis/metis_exchange.h \
    partition/metis/troupe_metis.c
troupe_metis_CPPFLAGS = $(AM_CPPFLAGS)
troupe_metis_LDADD = $(METIS_LIBS) -lm
