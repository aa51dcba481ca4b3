/* SPDX-License-Identifier: Apache-2.0 */
/* `troupe inspect` of checkpoints. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "actors/job/checkpoint_paths.h"
#include "cli/lib/checkpoint_list.h"
#include "model/state.h"

/* What the files of one say beside its manifest. */
struct seen {
    uint64_t bytes; /* of all parts, here or not */
    uint32_t here;
    bool *is_here;  /* [world] */
    bool has_facts; /* it is of the built-in trainer */
    struct state_facts facts;
};

static int look_at_part(const char *inside, uint32_t rank, const struct checkpoint_part *part,
                        struct seen *seen, struct error *error)
{
    char head[STATE_HEAD_BYTES];
    struct file file = { 0 };
    char *path = checkpoint_part_path(inside, rank);
    int rv = path == NULL ? error_set(error, TR_ENOMEM, "%s: no memory", inside)
                          : file_open(&file, files_posix, path, error);
    seen->is_here[rank] = rv == 0;
    seen->here += rv == 0;
    if (rv == 0 && file.size != part->bytes)
        rv = error_set(error, TR_EFORMAT, "%s: %" PRIu64 " bytes where its manifest says %" PRIu64,
                       path, file.size, part->bytes);
    if (rv == 0 && !seen->has_facts && part->bytes >= sizeof head) {
        rv = file_read_at(&file, 0, head, sizeof head, error);
        seen->has_facts = rv == 0 && state_look(head, &seen->facts) == 0;
    }
    file_close(&file);
    free(path);
    /* Where hosts share no folder, each has some of the parts. */
    return rv == TR_ENOENT ? 0 : rv;
}

static int look(const char *inside, struct checkpoint_manifest *manifest, struct seen *seen,
                struct error *error)
{
    *seen = (struct seen){ 0 };
    int rv = checkpoint_read_manifest(files_posix, inside, manifest, error);
    if (rv == 0)
        seen->is_here = calloc(manifest->world, sizeof *seen->is_here);
    if (rv == 0 && seen->is_here == NULL)
        rv = error_set(error, TR_ENOMEM, "%s: no memory", inside);
    for (uint32_t rank = 0; rank < manifest->world && rv == 0; rank++) {
        rv = look_at_part(inside, rank, &manifest->parts[rank], seen, error);
        seen->bytes += manifest->parts[rank].bytes;
    }
    return rv;
}

static void report_facts(struct report *report, const struct checkpoint_manifest *manifest,
                         const struct seen *seen)
{
    char hash[17];
    report_count(report, "step", "step", manifest->step);
    report_count(report, "era", "era", manifest->era);
    report_count(report, "trainers", "trainers", manifest->world);
    if (seen->has_facts) {
        report_count(report, "epoch", "epoch", seen->facts.epoch + 1);
        report_count(report, "batch", "batches of it", seen->facts.step);
        snprintf(hash, sizeof hash, "%016" PRIx64, seen->facts.job);
        report_text(report, "job_hash", "hash of the run", hash);
        report_count(report, "parameters", "parameters", seen->facts.params);
    }
    report_count(report, "parts_here", "parts here", seen->here);
    report_bytes(report, "bytes", "parts", seen->bytes);
}

static void report_part_rows(struct report *report, const struct checkpoint_manifest *manifest,
                             const struct seen *seen)
{
    for (uint32_t rank = 0; rank < manifest->world; rank++) {
        char crc[9];
        snprintf(crc, sizeof crc, "%08" PRIx32, manifest->parts[rank].crc32c);
        report_row(report, "parts");
        report_count(report, "rank", "part of rank", rank);
        report_bytes(report, "bytes", "size", manifest->parts[rank].bytes);
        report_text(report, "crc32c", "CRC32C", crc);
        report_flag(report, "here", "here", seen->is_here[rank]);
    }
    report_rows_end(report);
}

/* A job that runs removes old ones, their manifests first. */
static bool is_gone(const struct checkpoints *checkpoints, const char *inside)
{
    char *manifest = files_join(inside, CHECKPOINT_MANIFEST);
    bool gone = !checkpoints->single && manifest != NULL && !files_exists(files_posix, manifest);
    free(manifest);
    return gone;
}

static int inspect_each(const struct checkpoints *checkpoints, struct report *report,
                        struct error *error)
{
    int rv = 0;
    for (size_t i = 0; i < checkpoints->count && rv == 0; i++) {
        struct checkpoint_manifest manifest;
        struct seen seen;
        rv = look(checkpoints->inside[i], &manifest, &seen, error);
        if (rv == 0) {
            if (!checkpoints->single)
                report_row(report, "checkpoints");
            report_facts(report, &manifest, &seen);
            if (checkpoints->single)
                report_part_rows(report, &manifest, &seen);
        } else if (is_gone(checkpoints, checkpoints->inside[i])) {
            rv = 0;
        }
        free(seen.is_here);
        checkpoint_manifest_fini(&manifest);
    }
    report_rows_end(report);
    return rv;
}

int checkpoints_inspect(const char *path, struct report *report, struct error *error)
{
    struct checkpoints checkpoints;
    int rv = checkpoints_open(path, &checkpoints, error);
    if (rv != 0)
        return rv;
    report_text(report, "kind", "kind", checkpoints.single ? "checkpoint" : "checkpoints");
    if (!checkpoints.single) {
        report_count(report, "count", "checkpoints", checkpoints.count);
        report_count(report, "unfinished", "without a manifest", checkpoints.unfinished);
    }
    rv = inspect_each(&checkpoints, report, error);
    checkpoints_close(&checkpoints);
    return rv;
}
