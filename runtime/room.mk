noinst_LTLIBRARIES += libtr_runtime.la
libtr_runtime_la_SOURCES = \
    runtime/dtype.c \
    runtime/error.c runtime/error.h \
    runtime/hotmem.c runtime/hotmem.h \
    runtime/parallel.c runtime/parallel.h
