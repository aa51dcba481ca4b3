/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/files.h"
#include "runtime/core/endpoint.h"
#include "runtime/net/keys_sign.h"
#include "runtime/net/pem.h"

#define DAY_S INT64_C(86400)
#define CLOCKS_DIFFER_S 3600
#define PATH_BYTES 4096

struct paths {
    char certificate[PATH_BYTES], key[PATH_BYTES];
};

static int name_files(const char *folder, const char *name, struct paths *paths,
                      struct error *error)
{
    int size = snprintf(paths->certificate, PATH_BYTES, "%s/%s.pem", folder, name);
    snprintf(paths->key, PATH_BYTES, "%s/%s.key", folder, name);
    return size < PATH_BYTES ? 0 : error_set(error, TR_ETOOBIG, "%s: the path is too long", folder);
}

/* A host's name becomes a file's name. */
static int check_host(const char *host, struct error *error)
{
    static const char ALLOWED[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  ".:-_";
    size_t size = strlen(host);
    if (size == 0 || size >= ENDPOINT_HOST_MAX || host[0] == '.' || host[0] == '-' ||
        strspn(host, ALLOWED) != size)
        return error_set(error, TR_EINVAL,
                         "host '%.300s': a name or an address is letters, digits, '.', '-', '_' "
                         "and ':'",
                         host);
    if (strcmp(host, "ca") == 0)
        return error_set(error, TR_EINVAL,
                         "host 'ca': its files would be those of the authority; give its full "
                         "name (ca.example.org)");
    return 0;
}

static int write_pem(FILE *file, const struct pair *pair, bool secret)
{
    int written = secret ? PEM_write_PKCS8PrivateKey(file, pair->key, NULL, NULL, 0, NULL, NULL)
                         : PEM_write_X509(file, pair->certificate);
    return written == 1 && fflush(file) == 0 && fsync(fileno(file)) == 0 ? 0 : -1;
}

/* A new file under another name, which then takes the place of what was there. */
static int save_one(const char *path, const struct pair *pair, bool secret, struct error *error)
{
    char fresh[PATH_BYTES + 8];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    unlink(fresh); /* of a run that was killed */
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                  secret ? 0600 : 0644);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file == NULL) {
        int rc = error_set_errno(error, errno, "%s", fresh);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    /* The file is written, synced and closed before it is renamed: its name never stands for half a
     * key. The close comes before it too, since close(2) may be the first to report a failed write
     * (a network's file system, a quota), and after the rename the old key is gone. */
    errno = 0;
    int rc = write_pem(file, pair, secret) == 0
                 ? 0
                 : error_set_errno(error, errno != 0 ? errno : EIO, "%s", fresh);
    if (fclose(file) != 0 && rc == 0)
        rc = error_set_errno(error, errno, "%s", fresh);
    if (rc == 0 && rename(fresh, path) != 0)
        rc = error_set_errno(error, errno, "%s", path);
    if (rc < 0)
        unlink(fresh);
    ERR_clear_error();
    return rc;
}

static int keys_save(const char *folder, const struct paths *paths, const struct pair *pair,
                     struct error *error)
{
    /* The two may go in any order: half a pair, or one that does not match, is found by its reader
     * (load, provide_host). */
    int rc = save_one(paths->key, pair, true, error);
    if (rc == 0)
        rc = save_one(paths->certificate, pair, false, error);
    return rc < 0 ? rc : files_sync_folder(files_posix, folder, error);
}

static int keys_load(const struct paths *paths, struct pair *pair, struct error *error)
{
    STACK_OF(X509) *certificates = NULL;
    *pair = (struct pair){ 0 };
    int rc = pem_read_certificates(paths->certificate, &certificates, error);
    if (rc < 0)
        return rc;
    pair->certificate = sk_X509_shift(certificates);
    sk_X509_pop_free(certificates, X509_free);
    /* The certificate comes first: the key is compared with it. */
    rc = pem_read_key(paths->key, &pair->key, error);
    if (rc == 0 && X509_check_private_key(pair->certificate, pair->key) != 1)
        rc = error_set(error, TR_EMISMATCH, "%s: not the key of the certificate in %s", paths->key,
                       paths->certificate);
    ERR_clear_error();
    if (rc < 0)
        pair_free(pair);
    return rc;
}

static int64_t seconds_of(const ASN1_TIME *time)
{
    struct tm parts;
    return ASN1_TIME_to_tm(time, &parts) == 1 ? (int64_t)timegm(&parts) : 0;
}

/* Half an authority is never replaced: what the other half signed would be lost. */
static int open_authority(const struct keys_options *options, int64_t begin_s,
                          struct pair *authority, bool *made, struct error *error)
{
    struct paths paths;
    int rc = name_files(options->folder, "ca", &paths, error);
    if (rc < 0)
        return rc;
    *made = !files_exists(files_posix, paths.certificate) && !files_exists(files_posix, paths.key);
    if (!*made) {
        rc = keys_load(&paths, authority, error);
        return rc < 0 ? error_prefix(error, "the authority is incomplete or damaged; put back its "
                                            "ca.pem and ca.key, or remove both to begin anew")
                      : 0;
    }
    int64_t days = options->days > KEYS_AUTHORITY_DAYS ? options->days : KEYS_AUTHORITY_DAYS;
    struct validity validity = { begin_s, begin_s + days * DAY_S };
    rc = pair_make_authority(&validity, authority, error);
    if (rc == 0)
        rc = keys_save(options->folder, &paths, authority, error);
    return rc;
}

static int make_host(const struct keys_options *options, const struct pair *authority,
                     int64_t begin_s, const struct paths *paths, const struct keys_host *host,
                     struct error *error)
{
    int64_t last_s = seconds_of(X509_get0_notAfter(authority->certificate));
    struct validity validity = { begin_s, begin_s + (int64_t)options->days * DAY_S };
    if (validity.end_s > last_s)
        validity.end_s = last_s;
    if (validity.end_s <= validity.begin_s + CLOCKS_DIFFER_S)
        return error_set(error, TR_EMISMATCH,
                         "%s/ca.pem: the authority has expired; remove ca.pem and ca.key, and make "
                         "all keys anew with options.replace",
                         options->folder);
    struct pair pair;
    int rc = pair_make_host(authority, host->name, host->address, &validity, &pair, error);
    if (rc == 0)
        rc = keys_save(options->folder, paths, &pair, error);
    pair_free(&pair);
    return rc;
}

static int keep_host(const struct paths *paths, struct error *error)
{
    struct pair pair;
    int rc = keys_load(paths, &pair, error);
    pair_free(&pair);
    return rc < 0 ? error_prefix(error, "give options.replace to make it anew") : 0;
}

static int provide_host(const struct keys_options *options, const struct pair *authority,
                        int64_t begin_s, const struct keys_host *host, struct keys_report *report,
                        struct error *error)
{
    struct paths paths;
    int rc = name_files(options->folder, host->name, &paths, error);
    if (rc < 0)
        return rc;
    /* A certificate without its key, or the reverse, is of a run that was killed. */
    bool whole = files_exists(files_posix, paths.certificate) &&
                 files_exists(files_posix, paths.key);
    bool keeps = whole && !options->replace;
    rc = keeps ? keep_host(&paths, error)
               : make_host(options, authority, begin_s, &paths, host, error);
    if (rc == 0)
        *(keeps ? &report->kept : &report->made) += 1;
    return rc;
}

static bool is_repeated(const struct keys_options *options, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(options->hosts[i].name, options->hosts[index].name) == 0)
            return true;
    return false;
}

static int make_folder(const char *folder, struct error *error)
{
    char *parent = files_parent(folder);
    int rc = parent == NULL ? error_set(error, TR_ENOMEM, "%s: no memory", folder)
                            : files_make_folders(files_posix, parent, error);
    free(parent);
    if (rc == 0 && mkdir(folder, 0700) != 0 && errno != EEXIST)
        rc = error_set_errno(error, errno, "%s", folder);
    return rc;
}

int keys_make(const struct keys_options *options, struct keys_report *report, struct error *error)
{
    *report = (struct keys_report){ 0 };
    int64_t begin_s = options->begin_s != 0 ? options->begin_s : time(NULL) - CLOCKS_DIFFER_S;
    if (options->days < 1 || options->days > KEYS_DAYS_MAX)
        return error_set(error, TR_EINVAL, "%u days: 1 to %u are possible", options->days,
                         KEYS_DAYS_MAX);
    /* All names are checked before the first file is written; the authority before those
     * it signs. */
    for (size_t i = 0; i < options->num_hosts; i++) {
        const struct keys_host *host = &options->hosts[i];
        int rc = check_host(host->name, error);
        if (rc == 0 && host->address != NULL)
            rc = check_host(host->address, error);
        if (rc < 0)
            return rc;
    }
    struct pair authority = { 0 };
    int rc = make_folder(options->folder, error);
    if (rc == 0)
        rc = open_authority(options, begin_s, &authority, &report->made_authority, error);
    for (size_t i = 0; rc == 0 && i < options->num_hosts; i++)
        if (!is_repeated(options, i))
            rc = provide_host(options, &authority, begin_s, &options->hosts[i], report, error);
    pair_free(&authority);
    return rc;
}
