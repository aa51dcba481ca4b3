noinst_LTLIBRARIES += libtr_partition.la
libtr_partition_la_SOURCES = \
    partition/assign.c partition/assign.h partition/assign_file.c \
    partition/assign_metis.c partition/assign_random.c \
    partition/book.c partition/book.h \
    partition/book_json.h partition/book_json_read.c partition/book_json_write.c \
    partition/book_paths.c partition/book_paths.h \
    partition/check.c partition/check.h \
    partition/checksums.c partition/checksums.h \
    partition/classes.c partition/classes.h \
    partition/columns.c partition/columns.h \
    partition/deal.c partition/deal.h \
    partition/edge_stream.c partition/edge_stream.h \
    partition/job.c partition/job.h \
    partition/metis_child.c partition/metis_child.h \
    partition/part_files.c partition/part_files.h \
    partition/partition.c partition/partition.h \
    partition/id_plan.c partition/id_plan.h \
    partition/scatter.c partition/scatter.h \
    partition/store.c partition/store.h partition/store_array.c partition/store_check.c \
    partition/store_private.h \
    partition/symmetric.c partition/symmetric.h \
    partition/train_mask.c partition/train_mask.h \
    partition/inspect.c partition/inspect.h \
    partition/verify.c partition/verify.h partition/verify_private.h \
    partition/verify_edges.c partition/verify_halos.c partition/verify_rows.c \
    partition/write.h partition/write_deal.c partition/write_edge_rows.c \
    partition/write_edges.c partition/write_halos.c partition/write_nodes.c \
    partition/write_rows.c partition/write_set.c partition/write_set.h

# Raw graphs: readers, writers, generators.
libtr_partition_la_SOURCES += \
    partition/json_field.c partition/json_field.h partition/json_take.c \
    partition/nearest.c partition/nearest.h \
    partition/npy.c partition/npy.h partition/npy_header.c partition/npy_write.c \
    partition/raw.c partition/raw.h partition/raw_open.c partition/raw_source.h \
    partition/raw_chunked.c partition/raw_series.c partition/raw_series.h \
    partition/replace.c partition/replace.h \
    partition/raw_write.c partition/raw_write.h partition/raw_copy.c
libtr_partition_la_SOURCES += \
    partition/generate.c partition/generate.h \
    partition/generate_draw.c partition/generate_draw.h
libtr_partition_la_SOURCES += \
    partition/debian.c partition/debian.h partition/debian_archive.h \
    partition/debian_names.c partition/debian_parse.c partition/debian_write.c
libtr_partition_la_SOURCES += \
    partition/csv.c partition/csv.h \
    partition/text.c partition/text.h \
    partition/raw_memory.c partition/raw_memory.h \
    partition/raw_edgelist.c partition/raw_metis.c partition/raw_mtx.c partition/raw_npy.c
