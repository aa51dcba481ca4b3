/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The book of a partitioned graph: its types, its tables, and which partition owns which IDs.
 *
 * A book is DIR/NAME.json, as `troupe partition` wrote it. It is read without a session and
 * without the partitions beside it; only tr_book_part() and the functions for original IDs read
 * their files.
 *
 * IDs. Partitioning gave each node a *global ID* in its node type, so that every partition owns one
 * range of them; edges likewise in their edge types. Other programs number over all types at once:
 * *homogeneous IDs* count partition by partition, in each partition type by type (DGL's "node_map"
 * and "edge_map"). *Original IDs* are the rows of the raw graph, per type.
 *
 * Ownership: tr_book_close() frees the book and all texts that came from it. Thread rules: a book
 * does not change; any number of threads may use it, also in a child of fork(), which closes a book
 * of its own.
 */
#ifndef TROUPE_BOOK_H
#define TROUPE_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <troupe/error.h>
#include <troupe/schema.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tr_book;

struct tr_book_info {
    size_t size;
    const char *graph_name;
    const char *method; /* of partitioning: "metis", "random", or the file that assigned */
    uint32_t num_parts;
    uint32_t num_ntypes;
    uint32_t num_etypes;
    uint32_t num_tables;
    uint32_t halo_hops;     /* neighbours are listed up to so many hops away */
    uint32_t num_trainers;  /* for whom training nodes were dealt; 0: there is no deal */
    uint64_t num_nodes;     /* of all types */
    uint64_t num_edges;     /* of all types */
    double node_balance;    /* nodes of the largest partition over the mean; 0 of nothing */
    double edge_balance;    /* edges likewise */
    uint64_t seed;          /* of partitioning */
    bool checksums;         /* the files have them; those of older versions are read unchecked */
    bool original_edge_ids; /* are stored, for tr_book_original_edge_ids() */
    bool out_edges;         /* are stored, for questions and draws along them */
    unsigned char reserved[5];
};
#define TR_BOOK_INFO_INIT                                                                       \
    {                                                                                           \
        sizeof(struct tr_book_info), NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, false, \
            false, ""                                                                           \
    }

/* The content of one partition, and the memory that a server of it takes. */
struct tr_part_info {
    size_t size;
    uint64_t num_nodes;      /* that it owns, of all types */
    uint64_t num_edges;      /* that it owns: those into its nodes */
    uint64_t halo_nodes;     /* of other partitions, in the lists of all hops */
    uint64_t topology_bytes; /* in memory, without features */
    uint64_t feature_bytes;  /* in memory */
    uint64_t file_bytes;     /* of all files of its folder */
};
#define TR_PART_INFO_INIT                             \
    {                                                 \
        sizeof(struct tr_part_info), 0, 0, 0, 0, 0, 0 \
    }

/* A plain value: it has no size, and never grows. */
struct tr_range {
    uint64_t begin;
    uint64_t end; /* exclusive; == begin: none */
};

/* Reads and checks the book at path. TR_ENOENT, TR_EIO; TR_EFORMAT names the field that is not as
 * it must be. *out is NULL after a failure. */
TR_API int tr_book_open(const char *path, struct tr_book **out, struct tr_error *error);
/* NULL is ignored. */
TR_API void tr_book_close(struct tr_book *book);

/* All but the first give TR_ERANGE where there is no such number. */
TR_API int tr_book_info(const struct tr_book *book, struct tr_book_info *info,
                        struct tr_error *error);
TR_API int tr_book_ntype(const struct tr_book *book, uint32_t ntype, struct tr_ntype_info *info,
                         struct tr_error *error);
TR_API int tr_book_etype(const struct tr_book *book, uint32_t etype, struct tr_etype_info *info,
                         struct tr_error *error);
TR_API int tr_book_table(const struct tr_book *book, uint32_t table, struct tr_table_info *info,
                         struct tr_error *error);

/* The number of a type by its name; an edge type by "source:relation:destination", or by its
 * relation alone where one edge type has it. TR_ENOENT. */
TR_API int tr_book_find_ntype(const struct tr_book *book, const char *name, uint32_t *ntype,
                              struct tr_error *error);
TR_API int tr_book_find_etype(const struct tr_book *book, const char *name, uint32_t *etype,
                              struct tr_error *error);

/* The global IDs of a type that a partition owns. TR_ERANGE: there is no such type or partition. */
TR_API int tr_book_node_range(const struct tr_book *book, uint32_t ntype, uint32_t part,
                              struct tr_range *range, struct tr_error *error);
TR_API int tr_book_edge_range(const struct tr_book *book, uint32_t etype, uint32_t part,
                              struct tr_range *range, struct tr_error *error);

/* In place of a type: the IDs are homogeneous. */
#define TR_ALL_TYPES UINT32_MAX

/* The partition that owns each of ids [count], into parts [count]. TR_ERANGE names the first ID
 * that there is not, or the type. */
TR_API int tr_book_node_owners(const struct tr_book *book, uint32_t ntype, const uint64_t *ids,
                               size_t count, uint32_t *parts, struct tr_error *error);
TR_API int tr_book_edge_owners(const struct tr_book *book, uint32_t etype, const uint64_t *ids,
                               size_t count, uint32_t *parts, struct tr_error *error);

/* From global IDs of one type to homogeneous IDs, [count] each, which may be the same memory. */
TR_API int tr_book_node_homogeneous(const struct tr_book *book, uint32_t ntype, const uint64_t *ids,
                                    size_t count, uint64_t *homogeneous, struct tr_error *error);
TR_API int tr_book_edge_homogeneous(const struct tr_book *book, uint32_t etype, const uint64_t *ids,
                                    size_t count, uint64_t *homogeneous, struct tr_error *error);
/* And back: the type of each and its global ID in it; either may be NULL, and ids may be the same
 * memory as homogeneous. */
TR_API int tr_book_node_typed(const struct tr_book *book, const uint64_t *homogeneous, size_t count,
                              uint32_t *ntypes, uint64_t *ids, struct tr_error *error);
TR_API int tr_book_edge_typed(const struct tr_book *book, const uint64_t *homogeneous, size_t count,
                              uint32_t *etypes, uint64_t *ids, struct tr_error *error);

/* Looks at the heads of all files of a partition, which must be as the book says. TR_ERANGE: there
 * is no such partition; TR_ENOENT, TR_EIO and TR_EFORMAT name a file. */
TR_API int tr_book_part(const struct tr_book *book, uint32_t part, struct tr_part_info *info,
                        struct tr_error *error);

/* Original IDs of the global IDs [first, first + count) of a type, read from the files of the
 * partitions that own them, into original_ids [count]. They are not compared with their checksums:
 * that would read the whole files. TR_ERANGE: there are no such IDs;
 * TR_ENOENT: the partition's folder is not here, or original IDs of edges were not stored. */
TR_API int tr_book_original_node_ids(const struct tr_book *book, uint32_t ntype, uint64_t first,
                                     size_t count, uint64_t *original_ids, struct tr_error *error);
TR_API int tr_book_original_edge_ids(const struct tr_book *book, uint32_t etype, uint64_t first,
                                     size_t count, uint64_t *original_ids, struct tr_error *error);

/* The names that the graph was partitioned with, in lists numbered from 0. TR_ERANGE: there is none
 * of that number. */
TR_API int tr_book_names(const struct tr_book *book, uint32_t list, struct tr_names_info *info,
                         struct tr_error *error);
/* The number of the list of the nodes of a type (table NULL), or of the values or columns of a
 * table. TR_ENOENT: they have no names. */
TR_API int tr_book_find_names(const struct tr_book *book, uint32_t of, uint32_t ntype,
                              const char *table, uint32_t *list, struct tr_error *error);
/* The names [first, first + count) of a list, UTF-8: the i-th is text[offsets[i]] up to
 * text[offsets[i + 1] - 1], which is a line end; offsets [count + 1], the last being the bytes that
 * text needs. text NULL: the offsets alone. The files are not compared with their checksums.
 * TR_ERANGE: there are no such names; TR_ETOOBIG: text_bytes are too few; TR_ENOENT, TR_EIO and
 * TR_EFORMAT name a file. */
TR_API int tr_book_read_names(const struct tr_book *book, uint32_t list, uint64_t first,
                              size_t count, uint64_t *offsets, char *text, size_t text_bytes,
                              struct tr_error *error);

#ifdef __cplusplus
}
#endif

#endif
