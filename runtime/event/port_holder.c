/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "runtime/event/port_holder.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/printable.h"

/* Sockets that listen at one port: of IPv4, of IPv6, and of several addresses. */
#define INODES_MAX 8
/* proc(5): the state of a socket that listens. */
#define STATE_LISTENS 0x0a
/* More processes, descriptors or mappings of one are not looked at. */
#define ENTRIES_MAX 65536

struct inodes {
    uint64_t list[INODES_MAX];
    unsigned count;
};

/* The lines of /proc/net/tcp: "  0: 0100007F:1D56 00000000:0000 0A ... uid timeout inode". */
static void find_inodes(const char *path, uint16_t port, struct inodes *inodes)
{
    char line[512];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    while (inodes->count < INODES_MAX && fgets(line, sizeof line, file) != NULL) {
        unsigned local, state;
        uint64_t inode;
        if (sscanf(line, " %*u: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s %" SCNu64,
                   &local, &state, &inode) == 3 &&
            local == port && state == STATE_LISTENS && inode != 0)
            inodes->list[inodes->count++] = inode;
    }
    fclose(file);
}

/* Whether a process has one of the sockets open; of another user's that is not seen. */
static bool has_socket(const char *pid, const struct inodes *inodes)
{
    char path[NAME_MAX + 16], target[64];
    snprintf(path, sizeof path, "/proc/%s/fd", pid);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool found = false;
    if (folder == NULL)
        return false;
    for (int i = 0; !found && i < ENTRIES_MAX && (entry = readdir(folder)) != NULL; i++) {
        uint64_t inode;
        ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
        if (length <= 0)
            continue;
        target[length] = '\0';
        if (sscanf(target, "socket:[%" SCNu64 "]", &inode) != 1)
            continue;
        for (unsigned n = 0; n < inodes->count; n++)
            found = found || inodes->list[n] == inode;
    }
    closedir(folder);
    return found;
}

/* The name of a process's program without its folder; empty where it is not shown. One that was
 * replaced on disk has " (deleted)" behind it. */
static void program_of(const char *pid, char name[PATH_MAX])
{
    static const char DELETED[] = " (deleted)";
    char link[NAME_MAX + 16], path[PATH_MAX];
    name[0] = '\0';
    snprintf(link, sizeof link, "/proc/%s/exe", pid);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return;
    path[length] = '\0';
    size_t ending = sizeof DELETED - 1;
    if ((size_t)length > ending && strcmp(path + length - ending, DELETED) == 0)
        path[(size_t)length - ending] = '\0';
    const char *slash = strrchr(path, '/');
    strcpy(name, slash != NULL ? slash + 1 : path);
}

/* Whether a process has mapped a library of ours; where that is not shown it may have. */
static bool may_be_of_jobs(const char *pid)
{
    char path[NAME_MAX + 16], line[PATH_MAX + 128];
    snprintf(path, sizeof path, "/proc/%s/maps", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return true;
    bool found = false, any = false;
    for (int i = 0; !found && i < ENTRIES_MAX && fgets(line, sizeof line, file) != NULL; i++) {
        any = true;
        found = strstr(line, "libtroupe") != NULL;
    }
    fclose(file);
    return found || !any;
}

static void describe(const char *pid, struct port_holder *holder)
{
    char path[NAME_MAX + 16], own[PATH_MAX], other[PATH_MAX];
    *holder = (struct port_holder){ .pid = (pid_t)strtol(pid, NULL, 10) };
    snprintf(path, sizeof path, "/proc/%s/comm", pid);
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        if (fgets(holder->name, sizeof holder->name, file) != NULL)
            holder->name[strcspn(holder->name, "\n")] = '\0';
        fclose(file);
    }
    make_printable(holder->name);
    program_of("self", own);
    program_of(pid, other);
    holder->stranger = own[0] != '\0' && other[0] != '\0' && strcmp(own, other) != 0 &&
                       !may_be_of_jobs(pid);
}

bool port_holder_find(uint16_t port, struct port_holder *holder)
{
    struct inodes inodes = { 0 };
    const struct dirent *entry;
    bool found = false;
    find_inodes("/proc/net/tcp", port, &inodes);
    find_inodes("/proc/net/tcp6", port, &inodes);
    DIR *folder = inodes.count > 0 ? opendir("/proc") : NULL;
    if (folder == NULL)
        return false;
    for (int i = 0; !found && i < ENTRIES_MAX && (entry = readdir(folder)) != NULL; i++) {
        if (entry->d_name[strspn(entry->d_name, "0123456789")] != '\0')
            continue;
        found = has_socket(entry->d_name, &inodes);
        if (found)
            describe(entry->d_name, holder);
    }
    closedir(folder);
    return found;
}
