/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An assignment that the user wrote: the number of a partition for each node by original ID, as
 * lines of text or as a .npy file. Either one file has the nodes of all types, type after type, or
 * a folder has a file for each. Files are read in pieces, and one that has fewer or more numbers
 * than there are nodes is refused.
 */
#include "partition/build/assign.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "partition/store/npy.h"

/* IDs that are read from a .npy at once. */
#define PIECE ((uint64_t)1 << 16)
/* A line of a text file: a number of 20 digits, spaces, an end. */
#define LINE_BYTES 64
#define TEXT_BYTES ((size_t)1 << 20)

static int check_part(const char *path, const char *unit, uint64_t at, uint64_t part,
                      uint32_t num_parts, struct error *error)
{
    if (part < num_parts)
        return 0;
    return error_set(error, TR_ERANGE,
                     "%s: %s %" PRIu64 ": partition %" PRIu64 " is not below %u; correct the file "
                     "or num_parts",
                     path, unit, at, part, num_parts);
}

static int wrong_count(const char *path, uint64_t found, uint64_t expected, struct error *error)
{
    return error_set(error, TR_EMISMATCH,
                     "%s: partitions of %" PRIu64 " nodes, the graph has %" PRIu64
                     "; it must hold one for each",
                     path, found, expected);
}

/* Nodes of all types follow each other, as many as the assignment has. */
struct filling {
    struct assignment *assignment;
    const uint64_t *num_nodes;
    uint32_t type;
    uint64_t node;      /* of the type */
    uint64_t done;      /* of all */
    uint32_t last_type; /* exclusive */
};

/* TR_EEND when all nodes are assigned. */
static int assign_file_put(struct filling *filling, uint64_t part)
{
    while (filling->type < filling->last_type &&
           filling->node == filling->num_nodes[filling->type]) {
        filling->type++;
        filling->node = 0;
    }
    filling->done++;
    if (filling->type == filling->last_type)
        return TR_EEND;
    filling->assignment->parts[filling->type][filling->node++] = (uint32_t)part;
    return 0;
}

static uint64_t count_nodes(const struct filling *filling, uint32_t first)
{
    uint64_t total = 0;
    for (uint32_t t = first; t < filling->last_type; t++)
        total += filling->num_nodes[t];
    return total;
}

static int read_npy(struct filling *filling, struct partition_job *job, const char *path,
                    struct error *error)
{
    uint64_t expected = count_nodes(filling, filling->type);
    struct npy npy;
    int rv = npy_open(&npy, job->files, path, error);
    if (rv != 0)
        return rv;
    uint64_t *ids = malloc(PIECE * sizeof *ids);
    if (ids == NULL)
        rv = job_no_memory(error, "the assignment", PIECE * 8);
    else if (npy.header.ndim != 1 || npy.num_rows != expected)
        rv = wrong_count(path, npy.num_rows * npy.row_items, expected, error);
    for (uint64_t begin = 0; begin < expected && rv == 0; begin += PIECE) {
        uint64_t count = expected - begin < PIECE ? expected - begin : PIECE;
        rv = npy_read_ids(&npy, begin, count, ids, error);
        for (uint64_t i = 0; i < count && rv == 0; i++) {
            rv = check_part(path, "element", begin + i, ids[i], filling->assignment->num_parts,
                            error);
            if (rv == 0)
                assign_file_put(filling, ids[i]);
        }
    }
    free(ids);
    npy_close(&npy);
    return rv;
}

/* One number, nothing else but blanks. */
static int parse_line(const char *path, uint64_t line, const char *text, size_t length,
                      uint64_t *part, struct error *error)
{
    char *end;
    errno = 0;
    const char *start = text + strspn(text, " \t");
    *part = strtoull(start, &end, 10);
    if (*start < '0' || *start > '9' || errno != 0 || end + strspn(end, " \t\r") != text + length)
        return error_set(error, TR_EFORMAT,
                         "%s: line %" PRIu64 ": '%s' is not the number of a partition", path, line,
                         text);
    return 0;
}

static int put_line(struct filling *filling, const char *path, const char *text, size_t length,
                    uint64_t expected, struct error *error)
{
    uint64_t part, line = filling->done + 1;
    int rv = parse_line(path, line, text, length, &part, error);
    if (rv == 0)
        rv = check_part(path, "line", line, part, filling->assignment->num_parts, error);
    if (rv == 0 && assign_file_put(filling, part) == TR_EEND)
        rv = error_set(error, TR_EMISMATCH,
                       "%s: line %" PRIu64 " is one more than the %" PRIu64 " nodes of the graph",
                       path, line, expected);
    return rv;
}

/* Splits text into lines; what begins a line that has not ended moves to the front. */
static int put_lines(struct filling *filling, const char *path, char *text, size_t *size, bool last,
                     uint64_t expected, struct error *error)
{
    size_t begin = 0;
    int rv = 0;
    while (rv == 0 && begin < *size) {
        char *end = memchr(text + begin, '\n', *size - begin);
        size_t length = end == NULL ? *size - begin : (size_t)(end - (text + begin));
        if (length >= LINE_BYTES)
            return error_set(error, TR_EFORMAT, "%s: line %" PRIu64 ": more than %d bytes", path,
                             filling->done + 1, LINE_BYTES);
        if (end == NULL && !last)
            break;
        char line[LINE_BYTES] = { 0 };
        memcpy(line, text + begin, length);
        rv = put_line(filling, path, line, length, expected, error);
        begin += length + (end != NULL);
    }
    *size -= begin;
    memmove(text, text + begin, *size);
    return rv;
}

static int read_text(struct filling *filling, struct partition_job *job, const char *path,
                     struct error *error)
{
    uint64_t expected = count_nodes(filling, filling->type), offset = 0;
    struct file file;
    size_t held = 0, got = 1;
    int rv = file_open(&file, job->files, path, error);
    if (rv != 0)
        return rv;
    filling->done = 0;
    char *text = malloc(TEXT_BYTES + LINE_BYTES);
    if (text == NULL)
        rv = job_no_memory(error, "the assignment", TEXT_BYTES);
    while (rv == 0 && got > 0) {
        rv = file_read_some(&file, offset, text + held, TEXT_BYTES, &got, error);
        offset += got;
        held += got;
        if (rv == 0)
            rv = put_lines(filling, path, text, &held, got == 0, expected, error);
    }
    if (rv == 0 && filling->done != expected)
        rv = wrong_count(path, filling->done, expected, error);
    free(text);
    file_close(&file);
    return rv;
}

static bool is_npy(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npy") == 0;
}

/* TYPE.txt or TYPE.npy of each type, in a folder. */
static int read_folder(struct assignment *assignment, struct partition_job *job, const char *folder,
                       struct error *error)
{
    int rv = 0;
    for (uint32_t t = 0; t < assignment->num_ntypes && rv == 0; t++) {
        struct filling filling = { .assignment = assignment,
                                   .num_nodes = job->raw->num_nodes,
                                   .type = t,
                                   .last_type = t + 1 };
        char name[300];
        snprintf(name, sizeof name, "%s.npy", job->raw->types.ntypes[t]);
        char *path = files_join(folder, name);
        if (path != NULL && !files_exists(job->files, path)) {
            free(path);
            snprintf(name, sizeof name, "%s.txt", job->raw->types.ntypes[t]);
            path = files_join(folder, name);
        }
        if (path == NULL)
            rv = job_no_memory(error, "a file's name", 0);
        else
            rv = is_npy(path) ? read_npy(&filling, job, path, error)
                              : read_text(&filling, job, path, error);
        free(path);
    }
    return rv;
}

int assign_file(struct assignment *assignment, struct partition_job *job, struct error *error)
{
    const char *path = job->options->assignment;
    struct filling filling = { .assignment = assignment,
                               .num_nodes = job->raw->num_nodes,
                               .last_type = assignment->num_ntypes };
    if (path == NULL)
        return error_set(error, TR_EINVAL, "no assignment file is named");
    int rv = files_is_folder(job->files, path) ? read_folder(assignment, job, path, error)
             : is_npy(path)                    ? read_npy(&filling, job, path, error)
                                               : read_text(&filling, job, path, error);
    if (rv == 0)
        assign_trainers(assignment, job->options->seed, job->raw->num_nodes);
    return rv;
}
