noinst_LTLIBRARIES += libtr_graph.la
libtr_graph_la_SOURCES = \
    graph/batch.h \
    graph/part.h \
    graph/types.c graph/types.h
