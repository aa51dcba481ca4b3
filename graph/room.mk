noinst_LTLIBRARIES += libtr_graph.la
libtr_graph_la_SOURCES = \
    graph/arena.c graph/arena.h \
    graph/batch.h \
    graph/builder.c graph/builder.h \
    graph/digest.c graph/digest.h \
    graph/gather.c graph/gather.h \
    graph/key.c graph/key.h \
    graph/part.h \
    graph/permute.c graph/permute.h \
    graph/relabel.c graph/relabel.h \
    graph/sample.c graph/sample.h \
    graph/shard.c graph/shard.h \
    graph/subset.c graph/subset.h \
    graph/types.c graph/types.h
