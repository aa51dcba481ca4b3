noinst_LTLIBRARIES += libtr_partition.la
libtr_partition_la_SOURCES = \
    partition/json_field.c partition/json_field.h \
    partition/npy.c partition/npy.h partition/npy_header.c partition/npy_write.c \
    partition/raw.c partition/raw.h partition/raw_open.c partition/raw_source.h \
    partition/raw_chunked.c partition/raw_series.c partition/raw_series.h \
    partition/raw_write.c partition/raw_write.h partition/raw_copy.c
libtr_partition_la_SOURCES += \
    partition/generate.c partition/generate.h \
    partition/generate_draw.c partition/generate_draw.h
