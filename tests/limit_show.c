/* SPDX-License-Identifier: Apache-2.0 */
/* See limit_show.h. The work is that of a shell: it reads /proc and calls gdb. */
#include "limit_show.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHOWN_MAX 64  /* processes: a job of four, each in its own shell, six times */
#define NUMBER_MAX 12 /* and what stands between two of them */
#define SECONDS_MAX 240

/*
 * Threads that were at the same are shown together, the functions from the innermost one on, with
 * the lines of their files where these are known; what only one was at stands last.
 *
 * The files of a test are in its scratch folder (tests/cli/tap.sh), or a folder in that, and their
 * names begin like those that the tests give them. They are found by the processes that have one
 * open.
 */
static const char script[] =
    "exec >&2 </dev/null\n"
    "set -- $1\n"
    "told() {\n"
    "    [ -e /proc/$1/status ] || return\n"
    "    parent=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$1/status)\n"
    "    echo \"limit: process $1 of $parent:\" \\\n"
    "        \"$(tr '\\0' ' ' </proc/$1/cmdline | tr '\\n' ' ' | cut -c1-300)\"\n"
    "}\n"
    "# Number, that of the process, state, where in the kernel, and name.\n"
    "threads() {\n"
    "    for task in /proc/$1/task/[0-9]*; do\n"
    "        [ -e $task ] || continue\n"
    "        state=$(sed 's/.*) \\(.\\).*/\\1/' $task/stat)\n"
    "        echo \"T ${task##*/} $1 $state $(cat $task/wchan) $(cat $task/comm)\"\n"
    "    done\n"
    "}\n"
    "# Lines of a number and what it is at, told together; what fewest are at comes last.\n"
    "together() {\n"
    "    awk '{ id = $1; sub(/^[^ ]* /, \"\"); if (n[$0]++ < 12) who[$0] = who[$0] \" \" id }\n"
    "        END { for (at in n)\n"
    "            print n[at] \"\\t\" who[at] (n[at] > 12 ? \" ...\" : \"\") \": \" at }' |\n"
    "        sort -rn | sed \"s/^[0-9]*\\t/limit: $1/\"\n"
    "}\n"
    "ours=\n"
    "for pid; do\n"
    "    [ -e /proc/$pid/exe ] || continue\n"
    "    case $(readlink /proc/$pid/exe) in\n"
    "    '' | /bin/* | /usr/bin/* | /sbin/* | /usr/sbin/*) told $pid ;;\n"
    "    *) ours=\"$ours $pid\" ;;\n"
    "    esac\n"
    "done 2>/dev/null\n"
    "seen=$(for pid in $ours; do threads $pid; done 2>/dev/null)\n"
    "for pid in $ours; do\n"
    "    told $pid\n"
    "done 2>/dev/null\n"
    "for pid in $ours; do\n"
    "    [ ! -e /proc/$pid/status ] ||\n"
    "        echo \"$pid\" $(grep -E '^(Sig(Pnd|Blk|Ign|Cgt)|ShdPnd)' /proc/$pid/status)\n"
    "done 2>/dev/null | together 'signals of'\n"
    "# One moment of all: who goes on while another is looked at would tell of a later one.\n"
    "kill -STOP \"$@\" 2>/dev/null\n"
    "for pid in $ours; do\n"
    "    ! command -v gdb >/dev/null ||\n"
    "        timeout -k 5 30 gdb -nx -q -batch -p $pid \\\n"
    "            -ex 'set pagination off' -ex 'set width 0' \\\n"
    "            -ex 'set print frame-arguments none' -ex 'thread apply all backtrace 30'\n"
    "done 2>/dev/null | { echo \"$seen\"; cat; } | awk '\n"
    "    /^T / {\n"
    "        who[$2] = $2 == $3 ? $2 : $3 \"/\" $2\n"
    "        at[$2] = $0; sub(/^T [^ ]* [^ ]* /, \"\", at[$2])\n"
    "        next\n"
    "    }\n"
    "    /^Thread / { id = $0; sub(/.*LWP /, \"\", id); id += 0; depth = 0; next }\n"
    "    /^#/ && id {\n"
    "        name = $0; place = \"\"\n"
    "        if (match(name, / at [^ ]*$/)) {\n"
    "            place = substr(name, RSTART + 4); sub(/.*\\//, \"\", place); place = \" \" place\n"
    "        }\n"
    "        sub(/^#[0-9]+ +/, \"\", name); sub(/^0x[0-9a-f]+ in /, \"\", name)\n"
    "        sub(/ *\\(.*/, \"\", name)\n"
    "        if (name ~ /^(__futex_|__GI___futex_|__pthread_cond_|start_thread|clone)/) next\n"
    "        at[id] = at[id] (depth++ ? \" < \" : \": \") name place\n"
    "    }\n"
    "    END { for (id in at) print who[id], at[id] }' | together 'thread'\n"
    "for pid; do readlink /proc/$pid/fd/*; done 2>/dev/null |\n"
    "    sed -En 's|^(.*/troupe-test[.][^/]*(/alone[.][^/]*)?)/[^/]*$|\\1|p' | sort -u |\n"
    "    while read -r folder; do\n"
    "        for file in \"$folder\"/out* \"$folder\"/err* \"$folder\"/log* \"$folder\"/[0-9]; do\n"
    "            [ -f \"$file\" ] && [ -s \"$file\" ] || continue\n"
    "            echo \"limit: the end of $file:\"\n"
    "            tail -n 12 \"$file\" | cut -c1-300\n"
    "        done\n"
    "    done\n";

static void become_script(const pid_t *family, int count)
{
    char numbers[SHOWN_MAX * NUMBER_MAX] = "";
    for (int i = 0, used = 0; i < count; i++)
        used += snprintf(numbers + used, sizeof numbers - (size_t)used, "%d ", (int)family[i]);
    execl("/bin/sh", "sh", "-c", script, "limit", numbers, (char *)NULL);
    _exit(127);
}

static int left_of(const struct timespec *end)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return end->tv_sec > now.tv_sec ? (int)(end->tv_sec - now.tv_sec) : 0;
}

void limit_show(const pid_t *family, int count)
{
    struct timespec end, nap = { .tv_nsec = 20000000 };
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += SECONDS_MAX;
    pid_t child = fork();
    if (child == 0)
        become_script(family, count < SHOWN_MAX ? count : SHOWN_MAX);
    /* Others of the family are left to the processes that wait for them. */
    while (child > 0 && waitpid(child, NULL, WNOHANG) == 0) {
        if (left_of(&end) == 0)
            kill(child, SIGKILL);
        nanosleep(&nap, NULL);
    }
}
