/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs of a program, passed to a library of another version.
 *
 * The program declares each between a beginning and a guard that the library must not touch. One
 * that it fills in is checked behind the call, one that it reads is passed a second time with a
 * field set that the library does not know. Structs that were passed are noted: the last test asks
 * for all structs of the headers (STRUCTS, made by list_structs.awk).
 */
#ifndef TESTS_API_ABI_H
#define TESTS_API_ABI_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <troupe/model.h>
#include <troupe/report.h>
#include <troupe/run.h>
#include <troupe/trainer_state.h>
#include <troupe/troupe.h>

#include "api_world.h"
#include "outcome.h"
#include "tests/api/grown/list/structs.h"

#define ABI_GUARD 0xa5
#define ABI_GUARD_BYTES 64

enum abi_struct {
#define X(tag) ABI_##tag,
    STRUCTS(X)
#undef X
        ABI_STRUCTS
};

extern bool abi_passed[ABI_STRUCTS];

void abi_check_guard(const unsigned char guard[ABI_GUARD_BYTES]);
/* A path in the world's folder: text [256]. */
const char *abi_path(char text[256], const char *name);

/* The tests of other files. */
void graphs_are_made_ready(void **state);
void graphs_at_rest_are_read(void **state);
void clusters_and_keys_are_read(void **state);
void a_model_is_trained_and_inferred(void **state);

#define ABI_DECLARE(tag, name)                \
    struct {                                  \
        struct tag it;                        \
        unsigned char guard[ABI_GUARD_BYTES]; \
    } name;                                   \
    memset(&name, ABI_GUARD, sizeof name)

/* A struct that the library fills in. */
#define ABI_OUT(tag, name, init) \
    ABI_DECLARE(tag, name);      \
    name.it = (struct tag)init;  \
    ABI_SET_UNKNOWN(name, true); \
    abi_passed[ABI_##tag] = true

/* One that it reads, by its initialiser, or by a function that fills in the defaults. */
#define ABI_IN(tag, name, init) \
    ABI_DECLARE(tag, name);     \
    name.it = (struct tag)init; \
    abi_passed[ABI_##tag] = true
#define ABI_OPTIONS(tag, name) \
    ABI_DECLARE(tag, name);    \
    tag##_init(&name.it);      \
    ABI_CHECK(name);           \
    abi_passed[ABI_##tag] = true

/* Nothing but the struct was written, and its size stays. */
#define ABI_CHECK(name)                                  \
    do {                                                 \
        abi_check_guard(name.guard);                     \
        assert_int_equal(name.it.size, sizeof(name.it)); \
        ABI_CHECK_UNKNOWN(name);                         \
    } while (0)

/* The call succeeds, and fills in what this program knows of the struct. */
#define ABI_FILLS(name, call) \
    do {                      \
        ok(call);             \
        ABI_CHECK(name);      \
    } while (0)

#ifdef OF_A_LATER_VERSION
#define ABI_SET_UNKNOWN(name, value) (name).it.of_a_later_version = (value)
#define ABI_CHECK_UNKNOWN(name) assert_false((name).it.of_a_later_version)
/* An option that the library does not know is refused. */
#define ABI_REFUSES(name, tag, call)             \
    do {                                         \
        (name).it.of_a_later_version = true;     \
        refused((call), TR_EUNSUPPORTED, (tag)); \
        (name).it.of_a_later_version = false;    \
    } while (0)
#else
#define ABI_SET_UNKNOWN(name, value) (void)0
#define ABI_CHECK_UNKNOWN(name) (void)0
#define ABI_REFUSES(name, tag, call) (void)0
#endif

#endif
