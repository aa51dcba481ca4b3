/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of a command, from a table.
 *
 * A row names an option, how its value is read, and where it goes in the command's own struct
 * of values. Defaults are words of the command line, read by the same code as what a person
 * types, so the help cannot show another default than the one used.
 *
 * Forms: --name VALUE, --name=VALUE, --flag, and "--" before operands that start with a dash.
 * Names are not abbreviated: a script that works today must work when a longer name arrives.
 *
 * Ownership: texts point into argv or into the table. Thread rules: pure.
 */
#ifndef CLI_LIB_OPTIONS_H
#define CLI_LIB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <troupe/error.h>

/* Layers of a model are the longest list anyone gives. */
#define OPTION_LIST_MAX 64

enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_TEXT,   /* const char *, NULL when absent */
    OPTION_COUNT,  /* uint64_t; 10k, 2M, 1G stand for powers of 1000 */
    OPTION_BYTES,  /* uint64_t; 64KiB, 2GiB ... */
    OPTION_REAL,   /* double */
    OPTION_CHOICE, /* int, the position in choices */
    OPTION_COUNTS, /* struct count_list, from 10,25; -1 is OPTION_ALL where min is -1 */
    OPTION_TEXTS,  /* struct text_list: the option may be repeated */
};

/* Options of one command: twice as many as the longest table has. */
#define OPTIONS_MAX 128

/* The meaning of -1 in a list that allows it. */
#define OPTION_ALL UINT64_MAX
/* A count that was not given, where 0 is one that may be. */
#define OPTION_NOT_GIVEN UINT64_MAX
/* The same of a number that may not be negative. */
#define OPTION_REAL_NOT_GIVEN (-1.0)

struct count_list {
    uint32_t count;
    uint64_t values[OPTION_LIST_MAX];
};

struct text_list {
    uint32_t count;
    const char *values[OPTION_LIST_MAX];
};

struct option_spec {
    const char *name; /* without the dashes */
    enum option_kind kind;
    size_t offset;
    const char *metavar;
    const char *choices;  /* "cut|volume" */
    const char *fallback; /* the default, NULL: none */
    bool required;
    bool optional;     /* COUNT, REAL: OPTION_NOT_GIVEN, not 0, where it is not given */
    bool empty;        /* TEXT: "" is a value too */
    bool made;         /* TEXT: a file or folder that is made; - is refused */
    const char *twice; /* what to do where somebody gives it twice; NULL: give it once */
    double min;        /* of COUNT, COUNTS, BYTES, REAL; max == 0: no bound */
    double max;
    const char *help;
    /* Its name in the library's messages, "num_parts"; a plain word stands in quotes there and
     * here, "\"from\"". NULL: behind the struct and as the option, "options.num_parts" of
     * --num-parts. */
    const char *field;
};

/* Rows that every command with a report or progress has. */
#define OPTION_ROW_JSON(type)                                                \
    {                                                                        \
        .name = "json", .kind = OPTION_FLAG, .offset = offsetof(type, json), \
        .help = "print results as JSON, one object a line"                   \
    }
#define OPTION_ROW_QUIET(type)                                                 \
    {                                                                          \
        .name = "quiet", .kind = OPTION_FLAG, .offset = offsetof(type, quiet), \
        .help = "show no progress"                                             \
    }
/* Rows of the commands that play actors, or compute, in this process. */
#define OPTION_ROW_LOOPS(type)                                                                  \
    {                                                                                           \
        .name = "loops", .kind = OPTION_COUNT, .offset = offsetof(type, loops), .metavar = "N", \
        .fallback = "0", .max = 1024,                                                           \
        .help = "event loops, each on a thread; 0: one per processor"                           \
    }
#define OPTION_ROW_THREADS(type)                                                    \
    {                                                                               \
        .name = "threads", .kind = OPTION_COUNT, .offset = offsetof(type, threads), \
        .metavar = "N", .fallback = "0", .max = 1024,                               \
        .help = "threads that compute; 0: one per processor"                        \
    }
#define OPTION_ROW_MAP(type)                                               \
    {                                                                      \
        .name = "map", .kind = OPTION_FLAG, .offset = offsetof(type, map), \
        .help = "serve from mapped files: slower, less memory"             \
    }
#define OPTION_ROW_VERIFY(type)                                                  \
    {                                                                            \
        .name = "verify", .kind = OPTION_FLAG, .offset = offsetof(type, verify), \
        .help = "with --map: compare the files with their checksums first"       \
    }
#define OPTION_ROW_END \
    {                  \
        .name = NULL   \
    }

/* What the words of a command line say beside values. */
struct options_read {
    bool help;               /* --help is there */
    bool given[OPTIONS_MAX]; /* by the rows of the table: the option is there */
};

/*
 * Reads argv[0 .. argc) into values (zeroed and filled with defaults first). Operands are moved
 * to the front of argv. Where --help is there, nothing else is checked.
 * Returns the number of operands, or TR_EINVAL with a message that names option and value.
 */
int options_parse(const struct option_spec *specs, void *values, size_t values_size, int argc,
                  char **argv, struct options_read *read, struct tr_error *error);

/* The "Options:" part of --help. */
void options_print(const struct option_spec *specs, FILE *out);

/* "[--parts K]" of one option, for synopses. */
void option_print_brief(const struct option_spec *spec, FILE *out);

#endif
