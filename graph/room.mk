noinst_LTLIBRARIES += libtr_graph.la
libtr_graph_la_SOURCES = \
    graph/batch.h \
    graph/key.c graph/key.h \
    graph/part.h \
    graph/permute.c graph/permute.h \
    graph/relabel.c graph/relabel.h \
    graph/sample.c graph/sample.h \
    graph/subset.c graph/subset.h \
    graph/types.c graph/types.h
