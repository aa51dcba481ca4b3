/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of `troupe import`: their values and what runs them.
 *
 * Thread rules: the main thread.
 */
#ifndef CLI_CMD_IMPORT_H
#define CLI_CMD_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/lib/command.h"
#include "cli/lib/report.h"

#define IMPORT_DELIMITERS "any|comma|semicolon|tab|space|bar|CHAR"
/* In the order of enum tr_loops and enum tr_duplicates. */
#define IMPORT_LOOPS "keep|drop|error"
#define IMPORT_DUPLICATES "keep|count|merge|error"
/* In the order of enum tr_import_rows. */
#define IMPORT_ROWS "smaller|dense|sparse"
/* In the order of enum tr_feature_base. */
#define IMPORT_FEATURE_BASES "find|0|1"

struct import_edges_values {
    const char *out;
    bool undirected;
    uint64_t num_nodes;
    bool reverse_types;
    const char *delimiter; /* of IMPORT_DELIMITERS */
    const char *source;
    const char *target;
    uint64_t first_id;
    int loops;      /* of IMPORT_LOOPS */
    int duplicates; /* of IMPORT_DUPLICATES */
    const char *node_features;
    int feature_base; /* of IMPORT_FEATURE_BASES */
    int rows;         /* of IMPORT_ROWS */
    bool replace;
    bool json;
    bool quiet;
};

/* In the order of their enums. */
#define IMPORT_HEADERS "find|yes|no"
#define IMPORT_MISSING "error|mean|zero"
#define IMPORT_UNKNOWN "error|add"

struct import_table_values {
    const char *edges;
    const char *nodes;
    const char *out;
    bool undirected;
    const char *delimiter; /* of IMPORT_DELIMITERS */
    int header;
    const char *source;
    const char *target;
    const char *weight;
    const char *time;
    const char *id;
    const char *features;
    const char *categories;
    const char *labels;
    const char *label_separator;
    const char *split;
    int loops;
    int duplicates;
    int missing;
    const char *no_value;
    const char *source_prefix;
    const char *target_prefix;
    const char *graph;
    int unknown;
    const char *node_features;
    int feature_base; /* of IMPORT_FEATURE_BASES */
    int rows;         /* of IMPORT_ROWS */
    bool replace;
    bool json;
    bool quiet;
};

struct import_npz_values {
    const char *out;
    uint64_t split;
    bool undirected;
    int rows;       /* of IMPORT_ROWS */
    int loops;      /* of IMPORT_LOOPS */
    int duplicates; /* of IMPORT_DUPLICATES */
    bool replace;
    bool json;
    bool quiet;
};

struct import_ogb_values {
    const char *out;
    const char *split;
    bool undirected;
    bool replace;
    bool json;
    bool quiet;
};

struct import_debian_values {
    const char *out;
    const char *from;
    const char *sources;
    bool types;
    bool replace;
    bool json;
    bool quiet;
};

/* A word of IMPORT_DELIMITERS, or a character, as the library has it; 0: any of them. TR_EINVAL. */
int import_delimiter_parse(const char *text, char *delimiter, struct tr_error *error);

/* Whether edges stand in both directions, as an import's report found it. */
struct import_directions {
    uint64_t pairs_seen, pairs_mutual; /* before reverses were added */
    bool undirected;                   /* they were added */
    bool can_merge;                    /* the import has --duplicates */
    bool merged;
};

/* A line for edges that lack their reverse, or that --undirected added a second time. */
void import_hint_at_directions(struct report *report, const struct import_directions *directions);

/* Lines about a file of features. */
struct tr_import_features_report;
void import_report_features(struct report *report, const struct tr_import_features_report *found);

/* Lines for edges that the file calls undirected, and for what may be a matrix: as many rows as
 * columns, at least three, and no header. */
void import_hint_at_undirected(struct report *report, bool said);
/* For two columns without names whose numbers look like those of two kinds of things. */
void import_hint_at_maybe_two_kinds(struct report *report, bool maybe, const char *remedy);
void import_hint_at_matrix(struct report *report, bool header, uint64_t rows, uint64_t columns);

int import_edges_run(const struct invocation *invocation, const void *values);
int import_npz_run(const struct invocation *invocation, const void *values);
int import_ogb_run(const struct invocation *invocation, const void *values);
int import_debian_run(const struct invocation *invocation, const void *values);
int import_table_run(const struct invocation *invocation, const void *values);

#endif
