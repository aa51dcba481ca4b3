# SPDX-License-Identifier: Apache-2.0
# Tests of partition/.

check_PROGRAMS += tests/partition/test_verify
TESTS += tests/partition/test_verify
tests_partition_test_verify_SOURCES = tests/partition/test_verify.c
tests_partition_test_verify_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_store
TESTS += tests/partition/test_store
tests_partition_test_store_SOURCES = tests/partition/test_store.c
tests_partition_test_store_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_seed_split
TESTS += tests/partition/test_seed_split
tests_partition_test_seed_split_SOURCES = tests/partition/test_seed_split.c tests/partition/raw_util.h
tests_partition_test_seed_split_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_assign
TESTS += tests/partition/test_assign
tests_partition_test_assign_SOURCES = tests/partition/test_assign.c
tests_partition_test_assign_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_partition
TESTS += tests/partition/test_partition
tests_partition_test_partition_SOURCES = tests/partition/test_partition.c tests/partition/graph_util.h \
    tests/partition/raw_util.h
tests_partition_test_partition_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_classes
TESTS += tests/partition/test_classes
tests_partition_test_classes_SOURCES = tests/partition/test_classes.c tests/partition/graph_util.h \
    tests/partition/raw_util.h
tests_partition_test_classes_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_symmetric
TESTS += tests/partition/test_symmetric
tests_partition_test_symmetric_SOURCES = tests/partition/test_symmetric.c tests/partition/graph_util.h \
    tests/partition/raw_util.h
tests_partition_test_symmetric_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_metis
TESTS += tests/partition/test_metis
tests_partition_test_metis_SOURCES = tests/partition/test_metis.c
tests_partition_test_metis_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_write
TESTS += tests/partition/test_write
tests_partition_test_write_SOURCES = tests/partition/test_write.c tests/partition/graph_util.h
tests_partition_test_write_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_npy
TESTS += tests/partition/test_npy
tests_partition_test_npy_SOURCES = tests/partition/test_npy.c tests/partition/raw_util.h
tests_partition_test_npy_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_raw_amend
TESTS += tests/partition/test_raw_amend
tests_partition_test_raw_amend_SOURCES = tests/partition/test_raw_amend.c tests/partition/raw_util.h
tests_partition_test_raw_amend_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_feature
TESTS += tests/partition/test_feature
tests_partition_test_feature_SOURCES = tests/partition/test_feature.c tests/partition/raw_util.h
tests_partition_test_feature_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_mask_split
TESTS += tests/partition/test_mask_split
tests_partition_test_mask_split_SOURCES = tests/partition/test_mask_split.c tests/partition/raw_util.h
tests_partition_test_mask_split_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_raw_csr
TESTS += tests/partition/test_raw_csr
tests_partition_test_raw_csr_SOURCES = tests/partition/test_raw_csr.c
tests_partition_test_raw_csr_LDADD = $(partition_libs) $(test_libs)
check_PROGRAMS += tests/partition/test_raw_chunked
TESTS += tests/partition/test_raw_chunked
tests_partition_test_raw_chunked_SOURCES = tests/partition/test_raw_chunked.c
tests_partition_test_raw_chunked_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_generate
TESTS += tests/partition/test_generate
tests_partition_test_generate_SOURCES = tests/partition/test_generate.c
tests_partition_test_generate_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_raw_formats
TESTS += tests/partition/test_raw_formats
tests_partition_test_raw_formats_SOURCES = tests/partition/test_raw_formats.c
tests_partition_test_raw_formats_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_debian
TESTS += tests/partition/test_debian
tests_partition_test_debian_SOURCES = tests/partition/test_debian.c
tests_partition_test_debian_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_raw_write
TESTS += tests/partition/test_raw_write
tests_partition_test_raw_write_SOURCES = tests/partition/test_raw_write.c
tests_partition_test_raw_write_LDADD = $(partition_libs) $(test_libs)
# Static, so that every allocation of the library passes the wrappers.
tests_partition_test_raw_write_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
    -Wl,--wrap=realloc -Wl,--wrap=strdup

check_PROGRAMS += tests/partition/test_memory_ends
TESTS += tests/partition/test_memory_ends
tests_partition_test_memory_ends_SOURCES = tests/partition/test_memory_ends.c \
    tests/npz_files.h tests/partition/graph_util.h tests/partition/raw_util.h tests/short_memory.h
tests_partition_test_memory_ends_LDADD = $(partition_libs) $(test_libs)
tests_partition_test_memory_ends_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
    -Wl,--wrap=realloc -Wl,--wrap=strdup -Wl,--wrap=strndup

check_PROGRAMS += tests/partition/test_json_mutations
TESTS += tests/partition/test_json_mutations
tests_partition_test_json_mutations_SOURCES = tests/partition/test_json_mutations.c \
    tests/json_spots.c tests/json_spots.h
tests_partition_test_json_mutations_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_checksums
TESTS += tests/partition/test_checksums
tests_partition_test_checksums_SOURCES = tests/partition/test_checksums.c
tests_partition_test_checksums_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_text
TESTS += tests/partition/test_text
tests_partition_test_text_SOURCES = tests/partition/test_text.c tests/partition/raw_util.h
tests_partition_test_text_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_parse_ahead
TESTS += tests/partition/test_parse_ahead
SEED_TESTS += tests/partition/test_parse_ahead
tests_partition_test_parse_ahead_SOURCES = tests/partition/test_parse_ahead.c \
    tests/partition/raw_util.h
tests_partition_test_parse_ahead_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_edge_import
TESTS += tests/partition/test_edge_import
tests_partition_test_edge_import_SOURCES = tests/partition/test_edge_import.c \
    tests/partition/raw_util.h
tests_partition_test_edge_import_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_edge_columns
TESTS += tests/partition/test_edge_columns
tests_partition_test_edge_columns_SOURCES = tests/partition/test_edge_columns.c \
    tests/partition/raw_util.h
tests_partition_test_edge_columns_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_id_map
TESTS += tests/partition/test_id_map
tests_partition_test_id_map_SOURCES = tests/partition/test_id_map.c tests/partition/raw_util.h \
    tests/short_memory.h \
    tests/partition/equal_hash.h
tests_partition_test_id_map_LDADD = $(partition_libs) $(test_libs)
tests_partition_test_id_map_LDFLAGS = $(tests_partition_test_memory_ends_LDFLAGS) \
    -Wl,--wrap=hotmem_alloc

check_PROGRAMS += tests/partition/test_table
TESTS += tests/partition/test_table
tests_partition_test_table_SOURCES = tests/partition/test_table.c tests/partition/raw_util.h \
    tests/partition/equal_hash.h
tests_partition_test_table_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_node_features
TESTS += tests/partition/test_node_features
tests_partition_test_node_features_SOURCES = tests/partition/test_node_features.c \
    tests/partition/raw_util.h tests/npz_files.h
tests_partition_test_node_features_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_npz
TESTS += tests/partition/test_npz
tests_partition_test_npz_SOURCES = tests/partition/test_npz.c tests/partition/raw_util.h \
    tests/npz_files.h
tests_partition_test_npz_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_ogb
TESTS += tests/partition/test_ogb
tests_partition_test_ogb_SOURCES = tests/partition/test_ogb.c tests/partition/raw_util.h \
    tests/npz_files.h
tests_partition_test_ogb_LDADD = $(partition_libs) $(test_libs)

check_PROGRAMS += tests/partition/test_name_list
TESTS += tests/partition/test_name_list
tests_partition_test_name_list_SOURCES = tests/partition/test_name_list.c tests/partition/raw_util.h
tests_partition_test_name_list_LDADD = $(partition_libs) $(test_libs)
