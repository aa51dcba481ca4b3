/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of scalars for TensorBoard, one of a folder's:
 * events.out.tfevents.SECONDS.HOST.PID.troupe.
 *
 * TensorBoard shows the files of a folder as one run. It reads them in the order of their names, each
 * until its end, and never goes back to an earlier one: each life of a training writes a file of its
 * own, whose seconds are above those of all files that are there.
 *
 * Records are appended whole, those that wait in one write, so the file may be read while it is
 * written: TensorBoard waits for the rest of a record that is not there yet. What the disk does not
 * take stays in memory up to a bound, and is written with the next record at the same place. The file
 * is not synced: metrics.jsonl is, which has the same values.
 *
 * Ownership: tensorboard_file_close() frees what open made; a zeroed struct is a closed file, to which
 * records may be added, in vain. Thread rules: one thread at a time.
 */
#ifndef MODEL_TENSORBOARD_FILE_H
#define MODEL_TENSORBOARD_FILE_H

#include <stdbool.h>

#include "model/tensorboard_record.h"
#include "runtime/base/files.h"

#define TENSORBOARD_FILE_PREFIX "events.out.tfevents."
/* No other program's files end so. */
#define TENSORBOARD_FILE_SUFFIX ".troupe"
/* The records of some thousand epochs. */
#define TENSORBOARD_WAITING_MAX ((size_t)1 << 20)

struct tensorboard_file {
    struct files *files;
    struct file file;
    char *folder;
    bool made_folder; /* there was none */
    bool used;        /* has more than its first record, or is to have it */
    char *waiting;    /* records that are not in the file */
    size_t waiting_bytes;
};

/* Makes the folder where it is not there, and a file in it. After a failure the file is closed, and
 * nothing new is there but folders above. */
int tensorboard_file_open(struct tensorboard_file *board, struct files *files, const char *folder,
                          struct error *error);

/* Removes the files that other runs left in the folder, of this program alone. One that cannot be
 * removed stays. */
void tensorboard_file_remove_others(struct tensorboard_file *board);

/* Keeps a record until tensorboard_file_flush(). False: it is lost, for TENSORBOARD_WAITING_MAX is
 * reached, or there is no memory. */
bool tensorboard_file_add(struct tensorboard_file *board, const struct tensorboard_record *record);

/* Writes what waits. After a failure it waits on. */
int tensorboard_file_flush(struct tensorboard_file *board, struct error *error);

/* Removes the file and the folder that open made, where no record was added, and closes it. */
void tensorboard_file_forget(struct tensorboard_file *board);
void tensorboard_file_close(struct tensorboard_file *board);

/* The seconds since 1970. */
double tensorboard_wall_time(void);

#endif
