/* SPDX-License-Identifier: Apache-2.0 */
/* The checkpoints of a folder, from the newest on, and where the run stood that saved each; of a
 * single one its parts too. */
#include "cli/inspect_checkpoints.h"

#include <inttypes.h>
#include <stdio.h>

#include <troupe/checkpoint.h>
#include <troupe/trainer_state.h>

/* Where the run stood that saved a checkpoint, from the first part that is here. False: it is
 * not of the built-in trainer, or none of its parts is here any more. */
static bool find_position(const struct tr_checkpoints *list, size_t index, uint32_t num_parts,
                          struct tr_trainer_position *position)
{
    char head[TR_TRAINER_HEAD_BYTES];
    for (uint32_t rank = 0; rank < num_parts; rank++) {
        struct tr_checkpoint_part_info part = TR_CHECKPOINT_PART_INFO_INIT;
        if (tr_checkpoints_part(list, index, rank, &part, NULL) == 0 && part.here &&
            part.bytes >= sizeof head &&
            tr_checkpoints_read(list, index, rank, 0, sizeof head, head, NULL) == 0 &&
            tr_trainer_position_read(head, position, NULL) == 0)
            return true;
    }
    return false;
}

static int report_checkpoint(struct report *report, const struct tr_checkpoints *list, size_t index,
                             struct tr_checkpoint_info *info, struct tr_error *error)
{
    struct tr_trainer_position position = TR_TRAINER_POSITION_INIT;
    char hash[17];
    int rv = tr_checkpoints_get(list, index, info, error);
    if (rv != 0)
        return rv;
    report_count(report, "step", "step", info->step);
    report_count(report, "era", "era", info->era);
    report_count(report, "trainers", "trainers", info->num_parts);
    if (find_position(list, index, info->num_parts, &position)) {
        report_count(report, "epoch", "epoch", position.epoch + 1);
        report_count(report, "batch", "batches of it", position.step);
        snprintf(hash, sizeof hash, "%016" PRIx64, position.job);
        report_text(report, "job_hash", "hash of the run", hash);
        report_count(report, "parameters", "parameters", position.parameters);
    }
    report_count(report, "parts_here", "parts here", info->parts_here);
    report_bytes(report, "bytes", "parts", info->bytes);
    return 0;
}

static int report_checkpoint_parts(struct report *report, const struct tr_checkpoints *list,
                                   uint32_t num_parts, struct tr_error *error)
{
    int rv = 0;
    for (uint32_t rank = 0; rank < num_parts && rv == 0; rank++) {
        struct tr_checkpoint_part_info part = TR_CHECKPOINT_PART_INFO_INIT;
        char crc[9];
        rv = tr_checkpoints_part(list, 0, rank, &part, error);
        snprintf(crc, sizeof crc, "%08" PRIx32, part.crc32c);
        report_row(report, "parts");
        report_count(report, "rank", "part of rank", rank);
        report_bytes(report, "bytes", "size", part.bytes);
        report_text(report, "crc32c", "CRC32C", crc);
        report_flag(report, "here", "here", part.here);
    }
    report_rows_end(report);
    return rv;
}

static int report_checkpoints(struct report *report, const struct tr_checkpoints *list,
                              struct tr_error *error)
{
    struct tr_checkpoints_info info = TR_CHECKPOINTS_INFO_INIT;
    int rv = tr_checkpoints_info(list, &info, error);
    if (rv != 0)
        return rv;
    report_text(report, "kind", "kind", info.single ? "checkpoint" : "checkpoints");
    if (!info.single) {
        report_count(report, "count", "checkpoints", info.count);
        report_count(report, "unfinished", "without a manifest", info.unfinished);
    }
    for (size_t i = 0; i < info.count && rv == 0; i++) {
        struct tr_checkpoint_info one = TR_CHECKPOINT_INFO_INIT;
        if (!info.single)
            report_row(report, "checkpoints");
        rv = report_checkpoint(report, list, i, &one, error);
        if (rv == 0 && info.single)
            rv = report_checkpoint_parts(report, list, one.num_parts, error);
    }
    report_rows_end(report);
    return rv;
}

int inspect_checkpoints(struct report *report, const char *path, struct tr_error *error)
{
    struct tr_checkpoints *list;
    int rv = tr_checkpoints_open(path, &list, error);
    if (rv != 0)
        return rv;
    rv = report_checkpoints(report, list, error);
    tr_checkpoints_close(list);
    return rv;
}
