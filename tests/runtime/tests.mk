# SPDX-License-Identifier: Apache-2.0
# Tests of runtime/.
runtime_support = tests/runtime/support.c tests/runtime/support.h tests/seeds.h

check_PROGRAMS += tests/runtime/test_message
TESTS += tests/runtime/test_message
tests_runtime_test_message_SOURCES = tests/runtime/test_message.c $(runtime_support)
tests_runtime_test_message_LDADD = $(runtime_libs) $(test_libs)
SEED_TESTS += tests/runtime/test_message

check_PROGRAMS += tests/runtime/test_faults
TESTS += tests/runtime/test_faults
tests_runtime_test_faults_SOURCES = tests/runtime/test_faults.c $(runtime_support)
tests_runtime_test_faults_LDADD = $(runtime_libs) $(test_libs)
SEED_TESTS += tests/runtime/test_faults

check_PROGRAMS += tests/runtime/test_call_memory
TESTS += tests/runtime/test_call_memory
tests_runtime_test_call_memory_SOURCES = tests/runtime/test_call_memory.c tests/short_memory.h
tests_runtime_test_call_memory_LDADD = $(runtime_libs) $(test_libs)
tests_runtime_test_call_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
    -Wl,--wrap=realloc -Wl,--wrap=strdup -Wl,--wrap=strndup

check_PROGRAMS += tests/runtime/test_life
TESTS += tests/runtime/test_life
tests_runtime_test_life_SOURCES = tests/runtime/test_life.c $(runtime_support)
tests_runtime_test_life_LDADD = $(runtime_libs) $(test_libs)

# Without the rooms event and net: a node needs neither sockets nor TLS.
check_PROGRAMS += tests/runtime/test_no_router
TESTS += tests/runtime/test_no_router
tests_runtime_test_no_router_SOURCES = tests/runtime/test_no_router.c $(runtime_support)
tests_runtime_test_no_router_LDADD = libtr_runtime_sim.la libtr_runtime_core.la libtr_runtime_base.la -lstdc++ $(JANSSON_LIBS) $(PTHREAD_LIBS) $(test_libs)

check_PROGRAMS += tests/runtime/test_port
TESTS += tests/runtime/test_port
tests_runtime_test_port_SOURCES = tests/runtime/test_port.c $(runtime_support)
tests_runtime_test_port_LDADD = $(runtime_libs) $(test_libs)
tests_runtime_test_port_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc

check_PROGRAMS += tests/runtime/test_crew
TESTS += tests/runtime/test_crew
tests_runtime_test_crew_SOURCES = tests/runtime/test_crew.c $(runtime_support)
tests_runtime_test_crew_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_directory
TESTS += tests/runtime/test_directory
tests_runtime_test_directory_SOURCES = tests/runtime/test_directory.c $(runtime_support)
tests_runtime_test_directory_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_deadline
TESTS += tests/runtime/test_deadline
tests_runtime_test_deadline_SOURCES = tests/runtime/test_deadline.c
tests_runtime_test_deadline_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_account
TESTS += tests/runtime/test_account
tests_runtime_test_account_SOURCES = tests/runtime/test_account.c $(runtime_support)
tests_runtime_test_account_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_sequenced
TESTS += tests/runtime/test_sequenced
tests_runtime_test_sequenced_SOURCES = tests/runtime/test_sequenced.c $(runtime_support)
tests_runtime_test_sequenced_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_timer
TESTS += tests/runtime/test_timer
tests_runtime_test_timer_SOURCES = tests/runtime/test_timer.c $(runtime_support)
tests_runtime_test_timer_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_route
TESTS += tests/runtime/test_route
tests_runtime_test_route_SOURCES = tests/runtime/test_route.c $(runtime_support)
tests_runtime_test_route_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_threads
TESTS += tests/runtime/test_threads
tests_runtime_test_threads_SOURCES = tests/runtime/test_threads.c $(runtime_support)
tests_runtime_test_threads_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_error
TESTS += tests/runtime/test_error
tests_runtime_test_error_SOURCES = tests/runtime/test_error.c
tests_runtime_test_error_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_endpoint
TESTS += tests/runtime/test_endpoint
tests_runtime_test_endpoint_SOURCES = tests/runtime/test_endpoint.c
tests_runtime_test_endpoint_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_stream
TESTS += tests/runtime/test_stream
tests_runtime_test_stream_SOURCES = tests/runtime/test_stream.c tests/runtime/echo.c \
    tests/runtime/echo.h $(runtime_support)
tests_runtime_test_stream_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_sim_net
TESTS += tests/runtime/test_sim_net
tests_runtime_test_sim_net_SOURCES = tests/runtime/test_sim_net.c tests/runtime/echo.c \
    tests/runtime/echo.h $(runtime_support)
tests_runtime_test_sim_net_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_sim_kill
TESTS += tests/runtime/test_sim_kill
tests_runtime_test_sim_kill_SOURCES = tests/runtime/test_sim_kill.c tests/runtime/echo.c \
    tests/runtime/echo.h $(runtime_support)
tests_runtime_test_sim_kill_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_files_sim
TESTS += tests/runtime/test_files_sim
tests_runtime_test_files_sim_SOURCES = tests/runtime/test_files_sim.c $(runtime_support)
tests_runtime_test_files_sim_LDADD = $(runtime_libs) $(test_libs)

link_support = tests/runtime/link_support.c tests/runtime/link_support.h $(runtime_support)

check_PROGRAMS += tests/runtime/test_link
TESTS += tests/runtime/test_link
tests_runtime_test_link_SOURCES = tests/runtime/test_link.c $(link_support)
tests_runtime_test_link_LDADD = $(runtime_libs) $(test_libs)

wires = tests/runtime/wires.c tests/runtime/wires.h
check_PROGRAMS += tests/runtime/test_transport tests/runtime/test_security
TESTS += tests/runtime/test_transport tests/runtime/test_security
tests_runtime_test_transport_SOURCES = tests/runtime/test_transport.c $(wires)
tests_runtime_test_transport_LDADD = $(runtime_libs) $(test_libs)
tests_runtime_test_security_SOURCES = tests/runtime/test_security.c $(wires)
tests_runtime_test_security_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_link_sim
TESTS += tests/runtime/test_link_sim
tests_runtime_test_link_sim_SOURCES = tests/runtime/test_link_sim.c $(link_support)
tests_runtime_test_link_sim_LDADD = $(runtime_libs) $(test_libs)
SEED_TESTS += tests/runtime/test_link_sim

check_PROGRAMS += tests/runtime/test_link_faults
TESTS += tests/runtime/test_link_faults
tests_runtime_test_link_faults_SOURCES = tests/runtime/test_link_faults.c $(link_support)
tests_runtime_test_link_faults_LDADD = $(runtime_libs) $(test_libs)

raw_peer = tests/runtime/raw_peer.c tests/runtime/raw_peer.h $(link_support)

check_PROGRAMS += tests/runtime/test_wire
TESTS += tests/runtime/test_wire
tests_runtime_test_wire_SOURCES = tests/runtime/test_wire.c $(raw_peer)
tests_runtime_test_wire_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_link_lies
TESTS += tests/runtime/test_link_lies
tests_runtime_test_link_lies_SOURCES = tests/runtime/test_link_lies.c $(raw_peer)
tests_runtime_test_link_lies_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_closed
TESTS += tests/runtime/test_closed
tests_runtime_test_closed_SOURCES = tests/runtime/test_closed.c $(wires) $(link_support)
tests_runtime_test_closed_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_link_tls
TESTS += tests/runtime/test_link_tls
tests_runtime_test_link_tls_SOURCES = tests/runtime/test_link_tls.c $(wires) $(link_support)
tests_runtime_test_link_tls_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_admission
TESTS += tests/runtime/test_admission
tests_runtime_test_admission_SOURCES = tests/runtime/test_admission.c $(link_support)
tests_runtime_test_admission_LDADD = $(runtime_libs) $(test_libs)
check_PROGRAMS += tests/runtime/test_atomic_dir
TESTS += tests/runtime/test_atomic_dir
tests_runtime_test_atomic_dir_SOURCES = tests/runtime/test_atomic_dir.c
tests_runtime_test_atomic_dir_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_message_pool
TESTS += tests/runtime/test_message_pool
tests_runtime_test_message_pool_SOURCES = tests/runtime/test_message_pool.c $(runtime_support)
tests_runtime_test_message_pool_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_files
TESTS += tests/runtime/test_files
tests_runtime_test_files_SOURCES = tests/runtime/test_files.c
tests_runtime_test_files_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_json_field
TESTS += tests/runtime/test_json_field
tests_runtime_test_json_field_SOURCES = tests/runtime/test_json_field.c
tests_runtime_test_json_field_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_port_holder
TESTS += tests/runtime/test_port_holder
tests_runtime_test_port_holder_SOURCES = tests/runtime/test_port_holder.c
tests_runtime_test_port_holder_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_process
TESTS += tests/runtime/test_process
tests_runtime_test_process_SOURCES = tests/runtime/test_process.c
tests_runtime_test_process_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_buffer_pool
TESTS += tests/runtime/test_buffer_pool
tests_runtime_test_buffer_pool_SOURCES = tests/runtime/test_buffer_pool.c
tests_runtime_test_buffer_pool_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_slots
TESTS += tests/runtime/test_slots
tests_runtime_test_slots_SOURCES = tests/runtime/test_slots.c
tests_runtime_test_slots_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_memory_limit
TESTS += tests/runtime/test_memory_limit
tests_runtime_test_memory_limit_SOURCES = tests/runtime/test_memory_limit.c
tests_runtime_test_memory_limit_LDADD = $(runtime_libs) $(test_libs)

check_PROGRAMS += tests/runtime/test_history_file
TESTS += tests/runtime/test_history_file
tests_runtime_test_history_file_SOURCES = tests/runtime/test_history_file.c
tests_runtime_test_history_file_LDADD = $(runtime_libs) $(test_libs)
