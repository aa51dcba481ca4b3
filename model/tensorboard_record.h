/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record of a file that TensorBoard reads: a frame around an Event.
 *
 * The frame is that of a TFRecord: the length of the data (u64), its checksum (u32), the data, the
 * checksum of the data (u32), all little-endian. A checksum is a CRC-32C, rotated and with a constant
 * added, since the CRC of data that ends with its own CRC says little
 * (https://www.tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format details").
 *
 * The data is a message of Protocol Buffers
 * (https://protobuf.dev/programming-guides/encoding/), an Event of tensorflow/core/util/event.proto:
 *
 *     Event       1 wall_time double, 2 step int64, 3 file_version string, 5 summary, 7 session_log
 *     Summary     1 value, repeated (tensorflow/core/framework/summary.proto)
 *     Value       1 tag string, 2 simple_value float
 *     SessionLog  1 status: START is 1
 *
 * These few fields are encoded here: protobuf-c would be one more library that every build needs and
 * every program of a user loads, for four messages that are never read back.
 *
 * Thread rules: pure.
 */
#ifndef MODEL_TENSORBOARD_RECORD_H
#define MODEL_TENSORBOARD_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* Bounds of what a record says: more than any caller has. */
#define TENSORBOARD_TAG_MAX 64u
#define TENSORBOARD_SCALARS_MAX 16u
#define TENSORBOARD_RECORD_MAX 2048u

struct tensorboard_scalar {
    const char *tag;
    double value;
};

struct tensorboard_record {
    unsigned char bytes[TENSORBOARD_RECORD_MAX];
    size_t size;
};

/* The first record of a file: which version of the format the file has. */
void tensorboard_record_version(struct tensorboard_record *record, double wall_time);

/* Readers forget what they have of that step and of later ones, also of earlier files in the folder. */
void tensorboard_record_start(struct tensorboard_record *record, double wall_time, int64_t step);

/* The values of a step, at most TENSORBOARD_SCALARS_MAX, whose tags have at most TENSORBOARD_TAG_MAX
 * bytes. */
void tensorboard_record_scalars(struct tensorboard_record *record, double wall_time, int64_t step,
                                const struct tensorboard_scalar *scalars, size_t count);

#endif
