noinst_LTLIBRARIES += libtr_runtime.la
libtr_runtime_la_SOURCES = \
    runtime/account.h \
    runtime/actor.h \
    runtime/address.h \
    runtime/buffer.h \
    runtime/call.h \
    runtime/crew.h \
    runtime/directory.h \
    runtime/dtype.c \
    runtime/dump.h \
    runtime/env.h \
    runtime/env_sim.h \
    runtime/error.c runtime/error.h \
    runtime/hotmem.c runtime/hotmem.h \
    runtime/kind.h \
    runtime/log.h \
    runtime/message.h \
    runtime/monitor.h \
    runtime/node.h \
    runtime/parallel.c runtime/parallel.h \
    runtime/port.h \
    runtime/post.h \
    runtime/supervisor.h \
    runtime/timer.h
libtr_runtime_la_SOURCES += \
    runtime/atomic_dir.c runtime/atomic_dir.h \
    runtime/cancel.h \
    runtime/files.c runtime/files_posix.c runtime/files_tree.c runtime/files.h
