/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of each head, listed once: the codec writes and reads by these lists, the tests fill
 * and compare by them, so a field cannot be forgotten in one of them alone.
 *
 * S(field): a scalar. D(field): a struct msg_draw. Arrays are in bodies.
 */
#ifndef SCHEMAS_FIELDS_H
#define SCHEMAS_FIELDS_H

/* Lists of names, which clang-format would take for calls. */
/* clang-format off */
#define FIELDS_msg_sample_request(S, D) \
    D(draw) S(part) S(version) S(num_sections) S(sampler) S(row_fields) S(edge_ids) \
    S(reply_bytes_max) S(skip_sections) S(skip_rows)
#define FIELDS_msg_sample_reply(S, D) S(num_sections) S(done)
#define FIELDS_msg_rows_request(S, D) S(part) S(version) S(num_sections) S(sparse)
#define FIELDS_msg_rows_reply(S, D) S(num_sections)
#define FIELDS_msg_select_request(S, D) \
    S(part) S(version) S(ntype) S(table) S(begin) S(rows_max)
#define FIELDS_msg_select_reply(S, D) S(next) S(count) S(done)
#define FIELDS_msg_fetch_request(S, D) \
    S(timeout_ns) S(first) S(row_bytes) S(ntype) S(table) S(count) S(era) S(tensor)
#define FIELDS_msg_fetch_reply(S, D) S(row_bytes) S(count)
#define FIELDS_msg_nodes_request(S, D) S(timeout_ns) S(ntype) S(table)
#define FIELDS_msg_nodes_reply(S, D) S(count)
#define FIELDS_msg_error_reply(S, D) S(code) S(process_1)
#define FIELDS_msg_loader_open(S, D) \
    S(loader) S(seed) S(num_seeds) S(ntype) S(batch_size) S(rank) S(world) S(features) \
    S(labels) S(flags) S(prefetch) S(all_seeds) S(spec_bytes) \
    S(seeds) S(ranks) S(first_rank) S(num_segments) S(etype) S(num_negatives) S(negative_ranks) \
    S(reverse_etype) S(reverse_rule) S(negative_ends) S(negative_source_ranks)
#define FIELDS_msg_loader_opened(S, D) S(loader) S(num_batches)
#define FIELDS_msg_loader_close(S, D) S(loader)
#define FIELDS_msg_batch_request(S, D) S(loader) S(batch) S(epoch) S(num_seeds)
#define FIELDS_msg_batch_reply(S, D) S(loader) S(batch) S(bytes) S(epoch) S(full)
#define FIELDS_msg_join(S, D) S(role) S(rank) S(era) S(seen) S(plan) S(graph) \
    S(passed_name) S(passed_sequence) S(over_name) S(over_sequence)
#define FIELDS_msg_joined(S, D) S(rank) S(era)
#define FIELDS_msg_barrier(S, D) S(name) S(sequence) S(rank) S(count) S(era)
#define FIELDS_msg_barrier_done(S, D) S(name) S(sequence) S(era) S(status)
#define FIELDS_msg_job_done(S, D) S(code) S(rank) S(complete)
#define FIELDS_msg_batch_pull(S, D) S(loader) S(batch) S(offset) S(epoch) S(bytes_max)
#define FIELDS_msg_batch_piece(S, D) S(offset) S(count)
#define FIELDS_msg_era(S, D) S(era)
#define FIELDS_msg_restore(S, D) S(rank) S(world) S(path_bytes) S(keep)
#define FIELDS_msg_restored(S, D) S(step) S(bytes) S(crc32c) S(found) S(era) S(world) S(saved) \
    S(ended)
#define FIELDS_msg_reduce(S, D) \
    S(sequence) S(total) S(piece) S(piece_values) S(count) S(era) S(rank) S(world)
#define FIELDS_msg_reduced(S, D) S(sequence) S(piece) S(count) S(era)
#define FIELDS_msg_checkpoint_part(S, D) \
    S(step) S(bytes) S(sequence) S(crc32c) S(era) S(rank) S(world) S(path_bytes) S(keep) S(status)
#define FIELDS_msg_checkpoint_done(S, D) S(step) S(sequence) S(era) S(status)
#define FIELDS_msg_group_request(S, D) S(value) S(count) S(timeout_ns) S(number) S(operation)
#define FIELDS_msg_group_reply(S, D) S(step) S(count) S(found) S(era)
#define FIELDS_msg_status_request(S, D) S(version)
#define FIELDS_msg_status_reply(S, D) S(count)
#define FIELDS_msg_checkpoint_look(S, D) \
    S(step) S(bytes) S(crc32c) S(era) S(rank) S(path_bytes)
#define FIELDS_msg_checkpoint_seen(S, D) S(found)
#define FIELDS_msg_checkpoint_copy(S, D) \
    S(step) S(bytes) S(offset) S(sequence) S(crc32c) S(era) S(rank) S(count) S(path_bytes)
#define FIELDS_msg_checkpoint_copied(S, D) S(next)
#define FIELDS_msg_checkpoint_fetch(S, D) \
    S(step) S(bytes) S(offset) S(crc32c) S(era) S(rank) S(path_bytes)
#define FIELDS_msg_checkpoint_piece(S, D) S(offset) S(count)
#define FIELDS_msg_checkpoint_find(S, D) S(before) S(path_bytes)
#define FIELDS_msg_checkpoint_found(S, D) S(step) S(era) S(world) S(passed_over)
#define FIELDS_msg_checkpoint_commit(S, D) S(step) S(era) S(world) S(keep) S(path_bytes)
#define FIELDS_msg_checkpoint_drop(S, D) S(step) S(sequence) S(era) S(rank) S(path_bytes)
#define FIELDS_msg_draw_request(S, D) \
    S(draw) S(seed) S(num_seeds) S(ntype) S(features) S(labels) S(flags) S(spec_bytes) \
    S(seeds) S(etype) S(num_excluded) S(num_negatives) S(negative_ranks) S(reverse_etype) \
    S(reverse_rule) S(negative_ends) S(negative_source_ranks) S(num_segments)
#define FIELDS_msg_tensor_request(S, D) \
    S(timeout_ns) S(tensor) S(action) S(parts) S(part) S(era) S(ntype) S(dtype) S(num_dims) \
    S(name_bytes) S(flags)
#define FIELDS_msg_tensor_reply(S, D) S(tensor) S(era) S(created)
#define FIELDS_msg_tensor_read(S, D) S(tensor) S(row_bytes) S(part) S(era) S(count)
#define FIELDS_msg_tensor_write(S, D) S(tensor) S(row_bytes) S(part) S(era) S(count)
#define FIELDS_msg_tensor_store(S, D) \
    S(timeout_ns) S(first) S(tensor) S(row_bytes) S(ntype) S(era) S(count)
#define FIELDS_msg_reverse_request(S, D) S(part) S(version) S(etype) S(count)
#define FIELDS_msg_reverse_reply(S, D) S(count)
/* clang-format on */

#endif
