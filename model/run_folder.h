/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a training run: config.json, metrics.jsonl (a line an epoch, written as it
 * happens) and model.safetensors (whole or not there; the best so far while the run lasts).
 *
 * Lines that the disk does not take stay in memory, and are written before the next one.
 *
 * Invariant: from run_folder_claim(), or run_folder_hold() where there was no folder, to
 * run_folder_close() no other training has the folder (folder_lock.h says where that does not
 * hold). A reader takes no lock.
 *
 * Ownership: run_folder_claim and run_folder_find fill it, run_folder_close frees it; what was
 * written stays.
 * Thread rules: one thread at a time.
 */
#ifndef MODEL_RUN_FOLDER_H
#define MODEL_RUN_FOLDER_H

#include <jansson.h>

#include "model/scores.h"
#include "model/trainer.h"
#include "runtime/base/files.h"
#include "runtime/base/folder_lock.h"

/* The bound of lines that the disk does not take: those of some ten thousand epochs. */
#define RUN_FOLDER_PENDING_MAX ((size_t)4 << 20)

/* What is to become of a run that the folder may hold. */
enum run_folder_use {
    RUN_FOLDER_NEW,      /* it is refused */
    RUN_FOLDER_REPLACES, /* its files and its history are removed, and nothing else */
    RUN_FOLDER_RESUMES   /* it is gone on with, or begun where there is none */
};

struct run_folder {
    struct files *files;
    enum run_folder_use use;
    struct folder_lock lock;
    bool made; /* there was none */
    char *path;
    char *config_path;
    char *metrics_path;
    char *model_path;
    struct file metrics;
    char *pending; /* lines that are not in metrics yet */
    size_t pending_bytes;
};

/* Judges the folder, and takes it where it is there already; makes and removes nothing. TR_EINVAL:
 * it holds a graph. TR_EEXIST: another training has it (*busy), or it holds a run that the use does
 * not allow, or a config.json of another program. After a failure the folder is closed. */
int run_folder_claim(struct run_folder *folder, struct files *files, const char *path,
                     enum run_folder_use use, bool *busy, struct error *error);

/* Makes the claimed folder where it is not there, and takes it. It fails as run_folder_claim() does. */
int run_folder_hold(struct run_folder *folder, struct error *error);
/* Takes back a folder that run_folder_hold() made, where nothing is in it yet, and closes it. */
void run_folder_give_up(struct run_folder *folder);

/* Makes the held folder ready to be written, as its use says. TR_EEXIST: where the file system has no
 * locks, another training began in it. After a failure the folder is closed. */
int run_folder_begin(struct run_folder *folder, struct error *error);

/* How long metrics.jsonl is, with the lines that are still to be written; and all that it had after
 * so many bytes taken back. TR_EFORMAT: it is shorter. After any failure it may be tried again. */
uint64_t run_folder_mark(const struct run_folder *folder);
int run_folder_rewind(struct run_folder *folder, uint64_t mark, struct error *error);

/* Removes the files of a run that failed before anything was found, where they have neither a line
 * of an epoch nor a model, so that they are in nobody's way. Files that cannot be removed stay.
 * False: it is worth keeping. */
bool run_folder_forget_untrained(struct run_folder *folder);

/* Only knows the paths of a run that is there; TR_ENOENT names what is missing. */
int run_folder_find(struct run_folder *folder, struct files *files, const char *path,
                    struct error *error);
void run_folder_close(struct run_folder *folder);

/* TR_EEXIST: another folder has the path by now, which may be another training's. All functions below
 * that write ask first, and so does the caller who writes the model; a checkpoint that is made between
 * two of these is not covered. A folder that is gone is not another one: a write to it fails. */
int run_folder_check(const struct run_folder *folder, struct error *error);

/* Writes config.json; takes over the reference (NULL: memory was out). */
int run_folder_write_config(struct run_folder *folder, json_t *config, struct error *error);

/* Appends a line to metrics.jsonl; takes over the reference. After a failure the line is kept,
 * for the next call or run_folder_sync, but for TR_ENOMEM, and TR_EFULL: RUN_FOLDER_PENDING_MAX is
 * reached, and the disk still takes nothing. */
int run_folder_append(struct run_folder *folder, json_t *line, struct error *error);

/* All lines are on the disk. */
int run_folder_sync(struct run_folder *folder, struct error *error);

/* Objects for metrics.jsonl; NaN becomes null. */
json_t *run_scores_to_json(const struct scores *scores);
json_t *run_epoch_to_json(const struct epoch_report *report);

#endif
