noinst_LTLIBRARIES += libtr_graph.la
libtr_graph_la_SOURCES = \
    graph/part.h \
    graph/types.c graph/types.h
