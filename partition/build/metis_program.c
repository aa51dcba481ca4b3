/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "partition/build/metis_program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "troupe-metis"

/* The folder of the file that this code was loaded from; NULL where that is not known. */
static char *find_own_folder(void)
{
    char *line = NULL, *folder = NULL;
    size_t size = 0;
    uintptr_t here = (uintptr_t)&find_own_folder;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && folder == NULL && getline(&line, &size, maps) > 0) {
        uintptr_t begin, end;
        char *path = strchr(line, '/');
        if (path == NULL || sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) != 2 ||
            here < begin || here >= end)
            continue;
        *strrchr(path, '/') = '\0';
        folder = strdup(path);
    }
    free(line);
    if (maps != NULL)
        fclose(maps);
    return folder;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), want = strlen(end);
    return length >= want && strcmp(text + length - want, end) == 0;
}

/* Near the file that is running: beside it (a build, a package of another language), or in the
 * folder that an installation has beside that of libraries or programs. */
static char *find_near(const char *folder)
{
    static const char *const places[] = { "/" NAME, "/../libexec/troupe/" NAME,
                                          "/../../libexec/troupe/" NAME };
    char *path = NULL;
    /* libtool keeps the library of a build in a folder of its own. */
    if (ends_with(folder, "/.libs") && asprintf(&path, "%s/../" NAME, folder) >= 0) {
        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (asprintf(&path, "%s%s", folder, places[i]) < 0)
            return NULL;
        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

int metis_program_find(char **path, struct error *error)
{
    /* A program with the rights of another user does not start what its caller names. */
    const char *given = secure_getenv("TROUPE_METIS");
    char *folder = NULL;
    *path = NULL;
    if (given != NULL && access(given, X_OK) != 0)
        return error_set_errno(error, errno, "TROUPE_METIS names %s, which cannot be run", given);
    if (given != NULL) {
        *path = strdup(given);
    } else {
        folder = find_own_folder();
        *path = folder != NULL ? find_near(folder) : NULL;
        if (*path == NULL && access(TROUPE_LIBEXECDIR "/" NAME, X_OK) == 0)
            *path = strdup(TROUPE_LIBEXECDIR "/" NAME);
    }
    int rv = *path != NULL ? 0
                           : error_set(error, TR_ENOENT,
                                       NAME ", which runs METIS, is neither in %s nor near %s; "
                                            "install it there, name it in TROUPE_METIS, or use "
                                            "\"method\" random",
                                       TROUPE_LIBEXECDIR, folder != NULL ? folder : "the library");
    free(folder);
    return rv;
}
