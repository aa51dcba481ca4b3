/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a process whose trainer makes no progress: the stacks of its threads that compute, for
 * the person that has to find out why, and _exit, since no other end is possible. The thread cannot
 * be ended, and hears nothing.
 *
 * Thread rules: any thread, one at a time.
 */
#ifndef CLI_TRAIN_STALL_H
#define CLI_TRAIN_STALL_H

#include <troupe/model.h>

#include <troupe/log_file.h>

/* Before the training begins: threads that are asked for their stacks show them from then on. */
void stall_prepare(void);

/* event: of the kind TR_MODEL_STALLED. Does not return. */
void stall_end_process(const struct tr_model_event *event, struct tr_log_file *log);

#endif
