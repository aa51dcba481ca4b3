/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/memory_limit.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line for each hierarchy, a dozen at most, with paths far below PATH_MAX. */
#define GROUPS_BYTES_MAX 16384
#define GROUP_PATH_MAX 4096

/* The beginning of a file whose size the system does not say; false: it is not there. */
static bool read_text(struct files *files, const char *path, char *text, size_t size)
{
    struct file file;
    size_t got;
    if (file_open(&file, files, path, NULL) != 0)
        return false;
    int rv = file_read_some(&file, 0, text, size - 1, &got, NULL);
    file_close(&file);
    text[rv == 0 ? got : 0] = '\0';
    return rv == 0;
}

/* The limit of one group; "max" and a file that is not there are none. */
static uint64_t read_limit(struct files *files, const char *path)
{
    char text[64];
    uint64_t bytes;
    return read_text(files, path, text, sizeof text) && sscanf(text, "%" SCNu64, &bytes) == 1
               ? bytes
               : UINT64_MAX;
}

/* The smallest of a group and of all above it, up to where the hierarchy is mounted. */
static uint64_t least_of(struct files *files, const char *mount, const char *group,
                         const char *name)
{
    char inside[GROUP_PATH_MAX], path[2 * GROUP_PATH_MAX];
    uint64_t least = UINT64_MAX;
    snprintf(inside, sizeof inside, "%s", group);
    /* A group that is not below the mount, as a namespace may show it: the mount alone is seen. */
    if (strstr(inside, "/..") != NULL)
        inside[0] = '\0';
    for (;;) {
        snprintf(path, sizeof path, "%s%s/%s", mount, inside, name);
        uint64_t bytes = read_limit(files, path);
        least = bytes < least ? bytes : least;
        char *slash = strrchr(inside, '/');
        if (slash == NULL)
            return least;
        *slash = '\0';
    }
}

/* Whether a comma-separated list names the controller of memory. */
static bool has_memory(const char *controllers)
{
    size_t length = strlen("memory");
    for (const char *at = controllers; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, "memory", length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* "HIERARCHY:CONTROLLERS:GROUP"; version 2 is hierarchy 0 and has no controllers there. */
static uint64_t limit_of_line(struct files *files, const char *root, char *line)
{
    char mount[GROUP_PATH_MAX];
    char *controllers = strchr(line, ':');
    char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (group == NULL)
        return UINT64_MAX;
    *controllers++ = '\0';
    *group++ = '\0';
    if (strcmp(line, "0") == 0 && *controllers == '\0') {
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
        return least_of(files, mount, group, "memory.max");
    }
    if (!has_memory(controllers))
        return UINT64_MAX;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/memory", root);
    return least_of(files, mount, group, "memory.limit_in_bytes");
}

uint64_t memory_limit(struct files *files, const char *root)
{
    uint64_t least = UINT64_MAX;
    char path[GROUP_PATH_MAX], *rest = NULL;
    char *text = malloc(GROUPS_BYTES_MAX);
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (text != NULL && read_text(files, path, text, GROUPS_BYTES_MAX)) {
        for (char *line = strtok_r(text, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            uint64_t bytes = limit_of_line(files, root, line);
            least = bytes < least ? bytes : least;
        }
    }
    free(text);
    return least;
}
