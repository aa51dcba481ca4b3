/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other people's graphs into a raw graph: tasks that write a folder in DGL's chunked format, which
 * appears whole, or not at all.
 *
 * Ownership: texts in the options are copied. Thread rules: any thread; see troupe/task.h.
 */
#ifndef TROUPE_IMPORT_H
#define TROUPE_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/raw.h>
#include <troupe/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How features of which most are 0 are written. */
enum tr_import_rows {
    TR_ROWS_SMALLER = 0, /* sparse where that takes fewer bytes, else dense */
    TR_ROWS_DENSE = 1,
    TR_ROWS_SPARSE = 2,
};

/* From where the indices of columns count in a text of features. */
enum tr_feature_base {
    TR_FEATURE_BASE_FIND = 0, /* from 0 where one of them is 0, else from 1 */
    TR_FEATURE_BASE_0 = 1,
    TR_FEATURE_BASE_1 = 2,
};

/* A graph that tr_raw_open() reads (troupe/raw.h): an edge list, a Matrix Market or METIS file, a
 * folder. */
struct tr_import_edges_options {
    size_t size;
    const char *path;
    const char *out;    /* the folder to make */
    bool replace;       /* a raw graph that is there, or an empty folder; else TR_EEXIST */
    bool undirected;    /* each line of an edge list also stands for its reverse */
    char delimiter;     /* between columns; 0: blanks, tabs, commas or semicolons */
    uint64_t num_nodes; /* of an edge list; 0: the largest ID and 1 */
    /* As in struct tr_raw_options. */
    const char *source;
    const char *target;
    uint64_t first_id;
    uint32_t loops;
    uint32_t duplicates;
    /* Features of the nodes, row i of node i: text in SVMlight's format, or the archive of SciPy's
     * save_npz(); NULL: none. An edge list has as many nodes as there are rows. */
    const char *node_features;
    uint32_t feature_base; /* enum tr_feature_base */
    uint32_t rows;         /* enum tr_import_rows */
    /* Each edge type gets another of the reverse edges, with "rev_" before its name: edge i of it
     * is the reverse of edge i, and has its features. Of one edge type undirected is meant, which
     * adds reverses to that. */
    bool reverse_types;
    unsigned char reserved[7];
};
#define TR_IMPORT_EDGES_OPTIONS_INIT                                                              \
    {                                                                                             \
        sizeof(struct tr_import_edges_options), NULL, NULL, false, false, 0, 0, NULL, NULL, 0, 0, \
            0, NULL, 0, 0, false, ""                                                              \
    }

/* TR_EINVAL names an option. The task's outcome may be TR_ENOENT, TR_EIO, TR_EFORMAT or TR_ERANGE,
 * which name a file and its line or field, TR_EEXIST, TR_ENOSPC or TR_ECANCELED; then nothing is
 * left behind. *out is NULL after a failure. */
TR_API int tr_import_edges_start(const struct tr_import_edges_options *options,
                                 struct tr_task **out, struct tr_error *error);

struct tr_import_edges_report {
    size_t size;
    uint64_t header_line; /* of the text, which was skipped as a header; 0: none was */
    /* These are for text alone, and 0 or NULL for other files. Columns count from 1. */
    /* Printable UTF-8, with '?' for other bytes of the header; NULL: there is none. They stay until
     * the task is closed. */
    const char *source_name;
    const char *target_name;
    uint32_t source_column;
    uint32_t target_column;
    uint64_t num_columns;
    uint64_t smallest_id; /* as they stand in the text */
    uint64_t largest_id;
    uint64_t self_loops; /* lines, also where they were dropped */
    uint64_t duplicates; /* edges that repeat an earlier one, where they were looked for */
    /* Where reverses were added and duplicates not merged, else 0: pairs of nodes with an edge in
     * the text, at most 65536 of them, and those of them with edges both ways. */
    uint64_t pairs_seen;
    uint64_t pairs_mutual;
    /* Sources and destinations have numbers of one range, each of them one node, but are two kinds of
     * things by the names of their columns ("userId" and "movieId") or by the first line of the file
     * ("% bip" of KONECT's). */
    bool two_kinds;
    bool says_undirected; /* the first line does, as in KONECT's files and SNAP's */
    /* The text has two columns without names, and the numbers in each are what two kinds of things
     * have, counted by themselves. */
    bool maybe_two_kinds;
    unsigned char reserved[5];
    uint64_t num_lines; /* of edges */
};
#define TR_IMPORT_EDGES_REPORT_INIT                                                             \
    {                                                                                           \
        sizeof(struct tr_import_edges_report), 0, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, \
            false, false, "", 0                                                                 \
    }

/* The report of a task that has succeeded; else it fails as tr_task_wait() does without waiting.
 * TR_EINVAL: the task is of another kind than import of edges. */
TR_API int tr_import_edges_result(struct tr_task *task, struct tr_import_edges_report *report,
                                  struct tr_error *error);

/* What became of the labels that a text of features has. */
enum tr_file_labels {
    TR_FILE_LABELS_NONE = 0, /* it has none */
    TR_FILE_LABELS_WRITTEN = 1,
    TR_FILE_LABELS_OTHER = 2,    /* the graph has labels from elsewhere */
    TR_FILE_LABELS_ONE = 3,      /* all are the same */
    TR_FILE_LABELS_FRACTION = 4, /* some have fractions: numbers, which are not learned */
    TR_FILE_LABELS_MANY = 5,     /* more than 65536 different ones */
};

/* Of "node_features". */
struct tr_import_features_report {
    size_t size;
    uint64_t rows;
    uint64_t columns;
    uint64_t items; /* that are not 0 */
    uint64_t sparse_bytes;
    uint64_t dense_bytes;
    uint64_t num_classes; /* 0: its labels were not written */
    uint64_t qid_rows;    /* rows with a query's number, which was not read */
    uint32_t labels;      /* enum tr_file_labels */
    uint32_t base;        /* from where the text's indices count: 0 or 1 */
    bool is_text;         /* else an archive */
    bool kept_sparse;
    unsigned char reserved[6];
};
#define TR_IMPORT_FEATURES_REPORT_INIT                                                        \
    {                                                                                         \
        sizeof(struct tr_import_features_report), 0, 0, 0, 0, 0, 0, 0, 0, 0, false, false, "" \
    }

/* As tr_import_edges_result(). TR_EINVAL: the task is of another kind than import of edges, or had
 * no such file. */
TR_API int tr_import_edges_features(struct tr_task *task, struct tr_import_features_report *report,
                                    struct tr_error *error);

/* Whether the first line of a table has the names of its columns. */
enum tr_table_header {
    TR_TABLE_HEADER_FIND = 0, /* by its names; one that may be a row too is refused */
    TR_TABLE_HEADER_YES = 1,
    TR_TABLE_HEADER_NO = 2,
};

/* A node without a value in a column of features. */
enum tr_table_missing {
    TR_TABLE_MISSING_ERROR = 0, /* the first is refused */
    TR_TABLE_MISSING_MEAN = 1,  /* of numbers: the mean of the others; of texts: none of them */
    TR_TABLE_MISSING_ZERO = 2,  /* of numbers: 0, the mean of a column that is scaled */
};

/* A node that edges have and the nodes table has not. */
enum tr_table_unknown {
    TR_TABLE_UNKNOWN_ERROR = 0, /* the first is refused */
    TR_TABLE_UNKNOWN_ADD = 1,   /* its features are 0, and it has no label and no mask */
};

/*
 * A table of edges, and one of nodes, whose IDs may be any texts: CSV, TSV or JSON lines, packed as
 * edge lists may be. Nodes are numbered in the order in which their IDs come first, those of the
 * nodes table before others; the graph keeps the IDs (troupe-import(1)).
 *
 * Columns are named by their names in the header or their numbers from 1. NULL: by the names that
 * such columns have, or none.
 */
struct tr_import_table_options {
    size_t size;
    const char *edges;
    const char *nodes; /* NULL: there is no table of nodes */
    const char *out;   /* the folder to make */
    bool replace;      /* as above */
    bool undirected;   /* each row of edges also stands for its reverse */
    char delimiter;    /* between columns; 0: comma, semicolon, tab or blanks, as the first line */
    char label_separator; /* between the labels of a node in their column; 0: a node has one */
    uint32_t header;      /* enum tr_table_header; of both tables */
    const char *source;
    const char *target;
    const char *weight; /* NULL: none */
    const char *time;   /* NULL: none */
    const char *id;
    const char *features; /* with commas between them; NULL: all others; "": none */
    const char *labels;   /* several with commas between them: each has 0 or 1, or nothing */
    const char *split;    /* "train", "val" or "test" in each row */
    uint32_t loops;       /* enum tr_loops */
    uint32_t duplicates;  /* enum tr_duplicates */
    uint32_t missing;     /* enum tr_table_missing */
    uint32_t unknown;     /* enum tr_table_unknown */
    /* Features in place of those of columns, row i of the nodes table's row i; as in struct
     * tr_import_edges_options. Its labels count where no column has some. */
    const char *node_features;
    uint32_t feature_base; /* enum tr_feature_base */
    uint32_t rows;         /* enum tr_import_rows */
    /* Words that stand for no value in the nodes table, with commas between them, beside those that
     * programs write (NA, NaN, null, None, ? ...); "": none does, those included, so that only an
     * empty field has no value; NULL: those of programs. As an end of an edge such a word is
     * refused. */
    const char *no_value;
    /* Texts that stand before each source and each target, so that one number in both columns is
     * two nodes: with "u" the source 5 is the node "u5". They are not put before the IDs of the
     * nodes table, which has to call that node "u5" itself. NULL: none. */
    const char *source_prefix;
    const char *target_prefix;
    /* Which graph to read, where a column called graph_id says of which graph a row is; NULL: all rows,
     * and TR_EFORMAT where one node's ID is in two graphs. */
    const char *graph;
    /* Columns whose numbers stand for kinds and not for amounts, with commas between them: each value
     * is a category, as texts are, beside `features`. NULL: none. */
    const char *categories;
};
#define TR_IMPORT_TABLE_OPTIONS_INIT                                                            \
    {                                                                                           \
        sizeof(struct tr_import_table_options), NULL, NULL, NULL, false, false, 0, 0, 0, NULL,  \
            NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0, 0, NULL, NULL, NULL, \
            NULL, NULL                                                                          \
    }

/* As tr_import_edges_start(); the outcome is TR_EUNSUPPORTED for labels with fractions. */
TR_API int tr_import_table_start(const struct tr_import_table_options *options,
                                 struct tr_task **out, struct tr_error *error);

struct tr_import_table_report {
    size_t size;
    uint64_t edge_rows;
    uint64_t node_rows;
    uint64_t edges_header_line; /* skipped as a header; 0: none was */
    uint64_t nodes_header_line;
    uint64_t added_nodes;  /* that edges have and the nodes table has not */
    uint64_t self_loops;   /* rows, also where they were dropped */
    uint64_t duplicates;   /* edges that repeat an earlier one, where they were looked for */
    uint64_t num_features; /* numbers a node */
    uint64_t num_classes;
    uint32_t num_columns; /* for tr_import_table_column() */
    /* The first row of edges, without a header, has words in its first three columns: the second may
     * be a relation, and the third the target. */
    bool triples;
    bool says_undirected; /* the first line does, or a column of the first row, as Gephi's */
    bool maybe_two_kinds; /* as in struct tr_import_edges_report */
    unsigned char reserved[1];
    uint64_t pairs_seen; /* as in struct tr_import_edges_report */
    uint64_t pairs_mutual;
    /* Numbers that are sources and targets, each of them one node, where the two columns are called
     * as IDs of two kinds of things are, "userId" and "movieId", or the first line says so. */
    uint64_t shared_ids;
    /* A node that edges alone have and whose name, without a prefix, may stand for no node, such as
     * NULL, until the task is closed; NULL: there is none. And its edges. */
    const char *doubted_end;
    uint64_t doubted_end_edges;
    /* Nodes whose names are numbers that another node has in the usual spelling, and the first two of
     * them, "001 and 1", until the task is closed; NULL: there are none. */
    uint64_t spellings;
    const char *spelling;
};
#define TR_IMPORT_TABLE_REPORT_INIT                                                               \
    {                                                                                             \
        sizeof(struct tr_import_table_report), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, false, false, \
            "", 0, 0, 0, NULL, 0, 0, NULL                                                         \
    }

/* What became of a column. */
enum tr_table_use {
    TR_TABLE_DROPPED = 0, /* it was not read */
    TR_TABLE_SOURCE = 1,
    TR_TABLE_TARGET = 2,
    TR_TABLE_WEIGHT = 3,
    TR_TABLE_TIME = 4,
    TR_TABLE_ID = 5,
    TR_TABLE_NUMBERS = 6,    /* one number of the features */
    TR_TABLE_CATEGORIES = 7, /* one number of the features, 0 or 1, for each value */
    TR_TABLE_CODES = 8,      /* the numbers of its values are a table of their own */
    TR_TABLE_LABELS = 9,
    TR_TABLE_SPLIT = 10,
    TR_TABLE_MASK = 11,
    TR_TABLE_LABEL_FLAG = 12, /* one of several columns of labels */
    TR_TABLE_LABEL_SETS = 13, /* several labels a node */
    TR_TABLE_VECTORS = 14,    /* lists of numbers, a number of the features for each place */
    TR_TABLE_GRAPH = 15,      /* of which graph a row is */
};

struct tr_import_table_column {
    size_t size;
    const char *name; /* printable UTF-8, until the task is closed; NULL: there is no header */
    bool of_nodes;
    bool scaled;  /* numbers: to mean 0 and deviation 1 */
    bool amounts; /* labels that are whole numbers and do not count from 0, as ages and years do */
    bool text_lists; /* nearly all values are lists of texts, each of which was read as one text */
    uint32_t column; /* from 1 */
    uint32_t use;    /* enum tr_table_use */
    char separator;  /* of texts of which some seem to be several in one, as "Action|Comedy": '|' */
    bool prose; /* it was not read, since its texts are too long, or too many, for categories */
    unsigned char padding[2];
    /* Of categories, codes and columns of labels: how many different ones; of lists: their numbers; of
     * numbers that may stand for kinds, since they are few whole ones: how many, else 0. */
    uint64_t values;
    uint64_t missing; /* rows without one */
    /* Of texts that are nearly all numbers, also as 1,234 or $3: the first line whose value is none
     * that is read; 0: none. */
    uint64_t odd_line;
    /* Two values that differ in small and capital letters alone, with a comma between them; NULL:
     * there are none. */
    const char *alike;
    /* Words that often stand for no value, such as unknown, and were read as values: with commas
     * between them, as "no_value" takes them; NULL: there are none. */
    const char *doubted;
    uint64_t doubted_line; /* of the first of them */
    uint64_t doubted_rows;
    const char *several; /* such a text, where there is a separator; else NULL */
};
#define TR_IMPORT_TABLE_COLUMN_INIT                                                              \
    {                                                                                            \
        sizeof(struct tr_import_table_column), NULL, false, false, false, false, 0, 0, 0, false, \
            "", 0, 0, 0, NULL, NULL, 0, 0, NULL                                                  \
    }

/* As tr_import_edges_result(). */
TR_API int tr_import_table_result(struct tr_task *task, struct tr_import_table_report *report,
                                  struct tr_error *error);
/* A column, of those of the edges and then those of the nodes. TR_ERANGE: there is none of that
 * number. */
TR_API int tr_import_table_column(struct tr_task *task, uint32_t number,
                                  struct tr_import_table_column *column, struct tr_error *error);

/* As tr_import_edges_features(). */
TR_API int tr_import_table_features(struct tr_task *task, struct tr_import_features_report *report,
                                    struct tr_error *error);

/* A graph that was published as one .npz archive of NumPy arrays, in the style of the GNN
 * benchmark (adj_data, attr_data, labels) or of the heterophilous graphs (edges, node_features,
 * train_masks); troupe-import(1) has the arrays' names. The raw graph has "feat", "label",
 * "train_mask", "val_mask" and "test_mask", as far as the archive has them. Sparse features stay
 * sparse where that takes fewer bytes. */
struct tr_import_npz_options {
    size_t size;
    const char *path;
    const char *out; /* the folder to make */
    bool replace;    /* as above */
    bool undirected; /* each edge also stands for its reverse */
    unsigned char reserved[6];
    uint32_t split;      /* where there are several, from 0 */
    uint32_t loops;      /* enum tr_loops */
    uint32_t duplicates; /* enum tr_duplicates */
    uint32_t rows;       /* enum tr_import_rows, of sparse features */
};
#define TR_IMPORT_NPZ_OPTIONS_INIT                                                     \
    {                                                                                  \
        sizeof(struct tr_import_npz_options), NULL, NULL, false, false, "", 0, 0, 0, 0 \
    }

/* As tr_import_edges_start(). TR_EUNSUPPORTED: an array that is needed holds Python objects or
 * another type that is not read; TR_ETOOBIG: sparse features that are to be dense, of more than
 * 2^34 bytes with their zeroes. Both name the array. */
TR_API int tr_import_npz_start(const struct tr_import_npz_options *options, struct tr_task **out,
                               struct tr_error *error);

struct tr_import_npz_report {
    size_t size;
    /* The arrays that were read, or what their names begin with ("adj"); NULL: there are none.
     * Texts stay until the task is closed. */
    const char *edges_name;
    const char *features_name;
    const char *labels_name;
    const char *unread;    /* arrays that were not read, separated by ", "; NULL: none */
    uint64_t sparse_items; /* of sparse rows in the archive; 0: there are none */
    uint64_t self_loops;   /* of the archive, also where they were dropped */
    uint64_t duplicates;   /* edges that repeat an earlier one, where they were looked for */
    uint64_t pairs_seen;   /* pairs of nodes with an edge in the archive, at most 65536 of them */
    uint64_t pairs_mutual; /* those of them with edges both ways */
    uint32_t num_splits;   /* 0: the archive has no masks */
    uint32_t split;        /* the one whose masks were written */
    /* Of sparse features: their elements that are not 0, and what they take in either form. */
    uint64_t feature_items;
    uint64_t sparse_bytes;
    uint64_t dense_bytes;
    bool kept_sparse; /* they are */
    unsigned char reserved[7];
};
#define TR_IMPORT_NPZ_REPORT_INIT                                                                  \
    {                                                                                              \
        sizeof(struct tr_import_npz_report), NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            false, ""                                                                              \
    }

/* As tr_import_edges_result(), of an import of an archive. */
TR_API int tr_import_npz_result(struct tr_task *task, struct tr_import_npz_report *report,
                                struct tr_error *error);

/* A folder of the Open Graph Benchmark as it is downloaded and unpacked: a set for predicting nodes
 * or links, of one type or several, in texts or arrays. troupe-import(1) says what of it is read.
 * The raw graph has "feat", "label", "train_mask", "val_mask" and "test_mask", as far as the folder
 * has them, and what else is known of nodes and edges. */
struct tr_import_ogb_options {
    size_t size;
    const char *path;  /* the folder that has raw/ */
    const char *out;   /* the folder to make */
    const char *split; /* a folder of split/; NULL: the only one */
    bool replace;      /* as above */
    bool undirected;   /* each edge also stands for its reverse; of graphs of one type */
    unsigned char reserved[6];
};
#define TR_IMPORT_OGB_OPTIONS_INIT                                               \
    {                                                                            \
        sizeof(struct tr_import_ogb_options), NULL, NULL, NULL, false, false, "" \
    }

/* As tr_import_edges_start(). TR_EUNSUPPORTED: what is needed holds many graphs or types that are
 * not read; TR_EMISMATCH: a file has not as many rows as the folder says. */
TR_API int tr_import_ogb_start(const struct tr_import_ogb_options *options, struct tr_task **out,
                               struct tr_error *error);

struct tr_import_ogb_report {
    size_t size;
    /* Texts stay until the task is closed. */
    const char *split;     /* whose masks were written; NULL: there are none */
    const char *unread;    /* what of the folder was not read, separated by ", "; NULL: nothing */
    uint64_t self_loops;   /* of graphs of one type, as they lie in the folder; so below */
    uint64_t pairs_seen;   /* pairs of nodes with an edge, at most 65536 of them */
    uint64_t pairs_mutual; /* those of them with edges both ways */
    const char *pickle;    /* a .pt file that holds the split of nodes with labels, such as
                            * "split/time/split_dict.pt", which is not read; NULL: there is none */
};
#define TR_IMPORT_OGB_REPORT_INIT                                      \
    {                                                                  \
        sizeof(struct tr_import_ogb_report), NULL, NULL, 0, 0, 0, NULL \
    }

/* As tr_import_edges_result(), of an import of such a folder. */
TR_API int tr_import_ogb_result(struct tr_task *task, struct tr_import_ogb_report *report,
                                struct tr_error *error);

/* The packages of a Debian archive and their dependencies, or, with types, a graph of packages,
 * maintainers, sections, tags and sources; troupe-import(1) says what becomes of them. */
struct tr_import_debian_options {
    size_t size;
    const char *out;  /* the folder to make */
    const char *from; /* a file of what `apt-cache dumpavail` printed; NULL: it is run here */
    bool replace;     /* as above */
    bool types;
    unsigned char reserved[6];
    /* With types: a file Sources of the archive, unpacked, for what sources need to be built; NULL:
     * without these edges. */
    const char *sources;
};
#define TR_IMPORT_DEBIAN_OPTIONS_INIT                                               \
    {                                                                               \
        sizeof(struct tr_import_debian_options), NULL, NULL, false, false, "", NULL \
    }

/* As tr_import_edges_start(); the outcome is TR_ENOENT where there is no apt-cache. TR_ECHILD: it
 * failed after its last line; the folder holds what it printed until then. */
TR_API int tr_import_debian_start(const struct tr_import_debian_options *options,
                                  struct tr_task **out, struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
