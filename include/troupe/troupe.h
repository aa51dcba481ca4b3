/* SPDX-License-Identifier: Apache-2.0 */
/* The whole public API of Troupe; see libtroupe(3). */
#ifndef TROUPE_TROUPE_H
#define TROUPE_TROUPE_H

#include <troupe/batch.h>
#include <troupe/book.h>
#include <troupe/checkpoint.h>
#include <troupe/cluster.h>
#include <troupe/dist_tensor.h>
#include <troupe/error.h>
#include <troupe/file.h>
#include <troupe/generate.h>
#include <troupe/graph.h>
#include <troupe/group.h>
#include <troupe/import.h>
#include <troupe/keys.h>
#include <troupe/launch.h>
#include <troupe/link_prediction.h>
#include <troupe/loader.h>
#include <troupe/log.h>
#include <troupe/log_file.h>
#include <troupe/observe.h>
#include <troupe/part.h>
#include <troupe/partition.h>
#include <troupe/prepare.h>
#include <troupe/process.h>
#include <troupe/query.h>
#include <troupe/raw.h>
#include <troupe/sample.h>
#include <troupe/schema.h>
#include <troupe/session.h>
#include <troupe/task.h>
#include <troupe/text.h>
#include <troupe/types.h>
#include <troupe/verify.h>

#endif
