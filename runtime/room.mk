# SPDX-License-Identifier: Apache-2.0
# One library for each room inside, so that code can be linked without the rooms below it: a test runs
# actors with base, core and sim alone. The rest of the house links libtr_runtime, which has all.
noinst_LTLIBRARIES += libtr_runtime_base.la libtr_runtime_core.la libtr_runtime_event.la libtr_runtime_net.la libtr_runtime_sim.la libtr_runtime.la
libtr_runtime_la_SOURCES =
libtr_runtime_la_LIBADD = libtr_runtime_sim.la libtr_runtime_net.la libtr_runtime_event.la libtr_runtime_core.la libtr_runtime_base.la

libtr_runtime_base_la_SOURCES = \
    runtime/base/atomic_dir.c \
    runtime/base/atomic_dir.h \
    runtime/base/cancel.h \
    runtime/base/counter.h \
    runtime/base/crc32c.c \
    runtime/base/crc32c.h \
    runtime/base/deadline.c \
    runtime/base/deadline.h \
    runtime/base/dtype.c \
    runtime/base/error.c \
    runtime/base/error.h \
    runtime/base/failpoint.c \
    runtime/base/failpoint.h \
    runtime/base/files.c \
    runtime/base/files.h \
    runtime/base/files_posix.c \
    runtime/base/files_tree.c \
    runtime/base/folder_lock.c \
    runtime/base/folder_lock.h \
    runtime/base/fork_mark.c \
    runtime/base/fork_mark.h \
    runtime/base/flat.hh \
    runtime/base/helper_program.c \
    runtime/base/helper_program.h \
    runtime/base/history_file.c \
    runtime/base/history_file.h \
    runtime/base/hotmem.c \
    runtime/base/hotmem.h \
    runtime/base/json_field.c \
    runtime/base/json_text.c \
    runtime/base/json_field.h \
    runtime/base/json_text.h \
    runtime/base/json_take.c \
    runtime/base/memory_limit.c \
    runtime/base/memory_limit.h \
    runtime/base/nearest.c \
    runtime/base/parallel.c \
    runtime/base/parallel.h \
    runtime/base/printable.c \
    runtime/base/printable.h \
    runtime/base/process_usage.c \
    runtime/base/process_usage.h \
    runtime/base/thread.c \
    runtime/base/thread.h

libtr_runtime_core_la_SOURCES = \
    runtime/core/account.c \
    runtime/core/account.h \
    runtime/core/actor.c \
    runtime/core/actor.h \
    runtime/core/actor_impl.h \
    runtime/core/address.h \
    runtime/core/buffer.c \
    runtime/core/buffer.h \
    runtime/core/buffer_pool.c \
    runtime/core/buffer_pool.h \
    runtime/core/call.c \
    runtime/core/call.h \
    runtime/core/calls.h \
    runtime/core/crew.c \
    runtime/core/crew.h \
    runtime/core/crew_impl.h \
    runtime/core/crew_parallel.c \
    runtime/core/directory.c \
    runtime/core/directory.h \
    runtime/core/directory_impl.h \
    runtime/core/dump.c \
    runtime/core/dump.h \
    runtime/core/dump_impl.h \
    runtime/core/endpoint.c \
    runtime/core/endpoint.h \
    runtime/core/env.c \
    runtime/core/env.h \
    runtime/core/inbox.c \
    runtime/core/inbox.h \
    runtime/core/kind.c \
    runtime/core/kind.h \
    runtime/core/log.c \
    runtime/core/log.h \
    runtime/core/loop.c \
    runtime/core/loop.h \
    runtime/core/message.c \
    runtime/core/message.h \
    runtime/core/message_home.c \
    runtime/core/message_pool.c \
    runtime/core/message_pool.h \
    runtime/core/monitor.c \
    runtime/core/monitor.h \
    runtime/core/node.c \
    runtime/core/node.h \
    runtime/core/node_impl.h \
    runtime/core/node_kill.c \
    runtime/core/outbox.h \
    runtime/core/port.c \
    runtime/core/port.h \
    runtime/core/post.h \
    runtime/core/route.c \
    runtime/core/router.h \
    runtime/core/run_queue.h \
    runtime/core/runtime_codec.cc \
    runtime/core/runtime_codec.h \
    runtime/core/runtime_kinds.c \
    runtime/core/runtime_kinds.h \
    runtime/core/runtime_messages.h \
    runtime/core/sequenced.c \
    runtime/core/sequenced.h \
    runtime/core/slots.c \
    runtime/core/slots.h \
    runtime/core/stream.c \
    runtime/core/stream.h \
    runtime/core/stream_impl.h \
    runtime/core/supervisor.c \
    runtime/core/supervisor.h \
    runtime/core/timer.c \
    runtime/core/timer.h \
    runtime/core/timers.h

libtr_runtime_event_la_SOURCES = \
    runtime/event/env_event.c \
    runtime/event/env_event.h \
    runtime/event/env_event_impl.h \
    runtime/event/port_holder.c \
    runtime/event/port_holder.h \
    runtime/event/socket.c \
    runtime/event/socket.h \
    runtime/event/socket_unix.c \
    runtime/event/socket_unix.h \
    runtime/event/stream_event.c

libtr_runtime_net_la_SOURCES = \
    runtime/net/admission.c \
    runtime/net/admission.h \
    runtime/net/greeting.c \
    runtime/net/greeting.h \
    runtime/net/hello.h \
    runtime/net/hello_codec.cc \
    runtime/net/hello_codec.h \
    runtime/net/http.c \
    runtime/net/http.h \
    runtime/net/keys.c \
    runtime/net/keys.h \
    runtime/net/keys_sign.c \
    runtime/net/keys_sign.h \
    runtime/net/link.c \
    runtime/net/link_down.c \
    runtime/net/link_impl.h \
    runtime/net/link_receive.c \
    runtime/net/link_send.c \
    runtime/net/link_session.c \
    runtime/net/link_table.c \
    runtime/net/links.c \
    runtime/net/links.h \
    runtime/net/listener.c \
    runtime/net/pem.c \
    runtime/net/pem.h \
    runtime/net/secret.c \
    runtime/net/secret.h \
    runtime/net/security.c \
    runtime/net/security.h \
    runtime/net/security_impl.h \
    runtime/net/tls.c \
    runtime/net/tls.h \
    runtime/net/tls_error.c \
    runtime/net/tls_pipe.c \
    runtime/net/tls_pipe.h \
    runtime/net/transport.c \
    runtime/net/transport.h \
    runtime/net/wire.c \
    runtime/net/wire.h

libtr_runtime_sim_la_SOURCES = \
    runtime/sim/env_sim.c \
    runtime/sim/env_sim.h \
    runtime/sim/files_sim.c \
    runtime/sim/files_sim.h \
    runtime/sim/sim_disk.c \
    runtime/sim/sim_disk.h \
    runtime/sim/sim_net.c \
    runtime/sim/sim_net.h \
    runtime/sim/sim_pipe.c \
    runtime/sim/sim_pipe.h \
    runtime/sim/sim_stream.c \
    runtime/sim/sim_stream.h

nodist_libtr_runtime_core_la_SOURCES = runtime/core/runtime_generated.h
nodist_libtr_runtime_net_la_SOURCES = runtime/net/hello_generated.h

EXTRA_DIST += runtime/core/runtime.fbs runtime/net/hello.fbs
BUILT_SOURCES += runtime/core/runtime_generated.h runtime/net/hello_generated.h
CLEANFILES += runtime/core/runtime_generated.h runtime/net/hello_generated.h

runtime/core/runtime_generated.h: runtime/core/runtime.fbs
	$(AM_V_GEN)$(MKDIR_P) runtime/core && $(FLATC) --cpp -o runtime/core $(srcdir)/runtime/core/runtime.fbs

runtime/net/hello_generated.h: runtime/net/hello.fbs
	$(AM_V_GEN)$(MKDIR_P) runtime/net && $(FLATC) --cpp -o runtime/net $(srcdir)/runtime/net/hello.fbs

# BUILT_SOURCES come first only for the big targets; `make libtr_runtime_core.la` needs this too.
runtime/core/runtime_codec.lo: runtime/core/runtime_generated.h
runtime/net/hello_codec.lo: runtime/net/hello_generated.h
