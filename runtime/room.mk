noinst_LTLIBRARIES += libtr_runtime.la
libtr_runtime_la_SOURCES = \
    runtime/account.c \
    runtime/account.h \
    runtime/actor.c \
    runtime/actor.h \
    runtime/actor_impl.h \
    runtime/address.h \
    runtime/admission.c \
    runtime/admission.h \
    runtime/atomic_dir.c \
    runtime/atomic_dir.h \
    runtime/buffer.c \
    runtime/buffer.h \
    runtime/buffer_pool.h \
    runtime/call.c \
    runtime/call.h \
    runtime/calls.h \
    runtime/cancel.h \
    runtime/crc32c.c \
    runtime/crc32c.h \
    runtime/crew_parallel.c \
    runtime/counter.h \
    runtime/crew.c \
    runtime/crew.h \
    runtime/crew_impl.h \
    runtime/directory.c \
    runtime/directory.h \
    runtime/directory_impl.h \
    runtime/dtype.c \
    runtime/dump.c \
    runtime/dump.h \
    runtime/dump_impl.h \
    runtime/endpoint.c \
    runtime/endpoint.h \
    runtime/env.c \
    runtime/env.h \
    runtime/env_event.c runtime/memory_limit.c runtime/memory_limit.h \
    runtime/env_event_impl.h \
    runtime/env_sim.c \
    runtime/env_sim.h \
    runtime/error.c \
    runtime/error.h \
    runtime/failpoint.c \
    runtime/failpoint.h \
    runtime/files.c \
    runtime/files.h \
    runtime/files_posix.c \
    runtime/files_sim.c \
    runtime/files_sim.h \
    runtime/files_tree.c \
    runtime/greeting.c runtime/greeting.h runtime/hello.h \
    runtime/http.c \
    runtime/http.h \
    runtime/hotmem.c \
    runtime/hotmem.h \
    runtime/keys.c \
    runtime/keys.h \
    runtime/keys_sign.c \
    runtime/keys_sign.h \
    runtime/kind.c \
    runtime/kind.h \
    runtime/link.c runtime/link_down.c runtime/link_impl.h runtime/link_receive.c \
    runtime/link_send.c runtime/link_session.c \
    runtime/links.c runtime/links.h runtime/links_impl.h runtime/listener.c \
    runtime/log.c \
    runtime/log.h \
    runtime/loop.c \
    runtime/loop.h \
    runtime/mail.c \
    runtime/message.c \
    runtime/message.h \
    runtime/message_pool.c \
    runtime/message_pool.h \
    runtime/messages.h \
    runtime/monitor.c \
    runtime/monitor.h \
    runtime/node.c \
    runtime/node.h \
    runtime/node_impl.h \
    runtime/node_kill.c \
    runtime/parallel.c \
    runtime/parallel.h \
    runtime/pem.c \
    runtime/pem.h \
    runtime/port.c \
    runtime/port.h \
    runtime/post.h \
    runtime/flat.hh \
    runtime/runtime_codec.cc runtime/runtime_codec.h \
    runtime/runtime_kinds.c runtime/runtime_kinds.h \
    runtime/secret.c \
    runtime/sequenced.c \
    runtime/sequenced.h \
    runtime/secret.h \
    runtime/security.c \
    runtime/security.h \
    runtime/security_impl.h \
    runtime/sim_disk.c \
    runtime/sim_disk.h \
    runtime/sim_net.c \
    runtime/sim_net.h \
    runtime/sim_pipe.c \
    runtime/sim_pipe.h \
    runtime/sim_stream.c \
    runtime/sim_stream.h \
    runtime/slots.c \
    runtime/slots.h \
    runtime/socket.c \
    runtime/socket.h \
    runtime/socket_unix.c \
    runtime/socket_unix.h \
    runtime/stream.c \
    runtime/stream.h \
    runtime/stream_event.c \
    runtime/stream_impl.h \
    runtime/supervisor.c \
    runtime/supervisor.h \
    runtime/thread.c runtime/thread.h \
    runtime/timer.c \
    runtime/timer.h \
    runtime/timers.h \
    runtime/tls.c \
    runtime/tls.h \
    runtime/tls_error.c \
    runtime/tls_pipe.c \
    runtime/tls_pipe.h \
    runtime/transport.c \
    runtime/transport.h \
    runtime/wire.c runtime/wire.h
nodist_libtr_runtime_la_SOURCES = runtime/runtime_generated.h

EXTRA_DIST += runtime/runtime.fbs
BUILT_SOURCES += runtime/runtime_generated.h
CLEANFILES += runtime/runtime_generated.h

runtime/runtime_generated.h: runtime/runtime.fbs
	$(AM_V_GEN)$(MKDIR_P) runtime && $(FLATC) --cpp -o runtime $(srcdir)/runtime/runtime.fbs

# BUILT_SOURCES come first only for the big targets; `make libtr_runtime.la` needs this too.
runtime/runtime_codec.lo: runtime/runtime_generated.h
