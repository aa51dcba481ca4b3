/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cluster file: which hosts do a job together, and what each of them runs.
 *
 * A JSON document (troupe-cluster(5)) or DGL's ip_config.txt, checked field by field; then
 * cluster_plan_make() says which process is where and plays what. The same file gives the same
 * plan to every process that reads it, so none has to be notified.
 *
 * The processes of a host stand together in the plan, servers before samplers before trainers.
 * Partitions are dealt over the server processes: one each; or where there are more partitions, in
 * contiguous shares; or where there are more processes, round robin, and the processes of a
 * partition are equals of each other.
 *
 * Ownership: cluster_fini and cluster_plan_fini free what they name; a plan borrows the host
 * names of its cluster. Thread rules: any thread, read-only once made.
 */
#ifndef ACTORS_CLUSTER_CLUSTER_H
#define ACTORS_CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "actors/cluster/plan.h"
#include "runtime/base/error.h"
#include "runtime/base/files.h"
#include "runtime/net/links.h"

/* DGL's port for a line of ip_config.txt that has none. */
#define CLUSTER_IP_CONFIG_PORT 30050u
/* Hosts and processes have to fit in one table of links. */
#define CLUSTER_HOSTS_MAX PLAN_PROCESSES_MAX
/* Processes of one role on one host; above any machine. */
#define CLUSTER_ROLE_MAX 4096u

/* The roles that a host's processes may have; a mask. */
enum cluster_role {
    CLUSTER_SERVER = 1,
    CLUSTER_SAMPLER = 2,
    CLUSTER_TRAINER = 4,
    CLUSTER_COORDINATOR = 8,
};

struct cluster_host {
    char *name;
    char *address;     /* host name, IPv4 or IPv6 without brackets; NULL: unix */
    char *unix_folder; /* of sockets; NULL: address */
    uint16_t port;     /* of its first process; the others take the next ones */
    uint32_t servers;  /* actors of its one process; or processes */
    uint32_t samplers, trainers;
    uint32_t loops;   /* of each process; 0: one a processor */
    uint32_t threads; /* that compute, of each trainer; 0: the file does not say */
    bool process_per_role;
    uint32_t roles;     /* allowed: CLUSTER_* */
    uint32_t *parts;    /* explicit; [num_parts] ascending */
    uint32_t num_parts; /* 0: dealt */
};

struct cluster_tls {
    /* All three, or shared_key, or none. certificate and key may hold %h: the host's name. */
    char *ca, *certificate, *key;
    char *shared_key;
};

/* A value that a file leaves to others, where 0 is one that it may give. */
#define CLUSTER_UNSAID UINT64_MAX

struct cluster_limits {
    uint64_t memory_bytes; /* of batches, a process; 0: the session's default */
    uint64_t tensor_bytes; /* of tensors, a process; 0: the session's default */
    uint64_t window_bytes; /* of a link; 0: LINKS_WINDOW_BYTES */
    uint64_t recovery_deadline_ns;
    uint64_t start_ns;       /* for the first answer of another process; 0: recovery_deadline_ns */
    uint64_t call_ns;        /* one attempt */
    uint64_t coordinator_ns; /* without one that was lost */
    /* They are trainers', in seconds; CLUSTER_UNSAID: the file does not say. */
    uint64_t step_limit, disk_wait;
};

struct cluster_restart {
    uint32_t times; /* a role within `ns` */
    uint64_t ns;
};

struct cluster_checkpoints {
    char *folder;   /* NULL: one host, of which the file names none */
    uint64_t every; /* steps; 0: none */
    uint32_t keep;  /* 0: the file does not say */
};

/* One port a process: that of process N is port + N. */
struct cluster_metrics {
    char *host;    /* where to listen; NULL: the loopback */
    uint32_t port; /* 0: none are served */
};

enum cluster_launcher_kind {
    CLUSTER_LAUNCH_LOCAL,
    CLUSTER_LAUNCH_SSH,
    CLUSTER_LAUNCH_SRUN,
    CLUSTER_LAUNCH_COMMAND
};

/* Words of a command that runs others on hosts. */
#define CLUSTER_COMMAND_MAX 64u
/* What stands in them for a host's name, its address, and what is to run, quoted for a shell. */
#define CLUSTER_COMMAND_HOST "{host}"
#define CLUSTER_COMMAND_ADDRESS "{address}"
#define CLUSTER_COMMAND_RUN "{command}"

struct cluster_launcher {
    enum cluster_launcher_kind kind;
    char *user, *workdir; /* NULL: as the launcher's own */
    char *program;        /* that is troupe there */
    char **command;       /* [num_command], of CLUSTER_LAUNCH_COMMAND alone */
    uint32_t num_command;
};

struct cluster {
    char *path; /* of the file; relative paths in it start in its folder */
    char *name;
    char *graph; /* the <graph>.json, or NULL: named on the command line */
    uint64_t seed;
    bool has_seed;
    uint32_t num_hosts;
    struct cluster_host *hosts;
    uint32_t coordinator_host;
    struct cluster_tls tls;
    bool insecure_network;
    bool direct; /* processes of a host read each other's frozen data */
    bool codec;  /* messages inside a process are encoded too */
    struct cluster_limits limits;
    struct cluster_restart restart;
    struct cluster_checkpoints checkpoints;
    struct cluster_launcher launcher;
    struct cluster_metrics metrics;
    int32_t page_port; /* of the launcher's live page; 0: any; -1: there is none */
};

/* Either form, told apart by the first character. TR_EFORMAT names the field by its path. */
int cluster_read(struct files *files, const char *path, struct cluster *cluster,
                 struct error *error);
void cluster_fini(struct cluster *cluster);

/* The number of a host by its name, or TR_ENOENT with the names that there are. */
int cluster_find_host(const struct cluster *cluster, const char *name, uint32_t *host,
                      struct error *error);

/* The pattern with the name for each %h, in malloc'ed memory; NULL stays NULL. */
int cluster_put_name(const char *pattern, const char *name, char **out);

/* Whether its hosts talk over TCP and the file chooses nothing by which they prove themselves: a
 * job's own key does. */
bool cluster_needs_key(const struct cluster *cluster);

/* The key of the job, a file's path, stands in where the cluster file chose nothing by which hosts
 * prove themselves. NULL: there is none. */
int cluster_use_key(struct cluster *cluster, const char *path, struct error *error);

/* Where the keys of a host are, %h replaced. Free with cluster_tls_fini. All NULL: no TLS. */
int cluster_host_tls(const struct cluster *cluster, uint32_t host, struct cluster_tls *tls);
void cluster_tls_fini(struct cluster_tls *tls);

struct cluster_process {
    uint32_t host, roles;
    uint32_t index;           /* among the processes of its host */
    struct endpoint endpoint; /* where it listens */
};

struct cluster_plan {
    struct plan plan;
    struct cluster_process *processes; /* [plan.num_processes] */
    const struct cluster *cluster;
};

/* TR_EINVAL: what the hosts can't do together, or neither TLS nor insecure_network was chosen. */
int cluster_plan_make(struct cluster_plan *plan, const struct cluster *cluster, uint32_t num_parts,
                      struct error *error);
void cluster_plan_fini(struct cluster_plan *plan);

/* All processes but one as its links want them; returns their number, peers has room for
 * plan.num_processes. Their `host` is the cluster's, set where certificates prove it. */
uint32_t cluster_plan_peers(const struct cluster_plan *plan, uint32_t process,
                            struct links_peer *peers);

/* The numbers of a host's processes. */
struct plan_range cluster_host_processes(const struct cluster_plan *plan, uint32_t host);

/* "server", "sampler, trainer" ...: what is in a mask. */
void cluster_roles_text(uint32_t roles, char *text, size_t text_size);

#endif
