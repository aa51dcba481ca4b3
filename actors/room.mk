noinst_LTLIBRARIES += libtr_actors.la
libtr_actors_la_SOURCES = \
    actors/coordinator.c actors/coordinator.h actors/coordinator_state.h \
    actors/coordinator_barrier.c \
    actors/coordinator_end.c \
    actors/coordinator_members.c \
    actors/failed.c actors/failed.h \
    actors/local_rows.c actors/local_rows.h \
    actors/local_sample.c actors/local_sample.h \
    actors/member.c actors/member.h \
    actors/server.c actors/server.h actors/server_work.h \
    actors/server_meta.c \
    actors/server_rows.c \
    actors/server_sample.c \
    actors/server_select.c \
    actors/snapshot.c actors/snapshot.h actors/snapshot_load.c
