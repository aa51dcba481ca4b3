/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
#include "cli/infer_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include <troupe/model.h>

/* A name that says another format would have outputs in it that no reader of that format takes. */
static int check_ending(const char *option, const char *path, bool rows, struct tr_error *error)
{
    /* The first two are formats of predictions, of which rows have none. */
    static const char *const others[] = { ".csv",     ".jsonl", ".json", ".txt",  ".tsv",
                                          ".parquet", ".arrow", ".npz",  ".gz",   ".bz2",
                                          ".xz",      ".zst",   ".zip",  ".xlsx", ".html",
                                          ".hdf5",    ".h5",    ".pt",   ".pkl" };
    const char *formats = rows ? ".npy" : ".csv, .jsonl or .npy";
    const char *ending = path != NULL ? strrchr(path, '.') : NULL;
    for (size_t i = rows ? 0 : 2; ending != NULL && i < sizeof others / sizeof *others; i++) {
        if (strcasecmp(ending, others[i]) == 0)
            return tr_error_set(error, TR_EINVAL,
                                "%s %s: files that end with %s are not written%s; give a name that "
                                "ends with %s",
                                option, path, ending, rows && i < 2 ? " by this option" : "",
                                formats);
    }
    return 0;
}

/* A folder that is missing would be found at the end, with nothing to show for the time. */
static int check_folder(const char *option, const char *path, struct tr_error *error)
{
    struct stat facts;
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    if (slash == NULL || slash == path)
        return 0;
    char *folder = strndup(path, (size_t)(slash - path));
    if (folder == NULL)
        return tr_error_set(error, TR_ENOMEM, "%s %s: no memory", option, path);
    int rv = 0;
    if (stat(folder, &facts) != 0)
        rv = tr_error_set(error, TR_ENOENT, "%s %s: the folder %s: %s; make it first", option, path,
                          folder, strerror(errno));
    else if (!S_ISDIR(facts.st_mode))
        rv = tr_error_set(error, TR_EINVAL, "%s %s: %s is not a folder; name a file in one", option,
                          path, folder);
    free(folder);
    return rv;
}

static const char *last_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* To be freed; NULL without memory. */
static char *folder_above(const char *path)
{
    size_t length = (size_t)(last_of(path) - path);
    return length == 0 ? strdup(".") : strndup(path, length);
}

/* However the folders above them are named. */
static bool are_one_file(const char *a, const char *b)
{
    struct stat above_a, above_b;
    char *folder_a = folder_above(a), *folder_b = folder_above(b);
    bool same = folder_a != NULL && folder_b != NULL && stat(folder_a, &above_a) == 0 &&
                stat(folder_b, &above_b) == 0 && above_a.st_dev == above_b.st_dev &&
                above_a.st_ino == above_b.st_ino && strcmp(last_of(a), last_of(b)) == 0;
    free(folder_a);
    free(folder_b);
    return same;
}

int infer_files_check_names(const struct infer_files *files, struct tr_error *error)
{
    int rv = check_ending("--out", files->out, false, error);
    if (rv == 0)
        rv = check_ending("--embeddings", files->embeddings, true, error);
    if (rv == 0 && files->out != NULL && files->embeddings != NULL &&
        are_one_file(files->out, files->embeddings))
        rv = tr_error_set(error, TR_EINVAL,
                          "--out and --embeddings name one file, %s, which would hold the "
                          "embeddings alone; name two files",
                          files->out);
    return rv;
}

/* Outputs take the place of older outputs, and of nothing else: a table
 * of nodes or the model is soon named by mistake. */
static int check_replaced(const char *option, const char *path, struct tr_error *error)
{
    static const char *const heads[] = { "\x93NUMPY", "node,class,probability", "node,probability_",
                                         "{\"node\":" };
    char head[32] = "";
    struct stat facts;
    if (path == NULL || lstat(path, &facts) != 0)
        return 0;
    if (S_ISDIR(facts.st_mode))
        return tr_error_set(error, TR_EINVAL, "%s %s: is a folder; name a file in it", option,
                            path);
    if (!S_ISREG(facts.st_mode))
        return tr_error_set(error, TR_EINVAL,
                            "%s %s: is a device, a pipe or a link, which a new file would replace; "
                            "name a plain file",
                            option, path);
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return tr_error_set(error, TR_EIO, "%s %s: cannot open the file that is there: %s", option,
                            path, strerror(errno));
    size_t got = fread(head, 1, sizeof head - 1, file);
    bool ours = got == 0;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        ours |= strncmp(head, heads[i], strlen(heads[i])) == 0;
    fclose(file);
    return ours ? 0
                : tr_error_set(error, TR_EEXIST,
                               "%s %s: there is a file of that name that holds no predictions; "
                               "remove it, or name another one",
                               option, path);
}

/* The types of nodes whose outputs have files of their own: of links between nodes of two types. */
struct output_types {
    uint32_t count; /* 0: all are in one file */
    char *names[2];
};

static void output_types_fini(struct output_types *types)
{
    free(types->names[0]);
    free(types->names[1]);
}

/* Of "SRC:REL:DST". */
static int find_ends(const char *edge_type, struct output_types *types, struct tr_error *error)
{
    const char *first = strchr(edge_type, ':'), *last = strrchr(edge_type, ':');
    if (first == last)
        return 0;
    types->names[0] = strndup(edge_type, (size_t)(first - edge_type));
    types->names[1] = strdup(last + 1);
    if (types->names[0] == NULL || types->names[1] == NULL)
        return tr_error_set(error, TR_ENOMEM, "no memory for the names of node types");
    types->count = strcmp(types->names[0], types->names[1]) != 0 ? 2 : 0;
    return 0;
}

/* A run without a model is refused where it is needed. */
static int find_types(const struct infer_files *files, const char *run, struct output_types *types,
                      struct tr_error *error)
{
    struct tr_model_info info = TR_MODEL_INFO_INIT;
    struct tr_model *model;
    const char *ending = files->out != NULL ? strrchr(files->out, '.') : NULL;
    *types = (struct output_types){ 0 };
    if (tr_model_open(run, &model, NULL) != 0)
        return 0;
    int rv = tr_model_info(model, &info, error);
    bool links = rv == 0 && strcmp(info.task, "link") == 0;
    if (links && ending != NULL && (strcmp(ending, ".csv") == 0 || strcmp(ending, ".jsonl") == 0))
        rv = tr_error_set(error, TR_EUNSUPPORTED,
                          "--out %s: the model is one of links, whose outputs score pairs of nodes "
                          "and predict nothing of one node; give a name that ends with .npy",
                          files->out);
    else if (links && info.edge_type != NULL)
        rv = find_ends(info.edge_type, types, error);
    tr_model_close(model);
    return rv;
}

/* FILE.TYPE.npy, as tr_infer_write() names it. To be freed; NULL without memory. */
static char *path_of_type(const char *path, const char *type)
{
    const char *last = last_of(path), *dot = strrchr(last, '.');
    const int stem = dot != NULL ? (int)(dot - path) : (int)strlen(path);
    char *name;
    return asprintf(&name, "%.*s.%s%s", stem, path, type, path + stem) < 0 ? NULL : name;
}

static int check_option(const char *option, const char *path, const struct output_types *types,
                        struct tr_error *error)
{
    int rv = types->count == 0 ? check_replaced(option, path, error) : 0;
    for (uint32_t i = 0; i < types->count && path != NULL && rv == 0; i++) {
        char *name = path_of_type(path, types->names[i]);
        rv = name == NULL ? tr_error_set(error, TR_ENOMEM, "%s %s: no memory", option, path)
                          : check_replaced(option, name, error);
        free(name);
    }
    return rv;
}

int infer_files_check(const struct infer_files *files, const char *run, struct tr_error *error)
{
    struct output_types types = { 0 };
    int rv = check_folder("--out", files->out, error);
    if (rv == 0)
        rv = check_folder("--embeddings", files->embeddings, error);
    if (rv == 0)
        rv = find_types(files, run, &types, error);
    if (rv == 0)
        rv = check_option("--out", files->out, &types, error);
    if (rv == 0)
        rv = check_option("--embeddings", files->embeddings, &types, error);
    output_types_fini(&types);
    return rv;
}
