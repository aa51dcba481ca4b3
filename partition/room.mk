noinst_LTLIBRARIES += libtr_partition.la
libtr_partition_la_SOURCES = \
    partition/raw.h
