noinst_LTLIBRARIES += libtr_actors.la
libtr_actors_la_SOURCES = \
    actors/local_rows.c actors/local_rows.h \
    actors/local_sample.c actors/local_sample.h \
    actors/snapshot.c actors/snapshot.h actors/snapshot_load.c
