/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The notices of a process of a job to its launcher: lines on its standard output.
 *
 *     troupe: ready process 3 ...
 *     troupe: kernels blas SkylakeX, loops avx512
 *     troupe: checkpoint 1200
 *     troupe: era 1200
 *     troupe: silent process 1 incarnation 280000011
 *     troupe: left
 *     troupe: left orphaned
 *     troupe: complete
 *
 * The notice of a silent peer begins with a newline: the program may have left a line without its
 * end.
 *
 * Lines, because they pass through ssh, srun and whatever else starts processes, and because
 * systemd's journal and Kubernetes' logs show them too.
 */
#ifndef ACTORS_CLUSTER_PROCESS_NOTICE_H
#define ACTORS_CLUSTER_PROCESS_NOTICE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NOTICE_READY "troupe: ready"
#define NOTICE_KERNELS "troupe: kernels" /* of a trainer: the record of config.json */
#define NOTICE_CHECKPOINT "troupe: checkpoint"
/* All trainers go on from that step, with which an era begins. */
#define NOTICE_ERA "troupe: era"
#define NOTICE_SILENT "troupe: silent"
/* Its rest: the process, and its incarnation. */
#define NOTICE_SILENT_WRITE " process %" PRIu32 " incarnation %" PRIu32
/* All trainers stop behind a checkpoint, for one was asked to: nothing is started again. */
#define NOTICE_LEFT "troupe: left"
/* Its rest where none was asked but by its launcher, or one has lost that: a launcher that goes on with
 * the job starts all of them again. */
#define NOTICE_LEFT_ORPHANED " orphaned"
#define NOTICE_COMPLETE "troupe: complete" /* what the job was for is written and synced */

/* True: it is that notice, alone or with more words. */
static inline bool notice_is(const char *line, const char *notice)
{
    size_t length = strlen(notice);
    return strncmp(line, notice, length) == 0 && (line[length] == ' ' || line[length] == '\0');
}

/* Reads process and incarnation of a NOTICE_SILENT line. False: the line has no such numbers. */
bool notice_silent(const char *line, uint32_t *process, uint32_t *incarnation);

/* Reads the step of a line that is that notice. False: the line has none. */
bool notice_step(const char *line, const char *notice, uint64_t *step);

/* A NOTICE_LEFT line: was a trainer asked to stop? */
static inline bool notice_left_asked(const char *line)
{
    return strcmp(line + strlen(NOTICE_LEFT), NOTICE_LEFT_ORPHANED) != 0;
}

/* The record in a NOTICE_KERNELS line. */
static inline const char *notice_kernels(const char *line)
{
    const char *kernels = line + strlen(NOTICE_KERNELS);
    return kernels + (*kernels == ' ');
}

#endif
